"""Costs of plans with fast paths and lock-step against those of the kernels that were really coarsened."""

from __future__ import annotations

import pytest

from coarsen.cost.block_profile import region_plan
from coarsen.cost.register_pressure import RegisterPressure, maximum_live_words
from coarsen.ir.kernel import Kernel
from coarsen.transform.coarsen import analyse
from coarsen.transform.regions.plan import RegionPlan
from coarsen.transform.regions.plan_regions import plan_regions
from coarsen.variant.coarsening import Coarsening
from coarsen.variant.transforms import Transforms
from tests.coarsened_kernel import coarsen_kernel
from tests.cost.test_replication import CASES, kernel_of

# Without the clean-up, whose finds nobody foresees.
TODAY = Transforms(clean_up=False)
FACTOR = 8


def treated(kernel: Kernel, dimension: int, transforms: Transforms = TODAY) -> RegionPlan:
    analysed = analyse(kernel, dimension)
    return plan_regions(analysed.divergence, analysed.regions, transforms)


INTERLEAVED = [(name, dimension) for name, dimension in CASES if treated(kernel_of(name), dimension).interleaved]


@pytest.mark.parametrize(("name", "dimension"), INTERLEAVED)
def test_registers_follow_the_plan(name: str, dimension: int) -> None:
    kernel = kernel_of(name)
    coarsened = coarsen_kernel(kernel, [Coarsening(FACTOR, dimension)], transforms=TODAY)
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
