"""Coarsen a lowered kernel and look at it alone."""

from __future__ import annotations

from collections.abc import Iterable

from coarsen.ir.kernel import Kernel
from coarsen.pipeline import CoarsenedKernel, Observer, run_pipeline
from coarsen.variant.coarsening import Coarsening
from coarsen.variant.transforms import DEFAULT, Transforms
from coarsen.variant.variant import Variant


def coarsen_kernel(
    kernel: Kernel,
    coarsenings: Iterable[Coarsening],
    observer: Observer | None = None,
    transforms: Transforms = DEFAULT,
    any_size: bool = False,
) -> Kernel:
    return coarsened_with(kernel, coarsenings, observer, transforms, any_size).kernel


def coarsened_with(
    kernel: Kernel,
    coarsenings: Iterable[Coarsening],
    observer: Observer | None = None,
    transforms: Transforms = DEFAULT,
    any_size: bool = False,
) -> CoarsenedKernel:
    variant = Variant(coarsenings=tuple(coarsenings), transforms=transforms, any_size=any_size)
    return run_pipeline(kernel, variant, observer)
