"""Axes, masks and settings of each problem in JAX's `cwpdis`, and of each arm in its two-state indices: against the native module."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import restive
import restive.jax
from differences import derivative
from test_log_axes import AXES, H, J, N, logs, rewards_of

jax.config.update("jax_enable_x64", True)
# rounding of some tens of operations
CLOSE = {"rtol": 1e-12, "atol": 1e-13}


def equals_native(pull, log, rewards, discount, mask, **options):
    """Value, sample size, dropped terms and gradients, with everything traced and with the log known."""
    state, action, budget, propensity = log
    native = restive.cwpdis(pull, state, action, rewards, budget, propensity, discount, mask=mask, **options)

    def judged(pull, rewards, discount, state, action, budget, propensity, mask):
        return restive.jax.cwpdis(pull, state, action, rewards, budget, propensity, discount, mask=mask, full=True, **options)

    for found in (
        jax.jit(judged)(pull, rewards, discount, *log, mask),
        jax.jit(lambda *x: judged(*x, *log, mask))(pull, rewards, discount),
    ):
        for name in found._fields:
            assert np.shape(getattr(found, name)) == np.shape(getattr(native, name))
            np.testing.assert_allclose(getattr(found, name), getattr(native, name), **CLOSE, err_msg=name)
    d_value = np.random.default_rng(9).normal(size=np.shape(native.value))
    back = jax.jit(lambda *x: jax.vjp(lambda *y: judged(*y, *log, mask).value, *x)[1](d_value))(pull, rewards, discount)
    for name, d, truth in zip(("pull", "rewards", "discount"), back, native.pullback_all(d_value if d_value.ndim else float(d_value))):
        assert np.shape(d) == np.shape(truth) and np.abs(truth).max() > 0
        np.testing.assert_allclose(d, truth, rtol=1e-11, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("kind", ["state", "action", "logged"])
@pytest.mark.parametrize("options", [{}, {"ratio_up_to": "previous-step"}, {"log_odds": True}])
def test_logs_of_each_problem_are_judged_as_natively(kind, options):
    random = np.random.default_rng(1)
    pull, state, action, propensity = logs(random)
    pull = np.log(pull / (1 - pull)) if options.get("log_odds") else pull
    mask = random.random((*AXES, J, H, N)) < 0.8
    equals_native(pull, (state, action, None, propensity), rewards_of(random, kind), random.uniform(0.5, 1.0, AXES), mask, **options)


@pytest.mark.parametrize("behaviour", ["budget", "budgets", "propensity"])
@pytest.mark.parametrize("shape", [None, (N,), (1, 1, 1, N), (J, H, N)])
def test_one_log_for_many_targets_is_judged_as_natively(behaviour, shape):
    random = np.random.default_rng(2)
    pull = logs(random)[0]
    _, state, action, propensity = logs(random, ())
    mask = None if shape is None else np.broadcast_to(np.array([True, False, True, True, True]), shape)
    budget = {"budget": 2, "budgets": random.integers(1, 4, AXES), "propensity": None}[behaviour]
    log = (state, action, budget, propensity if budget is None else None)
    equals_native(pull, log, rewards_of(random, "logged", ()), 0.9, mask)


def test_a_batch_is_its_problems_and_vmap_is_a_loop():
    random = np.random.default_rng(3)
    pull, state, action, propensity = logs(random, (3,))
    mask, discount, table = random.random((3, J, H, N)) < 0.8, random.uniform(0.5, 1.0, 3), np.array([0.0, 0.5, 1.0])

    def value(pull, state, action, propensity, discount, mask):
        return restive.jax.cwpdis(pull, state, action, table, None, propensity, discount, mask=mask)

    inputs = (pull, state, action, propensity, discount, mask)
    together, mapped = value(*inputs), jax.vmap(value)(*inputs)
    slopes = jax.vmap(jax.grad(value, argnums=(0, 3, 4)))(*inputs)
    for k in range(3):
        one = [x[k] for x in inputs]
        np.testing.assert_allclose(together[k], value(*one), **CLOSE)
        np.testing.assert_allclose(mapped[k], value(*one), **CLOSE)
        for ours, loop in zip(slopes, jax.grad(value, argnums=(0, 3, 4))(*one)):
            np.testing.assert_allclose(ours[k], loop, **CLOSE)


def test_absent_arms_may_say_anything():
    random = np.random.default_rng(4)
    pull, state, action, propensity = logs(random, ())
    logged, mask = rewards_of(random, "logged", ()), np.array([True, False, True, True, False])

    def judged(pull, logged, propensity, state, action, mask):
        return restive.jax.cwpdis(pull, state, action, logged, None, propensity, 0.9, mask=mask)

    gradient = jax.jit(jax.value_and_grad(judged, argnums=(0, 1, 2)))
    left_out, slopes = gradient(*(x[..., mask] for x in (pull, logged, propensity, state, action)), mask[mask])
    for x, nonsense in ((pull, np.nan), (state, 99), (action, 7), (propensity, np.nan), (logged, np.inf)):
        x[..., ~mask] = nonsense
    found, d = gradient(pull, logged, propensity, state, action, mask)
    np.testing.assert_allclose(found, left_out, **CLOSE)
    assert judged(pull, logged, propensity, state, action, mask) == pytest.approx(float(left_out), rel=1e-12)
    for ours, theirs in zip(d, slopes):
        np.testing.assert_allclose(ours[..., mask], theirs, **CLOSE)
        assert (ours[..., ~mask] == 0).all()


def test_derivatives_of_derivatives_are_those_of_the_gradient():
    random = np.random.default_rng(5)
    pull, state, action, propensity = logs(random, (2,))
    mask = random.random((2, J, H, N)) < 0.8
    log = {"propensity": propensity[0], "mask": mask}
    point = (pull, np.array([0.1, 0.4, 1.0]), 0.8)
    gradient = jax.jit(
        jax.grad(lambda x, r, g: restive.jax.cwpdis(x, state[0], action[0], r, discount=g, **log).sum(), argnums=(0, 1, 2))
    )
    directions = [random.normal(size=np.shape(x)) for x in point]
    _, curve = jax.jvp(gradient, point, tuple(directions))

    def along(h):
        return np.concatenate([np.ravel(d) for d in gradient(*(x + h * v for x, v in zip(point, directions)))])

    truth = derivative(along, 0.0, 1.0, 1e-4)
    # differences of a slope that reaches some hundreds
    np.testing.assert_allclose(np.concatenate([np.ravel(d) for d in curve]), truth, rtol=1e-5, atol=1e-5 * abs(truth).max())


def test_without_any_arm_nothing_is_earned():
    pull, state, action, propensity = logs(np.random.default_rng(6), ())
    how = {"propensity": propensity, "mask": np.zeros(N, bool), "full": True}
    assert tuple(restive.jax.cwpdis(pull, state, action, [0.0, 0.5, 1.0], **how)) == (0.0, 0.0, 0)


WRONG = [
    {"pull": np.zeros((4, 5))},
    {"pull": np.full((2, J, H, N), 1.5)},
    {"state": np.zeros((3, J, H, N), int)},
    {"state": np.full((2, J, H, N), 7)},
    {"action": np.full((J, H, N), 2)},
    {"propensity": np.ones((2, J, H, 4))},
    {"propensity": np.zeros((2, J, H, N))},
    {"rewards": np.ones((2, J, H, 4))},
    {"rewards": [0.0, np.nan, 1.0]},
    {"mask": np.ones(4, bool)},
    {"mask": np.ones(5)},
    {"discount": np.full(3, 0.9)},
    {"discount": [0.9, 1.5]},
    {"propensity": None, "budget": [1, 6]},
    {"propensity": None, "budget": [1, 1.5]},
    {"propensity": None, "budget": 0},
]


@pytest.mark.parametrize("wrong", WRONG)
def test_what_is_refused_is_refused_in_the_same_words_and_nan_where_it_is_traced(wrong):
    pull, state, action, propensity = logs(np.random.default_rng(7), (2,))
    given = {"pull": pull, "state": state, "action": action, "rewards": [0.0, 0.5, 1.0], "propensity": propensity, **wrong}
    with pytest.raises(ValueError) as native:
        restive.cwpdis(**given)
    with pytest.raises(ValueError) as ours:
        restive.jax.cwpdis(**given)
    assert str(ours.value) == str(native.value)
    given = {name: None if value is None else jnp.asarray(value) for name, value in given.items()}
    traced = jax.jit(lambda given: restive.jax.cwpdis(**given))
    if "shape" in str(native.value) or "dtype" in str(native.value):
        with pytest.raises(ValueError) as ours:
            traced(given)
        assert str(ours.value) == str(native.value)
    else:
        assert jnp.isnan(traced(given)).any()
        # a fault of one problem is not that of the other
        is_of_second = any(isinstance(x, list) and len(x) == 2 for x in wrong.values())
        assert jnp.isfinite(traced(given)[0]) == is_of_second


@pytest.mark.parametrize(
    "wrong",
    [
        {"discount": np.array([[0.9, 0.9, 0.9], [0.9, 2.0, 0.9]])},
        {"discount": np.full(3, 0.9)},
        {"rewards": np.full((2, 3, 2), np.nan)},
        {"rewards": np.full(2, 1e200)},
        {"rewards": np.ones((3, 2))},
        {"P": np.full((2, 3, 4), 1.5)},
    ],
)
def test_indices_refuse_in_the_same_words(wrong):
    given = {"P": np.full((2, 3, 4), 0.5), "rewards": np.array([0.0, 1.0]), "discount": 0.9, **wrong}
    with pytest.raises(ValueError) as native:
        restive.whittle_index(**given)
    with pytest.raises(ValueError) as ours:
        restive.jax.whittle_index(**given)
    assert str(ours.value) == str(native.value)
    if "shape" in str(native.value):
        with pytest.raises(ValueError) as ours:
            jax.jit(lambda given: restive.jax.whittle_index(**given))(given)
        assert str(ours.value) == str(native.value)
    else:
        assert jnp.isnan(jax.jit(lambda given: restive.jax.whittle_index(**given))(given)).any()


def test_settings_of_each_arm_are_traced_with_axes_in_front():
    random = np.random.default_rng(8)
    P, rewards, discount, c = random.random((2, 3, 4)), random.normal(size=(2, 3, 2, 2)), random.uniform(0.1, 0.95, (2, 3)), random.normal(size=(2, 3, 2))
    native = restive.whittle_index(P, rewards, discount)
    found = jax.jit(restive.jax.whittle_index)(P, rewards, discount)
    np.testing.assert_allclose(found, native.index, **CLOSE)
    back = jax.jit(lambda *x: jax.vjp(restive.jax.whittle_index, *x)[1](c))(P, rewards, discount)
    for ours, theirs in zip(back, native.pullback_all(c)):
        np.testing.assert_allclose(ours, theirs, rtol=1e-11, atol=1e-12)
    mapped = jax.vmap(restive.jax.whittle_index)(P, rewards, discount)
    np.testing.assert_allclose(mapped, native.index, **CLOSE)
    shared = jax.grad(lambda r, g: (restive.jax.whittle_index(P, r, g) * c).sum(), argnums=(0, 1))(rewards[0, 0], 0.9)
    truth = restive.whittle_index(P, rewards[0, 0], 0.9).pullback_all(c)
    np.testing.assert_allclose(shared[0], truth.d_rewards, rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(shared[1], truth.d_discount, rtol=1e-11)
    with pytest.raises(ValueError, match="horizon: found 3, expected None"):
        restive.jax.whittle_index(P, horizon=3)
