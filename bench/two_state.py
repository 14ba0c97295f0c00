"""Whittle indices of two-state arms, with their gradient, as one would write them in PyTorch and in JAX.

Let p(s,a) be the probability of moving to state 1, γ the discount, and let the reward be R(s) with R(1) ≥
R(0). With δ_s = p(s,1) − p(s,0) and d_a = 1 − γ(p(1,a) − p(0,a)),

    W_0 = γ (R(1) − R(0)) δ_0 / min(d_0, d_1)        W_1 = γ (R(1) − R(0)) δ_1 / max(d_0, d_1).

This short form holds for rewards of the state alone. Our kernel computes the longer one for R(s,a) and also
returns the gradients of reward and discount; the peers are spared both, so the comparison leans their way.

A task is: given the transitions and a cotangent c `[N,2]`, return the indices `[N,2]` and the gradient of Σ
c·W in the shape of the transitions. Two layouts: compact `[N,4]`, the four numbers p(0,0), p(0,1), p(1,0),
p(1,1); full `[N,2,2,2]`, every row with both its entries. The gradient of the full layout is left as autograd
gives it, on the entries that the formula reads; ours is its projection onto the directions that keep row
sums.
"""

import jax
import jax.numpy as jnp
import numpy as np
import torch

RISE = 1.0  # R(1) − R(0)


def arms(n, seed):
    """Uniform probabilities in both layouts, and a cotangent."""
    rng = np.random.default_rng(seed)
    compact = rng.random((n, 4))
    full = np.stack([1.0 - compact, compact], axis=-1).reshape(n, 2, 2, 2)
    return {"compact": compact, "full": full}, rng.random((n, 2)) - 0.5


def read(p, layout):
    """The four columns p(0,0), p(0,1), p(1,0), p(1,1), each `[N]`, in either library.

    `unbind` spares eager PyTorch much: its gradient is one stack, that of four selections is four padded sums."""
    p = p if layout == "compact" else p.reshape(-1, 4, 2)[:, :, 1]
    return p.unbind(1) if isinstance(p, torch.Tensor) else (p[:, 0], p[:, 1], p[:, 2], p[:, 3])


def indices(lib, p, layout, discount):
    """`[N,2]`; `lib` is torch or jax.numpy."""
    p00, p01, p10, p11 = read(p, layout)
    d_passive = 1.0 - discount * (p10 - p00)
    d_active = 1.0 - discount * (p11 - p01)
    lower = discount * RISE * (p01 - p00) / lib.minimum(d_passive, d_active)
    upper = discount * RISE * (p11 - p10) / lib.maximum(d_passive, d_active)
    return lib.stack([lower, upper], 1)


def torch_eager(p, c, layout, discount):
    p, c = torch.tensor(p, requires_grad=True), torch.tensor(c)

    def call():
        w = indices(torch, p, layout, discount)
        return w.detach(), torch.autograd.grad(w, p, c)[0]

    return call


def torch_compiled(p, c, layout, discount):
    """The whole task in one graph, forward and reverse, so that the compiler may fuse the two."""
    p, c = torch.tensor(p), torch.tensor(c)

    def task(p, c):
        w, pull_back = torch.func.vjp(lambda p: indices(torch, p, layout, discount), p)
        return w, pull_back(c)[0]

    task = torch.compile(task, fullgraph=True, dynamic=False)
    return lambda: task(p, c)


def jax_jit(p, c, layout, discount):
    p, c = jnp.asarray(p), jnp.asarray(c)

    def weighed(p, c):
        w = indices(jnp, p, layout, discount)
        return (w * c).sum(), w

    task = jax.jit(jax.value_and_grad(weighed, has_aux=True))

    def call():
        (_, w), d_p = task(p, c)
        return jax.block_until_ready((w, d_p))

    return call


PEERS = {"PyTorch eager": torch_eager, "PyTorch compile": torch_compiled, "JAX jit": jax_jit}


def textbook(p, discount):
    """`[N,2]` in numpy from the other way round, without min and max: the lower state is indifferent while the
    other is active, the upper one while the other is passive."""
    p00, p01, p10, p11 = p.T
    x_active = RISE / (1.0 - discount * (p11 - p01))
    x_passive = RISE / (1.0 - discount * (p10 - p00))
    zero_is_lower = (p01 - p00) * x_active <= (p11 - p10) * x_active
    w_0 = discount * (p01 - p00) * np.where(zero_is_lower, x_active, x_passive)
    w_1 = discount * (p11 - p10) * np.where(zero_is_lower, x_passive, x_active)
    return np.stack([w_0, w_1], 1)


def check(discount, n=1000, seed=3):
    """All peers and both layouts agree with each other, with the textbook and with a finite difference."""
    layouts, c = arms(n, seed)
    expected = textbook(layouts["compact"], discount)
    rng = np.random.default_rng(seed + 1)
    direction, h = rng.random((n, 4)) - 0.5, 1e-6
    raised = [textbook(layouts["compact"] + sign * h * direction, discount) for sign in (1, -1)]
    slope = ((raised[0] - raised[1]) / (2 * h) * c).sum(1)
    for layout, p in layouts.items():
        for name, peer in PEERS.items():
            w, d_p = (np.asarray(x) for x in peer(p, c, layout, discount)())
            d_p = d_p if layout == "compact" else (d_p[..., 1] - d_p[..., 0]).reshape(n, 4)
            assert np.abs(w / expected - 1).max() < 1e-9, (name, layout)
            # A difference taken across a kink of an arm is wrong for a good reason: judge the median.
            assert np.median(np.abs((d_p * direction).sum(1) / slope - 1)) < 1e-6, (name, layout)
