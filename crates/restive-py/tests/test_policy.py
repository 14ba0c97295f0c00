"""Soft and strict top-k: golden numbers, finite differences, batches, ties."""

import numpy as np
import pytest
from differences import derivative
from golden import cases

import restive


def test_soft_top_k_equals_sinkhorn_in_high_precision():
    for case in cases("soft_top_k"):
        soft = restive.soft_top_k(case["scores"], case["k"], case["temperature"])
        np.testing.assert_allclose(soft.pull, case["pull"], rtol=0, atol=1e-13)
        d_scores, d_temperature = soft.pullback(case["cotangent"])
        size = max(1 / case["temperature"], 1)
        np.testing.assert_allclose(d_scores, case["d_scores"], rtol=0, atol=1e-11 * size)
        assert abs(d_temperature - case["d_temperature"]) < 1e-10 * size


def test_the_pullback_equals_finite_differences():
    random = np.random.default_rng(1)
    scores, weight = random.normal(size=(3, 4, 9)), random.normal(size=(3, 4, 9))
    direction = random.normal(size=scores.shape)
    d_scores, d_temperature = restive.soft_top_k(scores, 2.5, 0.3).pullback(weight)
    along = derivative(lambda x: np.sum(restive.soft_top_k(x, 2.5, 0.3).pull * weight), scores, direction)
    assert np.sum(d_scores * direction) == pytest.approx(along, rel=1e-8)
    along = derivative(lambda t: np.sum(restive.soft_top_k(scores, 2.5, float(t)).pull * weight), 0.3, 1.0)
    assert d_temperature == pytest.approx(along, rel=1e-8)


def test_a_batch_is_its_rows():
    random = np.random.default_rng(2)
    scores, weight = random.normal(size=(5, 2, 30)), random.normal(size=(5, 2, 30))
    batch = restive.soft_top_k(scores, 7, 0.1)
    np.testing.assert_allclose(batch.pull.sum(axis=-1), 7, atol=1e-12)
    d_batch, d_temperature = batch.pullback(weight)
    total = 0.0
    for at in np.ndindex(5, 2):
        one = restive.soft_top_k(scores[at], 7, 0.1)
        np.testing.assert_array_equal(one.pull, batch.pull[at])
        d_one, d_t = one.pullback(weight[at])
        np.testing.assert_array_equal(d_one, d_batch[at])
        total += d_t
    assert d_temperature == pytest.approx(total, rel=1e-12)
    out = np.empty_like(scores)
    assert np.shares_memory(batch.pullback(weight, out=out)[0], out)
    np.testing.assert_array_equal(out, d_batch)


def test_soft_becomes_strict_as_it_cools():
    scores = np.random.default_rng(3).normal(size=20)
    strict = restive.strict_top_k(scores, 6).pull
    np.testing.assert_array_equal(restive.soft_top_k(scores, 6, 0.0).pull, strict)
    np.testing.assert_allclose(restive.soft_top_k(scores, 6, 1e-6).pull, strict, atol=1e-12)


def test_ties_are_broken_by_lot_with_exact_probabilities():
    scores = np.array([0.7, 0.2, 0.2, 0.9, 0.2])
    np.testing.assert_array_equal(restive.strict_top_k(scores, 3).inclusion, [1, 1 / 3, 1 / 3, 1, 1 / 3])
    drawn = np.mean([restive.strict_top_k(scores, 3, seed=seed).pull for seed in range(3000)], axis=0)
    # three standard errors of a third
    np.testing.assert_allclose(drawn, [1, 1 / 3, 1 / 3, 1, 1 / 3], atol=3 * np.sqrt(2 / 9 / 3000))
    batch = restive.strict_top_k(np.tile(scores, (3000, 1)), 3, seed=1)
    assert (batch.pull.sum(axis=-1) == 3).all()
    np.testing.assert_allclose(batch.pull.mean(axis=0), [1, 1 / 3, 1 / 3, 1, 1 / 3], atol=3 * np.sqrt(2 / 9 / 3000))
    np.testing.assert_array_equal(batch.pull[0], restive.strict_top_k(scores, 3, seed=1).pull)


def test_the_ends_of_the_budget():
    scores = np.array([1.0, -np.inf, np.inf])
    assert not restive.strict_top_k(scores, 0).pull.any() and restive.strict_top_k(scores, 3).pull.all()
    finite = np.array([1.0, 2.0, 3.0])
    np.testing.assert_array_equal(restive.soft_top_k(finite, 0, 0.1).pull, 0)
    np.testing.assert_array_equal(restive.soft_top_k(finite, 3, 0.1).pull, 1)
    assert restive.soft_top_k(np.zeros((4, 0)), 0, 0.1).pull.shape == (4, 0)


def test_threads_do_not_change_a_bit():
    scores, before = np.random.default_rng(4).normal(size=300_000), restive.threads()
    answers = []
    try:
        for threads in (1, 3):
            restive.set_threads(threads)
            soft = restive.soft_top_k(scores, 1000, 0.1)
            answers.append((soft.pull, *soft.pullback(scores)))
    finally:
        restive.set_threads(before)
    for one, other in zip(*answers):
        np.testing.assert_array_equal(one, other)


