"""Ctrl-C ends every kernel: a child process is in the middle of one when the signal comes."""

import signal
import subprocess
import sys

import pytest

ARMS = "P = np.random.default_rng(1).dirichlet(np.ones(40), (2000, 40, 2))"
KERNELS = {
    # a million sweeps for each of some dozens of halvings for each state
    "bisection": f"{ARMS}; restive.whittle_index(P[:4], algorithm='bisection', discount=1 - 1e-9)",
    "general": f"{ARMS}; [restive.whittle_index(P) for _ in range(100)]",
    "simulate": "restive.simulate(np.full((50_000, 4), 0.5), 10, 'random', rollouts=1_000_000, horizon=1000)",
    "generate": "[restive.generate('five-state', instances=4, arms=20_000, budget=10, trajectories=10) for _ in range(1000)]",
    "soft_top_k": "x = np.random.default_rng(1).normal(size=(5000, 2000)); [restive.soft_top_k(x, 100, 0.1) for _ in range(1000)]",
    "small rows": "x = np.random.default_rng(1).normal(size=(4_000_000, 6)); [restive.soft_top_k(x, 2, 0.1) for _ in range(1000)]",
    "small problems": "restive.simulate(np.full((100, 4), 0.5), 2, 'random', problems=1_000_000, horizon=100, rollouts=20)",
    "smooth prices": "P = np.random.default_rng(1).random((400_000, 4)); restive.plan_prices(P, np.zeros(400_000, int), 9_000, 40, temperature=0.001)",
    # an operator of PyTorch, forward and on the way back, where autograd runs it
    "torch, forward": f"{ARMS}; import restive.torch, torch; [restive.torch.whittle_index(torch.tensor(P)) for _ in range(100)]",
    "torch, backward": f"{ARMS}; import restive.torch, torch; P = torch.tensor(P).requires_grad_(); "
    "[restive.torch.whittle_index(P).sum().backward() for _ in range(100)]",
    "torch, soft_top_k": "import restive.torch, torch; x = torch.randn(5000, 2000).double().requires_grad_(); "
    "[restive.torch.soft_top_k(x, 100, 0.1).sum().backward() for _ in range(1000)]",
}


@pytest.mark.parametrize("name", KERNELS)
def test_a_running_kernel_is_interrupted(name):
    code = f"import numpy as np, restive; print('ready', flush=True); {KERNELS[name]}"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
        assert child.stdout.readline() == "ready\n"
        with pytest.raises(subprocess.TimeoutExpired):
            child.wait(1.5)  # well in the middle
        child.send_signal(signal.SIGINT)
        try:
            _, said = child.communicate(timeout=60)  # a hang, not slowness
        finally:
            child.kill()
    assert "KeyboardInterrupt" in said and "panicked" not in said, said
