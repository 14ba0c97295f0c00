"""Importance sampling and likelihood against their definitions in NumPy, and finite differences."""

import numpy as np
import pytest
from differences import arms, derivative, tangent

import restive


def log(random, j=6, h=4, n=5, m=3):
    """States, actions, propensities and pulls of a target, with some records missing."""
    state, action = random.integers(0, m, (j, h + 1, n)), random.integers(0, 2, (j, h, n))
    state[random.random(state.shape) < 0.1] = -1
    action[random.random(action.shape) < 0.1] = -1
    propensity, pull = random.uniform(0.2, 1.0, (j, h, n)), random.uniform(0.05, 0.95, (j, h, n))
    return state, action, propensity, pull


def ratios(action, propensity, pull):
    target = np.where(action == 1, pull, np.where(action == 0, 1 - pull, 1.0))
    return target / np.where(action == -1, 1.0, propensity)


def cwpdis_by_definition(state, action, propensity, pull, reward, discount, previous=False):
    ratio = np.cumprod(ratios(action, propensity, pull), axis=1)
    if previous:
        ratio = np.concatenate([np.ones_like(ratio[:, :1]), ratio[:, :-1]], axis=1)
    earned = np.where(state[:, :-1] == -1, np.nan, reward[state[:, :-1]])
    known = ~np.isnan(earned)
    means = np.sum(ratio * np.where(known, earned, 0), axis=0) / np.sum(ratio * known, axis=0)
    return np.sum(discount ** np.arange(len(means))[:, None] * means)


@pytest.mark.parametrize("ratio_up_to", ["this-step", "previous-step"])
def test_cwpdis_is_its_definition(ratio_up_to):
    random = np.random.default_rng(1)
    state, action, propensity, pull = log(random)
    reward = np.array([0.0, 0.3, 1.0])
    options = {"propensity": propensity, "discount": 0.9, "ratio_up_to": ratio_up_to}
    truth = cwpdis_by_definition(state, action, propensity, pull, reward, 0.9, ratio_up_to == "previous-step")
    found = restive.cwpdis(pull, state, action, reward, **options)
    assert found.value == pytest.approx(truth, rel=1e-12)
    assert found.arm_value.sum() == pytest.approx(found.value) and found.arm_value.shape == (5,)
    assert found.effective_sample_sizes.shape == (4, 5) and found.dropped == 0
    # what was earned, instead of the table that says so
    earned = np.where(state[:, :-1] == -1, np.nan, reward[state[:, :-1]])
    logged = restive.cwpdis(pull, state[:, :-1], action, earned, **options)
    assert logged.value == pytest.approx(truth, rel=1e-12)
    both = restive.cwpdis(pull, state, action, np.stack([reward, reward], axis=1), **options)
    assert both.value == pytest.approx(truth, rel=1e-12)


def test_masked_records_are_unseen():
    random = np.random.default_rng(2)
    state, action, propensity, pull = log(random)
    truth = restive.cwpdis(pull, state, action, [0.0, 0.5, 1.0], propensity=propensity).value
    masked = np.ma.masked_equal(state, -1), np.ma.masked_equal(action, -1)
    assert restive.cwpdis(pull, *masked, [0.0, 0.5, 1.0], propensity=propensity).value == truth


def test_the_behaviour_policy_itself_is_worth_what_was_earned():
    instance = restive.generate("five-state", seed=3, instances=1, arms=30, budget=7, trajectories=12)[0]
    pull = np.full(instance.action.shape, 7 / 30)
    earned = (instance.state[:, :-1] / 4).mean(axis=0)
    for behaviour in ({"budget": 7}, {"propensity": instance.propensity}):
        found = restive.cwpdis(pull, instance.state, instance.action, instance.rewards, discount=1.0, **behaviour)
        assert found.value == pytest.approx(earned.sum(), rel=1e-12)
        assert found.effective_sample_size == pytest.approx(12)


def test_segmented_is_its_definition():
    random = np.random.default_rng(4)
    state, action = random.integers(0, 2, (1, 6, 7)), random.integers(0, 2, (1, 5, 7))
    propensity, pull = random.uniform(0.2, 1.0, (1, 5, 7)), random.uniform(0.05, 0.95, (1, 5, 7))
    ratio = ratios(action, propensity, pull)[0]
    value = np.sum(0.9 ** np.arange(5)[:, None] * state[0, :-1] * ratio / ratio.mean(axis=0))
    found = restive.segmented(pull, state, action, [0.0, 1.0], propensity=propensity, discount=0.9)
    assert found.value == pytest.approx(value, rel=1e-12)
    assert found.arm_value.shape == (1, 7) and found.dropped == 0


