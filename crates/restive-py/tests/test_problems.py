"""Several problems in one simulation, against one call for each; rewards of each arm against what trajectories earned."""

import pickle

import numpy as np
import pytest
from differences import arms

import restive

RANDOM = np.random.default_rng(11)
P = np.stack([arms(RANDOM, 6, 3) for _ in range(4)])  # [4,6,3,2,3]
INDEX = restive.whittle_index(P).index
OPTIONS = {"horizon": 5, "rollouts": 20, "keep_trajectories": True}


def check(found, calls, axes=(4,)):
    """Every part is that of its own call, to the last bit."""
    for name in ("values", "state", "action", "propensity"):
        truth = np.stack([getattr(call, name) for call in calls])
        assert (getattr(found, name) == truth.reshape(*axes, *truth.shape[1:])).all()
    assert len({call.values.tobytes() for call in calls}) == len(calls)


def test_everything_of_each_problem_is_a_call_for_each():
    k, e, g, seed = [1, 2, 3, 4], [0.1, 0.2, 0.3, 0.4], [0.9, 0.8, 1.0, 0.5], [3, 2**64 - 1, 2**63 + 5, 0]
    rewards, start = RANDOM.random((4, 6, 3, 2)), RANDOM.integers(0, 3, (4, 6))
    given = {"rewards": rewards, "discount": g, "seed": seed, "initial": start}
    found = restive.simulate(P, k, "soft", INDEX, e, problems=4, **given, **OPTIONS)
    each = [{name: value[b] for name, value in given.items()} for b in range(4)]
    check(found, [restive.simulate(P[b], k[b], "soft", INDEX[b], e[b], **each[b], **OPTIONS) for b in range(4)])
    assert "[4] problems" in repr(found)
    again = pickle.loads(pickle.dumps(found))
    assert (again.values == found.values).all()


def test_what_has_no_axis_of_problems_is_shared():
    one = P[0]
    budgets = restive.simulate(one, [1, 2, 3, 4], "strict", INDEX[0], problems=4, **OPTIONS)
    check(budgets, [restive.simulate(one, k, "strict", INDEX[0], **OPTIONS) for k in (1, 2, 3, 4)])
    tables = RANDOM.normal(size=(4, 5, 6, 3))  # one for each step
    check(restive.simulate(one, 2, "strict", tables, problems=4, **OPTIONS), [restive.simulate(one, 2, "strict", t, **OPTIONS) for t in tables])
    steps = np.stack([P[[b, 1, 2, 3, 0]] for b in range(4)])  # [4,H,N,M,2,M]
    check(restive.simulate(steps, 2, "random", problems=4, **OPTIONS), [restive.simulate(p, 2, "random", **OPTIONS) for p in steps])
    rows = RANDOM.integers(0, 3, (4, 20, 6))
    check(restive.simulate(one, 2, "random", problems=4, initial=rows, **OPTIONS), [restive.simulate(one, 2, "random", initial=r, **OPTIONS) for r in rows])


