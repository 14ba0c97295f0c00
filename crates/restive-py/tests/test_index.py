"""Whittle indices: golden numbers, finite differences, forms of one and the same arm, memory and threads."""

import threading

import numpy as np
import pytest
from differences import arms, derivative, tangent
from golden import cases

import restive


def unit(case):
    """What an index can be as large as: the span of the rewards over 1 - discount."""
    reward = np.array(case["reward"])
    return max((reward.max() - reward.min()) / max(1 - case["discount"], 1e-3), np.finfo(float).tiny)


@pytest.mark.parametrize("algorithm", ["auto", "general"])
def test_indices_and_verdicts_equal_fifty_digit_enumeration(algorithm):
    not_indexable = 0
    for case in cases("whittle_small"):
        found = restive.whittle_index([case["p"]], case["reward"], case["discount"], algorithm=algorithm)
        # as in Rust: rounding a probability at 1e-16 moves such an index by 1e-14 of its unit
        np.testing.assert_allclose(found.index[0], case["index"], rtol=0, atol=1e-13 * unit(case))
        assert found.is_indexable[0] == case["is_indexable"]
        not_indexable += not case["is_indexable"]
    assert not_indexable >= 5


@pytest.mark.parametrize("algorithm", ["auto", "general"])
@pytest.mark.parametrize("differentiable", [False, True])
def test_derivatives_equal_high_precision_differences(algorithm, differentiable):
    checked = 0
    for case in cases("whittle_small"):
        if case["direction"] is None:
            continue
        found = restive.whittle_index(
            [case["p"]], case["reward"], case["discount"], algorithm=algorithm, differentiable=differentiable
        )
        for u, truth in enumerate(case["derivative"]["transition"]):
            d_index = np.zeros((1, case["m"]))
            d_index[0, u] = 1.0
            along = np.sum(found.pullback(d_index)[0] * np.array(case["direction"]["p"]))
            assert abs(along - truth) < 1e-11 * max(abs(truth), unit(case) ** 2 * 1e-3)
            checked += 1
    assert checked > 50


def test_average_reward_indices_equal_a_published_package():
    for case in cases("average_reward"):
        found = restive.whittle_index([case["p"]], case["reward"], case["discount"], algorithm="general")
        assert found.is_indexable[0] == (case["index"] is not None)
        if case["index"] is not None:
            # the package itself is good to about 1e-13
            np.testing.assert_allclose(found.index[0], case["index"], rtol=0, atol=1e-12)


def test_collapsing_indices_and_derivatives_equal_fifty_digit_enumeration():
    checked = 0
    for case in cases("collapsing"):
        found = restive.whittle_index(
            [case["p"]], case["reward"], case["discount"], observation="collapsing", chain=case["chain"]
        )
        np.testing.assert_allclose(found.index[0], case["index"], rtol=0, atol=1e-12 * max(unit(case), 1))
        assert found.is_indexable[0] == case["is_indexable"]
        if case["direction"] is None:
            continue
        for u, truth in enumerate(case["derivative"]):
            d_index = np.zeros_like(found.index)
            d_index[0, u] = 1.0
            along = np.sum(found.pullback(d_index)[0] * np.array(case["direction"]))
            assert abs(along - truth) < 1e-10 * max(abs(truth), unit(case) ** 2 * 1e-3)
            checked += 1
    assert checked > 50


ROADS = [
    (2, {}),
    (2, {"algorithm": "general"}),
    (3, {}),
    (5, {}),
    (5, {"algorithm": "bisection"}),
    (2, {"observation": "collapsing", "chain": 4}),
    (3, {"observation": "collapsing", "chain": 3}),
    (2, {"observation": "collapsing", "chain": "infinite", "beliefs": 4}),
]


@pytest.mark.parametrize(("m", "options"), ROADS)
@pytest.mark.parametrize("differentiable", [False, True])
def test_pullbacks_equal_finite_differences_on_the_simplex(m, options, differentiable):
    random = np.random.default_rng(m)
    p, direction = arms(random, 20, m), tangent(random, (20, m, 2, m))
    options = {"discount": 0.9, "differentiable": differentiable, **options}
    found = restive.whittle_index(p, **options)
    weight = random.normal(size=found.index.shape)
    d_p = found.pullback(weight)
    np.testing.assert_allclose(d_p.sum(axis=-1), 0, atol=1e-12)
    along = np.sum(d_p * direction, axis=(1, 2, 3))
    truth = derivative(lambda p: np.sum(restive.whittle_index(p, **options).index * weight, axis=1), p, direction, 1e-5)
    # arms within 1e-5 of a kink have no difference quotient; bisection is exact to rounding only where it finds the equations
    is_near = np.abs(along - truth) < 1e-5 * (1 + np.abs(truth))
    assert is_near.mean() >= 0.95, np.abs(along - truth)


@pytest.mark.parametrize("options", [{}, {"algorithm": "general"}, {"observation": "collapsing", "chain": 3}])
def test_the_forms_of_one_arm_agree(options):
    random = np.random.default_rng(4)
    compact = random.random((50, 4))
    full = np.stack([1 - compact, compact], axis=-1).reshape(50, 2, 2, 2)
    one, two = (restive.whittle_index(p, **options) for p in (compact, full))
    three = restive.whittle_index(np.ascontiguousarray(full.transpose(0, 2, 1, 3)), layout="nass", **options)
    np.testing.assert_allclose(one.index, two.index, atol=1e-12)
    np.testing.assert_array_equal(two.index, three.index)
    d_index = random.normal(size=one.index.shape)
    d_full = two.pullback(d_index)
    # compact is the plain derivative by the probability of state 1
    np.testing.assert_allclose(one.pullback(d_index), (d_full[..., 1] - d_full[..., 0]).reshape(50, 4), atol=1e-9)
    np.testing.assert_array_equal(three.pullback(d_index), d_full.transpose(0, 2, 1, 3))


