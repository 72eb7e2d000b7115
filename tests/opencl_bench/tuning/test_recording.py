"""A launch of a program becomes a workload that a sweep takes."""

from __future__ import annotations

import ctypes
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pyopencl
import pyopencl.array
import pytest

from coarsen.devices.discovery import DeviceDescription, describe_device
from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.sweep.several import sweep
from coarsen.opencl_bench.workloads.lookup import find_benchmark
from coarsen.tuning.engine.plan import Space, SweepPlan
from coarsen.tuning.measure.comparison import compare
from coarsen.tuning.records.measurement import Invalidity, Role
from coarsen.tuning.store.database import open_store
from coarsen.tuning.workload.benchmark import (
    BufferArgument,
    LocalArgument,
    NullArgument,
    ScalarArgument,
)
from coarsen.tuning.workload.captured_benchmark import UNREAD_BYTE
from coarsen.tuning.workload.captured_launch import CapturedBuffer, CapturedLaunch
from coarsen.tuning.workload.launch_list import (
    PassedBuffer,
    PassedScalar,
    PassedShared,
)
from tests.captured_files import captured_of, written_capture
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
    return captured_of(SOURCE, "blend", queue, (COUNT,), (64,), arguments)


def test_the_workload_is_the_launch(queue: pyopencl.CommandQueue, tmp_path: Path) -> None:
    path = written_capture(captured(queue), tmp_path / "captured", "blend_0")
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
    path = written_capture(captured(queue), tmp_path / "captured", "blend_0")
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
        written_capture(captured(queue, **changes), tmp_path / "captured", "blend_0")
    assert message in str(caught.value)
    assert not [*tmp_path.glob("captured/*")]


COPY = "kernel void copy(global int *out, global const int *in) { out[get_global_id(0)] += in[get_global_id(0)]; }"


def copied(queue: pyopencl.CommandQueue, *arguments: Any, **options: Any) -> CapturedLaunch:  # noqa: ANN401
    return captured_of(COPY, "copy", queue, (16,), (16,), arguments, **options)


def counted(queue: pyopencl.CommandQueue) -> pyopencl.Buffer:
    """A buffer of the numbers from 0 to 8191."""
    flags = pyopencl.mem_flags.READ_WRITE | pyopencl.mem_flags.COPY_HOST_PTR
    return pyopencl.Buffer(queue.context, flags, hostbuf=np.arange(8192, dtype=np.int32))


def part(whole: pyopencl.Buffer, start: int, count: int) -> pyopencl.Buffer:
    """A part of a buffer; its first number and how many it has, both times 1024."""
    return whole.get_sub_region(4096 * start, 4096 * count)


def test_one_buffer_given_twice_is_one_buffer(queue: pyopencl.CommandQueue, tmp_path: Path) -> None:
    whole, other = counted(queue), counted(queue)
    own = part(whole, 1, 1)
    for index, arguments in enumerate([(own, own), (own, part(other, 1, 1))]):
        launch = copied(queue, *arguments)
        workload = find_benchmark(written_capture(launch, tmp_path, f"copy_{index}")).workload("cpu")
        assert list(workload.buffers) == (["out"] if index == 0 else ["out", "in"])
        assert np.array_equal(workload.buffers["out"], np.arange(1024, 2048))
        assert len(workload.launches[0].arguments) == 2
    assert copied(queue, own, part(whole, 1, 1)).arguments[1] == PassedShared(0)
    assert copied(queue, whole, whole).arguments[1] == PassedShared(0)


def test_a_buffer_given_twice_is_made_of_whole_elements(tmp_path: Path) -> None:
    source = "kernel void f(global float4 *in, global float *out) { out[get_global_id(0)] = in[0].x; }"
    for byte_count, is_right in ((64, True), (72, False)):
        arguments = (CapturedBuffer(np.zeros(byte_count, np.uint8)), PassedShared(0))
        launch = CapturedLaunch(source, (), "f", (16,), (16,), arguments)
        if is_right:
            assert find_benchmark(written_capture(launch, tmp_path, "f")).workload("cpu").outputs == ("in",)
            continue
        with pytest.raises(InvalidInputError, match="'in' is given twice, and its 72 bytes are no whole number"):
            written_capture(launch, tmp_path, "f")


