"""Whole work-groups merged: what the original gives, the coarsened kernel gives, on every device, forms by turns.

`make test` runs one configuration of a kernel; with COARSEN_DIFFERENTIAL=full those of kernels made for groups and
every third of the others are run, with and without the transforms besides replication: a pairwise cover of
kernels, configurations and transforms, devices by turns.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pyopencl as cl
import pytest

from coarsen.devices.discovery import DeviceDescription
from coarsen.pipeline import CoarsenedKernel
from coarsen.variant.coarsening import Coarsening, Configuration, Level, configuration
from coarsen.variant.transforms import DEFAULT, REPLICATION_ALONE, Transforms
from tests.coarsened_kernel import coarsened_with
from tests.selection import Turn, everything_is_asked_for, turns_by
from tests.transform.cases import CASES, Case
from tests.transform.group_cases import GROUP_CASES
from tests.transform.harness import (
    assert_same,
    coarsened_outcome,
    form_by_turns,
    is_left_out,
    lowered,
    original_outcome,
)
from tests.transform.pairwise import pairwise_cover

FACTORS = (2, 3, 4, 8)
# PoCL 3.1 copies what follows a barrier under a condition, for each such barrier again: it compiles for minutes.
SLOW_ON_POCL = frozenset(
    {"group_rows_loop", "group_guarded", "group_converging", "barrier_group_uniform"}
) | frozenset({"group_side_entry", "group_copies_mixed", "group_swapped_tiles", "group_tested_tile"})

# What can't be coarsened by work-items.
GROUPS_ALONE = frozenset({"group_side_entry"})


@dataclass(frozen=True)
class Merging:
    """A kernel, what of it is merged, and with which further transforms."""

    case: Case
    chosen: Configuration
    transforms: Transforms = DEFAULT
    any_size: bool = False

    def __str__(self) -> str:
        levels = {Level.GROUP: "groups", Level.ITEM: "items"}
        parts = [f"{levels[c.level]}{c.factor}dimension{c.dimension}stride{c.stride}" for c in self.chosen]
        flavours = ["alone"] * (self.transforms == REPLICATION_ALONE) + ["any-size"] * self.any_size
        return "-".join([self.case.name, *parts, *flavours])


def groups_of(case: Case, dimension: int) -> int:
    """The number of work-groups along a dimension."""
    return case.global_size[dimension] // case.local_size[dimension]


def all_mergings() -> Iterator[Merging]:
    """Every kernel by every factor that its number of groups allows, along each dimension."""
    for case in (*GROUP_CASES, *CASES):
        for dimension, factor in itertools.product(case.dimensions, FACTORS):
            if groups_of(case, dimension) % factor == 0:
                chosen = configuration([Coarsening(factor, dimension, level=Level.GROUP)])
                yield from (Merging(case, chosen, transforms) for transforms in (DEFAULT, REPLICATION_ALONE))


def all_combinations() -> Iterator[Merging]:
    """Merged groups whose work-items are merged as well, along the same dimension and along another."""
    for case in (*GROUP_CASES, *CASES):
        for groups, items in itertools.product(case.dimensions, case.dimensions):
            size = case.local_size[items]
            if groups_of(case, groups) % 2 or size % 2 or case.name in GROUPS_ALONE:
                continue
            for stride in {1, size // 2}:
                pair = [Coarsening(2, groups, level=Level.GROUP), Coarsening(2, items, stride)]
                yield Merging(case, configuration(pair))
        if len(case.dimensions) > 1 and all(groups_of(case, d) % 2 == 0 for d in case.dimensions):
            yield Merging(case, configuration([Coarsening(2, d, level=Level.GROUP) for d in case.dimensions]))


def all_with_room_left() -> Iterator[Merging]:
    """Kernels by factors that their numbers of groups do not divide by, guarded; also with their work-items."""
    for case in GROUP_CASES:
        for dimension, factor in itertools.product(case.dimensions, (3, 5, 7)):
            if groups_of(case, dimension) % factor:
                yield from guarded(case, dimension, factor)


def all_reductions() -> Iterator[Merging]:
    """Guarded reductions in local memory, with factors that PoCL compiles for."""
    (reduction,) = (case for case in GROUP_CASES if case.name == "group_reduction")
    for factor in (2, 3, 4):
        yield from guarded(reduction, 0, factor)


def guarded(case: Case, dimension: int, factor: int) -> Iterator[Merging]:
    """A kernel guarded for any size, with and without the transforms besides replication."""
    chosen = configuration([Coarsening(factor, dimension, level=Level.GROUP)])
    yield from (Merging(case, chosen, transforms, any_size=True) for transforms in (DEFAULT, REPLICATION_ALONE))


def sample(everything: list[Merging]) -> list[Merging]:
    """One for each kernel made for groups and for every third other, by turns with other factors.

    If everything is asked for: a pairwise cover of all of the former kernels and every third of the others.
    """
    if everything_is_asked_for():
        others = [merging for merging in everything if merging.case not in GROUP_CASES]
        own = [merging for merging in everything if merging.case in GROUP_CASES]
        return pairwise_cover(own + others[::3], lambda each: (each.case.name, each.chosen, each.transforms))
    by_case: dict[Case, list[Merging]] = {}
    for merging in everything:
        by_case.setdefault(merging.case, []).append(merging)
    cases = [*GROUP_CASES, *CASES[::3]]
    chosen = ((number, by_case[case]) for number, case in enumerate(cases) if case in by_case)
    return [mergings[number * 3 % len(mergings)] for number, mergings in chosen]


@functools.lru_cache(maxsize=64)
def merged(merging: Merging) -> CoarsenedKernel:
    """A case's kernel, coarsened."""
    lowered_kernel = lowered(merging.case)
    return coarsened_with(lowered_kernel, merging.chosen, None, merging.transforms, merging.any_size)


