"""What transforms, compilers and exports of PyTorch must give of a function of one tensor: checks that the tests of operators share.

Each is held against plain autograd, or against a loop of plain calls. (Backend "aot_eager": see test_transforms.py.)
"""

import io

import pytest
import torch
from torch.func import grad, jacrev, jvp, vjp, vmap
from torch.utils.checkpoint import checkpoint

# what is done twice rounds twice
CLOSE = {"rtol": 1e-11, "atol": 1e-12}
EXACT = {"rtol": 0, "atol": 0}


def to_number(f):
    return lambda x: f(x).sin().sum()


def slope_of(f, x):
    """By plain autograd."""
    x = x.detach().clone().requires_grad_()
    (slope,) = torch.autograd.grad(to_number(f)(x), x)
    assert slope.abs().max() > 0
    return slope


def gradients_are_those_of_autograd(f, x, is_exact=False):
    """`grad`, to the last bit where that is asked for, `vjp`, and `jacrev` output by output."""
    torch.testing.assert_close(grad(to_number(f))(x), slope_of(f, x), **(EXACT if is_exact else CLOSE))
    found, pull_back = vjp(f, x)
    torch.testing.assert_close(found, f(x), **CLOSE)
    torch.testing.assert_close(pull_back(found.cos())[0], slope_of(f, x), **CLOSE)
    y = x.clone().requires_grad_()
    answers = f(y).reshape(-1)
    rows = jacrev(f)(x).reshape(-1, *x.shape)
    for k in range(len(answers)):
        torch.testing.assert_close(rows[k], torch.autograd.grad(answers[k], y, retain_graph=True)[0], **CLOSE)


def vmap_is_a_loop(f, x, axis, other=0.9, is_exact=False):
    """Of answers, to the last bit where that is asked for; of slopes inside and around."""
    batch = torch.stack([x, other * x, 0.5 * x], axis)
    loop = torch.stack([f(one) for one in batch.unbind(axis)])
    torch.testing.assert_close(vmap(f, in_dims=axis)(batch), loop, **(EXACT if is_exact else CLOSE))
    slopes = torch.stack([slope_of(f, one) for one in batch.unbind(axis)])
    torch.testing.assert_close(vmap(grad(to_number(f)), in_dims=axis)(batch), slopes, **CLOSE)
    whole = grad(lambda batch: vmap(to_number(f), in_dims=axis)(batch).sum())(batch)
    torch.testing.assert_close(whole.movedim(axis, 0), slopes, **CLOSE)


def second_derivatives_and_forward_mode_are_refused(f, x):
    """And not answered with zeros."""
    with pytest.raises(RuntimeError, match="first derivatives only"):
        jacrev(jacrev(to_number(f)))(x)
    y = x.clone().requires_grad_()
    (d,) = torch.autograd.grad(to_number(f)(y), y, create_graph=True)
    with pytest.raises(RuntimeError, match="first derivatives only"):
        d.sum().backward()
    with pytest.raises(NotImplementedError, match="forward mode AD"):
        jvp(f, (x,), (torch.ones_like(x),))


def compiled_exported_and_checkpointed_is_eager(f, x, is_inside=True):
    """One graph with one operator in it, a gradient inside of it too (`is_inside`); saved and loaded again."""
    torch._dynamo.reset()
    y = x.clone().requires_grad_()
    value = torch.compile(to_number(f), fullgraph=True, backend="aot_eager")(y)
    torch.testing.assert_close(value, to_number(f)(x), **CLOSE)
    torch.testing.assert_close(torch.autograd.grad(value, y)[0], slope_of(f, x), **CLOSE)
    if is_inside:
        found = torch.compile(grad(to_number(f)), fullgraph=True, backend="aot_eager")(x)
        torch.testing.assert_close(found, slope_of(f, x), **CLOSE)
    for use_reentrant in (False, True):
        y.grad = None
        checkpoint(to_number(f), y, use_reentrant=use_reentrant).backward()
        torch.testing.assert_close(y.grad, slope_of(f, x), **CLOSE)

    class Module(torch.nn.Module):
        def forward(self, x):
            return f(x)

    program = torch.export.export(Module(), (x,))
    assert sum(str(node.target).startswith("restive.") for node in program.graph.nodes) == 1
    file = io.BytesIO()
    torch.export.save(program, file)
    file.seek(0)
    torch.testing.assert_close(torch.export.load(file).module()(x), f(x), **CLOSE)