def test_the_closed_form_in_numpy():
    random = np.random.default_rng(5)
    p, g = random.random((100_000, 4)), 0.95
    delta = np.stack([p[:, 1] - p[:, 0], p[:, 3] - p[:, 2]], axis=1)
    passive, active = g / (1 - g * (p[:, 2] - p[:, 0])), g / (1 - g * (p[:, 3] - p[:, 1]))
    is_zero_lower = delta[:, 0] * active <= delta[:, 1] * active
    in_force = np.where(is_zero_lower, active, passive), np.where(is_zero_lower, passive, active)
    truth = delta * np.stack(in_force, axis=1)
    np.testing.assert_allclose(restive.whittle_index(p, discount=g).index, truth, rtol=1e-12, atol=1e-14)


def test_outputs_are_written_where_they_are_wanted():
    random = np.random.default_rng(6)
    for m, shape in [(2, (30, 4)), (2, (30, 2, 2, 2)), (3, (30, 3, 2, 3))]:
        p = random.random(shape) if len(shape) == 2 else arms(random, 30, m)
        out, d_out = np.full((30, m), np.nan), np.full(shape, np.nan)
        found = restive.whittle_index(p, out=out)
        assert np.shares_memory(found.index, out)
        np.testing.assert_array_equal(out, restive.whittle_index(p).index)
        d_index = random.normal(size=out.shape)
        given = found.pullback(d_index, out=d_out)
        assert np.shares_memory(given, d_out)
        np.testing.assert_array_equal(d_out, found.pullback(d_index))


def test_other_numbers_are_converted():
    random = np.random.default_rng(7)
    p = arms(random, 10, 3)
    truth = restive.whittle_index(p).index
    np.testing.assert_array_equal(restive.whittle_index(np.asfortranarray(p)).index, truth)
    np.testing.assert_array_equal(restive.whittle_index(p.tolist()).index, truth)
    np.testing.assert_array_equal(restive.whittle_index(np.repeat(p, 2, axis=0)[::2]).index, truth)
    np.testing.assert_array_equal(restive.whittle_index(p.astype(">f8")).index, truth)
    # single precision moves a probability by 6e-8, and an index by some hundred times that at this discount
    np.testing.assert_allclose(restive.whittle_index(p.astype(np.float32)).index, truth, atol=1e-4)
    identity = np.eye(2, dtype=int)[None, :, None, :].repeat(2, axis=2)
    np.testing.assert_array_equal(restive.whittle_index(identity).index, 0)
    frozen = p.copy()
    frozen.flags.writeable = False
    np.testing.assert_array_equal(restive.whittle_index(frozen).index, truth)


def test_rows_that_miss_their_sum_a_little_are_scaled_in_a_copy():
    p = np.array([[[[0.8, 0.2], [0.2, 0.8]], [[0.5, 0.5], [0.5, 0.5]]]]) * (1 + 3e-7)
    before = p.copy()
    np.testing.assert_allclose(restive.whittle_index(p, discount=0.5).index, [[6 / 17, 0]], atol=1e-15)
    np.testing.assert_array_equal(p, before)


def test_undetermined_arms_say_so():
    stays = [[0.0, 0.0, 1.0, 1.0], [0.2, 0.8, 0.5, 0.5]]  # both states of the first are absorbing
    found = restive.whittle_index(stays, discount=1.0)
    assert found.status.tolist() == ["undetermined", "exact"]
    assert np.isnan(found.index[0]).all() and np.isnan(found.residual[0])
    assert found.is_indexable.tolist() == [False, True]
    assert not found.pullback(np.ones((2, 2)))[0].any()


@pytest.mark.parametrize(("m", "options"), ROADS)
def test_threads_do_not_change_a_bit(m, options):
    random = np.random.default_rng(8)
    n = 40_000 if m == 2 and not options else 200
    p, before = arms(random, n, m), restive.threads()
    answers = []
    try:
        for threads in (1, 2, 7):
            restive.set_threads(threads)
            found = restive.whittle_index(p, **options)
            answers.append((found.index, found.pullback(np.ones_like(found.index)), found.residual))
    finally:
        restive.set_threads(before)
    for answer in answers[1:]:
        for one, other in zip(answers[0], answer):
            np.testing.assert_array_equal(one, other)


def test_a_transition_that_changed_meanwhile_is_refused_and_not_used():
    p = arms(np.random.default_rng(9), 5, 3)
    found = restive.whittle_index(p)
    kept = restive.whittle_index(p, differentiable=True)
    truth = found.pullback(np.ones((5, 3)))
    p[2, 1, 0, 0] = np.nan
    with pytest.raises(ValueError, match="as it was when its indices were computed"):
        found.pullback(np.ones((5, 3)))
    np.testing.assert_array_equal(kept.pullback(np.ones((5, 3))), truth)


def test_the_interpreter_runs_while_a_kernel_does():
    p = arms(np.random.default_rng(10), 4000, 12)
    ticks, is_done = 0, threading.Event()

    def work():
        restive.whittle_index(p)
        is_done.set()

    worker = threading.Thread(target=work)
    worker.start()
    while not is_done.is_set():
        ticks += 1
        is_done.wait(0.001)
    worker.join()
    assert ticks > 3  # a kernel of some 100 ms that kept the lock would allow one


def test_no_arms_have_no_indices():
    assert restive.whittle_index(np.zeros((0, 4))).index.shape == (0, 2)
    found = restive.whittle_index(np.zeros((0, 3, 2, 3)))
    assert found.index.shape == (0, 3) and found.pullback(np.zeros((0, 3))).shape == (0, 3, 2, 3)
