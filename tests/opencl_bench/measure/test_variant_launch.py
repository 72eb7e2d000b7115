"""The launch of a variant covers what the original's covers, with the arguments that its kernel takes."""

from __future__ import annotations

import numpy as np
import pytest

from coarsen.errors import InternalError
from coarsen.ir.added_arguments import AddedArgument
from coarsen.tuning.measure.machine import UndividedError
from coarsen.tuning.measure.variant_launch import undivided, variant_launch
from coarsen.tuning.workload.benchmark import BufferArgument, Launch, LocalArgument, ScalarArgument
from coarsen.variant.coarsening import Coarsening, Level
from coarsen.variant.variant import Variant

LAUNCH = Launch("k", (96, 64), (16, 8), (BufferArgument("a"), LocalArgument(512)))


def sizes(*coarsenings: Coarsening, any_size: bool = False) -> tuple[tuple[int, ...], tuple[int, ...]]:
    made = variant_launch(LAUNCH, Variant(coarsenings=coarsenings, any_size=any_size), ())
    return made.global_size, made.local_size


def test_work_items_divide_both_sizes_and_work_groups_one() -> None:
    assert sizes() == ((96, 64), (16, 8))
    assert sizes(Coarsening(4), Coarsening(2, 1)) == ((24, 32), (4, 4))
    assert sizes(Coarsening(3, level=Level.GROUP)) == ((32, 64), (16, 8))
    assert sizes(Coarsening(4), Coarsening(3, level=Level.GROUP)) == ((8, 64), (4, 8))


def test_guarded_kernels_cover_all_in_groups_no_larger_than_the_original() -> None:
    (width, height), local = sizes(Coarsening(5), any_size=True)
    assert width * 5 >= 96 and height == 64
    assert width % local[0] == 0 and local[0] * local[1] <= 16 * 8
    assert sizes(Coarsening(4, level=Level.GROUP), any_size=True) == ((32, 64), (16, 8))


@pytest.mark.parametrize(
    ("coarsening", "reason"),
    [
        (Coarsening(3), "the factor 3 does not divide the local size 16×8 along 0"),
        (Coarsening(2, 1, 3), "the stride 3 does not divide the coarsened local size 4 along 1"),
        (Coarsening(5, 1, level=Level.GROUP), "the factor 5 does not divide the 8 work-groups along 1"),
        (Coarsening(2, 2), "the NDRange has no dimension 2"),
    ],
)
def test_what_does_not_divide_is_said(coarsening: Coarsening, reason: str) -> None:
    assert undivided(LAUNCH, [coarsening]) == reason
    with pytest.raises(UndividedError, match=reason):
        variant_launch(LAUNCH, Variant(coarsenings=(coarsening,)), ())


def test_added_arguments() -> None:
    added = (AddedArgument("global-size", dimension=1), AddedArgument("local-memory", like=1))
    made = variant_launch(LAUNCH, Variant(coarsenings=(Coarsening(2),)), added)
    assert made.arguments == (*LAUNCH.arguments, ScalarArgument(np.uint64(64)), LocalArgument(512))
    with pytest.raises(InternalError, match="no local memory"):
        variant_launch(LAUNCH, Variant(), (AddedArgument("local-memory", like=0),))
