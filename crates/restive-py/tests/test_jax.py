"""Functions for JAX: their gradients against finite differences and against PyTorch's, under jit and vmap."""

import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import restive.jax
import restive.torch
import torch

jax.config.update("jax_enable_x64", True)

SETTINGS = [
    (2, {}),
    (3, {}),
    (5, {}),
    (2, {"observation": "collapsing", "chain": 4, "discount": 0.9}),
    (3, {"observation": "collapsing", "chain": 3, "discount": 0.9}),
]


def chain(x, settings):
    """softmax -> index -> soft top-k, to one number"""
    index = restive.jax.whittle_index(jax.nn.softmax(x), **settings)
    return jnp.sin(3.0 * restive.jax.soft_top_k(index.T, 2.0, 0.1)).sum()


def logits(n, m):
    return np.random.default_rng(5).normal(size=(n, m, 2, m))


@pytest.mark.parametrize(("m", "settings"), SETTINGS)
def test_gradient_of_the_chain_is_that_of_differences_and_of_torch(m, settings):
    x = logits(5, m)
    gradient = np.asarray(jax.jit(jax.grad(lambda x: chain(x, settings)))(x))

    y = torch.tensor(x, requires_grad=True)
    index = restive.torch.whittle_index(y.softmax(-1), **settings)
    torch.sin(3.0 * restive.torch.soft_top_k(index.T, 2.0, 0.1)).sum().backward()
    np.testing.assert_allclose(gradient, y.grad.numpy(), rtol=1e-9, atol=1e-12)  # rounding of two softmaxes

    direction, h = np.random.default_rng(6).normal(size=x.shape), 1e-5
    value = jax.jit(lambda x: chain(x, settings))
    slope = (value(x + h * direction) - value(x - h * direction)) / (2 * h)
    # central differences: h² times a third derivative of some hundreds
    np.testing.assert_allclose((gradient * direction).sum(), slope, rtol=1e-5, atol=1e-6)


def test_importance_sampling_has_the_gradient_of_torch():
    rng = np.random.default_rng(4)
    state, action = rng.integers(0, 3, (6, 4, 5)), rng.integers(0, 2, (6, 3, 5))
    pull, log = rng.uniform(0.1, 0.9, (6, 3, 5)), {"propensity": np.full((6, 3, 5), 0.5), "discount": 0.9}
    value, gradient = jax.jit(jax.value_and_grad(lambda x: 2 * restive.jax.cwpdis(x, state, action, [0.0, 0.5, 1.0], **log)))(
        pull
    )
    x = torch.tensor(pull, requires_grad=True)
    expected = 2 * restive.torch.cwpdis(x, state, action, [0.0, 0.5, 1.0], **log)
    expected.backward()
    np.testing.assert_allclose(value, expected.item(), rtol=1e-13)  # rounding in another order
    np.testing.assert_allclose(gradient, x.grad, rtol=1e-11, atol=1e-14)


def test_temperature_has_a_gradient():
    scores = np.random.default_rng(1).normal(size=7)
    first = lambda e: restive.jax.soft_top_k(scores, 2, e)[0]  # noqa: E731
    slope = (first(0.5 + 1e-6) - first(0.5 - 1e-6)) / 2e-6
    np.testing.assert_allclose(jax.grad(first)(0.5), slope, rtol=1e-6)  # rounding over the step


