"""Whatever runs: scripts of PyOpenCL and of shells, exit codes, signals, loaders, and folders of all kinds."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from coarsen.cli.record_report import recording_as_data, recording_lines
from coarsen.devices.discovery import DeviceDescription
from coarsen.errors import InvalidInputError
from coarsen.frontend.clang import packaged_clang
from coarsen.frontend.source_text import source_hash_of
from coarsen.layer.program import RECORDER, RecordedRun, layer_library
from coarsen.layer.script import Script, executable_of
from coarsen.opencl_bench.workloads.lookup import find_benchmark
from coarsen.tuning.workload.benchmark import LocalArgument, NullArgument
from coarsen.tuning.workload.launch_list import PassedBuffer, PassedScalar, PassedShared, read_launch_list
from coarsen.variant.coarsening import Coarsening
from coarsen.variant.variant import Variant
from tests.drop_in.scripts import COUNT, HEAD, SCALE, SOURCE, compiled, written
from tests.layer.conftest import PROGRAMS, Build, Compared, Record, compiled_program, platform_of, rows_of

SHARED = """\
kernel void both(global float *out, global const float *in, local float *tile, global const float *more)
{
    int item = get_global_id(0) - 2;
    if (!more)
        out[item] = in[item] + 1;
}
"""
RunText = Callable[..., RecordedRun]


@pytest.fixture
def intel(working_devices: tuple[DeviceDescription, ...], monkeypatch: pytest.MonkeyPatch) -> DeviceDescription:
    device = compiled(working_devices)
    platform_of(device, monkeypatch)
    return device


@pytest.fixture
def run_text(record: Record, tmp_path: Path, intel: DeviceDescription) -> RunText:
    def run_here(text: str, **options: int) -> RecordedRun:
        return record(written(tmp_path, text), intel.index, **options)

    return run_here


def shell_script(folder: Path, text: str) -> Path:
    path = written(folder, f"#!/bin/sh\n{text}\n", "with blanks in/program.sh")
    path.chmod(0o755)
    return path


def test_a_script_of_pyopencl(run_text: RunText, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "recorded"
    kept = written(folder, "kept", "scale-1024.npz")
    result = run_text(SCALE)
    assert (result.exit_code, capfd.readouterr().out) == (0, "right\n")
    names = {path.name for path in folder.glob("*.npz")}
    assert names == {"number-1024.npz", "scale-1024.npz", "scale-1024-2.npz", "scale-512.npz"}
    assert kept.read_text() == "kept"
    assert not list(folder.glob(".*")), "the raw files are removed"
    rows = {(row.kernel, row.global_size): row for row in result.recording.rows}
    assert {key: row.launches for key, row in rows.items()} == {
        ("number", (COUNT,)): 1,
        ("scale", (COUNT,)): 3,
        ("scale", (COUNT // 2,)): 1,
    }
    # What a kernel only writes is not kept.
    assert [rows["number", (COUNT,)].byte_count, rows["scale", (COUNT,)].byte_count] == [0, 4 * COUNT]
    # Before the launch, not after it.
    buffers = find_benchmark(folder / "scale-1024-2.npz").workload("cpu").buffers
    np.testing.assert_array_equal(buffers["values"], np.arange(COUNT))
    two, half = PassedScalar(np.float32(2).tobytes()), PassedScalar(np.float32(0.5).tobytes())
    number, scale = sorted(read_launch_list(folder), key=lambda each: each.kernel)
    assert [(each.global_size, each.arguments[-1], each.count) for each in scale.launches] == [
        ((1024,), two, 3),
        ((512,), half, 1),
    ]
    assert [each.arguments for each in number.launches] == [(PassedBuffer(4 * COUNT),)]
    assert (number.options, number.further, number.source_hash) == ((), 0, source_hash_of(SOURCE))
    assert (folder / number.source_file).read_text() == SOURCE


def test_a_script_of_pyopencl_with_what_is_remembered(
    run_text: RunText, tmp_path: Path, intel: DeviceDescription, compared: Compared
) -> None:
    # From its second start on, PyOpenCL makes programs from binaries.
    variant = Variant((), (Coarsening(4),))
    compared(intel, run_text(SCALE, most_bytes=1 << 20), variant, str(tmp_path / "program.py"), intel.index)


def test_of_launches_that_all_differ_only_some_are_listed(
    run_text: RunText, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("coarsen.layer.recording.MOST_LISTED", 5)
    more = "for factor in range(10, 20):\n    kernel(queue, (COUNT,), (64,), values, np.float32(factor))\n"
    run_text(f"{SCALE}{more}")
    (listed,) = (each for each in read_launch_list(tmp_path / "recorded") if each.kernel == "scale")
    assert (len(listed.launches), listed.further) == (5, 7)


def test_kernels_with_too_many_kinds_of_launches_are_counted_by_size(run_text: RunText, tmp_path: Path) -> None:
    more = "for factor in range(5000):\n    kernel(queue, (COUNT,), (64,), values, np.float32(factor))\n"
    result = run_text(f"{SCALE}{more}", most_bytes=0)
    assert max(row.launches for row in result.recording.rows) == 5003
    (listed,) = (each for each in read_launch_list(tmp_path / "recorded") if each.kernel == "scale")
    assert sum(each.count for each in listed.launches) + listed.further == 5004 and listed.further > 900


def test_a_list_that_can_not_be_read_ends_it_before_the_program_runs(
    run_text: RunText, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    written(tmp_path / "recorded", "{}", "launches.json")
    with pytest.raises(InvalidInputError, match="it is no list of launches"):
        run_text(SCALE)
    assert "right" not in capfd.readouterr().out


def test_offsets_shared_buffers_and_no_local_size(run_text: RunText, tmp_path: Path) -> None:
    text = f"{HEAD}SOURCE = {SHARED!r}\n" + (
        "program = Program(context, SOURCE).build()\n"
        "values = cl.Buffer(context, cl.mem_flags.READ_WRITE, 4 * COUNT)\n"
        "program.both(queue, (COUNT,), None, values, values, cl.LocalMemory(64), None, global_offset=(2,))\n"
        "program.both(queue, (1,), None, values, values, cl.LocalMemory(64), None, global_offset=(2,))\n"
    )
    result = run_text(text)
    (listed,) = read_launch_list(tmp_path / "recorded")
    assert listed.launches[0].arguments == (
        *(PassedBuffer(4 * COUNT), PassedShared(0)),
        *(LocalArgument(64), NullArgument()),
    )
    assert (listed.launches[0].local_size, listed.launches[0].global_offset) == (None, (2,))
    (reason,) = result.recording.not_recorded
    assert reason == "a launch is not recorded: the kernel 'both': it has no more than one work-item"


LINKED = """\
one = cl.Program(context, SOURCE).compile(options=["-DN=1"])
other = cl.Program(context, "float twice(float x) { return 2 * x; }").compile()
values = cl.Buffer(context, cl.mem_flags.READ_WRITE, 4 * COUNT)
for programs in ([one], [one, other]):
    cl.link_program(context, programs).number(queue, (COUNT,), (32,), values)
