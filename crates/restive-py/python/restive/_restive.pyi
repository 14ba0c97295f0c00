"""Types of the native module. Shapes stand in the docstrings of the functions themselves."""

from collections.abc import Callable, Iterator
from typing import Any, Literal, NamedTuple, final, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from restive._cotangents import CwpdisCotangent, IndexCotangent, SoftTopKCotangent

_Floats = NDArray[np.float64]
_Bools = NDArray[np.bool_]

__version__: str

def set_threads(threads: int | None) -> None: ...
def threads() -> int: ...

@final
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
    def pullback_all(self, d_index: ArrayLike, out: _Floats | None = None) -> IndexCotangent: ...

@overload
def whittle_index(
    P: ArrayLike,
    rewards: ArrayLike | None = None,
    discount: float | ArrayLike = 0.99,
    layout: Literal["nsas", "nass"] = "nsas",
    observation: Literal["full", "collapsing"] = "full",
    chain: int | Literal["infinite"] | None = None,
    algorithm: Literal["auto", "two-state", "general", "bisection"] = "auto",
    out: _Floats | None = None,
    *,
    beliefs: int | None = None,
    differentiable: bool = False,
    horizon: None = None,
    ending: None = None,
) -> Indices: ...
@overload
def whittle_index(
    P: ArrayLike,
    rewards: ArrayLike | None = None,
    discount: float | ArrayLike = 0.99,
    *,
    horizon: int,
    ending: Literal["nothing", "state"] | None = None,
) -> HorizonIndices: ...

class HorizonCotangents(NamedTuple):
    d_P: _Floats
    d_rewards: _Floats
    d_discount: float | _Floats

@final
class HorizonIndices:
    @property
    def index(self) -> _Floats: ...
    @property
    def last(self) -> _Floats: ...
    @property
    def is_indexable(self) -> _Bools: ...
    @property
    def status(self) -> NDArray[np.str_]: ...
    def pullback(self, d_index: ArrayLike) -> _Floats: ...
    def pullback_all(self, d_index: ArrayLike) -> HorizonCotangents: ...

def horizon_index(
    P: ArrayLike,
    horizon: int,
    rewards: ArrayLike | None = None,
    discount: float | ArrayLike = 0.99,
    ending: Literal["nothing", "state"] = "nothing",
) -> HorizonIndices: ...

class PlanCotangents(NamedTuple):
    d_P: _Floats
    d_initial: _Floats
    d_budget: float
    d_rewards: _Floats
    d_discount: float
    d_price: _Floats
    d_temperature: float

@final
class PlanPrices:
    @property
    def price(self) -> _Floats: ...
    @property
    def bound(self) -> float: ...
    @property
    def advantage(self) -> _Floats: ...
    @property
    def is_converged(self) -> bool: ...
    def pullback(
        self, d_bound: float = 1.0, d_advantage: ArrayLike | None = None, d_price: ArrayLike | None = None
    ) -> PlanCotangents: ...

def plan_prices(
    P: ArrayLike,
    initial: ArrayLike,
    budget: float,
    horizon: int,
    rewards: ArrayLike | None = None,
    discount: float = 1.0,
    ending: Literal["nothing", "state"] = "nothing",
    *,
    temperature: float | None = None,
) -> PlanPrices: ...

class FluidCotangents(NamedTuple):
    d_P: _Floats
    d_index: _Floats
    d_initial: _Floats
    d_budget: float
    d_temperature: float
    d_rewards: _Floats
    d_discount: float

@final
class FluidValue:
    @property
    def value(self) -> float: ...
    @property
    def mass(self) -> _Floats: ...
    @property
    def pull(self) -> _Floats: ...
    @property
    def threshold(self) -> _Floats: ...
    @property
    def charge(self) -> float: ...
    @property
    def occupancy(self) -> _Floats: ...
    def pullback(self, d_value: float = 1.0) -> FluidCotangents: ...

def fluid_value(
    P: ArrayLike,
    index: ArrayLike,
    initial: ArrayLike,
    budget: float,
    temperature: float,
    horizon: int,
    rewards: ArrayLike | None = None,
    discount: float = 0.99,
) -> FluidValue: ...

class DecomposedCotangents(NamedTuple):
    d_P: _Floats
    d_index: _Floats
    d_initial: _Floats
    d_budget: float
    d_temperature: float
    d_charge: float
    d_occupancy: _Floats
    d_rewards: _Floats
    d_discount: float

@final
class DecomposedValue:
    @property
    def value(self) -> float: ...
    @property
    def pull(self) -> _Floats: ...
    def pullback(self, d_value: float = 1.0) -> DecomposedCotangents: ...

