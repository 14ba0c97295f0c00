"""The kernels on a graphics processor, beside the copy of memory, eager and compiled PyTorch: medians of one run.

    python bench/device.py        # needs a CUDA device; torch.compile needs a C++ compiler

Times are of the device (CUDA events around four calls in a row, a quarter of that, the median of fifteen such rounds), after a warm-up that
compiles: what the host takes for a call is in them as far as the device waits for it, but not how long an idle host takes to wake. Every answer is held against
eager PyTorch, or the native module where it is installed, before it is timed. `bytes` is the least that must be read and written, and its
share of the bandwidth of a copy that was timed in the same run is printed beside. Where the native module is installed, a decision-focused
step of a network is timed on the device and on the CPU.
"""

import argparse
import importlib
import pathlib
import statistics
import sys
import time
import types

import torch

try:
    import restive
except ImportError:  # the Python files as they lie in the tree: enough for tensors on a device
    restive = types.ModuleType("restive")
    restive.__path__ = [str(pathlib.Path(__file__).parents[1] / "crates/restive-py/python/restive")]
    sys.modules["restive"] = restive
layers = importlib.import_module("restive.torch")
DISCOUNT = 0.99


def timed(call, rounds=15, calls=4):
    """Milliseconds a call, the median of rounds of some calls one after the other."""
    for _ in range(3):
        call()
    laps = []
    for _ in range(rounds):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        for _ in range(calls):
            call()
        end.record()
        end.synchronize()
        laps.append(start.elapsed_time(end) / calls)
    return statistics.median(laps)


def shown(title, calls, gigabytes=None, bandwidth=None, rounds=15):
    print(title, flush=True)
    ours = None
    for name, call in calls.items():
        try:
            lap = timed(call, rounds)
        except (RuntimeError, torch.OutOfMemoryError) as error:  # a peer that does not fit or compile
            print(f"  {name:44} {type(error).__name__}: {str(error).splitlines()[0][:80]}", flush=True)
            continue
        finally:
            torch.cuda.empty_cache()
        ours = ours or lap
        share = f"   {gigabytes / lap / bandwidth * 100:5.1f} % of the copy's bandwidth" if name == next(iter(calls)) and gigabytes else ""
        print(f"  {name:44} {lap:10.3f} ms   {lap / ours:8.1f} x{share}", flush=True)


def copy_bandwidth():
    """Gigabytes per millisecond, read and written."""
    a = torch.rand(600_000_000, dtype=torch.float64, device="cuda")
    b = torch.empty_like(a)
    lap = timed(lambda: b.copy_(a))
    print(f"copy of 4.8 GB: {lap:.3f} ms, {9.6 / lap:.2f} TB/s read and written", flush=True)
    return 9.6 / lap


def closed_form(p):
    p00, p01, p10, p11 = (p[:, k] for k in range(4)) if p.dim() == 2 else (p[:, s, a, 1] for s in (0, 1) for a in (0, 1))
    d_passive, d_active = 1 - DISCOUNT * (p10 - p00), 1 - DISCOUNT * (p11 - p01)
    lower = DISCOUNT * (p01 - p00) / torch.minimum(d_passive, d_active)
    upper = DISCOUNT * (p11 - p10) / torch.maximum(d_passive, d_active)
    return torch.stack([lower, upper], 1)


