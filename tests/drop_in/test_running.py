"""An unmodified program runs with its kernels coarsened, and everything is as before when it has ended."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyopencl as cl
import pytest

from coarsen.devices.building import PlainProgram, build_for_launches
from coarsen.devices.discovery import DeviceDescription
from coarsen.dispatch.tuned_file import source_hash_of
from coarsen.drop_in.launch_table import LaunchTable
from coarsen.drop_in.mode import Otherwise
from coarsen.drop_in.named_program import programs_are_coarsened
from coarsen.drop_in.recorder import Contents
from coarsen.drop_in.running import Recording, RunResult, run_program
from coarsen.drop_in.script import Script
from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.tuning.settings import Tune
from coarsen.opencl_bench.workloads.described.launch_list import PassedBuffer, read_launch_list
from coarsen.opencl_bench.workloads.described.passed_arguments import (
    PassedLocal,
    PassedNull,
    PassedScalar,
    PassedShared,
)
from coarsen.runtime.advice import Advice, AdviceRequest
from coarsen.runtime.kernel import Kernel
from coarsen.runtime.program import Program as RuntimeProgram
from coarsen.variant.coarsening import Coarsening
from coarsen.variant.variant import Variant
from tests.drop_in.scripts import COUNT, HEAD, SCALE, SOURCE, compiled, written

SHARED = """\
kernel void both(global float *out, global const float *in, local float *tile, global const float *more)
{
    int item = get_global_id(0) - 2;
    if (!more)
        out[item] = in[item] + 1;
}
"""
Files = tuple[tuple[int, str], ...]
NAMES = ("Program", "Kernel", "enqueue_nd_range_kernel")


@dataclass
class Factor4:
    """Advises a factor of 4; remembers the questions."""

    asked: list[AdviceRequest] = field(default_factory=list)
    looks_at_arguments: bool = False

    def advise(self, request: AdviceRequest) -> Advice:
        self.asked.append(request)
        return Advice(Variant(coarsenings=(Coarsening(4),)), "somebody measured it")


@pytest.fixture
def index(working_devices: tuple[DeviceDescription, ...]) -> str:
    return compiled(working_devices).index


@pytest.fixture
def run_text(tmp_path: Path, index: str) -> Callable[..., RunResult]:
    """`run_text(text, Otherwise.TUNE, …)` runs a program of that text; what it finds is remembered in a file."""

    def run_here(
        text: str,
        otherwise: Otherwise = Otherwise.PREDICT,
        settings: Tune | None = None,
        recording: Recording | None = None,
    ) -> RunResult:
        chosen = settings or Tune(store=str(tmp_path / "store.sqlite"))
        script = Script(str(written(tmp_path, text)), (index, "--steps", "3"))
        return run_program(script, otherwise, chosen, recording)

    return run_here


def test_launches_are_counted_by_kernel_and_class_of_sizes(
    run_text: Callable[..., RunResult], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    result = run_text(SCALE)
    assert capsys.readouterr().out == "right\n"
    assert (result.exit_code, result.found, result.recorded) == (0, (), ())
    rows = {(row.kernel, row.global_size): row for row in result.rows}
    counts = {key: row.launches for key, row in rows.items()}
    assert counts == {("number", (COUNT,)): 1, ("scale", (COUNT,)): 3, ("scale", (COUNT // 2,)): 1}
    assert all(row.local_size == (64,) and row.why.startswith("predicted") for row in result.rows)
    assert not (tmp_path / "store.sqlite").exists()


def test_the_names_are_given_back(run_text: Callable[..., RunResult]) -> None:
    before = [vars(cl)[name] for name in NAMES], sys.argv, list(sys.path), sys.modules["__main__"]
    assert run_text(f"{HEAD}\nassert cl.Program.__mro__[1].__module__ == 'coarsen.runtime.program'").exit_code == 0
    assert run_text(f"{HEAD}\nsys.path.insert(0, 'nowhere'); sys.argv = []; raise ValueError").exit_code == 1
    assert ([vars(cl)[name] for name in NAMES], sys.argv, list(sys.path), sys.modules["__main__"]) == before


@pytest.mark.compiled_devices
def test_a_variant_is_a_program_of_pyopencl(
    context: cl.Context, queue: cl.CommandQueue, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Any] = []

    def build(*given: Any) -> cl.Program:  # noqa: ANN401 (whatever programs are built from)
        program = build_for_launches(*given)
        made.append(program)
        return program

    monkeypatch.setattr("coarsen.runtime.plan.build_for_launches", build)
    advisor, table = Factor4(), LaunchTable()
    with programs_are_coarsened(advisor, table.observer):
        program = cl.Program(context, SOURCE).build()
        assert type(program) is cl.Program and isinstance(program, RuntimeProgram)
        values = cl.Buffer(context, cl.mem_flags.READ_WRITE, 4 * COUNT)
        program.number(queue, (COUNT,), (64,), values)
    found = np.empty(COUNT, np.float32)
    cl.enqueue_copy(queue, found, values)
    np.testing.assert_array_equal(found, np.arange(COUNT))
    assert [type(each) for each in made] == [PlainProgram]
    assert len(advisor.asked) == 1
    [row] = table.rows()
    assert (row.runs, row.is_original) == ("factor 4 along dimension 0", False)
    assert row.why == "somebody measured it"


@pytest.mark.compiled_devices
def test_kernels_of_ours_are_known_by_pyopencls_names_after_a_run(context: cl.Context) -> None:
    with programs_are_coarsened(Factor4(), LaunchTable().observer):
        pass
    program = RuntimeProgram(context, SOURCE, factor=2).build()
    assert isinstance(cl.Kernel(program, "scale"), Kernel)


@pytest.mark.compiled_devices
def test_what_is_not_from_source_is_pyopencls_own(context: cl.Context) -> None:
    plain = cl.Program(context, SOURCE).build()
    binaries: Any = plain.get_info(cl.program_info.BINARIES)
    with programs_are_coarsened(Factor4(), LaunchTable().observer):
        ours = cl.Program(context, SOURCE).build()
        from_binary = cl.Program(context, context.devices, binaries)
        around: Any = cl.Program.from_int_ptr(plain.int_ptr)
        assert [type(each) for each in (from_binary, around)] == [PlainProgram] * 2
        assert all(isinstance(each, cl.Program) for each in (plain, ours, from_binary))
        assert issubclass(PlainProgram, cl.Program) and issubclass(cl.Program, PlainProgram)
        assert plain == around

        class Derived(cl.Program):
            pass

        assert isinstance(Derived(context, SOURCE).build(), RuntimeProgram)
        assert not isinstance(plain, Derived)


@pytest.mark.compiled_devices
def test_a_process_that_was_forked_runs_plainly(context: cl.Context, monkeypatch: pytest.MonkeyPatch) -> None:
    with programs_are_coarsened(Factor4(), LaunchTable().observer):
        monkeypatch.setattr(os, "getpid", lambda: -1)
        assert type(cl.Program(context, SOURCE)) is PlainProgram


OWN_KERNELS = f"""\
{HEAD}
import pyopencl.array
import pyopencl.clrandom
from pyopencl.elementwise import ElementwiseKernel
from pyopencl.reduction import ReductionKernel
from pyopencl.scan import InclusiveScanKernel

