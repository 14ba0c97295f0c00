"""The exact kernels as layers for PyTorch: put them behind a network of your own and differentiate through the decision.

    logits -> softmax -> whittle_index -> soft_top_k(log_odds=True) -> cwpdis(log_odds=True) -> backward()

Between a soft policy and importance sampling stand log-odds. A pull near 1 has lost the chance of not being pulled, by which
importance sampling divides: in float32 from 1 - 1e-7 on, and with it the value and its gradient.

Each function is an operator of PyTorch, `restive::whittle_index`, `restive::soft_top_k`, `restive::cwpdis`, of programmes that end and of
worlds that are given `restive::horizon_index`, `restive::plan_prices`, `restive::fluid_value`, `restive::decomposed_value`, and of arms
with more than two actions `restive::action_index`, `restive::lagrangian_policy`, with its pullback as an operator beside it; the modules
are the same with their settings kept. So `torch.compile(fullgraph=True)`, `torch.export`, checkpoints and `torch.func` (`grad`, `vjp`,
`jacrev`, `vmap`, one in the other) see each as one step. Not available: forward mode, second derivatives (both are refused, not zero), and
`vmap(grad(...))` inside a compiled function, which PyTorch's own compiler refuses.

Gradients go through transitions, scores and pulls, and through settings that are tensors: rewards, discount, budget, temperature, costs. Prices
(of `plan_prices` without a temperature, of `lagrangian_policy`) are held: bounds and advantages go back as if they stayed where they are. Leading axes are more
arms or problems, but for the prices and the values in a given world, which are of one problem: `vmap` is a loop over those. Arms
that are absent are said by a mask, to `soft_top_k` and to `cwpdis`: the others are pulled, or judged, as if they did not exist.

Work is done in float64: a contiguous float64 tensor is read where it lies, float32 is converted and answered in float32. bfloat16 and
float16 are taken under `torch.autocast`, and answered in float32; outside of it they are refused.

Tensors on a CUDA device stay there, with the same answers: `whittle_index` for up to 16 states, `soft_top_k` and `cwpdis` have kernels of
their own (`restive._device`, compiled by Triton on first use); many problems of `cwpdis` are judged one after the other. What has none,
beliefs, costs of `soft_top_k` or masks of `cwpdis`, goes through the CPU, and a warning says so once for each function. A forward pass
waits for the device once, to learn whether its input was valid (`soft_top_k` of a nearly strict policy a few times more, `cwpdis` once for
the log and once for the pulls; `Cwpdis` looks at its log once); a backward pass does not wait. While a CUDA graph is captured nothing is
waited for, and what is wrong becomes NaN. Rewards and discount that all arms share, and the discount of `cwpdis`, are read on the host:
hand them over as numbers or CPU tensors. Those of each arm (two states), budgets and temperatures are read where they are.

The gradient by transitions lives on the simplex: its rows sum to zero, because only directions that keep row sums at 1 mean
anything. Behind a softmax that is the whole gradient. (Compact arms [N,4] have no such rows; theirs is the plain derivative.)

>>> import torch, restive.torch
>>> logits = torch.zeros(3, 2, 2, 2, dtype=torch.float64)
>>> logits[:, :, 1, 1] = torch.tensor([1.0, 2.0, 3.0])[:, None]  # a pull helps, the third arm most
>>> logits.requires_grad_()  # doctest: +ELLIPSIS
tensor(...)
>>> index = restive.torch.whittle_index(logits.softmax(-1))
>>> pull = restive.torch.soft_top_k(index[:, 0], budget=1, temperature=0.05)
>>> pull[2].backward()
>>> logits.grad.shape
torch.Size([3, 2, 2, 2])
"""

from __future__ import annotations

from restive._deprecated import renamed_attribute
from restive._extras import need

need("torch", "restive.torch")

from .actions import LagrangianPolicy, action_index, lagrangian_policy
from .evaluation import Judged, cwpdis
from .horizon import horizon_index
from .index import whittle_index, whittle_index_and_pullback
from .modules import Cwpdis, SoftTopK, WhittleIndex
from .policy import soft_top_k
from .prices import PlanPrices, plan_prices
from .values import decomposed_value, fluid_value

__all__ = [
    "Cwpdis",
    "Judged",
    "LagrangianPolicy",
    "PlanPrices",
    "SoftTopK",
    "WhittleIndex",
    "action_index",
    "cwpdis",
    "decomposed_value",
    "fluid_value",
    "horizon_index",
    "lagrangian_policy",
    "plan_prices",
    "soft_top_k",
    "whittle_index",
    "whittle_index_and_pullback",
]

__getattr__ = renamed_attribute(__name__, CWPDIS="Cwpdis")
