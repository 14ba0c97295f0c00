"""Finite differences: central, extrapolated once (Richardson), good to about 1e-8 relative."""

import numpy as np


def derivative(f, x, direction, h=1e-4):
    """The derivative of f (array to array or number) along a direction."""

    def central(h):
        return (np.asarray(f(x + h * direction)) - np.asarray(f(x - h * direction))) / (2 * h)

    return (4 * central(h / 2) - central(h)) / 3


def tangent(random, shape):
    """A direction that keeps the sums of rows, as the simplex does."""
    direction = random.normal(size=shape)
    return direction - direction.mean(axis=-1, keepdims=True)


def arms(random, n, m, least=0.05):
    """Transitions [N,M,2,M] away from the border of the simplex, so that differences stay inside."""
    p = random.dirichlet(np.ones(m), size=(n, m, 2)) * (1 - m * least) + least
    return p / p.sum(axis=-1, keepdims=True)
