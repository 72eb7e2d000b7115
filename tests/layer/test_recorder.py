"""What the recorder sees of programs in C, and what these see of it; how loaders take both layers."""

from __future__ import annotations

import ctypes
import os
import re
import subprocess
from pathlib import Path

import numpy as np
import pyopencl as cl
import pytest

from coarsen.devices.discovery import DeviceDescription
from coarsen.frontend.clang import packaged_clang
from coarsen.layer.log import read_logs
from coarsen.layer.program import RECORDER, SUBSTITUTE, header_options, layer_library, layers_value
from coarsen.opencl_bench.workloads.lookup import find_benchmark
from coarsen.tuning.workload.benchmark import LocalArgument, NullArgument
from coarsen.tuning.workload.launch_list import PassedBuffer, PassedScalar, read_launch_list
from tests.layer.conftest import (
    LAYER,
    PROGRAMS,
    TRAPS,
    Build,
    Record,
    compiled_program,
    platform_of,
    replayed,
    rows_of,
)

COUNT = 1024


@pytest.mark.compiled_devices
def test_every_kind_of_argument_is_recorded(
    record: Record,
    build: Build,
    device: DeviceDescription,
    context: cl.Context,
    queue: cl.CommandQueue,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    platform_of(device, monkeypatch)
    program = build("arguments")
    subprocess.run([program], check=True)
    result = record(program)
    assert (result.exit_code, result.recording.not_recorded) == (0, ())
    assert capfd.readouterr().out == "right\nright\n"
    rows = rows_of(result)
    assert {name: [row.launches for row in found] for name, found in rows.items()} == {
        "combine": [2],
        "filtered": [1],
        "moved": [3],
    }
    assert all(row.nanoseconds and not row.refusal for row in result.recording.rows)
    path = tmp_path / "recorded" / "combine-512.npz"
    buffers = find_benchmark(path).workload("cpu").buffers
    numbers = np.arange(COUNT, dtype=np.int32)
    np.testing.assert_array_equal(buffers["out"], numbers)  # as it was before the launch
    np.testing.assert_array_equal(buffers["second"], numbers[COUNT // 2 :])
    expected = numbers.copy()
    expected[: COUNT // 2] += 2 * numbers[: COUNT // 2] + COUNT // 2 + 7 + 3 * numbers[: COUNT // 2]
    np.testing.assert_array_equal(replayed(path, context, queue)["out"], expected)
    pixels = np.arange(16 * 32 * 4, dtype=np.float32).reshape(16, 32, 4)
    clamped = 2 * pixels[np.r_[0, 0:15]][:, np.r_[0, 0:31]]
    found = replayed(tmp_path / "recorded" / "filtered-32x16.npz", context, queue)["to"]
    np.testing.assert_array_equal(found, clamped)
    moved = replayed(tmp_path / "recorded" / "moved-1024.npz", context, queue)["to"]
    np.testing.assert_array_equal(moved, numbers + COUNT + 1)
    (listed,) = (each for each in read_launch_list(tmp_path / "recorded") if each.kernel == "combine")
    assert listed.options == ("-DSCALE=3",)
    assert listed.launches[0].arguments[1:] == (
        *(PassedBuffer(2 * COUNT), PassedBuffer(2 * COUNT), PassedBuffer(4 * COUNT)),
        *(NullArgument(), LocalArgument(256), PassedScalar(np.int64(7).tobytes())),
    )


@pytest.mark.compiled_devices
def test_handles_threads_and_a_crash(
    record: Record, build: Build, device: DeviceDescription, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    platform_of(device, monkeypatch)
    result = record(build("handles"))
    assert result.exit_code == 128 + 6
    found = {(row.global_size, row.launches) for row in result.recording.rows}
    assert found == {((COUNT,), 3), ((COUNT // 2,), 200)} and len(result.recording.rows) == 4
    recorded = sorted((tmp_path / "recorded").glob("stage-*.npz"))
    options = {(find_benchmark(path).build_options, path.name.split("-")[1][:4]) for path in recorded}
    steps = (("-D", "STEP=1"), ("-D", "STEP=10"))
    assert {each for each, _ in options} == set(steps) and len(options) == 4 == len(recorded)


@pytest.mark.compiled_devices
def test_what_can_not_be_recorded_says_why(
    record: Record, build: Build, device: DeviceDescription, monkeypatch: pytest.MonkeyPatch
) -> None:
    platform_of(device, monkeypatch)
    result = record(build("unseen"))
    assert result.exit_code == 0
    found = {each.removeprefix("a launch is not recorded: the kernel ") for each in result.recording.not_recorded}
    # Where the driver lets the host's access of a buffer hold for an image made of it.
    found.discard("'unwrapped': what its buffers or images hold can't be read")
    assert found == {
        "'unwrapped': its argument 0 was made or set in a way that the recorder does not see",
        "'late': what comes before it did not end in time",
        "'late': its program is not made from source, but from a binary or SPIR-V, or is the driver's own",
    }
    assert [row.path for row in result.recording.rows] == [None] * 4


@pytest.mark.compiled_devices
def test_the_bytes_of_captures_are_limited(
    record: Record, build: Build, device: DeviceDescription, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    platform_of(device, monkeypatch)
    few = record(build("arguments"), most_bytes=20 * COUNT)
    assert {name: rows[0].path is not None for name, rows in rows_of(few).items()} == {
        "combine": True,
        "filtered": False,
        "moved": True,
    }
    (reason,) = few.recording.not_recorded
    assert "the kernel 'filtered': its buffers and images hold more than may still be recorded" in reason
    none = record(build("arguments"), most_bytes=0)
    assert len(list((tmp_path / "recorded").glob("*.npz"))) == 2
    assert (none.recording.not_recorded, len(none.recording.rows)) == ((), 3)
    listed = read_launch_list(tmp_path / "recorded")
    counts = {each.kernel: sum(launch.count for launch in each.launches) for each in listed}
    assert counts == {"combine": 4, "filtered": 2, "moved": 6}, "another run counts on"


def test_a_log_may_end_anywhere(
    record: Record,
    build: Build,
    working_devices: tuple[DeviceDescription, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    platform_of(next(each for each in working_devices if each.runs_on("intel")), monkeypatch)
    logs: dict[str, bytes] = {}

    def kept(folder: Path, *_: object, **__: object) -> None:
        logs.update({path.name: path.read_bytes() for path in folder.glob("*-0.[lc]*")})
        raise KeyboardInterrupt

    monkeypatch.setattr("coarsen.layer.recording.read_recording", kept)
    with pytest.raises(KeyboardInterrupt):
        record(build("arguments"))
    (log,) = (name for name in logs if name.endswith(".log"))
    folder = tmp_path / "cut"
    folder.mkdir()
    (folder / log.replace(".log", ".counts")).write_bytes(logs[log.replace(".log", ".counts")])
    kernels = set()
    for end in range(0, len(logs[log]) + 1, 3):
        (folder / log).write_bytes(logs[log][:end])
        kernels.add(tuple(kind.kernel for kind in read_logs(folder)[0]))
    assert {len(each) for each in kernels} == {0, 1, 2, 3, 4}


def test_faults(tmp_path: Path) -> None:
    (tmp_path / "left").write_bytes(bytes(16))
    program = compiled_program(PROGRAMS / "faults.c", tmp_path / "faults", options=TRAPS)
    environment = os.environ | {"COARSEN_RECORDING": str(tmp_path)}
    done = subprocess.run([program], env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "done\n")


@pytest.mark.parametrize("source", [RECORDER, SUBSTITUTE])
def test_loaders_of_both_versions_take_a_layer_once(source: str, tmp_path: Path) -> None:
    path = layer_library(source, tmp_path)
    assert layers_value({"OPENCL_LAYERS": "other.so"}, path) == f"other.so:{path}:{path}"
    layer = ctypes.CDLL(str(path))
    version, size = ctypes.c_uint(), ctypes.c_size_t()

    def asked() -> int:
        return layer.clGetLayerInfo(0x4240, 4, ctypes.byref(version), ctypes.byref(size)) or version.value

    assert (asked(), size.value, asked(), asked()) == (100, 4, 200, 100)
    table, count, own = (ctypes.c_void_p * 149)(), ctypes.c_uint(), ctypes.c_void_p()
    words = (149, table, ctypes.byref(count), ctypes.byref(own))
    assert (layer.clInitLayer(*words), count.value, asked(), layer.clInitLayer(*words)) == (0, 149, -30, -30)
    assert layer.clDeinitLayer() == 0


@pytest.mark.parametrize("source", [RECORDER, SUBSTITUTE])
def test_the_table_is_that_of_the_headers(opencl_headers: Path, source: str, tmp_path: Path) -> None:
    declared = (LAYER / "opencl.h").read_text()
    places = re.findall(r"(?:^ENTRY\((\d+), [^,]+|\bPLACE\((\d+)), (\w+)", declared, re.MULTILINE)
    own = declared.partition("#else")[2].partition("#endif")[0]
    constants = re.findall(r"\b(CL_\w+) = ([^,]+),", own)
    assert len(places) > 50 and len(constants) > 30
    place_of = "__builtin_offsetof(struct _cl_icd_dispatch, {}) / sizeof(void *)"
    checks = [
        *(f'_Static_assert({place_of.format(name)} == {one or other}, "");' for one, other, name in places),
        *(f'_Static_assert({name} == {value}, "");' for name, value in constants),
    ]
    check = tmp_path / "check.c"
    # The functions themselves are compiled against the headers' declarations, which must be the same.
    check.write_text("\n".join(["#define WITH_OPENCL_HEADERS", f'#include "{source}"', *checks]))
    clang = packaged_clang()
    assert clang is not None
    words = ("-std=gnu11", "-ffreestanding", "-fsyntax-only", "-Werror", "-Wno-deprecated-declarations")
    folders = ("-I", str(LAYER), *header_options(clang), "-idirafter", str(opencl_headers))
    subprocess.run([*clang.command, *words, *folders, str(check)], check=True)