@pytest.mark.parametrize(("m", "settings"), SETTINGS)
def test_vmap_is_a_loop(m, settings):
    P = jax.nn.softmax(np.random.default_rng(2).normal(size=(3, 4, m, 2, m)))
    f = lambda P: restive.jax.whittle_index(P, **settings)  # noqa: E731
    together = jax.vmap(f)(P)
    for k in range(3):
        # the closed form rounds as XLA orders it; native kernels are the same bits
        np.testing.assert_allclose(together[k], restive.whittle_index(np.asarray(P[k]), **settings).index, rtol=1e-13, atol=1e-14)
    number = lambda P: jnp.sin(f(P)).sum()  # noqa: E731
    d_P = jax.vmap(jax.grad(number))(P)
    for k in range(3):
        np.testing.assert_allclose(d_P[k], jax.grad(number)(P[k]), rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(jax.jit(f)(P), together, rtol=1e-13, atol=1e-14)  # leading axes


@pytest.mark.parametrize("shape", [(3,), (3, 2), (4, 3), (4, 3, 2)])
def test_more_states_have_slopes_by_traced_rewards_and_discounts(shape):
    rng = np.random.default_rng(8)
    P, rewards = np.asarray(jax.nn.softmax(rng.normal(size=(4, 3, 2, 3)))), rng.normal(size=shape)
    for discount in (0.8, rng.uniform(0.1, 0.9, 4)):
        f = lambda r, g: jnp.sin(restive.jax.whittle_index(P, r, g)).sum()  # noqa: B023, E731
        found = jax.jit(jax.grad(f, argnums=(0, 1)))(rewards, discount)
        y = [torch.tensor(x, requires_grad=True) for x in (rewards, np.asarray(discount))]
        restive.torch.whittle_index(torch.tensor(P), *y).sin().sum().backward()
        for ours, theirs in zip(found, y):
            np.testing.assert_allclose(ours, theirs.grad, rtol=1e-11, atol=1e-12)
        batch = jax.vmap(jax.grad(f, argnums=(0, 1)), in_axes=(0, None))(np.stack([rewards, 2 * rewards]), discount)
        np.testing.assert_allclose(batch[0][0], found[0], rtol=1e-11, atol=1e-12)
        np.testing.assert_allclose(batch[1][0], found[1], rtol=1e-11, atol=1e-12)


def test_float32_is_answered_in_float32():
    x = jnp.asarray(logits(5, 3), dtype=jnp.float32)
    gradient = jax.grad(lambda x: chain(x, {}))(x)
    assert gradient.dtype == jnp.float32
    # single precision has 24 bits, and a few operations lose some
    np.testing.assert_allclose(gradient, jax.grad(lambda x: chain(x, {}))(logits(5, 3)), rtol=1e-3, atol=1e-4)


def test_without_x64_everything_is_float32():
    code = "import numpy as np, restive.jax as r; print(r.soft_top_k(r.whittle_index(np.full((3, 4), 0.5))[:, 0], 1, 0.1).dtype)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "float32\n"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: restive.jax.whittle_index(jnp.zeros((2, 3, 3))), "P: .*expected"),
        (lambda: restive.jax.whittle_index(jnp.zeros(())), "P: .*expected"),
        (lambda: restive.jax.whittle_index(jnp.zeros((2, 4), dtype=int)), "P: found int64, expected float32 or float64"),
        (lambda: restive.jax.whittle_index(jnp.zeros((2, 4)), discount=2.0), "discount"),
        (lambda: restive.jax.whittle_index(jnp.zeros((2, 3, 2, 3)), discount=2.0), "discount"),
        (lambda: restive.jax.whittle_index(jnp.zeros((2, 4)), out=None), "out: .*JAX's arrays cannot be written to"),
        (lambda: restive.jax.whittle_index(jnp.zeros((2, 4)), jnp.eye(2)), r"rewards: .*expand it to \[N,M,2\]"),
        (lambda: restive.jax.whittle_index(jnp.zeros((3, 4)), jnp.zeros(3)), r"rewards: found shape \[3\]"),
        (lambda: restive.jax.whittle_index(jnp.zeros((3, 4)), discount=jnp.zeros(2)), r"discount: found shape \[2\]"),
        (lambda: restive.jax.soft_top_k(jnp.zeros(3), 4, 0.1), "budget: found .*expected a number from 0 to 3"),
        (lambda: restive.jax.soft_top_k(jnp.zeros(3), 1, jnp.ones(2)), r"temperature: found shape \[2\], expected a number"),
    ],
)
def test_what_is_wrong_with_a_shape_is_said_when_traced(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_what_is_wrong_with_a_number_is_said_where_it_is_known():
    arms = jnp.array([[0.5] * 4, [0.5, 1.5, 0.5, 0.5]])
    with pytest.raises(ValueError, match="arm 1"):
        restive.jax.whittle_index(arms)
    found = jax.jit(restive.jax.whittle_index)(arms)
    assert jnp.isfinite(found[0]).all() and jnp.isnan(found[1]).all()
    with pytest.raises(ValueError, match="arm 0, state 1, active"):
        restive.jax.whittle_index(jnp.full((1, 2, 2, 2), 0.5).at[0, 1, 1].set(0.4))
    with pytest.raises(ValueError, match="scores"):
        restive.jax.soft_top_k(jnp.array([[0.0, 1.0], [0.0, jnp.nan]]), 1, 0.1)
    with pytest.raises(ValueError, match="temperature"):
        restive.jax.soft_top_k(jnp.zeros((2, 3)), 1, jnp.array([0.1, -0.1]))
    for wrong in ((jnp.array([0.0, jnp.inf]), 1.0, 0.1), (jnp.zeros(2), 3.0, 0.1), (jnp.zeros(2), 1.0, -0.1)):
        assert jnp.isnan(jax.jit(restive.jax.soft_top_k)(*wrong)).all()
    with pytest.raises(Exception, match="arm 0"):  # a native kernel: JAX's own error, when it runs
        jax.block_until_ready(jax.jit(restive.jax.whittle_index)(jnp.full((1, 3, 2, 3), 0.5)))


def test_a_log_is_checked_when_it_is_traced():
    pull, state, action = jnp.full((2, 3, 4), 0.5), np.zeros((2, 4, 4), int), np.zeros((2, 3, 4), int)
    with pytest.raises(ValueError, match="state"):
        restive.jax.cwpdis(pull, state[:, :2], action, [0.0, 1.0], budget=1)
    with pytest.raises(ValueError, match="propensity: found .*expected an array, or budget"):
        jax.jit(lambda pull: restive.jax.cwpdis(pull, state, action, [0.0, 1.0]))(pull)
    with pytest.raises(TypeError, match="foo"):
        restive.jax.cwpdis(pull, state, action, [0.0, 1.0], budget=1, foo=1)


BAD = np.full((4, 3, 2, 3), 1 / 3)
BAD[1, 2, 1] = 0.1
GOOD = np.full((4, 3, 2, 3), 1 / 3)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((BAD,), "transition: arm 1, state 2, active: found a sum of 0.3"),
        ((np.stack([GOOD, BAD]),), "transition: arm 5, state 2, active: found a sum of 0.3"),
        ((GOOD, [0.0, 1.0, np.inf]), r"rewards: entry \[2\]: found inf"),
        ((GOOD, None, np.array([0.5, 0.5, 1.5, 0.5])), r"discount: entry \[2\]: found 1.5"),
        ((GOOD, None, jnp.full(4, 1.5)), r"discount: entry \[0\]: found 1.5"),
    ],
)
def test_native_kernels_say_what_is_wrong_where_nothing_is_traced(arguments, message, capfd):
    for call in (restive.jax.whittle_index, restive.whittle_index):
        with pytest.raises(ValueError, match=message):
            call(*arguments)
    with pytest.raises(ValueError, match=message.split(":")[0]):  # grad knows the numbers too
        jax.grad(lambda P: restive.jax.whittle_index(P, *arguments[1:]).sum())(arguments[0])
    assert capfd.readouterr().err == ""