def problems(random, shape):
    """Scores, costs, masks, budgets and temperatures, one of each for every problem."""
    scores, costs = random.normal(size=shape), random.uniform(0.3, 2.0, size=shape)
    mask = random.random(shape) < 0.7
    mask[..., 0] = True
    return scores, costs, mask, random.uniform(0.2, 0.9, size=shape[:-1]), random.uniform(0.1, 1.0, size=shape[:-1])


@pytest.mark.parametrize("has_costs", [False, True])
@pytest.mark.parametrize("has_mask", [False, True])
def test_problems_with_budgets_and_temperatures_of_their_own_are_solved_one_by_one(has_costs, has_mask):
    random = np.random.default_rng(5)
    scores, costs, mask, budget, temperature = problems(random, (3, 4, 9))
    options = {**({"costs": costs} if has_costs else {}), **({"mask": mask} if has_mask else {})}
    soft = restive.soft_top_k(scores, budget, temperature, **options)
    weight = random.normal(size=scores.shape)
    for log_odds in (False, True):
        d = soft.pullback_all(np.where(mask, weight, 0.0), log_odds=log_odds)
        assert d.d_budget.shape == d.d_temperature.shape == (3, 4)
        assert (d.d_costs is None) == (not has_costs)
        d_scores, d_temperature = soft.pullback(np.where(mask, weight, 0.0), log_odds=log_odds)
        np.testing.assert_array_equal(d_scores, d.d_scores)
        np.testing.assert_array_equal(d_temperature, d.d_temperature)
        for at in np.ndindex(3, 4):
            there = mask[at] if has_mask else np.ones(9, dtype=bool)
            cost = {"costs": costs[at][there]} if has_costs else {}
            one = restive.soft_top_k(scores[at][there], budget[at], temperature[at], **cost)
            # an absent arm is as if it did not exist
            np.testing.assert_array_equal(soft.pull[at][there], one.pull)
            np.testing.assert_array_equal(soft.log_odds[at][there], one.log_odds)
            assert (soft.pull[at][~there] == 0).all() and (soft.log_odds[at][~there] == -np.inf).all()
            d_one = one.pullback_all(np.where(mask, weight, 0.0)[at][there], log_odds=log_odds)
            np.testing.assert_array_equal(d.d_scores[at][there], d_one.d_scores)
            assert (d.d_scores[at][~there] == 0).all()
            assert d.d_budget[at] == d_one.d_budget and d.d_temperature[at] == d_one.d_temperature
            if has_costs:
                np.testing.assert_array_equal(d.d_costs[at][there], d_one.d_costs)
                assert (d.d_costs[at][~there] == 0).all()


def test_soft_knapsacks_equal_sixty_digits():
    for case in cases("soft_knapsack"):
        soft = restive.soft_top_k(case["scores"], case["budget"], case["temperature"], costs=case["costs"])
        np.testing.assert_allclose(soft.pull, case["pull"], rtol=0, atol=1e-13)
        np.testing.assert_allclose(soft.log_odds, case["log_odds"], rtol=1e-12, atol=1e-12)
        size = max(1 / case["temperature"], 1)
        for name, log_odds in [("of_pull", False), ("of_log_odds", True)]:
            d, truth = soft.pullback_all(case["cotangent"], log_odds=log_odds), case[name]
            for of in d._fields:
                expected = np.asarray(truth[of])
                np.testing.assert_allclose(getattr(d, of), expected, rtol=1e-11 * size, atol=1e-11 * size)


@pytest.mark.parametrize("log_odds", [False, True])
def test_gradients_of_the_knapsack_equal_finite_differences(log_odds):
    random = np.random.default_rng(6)
    scores, costs, mask, budget, temperature = problems(random, (2, 3, 8))
    weight = np.where(mask, random.normal(size=scores.shape), 0.0)

    def value(scores, budget, temperature, costs):
        soft = restive.soft_top_k(scores, budget, temperature, costs=costs, mask=mask)
        return np.sum(np.where(mask, soft.log_odds if log_odds else soft.pull, 0.0) * weight)

    point = [scores, budget, temperature, costs]
    soft = restive.soft_top_k(scores, budget, temperature, costs=costs, mask=mask)
    np.testing.assert_allclose(np.sum(soft.pull * costs, axis=-1), budget, rtol=1e-12)
    for which, d in enumerate(soft.pullback_all(weight, log_odds=log_odds)):
        direction = random.normal(size=d.shape)

        def along(x, which=which):
            return value(*(x if k == which else given for k, given in enumerate(point)))

        truth = derivative(along, point[which], direction, 1e-4)
        assert np.sum(d * direction) == pytest.approx(truth, rel=1e-7, abs=1e-8)


