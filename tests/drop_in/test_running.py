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
from coarsen.drop_in.launch_table import LaunchTable
from coarsen.drop_in.mode import Otherwise
from coarsen.drop_in.named_program import programs_are_coarsened
from coarsen.drop_in.program import Program as RuntimeProgram
from coarsen.drop_in.running import RunResult, run_program
from coarsen.drop_in.script import Script
from coarsen.errors import InternalError, InvalidInputError
from coarsen.policy.remembered import Known
from coarsen.runtime.advice import Decision, LaunchRequest, Policy
from coarsen.runtime.kernel import Kernel
from coarsen.tuning.settings import Tune
from coarsen.variant.coarsening import Coarsening
from coarsen.variant.variant import Variant
from tests.drop_in.scripts import COUNT, HEAD, SCALE, SOURCE, written

NAMES = ("Program", "Kernel", "enqueue_nd_range_kernel")


@dataclass
class Factor4(Policy):
    """Advises a factor of 4; remembers the questions."""

    asked: list[LaunchRequest] = field(default_factory=list)
    looks_at_arguments: bool = False

    def known_variants(self, request: LaunchRequest) -> tuple[Variant, ...]:
        return ()

    def choose(self, request: LaunchRequest) -> Decision:
        self.asked.append(request)
        return Decision(Variant(coarsenings=(Coarsening(4),)), "somebody measured it")


def test_launches_are_counted_by_kernel_and_class_of_sizes(
    run_text: Callable[..., RunResult], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    result = run_text(SCALE, Otherwise.PREDICT)
    assert capsys.readouterr().out == "right\n"
    assert (result.exit_code, result.found) == (0, ())
    rows = {(row.kernel, row.global_size): row for row in result.rows}
    counts = {key: row.launches for key, row in rows.items()}
    assert counts == {("number", (COUNT,)): 1, ("scale", (COUNT,)): 3, ("scale", (COUNT // 2,)): 1}
    assert all(
        row.local_size == (64,) and row.why.startswith("predicted") and "guess" in row.why for row in result.rows
    )
    assert not (tmp_path / "store.sqlite").exists()


def test_the_names_are_given_back(run_text: Callable[..., RunResult]) -> None:
    before = [vars(cl)[name] for name in NAMES], sys.argv, list(sys.path), sys.modules["__main__"]
    assert run_text(f"{HEAD}\nassert cl.Program.__mro__[1].__module__ == 'coarsen.drop_in.program'").exit_code == 0
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
    assert run_program(script, Otherwise.LEAVE).exit_code == code
    assert capsys.readouterr().err == said


def test_an_exception_is_shown_with_the_programs_frames(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path, "def fail():\n    raise ValueError('bad')\n\nfail()\n")
    assert run_program(Script(str(path)), Otherwise.LEAVE).exit_code == 1
    shown = capsys.readouterr().err
    assert shown.startswith(f'Traceback (most recent call last):\n  File "{path}", line 4, in <module>\n')
    assert shown.endswith("ValueError: bad\n")
    assert "runpy" not in shown and "coarsen/" not in shown


def test_an_error_of_syntax_is_pythons_to_show(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, "def\n")
    assert run_program(Script(str(path)), Otherwise.LEAVE).exit_code == 1
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
    assert run_program(Script(str(path), ("--tune", "-v")), Otherwise.LEAVE).exit_code == 0
    assert capsys.readouterr().out == "['--tune', '-v'] main.py folder\n"
    sys.modules.pop("beside")


def test_a_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    written(tmp_path, "", "bundle_to_run/__init__.py")
    written(tmp_path, "import sys; print(sys.argv[1:], __package__); sys.exit(4)", "bundle_to_run/tool.py")
    monkeypatch.chdir(tmp_path)
    script = Script("bundle_to_run.tool", ("-x",), is_module=True)
    assert run_program(script, Otherwise.LEAVE).exit_code == 4
    assert capsys.readouterr().out == "['-x'] bundle_to_run\n"
    with pytest.raises(InvalidInputError, match=r"'bundle_to_run\.none' can't be run: No module named"):
        run_program(Script("bundle_to_run.none", is_module=True), Otherwise.LEAVE)


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


@pytest.mark.usefixtures("certain")
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
    assert row.is_settled and again.is_settled


@pytest.mark.parametrize(("seconds", "is_settled"), [(1.0, False), (20.0, True)])
def test_a_tuning_without_a_result_is_advised_where_it_would_be_tried_again(
    run_text: Callable[..., RunResult], monkeypatch: pytest.MonkeyPatch, seconds: float, is_settled: bool
) -> None:
    known = Known(None, "its tuning had no result", tried_seconds=seconds)
    monkeypatch.setattr("coarsen.drop_in.running.Remembered.known", lambda *_: known)
    result = run_text(SCALE, Otherwise.LEAVE)
    assert {(row.runs, row.why, row.is_settled) for row in result.rows} == {("as it is", known.origin, is_settled)}


def test_nothing_is_coarsened_of_which_nothing_is_remembered(run_text: Callable[..., RunResult]) -> None:
    result = run_text(SCALE, Otherwise.LEAVE)
    assert {(row.runs, row.why) for row in result.rows} == {("as it is", "nothing is remembered of such launches")}
    assert not any(row.is_settled for row in result.rows)


def test_the_reason_for_which_a_kernel_stays_as_it_is(run_text: Callable[..., RunResult]) -> None:
    result = run_text(
        SCALE.replace(
            "values[get_global_id(0)] = ", "__asm__('nop'); values[get_global_id(0)] = ".replace("'", '"')
        ),
        Otherwise.PREDICT,
    )
    assert result.exit_code == 0
    whys = {row.kernel: row.why for row in result.rows}
    assert whys["number"].endswith("inline assembly can't be replicated [inline-assembly]")
    assert whys["scale"].startswith("predicted")


@pytest.mark.parametrize("error", [ZeroDivisionError("by nothing"), InternalError("no verse")])
def test_a_bug_does_not_end_the_program(
    run_text: Callable[..., RunResult],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    error: Exception,
) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr("coarsen.drop_in.running.Remembered.known", fail)
    result = run_text(SCALE)
    assert result.exit_code == 0
    said = f"this is a bug in coarsen: {type(error).__name__}: {error}; report it with this file: "
    assert any(said in each for each in caplog.messages)