def numbered(mergings: Iterator[Merging]) -> list[Any]:
    """A sample as a test's parameters `turn` and `merging`."""
    chosen = sample(list(mergings))
    turns = turns_by([merging.case.name for merging in chosen])
    return [pytest.param(turn, merging, id=str(merging)) for turn, merging in zip(turns, chosen, strict=True)]


@pytest.mark.parametrize(("turn", "merging"), numbered(all_mergings()))
def test_same_results(turn: Turn, merging: Merging, device: DeviceDescription, queue: cl.CommandQueue) -> None:
    check(merging, form_by_turns(device, turn), queue)


@pytest.mark.parametrize(("turn", "merging"), numbered(all_combinations()))
def test_same_results_with_work_items_merged_too(
    turn: Turn, merging: Merging, device: DeviceDescription, queue: cl.CommandQueue
) -> None:
    check(merging, form_by_turns(device, turn), queue)


@pytest.mark.parametrize(("turn", "merging"), numbered(all_with_room_left()))
def test_same_results_where_the_groups_do_not_divide(
    turn: Turn, merging: Merging, device: DeviceDescription, queue: cl.CommandQueue
) -> None:
    check(merging, form_by_turns(device, turn), queue)


@pytest.mark.parametrize("merging", [pytest.param(merging, id=str(merging)) for merging in all_reductions()])
def test_guarded_reductions_in_local_memory(
    merging: Merging, device: DeviceDescription, queue: cl.CommandQueue
) -> None:
    check(merging, "opencl_c", queue)


def check(merging: Merging, form: str, queue: cl.CommandQueue) -> None:
    case = merging.case
    original = original_outcome(queue.context, case)
    assert_same(original, coarsened_outcome(queue, merged(merging), form, case, merging.chosen), case.tolerance)


def runs_on(parameters: Mapping[str, Any]) -> bool:
    """Whether the original kernel runs, and runs right, on the device, and the coarsened one builds in time."""
    merging, device = parameters["merging"], parameters["device"]
    if everything_is_asked_for() and "turn" in parameters:
        return not is_left_out(device, parameters["turn"], functools.partial(takes, merging))
    return takes(merging, device)


def takes(merging: Merging, device: DeviceDescription) -> bool:
    """Return True if a device runs the original kernel right, and builds the coarsened one in time."""
    case = merging.case
    if device.is_called("pocl"):
        under_conditions = merging.any_size or case.name in SLOW_ON_POCL
        if under_conditions and merging.chosen[0].factor > 4:
            return False
    if case.wrong_on and device.runs_on(case.wrong_on):
        return False
    return not (case.needs and device.is_called("oclgrind"))
