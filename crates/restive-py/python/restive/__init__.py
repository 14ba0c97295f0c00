"""Decision-focused learning for restless bandits: exact Whittle indices, policies and honest evaluation."""

from restive._restive import __version__
from restive.estimators import DecisionFocused, Plan, TwoStage, load
from restive.study import Study

__all__ = ["DecisionFocused", "Plan", "Study", "TwoStage", "__version__", "load"]
