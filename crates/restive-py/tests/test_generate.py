"""Synthetic domains: shapes, seeds, and that what was logged is what the truth would do."""

import numpy as np
import pytest

import restive


@pytest.mark.parametrize(("domain", "states"), [("two-state", 2), ("five-state", 5)])
def test_instances_have_the_shapes_that_are_documented(domain, states):
    instances = restive.generate(domain, seed=1, instances=3, arms=12, budget=3, horizon=4, trajectories=5)
    assert len(instances) == 3
    for one in instances:
        assert one.features.shape == (12, 16) and one.rewards.shape == (states, 2)
        assert one.state.shape == (5, 5, 12) and one.action.shape == one.propensity.shape == (5, 4, 12)
        assert one.P.shape == (12, states, 2, states) and one.reward is None and one.chain is None
        assert one.budget == 3 and one.discount == 0.99
        np.testing.assert_allclose(one.P.sum(axis=-1), 1)
        assert (one.action.sum(axis=-1) == 3).all()
        np.testing.assert_allclose(one.propensity, np.where(one.action == 1, 3 / 12, 9 / 12))
        worth = one.P @ one.rewards[:, 0]
        assert (worth[:, :, 1] > worth[:, :, 0] + 0.2).all()  # a pull helps by the margin


def test_the_seed_decides():
    sizes = {"instances": 1, "arms": 5, "budget": 1, "trajectories": 2}
    one, again, other = (restive.generate(seed=seed, **sizes)[0] for seed in (1, 1, 2))
    np.testing.assert_array_equal(one.features, again.features)
    np.testing.assert_array_equal(one.state, again.state)
    assert (one.P != other.P).any()


def test_no_seed_is_a_random_one_that_is_kept():
    sizes = {"instances": 1, "arms": 4, "budget": 1, "trajectories": 2}
    one, other = (restive.generate("two-state", None, **sizes) for _ in range(2))
    assert one.seed != other.seed and not np.array_equal(one[0].P, other[0].P)
    np.testing.assert_array_equal(restive.generate("two-state", one.seed, **sizes)[0].P, one[0].P)
    assert one.to_study() == restive.generate("two-state", one.seed, **sizes).to_study()
    for wrong in (-1, 1.5, "7"):
        with pytest.raises(ValueError, match="seed: found .*, expected a whole number"):
            restive.generate("two-state", wrong, **sizes)


def test_collapsing_logs_labels_and_rewards():
    sizes = {"instances": 1, "arms": 6, "budget": 2, "trajectories": 4, "chain": 5}
    one = restive.generate("collapsing", seed=2, **sizes)[0]
    assert one.chain == 5 and one.state.max() < 10 and one.reward.shape == one.action.shape
    # a label (s, 0) expects the reward of P(s, active, .)
    for j, t, i in zip(*np.nonzero(one.state[:, :-1] % 5 == 0)):
        s = one.state[j, t, i] // 5
        assert one.reward[j, t, i] == pytest.approx(one.P[i, s, 1] @ one.rewards[:, 0])
    index = restive.whittle_index(one.P, observation="collapsing", chain=5).index
    assert index.shape == (6, 10)


def test_maternal_calls_in_turn():
    groups = restive.generate("maternal", seed=3, groups=2, people=40, budget=3, weeks=6)
    assert len(groups) == 2
    one = groups[1]
    assert one.features.shape == (40, 43) and one.state.shape == (1, 7, 40) and one.propensity is None
    assert (one.action.sum(axis=(0, 1)) <= 1).all() and one.action.sum() == 18


def test_counts_of_a_long_log_approach_the_truth():
    one = restive.generate(seed=4, instances=1, arms=2, budget=1, trajectories=20_000)[0]
    s, after, a = one.state[:, :-1, 0], one.state[:, 1:, 0], one.action[:, :, 0]
    for state in range(2):
        for action in range(2):
            here = (s == state) & (a == action)
            share = after[here].mean()
            assert share == pytest.approx(one.P[0, state, action, 1], abs=4 * 0.5 / np.sqrt(here.sum()))


@pytest.mark.parametrize(
    ("domain", "sizes", "message"),
    [
        ("three-state", {}, "domain: found .*expected 'two-state'"),
        ("two-state", {"people": 3}, "sizes: found .*expected those of the domain"),
        ("two-state", {"arms": 0}, "arms: found .*expected at least 1"),
        ("two-state", {"arms": 5, "budget": 6}, "budget: found .*expected at most the number of arms"),
        ("two-state", {"arms": -1}, "arms: found .*expected a number from 0"),
        ("two-state", {"margin": float("nan")}, "margin"),
        ("two-state", {"chain": 3}, "sizes: found .*expected those of the domain"),
        ("collapsing", {"chain": "endless"}, "chain: found .*expected"),
        ("maternal", {"stay_engaged": 1.0}, "stay engaged"),
    ],
)
def test_what_cannot_be_generated_says_why(domain, sizes, message):
    with pytest.raises(ValueError, match=message):
        restive.generate(domain, **sizes)
