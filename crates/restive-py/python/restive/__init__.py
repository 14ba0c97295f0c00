"""Decision-focused learning for restless bandits: exact Whittle indices, policies and honest evaluation."""

from restive._restive import (
    Indices,
    SoftTopK,
    __version__,
    set_threads,
    soft_top_k,
    threads,
    whittle_index,
)

__all__ = [
    "Indices",
    "SoftTopK",
    "__version__",
    "set_threads",
    "soft_top_k",
    "threads",
    "whittle_index",
]
