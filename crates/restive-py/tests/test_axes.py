"""Axes of `whittle_index`: batches, rewards and discounts of the arms' own, and gradients by all of them."""

import numpy as np
import pytest
from differences import arms, derivative
from golden import cases

import restive

ROADS = [
    (2, {}),
    (2, {"algorithm": "general"}),
    (3, {}),
    (3, {"algorithm": "bisection"}),
    (2, {"observation": "collapsing", "chain": 4}),
    (3, {"observation": "collapsing", "chain": 3}),
    (2, {"observation": "collapsing", "chain": "infinite", "beliefs": 4}),
]


def inputs(random, axes, m, options):
    """Arms with rewards and discounts of their own; infinite chains take R(s) only."""
    p = arms(random, int(np.prod(axes)), m).reshape(*axes, m, 2, m)
    by_action = () if options.get("chain") == "infinite" else (2,)
    return p, random.normal(size=(*axes, m, *by_action)), random.uniform(0.5, 0.95, size=axes)


@pytest.mark.parametrize(("m", "options"), ROADS)
@pytest.mark.parametrize("differentiable", [False, True])
def test_a_batch_is_its_arms_one_by_one(m, options, differentiable):
    random = np.random.default_rng(m)
    axes = (2, 3, 5)
    p, rewards, discount = inputs(random, axes, m, options)
    options = {**options, "differentiable": differentiable}
    found = restive.whittle_index(p, rewards, discount, **options)
    labels = found.index.shape[-1]
    assert found.index.shape == (*axes, labels)
    assert found.is_indexable.shape == found.residual.shape == found.status.shape == axes
    d_index = random.normal(size=found.index.shape)
    d = found.pullback_all(d_index)
    np.testing.assert_array_equal(d.d_P, found.pullback(d_index))
    assert (d.d_P.shape, d.d_rewards.shape, d.d_discount.shape) == (p.shape, rewards.shape, axes)
    for at in np.ndindex(axes):
        one = restive.whittle_index(p[at][None], rewards[at], discount[at], **options)
        np.testing.assert_array_equal(found.index[at], one.index[0])
        assert found.status[at] == one.status[0] and found.is_indexable[at] == one.is_indexable[0]
        d_one = one.pullback_all(d_index[at][None])
        np.testing.assert_array_equal(d.d_P[at], d_one.d_P[0])
        np.testing.assert_allclose(d.d_rewards[at], d_one.d_rewards, rtol=1e-12, atol=1e-12)
        assert isinstance(d_one.d_discount, float)
        assert d.d_discount[at] == pytest.approx(d_one.d_discount, rel=1e-12, abs=1e-12)
    out = np.empty_like(found.index)
    assert np.shares_memory(restive.whittle_index(p, rewards, discount, out=out, **options).index, out)
    np.testing.assert_array_equal(out, found.index)


@pytest.mark.parametrize(("m", "options"), ROADS)
def test_gradients_by_rewards_and_discount_equal_finite_differences(m, options):
    random = np.random.default_rng(10 + m)
    p, rewards, discount = inputs(random, (40,), m, options)
    found = restive.whittle_index(p, rewards, discount, **options)
    weight = random.normal(size=found.index.shape)
    d = found.pullback_all(weight)

    def value(rewards, discount):
        return np.sum(restive.whittle_index(p, rewards, discount, **options).index * weight, axis=1)

    direction = random.normal(size=rewards.shape)
    along = np.sum((d.d_rewards * direction).reshape(40, -1), axis=1)
    truth = derivative(lambda r: value(r, discount), rewards, direction, 1e-5)
    # arms within 1e-5 of a kink have no difference quotient
    assert (np.abs(along - truth) < 1e-5 * (1 + np.abs(truth))).mean() >= 0.95
    truth = derivative(lambda g: value(rewards, g), discount, np.ones(40), 1e-5)
    assert (np.abs(d.d_discount - truth) < 1e-5 * (1 + np.abs(truth))).mean() >= 0.95


@pytest.mark.parametrize("algorithm", ["auto", "general"])
def test_gradients_by_rewards_and_discount_equal_high_precision_differences(algorithm):
    checked = 0
    for case in cases("whittle_small"):
        if case["direction"] is None:
            continue
        reward = np.array(case["reward"])
        unit = max(np.ptp(reward) / max(1 - case["discount"], 1e-3), 1)
        found = restive.whittle_index([case["p"]], reward, case["discount"], algorithm=algorithm)
        for u in range(case["m"]):
            d = found.pullback_all(np.eye(case["m"])[u][None])
            along = np.sum(d.d_rewards * np.array(case["direction"]["reward"]))
            truth = case["derivative"]["reward"][u]
            assert abs(along - truth) < 1e-11 * max(abs(truth), unit)
            along, truth = d.d_discount * case["direction"]["discount"], case["derivative"]["discount"][u]
            assert abs(along - truth) < 1e-11 * max(abs(truth), unit**2)
            checked += 1
    assert checked > 50