def decomposed_value(
    P: ArrayLike,
    index: ArrayLike,
    initial: ArrayLike,
    budget: float,
    temperature: float,
    charge: float,
    occupancy: ArrayLike,
    rewards: ArrayLike | None = None,
    discount: float = 0.99,
) -> DecomposedValue: ...

class Changes(NamedTuple):
    arm: NDArray[np.int64]
    state: NDArray[np.int64]
    action: NDArray[np.int64]
    price: _Floats

class ActionCotangents(NamedTuple):
    d_P: _Floats
    d_costs: _Floats
    d_rewards: _Floats
    d_discount: float | _Floats

@final
class ActionIndices:
    @property
    def threshold(self) -> _Floats: ...
    @property
    def last(self) -> _Floats: ...
    @property
    def is_indexable(self) -> _Bools: ...
    @property
    def residual(self) -> _Floats: ...
    @property
    def status(self) -> NDArray[np.str_]: ...
    @property
    def changes(self) -> Changes: ...
    def pullback(self, d_threshold: ArrayLike) -> _Floats: ...
    def pullback_all(self, d_threshold: ArrayLike) -> ActionCotangents: ...

def action_index(
    P: ArrayLike,
    costs: ArrayLike,
    rewards: ArrayLike | None = None,
    discount: float | ArrayLike = 0.99,
) -> ActionIndices: ...

class LagrangianCotangents(NamedTuple):
    d_P: _Floats
    d_costs: _Floats
    d_initial: _Floats
    d_budget: float
    d_rewards: _Floats
    d_discount: float | _Floats
    d_price: float

@final
class LagrangianPolicy:
    @property
    def price(self) -> float: ...
    @property
    def bound(self) -> float: ...
    @property
    def spent(self) -> _Floats: ...
    @property
    def advantage(self) -> _Floats: ...
    @property
    def marginal(self) -> int | None: ...
    def pullback(self, d_bound: float = 1.0, d_advantage: ArrayLike | None = None) -> LagrangianCotangents: ...

def lagrangian_policy(
    P: ArrayLike,
    costs: ArrayLike,
    initial: ArrayLike,
    budget: float,
    rewards: ArrayLike | None = None,
    discount: float | ArrayLike = 0.99,
) -> LagrangianPolicy: ...

@final
class SoftTopK:
    @property
    def pull(self) -> _Floats: ...
    @property
    def log_odds(self) -> _Floats: ...
    def pullback(
        self, d_pull: ArrayLike, out: _Floats | None = None, *, log_odds: bool = False
    ) -> tuple[_Floats, float | _Floats]: ...
    def pullback_all(
        self, d_pull: ArrayLike, out: _Floats | None = None, *, log_odds: bool = False
    ) -> SoftTopKCotangent: ...

def soft_top_k(
    scores: ArrayLike,
    budget: float | ArrayLike,
    temperature: float | ArrayLike,
    *,
    costs: ArrayLike | None = None,
    mask: ArrayLike | None = None,
) -> SoftTopK: ...

@final
class StrictTopK:
    @property
    def pull(self) -> _Bools: ...
    @property
    def inclusion(self) -> _Floats: ...

def strict_top_k(
    scores: ArrayLike,
    budget: float | ArrayLike,
    seed: int = 0,
    *,
    costs: ArrayLike | None = None,
    mask: ArrayLike | None = None,
) -> StrictTopK: ...

@final
class Cwpdis:
    @property
    def value(self) -> float | _Floats: ...
    @property
    def arm_value(self) -> _Floats: ...
    @property
    def effective_sample_sizes(self) -> _Floats: ...
    @property
    def effective_sample_size(self) -> float | _Floats: ...
    @property
    def dropped(self) -> int | NDArray[np.int64]: ...
    def pullback(self, d_value: float | ArrayLike = 1.0) -> _Floats: ...
    def pullback_all(self, d_value: float | ArrayLike = 1.0) -> CwpdisCotangent: ...

def cwpdis(
    pull: ArrayLike,
    state: ArrayLike,
    action: ArrayLike,
    rewards: ArrayLike,
    budget: int | ArrayLike | None = None,
    propensity: ArrayLike | None = None,
    discount: float | ArrayLike = 0.99,
    *,
    ratio_up_to: Literal["this-step", "previous-step"] = "this-step",
    log_odds: bool = False,
    mask: ArrayLike | None = None,
) -> Cwpdis: ...

