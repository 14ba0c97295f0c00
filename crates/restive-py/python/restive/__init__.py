"""Decision-focused learning for restless bandits: exact Whittle indices, policies and honest evaluation."""

from restive._restive import (
    Cwpdis,
    Indices,
    Likelihood,
    Segmented,
    Simulation,
    SoftTopK,
    StrictTopK,
    __version__,
    cwpdis,
    negative_log_likelihood,
    segmented,
    set_threads,
    simulate,
    soft_top_k,
    strict_top_k,
    threads,
    whittle_index,
)
from restive.domains import Instance, generate
from restive.estimators import DecisionFocused, Plan, TwoStage, load
from restive.study import Study

__all__ = [
    "Cwpdis",
    "DecisionFocused",
    "Indices",
    "Instance",
    "Likelihood",
    "Plan",
    "Segmented",
    "Simulation",
    "SoftTopK",
    "StrictTopK",
    "Study",
    "TwoStage",
    "__version__",
    "cwpdis",
    "generate",
    "load",
    "negative_log_likelihood",
    "segmented",
    "set_threads",
    "simulate",
    "soft_top_k",
    "strict_top_k",
    "threads",
    "whittle_index",
]