"""


def test_linked_programs(run_text: RunText) -> None:
    result = run_text(f"{HEAD}SOURCE = {SOURCE!r}\n{LINKED}")
    assert result.exit_code == 0
    assert [row.path is not None for row in sorted(result.recording.rows, key=lambda row: row.path is None)] == [
        *(True, False)
    ]
    (reason,) = result.recording.not_recorded
    assert reason == "a launch is not recorded: the kernel 'number': its program is linked from several"


def test_a_program_without_launches(run_text: RunText) -> None:
    result = run_text(HEAD)
    assert (result.exit_code, result.recording.rows, result.recording.saw_opencl) == (0, (), True)
    assert list(recording_lines(Script("p.py"), result))[1:] == ["coarsen: p.py launched no kernel"]


def test_kernels_that_can_not_be_coarsened_say_so(run_text: RunText) -> None:
    source = "kernel void k(global int *a) { while (atomic_add(a, 0) < 0); a[get_global_id(0)] = 1; }"
    text = f"{HEAD}program = Program(context, {source!r}).build()\n" + (
        "values = cl.Buffer(context, cl.mem_flags.READ_WRITE, 4 * COUNT)\n"
        "cl.enqueue_fill_buffer(queue, values, np.int32(0), 0, 4 * COUNT)\n"
        "program.k(queue, (COUNT,), None, values)\n"
    )
    result = run_text(text)
    (row,) = result.recording.rows
    assert row.refusal == "waits-for-another"
    assert "no: waits-for-another" in "\n".join(recording_lines(Script("p.py"), result))


@pytest.mark.parametrize(("text", "code"), [("exit 7", 7), ("kill -TERM $$", 128 + 15), ("exit 0", 0)])
def test_the_exit_code_is_the_programs(record: Record, tmp_path: Path, text: str, code: int) -> None:
    program = shell_script(tmp_path, text)
    result = record(program)
    assert (result.exit_code, result.recording.rows) == (code, ())
    (line,) = list(recording_lines(Script(str(program)), result))[1:]
    assert "loaded no OpenCL loader that loads layers" in line


def test_commands_are_found_whatever_stands_in_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Scripts of Python that pip has installed, too; a folder of a command's name is no program."""
    commands, here = tmp_path / "commands", tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    monkeypatch.setenv("PATH", str(commands))
    for name, first in (("tool", "#!/usr/bin/python3"), ("shell", "#!/home/pythonfan/bin/sh")):
        written(commands, f"{first}\n", name).chmod(0o755)
        (here / name).mkdir()
        assert executable_of(name) == commands / name
    assert executable_of("other") is None
    assert executable_of(str(commands / "shell")) == commands / "shell"
    assert executable_of(str(commands / "tool")) is None, "Python runs it"


