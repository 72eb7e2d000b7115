"""What the shipped model expects of a launch's variants: it orders them, and measurements correct it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from coarsen.devices.discovery import DeviceDescription
from coarsen.opencl_bench.sweep.model_prior import model_prior
from coarsen.opencl_bench.workloads.benchmark import Benchmark, LocalSize
from coarsen.variant.variant import Variant

# The expected logarithm of a variant's time over that of the launch as it is.
Expectation = Callable[[Variant], float]


def launch_prior(benchmark: Benchmark, device: DeviceDescription, own: LocalSize) -> Expectation:
    """Return what the model expects; of other local sizes, what it expects at the launch's own.

    Args:
        benchmark: the kernel.
        device: where it runs; of one that the model knows nothing of, it expects the same of all variants.
        own: the launch's local size.
    """
    prior = model_prior(benchmark, device)
    known: dict[Variant, float] = {}

    def expected(variant: Variant) -> float:
        if prior is None:
            return 0.0
        at_own = replace(variant, local_size=own)
        if at_own not in known:
            known[at_own] = prior(at_own)
        return known[at_own]

    return expected
