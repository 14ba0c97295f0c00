"""Whittle indices of arms with M states, with their gradient, along the road that papers take.

For every state u of every arm: bisect the subsidy m; at each m run value iteration,

    V(s) ← max( R(s) + m + γ P(s,0,·)V,  R(s) + γ P(s,1,·)V ),

and ask whether passivity is the better action in u. At the subsidy found, write down the M + 1 equations that
hold with equality (the chosen action in every state, both actions in u), solve them for V and m, and let
autograd differentiate the solve. The solve also polishes the index, from the tolerance of the bisection to
rounding.

The peers are written as well as we know how: all N·M bisections run side by side, each warm-started with the
values of the step before; value iteration stops on the *span* of its update, because a constant added to V
moves no decision; the first bracket is the tightest that is known, ±γ·span(R)/(1−γ).

A task is: given transitions `[N,M,2,M]` and a cotangent c `[N,M]`, return W `[N,M]` and the gradient
`[N,M,2,M]` of Σ c·W.
"""

import math

import jax
import jax.numpy as jnp
import numpy as np
import torch

TOLERANCE = 1e-6


def arms(n, m, seed):
    """Dirichlet(1) rows and a cotangent; the reward is R(s) = s/(M−1)."""
    rng = np.random.default_rng(seed)
    return rng.dirichlet(np.ones(m), size=(n, m, 2)), rng.random((n, m)) - 0.5


def reward(m):
    return np.arange(m) / (m - 1)


def bracket(discount):
    """Half width of the first bracket for rewards of span 1, and the halvings that shrink it to the tolerance."""
    half = discount / (1 - discount)
    return half, math.ceil(math.log2(2 * half / TOLERANCE))


def system(lib, p, r, passive, discount):
    """The M + 1 equations of every state u, `[N,M,M+1,M+1]`, and their right-hand sides.

    `passive` `[N,M,M]`: whether state s rests at the index of u; state u itself must. Unknowns: V and m."""
    n, m = p.shape[0], p.shape[1]
    p_passive, p_active = p[:, :, 0], p[:, :, 1]  # [N,M,M]
    chosen = lib.where(passive[..., None], p_passive[:, None], p_active[:, None])  # [N,u,s,s']
    rows = lib.concatenate([chosen, p_active[:, :, None]], 2)  # [N,u,M+1,s']; the last: u active
    eye = lib.eye(m, dtype=p.dtype)
    ones = lib.concatenate([lib.broadcast_to(eye, (m, m, m)), eye[:, None]], 1)  # [u,M+1,s']
    subsidy = lib.concatenate([-1.0 * passive, lib.zeros((n, m, 1), dtype=p.dtype)], 2)  # [N,u,M+1]
    matrix = lib.concatenate([ones - discount * rows, subsidy[..., None]], 3)
    right = lib.broadcast_to(lib.concatenate([lib.broadcast_to(r, (m, m)), r[:, None]], 1), (n, m, m + 1))
    return matrix, right[..., None]


def torch_peer(compiled):
    def peer(p, c, discount):
        p, c = torch.tensor(p, requires_grad=True), torch.tensor(c)
        n, m = c.shape
        r = torch.tensor(reward(m))
        half, halvings = bracket(discount)
        stop = TOLERANCE * (1 - discount) / discount
        states = torch.arange(m)

        def sweep(v, subsidy, p_passive, p_active):
            """Four value iterations; `v` [N,M,u] holds one column for every bisection. Also the last span."""
            for _ in range(4):
                rest = r[:, None] + subsidy[:, None] + discount * (p_passive @ v)
                pull = r[:, None] + discount * (p_active @ v)
                old, v = v, torch.maximum(rest, pull)
            change = v - old
            return v, rest - pull, (change.amax(1) - change.amin(1)).max()

        sweep = torch.compile(sweep, dynamic=False) if compiled else sweep

        def bisect():
            p_passive, p_active = p[:, :, 0].contiguous(), p[:, :, 1].contiguous()
            low, high = torch.full_like(c, -half), torch.full_like(c, half)
            v = torch.zeros(n, m, m, dtype=c.dtype)
            for _ in range(halvings):
                subsidy = 0.5 * (low + high)
                span = math.inf
                while span > stop:
                    v, preference, span = sweep(v, subsidy, p_passive, p_active)
                    span = span.item()
                rests = preference[:, states, states] >= 0
                low, high = torch.where(rests, low, subsidy), torch.where(rests, subsidy, high)
            passive = (preference >= 0).transpose(1, 2)  # [N,u,s]
            return passive | torch.eye(m, dtype=torch.bool)

        def call():
            with torch.no_grad():
                passive = bisect()
            matrix, right = system(torch, p, r, passive, discount)
            w = torch.linalg.solve(matrix, right)[..., -1, 0]
            return w.detach(), torch.autograd.grad(w, p, c)[0]

        return call

    return peer


