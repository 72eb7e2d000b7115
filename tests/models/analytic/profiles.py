"""A profile of a device that is nowhere, small and with all that a profile can hold."""

from __future__ import annotations

from types import MappingProxyType

from coarsen.models.analytic.machine import (
    FLOAT,
    DeviceProfile,
    IssueRate,
    LaunchCosts,
    MemoryLevel,
    Point,
    Quantity,
    Source,
)

PROFILE = DeviceProfile(
    name="nowhere",
    device="Nowhere 100",
    is_gpu=True,
    source=Source("measured", "2026-11-22", "made up"),
    compute_units=4,
    simd_width=32,
    local_memory=48 << 10,
    sector_bytes=32,
    bandwidth=(Point(32768.0, 4e11, 0.01), Point(65536.0, 1e11, None)),
    latency=(Point(32768.0, 1e-7, 0.02),),
    levels=(MemoryLevel(4e11, 1e-7, 32768.0), MemoryLevel(1e11)),
    local_bandwidth=Quantity(1e12, 0.05),
    rates=MappingProxyType({FLOAT: IssueRate(Quantity(1e12, 0.01), Quantity(4e-9), (Point(1.0, 1e12),))}),
    launch=LaunchCosts(barrier=Quantity(1e-8)),
)
