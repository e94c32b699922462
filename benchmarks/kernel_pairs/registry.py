"""The rows: a name, and a function that makes the two calls."""

import torch

ROWS = []


def pair(name):
    """Registers a function that makes (ours, theirs)."""

    def keep(make):
        ROWS.append((name, make))
        return make

    return keep


def pairs():
    """(name, function that returns the two calls) of each row."""
    return ROWS


def backward_of(loss, *leaves):
    """torch's backward pass alone."""
    return lambda: torch.autograd.grad(loss, leaves, retain_graph=True)
