"""Decision-focused learning for restless bandits: exact Whittle indices, policies and honest evaluation."""

from restive import _restive, trial
from restive._cotangents import IndexCotangent, SoftTopKCotangent
from restive._deprecated import renamed
from restive._doctor import Doctor, Finding, doctor
from restive._evidence import evidence
from restive._programme import Audit, Imported, Programme, Verified, Week, import_study
from restive._restive import (
    Cwpdis,
    Indices,
    Likelihood,
    Segmented,
    Simulation,
    SoftTopK,
    StrictTopK,
    __version__,
    negative_log_likelihood,
    set_threads,
    threads,
    whittle_index,
)
from restive.domains import Instance, Instances, generate
from restive.estimators import DecisionFocused, Evaluation, Plan, TwoStage, load
from restive.study import Study

cwpdis = renamed(k="budget", reward="rewards")(_restive.cwpdis)
segmented = renamed(k="budget", reward="rewards")(_restive.segmented)
simulate = renamed(k="budget")(_restive.simulate)
soft_top_k = renamed(k="budget")(_restive.soft_top_k)
strict_top_k = renamed(k="budget")(_restive.strict_top_k)

__all__ = [
    "Audit",
    "Cwpdis",
    "DecisionFocused",
    "Doctor",
    "Evaluation",
    "Finding",
    "Imported",
    "IndexCotangent",
    "Indices",
    "Instance",
    "Instances",
    "Likelihood",
    "Plan",
    "Programme",
    "Segmented",
    "Simulation",
    "SoftTopK",
    "SoftTopKCotangent",
    "StrictTopK",
    "Study",
    "TwoStage",
    "Verified",
    "Week",
    "__version__",
    "cwpdis",
    "doctor",
    "evidence",
    "generate",
    "import_study",
    "load",
    "negative_log_likelihood",
    "segmented",
    "set_threads",
    "simulate",
    "soft_top_k",
    "strict_top_k",
    "threads",
    "trial",
    "whittle_index",
]