def test_problems_may_have_several_axes_compact_arms_and_beliefs():
    two = RANDOM.random((2, 3, 5, 4))
    found = restive.simulate(two, 2, "random", problems=(2, 3), seed=np.arange(6).reshape(2, 3), **OPTIONS)
    check(found, [restive.simulate(two[b // 3, b % 3], 2, "random", seed=b, **OPTIONS) for b in range(6)], (2, 3))
    index = restive.whittle_index(two[0], observation="collapsing", chain=4).index
    more = {"observation": "collapsing", "chain": 4, **OPTIONS}
    found = restive.simulate(two[0], 2, "strict", index, problems=3, **more)
    check(found, [restive.simulate(two[0, b], 2, "strict", index[b], **more) for b in range(3)], (3,))


def test_a_function_is_told_of_which_problem_it_is_asked():
    seen = []

    def by_index(t, state, problem):
        seen.append(problem)
        return INDEX[problem][np.arange(6), state]

    found = restive.simulate(P, 2, by_index, problems=4, **OPTIONS)
    check(found, [restive.simulate(P[b], 2, "strict", INDEX[b], **OPTIONS) for b in range(4)])
    assert seen == [b for b in range(4) for _ in range(5)]
    places = []
    restive.simulate(P[0], 2, lambda t, state, problem: places.append(problem) or np.zeros(state.shape), problems=(2, 2), horizon=1)
    assert places == [(0, 0), (0, 1), (1, 0), (1, 1)]


@pytest.mark.parametrize("by_action", [False, True])
def test_rewards_of_each_arm_are_what_trajectories_earn(by_action):
    rewards = RANDOM.random((6, 3, 2) if by_action else (6, 3))
    found = restive.simulate(P[0], 2, "random", rewards=rewards, discount=0.9, **OPTIONS)
    table = rewards if by_action else np.repeat(rewards[:, :, None], 2, axis=2)
    earned = table[np.arange(6), found.state[:, :-1], found.action].sum(-1) @ 0.9 ** np.arange(5)
    np.testing.assert_allclose(found.values, earned, rtol=1e-12)
    labels = restive.simulate(P[0], 2, "random", rewards=rewards, discount=0.9, observation="collapsing", chain=4, **OPTIONS)
    alone = [restive.simulate(P[0], 2, "random", rewards=np.where(np.arange(6)[:, None] == i, table.reshape(6, 6), 0.0).reshape(6, 3, 2), discount=0.9, observation="collapsing", chain=4, **OPTIONS).values for i in range(6)]  # fmt: skip
    np.testing.assert_allclose(labels.values, np.sum(alone, axis=0), rtol=1e-12)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: restive.simulate(P, 1, "random", problems=0), "problems: found 0, expected a number of problems"),
        (lambda: restive.simulate(P, 1, "random", problems=()), r"problems: found \(\)"),
        (lambda: restive.simulate(P, 1, "random", problems=(4, -1)), "problems: found"),
        (lambda: restive.simulate(P[0], [1, 2], "random"), "budget: found an array, and no problems="),
        (lambda: restive.simulate(P[0], [1, 2, 3], "random", problems=2), r"budget: found shape \[3\], expected a number, or shape \[2\]"),
        (lambda: restive.simulate(P, [1, 2, 3, 9], "random", problems=4), "problem 3: budget: found 9"),
        (lambda: restive.simulate(P, 1, "strict", INDEX[:3], problems=4), "problem 0: index: found shape"),
        (lambda: restive.simulate(np.concatenate([P[:3], 2 * P[3:]]), 1, "random", problems=4), "problem 3: transition: arm"),
        (lambda: restive.simulate(P, 1, "random", seed=[1, 2, 3, 2**64], problems=4), "seed: found"),
        (lambda: restive.simulate(P[0], 1, "strict", INDEX, problems=4, horizon=4), r"index: found shape .*because it could be of each problem or of all"),
        (lambda: restive.simulate(P, 1, "random", problems=4, horizon=4), r"P: found shape .*expected axes of problems and of steps"),
        (lambda: restive.simulate(P[0], 1, "random", initial=np.zeros((4, 6), int), problems=4, rollouts=4), "initial: found shape .*of rollouts"),
    ],
)
def test_what_is_wrong_is_said_with_its_problem(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_as_many_problems_as_steps_are_told_apart_by_both_axes():
    options = {"horizon": 4, "rollouts": 5, "keep_trajectories": True}
    tables = np.repeat(INDEX[:, None], 4, axis=1)  # [B,H,N,M]
    found = restive.simulate(P[0], 2, "strict", tables, problems=4, **options)
    check(found, [restive.simulate(P[0], 2, "strict", index, **options) for index in INDEX])


def test_a_function_that_fails_says_so_itself():
    class Mine(ValueError):
        pass

    def policy(t, state, problem):
        raise Mine("mine")

    with pytest.raises(Mine, match="^mine$"):
        restive.simulate(P, 2, policy, problems=4)
    with pytest.raises(ValueError, match="problem 0: policy: step 0") as found:
        restive.simulate(P, 2, lambda t, state, problem: np.ones(3), problems=4)
    assert isinstance(found.value.__cause__, ValueError)


def test_more_problems_than_there_is_memory_for_are_refused():
    for many in (2**62, (2**31, 2**31)):
        with pytest.raises((MemoryError, ValueError), match="problems"):
            restive.simulate(P[0], 1, "random", problems=many)