class Point(ctypes.Structure):
    """A structure of ctypes, as PyOpenCL takes it."""

    _fields_ = (("x", ctypes.c_int), ("y", ctypes.c_double))


def test_values_of_ctypes(queue: pyopencl.CommandQueue) -> None:
    content = bytes(Point(3, 0.5))
    launch = copied(queue, counted(queue), Point(3, 0.5))
    assert (len(content), launch.arguments[1]) == (16, PassedScalar(content))


def test_parts_of_one_buffer(queue: pyopencl.CommandQueue, tmp_path: Path) -> None:
    whole = counted(queue)
    path = written_capture(copied(queue, part(whole, 0, 1), part(whole, 1, 2)), tmp_path, "copy")
    buffers = find_benchmark(path).workload("cpu").buffers
    assert np.array_equal(buffers["out"], np.arange(1024))
    assert np.array_equal(buffers["in"], np.arange(1024, 3072))
    for one, other in (
        (part(whole, 0, 2), part(whole, 1, 2)),
        (part(whole, 0, 1), part(whole, 0, 2)),
        (part(whole, 4, 1), whole),
    ):
        with pytest.raises(InvalidInputError, match="arguments 0 and 1 are parts of one buffer that overlap"):
            copied(queue, one, other)


def test_a_part_of_a_buffer_that_was_released(queue: pyopencl.CommandQueue) -> None:
    own = part(counted(queue), 1, 1)
    try:
        launch = copied(queue, own, own)
    except InvalidInputError as error:
        # On Intel's runtime.
        assert "argument 0 can't be captured: it is part of a buffer that was released" in str(error)
    else:
        assert launch.arguments[1] == PassedShared(0)


@pytest.mark.compiled_devices  # Oclgrind has none
def test_shared_virtual_memory(queue: pyopencl.CommandQueue, tmp_path: Path) -> None:
    flags = pyopencl.svm_mem_flags.READ_WRITE
    memory = pyopencl.SVMAllocation(queue.context, 64, 0, flags, queue=queue)
    pyopencl.enqueue_copy(queue, memory, np.arange(16, dtype=np.int32))
    empty: Any = pyopencl.csvm_empty  # PyOpenCL's annotation of it asks for a structure
    array: Any = pyopencl.SVM(empty(queue.context, 32, np.int32))
    with array.map_rw(queue) as mapped:
        mapped[:] = np.arange(32)
    path = written_capture(copied(queue, memory, array), tmp_path, "copy")
    buffers = find_benchmark(path).workload("cpu").buffers
    assert np.array_equal(buffers["out"], np.arange(16))
    assert np.array_equal(buffers["in"], np.arange(32))
    assert copied(queue, memory, memory).arguments[1] == PassedShared(0)


def test_how_much_may_be_captured(queue: pyopencl.CommandQueue) -> None:
    whole = counted(queue)
    one, other = part(whole, 0, 1), part(whole, 1, 1)
    copied(queue, one, one, most_bytes=4096)
    with pytest.raises(
        InvalidInputError, match=r"its buffers and images have 0\.0 MiB, and at most 0\.0 MiB may be captured"
    ):
        copied(queue, one, other, most_bytes=8191)
    with pytest.raises(InvalidInputError, match="the global offset must have 1 numbers"):
        copied(queue, one, other, global_offset=(0, 0))


PARTICLES = """\
typedef struct { int cell; float3 place; char kind; } Particle;
typedef struct { float step; short scale; } Settings;
kernel void move(global Particle *now, global Particle *before, global const int *cells, Settings settings)
{
    size_t item = get_global_id(0);
    Particle moved = before[item];
    moved.place += settings.step * settings.scale;
    moved.cell = cells ? cells[item] : moved.cell + 1;
    now[item] = moved;
}
"""
PARTICLE = np.dtype(
    {
        "names": ["cell", "place", "kind"],
        "formats": [np.int32, (np.float32, (3,)), np.int8],
        "offsets": [0, 16, 32],
        "itemsize": 48,
    }
)
SETTINGS = np.dtype({"names": ["step", "scale"], "formats": [np.float32, np.int16], "itemsize": 8})