def test_what_arms_share_is_summed_in_the_shape_that_was_given():
    random = np.random.default_rng(3)
    p, weight = random.random((6, 4)), random.normal(size=(6, 2))
    own = restive.whittle_index(p, np.tile([[0.0, 0.0], [1.0, 1.0]], (6, 1, 1)), np.full(6, 0.9))
    truth = own.pullback_all(weight)
    for rewards, shape in [(None, (2,)), ([0.0, 1.0], (2,)), ([[0.0, 0.0], [1.0, 1.0]], (2, 2))]:
        d = restive.whittle_index(p, rewards, 0.9).pullback_all(weight)
        np.testing.assert_allclose(d.d_P, truth.d_P, atol=1e-13)
        assert d.d_rewards.shape == shape
        expected = truth.d_rewards.sum(axis=0)
        np.testing.assert_allclose(d.d_rewards, expected if len(shape) == 2 else expected.sum(axis=1), atol=1e-11)
        assert d.d_discount == pytest.approx(truth.d_discount.sum(), rel=1e-11)
    mixed = restive.whittle_index(p, None, np.full(6, 0.9)).pullback_all(weight)
    assert mixed.d_rewards.shape == (2,) and mixed.d_discount.shape == (6,)
    np.testing.assert_allclose(mixed.d_discount, truth.d_discount, atol=1e-12)
    assert list(truth._fields) == ["d_P", "d_rewards", "d_discount"]


def test_the_forms_of_a_batch_agree():
    random = np.random.default_rng(4)
    compact = random.random((3, 7, 4))
    full = np.stack([1 - compact, compact], axis=-1).reshape(3, 7, 2, 2, 2)
    rewards, discount = random.normal(size=(3, 7, 2)), random.uniform(0.2, 0.9, size=(3, 7))
    nass = np.ascontiguousarray(full.swapaxes(-3, -2))
    one, two = (restive.whittle_index(p, rewards, discount) for p in (compact, full))
    three = restive.whittle_index(nass, rewards, discount, layout="nass")
    weight = random.normal(size=(3, 7, 2))
    np.testing.assert_array_equal(one.index, two.index)
    np.testing.assert_array_equal(two.index, three.index)
    d_one, d_two, d_three = (found.pullback_all(weight) for found in (one, two, three))
    assert d_one.d_P.shape == compact.shape and d_three.d_P.shape == nass.shape
    np.testing.assert_allclose((d_two.d_P[..., 1] - d_two.d_P[..., 0]).reshape(3, 7, 4), d_one.d_P, atol=1e-12)
    np.testing.assert_array_equal(d_three.d_P, d_two.d_P.swapaxes(-3, -2))
    np.testing.assert_array_equal(d_one.d_rewards, d_two.d_rewards)


def test_arms_may_come_in_any_order():
    random = np.random.default_rng(5)
    p, rewards, discount = inputs(random, (50,), 3, {})
    order = random.permutation(50)
    found = restive.whittle_index(p, rewards, discount)
    moved = restive.whittle_index(p[order], rewards[order], discount[order])
    np.testing.assert_array_equal(moved.index, found.index[order])
    weight = random.normal(size=(50, 3))
    np.testing.assert_array_equal(
        moved.pullback_all(weight[order]).d_rewards, found.pullback_all(weight).d_rewards[order]
    )


def test_rows_that_miss_their_sum_are_scaled_in_a_batch_too():
    p = arms(np.random.default_rng(6), 6, 2).reshape(2, 3, 2, 2, 2)
    truth = restive.whittle_index(p).index
    np.testing.assert_allclose(restive.whittle_index(p * (1 + 3e-7)).index, truth, atol=1e-12)


def test_no_arms_in_a_batch_have_no_indices():
    found = restive.whittle_index(np.zeros((2, 0, 3, 2, 3)), np.zeros((2, 0, 3)), np.zeros((2, 0)))
    d = found.pullback_all(np.zeros((2, 0, 3)))
    assert found.index.shape == (2, 0, 3) and found.status.shape == (2, 0)
    assert (d.d_P.shape, d.d_rewards.shape, d.d_discount.shape) == ((2, 0, 3, 2, 3), (2, 0, 3), (2, 0))


@pytest.mark.parametrize(
    ("rewards", "discount", "message"),
    [
        (np.zeros((4, 3)), 0.9, r"rewards: found shape \[4, 3\], expected \[3\] or \[3, 2\] for all arms, \[2, 5, 3\] or"),
        (np.zeros((2, 5, 3, 1)), 0.9, r"rewards: found shape \[2, 5, 3, 1\]"),
        (np.full((2, 5, 3), np.nan), 0.9, r"rewards: entry \[0, 0, 0\]: found NaN"),
        (np.full((2, 5, 3), 1e101), 0.9, "rewards: found .*, expected at most 1e100 in size"),
        (None, np.zeros(5), r"discount: found shape \[5\], expected a number, or shape \[2, 5\]: the arms axes of P"),
        (None, np.full((2, 5), 1.5), r"discount: entry \[0, 0\]: found 1.5, expected a number from 0 to 1"),
        (None, 1.5, "discount: found 1.5, expected a number from 0 to 1"),
    ],
)
def test_shapes_and_numbers_that_do_not_fit_are_refused(rewards, discount, message):
    p = arms(np.random.default_rng(7), 10, 3).reshape(2, 5, 3, 2, 3)
    with pytest.raises(ValueError, match=message):
        restive.whittle_index(p, rewards, discount)


def test_the_one_ambiguous_shape_is_refused():
    p = np.random.default_rng(8).random((2, 4))
    with pytest.raises(ValueError, match=r"rewards: found shape \[2, 2\], expected .* expanded to \[N, M, 2\]"):
        restive.whittle_index(p, np.eye(2))
    assert restive.whittle_index(p, np.eye(2)[:, :, None].repeat(2, axis=2)).index.shape == (2, 2)
    assert restive.whittle_index(p[:1], np.eye(2)).index.shape == (1, 2)
    with pytest.raises(ValueError, match=r"d_index: found shape \[2\], expected shape \[2, 2\]"):
        restive.whittle_index(p).pullback_all(np.zeros(2))
