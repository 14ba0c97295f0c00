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
