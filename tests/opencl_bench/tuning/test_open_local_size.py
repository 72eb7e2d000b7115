"""Launches that leave their local size to the implementation: captured, described, run and tuned so."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from coarsen.devices.discovery import DeviceDescription
from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.measure.cuda_launch import cuda_launch
from coarsen.opencl_bench.measure.machine import LaunchError, UndividedError
from coarsen.opencl_bench.measure.variant_launch import variant_launch
from coarsen.opencl_bench.records.measurement import Invalidity
from coarsen.opencl_bench.results.store.database import open_store
from coarsen.opencl_bench.sweep.engine import sweep
from coarsen.opencl_bench.sweep.plan import Space, SweepPlan
from coarsen.opencl_bench.sweep.points import DeviceLimits, points
from coarsen.opencl_bench.tuning.captured_tuning import tune_captured
from coarsen.opencl_bench.tuning.deadline import Deadline
from coarsen.opencl_bench.tuning.launch_space import other_local_sizes
from coarsen.opencl_bench.tuning.settings import Tune
from coarsen.opencl_bench.tuning.starting_points import starting_points
from coarsen.opencl_bench.workloads.benchmark import Benchmark
from coarsen.opencl_bench.workloads.described.captured import write_capture
from coarsen.opencl_bench.workloads.described.captured_launch import CapturedBuffer, CapturedLaunch
from coarsen.opencl_bench.workloads.lookup import find_benchmark
from coarsen.variant.coarsening import Coarsening, Level
from coarsen.variant.transforms import DEFAULT
from coarsen.variant.variant import Variant
from tests.opencl_bench.sweep.small_sweep import METHOD

SOURCE = "kernel void add(global float *sum) { sum[get_global_id(0)] += 1.0f; }"
LIMITS = DeviceLimits(1024, (1024, 1024, 64), 1 << 15)
MERGED = (Coarsening(4),)


def captured(local_size: tuple[int, ...] = (), count: int = 4096) -> CapturedLaunch:
    content = CapturedBuffer(np.arange(count, dtype=np.float32).view(np.uint8))
    return CapturedLaunch(SOURCE, (), "add", (count,), local_size, (content,))


@pytest.fixture
def described(tmp_path: Path) -> Path:
    """The path of the description of a launch that was captured."""
    return write_capture(captured(), tmp_path, "add")


@pytest.fixture
def benchmark(described: Path) -> Benchmark:
    return find_benchmark(described)


def test_the_description_leaves_it_open(described: Path, benchmark: Benchmark) -> None:
    assert 'local_size = "open"' in described.read_text()
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


def test_nothing_is_coarsened_at_it(benchmark: Benchmark) -> None:
    (launch,) = benchmark.launches("cpu")
    assert variant_launch(launch, Variant(), ()).local_size == ()
    for variant in (Variant((), MERGED), Variant((), MERGED, any_size=True)):
        with pytest.raises(UndividedError, match="the local size is left open"):
            variant_launch(launch, variant, ())
    space = Space(factors=(1, 4), strides=(1,), local_sizes=((), (64,)))
    violations = {point.candidate: point.violation for point in points(benchmark, "cpu", space, LIMITS)}
    assert violations == {
        Variant(): None,
        Variant((64,)): None,
        Variant((), MERGED): "the local size is left open",
        Variant((64,), MERGED): None,
    }


def test_without_opencl_there_is_none(benchmark: Benchmark) -> None:
    (launch,) = benchmark.launches("cpu")
    with pytest.raises(LaunchError, match="whose local size is left open"):
        cuda_launch(launch, lambda _name: 0)


def test_a_sweep_needs_one(device: DeviceDescription, described: Path, tmp_path: Path) -> None:
    name = str(device).split()[0]
    with open_store(str(tmp_path / "results.sqlite")) as store:
        with pytest.raises(InvalidInputError, match=r"its local size is left open; say which to try"):
            sweep(SweepPlan(described, name, "cpu", space=Space(factors=(1,)), method=METHOD), store)
        space = Space(factors=(1, 4), strides=(1,), local_sizes=((64,),))
        rows = sweep(SweepPlan(described, name, "cpu", space=space, method=METHOD, confirms=False), store).rows
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
    assert found.choice == Variant() or found.choice.local_size
    assert found.wrong == ()


@pytest.mark.parametrize(
    ("groups_matter", "count", "allowed", "reason"),
    [
        (True, 4096, True, "its work-items must be grouped as they are"),
        (False, 4099, True, "none that is usual divides its global size"),
        (False, 4096, False, "no other is allowed"),
    ],
)
def test_no_other_local_size_means_nothing_to_tune(
    groups_matter: bool, count: int, allowed: bool, reason: str, working_devices: tuple[DeviceDescription, ...]
) -> None:
    settings = Tune(seconds=100, local_sizes=allowed)
    with pytest.raises(InvalidInputError) as caught:
        tune_captured(captured(count=count), working_devices[0], DEFAULT, groups_matter, settings, Deadline(100))
    assert str(caught.value) == (
        f"its local size is left to the driver, and {reason}: give a local size to have it tuned"
    )
