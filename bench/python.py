"""Indices and their gradient from Python, beside NumPy, PyTorch and JAX: ratios of one run.

    pip install restive numpy torch jax      # torch and jax are optional; torch.compile needs a C++ compiler
    python bench/python.py
    python bench/python.py --quick           # fewer arms, some seconds

Each forward and backward: given transitions and a cotangent of the indices, return the indices and the gradient.

- **a million arms of two states**, as `[N,2,2,2]`, which is what stands behind a softmax, and compact, `[N,4]`, against the closed form in NumPy (gradient by hand), in eager PyTorch and
  through torch.compile: as one trains (two graphs, autograd between them), and with both passes in one graph, which the
  compiler may fuse, because it is told the cotangent beforehand; and in JAX, one graph under jit. Ours runs twice: into arrays that are reused, and
  into new ones, where the system has to find pages for the answers.
- **the same on a graphics processor**, where there is one: tensors that are there already, against eager PyTorch, torch.compile and JAX (if
  it has the device) there.
- **ten thousand arms of five states**, against the road of the literature: bisection of all arms at once over value
  iteration, then one linear system for each state, differentiated by autograd.
- **five thousand arms with rewards of their own**, against the same arms with one reward for all.

Every answer is checked against ours before it is timed. Calls alternate, so that what else the machine does falls on all
alike, and each waits a moment first, because PyTorch's threads spin for some time after their work; the best and the median of
each are printed, and ratios are of medians. Time with a wheel built with --release. OMP_NUM_THREADS=1 RAYON_NUM_THREADS=1
compares one thread with one. More of a graphics processor, beside its bandwidth, is timed by bench/device.py. Two states are a race for memory: the least that must be read and written is 128 MB (compact) or 224 MB.
"""

import argparse
import math
import statistics
import time

import numpy as np

import restive

try:
    import torch
except ImportError:
    torch = None
try:
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
except ImportError:
    jax = None

DISCOUNT = 0.99


def entries(p):
    """P(next = 1) from (0, passive), (0, pulled), (1, passive), (1, pulled), of either form."""
    return (p[:, k] for k in range(4)) if p.ndim == 2 else (p[:, s, a, 1] for s in (0, 1) for a in (0, 1))


def closed_form(lib, p):
    """`[N,2]`: indices of two-state arms for the reward R(s) = s."""
    p00, p01, p10, p11 = entries(p)
    d_passive, d_active = 1 - DISCOUNT * (p10 - p00), 1 - DISCOUNT * (p11 - p01)
    lower = DISCOUNT * (p01 - p00) / lib.minimum(d_passive, d_active)
    upper = DISCOUNT * (p11 - p10) / lib.maximum(d_passive, d_active)
    return lib.stack([lower, upper], 1)


def closed_form_numpy(p, c):
    """Both passes by hand."""
    w, g = closed_form(np, p), DISCOUNT
    p00, p01, p10, p11 = entries(p)
    d_passive, d_active = 1 - g * (p10 - p00), 1 - g * (p11 - p01)
    is_passive_least = d_passive <= d_active
    least, most = np.minimum(d_passive, d_active), np.maximum(d_passive, d_active)
    t_lower, t_upper = c[:, 0] * g / least, c[:, 1] * g / most
    k_least, k_most = -c[:, 0] * w[:, 0] / least, -c[:, 1] * w[:, 1] / most
    k_passive = g * np.where(is_passive_least, k_least, k_most)
    k_active = g * np.where(is_passive_least, k_most, k_least)
    d_p = np.stack([k_passive - t_lower, t_lower + k_active, -t_upper - k_passive, t_upper - k_active], 1)
    return w, d_p if p.ndim == 2 else np.stack([np.zeros_like(d_p), d_p], -1).reshape(p.shape)


def closed_form_torch(p, c, is_compiled, is_fused=False, device="cpu"):
    p, c = torch.from_numpy(p).to(device), torch.from_numpy(c).to(device)
    options = {"fullgraph": True, "dynamic": False}
    forward = torch.compile(lambda p: closed_form(torch, p), **options) if is_compiled else lambda p: closed_form(torch, p)

    def two_graphs():
        leaf = p.detach().requires_grad_()
        w = forward(leaf)
        return w.detach(), torch.autograd.grad(w, leaf, c)[0]

    def task(p, c):
        w, pull_back = torch.func.vjp(lambda p: closed_form(torch, p), p)
        return w, pull_back(c)[0]

    fused = torch.compile(task, **options) if is_fused else None
    return (lambda: fused(p, c)) if is_fused else two_graphs


def closed_form_jax(p, c, device):
    """Both passes in one graph."""
    p, c = (jax.device_put(x, device) for x in (p, c))

    def weighed(p, c):
        w = closed_form(jnp, p)
        return (w * c).sum(), w

    task = jax.jit(jax.value_and_grad(weighed, has_aux=True))

    def call():
        (_, w), d_p = task(p, c)
        return jax.block_until_ready((w, d_p))

    return call


