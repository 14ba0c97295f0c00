"""Decision-focused learning for restless bandits: exact Whittle indices, policies and honest evaluation."""

from restive import _restive, trial
from restive._cotangents import CwpdisCotangent, IndexCotangent, SoftTopKCotangent
from restive._deprecated import renamed
from restive._doctor import Doctor, Finding, doctor
from restive._evidence import evidence
from restive._programme import Audit, Imported, Programme, Verified, Week, import_study
from restive._restive import (
    ActionIndices,
    Cwpdis,
    DecomposedValue,
    FluidValue,
    HorizonIndices,
    Indices,
    LagrangianPolicy,
    Likelihood,
    PlanPrices,
    Segmented,
    Simulation,
    SoftTopK,
    StrictTopK,
    __version__,
    set_threads,
    threads,
)
from restive._results import keep, remembered
from restive._unfitted import NotFittedError
from restive._units import Units
from restive.domains import Instance, Instances, generate
from restive.estimators import DecisionFocused, Evaluation, Plan, TwoStage, load
from restive.study import Study

action_index = remembered(_restive.action_index)
cwpdis = renamed(k="budget", reward="rewards")(remembered(_restive.cwpdis))
decomposed_value = remembered(_restive.decomposed_value)
fluid_value = remembered(_restive.fluid_value)
horizon_index = remembered(_restive.horizon_index)
lagrangian_policy = remembered(_restive.lagrangian_policy)
negative_log_likelihood = remembered(_restive.negative_log_likelihood)
plan_prices = remembered(_restive.plan_prices)
segmented = renamed(k="budget", reward="rewards")(remembered(_restive.segmented))
simulate = renamed(k="budget")(remembered(_restive.simulate))
soft_top_k = renamed(k="budget")(remembered(_restive.soft_top_k))
strict_top_k = renamed(k="budget")(remembered(_restive.strict_top_k))
whittle_index = remembered(_restive.whittle_index)

keep(ActionIndices, Cwpdis, DecomposedValue, FluidValue, HorizonIndices, Indices, LagrangianPolicy, Likelihood, PlanPrices)
keep(Segmented, Simulation, SoftTopK, StrictTopK)

__all__ = [
    "ActionIndices",
    "Audit",
    "Cwpdis",
    "CwpdisCotangent",
    "DecisionFocused",
    "DecomposedValue",
    "Doctor",
    "Evaluation",
    "Finding",
    "FluidValue",
    "HorizonIndices",
    "Imported",
    "IndexCotangent",
    "Indices",
    "Instance",
    "Instances",
    "LagrangianPolicy",
    "Likelihood",
    "NotFittedError",
    "Plan",
    "PlanPrices",
    "Programme",
    "Segmented",
    "Simulation",
    "SoftTopK",
    "SoftTopKCotangent",
    "StrictTopK",
    "Study",
    "TwoStage",
    "Units",
    "Verified",
    "Week",
    "__version__",
    "action_index",
    "cwpdis",
    "decomposed_value",
    "doctor",
    "evidence",
    "fluid_value",
    "generate",
    "horizon_index",
    "import_study",
    "lagrangian_policy",
    "load",
    "negative_log_likelihood",
    "plan_prices",
    "segmented",
    "set_threads",
    "simulate",
    "soft_top_k",
    "strict_top_k",
    "threads",
    "trial",
    "whittle_index",
]