def test_signals_are_passed_on(tmp_path: Path) -> None:
    program = shell_script(tmp_path, "trap 'exit 7' TERM\necho ready\nwhile :; do sleep 0.05; done")
    words = [sys.executable, "-m", "coarsen", "run", "--record", str(tmp_path / "recorded"), str(program)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None and process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 7


@pytest.mark.parametrize("end", ["exit 0", "trap - INT; kill -INT $$"])
def test_nothing_is_tuned_after_ctrl_c(end: str, tmp_path: Path) -> None:
    program = shell_script(tmp_path, f"trap '{end}' INT\necho ready\nwhile :; do sleep 0.05; done")
    words = [sys.executable, "-m", "coarsen", "run", "--tune", str(program)]
    pipe = subprocess.PIPE
    with subprocess.Popen(words, stdout=pipe, stderr=pipe, text=True, start_new_session=True) as process:
        assert process.stdout is not None and process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "loaded no OpenCL loader" in said and said.splitlines()[-1] == "coarsen: interrupted"


def without_layers(folder: Path) -> Path:
    """A loader that knows no layers, and has the functions that programs here call."""
    clang = packaged_clang()
    assert clang is not None
    source = written(folder, "int clGetPlatformIDs(void) { return -1; }\n", "loader.c")
    folder = folder / "loader"
    folder.mkdir()
    loader = folder / "libOpenCL.so.1"
    subprocess.run([*clang.command, "-c", "-fPIC", str(source), "-o", str(folder / "loader.o")], check=True)
    words = ("ld.lld", "-shared", "-soname", loader.name, str(folder / "loader.o"), "-o", str(loader))
    subprocess.run([clang.command[0], *words], check=True)
    return loader


PLATFORMS = """\
#include "opencl.h"
int clGetPlatformIDs(unsigned, void *, unsigned *);
void exit(int code);
#ifdef __x86_64__
__attribute__((force_align_arg_pointer))
#endif
void _start(void)
{
    unsigned count = 0;
    exit(clGetPlatformIDs(0, (void *)0, &count) || !count);
}
"""


def test_a_loader_without_layers_is_replaced(record: Record, tmp_path: Path, intel: DeviceDescription) -> None:
    loader, source = without_layers(tmp_path), written(tmp_path, PLATFORMS, "program.c")
    program = compiled_program(source, tmp_path / "program", str(loader), "-rpath", str(loader.parent))
    assert subprocess.run([program], check=False).returncode == 1
    result = record(program)
    assert (result.exit_code, result.recording.saw_opencl) == (0, True)


def test_a_loader_that_can_not_be_replaced_is_named(record: Record, tmp_path: Path) -> None:
    loader, source = without_layers(tmp_path), written(tmp_path, PLATFORMS, "program.c")
    fixed = ("-rpath", str(loader.parent), "--disable-new-dtags")
    program = compiled_program(source, tmp_path / "program", str(loader), *fixed)
    with pytest.raises(InvalidInputError, match=rf"^program gets the OpenCL loader {loader}, which loads no"):
        record(program)


def test_a_cache_that_can_not_be_written(
    record: Record, build: Build, tmp_path: Path, intel: DeviceDescription, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(written(tmp_path, "", "no-folder") / "cache"))
    assert len(rows_of(record(build("arguments")))) == 3


def test_a_library_that_others_could_write_is_not_loaded(
    record: Record, build: Build, tmp_path: Path, intel: DeviceDescription, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    record(build("arguments"))
    (library,) = (tmp_path / "cache" / "coarsen" / "layers").iterdir()
    library.write_bytes(b"")
    library.chmod(0o777)
    assert len(rows_of(record(build("arguments")))) == 3


def test_a_cache_that_loaders_can_not_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "c:d"))
    library = layer_library(RECORDER, tmp_path)
    assert library.parent == tmp_path and library.exists()
    with pytest.raises(InvalidInputError, match=r"c:d: a folder with ':' in its name can't be given to OpenCL"):
        layer_library(RECORDER, tmp_path / "c:d")


