"""The models of GPUs and CPUs: what must make a launch longer does, and what lacks numbers says so."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import MappingProxyType

import pytest

from coarsen.cost.work_counts import InstructionClass, LaunchSizes
from coarsen.errors import InvalidInputError
from coarsen.models.analytic.estimate import Estimate, bandwidth_at, cpu, gpu, vectorises
from coarsen.models.analytic.machine import (
    FLOAT,
    FLOAT_VECTOR,
    SHIPPED,
    IssueRate,
    LaunchCosts,
    MemoryLevel,
    Point,
    Quantity,
    shipped_profile,
)
from tests.models.analytic.profiles import PROFILE
from tests.models.analytic.test_pieces import ACCESS, WORK

LAUNCH = LaunchSizes((1 << 22, 1, 1), (256, 1, 1))
CORES = replace(
    PROFILE,
    is_gpu=False,
    compute_units=2,
    simd_width=16,
    sector_bytes=64,
    private_bandwidth=(Point(65536.0, 4e11), Point(2.0**28, 2e10)),
    rates=MappingProxyType({FLOAT: IssueRate(Quantity(1e11)), FLOAT_VECTOR: IssueRate(Quantity(1.2e11))}),
    launch=LaunchCosts(event=Quantity(1e-6), group=Quantity(1e-7), barrier_item=Quantity(1e-9)),
)


@pytest.mark.parametrize(("model", "machine"), [(gpu, PROFILE), (cpu, CORES)])
def test_more_work_takes_longer(model: Callable[..., Estimate], machine: object) -> None:
    assert machine is PROFILE or machine is CORES
    profile = PROFILE if machine is PROFILE else CORES
    before = model(WORK, LAUNCH, profile).seconds
    more = replace(WORK, instructions={InstructionClass.FLOAT: 10_000.0})
    assert model(more, LAUNCH, profile).seconds > before > 0
    wider = LaunchSizes((1 << 24, 1, 1), (256, 1, 1))
    assert model(WORK, wider, profile).seconds == pytest.approx(4 * before, rel=0.1)


def test_scattered_accesses_take_longer() -> None:
    apart = replace(WORK, accesses=(replace(ACCESS, lane_stride=None),))
    assert gpu(apart, LAUNCH, PROFILE).seconds > gpu(WORK, LAUNCH, PROFILE).seconds


def test_a_gpu_is_bound_by_what_takes_longest() -> None:
    assert gpu(WORK, LAUNCH, PROFILE).bound == "memory"
    assert gpu(replace(WORK, instructions={InstructionClass.FLOAT: 1e5}), LAUNCH, PROFILE).bound == "compute"
    chained = replace(WORK, chain_accesses=10_000)
    assert gpu(chained, LaunchSizes((32, 1, 1), (32, 1, 1)), PROFILE).bound == "latency"


def test_a_wave_that_is_not_full_takes_as_long_as_one_that_is() -> None:
    busy = replace(WORK, accesses=(), instructions={InstructionClass.FLOAT: 1e5})
    seconds = [gpu(busy, LaunchSizes((256 * n, 1, 1), (256, 1, 1)), PROFILE).seconds for n in (33, 64, 65)]
    assert seconds[0] == pytest.approx(seconds[1]) and seconds[2] == pytest.approx(1.5 * seconds[1])


def test_data_in_a_cache_is_faster() -> None:
    near, far = (replace(WORK, accesses=(replace(ACCESS, footprint=f),)) for f in (32768.0, 2.0**30))
    assert gpu(near, LAUNCH, PROFILE).seconds < gpu(far, LAUNCH, PROFILE).seconds
    assert cpu(near, LAUNCH, CORES).parts["memory"] < cpu(far, LAUNCH, CORES).parts["memory"]


def test_a_runtime_that_vectorises_needs_a_vectors_work_items() -> None:
    assert vectorises(CORES)
    wide, narrow = (LaunchSizes((1 << 14, 64, 1), local) for local in ((16, 16, 1), (8, 32, 1)))
    busy = replace(WORK, accesses=())
    ratio = cpu(busy, narrow, CORES).parts["compute"] / cpu(busy, wide, CORES).parts["compute"]
    assert ratio == pytest.approx(2)
    scalar = replace(CORES, rates=MappingProxyType({**CORES.rates, FLOAT: IssueRate(Quantity(7.5e9))}))
    assert not vectorises(scalar)
    assert cpu(busy, narrow, scalar).parts["compute"] == pytest.approx(cpu(busy, wide, scalar).parts["compute"])


def test_barriers_and_groups_cost_a_cpu_time() -> None:
    assert cpu(replace(WORK, barriers=4), LAUNCH, CORES).parts["groups"] > cpu(WORK, LAUNCH, CORES).parts["groups"]


def test_what_a_profile_lacks_is_said() -> None:
    bare = replace(PROFILE, rates=MappingProxyType({}))
    with pytest.raises(InvalidInputError, match="'nowhere' has no rate of operations"):
        gpu(WORK, LAUNCH, bare)
    with pytest.raises(InvalidInputError, match="has no bandwidth"):
        bandwidth_at(replace(PROFILE, bandwidth=(), levels=()), 1.0)


def test_a_level_holds_footprints_up_to_its_size() -> None:
    levels = replace(PROFILE, bandwidth=(), levels=(MemoryLevel(4e11, bytes=1024.0), MemoryLevel(1e11)))
    assert [bandwidth_at(levels, at) for at in (10.0, 1024.0, 1025.0, None)] == [4e11, 4e11, 1e11, 1e11]


@pytest.mark.parametrize("name", sorted(path.stem for path in SHIPPED.glob("*.json")))
def test_every_shipped_profile_serves_the_models_of_its_kind(name: str) -> None:
    machine = shipped_profile(name)
    assert machine is not None
    model = gpu if machine.is_gpu else cpu
    assert 0 < model(WORK, LAUNCH, machine).seconds < 10
