"""Decision-focused learning for restless bandits: exact Whittle indices, policies and honest evaluation."""

from restive._restive import __version__

__all__ = ["__version__"]
