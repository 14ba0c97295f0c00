"""Times the peers, sets our times beside theirs, prints one table.

    peers.py OURS RESULTS [--quick]

OURS holds the JSON lines of our `timings` example; RESULTS is written as JSON. Before anything is timed every
peer is checked against the others, against a published package and against finite differences: a comparison
with wrong code is worthless. Everything runs in double precision on one thread; `bench/run` sets the
environment.
"""

import json
import logging
import platform
import sys
import warnings
from importlib.metadata import version

import jax
import torch

jax.config.update("jax_enable_x64", True)
torch.set_num_threads(1)
logging.getLogger("torch").setLevel(logging.ERROR)
warnings.filterwarnings("ignore", module="torch")

import general  # noqa: E402  (after the libraries are configured)
import published  # noqa: E402
import soft_top_k  # noqa: E402
import table  # noqa: E402
import two_state  # noqa: E402
from stopwatch import time_call  # noqa: E402

# Arms of the two-state and of the five-state task; arms by number of states for the published package; N and K.
FULL = dict(
    two_state=1_000_000, general=1000, published={5: 100, 20: 50, 100: 10, 1000: 2}, soft=(1_000_000, 200_000)
)
QUICK = dict(two_state=100_000, general=200, published={5: 20, 20: 10, 100: 4}, soft=(100_000, 20_000))

TWO_STATE_DISCOUNT, GENERAL_DISCOUNT, PUBLISHED_DISCOUNT = 0.99, 0.9, 0.99


def check():
    published.check()
    two_state.check(TWO_STATE_DISCOUNT)
    general.check(5, GENERAL_DISCOUNT, published.solve)
    soft_top_k.check()


def tasks(sizes):
    """Every comparison: what it is, its size, the peer's name, and the call to time."""
    n, discount = sizes["two_state"], TWO_STATE_DISCOUNT
    layouts, c = two_state.arms(n, seed=1)
    for layout, p in layouts.items():
        for name, peer in two_state.PEERS.items():
            head = dict(kernel=f"two-state-{layout}", n=n, m=2, discount=discount, peer=name)
            words = dict(task=f"index + gradient, M = 2, {layout}", size=f"N = {n:,}, γ = {discount}")
            yield {**words, **head}, peer(p, c, layout, discount)

    n, m, discount = sizes["general"], 5, GENERAL_DISCOUNT
    p, c = general.arms(n, m, seed=2)
    for name, peer in general.PEERS.items():
        head = dict(kernel="general", n=n, m=m, discount=discount, peer=f"bisection + solve, {name}")
        words = dict(task=f"index + gradient, M = {m}", size=f"N = {n:,}, γ = {discount}")
        yield {**words, **head}, peer(p, c, discount)

    discount = PUBLISHED_DISCOUNT
    for m, n in sizes["published"].items():
        p, _ = general.arms(n, m, seed=3)
        r = general.reward(m)
        head = dict(kernel="general-forward", n=n, m=m, discount=discount, peer="markovianbandit-pkg")
        words = dict(task="index + verdict, per arm", size=f"M = {m:,}, γ = {discount}")
        yield {**words, **head}, lambda p=p, r=r: [published.solve(arm, r, discount) for arm in p]

    n, k = sizes["soft"]
    x, c = soft_top_k.scores(n, seed=4)
    for with_gradient in (True, False):
        for name, peer in soft_top_k.PEERS.items():
            kernel = "soft-top-k" if with_gradient else "soft-top-k-forward"
            head = dict(kernel=kernel, n=n, m=None, discount=None, peer=name)
            words = dict(task="soft top-k" + " + gradient" * with_gradient, size=f"N = {n:,}, K = {k:,}")
            yield {**words, **head}, peer(x, c, k, with_gradient)


def measure(sizes):
    records = []
    for record, call in tasks(sizes):
        print(f"  timing {record['task']}: {record['peer']} …", file=sys.stderr, flush=True)
        timing = time_call(call)
        # The published package solves one arm at a time: show it, and us, per arm.
        arms = record["n"] if record["kernel"] == "general-forward" else 1
        record |= dict(seconds=timing.seconds / arms, median=timing.median / arms, repetitions=timing.repetitions)
        records.append(record | dict(n=record["n"] // arms))
    return records


def processor():
    try:
        with open("/proc/cpuinfo") as lines:
            return next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def main():
    ours = table.read_ours(sys.argv[1])
    sizes = QUICK if "--quick" in sys.argv else FULL
    print("checking that the peers agree …", file=sys.stderr, flush=True)
    check()
    theirs = measure(sizes)
    rows, shares = table.pair(ours, theirs), table.bandwidth(ours)
    machine = {"processor": processor(), "system": platform.system(), "threads": 1}
    versions = {name: version(name) for name in ("jax", "markovianbandit-pkg", "numba", "numpy", "scipy", "torch")}
    versions["python"] = platform.python_version()
    with open(sys.argv[2], "w") as file:
        json.dump(dict(machine=machine, versions=versions, ours=ours, rows=rows, bandwidth=shares), file, indent=1)
        file.write("\n")
    print(f"\n{machine['processor']}, one thread; best times; " + ", ".join(f"{k} {v}" for k, v in versions.items()))
    print()
    print(table.render(rows))
    if shares:
        print()
        print(table.render_bandwidth(shares))


if __name__ == "__main__":
    main()