def bisection_torch(p, c, tolerance=1e-6):
    """All N·M bisections side by side, warm-started; then the equations that hold with equality, solved with autograd."""
    p, c = torch.from_numpy(p).requires_grad_(), torch.from_numpy(c)
    (n, m), g = c.shape, DISCOUNT
    r, states, half = torch.arange(m) / (m - 1.0), torch.arange(m), g / (1 - g)
    r = r.to(p.dtype)

    def passive_sets():
        passive, active = p[:, :, 0].contiguous(), p[:, :, 1].contiguous()
        low, high, v = torch.full_like(c, -half), torch.full_like(c, half), torch.zeros(n, m, m, dtype=c.dtype)
        for _ in range(math.ceil(math.log2(2 * half / tolerance))):
            subsidy, span = 0.5 * (low + high), math.inf
            while span > tolerance * (1 - g) / g:
                for _ in range(4):
                    rest = r[:, None] + subsidy[:, None] + g * (passive @ v)
                    pull = r[:, None] + g * (active @ v)
                    old, v = v, torch.maximum(rest, pull)
                span = ((v - old).amax(1) - (v - old).amin(1)).max().item()
            rests = (rest - pull)[:, states, states] >= 0
            low, high = torch.where(rests, low, subsidy), torch.where(rests, subsidy, high)
        return ((rest - pull) >= 0).transpose(1, 2) | torch.eye(m, dtype=torch.bool)

    def call():
        with torch.no_grad():
            rests = passive_sets()  # [N,u,s]
        chosen = torch.where(rests[..., None], p[:, None, :, 0], p[:, None, :, 1])
        rows = torch.cat([chosen, p[:, :, 1][:, :, None]], 2)
        eye = torch.eye(m, dtype=p.dtype)
        own = torch.cat([eye.expand(m, m, m), eye[:, None]], 1)
        subsidy = torch.cat([-rests.to(p.dtype), torch.zeros(n, m, 1, dtype=p.dtype)], 2)
        matrix = torch.cat([own - g * rows, subsidy[..., None]], 3)
        right = torch.cat([r.expand(m, m), r[:, None]], 1).expand(n, m, m + 1)
        w = torch.linalg.solve(matrix, right[..., None])[..., -1, 0]
        return w.detach(), torch.autograd.grad(w, p, c)[0]

    return call


def compare(title, calls, rounds, expected, scale=None):
    """Times the calls in turn and prints them; the first is ours. `scale` multiplies the times of a call by its name."""
    for name, call in calls.items():
        for found, truth in zip(call(), expected[name] if isinstance(expected, dict) else expected):
            np.testing.assert_allclose(np.asarray(found.cpu() if hasattr(found, "cpu") else found), truth, rtol=1e-6, atol=1e-6, err_msg=name)
    laps = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            time.sleep(0.03)
            start = time.perf_counter()
            call()
            laps[name].append(time.perf_counter() - start)
    print(title)
    ours = next(iter(calls))
    for name, seconds in laps.items():
        factor = (scale or {}).get(name, 1)
        best, median = (factor * of(seconds) * 1e3 for of in (min, statistics.median))
        ratio = factor * statistics.median(seconds) / statistics.median(laps[ours])
        print(f"  {name:34} best {best:9.2f} ms   median {median:9.2f} ms   {ratio:8.1f} x")
    return laps


def projected(d_p):
    """A gradient by free entries as one on the simplex."""
    d_p = np.asarray(d_p)
    return d_p - d_p.mean(axis=-1, keepdims=True)


def random_arms(n, is_compact):
    """Transitions [N,4] or [N,2,2,2], and a cotangent of the indices [N,2]."""
    random = np.random.default_rng(1)
    p, c = random.random((n, 4)), random.random((n, 2)) - 0.5
    return (p, c) if is_compact else (np.stack([1 - p, p], -1).reshape(n, 2, 2, 2), c)


def by_closed_form(p, c, names):
    """What each call should answer: ours lives on the simplex, theirs is by free entries."""
    w, free = closed_form_numpy(p, c)
    return {name: (w, projected(free) if "restive" in name and p.ndim > 2 else free) for name in names}


def two_states(n, rounds, is_compact):
    p, c = random_arms(n, is_compact)
    index, d_p = np.empty((n, 2)), np.empty_like(p)

    def reused():
        found = restive.whittle_index(p, discount=DISCOUNT, out=index)
        return found.index, found.pullback(c, out=d_p)

    def fresh():
        found = restive.whittle_index(p, discount=DISCOUNT)
        return found.index, found.pullback(c)

    calls = {"restive, reused arrays": reused, "restive, new arrays": fresh, "NumPy closed form": lambda: closed_form_numpy(p, c)}
    if torch is not None:
        calls["PyTorch, eager"] = closed_form_torch(p, c, False)
        calls["torch.compile, two graphs"] = closed_form_torch(p, c, True)
        calls["torch.compile, one graph"] = closed_form_torch(p, c, True, is_fused=True)
    if jax is not None:
        calls["JAX, jit, one graph"] = closed_form_jax(p, c, jax.devices("cpu")[0])
    form = "[N,4]" if is_compact else "[N,2,2,2]"
    compare(f"{n:,} arms of two states, {form}, forward and backward", calls, rounds, by_closed_form(p, c, calls))


