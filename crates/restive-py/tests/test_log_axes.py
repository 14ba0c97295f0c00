"""Axes of `cwpdis` and a horizon of `whittle_index`: batches, shared logs, absent arms, and gradients by everything."""

import numpy as np
import pytest
from differences import arms, derivative

import restive

J, H, N, M = 6, 4, 5, 3
AXES = (2, 3)


def logs(random, axes=AXES):
    """States, actions, propensities and pulls, with some records missing."""
    state, action = random.integers(0, M, (*axes, J, H + 1, N)), random.integers(0, 2, (*axes, J, H, N))
    state[random.random(state.shape) < 0.1] = -1
    action[random.random(action.shape) < 0.1] = -1
    shape = action.shape
    return random.uniform(0.05, 0.95, shape), state, action, random.uniform(0.2, 1.0, shape)


def rewards_of(random, kind, axes=AXES):
    """Rewards of each kind; both actions earn the same in state 1, so that a record without an action is known there."""
    if kind == "state":
        return random.normal(size=M)
    if kind == "action":
        table = random.normal(size=(M, 2))
        table[1, 1] = table[1, 0]
        return table
    logged = random.normal(size=(*axes, J, H, N))
    logged[random.random(logged.shape) < 0.1] = np.nan
    return logged


@pytest.mark.parametrize("kind", ["state", "action", "logged"])
@pytest.mark.parametrize("options", [{}, {"ratio_up_to": "previous-step"}, {"log_odds": True}])
def test_a_batch_is_its_problems_one_by_one(kind, options):
    random = np.random.default_rng(1)
    pull, state, action, propensity = logs(random)
    if options.get("log_odds"):
        pull = np.log(pull / (1 - pull))
    rewards, discount = rewards_of(random, kind), random.uniform(0.5, 1.0, AXES)
    found = restive.cwpdis(pull, state, action, rewards, propensity=propensity, discount=discount, **options)
    assert found.value.shape == found.dropped.shape == found.effective_sample_size.shape == AXES
    assert found.arm_value.shape == (*AXES, N) and found.effective_sample_sizes.shape == (*AXES, H, N)
    d_value = random.normal(size=AXES)
    d = found.pullback_all(d_value)
    np.testing.assert_array_equal(found.pullback(d_value), d.d_pull)
    assert (d.d_pull.shape, d.d_rewards.shape, d.d_discount.shape) == (pull.shape, rewards.shape, AXES)
    d_table = 0.0
    for at in np.ndindex(AXES):
        own = rewards[at] if kind == "logged" else rewards
        one = restive.cwpdis(pull[at], state[at], action[at], own, propensity=propensity[at], discount=discount[at], **options)
        assert isinstance(one.value, float) and isinstance(one.dropped, int) and isinstance(one.effective_sample_size, float)
        for name in ("value", "arm_value", "effective_sample_sizes", "effective_sample_size", "dropped"):
            np.testing.assert_array_equal(getattr(found, name)[at], getattr(one, name), name)
        d_one = one.pullback_all(d_value[at])
        np.testing.assert_array_equal(d.d_pull[at], d_one.d_pull)
        assert isinstance(d_one.d_discount, float) and d.d_discount[at] == d_one.d_discount
        if kind == "logged":
            np.testing.assert_array_equal(d.d_rewards[at], d_one.d_rewards)
        d_table += d_one.d_rewards
    if kind != "logged":
        np.testing.assert_allclose(d.d_rewards, d_table, rtol=1e-12)


def test_what_problems_share_comes_without_their_axes():
    random = np.random.default_rng(2)
    pull = logs(random)[0]
    _, state, action, propensity = logs(random, ())
    earned, d_value = rewards_of(random, "logged", ()), random.normal(size=AXES)
    one = restive.cwpdis(pull, state, action, earned, propensity=propensity)
    spread = [np.broadcast_to(x, (*AXES, *x.shape)) for x in (state, action, earned, propensity)]
    many = restive.cwpdis(pull, *spread[:3], propensity=spread[3], discount=np.full(AXES, 0.99))
    np.testing.assert_array_equal(one.value, many.value)
    d_one, d_many = one.pullback_all(d_value), many.pullback_all(d_value)
    np.testing.assert_array_equal(d_one.d_pull, d_many.d_pull)
    assert d_one.d_rewards.shape == earned.shape and isinstance(d_one.d_discount, float)
    np.testing.assert_allclose(d_one.d_rewards, d_many.d_rewards.sum(axis=(0, 1)), rtol=1e-12, atol=1e-15)
    assert d_one.d_discount == pytest.approx(d_many.d_discount.sum(), rel=1e-12)
    # one cotangent for all of them
    np.testing.assert_array_equal(one.pullback(), one.pullback(np.ones(AXES)))
    none = restive.cwpdis(pull[:0], state, action, earned, propensity=propensity)
    assert none.value.shape == (0, 3) and (none.pullback_all().d_rewards == 0).all()