def two_states(n, is_compact, dtype, bandwidth):
    p, c = torch.rand(n, 4, dtype=dtype, device="cuda"), torch.rand(n, 2, dtype=dtype, device="cuda") - 0.5
    if not is_compact:
        p = torch.stack([1 - p, p], -1).reshape(n, 2, 2, 2)

    def both(p, c):
        w, pull_back = torch.func.vjp(closed_form, p)
        return w, pull_back(c)[0]

    compiled = torch.compile(both, fullgraph=True, dynamic=False)

    def trained():
        leaf = p.detach().requires_grad_()
        layers.whittle_index(leaf, discount=DISCOUNT).backward(c)
        return leaf.grad

    few = slice(0, 1000)
    w, d = both(p[few], c[few])
    if not is_compact:
        d = d - d.mean(-1, keepdim=True)
    tight = 1e-9 if dtype == torch.float64 else 1e-2
    found = layers.whittle_index_and_pullback(p[few].contiguous(), c[few].contiguous(), discount=DISCOUNT)
    torch.testing.assert_close(found[0], w, rtol=tight, atol=tight)
    torch.testing.assert_close(found[1], d, rtol=tight, atol=100 * tight)
    form, size = ("[N,4]" if is_compact else "[N,2,2,2]"), p.element_size()
    shown(
        f"{n:,} arms of two states, {form}, {str(dtype)[6:]}, forward and pullback",
        {
            "restive, both in one": lambda: layers.whittle_index_and_pullback(p, c, discount=DISCOUNT),
            "restive, both in one, nothing waited for": lambda: layers.whittle_index_and_pullback(p, c, discount=DISCOUNT, validate=False),
            "restive, autograd": trained,
            "PyTorch, eager": lambda: both(p, c),
            "torch.compile, one graph": lambda: compiled(p, c),
        },
        n * size * ((12 if is_compact else 20)) / 1e9,
        bandwidth,
    )


def soft_top_k(n, budget, temperature, log_odds, bandwidth):
    x = torch.randn(n, dtype=torch.float64, device="cuda")
    c = torch.randn(n, dtype=torch.float64, device="cuda")
    e = torch.tensor(temperature, dtype=torch.float64, device="cuda", requires_grad=True)

    def ours():
        leaf = x.detach().requires_grad_()
        layers.soft_top_k(leaf, budget, e, log_odds=log_odds).backward(c)
        return leaf.grad

    def bisected(x, c):
        """Sixty halvings, then one Newton step through which autograd goes."""
        with torch.no_grad():
            low, high = x.min() - 40 * temperature, x.max() + 40 * temperature
            for _ in range(60):
                middle = 0.5 * (low + high)
                is_much = ((x - middle) / temperature).sigmoid().sum() > budget
                low, high = torch.where(is_much, middle, low), torch.where(is_much, high, middle)
        leaf = x.detach().requires_grad_()
        p = ((leaf - middle) / temperature).sigmoid()
        slope = (p * (1 - p)).sum().detach() / temperature
        z = (leaf - middle - (p.sum() - budget) / slope) / temperature
        (z if log_odds else z.sigmoid()).backward(c)
        return leaf.grad

    torch.testing.assert_close(ours(), bisected(x, c), rtol=1e-6, atol=1e-8)
    kind = "log-odds" if log_odds else "pulls"
    shown(
        f"soft top-k, {n:,} scores, {kind}, forward and pullback by scores and temperature",
        {"restive": ours, "restive, forward": lambda: layers.soft_top_k(x, budget, e.detach(), log_odds=log_odds), "PyTorch, eager bisection": lambda: bisected(x, c)},
        n * 8 * 9 / 1e9,  # three passes of the root, one writes; two back, one writes
        bandwidth,
        rounds=7,
    )