@final
class Segmented:
    @property
    def value(self) -> float: ...
    @property
    def arm_value(self) -> _Floats: ...
    @property
    def effective_sample_size(self) -> float: ...
    @property
    def dropped(self) -> int: ...
    def pullback(self, d_value: float = 1.0) -> _Floats: ...
    def pullback_all(self, d_value: float = 1.0) -> CwpdisCotangent: ...

def segmented(
    pull: ArrayLike,
    state: ArrayLike,
    action: ArrayLike,
    rewards: ArrayLike,
    budget: int | None = None,
    propensity: ArrayLike | None = None,
    discount: float = 0.99,
    *,
    log_odds: bool = False,
) -> Segmented: ...

@final
class Likelihood:
    @property
    def per_trajectory(self) -> float: ...
    @property
    def per_transition(self) -> float: ...
    def pullback(self, d_per_trajectory: float = 1.0) -> _Floats: ...

def negative_log_likelihood(
    P: ArrayLike,
    state: ArrayLike,
    action: ArrayLike,
    layout: Literal["nsas", "nass"] = "nsas",
) -> Likelihood: ...

@final
class Simulation:
    @property
    def values(self) -> _Floats: ...
    @property
    def state(self) -> NDArray[np.uint16] | None: ...
    @property
    def action(self) -> NDArray[np.uint8] | None: ...
    @property
    def propensity(self) -> _Floats | None: ...

def simulate(
    P: ArrayLike,
    budget: int | ArrayLike,
    policy: Literal["strict", "soft", "random", "round-robin", "no-action"] | Callable[..., ArrayLike] = "strict",
    index: ArrayLike | None = None,
    temperature: float | ArrayLike | None = None,
    *,
    rewards: ArrayLike | None = None,
    discount: float | ArrayLike = 0.99,
    horizon: int = 10,
    rollouts: int = 100,
    seed: int | ArrayLike = 0,
    initial: ArrayLike | None = None,
    layout: Literal["nsas", "nass"] = "nsas",
    observation: Literal["full", "collapsing"] = "full",
    chain: int | None = None,
    keep_trajectories: bool = False,
    problems: int | tuple[int, ...] | None = None,
) -> Simulation: ...
def _generate(domain: str, seed: int, sizes: dict[str, Any]) -> list[dict[str, Any]]: ...
def _generate_study(domain: str, seed: int, sizes: dict[str, Any]) -> NativeStudy: ...

_Columns = list[tuple[str, Any]]

class NativeStudy:
    @staticmethod
    def from_tables(
        settings: str,
        arms: tuple[int, _Columns],
        trajectories: tuple[int, _Columns],
        truth: tuple[int, _Columns] | None,
    ) -> NativeStudy: ...
    @staticmethod
    def read(folder: str) -> NativeStudy: ...
    def write(self, folder: str, format: str, replace: bool) -> None: ...
    def tables(self) -> tuple[_Columns, _Columns, _Columns | None]: ...
    def settings(self) -> dict[str, Any]: ...
    def instances(self) -> list[tuple[str, int, int, int]]: ...
    def features(self) -> list[str]: ...
    def arrays(self, model: NativeModel | None) -> tuple[list[str], list[dict[str, Any]]]: ...
    def select(self, chosen: list[tuple[int, list[int]]], budget: int, split: bool) -> NativeStudy: ...
    @property
    def fingerprint(self) -> str: ...