def test_problems_have_budgets_of_their_own():
    random = np.random.default_rng(3)
    pull, state, action, _ = logs(random)
    budget = np.array([[1, 2, 3], [4, 3, 2]])
    found = restive.cwpdis(pull, state, action, [0.0, 0.5, 1.0], budget)
    shared = restive.cwpdis(pull, state, action, [0.0, 0.5, 1.0], 2)
    for at in np.ndindex(AXES):
        own = restive.cwpdis(pull[at], state[at], action[at], [0.0, 0.5, 1.0], int(budget[at]))
        assert found.value[at] == own.value
        assert shared.value[at] == restive.cwpdis(pull[at], state[at], action[at], [0.0, 0.5, 1.0], 2).value


@pytest.mark.parametrize("behaviour", ["budget", "propensity"])
@pytest.mark.parametrize("kind", ["state", "action", "logged"])
def test_an_absent_arm_is_one_that_was_left_out(behaviour, kind):
    random = np.random.default_rng(4)
    pull, state, action, propensity = logs(random)
    rewards, mask = rewards_of(random, kind), np.array([True, False, True, True, False])
    there = (Ellipsis, mask)

    def judged(pull, state, action, rewards, propensity, **options):
        how = {"budget": 2} if behaviour == "budget" else {"propensity": propensity}
        return restive.cwpdis(pull, state, action, rewards, discount=0.9, **how, **options)

    left_out = judged(pull[there], state[there], action[there], rewards[there] if kind == "logged" else rewards, propensity[there])
    away = (Ellipsis, ~mask)
    for x, nonsense in ((pull, np.nan), (state, 99), (action, 7), (propensity, np.nan)):
        x[away] = nonsense  # whatever is written of somebody who is not there
    if kind == "logged":
        rewards[away] = np.inf
    d_value = random.normal(size=AXES)
    expected = left_out.pullback_all(d_value)
    for shape in ((N,), (1, 1, 1, N), (J, H, N), (*AXES, J, H, N)):
        found = judged(pull, state, action, rewards, propensity, mask=np.broadcast_to(mask, shape))
        np.testing.assert_allclose(found.value, left_out.value, rtol=1e-13)
        np.testing.assert_allclose(found.effective_sample_size, left_out.effective_sample_size, rtol=1e-13)
        np.testing.assert_array_equal(found.dropped, left_out.dropped)
        np.testing.assert_array_equal(found.arm_value[there], left_out.arm_value)
        assert (found.arm_value[away] == 0).all() and (found.effective_sample_sizes[away] == 0).all()
        d = found.pullback_all(d_value)
        np.testing.assert_array_equal(d.d_pull[there], expected.d_pull)
        assert (d.d_pull[away] == 0).all()
        if kind == "logged":
            np.testing.assert_array_equal(d.d_rewards[there], expected.d_rewards)
            assert (d.d_rewards[away] == 0).all()
        else:
            np.testing.assert_allclose(d.d_rewards, expected.d_rewards, rtol=1e-12)
        assert d.d_discount == pytest.approx(expected.d_discount, rel=1e-12)


def test_problems_may_have_absent_arms_of_their_own():
    random = np.random.default_rng(5)
    pull, state, action, _ = logs(random, (2,))
    mask = np.array([[True] * 5, [False, True, True, False, True]])
    found = restive.cwpdis(pull, state, action, [0.0, 0.5, 1.0], 2, mask=mask[:, None, None])
    for k in range(2):
        alone = restive.cwpdis(pull[k][..., mask[k]], state[k][..., mask[k]], action[k][..., mask[k]], [0.0, 0.5, 1.0], 2)
        assert found.value[k] == pytest.approx(alone.value, rel=1e-13) and found.dropped[k] == alone.dropped


