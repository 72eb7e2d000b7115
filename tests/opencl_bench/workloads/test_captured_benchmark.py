"""A captured launch as a benchmark: the same workload as the description that is written for people."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.workloads.lookup import find_benchmark
from coarsen.tuning.workload.benchmark import Benchmark, LocalArgument, NullArgument, ScalarArgument, Workload
from coarsen.tuning.workload.captured_benchmark import PRESET, read_launch
from coarsen.tuning.workload.captured_launch import (
    CapturedArgument,
    CapturedBuffer,
    CapturedImage,
    CapturedLaunch,
    write_launch,
)
from coarsen.tuning.workload.element_types import Addressing, Filter, ImageFormat, SamplerArgument
from coarsen.tuning.workload.launch_list import (
    PassedBuffer,
    PassedScalar,
    PassedShared,
)
from tests.captured_files import written_capture


def buffer(count: int) -> CapturedBuffer:
    """A buffer of so many bytes."""
    return CapturedBuffer(np.random.default_rng(count).integers(0, 100, count, np.uint8))


SCALARS = """
typedef struct { char tag; float weight; } Node;
kernel void f(global float *out, global const float3 *in, local float *scratch, float factor, int2 offset,
              Node node)
{
    scratch[get_local_id(0)] = in[get_global_id(0)].y * factor * node.weight;
    out[get_global_id(0)] += scratch[get_local_id(0)] + offset.x;
}
"""
STRUCTURES = """
typedef struct { int number; double weight; char tag[3]; } Node;
kernel void f(global Node *nodes, global const float *weights, global Node *written, global const int *nothing)
{
    size_t item = get_global_id(0);
    nodes[item].weight += weights ? weights[item] : nothing ? 1 : 2;
    written[item].number = 3;
}
"""
IMAGES = """
kernel void f(read_only image2d_t source, write_only image2d_t target, sampler_t given)
{
    int2 here = (int2)(get_global_id(0), get_global_id(1));
    write_imagef(target, here, read_imagef(source, given, here));
}
"""
HALVES = """
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
kernel void f(global half *out, global half *in) { out[get_global_id(0)] = in[0] * in[1] + (half)1; }
"""
FORMAT = ImageFormat("image2d", "RGBA", "float")
PIXELS = CapturedImage(FORMAT, (4, 8), np.random.default_rng(0).random((8, 4, 4), np.float32))
CASES: dict[str, tuple[str, tuple[int, ...], tuple[int, ...], tuple[CapturedArgument, ...]]] = {
    "scalars": (
        SCALARS,
        (16,),
        (4,),
        (
            *(buffer(64), buffer(260), LocalArgument(16), PassedScalar(np.float32(0.1).tobytes())),
            *(PassedScalar(np.array([-7, 3], np.int32).tobytes()), PassedScalar(bytes(range(8)))),
        ),
    ),
    "structures": (STRUCTURES, (8,), (), (buffer(24 * 8), PassedShared(0), PassedBuffer(24 * 9), NullArgument())),
    "images": (
        IMAGES,
        (4, 8),
        (2, 2),
        (
            *(PIXELS, CapturedImage(FORMAT, (4, 8), None)),
            SamplerArgument(Addressing.REPEAT, Filter.LINEAR, True),
        ),
    ),
    "halves": (HALVES, (16,), (16,), (PassedBuffer(32), buffer(32))),
}


@pytest.fixture(params=CASES)
def launch(request: pytest.FixtureRequest) -> CapturedLaunch:
    source, global_size, local_size, arguments = CASES[request.param]
    return CapturedLaunch(source, ("-cl-std=CL1.2",), "f", global_size, local_size, arguments)


def read(launch: CapturedLaunch, folder: Path) -> Benchmark:
    write_launch(launch, folder / "launch.npz")
    return read_launch(folder / "launch.npz")


def contents(workload: Workload) -> object:
    """All that tells a workload from another; scalars by their bytes, which structures are compared by, too."""
    (launch,) = workload.launches
    arguments = [each.value.tobytes() if isinstance(each, ScalarArgument) else each for each in launch.arguments]
    sizes = launch.kernel, launch.global_size, launch.local_size, launch.global_offset
    buffers = {name: (array.dtype, array.shape, array.tobytes()) for name, array in workload.buffers.items()}
    return sizes, arguments, buffers, workload.outputs, workload.images, workload.rounding_steps


def test_what_is_kept_is_what_is_measured(launch: CapturedLaunch, tmp_path: Path) -> None:
    kept, benchmark = find_benchmark(written_capture(launch, tmp_path, "f-16")), read(launch, tmp_path)
    assert (kept.name, kept.kernel, benchmark.name) == ("f-16", "f", "f")
    assert (list(kept.presets), list(benchmark.presets)) == (["test", "cpu", "gpu"], [PRESET])
    assert (
        contents(kept.workload("gpu")) == contents(kept.workload("test")) == contents(benchmark.workload(PRESET))
    )


def test_what_is_kept_is_told_from_others_by_its_contents(tmp_path: Path) -> None:
    source, global_size, local_size, arguments = CASES["scalars"]
    given = (arguments, arguments, (buffer(60), *arguments[1:]), (*arguments[:-1], PassedScalar(bytes(8))))
    files = [
        written_capture(CapturedLaunch(source, (), "f", global_size, local_size, each), tmp_path / str(index), "f")
        for index, each in enumerate(given)
    ]
    hashes = [find_benchmark(file).content_hash("cpu") for file in files]
    assert hashes[0] == hashes[1] and len(set(hashes)) == 3


def test_another_local_size_divides_the_global_size(tmp_path: Path) -> None:
    source, _, _, arguments = CASES["halves"]
    benchmark = read(CapturedLaunch(source, (), "f", (16,), (16,), arguments), tmp_path)
    assert benchmark.launches(PRESET, (8,))[0].local_size == (8,)
    with pytest.raises(InvalidInputError, match="the local size 5 does not divide the global size 16 along"):
        benchmark.launches(PRESET, (5,))


def test_a_launch_with_an_offset_keeps_it(tmp_path: Path) -> None:
    source, _, _, arguments = CASES["halves"]
    benchmark = read(CapturedLaunch(source, (), "f", (16,), (16,), arguments, (32,)), tmp_path)
    assert benchmark.launches(PRESET)[0].global_offset == (32,)


def saved(save: Callable[..., None], *arrays: object, **named: object) -> bytes:
    file = io.BytesIO()
    save(file, *arrays, **named)
    return file.getvalue()


def launch_text(text: bytes) -> bytes:
    return saved(np.savez_compressed, launch=np.frombuffer(text, np.uint8))


def garbled(content: bytes) -> bytes:
    """The same with other bytes in the middle, where the compressed array stands."""
    middle = len(content) // 3
    return content[:middle] + bytes(byte ^ 0x5A for byte in content[middle : middle + 40]) + content[middle + 40 :]


DAMAGED = {
    "empty": b"",
    "no archive": b"no archive",
    "cut off": b"PK\x03\x04",
    "one array": saved(np.save, np.zeros(3)),
    "no launch": saved(np.savez, other=np.zeros(3)),
    "nested": launch_text(b"[" * 200_000),
    "garbled": garbled(launch_text(bytes(range(256)))),
    "a launch of nothing": launch_text(b"{}"),
}


@pytest.mark.parametrize("content", DAMAGED.values(), ids=DAMAGED)
def test_another_file_is_none(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "own.npz").write_bytes(content)
    with pytest.raises(InvalidInputError, match=r"own\.npz: the captured launch can't be read") as refused:
        read_launch(tmp_path / "own.npz")
    assert "pickle" not in str(refused.value)


@pytest.mark.parametrize("line", ['#include "/etc/hostname"', '#include "../own.h"', '#embed "own.h"'])
def test_a_recorded_kernel_may_not_read_any_file(line: str, tmp_path: Path) -> None:
    """A recorded launch may be somebody else's, as a description may."""
    source, _, _, arguments = CASES["halves"]
    file = written_capture(CapturedLaunch(source, (), "f", (16,), (16,), arguments), tmp_path, "own")
    assert find_benchmark(file).kernel == "f"
    with np.load(file) as content:
        arrays = dict(content)
    data = json.loads(arrays["launch"].tobytes())
    arrays["launch"] = np.frombuffer(json.dumps(data | {"source": f"{line}\n{source}"}).encode(), np.uint8)
    np.savez(file, **arrays)
    with pytest.raises(InvalidInputError, match="COARSEN_TRUST_INCLUDES=1 if you trust it"):
        find_benchmark(file)