def test_processes_that_a_program_starts_are_recorded(
    record: Record, build: Build, tmp_path: Path, intel: DeviceDescription
) -> None:
    result = record(shell_script(tmp_path, f"'{build('arguments')}' && '{build('arguments')}'"))
    assert {name: rows[0].launches for name, rows in rows_of(result).items()} == {
        "combine": 4,
        "filtered": 2,
        "moved": 6,
    }


def test_the_report(run_text: RunText, tmp_path: Path, intel: DeviceDescription) -> None:
    result = run_text(SCALE)
    empty, heading, names, *rows = recording_lines(Script("program.py"), result)
    assert empty == "" and heading.startswith("coarsen: 5 launches of 2 kernels: ")
    assert names.split("  ")[0] == "kernel" and "can be coarsened" in names
    assert all(row.endswith(".npz") and "  yes  " in row for row in rows[:3])
    assert rows[3].startswith("the kernels take so little of the program's time"), "it starts Python"
    assert rows[4:6] == [
        "what takes most of the kernels' time is tuned by:",
        "  coarsen run --tune program.py",
    ]
    kernels = recording_lines(Script("program.py"), result._replace(seconds=1e-9))
    assert "so little" not in "\n".join(kernels)
    path = result.recording.rows[0].path
    assert rows[7] == f"  coarsen tune {path} -d '{intel.name}'"
    data = json.loads(json.dumps(recording_as_data(Script("program.py"), result)))
    assert (data["exit_code"], [row["launches"] for row in data["launches"]].count(1)) == (0, 2)
    assert data["launches"][0]["path"] == str(path) and data["launches"][0]["nanoseconds"] > 0


def test_a_long_report_is_cut(run_text: RunText) -> None:
    result = run_text(SCALE)
    recording = result.recording
    many = recording._replace(rows=30 * recording.rows[:1], not_recorded=("a launch is not recorded: why",) * 12)
    lines = list(recording_lines(Script("program.py"), result._replace(recording=many)))
    assert "and 5 other kernels: --report FILE has all" in lines
    assert "and 2 other reasons: --report FILE has all" in lines
    unknown = recording._replace(rows=(replace(recording.rows[0], nanoseconds=None),))
    assert "can't profile" in "\n".join(recording_lines(Script("p.py"), result._replace(recording=unknown)))


def test_programs_see_where_they_are(record: Record, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    program = shell_script(tmp_path, 'echo "$0" "$1" "$#"; cat; echo err >&2')
    record(program, "a b", "--record")
    written_out = capfd.readouterr()
    assert (written_out.out.splitlines()[0], written_out.err) == (f"{program} a b 2", "err\n")
    assert PROGRAMS.is_dir() and os.environ.get("OPENCL_LAYERS") is None