def test_a_sweep_takes_structures_and_null_pointers_and_an_offset(
    device: DeviceDescription, queue: pyopencl.CommandQueue, tmp_path: Path
) -> None:
    particles = np.zeros(160, PARTICLE)
    particles["place"] = np.random.default_rng(0).random((160, 3))
    flags = pyopencl.mem_flags.READ_WRITE | pyopencl.mem_flags.COPY_HOST_PTR
    buffer = pyopencl.Buffer(queue.context, flags, hostbuf=particles)
    arguments = (buffer, buffer, None, np.array((0.25, 2), SETTINGS)[()])
    launch = captured_of(PARTICLES, "move", queue, (128,), (32,), arguments, global_offset=(16,))
    path = written_capture(launch, tmp_path / "captured", "move")
    workload = find_benchmark(path).workload("cpu")
    assert workload.launches[0].global_offset == (16,)
    assert workload.launches[0].arguments[:3] == (BufferArgument("now"), BufferArgument("now"), NullArgument())
    assert np.array_equal(workload.buffers["now"]["f1"], particles["place"])
    space = Space(factors=(1, 2), strides=(1,))
    plan = SweepPlan(path, str(device).split()[0], "cpu", space=space, method=METHOD, confirms=False)
    with open_store(str(tmp_path / "results.sqlite")) as store:
        rows = sweep(plan, store).rows
    assert [row.candidate.factor for row in rows if row.role is Role.COMPARISON] == [1, 2]
    assert {row.invalidity for row in rows} == {Invalidity.CORRECT}


@pytest.mark.parametrize("number", [np.inf, -np.inf, np.nan, 1e-45, 0.1, -0.0])
def test_every_float_is_kept(number: float, tmp_path: Path) -> None:
    source = "kernel void fill(global float *out, float value) { out[get_global_id(0)] = value; }"
    given = np.float32(number)
    arguments = (CapturedBuffer(np.zeros(64, np.uint8)), PassedScalar(given.tobytes()))
    path = written_capture(CapturedLaunch(source, (), "fill", (16,), (16,), arguments), tmp_path, "fill")
    (launch,) = find_benchmark(path).workload("cpu").launches
    (value,) = (each.value for each in launch.arguments if isinstance(each, ScalarArgument))
    assert value.tobytes() == given.tobytes()


def test_contents_are_written_from_where_they_are(tmp_path: Path) -> None:
    content = np.zeros(96 << 20, np.uint8)
    arguments = (CapturedBuffer(content), PassedShared(0))
    launch = CapturedLaunch(COPY, (), "copy", (16,), (16,), arguments)
    tracemalloc.start()
    try:
        written_capture(launch, tmp_path, "copy")
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < content.nbytes // 2
    assert (tmp_path / "copy.npz").stat().st_size > content.nbytes


def test_what_no_workload_has(tmp_path: Path) -> None:
    source = "kernel void f(global int *out, read_only image1d_buffer_t in) { out[0] = get_image_width(in); }"
    arguments = (CapturedBuffer(np.zeros(64, np.uint8)), NullArgument())
    with pytest.raises(InvalidInputError, match="its parameter 'in' is of type image1d_buffer_t"):
        written_capture(CapturedLaunch(source, (), "f", (16,), (16,), arguments), tmp_path, "f")
    launch = CapturedLaunch(
        "kernel void g(local int *x) { x[0] = 1; }", (), "g", (16,), (16,), (LocalArgument(64),)
    )
    with pytest.raises(InvalidInputError, match="has no buffer and no image that it may write"):
        written_capture(launch, tmp_path, "g")
    assert list(tmp_path.iterdir()) == []


