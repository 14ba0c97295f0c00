"""Soft top-k of N scores, with its gradient: the Sinkhorn iteration of Xie et al. (2020), and its closed form.

Xie et al. move N points of mass 1/N to two anchors 0 and 1 of masses (N−K)/N and K/N, at cost C_ij = (x_i −
y_j)² and with entropy weight ε; the pull of i is N times what it sends to anchor 1. Because C_i0 − C_i1 =
2x_i − 1, the plan is

    pull_i = sigmoid((x_i − τ)/e),   e = ε/2,   Σ pull = K,

so that one scalar τ replaces the iteration. Both are here, because users meet both:

* *200 Sinkhorn sweeps*: plain scaling of exp(−C/ε), 200 sweeps as in the authors' code. Backward: not through
  the sweeps but by the implicit formula, their own choice and the cheaper one: the marginals stay put, which
  is a linear system for the potentials that reduces to the anchors, here one equation.
* *closed form*: Newton for τ on Σ pull − K inside a bracket that only shrinks, then the implicit formula x̄_i
  = s_i (p̄_i − Σ w p̄)/e with s = pull·(1 − pull), w = s/Σs.

A task is: given scores `[N]` and a cotangent `[N]`, return the pull `[N]` and the gradient by the scores
`[N]`; or, forward only, the pull.
"""

import jax
import jax.numpy as jnp
import numpy as np
import torch

SWEEPS = 200


def scores(n, seed):
    """Standard normal scores and a cotangent; the temperature is a tenth of their deviation."""
    rng = np.random.default_rng(seed)
    return rng.standard_normal(n), rng.random(n) - 0.5


TEMPERATURE = 0.1


def sinkhorn(x, c, k, with_gradient=True):
    x, c = torch.tensor(x), torch.tensor(c)
    n, eps = len(x), 2 * TEMPERATURE
    anchors = torch.tensor([0.0, 1.0], dtype=x.dtype)
    row, column = 1.0 / n, torch.tensor([(n - k) / n, k / n], dtype=x.dtype)

    def call():
        cost = (x[:, None] - anchors) ** 2  # [N,2]
        kernel = torch.exp(-cost / eps)
        v = torch.full_like(column, 0.5)
        for _ in range(SWEEPS):
            u = row / (kernel @ v)
            v = column / (kernel.T @ u)
        plan = u[:, None] * kernel * v
        pull = n * plan[:, 1]
        if not with_gradient:
            return pull
        d_plan = torch.stack([torch.zeros_like(c), n * c], 1)
        # dΓ = Γ (df + dg − dC)/ε with both marginals of dΓ zero. The adjoint potentials (a, b) satisfy
        # row·a + Γb = rowsum(Γ d), Γᵀa + column·b = colsum(Γ d); b_0 = 0 is free to choose.
        weighed = plan * d_plan
        rows = weighed.sum(1)
        schur = column[1] - (plan[:, 1] ** 2).sum() / row
        b = (weighed[:, 1].sum() - (plan[:, 1] * rows).sum() / row) / schur
        a = (rows - plan[:, 1] * b) / row
        d_cost = (plan * (a[:, None] + torch.stack([torch.zeros_like(b), b])) - weighed) / eps
        return pull, (2 * d_cost * (x[:, None] - anchors)).sum(1)

    return call


def torch_closed_form(compiled):
    def peer(x, c, k, with_gradient=True):
        x, c = torch.tensor(x), torch.tensor(c)

        def balance(x, tau):
            pull = torch.sigmoid((x - tau) / TEMPERATURE)
            return pull.sum(), (pull * (1 - pull)).sum() / TEMPERATURE

        def finish(x, c, tau):
            pull = torch.sigmoid((x - tau) / TEMPERATURE)
            if not with_gradient:
                return pull
            s = pull * (1 - pull)
            return pull, s * (c - (s * c).sum() / s.sum()) / TEMPERATURE

        if compiled:
            balance, finish = torch.compile(balance, dynamic=False), torch.compile(finish, dynamic=False)

        def call():
            shift = TEMPERATURE * np.log(k / (len(x) - k))
            low, high = x.min() - shift, x.max() - shift
            tau = 0.5 * (low + high)
            for _ in range(60):
                total, slope = balance(x, tau)
                excess = total - k
                low, high = torch.where(excess > 0, tau, low), torch.where(excess > 0, high, tau)
                newton = tau + excess / slope
                step = torch.where((newton > low) & (newton < high), newton, 0.5 * (low + high))
                if abs(excess.item()) <= 1e-12 * k:
                    break
                tau = step
            return finish(x, c, tau)

        return call

    return peer


def jax_closed_form(x, c, k, with_gradient=True):
    x, c = jnp.asarray(x), jnp.asarray(c)

    def pull_at(x, tau):
        return jax.nn.sigmoid((x - tau) / TEMPERATURE)

    def task(x, c):
        shift = TEMPERATURE * jnp.log(k / (len(x) - k))
        low, high = x.min() - shift, x.max() - shift

        def step(carry):
            low, high, tau, _, count = carry
            pull = pull_at(x, tau)
            excess, slope = pull.sum() - k, (pull * (1 - pull)).sum() / TEMPERATURE
            low, high = jnp.where(excess > 0, tau, low), jnp.where(excess > 0, high, tau)
            newton = tau + excess / slope
            step = jnp.where((newton > low) & (newton < high), newton, 0.5 * (low + high))
            return low, high, jnp.where(abs(excess) <= 1e-12 * k, tau, step), excess, count + 1

        def goes_on(carry):
            return (abs(carry[3]) > 1e-12 * k) & (carry[4] < 60)

        tau = jax.lax.while_loop(goes_on, step, (low, high, 0.5 * (low + high), jnp.inf, 0))[2]
        pull = pull_at(x, tau)
        if not with_gradient:
            return pull
        s = pull * (1 - pull)
        return pull, s * (c - (s * c).sum() / s.sum()) / TEMPERATURE

    task = jax.jit(task)
    return lambda: jax.block_until_ready(task(x, c))


PEERS = {
    "200 Sinkhorn sweeps, PyTorch": sinkhorn,
    "closed form, PyTorch eager": torch_closed_form(compiled=False),
    "closed form, PyTorch compile": torch_closed_form(compiled=True),
    "closed form, JAX jit": jax_closed_form,
}


def check(n=2000, k=400, seed=7):
    """Sinkhorn, the closed forms and a finite difference agree."""
    x, c = scores(n, seed)
    closed = torch_closed_form(compiled=False)
    expected, gradient = (y.numpy() for y in closed(x, c, k)())
    rng = np.random.default_rng(seed + 1)
    direction, h = rng.standard_normal(n), 1e-5
    raised = [closed(x + s * h * direction, c, k, with_gradient=False)().numpy() for s in (1, -1)]
    slope = ((raised[0] - raised[1]) / (2 * h) * c).sum()
    assert abs(gradient @ direction / slope - 1) < 1e-6
    for name, peer in PEERS.items():
        pull, d_x = (np.asarray(y) for y in peer(x, c, k)())
        forward = np.asarray(peer(x, c, k, with_gradient=False)())
        assert np.abs(pull - expected).max() < 1e-9, (name, np.abs(pull - expected).max())
        assert np.array_equal(forward, pull) or np.abs(forward - pull).max() < 1e-14, name
        assert np.abs(d_x - gradient).max() < 1e-8 * np.abs(gradient).max(), name
