"""Rollouts: seeds, budgets, policies, and the value of an arm that a linear system knows."""

import numpy as np
import pytest
from differences import arms

import restive


def test_a_policy_of_nobody_is_worth_what_the_chain_says():
    random = np.random.default_rng(1)
    p, horizon = arms(random, 4, 3), 6
    reward, mass, value = np.array([0.0, 0.5, 1.0]), np.full((4, 3), 1 / 3), 0.0
    for t in range(horizon):
        value += 0.9**t * np.sum(mass @ reward)
        mass = np.einsum("is,ist->it", mass, p[:, :, 0])
    found = restive.simulate(p, 2, "no-action", discount=0.9, horizon=horizon, rollouts=20_000).values
    assert found.shape == (20_000,)
    assert found.mean() == pytest.approx(value, abs=4 * found.std() / np.sqrt(20_000))


@pytest.mark.parametrize("policy", ["strict", "soft", "random", "round-robin", "no-action"])
def test_trajectories_keep_the_budget_and_add_up_to_their_values(policy):
    random = np.random.default_rng(2)
    p = arms(random, 10, 3)
    options = {"horizon": 5, "rollouts": 7, "seed": 3, "keep_trajectories": True, "discount": 0.9}
    if policy in ("strict", "soft"):
        options["index"] = restive.whittle_index(p).index
    if policy == "soft":
        options["temperature"] = 0.1
    found = restive.simulate(p, 4, policy, **options)
    assert found.state.shape == (7, 6, 10) and found.action.shape == (7, 5, 10)
    assert (found.action.sum(axis=-1) == (0 if policy == "no-action" else 4)).all()
    assert ((found.propensity > 0) & (found.propensity <= 1)).all()
    earned = (found.state[:, :-1] / 2).sum(axis=-1) @ 0.9 ** np.arange(5)
    np.testing.assert_allclose(found.values, earned, rtol=1e-12)
    again = restive.simulate(p, 4, policy, **options)
    np.testing.assert_array_equal(again.values, found.values)
    np.testing.assert_array_equal(again.action, found.action)
    other = restive.simulate(p, 4, policy, **{**options, "seed": 4})
    assert (other.values != found.values).any()


def test_the_index_policy_beats_chance_and_soft_cools_to_strict():
    instance = restive.generate("two-state", seed=5, instances=1)[0]
    index = restive.whittle_index(instance.P).index
    options = {"horizon": 9, "rollouts": 300}
    strict = restive.simulate(instance.P, 20, "strict", index, **options).values
    chance = restive.simulate(instance.P, 20, "random", **options).values
    gain = strict - chance  # the same noise, rollout by rollout
    assert gain.mean() > 5 * gain.std() / np.sqrt(300)
    cold = restive.simulate(instance.P, 20, "soft", index, 1e-9, **options).values
    np.testing.assert_allclose(cold, strict, rtol=1e-12)


def test_arms_start_where_they_are_told():
    p = arms(np.random.default_rng(6), 3, 2)
    options = {"policy": "random", "rollouts": 4, "horizon": 2, "keep_trajectories": True}
    found = restive.simulate(p, 1, initial=[1, 0, 1], **options)
    assert (found.state[:, 0] == [1, 0, 1]).all()
    rows = np.array([[0, 0, 0], [1, 1, 1]])
    np.testing.assert_array_equal(restive.simulate(p, 1, initial=rows, **options).state[:, 0], rows[[0, 1, 0, 1]])


def test_labels_grow_older_until_a_pull():
    p = arms(np.random.default_rng(7), 8, 2)
    found = restive.simulate(p, 2, "random", observation="collapsing", chain=4, rollouts=5, horizon=6, keep_trajectories=True)
    before, after = found.state[:, :-1].astype(int), found.state[:, 1:]
    older = np.where(before % 4 < 3, before + 1, before)
    np.testing.assert_array_equal(after[found.action == 0], older[found.action == 0])
    assert (after[found.action == 1] % 4 == 0).all()


def test_threads_do_not_change_a_bit():
    p, before = arms(np.random.default_rng(8), 20, 3), restive.threads()
    index, answers = restive.whittle_index(p).index, []
    try:
        for threads in (1, 4):
            restive.set_threads(threads)
            answers.append(restive.simulate(p, 5, "strict", index, rollouts=50).values)
    finally:
        restive.set_threads(before)
    np.testing.assert_array_equal(*answers)