def test_a_missing_file_is_named_once(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match=r"read: No such file or directory$"):
        read_launch(tmp_path / "own.npz")


def test_an_argument_that_no_launch_has_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    launch = CapturedLaunch("kernel void f(local int *x) { *x = 1; }", (), "f", (16,), (16,), (LocalArgument(64),))
    with pytest.raises(InvalidInputError, match="has no buffer and no image that it may write"):
        write_launch(launch, tmp_path / "launch.npz")
    assert list(tmp_path.iterdir()) == []


def _as_npy(path: Path) -> None:
    with path.open("wb") as file:
        np.save(file, np.zeros(3))


def _without_launch(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("launch", "{}")


def _described(**changed: object) -> Callable[[Path], None]:
    launch = {
        "kernel": "f",
        "global_size": [8],
        "local_size": [],
        "global_offset": [],
        "arguments": [{"BufferArgument": {"name": "x"}}],
    }
    buffers = [{"name": "x", "unread_bytes": 32, "image": None}]
    content = {
        "name": "f",
        "source": "",
        "options": [],
        "launch": {**launch, **{name: value for name, value in changed.items() if name in launch}},
        "buffers": buffers,
        "outputs": changed.get("outputs", ["x"]),
        "rounding_steps": 1,
    }
    arrays = {"launch": np.frombuffer(json.dumps(content).encode(), np.uint8), "type x": np.empty(0, np.float32)}
    return lambda path: np.savez(path, **cast("Any", arrays))


def test_a_described_launch_is_read(tmp_path: Path) -> None:
    _described()(tmp_path / "launch.npz")
    assert read_launch(tmp_path / "launch.npz").launches("cpu")[0].global_size == (8,)


@pytest.mark.parametrize(
    "write",
    [
        _as_npy,
        _without_launch,
        _described(arguments=[5]),
        _described(arguments=[{"BufferArgument": {}}]),
        _described(arguments=[{"BufferArgument": {"name": "y"}}]),
        _described(outputs=[]),
        _described(outputs=["y"]),
        _described(global_size=[]),
        _described(global_size=[-8]),
        _described(local_size=[0]),
    ],
)
def test_a_file_that_holds_no_launch_is_refused(write: Callable[[Path], None], tmp_path: Path) -> None:
    write(tmp_path / "launch.npz")
    with pytest.raises(InvalidInputError, match=r"launch\.npz: the captured launch can't be read"):
        read_launch(tmp_path / "launch.npz")
