"""Operators of PyTorch under its compilers and transforms: each gives what the plain call, or a loop over it, gives.

Compiled functions take the backend "aot_eager", which traces forward and backward graphs and runs them operator by operator: what is ours
is in the graphs, and C++ would take minutes.
"""

import copy
import doctest
import io
import pickle

import numpy as np
import pytest
import restive.torch as layers
import torch
from torch.func import grad, jacrev, vmap
from torch.utils.checkpoint import checkpoint
from transforms import CLOSE, gradients_are_those_of_autograd, second_derivatives_and_forward_mode_are_refused, slope_of, to_number, vmap_is_a_loop


def random(*shape, seed=7):
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


RNG = np.random.default_rng(3)
ARMS, SCORES, ODDS = random(5, 4, seed=1).sigmoid(), random(3, 7, seed=1), random(4, 3, 5, seed=1)
STATE, ACTION = torch.tensor(RNG.integers(0, 2, (4, 4, 5))), torch.tensor(RNG.integers(0, 2, (4, 3, 5)))

# functions of one tensor, and an input
FUNCTIONS = {
    "two states": (lambda x: layers.whittle_index(x.softmax(-1)), random(5, 2, 2, 2)),
    "compact": (lambda x: layers.whittle_index(x.sigmoid(), [0.0, 2.0], discount=0.9), random(5, 4)),
    "three states": (lambda x: layers.whittle_index(x.softmax(-1), [[0.0, 0.1], [0.4, 0.5], [1.0, 0.8]]), random(4, 3, 2, 3)),
    "other layout": (lambda x: layers.whittle_index(x.softmax(-1), layout="nass"), random(4, 2, 3, 3)),
    "collapsing": (
        lambda x: layers.whittle_index(x.softmax(-1), discount=0.9, observation="collapsing", chain=3),
        random(4, 2, 2, 2),
    ),
    "infinite chain": (
        lambda x: layers.whittle_index(x.softmax(-1), discount=0.9, observation="collapsing", chain="infinite", beliefs=4),
        random(4, 2, 2, 2),
    ),
    "soft": (lambda x: layers.soft_top_k(x, 2.5, 0.4), random(3, 7)),
    "log-odds": (lambda x: layers.soft_top_k(x, 2, 0.4, log_odds=True), random(7)),
    "value": (lambda x: layers.cwpdis(x, STATE, ACTION, [0.0, 1.0], budget=2, log_odds=True), random(4, 3, 5)),
    "rewards": (lambda x: layers.whittle_index(ARMS, x), random(2, 2)),
    "discount": (lambda x: layers.whittle_index(ARMS, discount=x.sigmoid()), random(())),
    "budget": (lambda x: layers.soft_top_k(SCORES, 7 * x.sigmoid(), 0.4), random(3)),
    "temperature": (lambda x: layers.soft_top_k(SCORES, 2, x.exp(), log_odds=True), random(())),
    "earned": (lambda x: layers.cwpdis(ODDS, STATE, ACTION, x, budget=2, log_odds=True), random(4, 3, 5)),
    "value's discount": (
        lambda x: layers.cwpdis(ODDS, STATE, ACTION, [0.0, 1.0], budget=2, discount=x.sigmoid(), log_odds=True),
        random(()),
    ),
}
named = pytest.mark.parametrize("name", FUNCTIONS)


@named
def test_gradients_of_functorch_are_those_of_autograd(name):
    gradients_are_those_of_autograd(*FUNCTIONS[name])


@named
@pytest.mark.parametrize("axis", [0, -1])
def test_vmap_is_a_loop(name, axis):
    vmap_is_a_loop(*FUNCTIONS[name], axis, other=-1)


@named
def test_second_derivatives_and_forward_mode_are_refused_and_not_zero(name):
    second_derivatives_and_forward_mode_are_refused(*FUNCTIONS[name])


def test_vmap_over_settings_and_over_two_axes_is_a_loop():
    P, scores = random(5, 4).sigmoid(), random(2, 3, 6)
    rewards, discount = random(3, 2, 2), torch.tensor([0.5, 0.9, 0.99], dtype=torch.float64)
    found = vmap(lambda r, g: layers.whittle_index(P, r, discount=g))(rewards, discount)
    loop = torch.stack([layers.whittle_index(P, r, discount=g) for r, g in zip(rewards, discount)])
    torch.testing.assert_close(found, loop, **CLOSE)
    budget, temperature = random(2, 3).sigmoid() * 5, random(3).exp()
    found = vmap(vmap(layers.soft_top_k), in_dims=(0, 0, None))(scores, budget, temperature)
    for k in range(2):
        for j in range(3):
            torch.testing.assert_close(found[k, j], layers.soft_top_k(scores[k, j], budget[k, j], temperature[j]), **CLOSE)
    pulls = random(2, 4, 3, 5)
    values = vmap(lambda x: layers.cwpdis(x, STATE, ACTION, [0.0, 1.0], budget=2, log_odds=True, full=True))(pulls)
    for k in range(2):
        alone = layers.cwpdis(pulls[k], STATE, ACTION, [0.0, 1.0], budget=2, log_odds=True, full=True)
        assert [x[k].item() for x in values] == pytest.approx([x if isinstance(x, (int, float)) else x.item() for x in alone], rel=1e-14)


@named
def test_compiled_in_one_graph_is_eager(name):
    f, x = FUNCTIONS[name]
    torch._dynamo.reset()
    compiled = torch.compile(to_number(f), fullgraph=True, backend="aot_eager")
    y = x.clone().requires_grad_()
    value = compiled(y)
    torch.testing.assert_close(value, to_number(f)(x), **CLOSE)
    value.backward()
    torch.testing.assert_close(y.grad, slope_of(f, x), **CLOSE)