def test_an_arm_may_be_absent_from_some_decisions():
    random = np.random.default_rng(6)
    pull, state, action, propensity = logs(random, ())
    mask = random.random((J, H, N)) < 0.7
    mask[:, 0, 2], mask[:, -1, 4] = False, False  # one comes late, one leaves early
    found = restive.cwpdis(pull, state, action, [0.0, 0.5, 1.0], propensity=propensity, mask=mask)
    unseen = np.where(mask, state[:, :-1], -1), np.where(mask, action, -1)
    unknown = restive.cwpdis(pull, *unseen, [0.0, 0.5, 1.0], propensity=propensity)
    assert found.value == unknown.value and found.dropped == unknown.dropped - 2
    assert found.effective_sample_size == pytest.approx(unknown.effective_sample_sizes[-1].sum() / 4, rel=1e-13)
    np.testing.assert_array_equal(found.pullback(), unknown.pullback())
    assert (found.pullback()[~mask] == 0).all()
    # K at random are K of those who are there, at every decision
    mask[mask.sum(axis=-1) < 3] = True
    there = mask.sum(axis=-1, keepdims=True)
    share = np.broadcast_to(2 / there, mask.shape)
    by_hand = restive.cwpdis(
        pull, state, action, [0.0, 0.5, 1.0], propensity=np.where(action == 1, share, 1 - share), mask=mask
    )
    assert restive.cwpdis(pull, state, action, [0.0, 0.5, 1.0], 2, mask=mask).value == by_hand.value


def test_without_any_arm_nothing_is_earned_and_without_any_ratio_nothing_known():
    random = np.random.default_rng(7)
    pull, state, action, propensity = logs(random, ())
    nobody = restive.cwpdis(pull, state, action, [0.0, 0.5, 1.0], propensity=propensity, mask=np.zeros(N, bool))
    assert (nobody.value, nobody.dropped, nobody.effective_sample_size) == (0.0, 0, 0.0)
    never = restive.cwpdis(
        np.zeros((1, 1, 2)), [[[0, 1]]], [[[1, 1]]], [0.0, 1.0], propensity=np.full((1, 1, 2), 0.5), mask=[True, False]
    )
    assert np.isnan(never.value) and never.dropped == 1 and "nothing known" in repr(never)