def jax_jit(p, c, discount):
    n, m = c.shape
    r = jnp.asarray(reward(m))
    half, halvings = bracket(discount)
    stop = TOLERANCE * (1 - discount) / discount

    def bisect(p):
        p_passive, p_active = p[:, :, 0], p[:, :, 1]

        def values(v, subsidy):
            def iterate(carry):
                v, _, _ = carry
                rest = r[:, None] + subsidy[:, None] + discount * (p_passive @ v)
                pull = r[:, None] + discount * (p_active @ v)
                new = jnp.maximum(rest, pull)
                change = new - v
                return new, rest - pull, (change.max(1) - change.min(1)).max()

            return jax.lax.while_loop(lambda carry: carry[2] > stop, iterate, (v, jnp.zeros_like(v), jnp.inf))

        def halve(_, carry):
            low, high, v, _ = carry
            subsidy = 0.5 * (low + high)
            v, preference, _ = values(v, subsidy)
            rests = jnp.diagonal(preference, axis1=1, axis2=2) >= 0
            return jnp.where(rests, low, subsidy), jnp.where(rests, subsidy, high), v, preference

        start = jnp.full((n, m), -half), jnp.full((n, m), half), jnp.zeros((n, m, m)), jnp.zeros((n, m, m))
        preference = jax.lax.fori_loop(0, halvings, halve, start)[3]
        return (preference >= 0).transpose(0, 2, 1) | jnp.eye(m, dtype=bool)

    def weighed(p, c):
        passive = bisect(jax.lax.stop_gradient(p))
        matrix, right = system(jnp, p, r, passive, discount)
        w = jnp.linalg.solve(matrix, right)[..., -1, 0]
        return (w * c).sum(), w

    task = jax.jit(jax.value_and_grad(weighed, has_aux=True))
    p, c = jnp.asarray(p), jnp.asarray(c)

    def call():
        (_, w), d_p = task(p, c)
        return jax.block_until_ready((w, d_p))

    return call


PEERS = {
    "PyTorch eager": torch_peer(compiled=False),
    "PyTorch compile": torch_peer(compiled=True),
    "JAX jit": jax_jit,
}


def check(m, discount, published, n=50, seed=5):
    """The peers agree with each other, with a published package, and with a finite difference of it."""
    p, c = arms(n, m, seed)
    expected = np.array([published(arm, reward(m), discount) for arm in p])
    rng = np.random.default_rng(seed + 1)
    direction, h = rng.random(p.shape) - 0.5, 1e-6
    direction -= direction.mean(-1, keepdims=True)
    raised = [np.array([published(arm, reward(m), discount) for arm in p + s * h * direction]) for s in (1, -1)]
    slope = ((raised[0] - raised[1]) / (2 * h) * c).sum(1)
    for name, peer in PEERS.items():
        w, d_p = (np.asarray(x) for x in peer(p, c, discount)())
        # The polished index is exact unless two indices of an arm lie within the bisection's tolerance.
        assert np.abs(w - expected).max() < 1e-9, (name, np.abs(w - expected).max())
        assert np.median(np.abs((d_p * direction).sum((1, 2, 3)) / slope - 1)) < 1e-6, name
