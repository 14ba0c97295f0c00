"""Time of one call on a graphics processor, printed as JSON: `gpu_calls.py ROW ARMS`. Timed by bench/device.py; needs PyTorch with CUDA."""
import importlib.util
import json
import os
import pathlib
import sys
import types

import torch

try:
    import restive
except ImportError:  # the Python files without the native module are enough for tensors on a device
    restive = types.ModuleType("restive")
    restive.__path__ = [os.environ["PYTHONPATH"] + "/restive"]
    sys.modules["restive"] = restive

HERE = pathlib.Path(__file__).resolve().parent


def device_module():
    path = next(path for path in (HERE / "device.py", HERE.parent / "bench/device.py") if path.exists())
    spec = importlib.util.spec_from_file_location("device", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main():
    row, arms = sys.argv[1], int(sys.argv[2])
    device = device_module()
    layers = device.layers
    torch.manual_seed(1)
    draw = lambda *shape: torch.rand(*shape, dtype=torch.float64, device="cuda")
    if row == "gpu-two-state":
        p, c = draw(arms, 4), draw(arms, 2) - 0.5
        milliseconds = device.timed(lambda: layers.whittle_index_and_pullback(p, c, discount=0.99))
    elif row == "gpu-index-5":
        p = draw(arms, 5, 2, 5)
        p, c = p / p.sum(-1, keepdim=True), draw(arms, 5) - 0.5
        milliseconds = device.timed(lambda: layers.whittle_index_and_pullback(p, c), rounds=5)
    elif row == "gpu-soft-top-k":
        score, c = torch.randn(arms, dtype=torch.float64, device="cuda"), draw(arms) - 0.5

        def selection():
            leaf = score.detach().requires_grad_()
            layers.soft_top_k(leaf, arms // 10, 0.1).backward(c)

        milliseconds = device.timed(selection, rounds=7)
    elif row == "gpu-step":
        milliseconds = device.step(arms, "cuda", 10)
    else:
        raise SystemExit(f"found {row}, expected a row of a graphics processor")
    print(json.dumps({"seconds": milliseconds / 1000, "device": torch.cuda.get_device_name()}))


if __name__ == "__main__":
    main()