def doctor(
    study: NativeStudy, name: str
) -> tuple[list[tuple[str, str, str, str | None, str | None]], str, int, str, str, str]: ...
def import_study(
    text: str,
    path: str,
    frames: list[tuple[str, int, list[tuple[str, Any]]]] | None,
    out: str | None,
    pseudonymise: str | None,
    afresh: bool,
    format: str,
) -> tuple[NativeStudy, str, list[tuple[str, Any]], list[tuple[str, Any]]]: ...
def programme_plan(
    folder: str,
    budget: int | None,
    explore: float | None,
    rules: str | None,
    model: str | None,
    policy: str | None,
    remaining: int | None,
    history: bool | None,
    only_beneficial: bool,
    index_discount: float | None,
    seed: int,
    again: bool,
    rehearse: bool,
    out: list[str],
    system: str | None,
    replace: bool,
) -> tuple[str, list[tuple[str, Any]], list[str]]: ...
def programme_list(
    folder: str, plan: str | None, out: list[str], system: str | None, replace: bool
) -> tuple[str, list[tuple[str, Any]]]: ...
def programme_outcomes(folder: str, files: list[str], plan: str | None, day_format: str | None) -> str: ...
def programme_status(folder: str) -> tuple[str, list[tuple[str, str]]]: ...
def programme_change(folder: str, is_added: bool, id: str, who: str, why: str, plan: str | None) -> str: ...
def programme_fairness(
    folder: str,
    by: list[str],
    cross: list[tuple[str, str]],
    plan: str | None,
    last: int | None,
    least: int,
    floors: list[tuple[str, str]],
    out: str | None,
    replace: bool,
) -> tuple[str, str]: ...
def programme_report(
    folder: str, out: str, model: str | None, by: list[str], quick: bool, seed: int, replace: bool
) -> tuple[str, str]: ...
def programme_audit_list(folder: str) -> str: ...
def programme_audit_show(folder: str, plan: str | None) -> str: ...
def programme_audit_verify(folder: str, plan: str | None, head: str | None, quick: bool) -> tuple[str, bool]: ...
def programme_audit_diff(folder: str, before: str | None, after: str | None) -> str: ...
def trial_analyse(
    policy: Any,
    outcome: Any,
    called: Any,
    score: Any | None,
    tie: Any | None,
    control_score: Any | None,
    prognosis: Any | None,
    covariates: Any | None,
    cluster: Any | None,
    protocol: str | None,
) -> dict[str, Any]: ...
def trial_assign(ids: list[str], score: Any, stratum: list[str], shares: list[int], seed: int) -> list[int]: ...
def trial_power(
    transitions: Any,
    reward: Any,
    start: Any,
    index: Any,
    control_index: Any | None,
    weeks: int,
    shares: list[int],
    budget: list[int],
    missing: float,
    clusters: tuple[list[int], float] | None,
    sizes: list[float],
    effects: list[float],
    trials: int,
    seed: int,
) -> list[dict[str, Any]]: ...
def programme_init(folder: str) -> list[str]: ...
def programme_new_model(folder: str) -> str: ...
def evidence(study: NativeStudy, scores: list[NDArray[np.float64]], asked: dict[str, Any]) -> str: ...

class NativeModel:
    @staticmethod
    def load(folder: str) -> NativeModel: ...
    def save(self, folder: str, replace: bool) -> None: ...
    def card(self) -> list[str]: ...
    def reads(self) -> tuple[list[tuple[str, bool]], list[str], list[str]]: ...
    def predict_encoded(self, features: ArrayLike) -> _Floats: ...
    def predict(self, study: NativeStudy, name: str) -> list[NDArray[np.float64]]: ...
    def score(self, study: NativeStudy, part: str) -> float: ...
    def evaluate(
        self, study: NativeStudy, asked: dict[str, Any], model_folder: str | None
    ) -> tuple[_Columns, str, list[str], NativeModel | None]: ...
    def plan(
        self,
        study: NativeStudy,
        budget: int | None,
        policy: str | None,
        remaining: int | None,
        history: bool | None,
        only_beneficial: bool,
        index_discount: float | None,
        instance: str | None,
        seed: int,
    ) -> tuple[_Columns, dict[str, Any]]: ...

class NativeJob:
    def __new__(
        cls,
        model: NativeModel,
        settings: str,
        rules: tuple[str, str] | None,
        step: int,
        budget: int | None,
        policy: str | None,
        remaining: int | None,
        history: bool | None,
        only_beneficial: bool,
        index_discount: float | None,
        instance: str | None,
        explore: float | None,
        period: str | None,
        seed: int,
    ) -> NativeJob: ...
    @staticmethod
    def from_bytes(bytes: bytes) -> NativeJob: ...
    def to_bytes(self) -> bytes: ...
    def score(self, batch: bytes) -> bytes: ...
    def sample(self, batches: Iterator[bytes]) -> bytes: ...
    def priced(self, answers: list[bytes]) -> NativeJob: ...
    def gather(self, batches: Iterator[bytes]) -> bytes: ...
    def merge(self, answers: list[bytes]) -> bytes: ...
    def draft(self, answers: list[bytes]) -> NativeDraft: ...
    def details(self, wanted: bytes, batches: Iterator[bytes]) -> bytes: ...

class NativeTraining:
    def __new__(cls, settings: str, asked: dict[str, Any]) -> NativeTraining: ...
    def job(self) -> bytes | None: ...
    @staticmethod
    def pass_(job: bytes, batches: Iterator[bytes]) -> bytes: ...
    def answer(self, answers: list[bytes]) -> float: ...
    def finish(self) -> tuple[NativeModel, list[str]]: ...

class NativeDraft:
    def wanted(self) -> bytes: ...
    def finish(self, answers: list[bytes]) -> tuple[_Columns, dict[str, Any]]: ...

def options() -> dict[str, str]: ...
def train(
    study: NativeStudy, asked: dict[str, Any], visit: Callable[[float, str], Any] | None
) -> tuple[NativeModel, list[str]]: ...
