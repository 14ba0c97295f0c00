"""Answers can be kept: pickled, copied, and shown in a notebook with whatever names they hold."""

import copy
import html.parser
import pickle

import numpy as np
import pytest

import restive

RNG = np.random.default_rng(4)
P = RNG.dirichlet(np.ones(3), (5, 3, 2))
TWO = RNG.uniform(0.1, 0.9, (6, 4))
SCORES = RNG.normal(size=(2, 6))
LOG = restive.simulate(TWO, 2, "random", horizon=4, rollouts=7, seed=1, keep_trajectories=True)
PULL = RNG.uniform(0.2, 0.8, LOG.action.shape)
JUDGED = (PULL, LOG.state.astype(int), LOG.action.astype(int), [0.0, 1.0])

START = np.full((6, 2), 0.5)
THREE = np.random.default_rng(6).dirichlet(np.ones(2), (4, 2, 3))
FLUID = restive.fluid_value(TWO, restive.whittle_index(TWO).index, START, 2, 0.1, 5)

ANSWERS = {
    "general": (restive.whittle_index(P, discount=0.9), ["index", "is_indexable", "residual", "status"], np.ones((5, 3))),
    "two-state": (restive.whittle_index(TWO, [0.5, 2.0], 0.8), ["index", "status"], np.ones((6, 2))),
    "kept for its gradient": (restive.whittle_index(P, differentiable=True), ["index"], np.ones((5, 3))),
    "collapsing": (restive.whittle_index(TWO, observation="collapsing", chain=3), ["index"], np.ones((6, 6))),
    "soft": (restive.soft_top_k(SCORES, 2, 0.3), ["pull", "log_odds"], np.ones((2, 6))),
    "strict": (restive.strict_top_k(SCORES, 2, seed=5), ["pull", "inclusion"], None),
    "cwpdis": (restive.cwpdis(*JUDGED, propensity=LOG.propensity), ["value", "arm_value", "effective_sample_sizes", "dropped"], 2.0),
    "cwpdis of targets": (restive.cwpdis(np.stack([PULL, 1 - PULL]), *JUDGED[1:], budget=2, mask=np.arange(6) < 5), ["value", "arm_value", "dropped"], np.array([1.0, -2.0])),
    "segmented": (restive.segmented(*JUDGED, budget=2), ["value", "arm_value"], 1.0),
    "likelihood": (restive.negative_log_likelihood(TWO, *JUDGED[1:3]), ["per_trajectory", "per_transition"], 1.0),
    "horizon": (restive.horizon_index(TWO, 3, discount=0.9), ["index", "status"], np.ones((3, 6, 2))),
    "with a horizon": (restive.whittle_index(TWO, discount=0.9, horizon=3, ending="state"), ["index", "status"], np.ones((3, 6, 2))),
    "prices": (restive.plan_prices(TWO, np.zeros(6, int), budget=2, horizon=4), ["price", "bound", "advantage"], 1.0),
    "fluid": (FLUID, ["value", "mass", "pull", "charge"], 1.0),
    "decomposed": (restive.decomposed_value(TWO, START, START, 2, 0.1, FLUID.charge, FLUID.occupancy), ["value", "pull"], 1.0),
    "actions": (restive.action_index(THREE, [0.0, 1.0, 5.0], discount=0.9), ["threshold", "status"], None),
    "lagrangian": (restive.lagrangian_policy(THREE, [0.0, 1.0, 5.0], np.zeros(4, int), budget=2.0, discount=0.9), ["price", "spent"], 1.0),
    "simulation": (restive.simulate(TWO, 2, "strict", restive.whittle_index(TWO).index, rollouts=9, keep_trajectories=True), ["values", "state", "action", "propensity"], None),
}  # fmt: skip


def flat(found):
    return [np.asarray(part) for part in (found if isinstance(found, tuple) else (found,)) if part is not None]