def cwpdis(j, h, n, bandwidth):
    state, action = torch.randint(0, 2, (j, h + 1, n), device="cuda"), torch.randint(0, 2, (j, h, n), device="cuda")
    x = torch.randn(j, h, n, dtype=torch.float64, device="cuda")
    layer = layers.Cwpdis(state, action, [0.0, 1.0], budget=n // 2, log_odds=True)

    def ours():
        leaf = x.detach().requires_grad_()
        value = layer(leaf)
        value.backward()
        return value.detach(), leaf.grad

    earned, sign = state[:, :h].double(), 2.0 * action - 1.0
    powers = DISCOUNT ** torch.arange(h, dtype=torch.float64, device="cuda")

    def plain():
        leaf = x.detach().requires_grad_()
        ratio = (torch.nn.functional.logsigmoid(sign * leaf) - torch.tensor(0.5).log()).cumsum(1).exp()
        value = (((ratio * earned).sum(0) / ratio.sum(0)).sum(-1) * powers).sum()
        value.backward()
        return value.detach(), leaf.grad

    for found, truth in zip(ours(), plain()):
        torch.testing.assert_close(found, truth, rtol=1e-9, atol=1e-9)
    shown(
        f"CWPDIS, {j} trajectories of {h} steps and {n:,} arms, forward and pullback",
        {"restive": ours, "PyTorch, eager": plain},
        j * h * n * (8 * 8 + 2) / 1e9,
        bandwidth,
    )


def sweep(n, states):
    P = torch.rand(n, states, 2, states, dtype=torch.float64, device="cuda")
    P, c = P / P.sum(-1, keepdim=True), torch.rand(n, states, dtype=torch.float64, device="cuda") - 0.5
    few = P[:50].cpu()
    calls = {"restive, both": lambda: layers.whittle_index_and_pullback(P, c), "restive, forward": lambda: layers.whittle_index(P)}
    shown(f"{n:,} arms of {states} states, forward and pullback", calls, rounds=5)
    if hasattr(restive, "whittle_index"):
        index, d_P = layers.whittle_index_and_pullback(P[:50], c[:50])
        native = restive.whittle_index(few.numpy(), differentiable=True)
        torch.testing.assert_close(index.cpu(), torch.tensor(native.index), rtol=1e-11, atol=1e-12)
        torch.testing.assert_close(d_P.cpu(), torch.tensor(native.pullback(c[:50].cpu().numpy())), rtol=1e-10, atol=1e-10)
        arms = P.cpu().numpy()
        laps = []
        for _ in range(3):
            start = time.perf_counter()
            restive.whittle_index(arms, differentiable=True).pullback(c.cpu().numpy())
            laps.append(time.perf_counter() - start)
        print(f"  {f'restive on the CPU, {restive.threads()} threads':44} {statistics.median(laps) * 1e3:10.3f} ms", flush=True)


def step(n, device, rounds):
    """Milliseconds of one decision-focused step: features -> network -> index -> soft top-k -> what is reached -> gradient."""
    torch.manual_seed(1)
    network = torch.nn.Sequential(torch.nn.Linear(16, 64), torch.nn.ReLU(), torch.nn.Linear(64, 8)).double().to(device)
    features = torch.randn(n, 16, dtype=torch.float64, device=device)
    worth = torch.rand(n, dtype=torch.float64, device=device)
    optimiser = torch.optim.SGD(network.parameters(), lr=1e-3)

    def once():
        optimiser.zero_grad()
        index = layers.whittle_index(network(features).reshape(-1, 2, 2, 2).softmax(-1))
        loss = -(layers.soft_top_k(index[:, 0], n // 10, 0.1) * worth).sum() / n
        loss.backward()
        optimiser.step()
        return loss.item()

    laps = []
    for _ in range(rounds + 2):
        start = time.perf_counter()
        once()
        laps.append(time.perf_counter() - start)
    return statistics.median(laps[2:]) * 1e3


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--arms", type=int, default=100_000_000)
    n = parser.parse_args().arms
    if not torch.cuda.is_available():
        raise SystemExit("bench/device.py: no CUDA device here")
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}", flush=True)
    bandwidth = copy_bandwidth()
    two_states(n, True, torch.float64, bandwidth)
    two_states(n, False, torch.float64, bandwidth)
    two_states(n, True, torch.float32, bandwidth)
    two_states(n // 100, True, torch.float64, bandwidth)
    soft_top_k(n, n // 10, 0.1, False, bandwidth)
    soft_top_k(n, n // 10, 0.1, True, bandwidth)
    soft_top_k(n // 100, n // 1000, 0.1, False, bandwidth)
    cwpdis(100, 10, 10_000, bandwidth)
    cwpdis(100, 10, 100_000, bandwidth)
    sweep(1_000_000, 5)
    sweep(100_000, 16)
    on_device = step(1_000_000, "cuda", 10)
    print(f"decision-focused step, 1,000,000 arms: {on_device:.2f} ms on the device", flush=True)
    if hasattr(restive, "whittle_index"):
        on_cpu = step(1_000_000, "cpu", 3)
        print(f"  on the CPU, {restive.threads()} threads: {on_cpu:.2f} ms, {on_cpu / on_device:.1f} x", flush=True)


if __name__ == "__main__":
    main()