values = cl.array.arange(queue, COUNT, dtype=np.int32)
double = ElementwiseKernel(context, "int *x", "x[i] *= 2", "double_all")
double(values)
total = ReductionKernel(context, np.int32, "0", "a+b", "x[i]", "int *x", name="total")
assert total(values).get() == COUNT * (COUNT - 1)
InclusiveScanKernel(context, np.int32, "a+b", neutral="0")(values)
assert values.get()[-1] == COUNT * (COUNT - 1)
assert 0 <= cl.clrandom.rand(queue, COUNT, np.float32).get().min() < 0.1
"""


def test_kernels_that_pyopencl_makes_are_seen(run_text: Callable[..., RunResult]) -> None:
    result = run_text(OWN_KERNELS)
    assert result.exit_code == 0
    kernels = {row.kernel for row in result.rows}
    assert {"arange", "double_all", "total_stage1"} <= kernels
    assert any("scan" in kernel for kernel in kernels)
    assert any("gen" in kernel or "fill" in kernel for kernel in kernels - {"arange"}), kernels


@pytest.mark.parametrize(
    ("ending", "code", "said"),
    [
        ("sys.exit(3)", 3, ""),
        ("sys.exit()", 0, ""),
        ("sys.exit('no such file')", 1, "no such file\n"),
        ("raise KeyboardInterrupt", 130, ""),
    ],
)
def test_the_exit_code(
    ending: str, code: int, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script = Script(str(written(tmp_path, f"import sys\n{ending}\n")))
    assert run_program(script, Otherwise.PREDICT).exit_code == code
    assert capsys.readouterr().err == said


def test_an_exception_is_shown_with_the_programs_frames(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path, "def fail():\n    raise ValueError('bad')\n\nfail()\n")
    assert run_program(Script(str(path)), Otherwise.PREDICT).exit_code == 1
    shown = capsys.readouterr().err
    assert shown.startswith(f'Traceback (most recent call last):\n  File "{path}", line 4, in <module>\n')
    assert shown.endswith("ValueError: bad\n")
    assert "runpy" not in shown and "coarsen/" not in shown


def test_an_error_of_syntax_is_pythons_to_show(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, "def\n")
    assert run_program(Script(str(path)), Otherwise.PREDICT).exit_code == 1
    assert capsys.readouterr().err.endswith("SyntaxError: invalid syntax\n")


ARGUMENTS = """\
import sys
from pathlib import Path