def test_a_call_with_nothing_traced_is_that_of_jit_bit_for_bit():
    P = np.asarray(jax.nn.softmax(logits(6, 4)))
    f = restive.jax.whittle_index
    np.testing.assert_array_equal(f(P), jax.jit(f)(P))
    number = lambda P: jnp.sin(f(P)).sum()  # noqa: E731
    np.testing.assert_allclose(jax.grad(number)(P), jax.jit(jax.grad(number))(P), rtol=1e-14, atol=1e-15)  # sin rounds as XLA fuses it
    assert f(jnp.asarray(P, dtype=jnp.float32)).dtype == jnp.float32


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda: restive.jax.whittle_index(None), TypeError, "P: found NoneType, expected an array"),
        (lambda: restive.jax.soft_top_k(None, 1, 0.1), TypeError, "scores: found NoneType, expected an array"),
        (lambda: restive.jax.whittle_index(np.zeros((2, 4)), discount=None), TypeError, "discount: found NoneType"),
        (lambda: restive.jax.whittle_index([[0.1, 0.2], [0.3]]), ValueError, "P: found .*expected an array"),
        (lambda: restive.jax.whittle_index(np.zeros((2, 4)), [[0.1, 0.2], [0.3]]), ValueError, "rewards: found .*expected an array"),
        (lambda: restive.jax.soft_top_k(np.zeros((2, 2)), [[1.0], [1.0, 2.0]], 0.1), ValueError, "budget: found .*expected an array"),
        (lambda: restive.jax.soft_top_k(np.zeros((2, 2)), 1, 0.1, mask=[[True], [True, False]]), ValueError, "mask: found .*expected an array"),
        (lambda: restive.jax.whittle_index(np.ones((2, 5))), ValueError, r"P: found shape \[2, 5\]"),
        (lambda: restive.jax.whittle_index(np.ones((2, 3, 3))), ValueError, r"P: found shape \[2, 3, 3\]"),
        (lambda: restive.jax.soft_top_k(np.zeros(3), [1.0], 0.1), ValueError, r"budget: found shape \[1\], expected a number"),
        (lambda: restive.jax.soft_top_k(np.zeros((2, 3)), 1.0, [[0.1]]), ValueError, r"temperature: found shape \[1, 1\], expected a number"),
        (lambda: restive.jax.whittle_index(np.zeros((3, 4)), discount=[0.9]), ValueError, r"discount: found shape \[1\], expected a number"),
    ],
)
def test_what_is_wrong_is_said_by_its_name(call, kind, message):
    with pytest.raises(kind, match=message):
        call()


def test_a_budget_of_a_log_is_a_whole_number():
    pull, state, action = jnp.full((2, 3, 4), 0.5), np.zeros((2, 4, 4), int), np.zeros((2, 3, 4), int)
    value = lambda budget: restive.jax.cwpdis(pull, state, action, [0.5, 1.0], budget)  # noqa: E731
    for budget in (1.0, 1.5, np.float64(1.0), jnp.asarray(1.5)):
        with pytest.raises(TypeError, match=f"budget: found {float(budget)}, expected a whole number"):  # as the native module
            value(budget)
    for budget in ("1", object()):
        with pytest.raises(TypeError, match="budget: found .*, expected real numbers"):
            value(budget)
    for budget in (np.int64(1), jnp.asarray(1)):
        assert value(budget) == value(1)
    np.testing.assert_allclose(jax.jit(value)(1.0), value(1), rtol=1e-14)
    assert jnp.isnan(jax.jit(value)(1.5))
