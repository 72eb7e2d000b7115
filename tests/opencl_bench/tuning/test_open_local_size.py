"""Launches that leave their local size to the implementation: captured, described, run and tuned so."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from coarsen.devices.discovery import DeviceDescription
from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.sweep.several import sweep
from coarsen.opencl_bench.workloads.lookup import find_benchmark
from coarsen.tuning.captured_tuning import tune_captured
from coarsen.tuning.engine.plan import DeviceLimits, Space, SweepPlan, points
from coarsen.tuning.launch_space import (
    launch_space,
    may_need_guard,
    other_local_sizes,
    starting_points,
)
from coarsen.tuning.measure.machine import UndividedError
from coarsen.tuning.measure.variant_launch import needs_guard, variant_launch
from coarsen.tuning.progress import Deadline
from coarsen.tuning.records.measurement import Invalidity
from coarsen.tuning.settings import Tune
from coarsen.tuning.store.database import open_store
from coarsen.tuning.workload.benchmark import Benchmark, Launch
from coarsen.tuning.workload.captured_launch import CapturedBuffer, CapturedLaunch
from coarsen.variant.coarsening import Coarsening, Level
from coarsen.variant.transforms import DEFAULT
from coarsen.variant.variant import Variant
from tests.captured_files import written_capture
from tests.opencl_bench.sweep.small_sweep import METHOD

SOURCE = "kernel void add(global float *sum) { sum[get_global_id(0)] += 1.0f; }"
DESCRIPTION = """\
file = "add.cl"
kernel = "add"
outputs = ["sum"]

[ndrange]
global_size = [4096]
local_size = "open"

[sizes.test]
[sizes.cpu]

