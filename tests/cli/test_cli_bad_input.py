"""Every kind of bad input: one line on standard error, the documented exit code, and nothing written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
import pytest

REQUIRED_SIZE = """\
kernel __attribute__((reqd_work_group_size(8, 1, 1))) void required(global int *values)
{
    values[get_global_id(0)] = 1;
}
"""
TWO = """\
kernel void first(global int *values) { values[get_global_id(0)] = 1; }
kernel void second(global int *values) { values[get_global_id(0)] = 2; }
"""
SUBGROUPS = """\
// Its sub-group's number.
kernel void groups(global uint *values)
{
    values[get_global_id(0)] = get_sub_group_id();
}
"""
PLAIN = "kernel void plain(global int *values) { values[get_global_id(0)] = 1; }\n"


def bitcode() -> bytes:
    text = 'target triple = "spir64-unknown-unknown"\ndefine spir_kernel void @plain() { ret void }\n'
    return bytes(llvm.parse_assembly(text, llvm.create_context()).as_bitcode())


def of_newer_llvm(content: bytes) -> bytes:
    """The bitcode with another epoch in its header, which is what LLVM changes when it breaks the format."""
    for bit in range(8 * 64):
        changed = bytearray(content)
        changed[bit // 8] ^= 1 << bit % 8
        try:
            llvm.parse_bitcode(bytes(changed), llvm.create_context())
        except RuntimeError as error:
            if "Incompatible epoch" in str(error):
                return bytes(changed)
    raise AssertionError("no bit of the header is the epoch's")


@pytest.fixture
def kernels(tmp_path: Path) -> Path:
    """A folder with a kernel file of each kind, each bad in its own way or good."""
    folder = tmp_path / "kernels"
    folder.mkdir()
    texts = {
        "plain.cl": PLAIN,
        "two.cl": TWO,
        "required.cl": REQUIRED_SIZE,
        "groups.cl": SUBGROUPS,
        "empty.cl": "",
        "blank.cl": " \n\n",
        "helper.cl": "float twice(float x) { return 2 * x; }\n",
        "broken.cl": "kernel void broken(global int *values)\n{\n    values[0] = nothing;\n}\n",
        "broken.ll": "define void @broken( {\n",
    }
    contents = {
        "newer.bc": of_newer_llvm(bitcode()),
        "truncated.bc": bitcode()[:-200],
        "garbage.bc": bytes(range(256)),
        "garbage.cl": bytes(range(128, 256)),
    }
    for name, text in texts.items():
        (folder / name).write_text(text)
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    return folder


CASES = {
    "missing file": (["nowhere.cl", "--factor", "2"], 2, "nowhere.cl: No such file or directory"),
    "a folder": ([".", "--factor", "2"], 2, "Is a directory"),
    "empty file": (["empty.cl", "--factor", "2"], 2, "empty.cl: the file is empty"),
    "blank file": (["blank.cl", "--factor", "2"], 2, "blank.cl: the file is empty"),
    "no kernel": (["helper.cl", "--factor", "2"], 2, "there is no kernel in the source"),
    "unknown kernel": (["plain.cl", "-k", "other", "--factor", "2"], 2, "no kernel 'other'; there is: plain"),
    "kernel without name": (["plain.cl", "-k", "", "--factor", "2"], 2, "no kernel ''; there is: plain"),
    "broken IR": (["broken.ll", "--factor", "2"], 2, "not LLVM IR"),
    "no factor": (["plain.cl"], 2, "give --factor, or --device"),
    "factor and device": (["plain.cl", "--factor", "2", "--device", "tahiti"], 2, "but not both"),
    "factor 0": (["plain.cl", "--factor", "0"], 2, "the factor must be at least 1, not 0"),
    "negative factor": (["plain.cl", "--factor", "-4"], 2, "the factor must be at least 1, not -4"),
    "factor in words": (["plain.cl", "--factor", "four"], 2, "'four' is not a whole number"),
    "half a factor": (["plain.cl", "--factor", "2.5"], 2, "'2.5' is not a whole number"),
    "dimension 3": (["plain.cl", "--factor", "2", "--dim", "3"], 2, "the dimension must be 0, 1 or 2, not 3"),
    "negative dimension": (["plain.cl", "--factor", "2", "--dim", "-1"], 2, "must be 0, 1 or 2, not -1"),
    "explained dimension 3": (["plain.cl", "--explain", "--dim", "3"], 2, "must be 0, 1 or 2, not 3"),
    "duplicate dimension": (
        ["plain.cl", "--factor", "2", "--dim", "1", "--factor", "4", "--dim", "1"],
        2,
        "a dimension can be coarsened only once",
    ),
    "factors without dimensions": (
        ["plain.cl", "--factor", "2", "--factor", "4"],
        2,
        "several factors need as many dimensions",
    ),
    "stride 0": (["plain.cl", "--factor", "2", "--stride", "0"], 2, "the stride must be at least 1, not 0"),
    "factor that doesn't divide": (["required.cl", "--factor", "3"], 2, "which factor 3 does not divide"),
    "stride that doesn't divide": (
        ["required.cl", "--factor", "2", "--stride", "3"],
        2,
        "stride 3 does not divide the coarsened local size 4",
    ),
    "unknown form": (["plain.cl", "--factor", "2", "--emit", "asm"], 2, "'asm' is not one of 'cl', 'll'"),
    "unknown option": (["plain.cl", "--faktor", "2"], 2, "no such option: --faktor"),
    "unknown build option": (
        ["plain.cl", "--factor", "2", "--build-option", "-cl-nonsense"],
        2,
        "unknown OpenCL build option '-cl-nonsense'",
    ),
    "definition without name": (["plain.cl", "--factor", "2", "-D", "=3"], 2, "-D needs a name"),
    "missing include folder": (["plain.cl", "--factor", "2", "-I", "nowhere"], 2, "there is no such folder"),
    "no file": (["--factor", "2"], 2, "missing argument 'KERNEL.cl'"),
    "unknown device": (["plain.cl", "--device", "gameboy"], 4, "known: fermi, kepler, cypress, tahiti, h200, "),
    "newer bitcode": (["newer.bc", "--factor", "2"], 2, "bitcode that LLVM"),
    "truncated bitcode": (["truncated.bc", "--factor", "2"], 2, "bitcode that LLVM"),
    "no bitcode": (["garbage.bc", "--factor", "2"], 2, "garbage.bc: not LLVM bitcode"),
    "no text": (["garbage.cl", "--factor", "2"], 2, "garbage.cl: neither text nor LLVM bitcode"),
    "refused": (
        ["groups.cl", "--factor", "2"],
        3,
        "groups.cl:4:32: get_sub_group_id is a sub-group operation",
    ),
    "refused prediction": (["groups.cl", "--device", "tahiti"], 3, "groups.cl:4:32: get_sub_group_id is a"),
    "refused explanation": (["groups.cl", "--explain"], 3, "groups.cl:4:32: get_sub_group_id is a sub-group"),
}


@pytest.mark.parametrize("case", CASES)
def test_bad_input_is_one_line_and_writes_nothing(
    case: str, kernels: Path, monkeypatch: pytest.MonkeyPatch, run: Callable[..., Any]
) -> None:
    words, code, message = CASES[case]
    monkeypatch.chdir(kernels)
    before = sorted(kernels.iterdir())
    outcome = run("apply", *words, "-o", "output.cl")
    assert (outcome.code, outcome.out) == (code, "")
    assert message in outcome.error
    assert sorted(kernels.iterdir()) == before


@pytest.mark.parametrize(
    ("output", "message"),
    [
        ("folder", "folder: can't be written: it is a folder"),
        ("nowhere/output.cl", "nowhere/output.cl: can't be written: No such file or directory"),
        ("plain.cl/output.cl", "plain.cl/output.cl: can't be written: Not a directory"),
    ],
)
def test_output_that_cant_be_written(
    output: str, message: str, kernels: Path, monkeypatch: pytest.MonkeyPatch, run: Callable[..., Any]
) -> None:
    monkeypatch.chdir(kernels)
    (kernels / "folder").mkdir()
    before = sorted(kernels.rglob("*"))
    outcome = run("apply", "plain.cl", "--factor", 2, "-o", output)
    assert (outcome.code, outcome.error) == (2, message)
    assert sorted(kernels.rglob("*")) == before


def test_a_failure_leaves_the_old_output_alone(kernels: Path, run: Callable[..., Any]) -> None:
    output = kernels / "output.cl"
    output.write_text("as it was")
    assert run("apply", kernels / "plain.cl", "--factor", 0, "-o", output).code == 2
    assert output.read_text() == "as it was"


def test_a_syntax_error_is_shown_as_clang_shows_it(kernels: Path, run: Callable[..., Any]) -> None:
    outcome = run("apply", kernels / "broken.cl", "--factor", "2", "-o", kernels / "output.cl")
    assert outcome.code == 2
    first, line, caret = outcome.err.splitlines()
    assert first.endswith("broken.cl:3:17: error: use of undeclared identifier 'nothing'")
    assert (line.split("|")[1], caret.split("|")[1]) == ("     values[0] = nothing;", "                 ^~~~~~~")
    assert not (kernels / "output.cl").exists()


def test_several_errors_of_clang_are_shown_whole(tmp_path: Path, run: Callable[..., Any]) -> None:
    path = tmp_path / "twice.cl"
    path.write_text("kernel void twice(global int *values)\n{\n    one();\n    values[0] = two;\n}\n")
    outcome = run("apply", path, "--factor", 2)
    assert outcome.code == 2
    first, line, _, second, *_ = outcome.err.splitlines()
    assert f"{path}:3:5: error: " in first and f"{path}:4:17: error: " in second
    assert line.endswith("    one();")


PREDICT = {
    "unknown device": (["-d", "gameboy"], 4, "'gameboy' is neither a known device nor an OpenCL device of this"),
    "unnamed device": (["-d", ""], 4, "'' is neither a known device nor an OpenCL device of this machine"),
    "no device": ([], 2, "missing option '-d' / '--device'"),
    "dimension 3": (["-d", "tahiti", "--dim", "3"], 2, "the dimension must be 0, 1 or 2, not 3"),
    "no such model": (["-d", "tahiti", "--models", "."], 2, "there is no launch model in ."),
    "no such cascade": (
        ["-d", "tahiti", "--models", ".", "--model", "cascade"],
        4,
        "there is no cascade of tahiti (AMD Radeon HD 7970) in .; cascades: none",
    ),
    "several kernels": (["-d", "tahiti", "-f", "json"], 2, "choose one with -k"),
    "unknown form": (["-d", "tahiti", "-f", "xml"], 2, "'xml' is not one of 'table', 'json'"),
}


@pytest.mark.parametrize("case", PREDICT)
def test_predictions_refuse(
    case: str, kernels: Path, monkeypatch: pytest.MonkeyPatch, run: Callable[..., Any]
) -> None:
    words, code, message = PREDICT[case]
    monkeypatch.chdir(kernels)
    file = "two.cl" if case == "several kernels" else "plain.cl"
    outcome = run("predict", file, *words)
    assert (outcome.code, outcome.out) == (code, "")
    assert message in outcome.error