def two_states_on_device(n, rounds, is_compact):
    """Tensors that are on the graphics processor and stay there; a call ends when the device has."""
    import restive.torch

    p, c = random_arms(n, is_compact)
    there, cotangent = torch.from_numpy(p).cuda(), torch.from_numpy(c).cuda()

    def autograd():
        leaf = there.detach().requires_grad_()
        w = restive.torch.whittle_index(leaf, discount=DISCOUNT)
        return w.detach(), torch.autograd.grad(w, leaf, cotangent)[0]

    calls = {
        "restive, both in one": lambda: restive.torch.whittle_index_and_pullback(there, cotangent, discount=DISCOUNT),
        "restive, autograd": autograd,
        "PyTorch, eager": closed_form_torch(p, c, False, device="cuda"),
        "torch.compile, two graphs": closed_form_torch(p, c, True, device="cuda"),
        "torch.compile, one graph": closed_form_torch(p, c, True, is_fused=True, device="cuda"),
    }

    def until_done(call):
        def waited():
            answer = call()
            torch.cuda.synchronize()
            return answer

        return waited

    calls = {name: until_done(call) for name, call in calls.items()}
    if jax is not None and jax.default_backend() == "gpu":
        calls["JAX, jit, one graph"] = closed_form_jax(p, c, jax.devices("gpu")[0])
    form = "[N,4]" if is_compact else "[N,2,2,2]"
    title = f"{n:,} arms of two states, {form}, forward and backward on {torch.cuda.get_device_name()}"
    compare(title, calls, rounds, by_closed_form(p, c, calls))


def own_rewards(n, states, rounds):
    """The same table for all arms, and as a table of each arm's own: one answer, two roads."""
    random = np.random.default_rng(3)
    p, c = random.dirichlet(np.ones(states), size=(n, states, 2)), random.random((n, states)) - 0.5
    shared = random.random((states, 2))
    own = np.tile(shared, (n, 1, 1))

    def both(rewards):
        found = restive.whittle_index(p, rewards, DISCOUNT, differentiable=True)
        return found.index, found.pullback(c)

    calls = {"restive, one reward for all": lambda: both(shared), "restive, rewards of each arm": lambda: both(own)}
    compare(f"{n:,} arms of {states} states with rewards R(s,a), forward and backward", calls, rounds, both(shared))


def five_states(n, n_peer, rounds):
    if torch is None:
        return
    random = np.random.default_rng(2)
    p, c = random.dirichlet(np.ones(5), size=(n, 5, 2)), random.random((n, 5)) - 0.5
    peer = bisection_torch(p[:n_peer].copy(), c[:n_peer].copy())

    def ours():
        found = restive.whittle_index(p, discount=DISCOUNT, differentiable=True)
        return found.index, found.pullback(c)

    def theirs():
        w, d_p = peer()
        return w, projected(d_p)

    w, d_p = ours()
    name = f"PyTorch bisection and solve, {n_peer:,} arms"
    expected = {"restive": (w, d_p), name: (w[:n_peer], d_p[:n_peer])}
    compare(
        f"{n:,} arms of five states, forward and backward (the peer's time is scaled to as many arms)",
        {"restive": ours, name: theirs},
        rounds,
        expected,
        {name: n / n_peer},
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--peer-arms", type=int, default=1000, help="arms for the bisection (default 1000)")
    parser.add_argument("--quick", action="store_true", help="a tenth of the arms, three rounds, fifty arms for the bisection")
    options = parser.parse_args()
    many, some, rounds, peer_arms = 1_000_000, 10_000, options.rounds, options.peer_arms
    if options.quick:
        many, some, rounds, peer_arms = 100_000, 1_000, 3, 50
    peers = ", ".join(
        f"{name} {library.__version__ if library else 'absent'}" for name, library in (("PyTorch", torch), ("JAX", jax))
    )
    print(f"restive {restive.__version__}, {restive.threads()} threads; {peers}")
    two_states(many, rounds, is_compact=False)
    two_states(many, rounds, is_compact=True)
    five_states(some, peer_arms, max(3, rounds // 5))
    own_rewards(some // 2, 2, rounds)
    own_rewards(some // 2, 5, rounds)
    if torch is not None and torch.cuda.is_available():
        two_states_on_device(many, rounds, is_compact=False)
        two_states_on_device(many, rounds, is_compact=True)
