"""Costs of plans with fast paths and lock-step against those of the kernels that were really coarsened."""

from __future__ import annotations

import pytest

from coarsen.cost.block_profile import region_plan
from coarsen.cost.register_pressure import RegisterPressure, maximum_live_words
from coarsen.features import extract
from coarsen.frontend.lower import lower
from coarsen.ir.kernel import Kernel
from coarsen.transform.coarsen import analyse
from coarsen.transform.regions.plan import RegionPlan
from coarsen.variant.coarsening import Coarsening
from coarsen.variant.transforms import REPLICATION_ALONE, Transforms, Use
from tests.coarsened_kernel import coarsen_kernel
from tests.cost.test_replication import CASES, kernel_of

# Without the clean-up, whose finds nobody foresees.
TODAY = Transforms(clean_up=False)
# For a guard that is too short to pay.
ALWAYS = Transforms(fast_path=Use.ALWAYS, clean_up=False)
# Of what slow paths are made of the estimate has the second body alone.
TOLERANCE = 0.25
FACTOR = 8


def treated(kernel: Kernel, dimension: int, transforms: Transforms = TODAY) -> RegionPlan:
    return region_plan(analyse(kernel, dimension), transforms)


INTERLEAVED = [(name, dimension) for name, dimension in CASES if treated(kernel_of(name), dimension).interleaved]


@pytest.mark.parametrize(("name", "dimension"), INTERLEAVED)
def test_instructions_and_registers_follow_the_plan(name: str, dimension: int) -> None:
    kernel = kernel_of(name)
    coarsened = coarsen_kernel(kernel, [Coarsening(FACTOR, dimension)], transforms=TODAY)
    counted = extract(kernel, dimension, FACTOR, transforms=TODAY)
    assert counted.instructions == pytest.approx(coarsened.length, rel=TOLERANCE)

    words = RegisterPressure(treated(kernel, dimension), rescaled=True).maximum(FACTOR)
    real = maximum_live_words(analyse(coarsened, dimension), 1)
    assert words == pytest.approx(real, rel=0.3)
    # Copies one after the other would need far fewer registers.
    assert maximum_live_words(analyse(kernel, dimension), FACTOR) < words


@pytest.mark.parametrize(("name", "dimension"), CASES)
def test_replication_alone_copies_every_region(name: str, dimension: int) -> None:
    analysed = analyse(kernel_of(name), dimension)
    planned = region_plan(analysed)
    assert planned.copied_regions == analysed.regions
    assert not planned.interleaved


GUARD = """
kernel void k(global float *to, global const float *from, int count)
{
    int x = get_global_id(0);
    if (x < count)
        to[x] = from[x] * 2.0f;
}
"""


def test_a_guard_counted_by_hand() -> None:
    kernel = lower(GUARD)
    alone, together = (extract(kernel, 0, 4, transforms=each) for each in (REPLICATION_ALONE, ALWAYS))
    # Interleaved loads and stores stand four times, and once more in the second body.
    assert (alone.loads, alone.stores) == (4, 4)
    assert (together.loads, together.stores) == (5, 5)
    # Copies have a branch each; the guard tests for all, for none, and in the second body.
    assert (alone.branches, together.branches) == (4, 2)
    assert (alone.divergent_regions, together.divergent_regions) == (4, 1)
