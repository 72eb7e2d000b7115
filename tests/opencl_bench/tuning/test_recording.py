"""A launch of a program becomes a workload that a sweep takes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyopencl
import pyopencl.array
import pytest

from coarsen.devices.discovery import DeviceDescription
from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.records.measurement import Invalidity, Role
from coarsen.opencl_bench.results.store.database import open_store
from coarsen.opencl_bench.sweep.engine import sweep
from coarsen.opencl_bench.sweep.plan import Space, SweepPlan
from coarsen.opencl_bench.tuning.recording import ProgramText, captured_launch
from coarsen.opencl_bench.workloads.benchmark import LocalArgument, ScalarArgument
from coarsen.opencl_bench.workloads.described.captured import (
    CapturedBuffer,
    CapturedLaunch,
    CapturedLocal,
    CapturedScalar,
    write_capture,
)
from coarsen.opencl_bench.workloads.lookup import find_benchmark
from tests.opencl_bench.sweep.small_sweep import METHOD

SOURCE = """\
kernel void blend(global float *out, global const float4 *in, constant uchar *shift, local float *scratch,
                  float factor, ulong count, int2 offset)
{
    size_t item = get_global_id(0);
    scratch[get_local_id(0)] = item < count ? in[item].y * factor : -1.0f;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[item] += scratch[get_local_id(0)] + shift[item % 5] + offset.x - offset.y;
}
"""
COUNT = 256


def captured(queue: pyopencl.CommandQueue, **changes: Any) -> CapturedLaunch:  # noqa: ANN401 (arguments)
    generator = np.random.default_rng(0)
    values = {
        "out": pyopencl.array.to_device(queue, np.linspace(0, 1, COUNT, dtype=np.float32)),
        "in": pyopencl.array.to_device(queue, generator.random((COUNT, 4), np.float32)),
        "shift": pyopencl.array.to_device(queue, np.arange(5, dtype=np.uint8)),
        "scratch": pyopencl.LocalMemory(4 * 64),
        "factor": np.float32(0.1),
        "count": np.uint64(200),
        "offset": np.array([7, -3], np.int32),
        **changes,
    }
    arguments = [each.data if isinstance(each, pyopencl.array.Array) else each for each in values.values()]
    return captured_launch(ProgramText(SOURCE), "blend", queue, (COUNT,), (64,), arguments)


def test_the_workload_is_the_launch(queue: pyopencl.CommandQueue, tmp_path: Path) -> None:
    path = write_capture(captured(queue), tmp_path / "captured", "blend_0")
    benchmark = find_benchmark(path)
    assert (benchmark.name, benchmark.kernel) == ("blend_0", "blend")
    workload = benchmark.workload("cpu", seed=3)
    (launch,) = workload.launches
    assert (launch.global_size, launch.local_size, workload.outputs) == ((COUNT,), (64,), ("out",))
    assert np.array_equal(workload.buffers["out"], np.linspace(0, 1, COUNT, dtype=np.float32))
    assert workload.buffers["in"].shape == (COUNT, 4)
    assert list(workload.buffers["shift"]) == [0, 1, 2, 3, 4]
    scalars = [each.value.tobytes() for each in launch.arguments if isinstance(each, ScalarArgument)]
    assert scalars == [np.float32(0.1).tobytes(), np.uint64(200).tobytes(), np.array([7, -3], np.int32).tobytes()]
    assert LocalArgument(256) in launch.arguments


def test_a_sweep_takes_it(device: DeviceDescription, queue: pyopencl.CommandQueue, tmp_path: Path) -> None:
    path = write_capture(captured(queue), tmp_path / "captured", "blend_0")
    space = Space(factors=(1, 2, 4), strides=(1,))
    plan = SweepPlan(path, str(device).split()[0], "cpu", space=space, method=METHOD, confirms=False)
    with open_store(str(tmp_path / "results.sqlite")) as store:
        rows = sweep(plan, store).rows
    compared = [row for row in rows if row.role is Role.COMPARISON]
    assert [row.candidate.factor for row in compared] == [1, 2, 4]
    assert {row.invalidity for row in rows} == {Invalidity.CORRECT}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"factor": 0.1}, "argument 4 is of type float, which can't be captured"),
        ({"factor": np.float64(0.1)}, "'factor' is of type float, of 4 bytes, and 8 were given"),
        ({"in": np.float32(1)}, "'in' is a buffer, not a scalar"),
    ],
)
def test_what_can_not_be_captured(
    changes: dict[str, Any], message: str, queue: pyopencl.CommandQueue, tmp_path: Path
) -> None:
    with pytest.raises(InvalidInputError) as caught:
        write_capture(captured(queue, **changes), tmp_path / "captured", "blend_0")
    assert message in str(caught.value)
    assert not (tmp_path / "captured").exists()


def test_one_buffer_given_twice_is_refused(queue: pyopencl.CommandQueue) -> None:
    buffer = pyopencl.array.zeros(queue, 4 * COUNT, np.float32)
    with pytest.raises(InvalidInputError, match="is given one buffer twice"):
        captured(queue, **{"out": buffer, "in": buffer})
    whole = pyopencl.Buffer(queue.context, pyopencl.mem_flags.READ_WRITE, 32 * COUNT)
    parts = {"out": whole.get_sub_region(0, 4 * COUNT), "in": whole.get_sub_region(16 * COUNT, 16 * COUNT)}
    with pytest.raises(InvalidInputError, match="is given one buffer twice"):
        captured(queue, **parts)


@pytest.mark.parametrize("number", [np.inf, -np.inf, np.nan, 1e-45, 0.1, -0.0])
def test_every_float_is_kept(number: float, tmp_path: Path) -> None:
    source = "kernel void fill(global float *out, float value) { out[get_global_id(0)] = value; }"
    given = np.float32(number)
    arguments = (CapturedBuffer(np.zeros(64, np.uint8)), CapturedScalar(given.tobytes()))
    path = write_capture(CapturedLaunch(source, (), "fill", (16,), (16,), arguments), tmp_path, "fill")
    (launch,) = find_benchmark(path).workload("cpu").launches
    (value,) = (each.value for each in launch.arguments if isinstance(each, ScalarArgument))
    assert value.tobytes() == given.tobytes()


def test_a_structure_is_refused(tmp_path: Path) -> None:
    source = (
        "typedef struct { int a; float b; } Pair; kernel void f(global Pair *p) { p[get_global_id(0)].a = 1; }"
    )
    launch = CapturedLaunch(source, (), "f", (16,), (16,), (CapturedBuffer(np.zeros(128, np.uint8)),))
    with pytest.raises(InvalidInputError, match="its parameter 'p' is of type Pair"):
        write_capture(launch, tmp_path, "f")
    launch = CapturedLaunch(
        "kernel void g(local int *x) { x[0] = 1; }", (), "g", (16,), (16,), (CapturedLocal(64),)
    )
    with pytest.raises(InvalidInputError, match="has no buffer that it may write"):
        write_capture(launch, tmp_path, "g")
    assert list(tmp_path.iterdir()) == []