import beside

assert beside.ANSWER == 42
assert __name__ == "__main__" and sys.modules["__main__"].__dict__ is globals()
print(sys.argv[1:], Path(sys.argv[0]).name, Path(sys.path[0]).name)
"""


def test_arguments_and_modules_beside_the_program(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written(tmp_path, "ANSWER = 42\n", "folder/beside.py")
    path = written(tmp_path, ARGUMENTS, "folder/main.py")
    assert run_program(Script(str(path), ("--tune", "-v")), Otherwise.PREDICT).exit_code == 0
    assert capsys.readouterr().out == "['--tune', '-v'] main.py folder\n"
    sys.modules.pop("beside")


def test_a_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    written(tmp_path, "", "bundle_to_run/__init__.py")
    written(tmp_path, "import sys; print(sys.argv[1:], __package__); sys.exit(4)", "bundle_to_run/tool.py")
    monkeypatch.chdir(tmp_path)
    script = Script("bundle_to_run.tool", ("-x",), is_module=True)
    assert run_program(script, Otherwise.PREDICT).exit_code == 4
    assert capsys.readouterr().out == "['-x'] bundle_to_run\n"
    with pytest.raises(InvalidInputError, match=r"'bundle_to_run\.none' can't be run: No module named"):
        run_program(Script("bundle_to_run.none", is_module=True), Otherwise.PREDICT)


TWICE = f"""\
{HEAD}
values = cl.Buffer(context, cl.mem_flags.READ_WRITE, 4 * COUNT)
for _ in range(2):
    source = "kernel void number(global int *x) {{ x[get_global_id(0)] = get_global_id(0); }}"
    cl.Program(context, source).build().number(queue, (COUNT,), (64,), values)
