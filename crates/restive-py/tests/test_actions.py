"""More than two actions: against all policies, against Whittle indices, against finite differences."""

import itertools

import numpy as np
import pytest
import restive
from differences import derivative, tangent

COSTS = np.array([0.0, 0.7, 2.0])


def arms(random, n, m, a=3):
    p = random.dirichlet(np.ones(m), size=(n, m, a)) * 0.85 + 0.15 / m
    return p / p.sum(-1, keepdims=True)


def best_actions(p, rewards, costs, discount, price):
    """Of one arm [M,A,M]: the policy of the highest values among all."""
    m, a = rewards.shape
    earned = rewards - price * costs
    rows = np.arange(m)

    def value(policy):
        return np.linalg.solve(np.eye(m) - discount * p[rows, policy], earned[rows, policy])

    policy = max(itertools.product(range(a), repeat=m), key=lambda policy: value(list(policy)).sum())
    return list(policy)


def test_best_actions_between_changes_are_those_of_all_policies():
    random = np.random.default_rng(1)
    p, rewards = arms(random, 4, 3), random.random((4, 3, 3))
    found = restive.action_index(p.reshape(2, 2, 3, 3, 3), COSTS, rewards.reshape(2, 2, 3, 3), 0.9)
    assert found.threshold.shape == (2, 2, 3, 2) and found.is_indexable.all() and (found.status == "exact").all()
    assert (found.threshold == found.last).all() and (found.residual < 1e-12).all()
    for i in range(4):
        own = found.changes.arm == i
        prices = found.changes.price[own]
        assert (np.diff(prices) >= 0).all()
        ends = np.concatenate([[prices[0] - 1], prices, [prices[-1] + 1]])
        for price in (ends[1:] + ends[:-1]) / 2:
            now = [2, 2, 2]
            for s, b in zip(found.changes.state[own][prices <= price], found.changes.action[own][prices <= price], strict=True):
                now[s] = b
            assert now == best_actions(p[i], rewards[i], COSTS, 0.9, price)
            assert now == [int((found.threshold[i // 2, i % 2, s] > price).sum()) for s in range(3)]


def test_two_actions_are_whittle_indices():
    random = np.random.default_rng(2)
    p = arms(random, 20, 4, 2)
    found, truth = restive.action_index(p, [0.0, 1.0], discount=0.95), restive.whittle_index(p, discount=0.95)
    assert found.threshold[..., 0] == pytest.approx(truth.index, abs=1e-12)
    assert (found.is_indexable == truth.is_indexable).all()
    c = random.normal(size=(20, 4))
    assert found.pullback(c[..., None]) == pytest.approx(truth.pullback(c), abs=1e-10)


def test_pullbacks_are_derivatives():
    random = np.random.default_rng(3)
    given = {"P": arms(random, 3, 3), "costs": COSTS, "rewards": random.random((3, 3, 3)), "discount": np.array([0.8, 0.9, 0.95])}
    c = random.normal(size=(3, 3, 2))
    back = restive.action_index(**given).pullback_all(c)
    for name, x in given.items():
        by = tangent(random, x.shape) if name == "P" else random.normal(size=x.shape)
        by = by * (np.arange(3) > 0) if name == "costs" else by
        truth = derivative(lambda x, name=name: (restive.action_index(**{**given, name: x}).threshold * c).sum(), x, by, 1e-5)
        assert (getattr(back, f"d_{name}") * by).sum() == pytest.approx(truth, rel=1e-6), name


def test_the_lagrangian_price_has_the_smallest_bound():
    random = np.random.default_rng(4)
    p, rewards, start = arms(random, 6, 3), random.random((6, 3, 3)), random.integers(0, 3, 6)
    found = restive.lagrangian_policy(p, COSTS, start, 3.0, rewards, 0.9)

    def dual(price, rewards=rewards):
        total = price * 3.0
        for i in range(6):
            policy = best_actions(p[i], rewards[i], COSTS, 0.9, price)
            rows = np.arange(3)
            earned = (rewards[i] - price * COSTS)[rows, policy]
            total += 0.1 * np.linalg.solve(np.eye(3) - 0.9 * p[i][rows, policy], earned)[start[i]]
        return total

    assert found.bound == pytest.approx(dual(found.price), rel=1e-12)
    for step in (1e-3, 1e-2, 0.1):
        assert dual(found.price + step) >= found.bound - 1e-12
        assert dual(max(found.price - step, 0)) >= found.bound - 1e-12
    assert found.spent.sum() <= 3.0 and found.marginal in range(6)
    assert (found.advantage[..., 0] == 0).all()
    # of the bound at a price where nobody is at the margin
    free = restive.lagrangian_policy(p, COSTS, start, 12.0, rewards - 5 * COSTS, 0.9)
    assert free.price == 0 and free.marginal is None
    by = random.normal(size=rewards.shape)
    truth = derivative(lambda x: restive.lagrangian_policy(p, COSTS, start, 12.0, x, 0.9).bound, rewards - 5 * COSTS, by, 1e-5)
    assert (free.pullback().d_rewards * by).sum() == pytest.approx(truth, rel=1e-6)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda p: restive.action_index(p, [0.0, 1.0]), "costs: found shape \\[2\\]"),
        (lambda p: restive.action_index(p, [0.0, 2.0, 1.0]), "costs: found \\[0.0, 2.0, 1.0\\]"),
        (lambda p: restive.action_index(p[..., :1], COSTS), "P: found shape"),
        (lambda p: restive.action_index(p * 1.1, COSTS), "P: arm 0, state 0, action 0: found a sum of 1.1"),
        (lambda p: restive.action_index(p, COSTS, discount=1.5), "discount"),
        (lambda p: restive.lagrangian_policy(p, COSTS, np.zeros(4, int), -1), "budget: found -1"),
    ],
)
def test_what_is_wrong_is_said(call, message):
    with pytest.raises(ValueError, match=message):
        call(np.full((4, 2, 3, 2), 0.5))


def test_a_bound_that_is_not_known_has_no_gradient_either():
    P = np.tile(np.eye(3)[:, None], (2, 1, 3, 1))  # arms that never move, at discount 1: their average depends on where they start
    policy = restive.lagrangian_policy(P, [0.0, 1.0, 2.0], [0, 0], 1, discount=1.0)
    assert np.isnan(policy.bound)
    back = policy.pullback()
    assert all(np.isnan(d).all() for d in (back.d_P, back.d_rewards, back.d_discount, back.d_budget))
