"""Random coarsenings that a launch allows: of work-items, of work-groups, or both, in one dimension or two."""

from __future__ import annotations

import math
import random

from coarsen.variant.coarsening import Coarsening, Configuration, Level, configuration
from tests.fuzz.launches import Launch

_FACTORS = (2, 2, 3, 4, 4, 6, 8)
_ODD_FACTORS = (2, 3, 4, 5, 7)
_MAX_REPLICAS = 8


def draw_configuration(chosen: random.Random, launch: Launch, any_size: bool, grouped: bool) -> Configuration:
    """One coarsening, or now and then two or more.

    Of a guarded kernel (`any_size`) work-items can be merged only where it isn't `grouped`: where it doesn't
    matter to it how they are grouped.
    """
    level = chosen.choice(("item", "item", "group", "both"))
    if any_size:
        level = "group" if grouped else chosen.choice(("item", "item", "both"))
    dimensions = list(range(len(launch.local_size)))
    chosen.shuffle(dimensions)
    found: list[Coarsening] = []
    for dimension in dimensions[: 2 if chosen.random() < 0.3 else 1]:
        if level != "group":
            found.append(_of_items(chosen, launch, dimension, any_size))
        if level != "item":
            found.append(_of_groups(chosen, launch, dimension, any_size))
    while math.prod(coarsening.factor for coarsening in found) > _MAX_REPLICAS:
        found.pop()
    if all(coarsening.factor == 1 for coarsening in found):
        found = [_of_items(chosen, launch, dimensions[0], any_size=False)]
    return configuration(found)


def _of_items(chosen: random.Random, launch: Launch, dimension: int, any_size: bool) -> Coarsening:
    size = launch.local_size[dimension]
    if any_size:
        return Coarsening(chosen.choice(_ODD_FACTORS), dimension, chosen.choice((1, 1, 2, 3)))
    factor = chosen.choice([factor for factor in _FACTORS if size % factor == 0])
    strides = [stride for stride in (1, 1, 2, 3, size // factor) if size // factor % stride == 0]
    return Coarsening(factor, dimension, chosen.choice(strides))


def _of_groups(chosen: random.Random, launch: Launch, dimension: int, any_size: bool) -> Coarsening:
    """Factor 1, which is none, where the number of groups allows no other."""
    groups = launch.groups(dimension)
    factors = _ODD_FACTORS if any_size else [factor for factor in _FACTORS if groups % factor == 0] or [1]
    return Coarsening(chosen.choice(factors), dimension, 1, Level.GROUP)