@pytest.mark.parametrize("shape", [(2,), (2, 2), (1, 5, 7)])
def test_segmented_goes_back_to_rewards_and_discount(shape):
    random = np.random.default_rng(5)
    state, action = random.integers(0, 2, (1, 6, 7)), random.integers(0, 2, (1, 5, 7))
    propensity, pull, rewards = random.uniform(0.2, 1.0, (1, 5, 7)), random.uniform(0.05, 0.95, (1, 5, 7)), random.random(shape)
    at = lambda rewards, discount: restive.segmented(pull, state, action, rewards, propensity=propensity, discount=discount)  # noqa: E731
    back, direction = at(rewards, 0.9).pullback_all(2.0), random.normal(size=shape)
    assert back.d_rewards.shape == shape and (back.d_pull == at(rewards, 0.9).pullback(2.0)).all()
    truth = 2.0 * (at(rewards + direction, 0.9).value - at(rewards, 0.9).value)  # linear
    assert (back.d_rewards * direction).sum() == pytest.approx(truth, rel=1e-11)
    assert back.d_discount == pytest.approx(derivative(lambda g: 2.0 * at(rewards, g).value, 0.9, 1.0), rel=1e-8)


@pytest.mark.parametrize("estimator", [restive.cwpdis, restive.segmented])
def test_pullbacks_by_the_pulls_equal_finite_differences(estimator):
    random = np.random.default_rng(5)
    state, action, propensity, pull = log(random)
    direction = random.normal(size=pull.shape)

    def value(pull):
        return estimator(pull, state, action, [0.0, 0.3, 1.0], propensity=propensity, discount=0.9)

    along = derivative(lambda pull: value(pull).value, pull, direction, 1e-4)
    assert np.sum(value(pull).pullback(2.5) * direction) == pytest.approx(2.5 * along, rel=1e-8)


def test_likelihood_is_its_definition_and_its_pullback_a_difference():
    random = np.random.default_rng(6)
    for m, n in [(2, 4), (3, 5)]:
        state, action = random.integers(-1, m, (3, 6, n)), random.integers(-1, 2, (3, 5, n))
        p = arms(random, n, m)
        loss, seen = 0.0, 0
        for j, t, i in np.ndindex(3, 5, n):
            s, a, after = state[j, t, i], action[j, t, i], state[j, t + 1, i]
            if min(s, a, after) >= 0:
                loss -= np.log(p[i, s, a, after])
                seen += 1
        found = restive.negative_log_likelihood(p, state, action)
        assert found.per_trajectory == pytest.approx(loss / 3, rel=1e-12)
        assert found.per_transition == pytest.approx(loss / seen, rel=1e-12)
        direction = tangent(random, p.shape)
        along = derivative(lambda p: restive.negative_log_likelihood(p, state, action).per_trajectory, p, direction, 1e-4)
        d_p = found.pullback()
        assert np.sum(d_p * direction) == pytest.approx(along, rel=1e-6)
        np.testing.assert_allclose(d_p.sum(axis=-1), 0, atol=1e-10)
        nass = restive.negative_log_likelihood(p.transpose(0, 2, 1, 3), state, action, layout="nass")
        np.testing.assert_array_equal(nass.pullback(), d_p.transpose(0, 2, 1, 3))
        if m == 2:
            compact = restive.negative_log_likelihood(p[..., 1].reshape(n, 4), state, action)
            assert compact.per_trajectory == pytest.approx(loss / 3, rel=1e-12)
            np.testing.assert_allclose(compact.pullback(), (d_p[..., 1] - d_p[..., 0]).reshape(n, 4), rtol=1e-9)


def test_the_truth_is_likelier_than_a_coin():
    instance = restive.generate("two-state", seed=1, instances=1, arms=20, budget=4)[0]
    truth = restive.negative_log_likelihood(instance.P, instance.state, instance.action)
    coin = restive.negative_log_likelihood(np.full((20, 4), 0.5), instance.state, instance.action)
    assert truth.per_transition < coin.per_transition == pytest.approx(np.log(2))


def test_an_impossible_transition_has_an_infinite_loss():
    state = np.array([[[0], [1]]])
    assert restive.negative_log_likelihood([[0.0, 0.0, 1.0, 1.0]], state, [[[0]]]).per_trajectory == np.inf