@pytest.mark.parametrize("name", ["compact", "three states", "log-odds", "value"])
def test_transforms_inside_a_compiled_function_are_eager(name):
    f, x = FUNCTIONS[name]
    torch._dynamo.reset()
    found = torch.compile(grad(to_number(f)), fullgraph=True, backend="aot_eager")(x)
    torch.testing.assert_close(found, slope_of(f, x), **CLOSE)
    batch = torch.stack([x, -x])
    found = torch.compile(vmap(f), fullgraph=True, backend="aot_eager")(batch)
    torch.testing.assert_close(found, torch.stack([f(one) for one in batch]), **CLOSE)


def test_a_compiled_step_takes_other_numbers_of_arms():
    torch._dynamo.reset()
    compiled = torch.compile(lambda x: layers.soft_top_k(layers.whittle_index(x.sigmoid())[:, 0], 2, 0.1), fullgraph=True, backend="aot_eager", dynamic=True)  # fmt: skip
    for n in (4, 7, 9):
        x = random(n, 4)
        torch.testing.assert_close(compiled(x), layers.soft_top_k(layers.whittle_index(x.sigmoid())[:, 0], 2, 0.1), **CLOSE)


class Chain(torch.nn.Module):
    """Features -> network -> index -> soft top-k -> value: everything there is."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(1)
        self.network = torch.nn.Linear(3, 8).double()
        self.index, self.soft = layers.WhittleIndex(discount=0.9), layers.SoftTopK(2, 0.3, log_odds=True)
        self.judge = layers.Cwpdis(STATE, ACTION, [0.0, 1.0], budget=2, log_odds=True)

    def forward(self, features):
        index = self.index(self.network(features).unflatten(-1, (2, 2, 2)).softmax(-1))
        return self.judge(self.soft(index[torch.arange(5), STATE[:, :-1]]))


def test_the_whole_chain_compiles_exports_copies_and_is_checkpointed():
    chain, features = Chain(), random(5, 3)
    value = chain(features)
    value.backward()
    slope = chain.network.weight.grad.clone()
    torch._dynamo.reset()
    chain.zero_grad()
    torch.compile(chain, fullgraph=True, backend="aot_eager")(features).backward()
    torch.testing.assert_close(chain.network.weight.grad, slope, **CLOSE)

    program = torch.export.export(chain, (features,))
    operators = {str(node.target).split(".")[1] for node in program.graph.nodes if str(node.target).startswith("restive.")}
    assert operators == {"whittle_index", "soft_top_k", "cwpdis"}
    torch.testing.assert_close(program.module()(features), value, **CLOSE)
    file = io.BytesIO()
    torch.export.save(program, file)
    file.seek(0)
    torch.testing.assert_close(torch.export.load(file).module()(features), value, **CLOSE)

    for use_reentrant in (False, True):
        chain.zero_grad()
        checkpoint(chain, features.clone().requires_grad_(), use_reentrant=use_reentrant).backward()
        torch.testing.assert_close(chain.network.weight.grad, slope, **CLOSE)
    for other in (copy.deepcopy(chain), pickle.loads(pickle.dumps(chain))):
        assert torch.equal(other(features), value)


def test_an_exported_program_can_be_trained():
    chain, features = Chain(), random(5, 3)
    chain(features).backward()
    program = torch.export.export(Chain(), (features,)).module()
    program(features).backward()
    torch.testing.assert_close(program.get_parameter("network.weight").grad, chain.network.weight.grad, **CLOSE)


def test_operators_pass_opcheck():
    ops, one = torch.ops.restive, torch.tensor(0.9, dtype=torch.float64)
    P, P3 = random(3, 4).sigmoid(), random(3, 3, 2, 3).softmax(-1)
    blank = torch.empty(0, dtype=torch.uint8)
    full = ("nsas", "full", "", None, "auto")
    scores, budget = random(2, 5), torch.tensor([1.0, 2.5], dtype=torch.float64)
    log = (STATE, ACTION, torch.tensor([0.0, 1.0], dtype=torch.float64), None, one, torch.tensor(2), None)
    for operator, inputs in [
        (ops.whittle_index, (P.requires_grad_(), None, one, *full, True)),
        (ops.whittle_index, (P3.requires_grad_(), random(3), one, *full, False)),
        (ops.whittle_index_pullback, (random(3, 2), P.detach(), random(2), one, blank, *full, [True, True, True])),
        (ops.soft_top_k, (scores.requires_grad_(), budget, one, None, None, True)),
        (ops.soft_top_k_pullback, (random(2, 5), scores.detach(), budget, one, None, None, blank, False, [True, True, True, False])),
        (ops.cwpdis, (random(4, 3, 5).requires_grad_(), None, *log, "this-step", True)),
        (ops.cwpdis_pullback, (one, random(4, 3, 5), *log, blank, "previous-step", True, [True, True, True])),
    ]:
        torch.library.opcheck(operator.default, inputs)


def test_examples_run():
    for module in (layers, layers.policy, layers.modules):
        found = doctest.testmod(module)
        assert found.attempted > 0 and found.failed == 0


def test_a_tape_saves_a_second_solve_and_is_never_trusted_for_other_arms(monkeypatch):
    solved = []
    whittle_index = layers.index.restive.whittle_index
    monkeypatch.setattr(layers.index.restive, "whittle_index", lambda *a, **k: solved.append(a) or whittle_index(*a, **k))
    f, x = FUNCTIONS["three states"]
    y = x.clone().requires_grad_()
    f(y).sum().backward()
    assert len(solved) == 1
    grad(to_number(f))(x)
    assert len(solved) == 2
    jacrev(f)(x)  # other arms: one for each output
    assert len(solved) == 4
