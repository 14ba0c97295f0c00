"""Types of the native module. Shapes stand in the docstrings of the functions themselves."""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

_Floats = NDArray[np.float64]
_Bools = NDArray[np.bool_]

__version__: str

def set_threads(threads: int | None) -> None: ...
def threads() -> int: ...

class Indices:
    @property
    def index(self) -> _Floats: ...
    @property
    def is_indexable(self) -> _Bools: ...
    @property
    def residual(self) -> _Floats: ...
    @property
    def status(self) -> NDArray[np.str_]: ...
    def pullback(self, d_index: ArrayLike, out: _Floats | None = None) -> _Floats: ...

def whittle_index(
    P: ArrayLike,
    rewards: ArrayLike | None = None,
    discount: float = 0.99,
    layout: Literal["nsas", "nass"] = "nsas",
    observation: Literal["full", "collapsing"] = "full",
    chain: int | Literal["infinite"] | None = None,
    algorithm: Literal["auto", "two-state", "general", "bisection"] = "auto",
    out: _Floats | None = None,
    *,
    beliefs: int | None = None,
) -> Indices: ...

class SoftTopK:
    @property
    def pull(self) -> _Floats: ...
    def pullback(self, d_pull: ArrayLike, out: _Floats | None = None) -> tuple[_Floats, float]: ...

def soft_top_k(scores: ArrayLike, k: float, temperature: float) -> SoftTopK: ...