@pytest.mark.parametrize("kind", ["state", "action", "logged"])
@pytest.mark.parametrize("ratio_up_to", ["this-step", "previous-step"])
@pytest.mark.parametrize("axes", [(), AXES])
def test_gradients_by_rewards_and_discount_equal_finite_differences(kind, ratio_up_to, axes):
    random = np.random.default_rng(8)
    pull, state, action, propensity = logs(random, axes)
    rewards, weight = rewards_of(random, kind, axes), random.normal(size=axes)
    mask = np.array([True, True, False, True, True])

    def judged(pull, rewards, discount):
        options = {"discount": discount, "ratio_up_to": ratio_up_to, "mask": mask}
        return restive.cwpdis(pull, state, action, rewards, propensity=propensity, **options)

    def value(*inputs):
        return np.sum(judged(*inputs).value * weight)

    d = judged(pull, rewards, 0.9).pullback_all(weight if axes else float(weight))
    direction = random.normal(size=rewards.shape)
    if kind == "action":
        direction[1, 1] = direction[1, 0]  # both actions stay the same where they are
    along = derivative(lambda r: value(pull, r, 0.9), rewards, direction)
    assert np.sum(d.d_rewards * direction) == pytest.approx(along, rel=1e-8)
    assert d.d_discount == pytest.approx(derivative(lambda g: value(pull, rewards, g), 0.9, 1.0), rel=1e-8)
    direction = random.normal(size=pull.shape)
    along = derivative(lambda x: value(x, rewards, 0.9), pull, direction)
    assert np.sum(d.d_pull * direction) == pytest.approx(along, rel=1e-7)
    if axes:
        own = judged(pull, rewards, np.full(axes, 0.9)).pullback_all(weight)
        for at in np.ndindex(axes):
            step = np.zeros(axes)
            step[at] = 1.0
            along = derivative(lambda g: value(pull, rewards, g), np.full(axes, 0.9), step)
            assert own.d_discount[at] == pytest.approx(along, rel=1e-7, abs=1e-9)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"pull": np.zeros((4, 5))}, r"pull: found shape \[4, 5\], expected \[J, H, N\]"),
        ({"state": np.zeros((3, J, H, N), int)}, r"state: found shape \[3, 6, 4, 5\], expected \[6, 5, 5\] or \[6, 4, 5\] .*for all problems, or \[2, 6, 5, 5\]"),
        ({"propensity": np.ones((2, J, H, 4))}, r"propensity: found shape \[2, 6, 4, 4\], expected \[6, 4, 5\]"),
        ({"rewards": np.ones((2, J, H, 4))}, r"rewards: found shape \[2, 6, 4, 4\], expected \[6, 4, 5\]"),
        ({"mask": np.ones(4, bool)}, r"mask: found shape \[4\], expected \[5\], or a shape that broadcasts to \[2, 6, 4, 5\]"),
        ({"mask": np.ones(5)}, "mask: found dtype .*, expected booleans"),
        ({"discount": np.full(3, 0.9)}, r"discount: found shape \[3\], expected a number, or shape \[2\]: one for each problem"),
        ({"discount": [0.9, 1.5]}, r"discount: entry \[1\]: found 1.5, expected a number from 0 to 1"),
        ({"propensity": None, "budget": [1, 6]}, r"budget: entry \[1\]: found 6, expected a whole number from 0 to 5"),
        ({"propensity": None, "budget": [1, 1.5]}, r"budget: entry \[1\]: found 1.5, expected a whole number"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_said(changed, message):
    pull, state, action, propensity = logs(np.random.default_rng(9), (2,))
    given = {"pull": pull, "state": state, "action": action, "rewards": [0.0, 0.5, 1.0], "propensity": propensity}
    with pytest.raises(ValueError, match=message):
        restive.cwpdis(**{**given, **changed})


def test_faults_say_in_which_problem_they_are():
    pull, state, action, propensity = logs(np.random.default_rng(10))
    pull[1, 2, 3, 0, 4] = 1.5
    with pytest.raises(ValueError, match=r"pull: problem \[1, 2\], trajectory 3, step 0, arm 4: found 1.5"):
        restive.cwpdis(pull, state, action, [0.0, 0.5, 1.0], propensity=propensity)
    pull[1, 2, 3, 0, 4], state[0, 1, 2, 3, 4] = 0.5, 7
    with pytest.raises(ValueError, match=r"problem \[0, 1\]: state: trajectory 2, step 3, arm 4: found 7"):
        restive.cwpdis(pull, state, action, [0.0, 0.5, 1.0], propensity=propensity)
    state[0, 1, 2, 3, 4] = 0
    found = restive.cwpdis(pull, state, action, [0.0, 0.5, 1.0], propensity=propensity)
    with pytest.raises(ValueError, match=r"d_value: found shape \[2\], expected a number, or shape \[2, 3\]"):
        found.pullback_all(np.ones(2))
    assert repr(found) == "<restive.Cwpdis of problems [2, 3]>"
    with pytest.raises(ValueError, match=r"pull: found shape \[2, 3, 6, 4, 5\], expected one problem, \[J, H, N\]"):
        restive.segmented(pull, state, action, [0.0, 0.5, 1.0], propensity=propensity)


def test_threads_do_not_change_a_bit():
    pull, state, action, propensity = logs(np.random.default_rng(11))
    before, answers = restive.threads(), []
    try:
        for threads in (1, 4):
            restive.set_threads(threads)
            found = restive.cwpdis(pull, state, action, [0.0, 0.5, 1.0], propensity=propensity)
            answers.append([found.value, *found.pullback_all()])
    finally:
        restive.set_threads(before)
    for one, other in zip(*answers, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("ending", [None, "nothing", "state"])
def test_a_horizon_answers_as_horizon_index_does(ending):
    random = np.random.default_rng(12)
    p, rewards, discount = arms(random, 6, 3).reshape(2, 3, 3, 2, 3), random.normal(size=(2, 3, 3)), random.uniform(0.5, 1, (2, 3))
    for given in ((p,), (p, rewards), (p, rewards, discount), (p, None, 0.9)):
        found = restive.whittle_index(*given, horizon=4, ending=ending)
        rest = dict(zip(("rewards", "discount"), given[1:]))
        truth = restive.horizon_index(p, 4, ending=ending or "nothing", **rest)
        assert isinstance(found, restive.HorizonIndices) and found.index.shape == (4, 2, 3, 3)
        np.testing.assert_array_equal(found.index, truth.index)
        d_index = random.normal(size=found.index.shape)
        for one, other in zip(found.pullback_all(d_index), truth.pullback_all(d_index), strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"observation": "collapsing", "chain": 3}, "observation: found \"collapsing\", expected 'full' with a horizon"),
        ({"algorithm": "general"}, "algorithm: found \"general\", expected 'auto' with a horizon"),
        ({"layout": "nass"}, "layout: found \"nass\", expected 'nsas' with a horizon"),
        ({"out": np.empty((2, 3, 2))}, "out: found an array, expected None with a horizon"),
        ({"differentiable": True}, "differentiable: found True, expected False with a horizon"),
        ({"chain": 3}, "chain: found a chain, expected None with a horizon"),
        ({"beliefs": 3}, "beliefs: found a number, expected None with a horizon"),
        ({"ending": "never"}, "ending: found \"never\", expected 'nothing' or 'state'"),
        ({"horizon": 0}, "horizon: found 0, expected a number from 1"),
        ({"horizon": None, "ending": "state"}, "ending: found \"state\", expected None without a horizon"),
    ],
)
def test_what_a_horizon_does_not_go_with_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        restive.whittle_index(np.full((3, 4), 0.5), **{"horizon": 2, **options})
