"""Draws specifications: the same seed and index give the same one, on every machine.

Each axis goes through all of its values in an order of its own before any comes again (a stratified sample). Where
two axes' values don't go together, the later axis, in the order of `Axes`, is drawn anew.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from coarsen.errors import InternalError
from coarsen.opencl_bench.workloads.synthetic.axes import (
    AXIS_VALUES,
    GATHERS,
    Access,
    Axes,
    LocalMemory,
    Loop,
)
from coarsen.opencl_bench.workloads.synthetic.favourites import with_favourite
from coarsen.opencl_bench.workloads.synthetic.rules import Rule, violations
from coarsen.opencl_bench.workloads.synthetic.specification import Combination, Partner, Specification

T = TypeVar("T")

MOST_ATTEMPTS = 10_000
# How often a clash is settled by the later axis; else by any, so that no two rules undo each other for ever.
LATER_AXIS_SHARE = 0.8
AXES_IN_ORDER = tuple(AXIS_VALUES)

TRIPS: dict[Loop, tuple[int, ...]] = {
    Loop.NONE: (1,),
    Loop.CONSTANT: (3, 4, 8, 16, 32),
    Loop.ARGUMENT: (8, 16, 32, 64, 128, 256),
    Loop.NESTED: (2, 3, 4, 8, 16),
    Loop.DIVERGENT_DATA: (8, 16, 32, 64),
    Loop.DIVERGENT_ID: (8, 16, 32, 64),
    Loop.LOCAL_STRIDE: (2, 4, 8, 16),
    Loop.GRID_STRIDE: (2, 4, 8, 16),
}
INNER_TRIPS = (3, 4, 8, 16)
STRIDES = (2, 3, 4, 8, 16)
FIELDS = (2, 3, 4, 8)
RADII = (1, 2, 3)
BLOCKS = (2, 4, 8, 16, 32)
SELECTED = (4, 16, 128, 512, 1008)
CHAINS = (1, 1, 2, 4)
COMBINATIONS = (Combination.ADD, Combination.ADD, Combination.MAXIMUM)


def draw(seed: int, index: int) -> Specification:
    """The specification of a number.

    Args:
        seed: of the whole set of kernels.
        index: of the kernel, from 0 on.
    """
    generator = np.random.default_rng([seed, index])
    axes = with_favourite(_settled(_proposed(seed, index), generator), generator)
    return Specification(
        seed=seed,
        index=index,
        axes=axes,
        trips=_trips(axes, generator),
        inner_trips=_pick(generator, INNER_TRIPS),
        stride=_pick(generator, STRIDES),
        fields=_pick(generator, FIELDS),
        radius=_pick(generator, RADII),
        block=_pick(generator, BLOCKS),
        selected=_pick(generator, SELECTED),
        chains=_pick(generator, CHAINS),
        combination=_pick(generator, COMBINATIONS),
        partner=_pick(generator, tuple(Partner)),
        static_local=_pick(generator, (False, True)),
        sizes_from_ndrange=_pick(generator, (False, True)),
        constant_weights=_pick(generator, (False, True)),
        block_argument=_pick(generator, (False, True)),
        returns_by_data=_pick(generator, (False, True)),
    )


def _proposed(seed: int, index: int) -> Axes:
    values: dict[str, Any] = {}
    for number, (axis, choices) in enumerate(AXIS_VALUES.items()):
        round_, place = divmod(index, len(choices))
        order = np.random.default_rng([seed, round_, number, 1]).permutation(len(choices))
        values[axis] = choices[int(order[place])]
    return Axes(**values)


def _settled(axes: Axes, generator: np.random.Generator) -> Axes:
    """The axes' values, changed until no rule forbids them."""
    for _ in range(MOST_ATTEMPTS):
        broken = violations(axes)
        if not broken:
            return axes
        axis = _axis_to_change(broken[0], generator)
        changed: dict[str, Any] = {axis: _pick(generator, AXIS_VALUES[axis])}
        axes = replace(axes, **changed)
    raise InternalError("the rules of synthetic kernels leave nothing over")


def _axis_to_change(rule: Rule, generator: np.random.Generator) -> str:
    if generator.random() < LATER_AXIS_SHARE:
        return max(rule.axes, key=AXES_IN_ORDER.index)
    return _pick(generator, rule.axes)


def _trips(axes: Axes, generator: np.random.Generator) -> int:
    if axes.access is Access.BROADCAST and axes.local_memory is LocalMemory.TILE:
        return _pick(generator, (1, 2, 3))  # each is a loop over a whole work-group's elements
    choices = TRIPS[axes.loop]
    if axes.operations > 8 or axes.access in GATHERS:
        choices = choices[: max(1, len(choices) - 2)]
    return _pick(generator, choices)


def _pick(generator: np.random.Generator, choices: tuple[T, ...]) -> T:
    return choices[int(generator.integers(len(choices)))]