[[arguments]]
name = "sum"
buffer = "float"
elements = 4096
values = "uniform(0, 1)"
"""
LIMITS = DeviceLimits(1024, (1024, 1024, 64), 1 << 15)
MERGED, STRIDED = (Coarsening(4),), (Coarsening(4, stride=32),)


def captured(local_size: tuple[int, ...] = (), count: int = 4096) -> CapturedLaunch:
    content = CapturedBuffer(np.arange(count, dtype=np.float32).view(np.uint8))
    return CapturedLaunch(SOURCE, (), "add", (count,), local_size, (content,))


@pytest.fixture
def described(tmp_path: Path) -> Path:
    """The path of a description whose launch leaves the local size open."""
    (tmp_path / "add.cl").write_text(SOURCE)
    (tmp_path / "add.toml").write_text(DESCRIPTION)
    return tmp_path / "add.toml"


@pytest.fixture(params=["described", "recorded"])
def file(request: pytest.FixtureRequest, described: Path, tmp_path: Path) -> Path:
    """The path of a description, and of a launch that was recorded."""
    return described if request.param == "described" else written_capture(captured(), tmp_path, "add")


@pytest.fixture
def benchmark(file: Path) -> Benchmark:
    return find_benchmark(file)


def test_it_is_left_open(benchmark: Benchmark) -> None:
    assert benchmark.local_sizes_of("cpu") == ((),)
    assert [launch.local_size for launch in benchmark.launches("cpu")] == [()]
    assert [launch.local_size for launch in benchmark.workload("cpu", local_size=(64,)).launches] == [(64,)]
    for wrong in ((64, 1), (0,)):
        with pytest.raises(InvalidInputError, match="a local size is 1 positive numbers"):
            benchmark.launches("cpu", wrong)


def test_an_open_local_size_has_no_extents(described: Path) -> None:
    text = described.read_text().replace("global_size = [4096]", 'global_size = ["local_size_0 * 64"]')
    described.write_text(text)
    with pytest.raises(InvalidInputError, match="there is no 'local_size_0'"):
        find_benchmark(described)


def test_the_driver_chooses_one_for_coarsened_work_items(benchmark: Benchmark) -> None:
    (launch,) = benchmark.launches("cpu")
    assert variant_launch(launch, Variant(), ()).local_size == ()
    divided = variant_launch(launch, Variant((), MERGED), ())
    assert (divided.global_size, divided.local_size) == ((1024,), ())
    guarded = variant_launch(launch, Variant((), (Coarsening(3),), any_size=True), ())
    assert guarded.global_size[0] >= 4096 / 3 and guarded.local_size == ()
    with pytest.raises(UndividedError, match="the factor 3 does not divide 4096 along 0"):
        variant_launch(launch, Variant((), (Coarsening(3),)), ())


def test_neither_work_groups_nor_strides_do_without_one(benchmark: Benchmark) -> None:
    (launch,) = benchmark.launches("cpu")
    for coarsening in (Coarsening(4, level=Level.GROUP), Coarsening(4, stride=32)):
        for any_size in (False, True):
            with pytest.raises(UndividedError, match="the local size is left open"):
                variant_launch(launch, Variant((), (coarsening,), any_size=any_size), ())
    space = Space(factors=(1, 4), strides=(1, 32), local_sizes=((), (64,)))
    violations = {point.candidate: point.violation for point in points(benchmark, "cpu", space, LIMITS)}
    assert violations == {
        Variant(): None,
        Variant((64,)): None,
        Variant((), MERGED): None,
        Variant((), STRIDED): "the local size is left open",
        Variant((64,), MERGED): None,
        Variant((64,), STRIDED): "the stride 32 does not divide the coarsened local size 16 along 0",
    }


def test_a_sweep_needs_one(device: DeviceDescription, file: Path, tmp_path: Path) -> None:
    name = str(device).split()[0]
    with open_store(str(tmp_path / "results.sqlite")) as store:
        with pytest.raises(InvalidInputError, match=r"its local size is left open; say which to try"):
            sweep(SweepPlan(file, name, "cpu", space=Space(factors=(1,)), method=METHOD), store)
        space = Space(factors=(1, 4), strides=(1,), local_sizes=((64,),))
        rows = sweep(SweepPlan(file, name, "cpu", space=space, method=METHOD, confirms=False), store).rows
    assert {row.invalidity for row in rows} == {Invalidity.CORRECT}


def test_usual_local_sizes_are_tried() -> None:
    assert other_local_sizes((4096,), (), LIMITS) == ((256,), (128,), (512,), (64,), (1024,))
    flat, *others = other_local_sizes((4096, 4096), (), LIMITS)
    assert flat == (256, 1)
    assert len(others) == 6
    assert other_local_sizes((4099,), (), LIMITS) == ()


def test_the_search_coarsens_at_the_first_that_is_given() -> None:
    starts = list(starting_points(((), (256,), (128,)), (0,), (Level.ITEM,), (1,), DEFAULT, lambda variant: True))
    assert starts == [Variant(), Variant((256,), MERGED), Variant((256,))]


@pytest.mark.compiled_devices
def test_it_is_tuned_against_the_launch_that_leaves_it_open(device: DeviceDescription) -> None:
    settings = Tune(seconds=100, trials=4)
    found = tune_captured(captured(), device, DEFAULT, False, settings, Deadline(settings.seconds))
    assert (found.local_size, found.global_size, found.trials, found.failed) == (None, (4096,), 4, 0)
    assert found.wrong == ()


IN_ROWS = """
kernel void add(global float *sum)
{
    size_t row = get_global_id(1) + get_global_size(1) * get_global_id(2);
    sum[get_global_id(0) + get_global_size(0) * row] += 1.0f;
}
"""


@pytest.mark.compiled_devices
@pytest.mark.parametrize("extents", [(512, 512), (74, 73), (4099,), (16, 8, 9)])
def test_launches_of_any_dimensions_and_sizes_are_tuned_without_one(
    device: DeviceDescription, extents: tuple[int, ...]
) -> None:
    content = CapturedBuffer(np.arange(math.prod(extents), dtype=np.float32).view(np.uint8))
    launch = CapturedLaunch(IN_ROWS, (), "add", extents, (), (content,))
    # One trial more than the search has to begin with: the model is asked.
    settings = Tune(seconds=200, trials=8, levels=("item",))
    found = tune_captured(launch, device, DEFAULT, False, settings, Deadline(settings.seconds))
    assert (found.local_size, found.wrong, found.failed) == (None, (), 0)
    assert found.trials == 8


@pytest.mark.compiled_devices
def test_sizes_that_do_not_divide_are_tuned_with_a_guard(device: DeviceDescription) -> None:
    starts = starting_points(((13,),), (0,), (Level.ITEM,), (1,), DEFAULT, lambda each: each.any_size)
    assert Variant((13,), MERGED, any_size=True) in list(starts)
    settings = Tune(seconds=200, trials=4, local_sizes=False, levels=("item",), wide_accesses=False)
    launch = captured((13,), 13 * 97)
    space = launch_space((13,), (), DEFAULT, settings, has_guarded=may_need_guard([launch.global_size]))
    assert space.transforms.any_size == (False, True)
    found = tune_captured(launch, device, DEFAULT, False, settings, Deadline(settings.seconds))
    assert (found.trials, found.failed, found.wrong) == (4, 0, ())


def test_a_guard_is_no_choice_where_the_sizes_divide() -> None:
    assert not may_need_guard([(512, 512), (64,), (128, 1)])
    assert may_need_guard([(512, 510)])
    launch = Launch("add", (510,), (2,), ())
    assert needs_guard(launch, Variant((2,), MERGED, any_size=True))
    assert not needs_guard(launch, Variant((2,), (Coarsening(2),), any_size=True))
    assert not needs_guard(Launch("add", (3,), (), ()), Variant((), (Coarsening(4, dimension=1),), any_size=True))


def test_a_kernel_that_looks_at_its_groups_needs_a_local_size(
    working_devices: tuple[DeviceDescription, ...],
) -> None:
    with pytest.raises(InvalidInputError) as caught:
        tune_captured(captured(), working_devices[0], DEFAULT, True, Tune(seconds=100), Deadline(100))
    assert str(caught.value) == (
        "its local size is left to the driver, and its work-items must be grouped as they are: give a local size "
        "to have it tuned"
    )
