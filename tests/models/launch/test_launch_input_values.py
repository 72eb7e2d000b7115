"""Inputs of accesses, vectors and gathers: what they say of launches whose accesses are known."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import TypeVar

import pytest

from coarsen.cost.work_counts import AccessCount, LaunchSizes, padded
from coarsen.features.kernel_facts import along
from coarsen.ir.types import AddressSpace
from coarsen.models.launch import inputs
from coarsen.models.launch.inputs import InputGroup, Pair
from coarsen.models.launch.planning import DescribedLaunch
from coarsen.variant.coarsening import Coarsening
from coarsen.variant.variant import Variant
from tests.models.launch.made_up import MadeUpPlanner, device_called

STRIDED = AccessCount(1.0, 4, AddressSpace.GLOBAL, 8, None, False, None, False)
T = TypeVar("T")
FACTS = MappingProxyType({along("divergent guard share", 0): 0.5, along("divergent guard share", 1): 0.25})


def launch(variant: Variant, *accesses: AccessCount) -> DescribedLaunch:
    planned = MadeUpPlanner(0.5).planned(variant, LaunchSizes((4096, 1, 1), padded(variant.local_size)), {})
    work = replace(planned.work, accesses=accesses)
    return DescribedLaunch(variant, replace(planned, work=work, facts=FACTS), device_called("intel"))


def by_name(group: InputGroup[T], subject: T) -> dict[str, float]:
    return dict(zip(group.names, group.values(subject), strict=True))


def gathers(factor: int) -> dict[str, float]:
    before = launch(Variant((64,)), STRIDED)
    after = launch(Variant((64,), (Coarsening(factor),)), replace(STRIDED, count=float(factor)))
    return by_name(inputs.gathers, Pair(before, after))


def test_what_does_not_lie_side_by_side_is_gathered_while_groups_fill_a_vector() -> None:
    filling, short = gathers(4), gathers(8)
    assert (filling["fills a vector after"], short["fills a vector after"]) == (1.0, 0.0)
    assert (filling["gathered after"], short["gathered after"]) == (1.0, 0.0)
    assert (filling["masked after"], short["masked after"]) == (0.5, 0.0)
    assert short["apart after"] == filling["apart after"] == 1.0


def test_the_dearer_a_gather_the_more_pays_a_group_that_needs_none() -> None:
    short = gathers(8)
    speedups = [short[f"speed-up if a gather costs {cost}"] for cost in (1, 4, 16)]
    assert speedups == sorted(speedups)


def test_accesses_are_weighted_by_how_often_they_are_made() -> None:
    wide = AccessCount(3.0, 16, AddressSpace.GLOBAL, 16, 16, True, None, True)
    found = by_name(inputs.accesses, launch(Variant((64,)), STRIDED, wide))
    assert found["wide accesses"] == found["stores"] == found["copies that touch"] == pytest.approx(0.75)
    assert found["single copies"] == pytest.approx(0.25)
    assert found["mean bytes"] == pytest.approx(0.25 * 2 + 0.75 * 4)


def test_rows_and_lanes_of_a_group() -> None:
    assert inputs.vectors.values(launch(Variant((8, 4)))) == [-1.0, 0.0, 0.0, 1.0, 2.0]


def test_divergence_is_that_along_the_dimensions_that_are_coarsened() -> None:
    before = launch(Variant((16, 16)))
    both = launch(Variant((16, 16), (Coarsening(2, 0), Coarsening(8, 1))))
    assert inputs.divergence.values(Pair(before, both))[0] == pytest.approx(0.25 * 0.5 + 0.75 * 0.25)