def test_what_the_kernel_writes_alone_is_a_pattern(queue: pyopencl.CommandQueue, tmp_path: Path) -> None:
    source = """\
typedef struct { int number; float weight; } Pair;
kernel void f(global float *a, global const float *b, global uchar4 *c, global Pair *pairs)
{
    size_t item = get_global_id(0);
    a[item] = b[item];
    c[item] = (uchar4)(7);
    pairs[item].weight = 1.0f;
}
"""
    content = np.full(64, 7, np.float32)
    arguments = [pyopencl.array.to_device(queue, content).data for _ in range(4)]
    for path_of in (0, 1):
        given = [arguments[0], arguments[path_of], *arguments[2:]]  # the second time, all that is read is written
        launch = captured_of(source, "f", queue, (16,), (16,), given)
        buffers = find_benchmark(written_capture(launch, tmp_path, f"f{path_of}")).workload("cpu").buffers
        assert (set(buffers["a"].view(np.uint8).tolist()) == {UNREAD_BYTE}) == (path_of == 1)
        assert set(buffers["c"].reshape(-1).tolist()) == {UNREAD_BYTE}
        assert set(buffers["pairs"].view(np.uint8).tolist()) == {UNREAD_BYTE}
    assert np.array_equal(buffers["b"], content)
    assert isinstance(launch.arguments[0], PassedBuffer)
    # The launch had been made before: that its results are there already hides no variant that writes nothing.
    workload = find_benchmark(tmp_path / "f1.npz").workload("cpu")
    assert compare(workload.buffers, {**workload.buffers, "a": content}, workload) != []
    plan = SweepPlan(
        tmp_path / "f1.npz",
        str(describe_device(queue.device)).split()[0],
        "cpu",
        space=Space(factors=(1, 2), strides=(1,)),
        method=METHOD,
        confirms=False,
    )
    with open_store(str(tmp_path / "results.sqlite")) as store:
        rows = sweep(plan, store).rows
    assert {row.invalidity for row in rows} == {Invalidity.CORRECT}


def test_whatever_may_be_written_is_compared(tmp_path: Path) -> None:
    source = """\
kernel void f(global float *a, global const float *b, global const float *c, constant float *d, global float *e,
              global const float *in)
{
    size_t item = get_global_id(0);
    global float *rows[2] = {a, (global float *)b};
    rows[item & 1][item] = vload4(item, in).x + d[0];
    global float *hidden = (global float *)(((ulong)c + 3) & ~(ulong)3);
    hidden[item] = e[item];
}
"""
    arguments = tuple(CapturedBuffer(np.zeros(64, np.float32).view(np.uint8)) for _ in range(6))
    path = written_capture(CapturedLaunch(source, (), "f", (16,), (16,), arguments), tmp_path, "f")
    assert find_benchmark(path).workload("cpu").outputs == ("a", "b", "c")


def test_a_small_mistake_in_a_large_captured_buffer_is_found(tmp_path: Path) -> None:
    source = "kernel void f(global float *a) { a[get_global_id(0)] += 1.0f; }"
    content = np.random.default_rng(0).random(1 << 20, np.float32)
    launch = CapturedLaunch(source, (), "f", (1 << 20,), (64,), (CapturedBuffer(content.view(np.uint8)),))
    workload = find_benchmark(written_capture(launch, tmp_path, "f")).workload("cpu")
    wanted = content + np.float32(1)
    wrong = wanted.copy()
    wrong[777_777] *= np.float32(1.001)
    assert compare({"a": wanted}, {"a": wanted}, workload) == []
    assert "1 of 1048576 elements wrong" in compare({"a": wrong}, {"a": wanted}, workload)[0]


HALVES = """\
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
kernel void halves(global half *out, global const half *in, int count)
{
    half sum = 0;
    LOOP
        sum = sum * in[i] + (half)1;
    out[get_global_id(0)] = sum;
}
"""


@pytest.mark.parametrize(
    ("loop", "out", "roundings"),
    [
        ("for (int i = 0; i < 3; ++i)", "half", 6),
        ("for (int i = 0; i < 3000; ++i)", "half", 256),
        ("for (int i = 0; i < count; ++i)", "half", 64),
        ("for (int i = 0; i < 3; ++i)", "float", 256),
    ],
)
def test_halves_are_compared_by_what_their_code_rounds(
    loop: str, out: str, roundings: int, tmp_path: Path
) -> None:
    source = HALVES.replace("LOOP", loop).replace("global half *out", f"global {out} *out")
    numbers = CapturedBuffer(np.zeros(64, np.uint8))
    launch = CapturedLaunch(source, (), "halves", (16,), (16,), (numbers, numbers, PassedScalar(bytes(4))))
    workload = find_benchmark(written_capture(launch, tmp_path, "halves")).workload("test")
    assert workload.rounding_steps == roundings