found = np.empty(COUNT, np.int32)
cl.enqueue_copy(queue, found, values)
np.testing.assert_array_equal(found, np.arange(COUNT))
"""


def test_what_is_found_is_remembered_for_the_next_run(run_text: Callable[..., RunResult], tmp_path: Path) -> None:
    store = str(tmp_path / "store.sqlite")
    settings = Tune(seconds=200, trials=3, levels=("item",), local_sizes=False, store=store)
    first = run_text(TWICE, Otherwise.TUNE, settings)
    assert (first.exit_code, first.store) == (0, store)
    [row], [choice] = first.rows, first.found
    assert (row.launches, row.why.partition(";")[0]) == (2, "tuned just now")
    assert (choice.key.kernel, str(choice.key.size_class)) == ("number", row.size_class)
    second = run_text(TWICE, Otherwise.LEAVE, settings)
    assert (second.exit_code, second.found) == (0, ())
    [again] = second.rows
    assert again.why.startswith("remembered from 20")
    assert (again.launches, again.runs) == (2, row.runs)


def test_nothing_is_coarsened_of_which_nothing_is_remembered(run_text: Callable[..., RunResult]) -> None:
    result = run_text(SCALE, Otherwise.LEAVE)
    assert {(row.runs, row.why) for row in result.rows} == {("as it is", "nothing is remembered of such launches")}


def test_the_reason_for_which_a_kernel_stays_as_it_is(run_text: Callable[..., RunResult]) -> None:
    result = run_text(
        SCALE.replace(
            "values[get_global_id(0)] = ", "__asm__('nop'); values[get_global_id(0)] = ".replace("'", '"')
        )
    )
    assert result.exit_code == 0
    whys = {row.kernel: row.why for row in result.rows}
    assert whys["number"].endswith("inline assembly can't be replicated [inline-assembly]")
    assert whys["scale"].startswith("predicted")


def test_the_first_launch_of_each_kind_is_recorded(run_text: Callable[..., RunResult], tmp_path: Path) -> None:
    folder = tmp_path / "recorded"
    kept = written(folder, "kept", "scale-1024.toml")
    result = run_text(SCALE, recording=Recording(folder))
    assert result.exit_code == 0
    names = [each.path.name for each in result.recorded]
    assert names == ["number-1024.toml", "scale-1024-2.toml", "scale-512.toml"]
    # What a kernel only writes is not read.
    assert [each.byte_count for each in result.recorded] == [0, 4 * COUNT, 4 * COUNT]
    assert all(each.path.is_file() for each in result.recorded)
    assert kept.read_text() == "kept"
    # Before the launch, not after it.
    np.testing.assert_array_equal(np.load(folder / "scale-1024-2.values.npy"), np.arange(COUNT))


def test_what_is_not_recorded_is_said(run_text: Callable[..., RunResult], tmp_path: Path) -> None:
    text = f"{SCALE}\nkernel(queue, (1,), None, values, np.float32(2))\n"
    result = run_text(text, recording=Recording(tmp_path / "recorded", most_bytes=4 * COUNT + 1))
    assert [each.path.name for each in result.recorded] == ["number-1024.toml", "scale-1024.toml"]
    start = "a launch is not recorded: the kernel 'scale': "
    small, single = (message.removeprefix(start) for message in result.not_recorded)
    assert small == "its buffers and images have 0.0 MiB, and at most 0.0 MiB may be captured"
    assert single == "it has no more than one work-item"


def test_a_launch_whose_arguments_are_not_known_is_not_recorded(
    run_text: Callable[..., RunResult], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("coarsen.runtime.choosing_kernel.are_over", lambda *_: False)
    result = run_text(SCALE, recording=Recording(tmp_path / "recorded"))
    assert (result.exit_code, result.recorded) == (0, ())
    assert len(result.not_recorded) == 3
    assert all("did not end in time" in message for message in result.not_recorded)


def launches_of(folder: Path, kernel: str) -> list[tuple[tuple[int, ...], str, int, Files]]:
    """The listed launches of a kernel: global size, the last argument, count, files."""
    return [
        (each.global_size, str(each.arguments[-1]), each.count, each.contents)
        for listed in read_launch_list(folder)
        if listed.kernel == kernel
        for each in listed.launches
    ]


@pytest.mark.parametrize(
    ("contents", "files"),
    [
        (Contents.CLASS, [((0, "scale-1024.values.npy"),), ((0, "scale-512.values.npy"),)]),
        (Contents.EACH, [((0, "scale-1024.values.npy"),), ((0, "scale-512.values.npy"),)]),
        (Contents.NONE, [(), ()]),
    ],
)
def test_what_launches_pass_is_listed(
    run_text: Callable[..., RunResult],
    tmp_path: Path,
    contents: Contents,
    files: list[Files],
) -> None:
    folder = tmp_path / "recorded"
    result = run_text(SCALE, recording=Recording(folder, contents=contents))
    assert (result.exit_code, result.launch_list) == (0, folder / "launches.json")
    two, half = str(PassedScalar(np.float32(2).tobytes())), str(PassedScalar(np.float32(0.5).tobytes()))
    assert launches_of(folder, "scale") == [((1024,), two, 3, files[0]), ((512,), half, 1, files[1])]
    (listed,) = (each for each in read_launch_list(folder) if each.kernel == "number")
    assert [each.arguments for each in listed.launches] == [(PassedBuffer(4 * COUNT),)]
    assert (listed.options, listed.further) == ((), 0)
    assert listed.source_hash == source_hash_of(SOURCE) and (folder / listed.source_file).read_text() == SOURCE
    assert bool(list(folder.glob("*.npy"))) == (contents is not Contents.NONE)


def test_each_launch_that_passes_something_else_is_captured(
    run_text: Callable[..., RunResult], tmp_path: Path
) -> None:
    more = "for factor in (3, 4, 3):\n    kernel(queue, (COUNT,), (64,), values, np.float32(factor))\n"
    folder = tmp_path / "recorded"
    run_text(f"{SCALE}{more}", recording=Recording(folder, contents=Contents.EACH))
    names = [dict(files)[0] for _, _, _, files in launches_of(folder, "scale")]
    assert names[2:] == ["scale-1024-2.values.npy", "scale-1024-3.values.npy"]
    # Before the launch: 3 times as much in the second.
    second, third = (np.load(folder / name) for name in names[2:])
    np.testing.assert_array_equal(third, 3 * second)


def test_of_launches_that_all_differ_only_some_are_captured_and_listed(
    run_text: Callable[..., RunResult], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("coarsen.drop_in.recorder.MOST_EACH", 2)
    monkeypatch.setattr("coarsen.drop_in.passed_launches.MOST_LAUNCHES", 5)
    more = "for factor in range(10, 20):\n    kernel(queue, (COUNT,), (64,), values, np.float32(factor))\n"
    folder = tmp_path / "recorded"
    result = run_text(f"{SCALE}{more}", recording=Recording(folder, contents=Contents.EACH))
    assert [each.kernel for each in result.recorded] == ["number", "scale", "scale"]
    (listed,) = (each for each in read_launch_list(folder) if each.kernel == "scale")
    assert (len(listed.launches), listed.further) == (5, 7)


def test_another_run_counts_on(run_text: Callable[..., RunResult], tmp_path: Path) -> None:
    folder = tmp_path / "recorded"
    run_text(SCALE, recording=Recording(folder))
    run_text(SCALE, recording=Recording(folder, contents=Contents.NONE))
    assert [(count, bool(files)) for _, _, count, files in launches_of(folder, "scale")] == [(6, True), (2, True)]


def test_a_list_that_can_not_be_read_ends_it_before_the_program_runs(
    run_text: Callable[..., RunResult], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = written(tmp_path / "recorded", "{}", "launches.json").parent
    with pytest.raises(InvalidInputError, match="it is no list of launches"):
        run_text(SCALE, recording=Recording(folder))
    assert "right" not in capsys.readouterr().out


def test_arguments_that_are_set_before_are_listed_too(run_text: Callable[..., RunResult], tmp_path: Path) -> None:
    text = f"{HEAD}SOURCE = {SHARED!r}\n" + (
        "program = Program(context, SOURCE).build()\n"
        "values = cl.Buffer(context, cl.mem_flags.READ_WRITE, 4 * COUNT)\n"
        "program.both(queue, (COUNT,), None, values, values, cl.LocalMemory(64), None, global_offset=(2,))\n"
    )
    folder = tmp_path / "recorded"
    run_text(text, recording=Recording(folder, contents=Contents.NONE))
    ((listed,),) = (each.launches for each in read_launch_list(folder))
    assert listed.arguments == (PassedBuffer(4 * COUNT), PassedShared(0), PassedLocal(64), PassedNull())
    assert (listed.local_size, listed.global_offset) == (None, (2,))


def test_a_bug_does_not_end_the_program(
    run_text: Callable[..., RunResult], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError("by nothing")

    monkeypatch.setattr("coarsen.drop_in.running.TuningAdvisor.known", fail)
    result = run_text(SCALE)
    assert result.exit_code == 0
    assert any("this is a bug in coarsen: ZeroDivisionError: by nothing" in each for each in caplog.messages)
