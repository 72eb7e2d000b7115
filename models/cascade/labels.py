"""What components and inputs are called, in words."""

from __future__ import annotations

import numpy as np

from coarsen.features import FEATURES
from coarsen.models.cascade.step_inputs import Array

# The second input of a component is always named, the third where it loads at least this strongly.
_STRONG = 0.5


def input_names() -> tuple[str, ...]:
    """Return the 34 inputs: the features' names, then those of their deltas."""
    names = [feature.name.replace("_", " ") for feature in FEATURES]
    return (*names, *(f"growth of {name}" for name in names))


def component_labels(loadings: Array) -> tuple[str, ...]:
    """Return a label for each component: the two or three inputs that load most strongly on it, by absolute value.

    "less" stands before those that load negatively.

    Args:
        loadings: of shape (34, c).
    """
    return tuple(_label(column) for column in loadings.T)


def _label(loadings: Array) -> str:
    names = input_names()
    order = np.argsort(-np.abs(loadings), kind="stable")[:3]
    named = [index for rank, index in enumerate(order) if rank < 2 or abs(loadings[index]) >= _STRONG]
    return ", ".join(names[index] if loadings[index] >= 0 else f"less {names[index]}" for index in named)
