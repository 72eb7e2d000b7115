"""Combinations that real kernels are made of, and that chance would seldom put together."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from coarsen.opencl_bench.workloads.synthetic.axes import (
    UNIFORM_LOOPS,
    Access,
    Axes,
    Guard,
    LocalMemory,
    Loop,
    Reuse,
    Store,
)
from coarsen.opencl_bench.workloads.synthetic.rules import violations


@dataclass(frozen=True, slots=True)
class Favourite:
    """A change to a kernel, made in a share of those that it could be made in."""

    what: str
    applies: Callable[[Axes], bool]
    changes: Mapping[str, Any]
    share: float


FAVOURITES = (
    Favourite(
        "a step of a fast transform",
        lambda a: a.access is Access.BLOCK_CYCLIC,
        {"loop": Loop.NONE, "local_memory": LocalMemory.NONE, "store": Store.IN_PLACE},
        0.3,
    ),
    Favourite(
        "every item with all others, staged tile by tile",
        lambda a: a.access is Access.BROADCAST and a.loop in UNIFORM_LOOPS and a.dimensions == 1,
        {"local_memory": LocalMemory.TILE, "guard": Guard.NONE, "store": Store.COALESCED},
        0.35,
    ),
    Favourite(
        "a product of matrices",
        lambda a: a.access is Access.BROADCAST and a.loop in UNIFORM_LOOPS and a.dimensions == 2,
        {"reuse": Reuse.ALONG_1, "local_memory": LocalMemory.NONE, "store": Store.COALESCED},
        0.5,
    ),
    Favourite(
        "a transposition by square tiles",
        lambda a: a.access is Access.TRANSPOSED and a.dimensions == 2 and a.local_size[0] == a.local_size[1],
        {
            "loop": Loop.NONE,
            "local_memory": LocalMemory.TILE,
            "guard": Guard.NONE,
            "store": Store.TRANSPOSED,
        },
        0.4,
    ),
)


def with_favourite(axes: Axes, generator: np.random.Generator) -> Axes:
    """The axes' values, now and then changed to a favourite combination."""
    chance = generator.random()
    for favourite in FAVOURITES:
        if favourite.applies(axes) and chance < favourite.share:
            changed = replace(axes, **favourite.changes)
            return axes if violations(changed) else changed
    return axes