@pytest.mark.parametrize("name", ANSWERS)
def test_answers_come_back_to_the_last_bit(name):
    answer, arrays, cotangent = ANSWERS[name]
    assert copy.copy(answer) is answer
    for back in (pickle.loads(pickle.dumps(answer)), copy.deepcopy(answer)):
        assert type(back) is type(answer) and back is not answer
        for array in arrays:
            np.testing.assert_array_equal(getattr(back, array), getattr(answer, array), array)
        if cotangent is not None:
            for a, b in zip(flat(back.pullback(cotangent)), flat(answer.pullback(cotangent)), strict=True):
                np.testing.assert_array_equal(a, b)
    again = pickle.loads(pickle.dumps(back))
    np.testing.assert_array_equal(getattr(again, arrays[0]), getattr(answer, arrays[0]))


def test_where_the_answer_was_written_is_not_kept():
    out = np.empty((5, 3))
    answer = restive.whittle_index(P, out=out)
    back = pickle.loads(pickle.dumps(answer))
    assert answer.index is out or np.shares_memory(answer.index, out)
    np.testing.assert_array_equal(back.index, out)
    with pytest.raises(TypeError, match="Indices: found an answer of the native module itself"):
        pickle.dumps(restive._restive.whittle_index(P))


class Tags(html.parser.HTMLParser):
    """Every tag that is opened is closed, and no script is among them."""

    def __init__(self):
        super().__init__()
        self.open, self.text, self.seen = [], [], set()

    def handle_starttag(self, tag, attrs):
        assert not any(name.startswith("on") for name, _ in attrs)
        self.open.append(tag)
        self.seen.add(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def read(answer):
    page = Tags()
    page.feed(answer._repr_html_())
    assert page.open == [] and "script" not in page.seen and "table" in page.seen
    return " ".join(page.text)


@pytest.mark.parametrize("name", ANSWERS)
def test_answers_are_shown(name):
    answer, arrays, _ = ANSWERS[name]
    shown = read(answer)
    assert all(array in shown for array in arrays)


def study(evil):
    arms = {"arm": [f"{evil}{k}" for k in range(40)], evil: np.linspace(0, 1, 40) ** 2}
    state = np.random.default_rng(1).integers(0, 2, (8, 40))
    log = {
        "trajectory": [evil] * 320, "t": np.repeat(np.arange(8), 40), "arm": arms["arm"] * 8, "state": state.ravel(),
        "action": [int(k % 40 in (t, t + 8)) for t in range(8) for k in range(40)],
    }  # fmt: skip
    return restive.Study(arms, log, states=2, discount=0.9, budget=2, horizon=5, behaviour="uniform", name=evil, notes=evil)


@pytest.mark.filterwarnings("ignore")
def test_studies_models_and_plans_are_shown_and_kept_with_hostile_names():
    evil = "<script>alert('x')</script>&"
    made = study(evil)
    model = restive.TwoStage(seed=None)
    assert "no" in read(model)
    model.fit(made)
    assert str(model.seed_) in read(model)
    plan, evaluation, doctor = model.plan(made), model.evaluate(made, estimators="published", runs=5, resamples=5, part="all"), restive.doctor(made)
    assert evil in read(plan) and "Effects of pulls: not stated" in read(plan)
    assert evil in read(made) and "policy" in read(evaluation)
    doctor._repr_html_()
    arrays = made.to_arrays()
    assert "features" in read(arrays[0]) and "arms" in read(arrays) and evil in read(made.tables().arms)
    for keep in (lambda answer: pickle.loads(pickle.dumps(answer)), copy.copy, copy.deepcopy):
        assert keep(made) == made and keep(doctor) == doctor
        assert keep(made.units()).study == made.units().study
        for table in (plan, evaluation, made.tables().arms):
            back = keep(table)
            assert type(back) is type(table) and list(back) == list(table) and vars(back) == vars(table)
            assert all(np.array_equal(a, b, equal_nan=a.dtype.kind == "f") for a, b in zip(back.values(), table.values(), strict=True))
        np.testing.assert_array_equal(keep(arrays[0]).state, arrays[0].state)
        np.testing.assert_array_equal(keep(model).predict(made)[0], model.predict(made)[0])
    rows = restive.generate("two-state", instances=12, arms=5, budget=1, trajectories=1).to_study()
    assert "… 2 more instances" in read(rows)
    assert "… 2 more instances" in read(rows.units("instances")) and "… 50 more arms" in read(rows.units()) and evil in read(made.units()[:3])