def test_what_problems_share_is_summed():
    random = np.random.default_rng(7)
    scores, weight, costs = random.normal(size=(4, 6)), random.normal(size=(4, 6)), random.uniform(0.5, 2.0, 6)
    own = restive.soft_top_k(scores, np.full(4, 2.0), np.full(4, 0.3), costs=np.tile(costs, (4, 1)))
    shared = restive.soft_top_k(scores, 2.0, 0.3, costs=costs)
    np.testing.assert_array_equal(own.pull, shared.pull)
    d_own, d_shared = own.pullback_all(weight), shared.pullback_all(weight)
    assert isinstance(d_shared.d_budget, float) and isinstance(d_shared.d_temperature, float)
    assert d_shared.d_budget == pytest.approx(d_own.d_budget.sum(), rel=1e-12)
    assert d_shared.d_temperature == pytest.approx(d_own.d_temperature.sum(), rel=1e-12)
    np.testing.assert_allclose(d_shared.d_costs, d_own.d_costs.sum(axis=0), rtol=1e-12)


def test_equal_costs_are_no_costs():
    random = np.random.default_rng(8)
    scores, weight = random.normal(size=(3, 7)), random.normal(size=(3, 7))
    plain, costed = restive.soft_top_k(scores, 2.5, 0.2), restive.soft_top_k(scores, 2.5, 0.2, costs=np.ones(7))
    np.testing.assert_allclose(costed.pull, plain.pull, atol=1e-14)
    np.testing.assert_allclose(costed.pullback(weight)[0], plain.pullback(weight)[0], atol=1e-13)
    tied = scores.round()
    for seed in range(5):
        one = restive.strict_top_k(tied, 3, seed=seed)
        two = restive.strict_top_k(tied, 3.0, seed=seed, costs=np.ones(7))
        np.testing.assert_array_equal(one.pull, two.pull)
        np.testing.assert_array_equal(one.inclusion, two.inclusion)


def test_strict_pulls_leave_out_who_is_absent_and_spend_what_there_is():
    scores = np.array([[5.0, 9.0, np.nan, 1.0], [2.0, 2.0, 2.0, 2.0]])
    mask = np.array([[True, True, False, True], [True, False, True, True]])
    plan = restive.strict_top_k(scores, np.array([2, 2]), mask=mask)
    np.testing.assert_array_equal(plan.pull[0], [True, True, False, False])
    np.testing.assert_allclose(plan.inclusion[1], [2 / 3, 0, 2 / 3, 2 / 3])
    assert restive.strict_top_k(scores, 4, mask=mask).pull.sum() == 6  # all that are there
    plan = restive.strict_top_k([3.0, 4.0, 1.0, 1.0], 2, costs=[1.0, 4.0, 1.0, 1.0])
    np.testing.assert_array_equal(plan.inclusion, [1.0, 0.0, 0.5, 0.5])
    assert plan.pull.sum() == 2


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda s: restive.soft_top_k(s, np.ones(3), 0.1), r"budget: found shape \[3\], expected a number, or shape \[2\]: one for each problem"),
        (lambda s: restive.soft_top_k(s, 1, np.ones((2, 3))), r"temperature: found shape \[2, 3\], expected a number, or shape \[2\]"),
        (lambda s: restive.soft_top_k(s, [1.0, 4.0], 0.1), r"budget: entry \[1\]: found 4, expected a number from 0 to 3"),
        (lambda s: restive.soft_top_k(s, 1, [0.1, -1.0]), r"temperature: entry \[1\]: found -1, expected a number of at least 0"),
        (lambda s: restive.soft_top_k(s, 1, 0.1, costs=np.ones(2)), r"costs: found shape \[2\], expected shape \[2, 3\], that of the scores, or \[3\]"),
        (lambda s: restive.soft_top_k(s, 1, 0.1, costs=[1.0, 0.0, 1.0]), r"costs: entry \[1\]: found 0, expected a number above 0"),
        (lambda s: restive.soft_top_k(s, 1, 0.1, mask=[1, 0, 1]), "mask: found dtype .*, expected booleans"),
        (lambda s: restive.soft_top_k(s, 1, 0.1, mask=np.ones((3, 2), dtype=bool)), r"mask: found shape \[3, 2\]"),
        (lambda s: restive.soft_top_k(s * np.nan, 1, 0.1, mask=[False, True, True]), r"scores: entry \[0, 1\]: found NaN, expected a finite number"),
        (lambda s: restive.strict_top_k(s, [1.0, 1.5]), r"budget: entry \[1\]: found 1.5, expected a whole number from 0 to 3"),
        (lambda s: restive.strict_top_k(s, -1.0, costs=np.ones(3)), "budget: found -1, expected a number of at least 0"),
    ],
)
def test_what_does_not_fit_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call(np.array([[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]]))


@pytest.mark.parametrize("function", [lambda x, **k: restive.soft_top_k(x, 2e-10, 0.1, **k), lambda x, **k: restive.strict_top_k(x, 2e-10, **k)])
def test_scores_that_overflow_beside_their_costs_are_refused(function):
    with pytest.raises(ValueError, match=r"scores: entry \[1\]: found .*expected a score that is finite when it is divided by its cost"):
        function(np.array([1.0, 2e300, 3e300]), costs=np.full(3, 1e-10))
    function(np.array([1.0, 2e300, 3e300]), costs=np.full(3, 1e-10), mask=np.array([True, False, False]))
