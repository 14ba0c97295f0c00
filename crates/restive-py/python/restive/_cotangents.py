"""What `pullback_all` returns: one cotangent for each input, in the shape of that input."""

from __future__ import annotations

from typing import NamedTuple, Union

import numpy as np
from numpy.typing import NDArray

_Floats = NDArray[np.float64]


class IndexCotangent(NamedTuple):
    """Cotangents of the inputs of `whittle_index`, each in the shape in which the input was given."""

    d_P: _Floats
    """Its rows sum to zero; for compact arms the plain derivative."""
    d_rewards: _Floats
    """Summed over the arms where they share their rewards; [M] where none were given."""
    d_discount: Union[float, _Floats]
    """Summed over the arms where they share their discount."""


class SoftTopKCotangent(NamedTuple):
    """Cotangents of the inputs of `soft_top_k`, each in the shape in which the input was given."""

    d_scores: _Floats
    d_budget: Union[float, _Floats]
    """Summed over the problems where they share their budget."""
    d_temperature: Union[float, _Floats]
    """Summed over the problems where they share their temperature."""
    d_costs: Union[_Floats, None]
    """None without costs; summed over the problems where they share their costs."""


class CwpdisCotangent(NamedTuple):
    """Cotangents of the inputs of `cwpdis`, each in the shape in which the input was given."""

    d_pull: _Floats
    """By the pulls, or by their log-odds where those were given."""
    d_rewards: _Floats
    """Summed over the decisions that share a reward, and over the problems that share them."""
    d_discount: Union[float, _Floats]
    """Summed over the problems where they share their discount."""
