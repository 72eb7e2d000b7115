"""Files with several kernels: commands take all of them, in their order; one that is refused stops no other."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from coarsen.frontend.clang import Clang
from coarsen.frontend.lower import list_kernels
from coarsen.opencl_bench.workloads.described.read import read_table

Run = Callable[..., Any]
SOURCE = """\
typedef struct { float x; int n; } Pair;
kernel void first(global Pair *p) { p[get_global_id(0)].x += 1; }
kernel void second(global int *o) { o[get_global_id(0)] = sub_group_any(1); }
kernel void third(global Pair *p, global float *q) { q[get_global_id(0)] = p[get_global_id(0)].n; }
"""
REFUSED = ":3:59: sub_group_any is a sub-group operation [sub-group]"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "pairs.cl"
    path.write_text(SOURCE)
    return path


def test_apply_writes_one_file_for_each(run: Run, file: Path) -> None:
    outcome = run("apply", str(file), "--factor", "2", "-o", str(file.with_name("made.cl")))
    assert outcome.code == 3
    assert outcome.err.strip().endswith(REFUSED)
    assert sorted(path.name for path in file.parent.iterdir()) == ["made.first.cl", "made.third.cl", "pairs.cl"]
    for name in ("first", "third"):
        assert list_kernels(file.with_name(f"made.{name}.cl")) == [name]


@pytest.mark.parametrize("place", [".", "..", "/dev/null"])
def test_apply_needs_a_name_for_the_files(run: Run, file: Path, place: str) -> None:
    outcome = run("apply", str(file), "--factor", "2", "-o", place)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.error.startswith(f"{place}: several kernels go into files of their own")


def test_apply_prints_them_in_their_order(run: Run, file: Path) -> None:
    outcome = run("apply", str(file), "--factor", "2")
    assert (outcome.code, outcome.out.count("kernel void")) == (3, 2)
    assert outcome.out.index("void first(") < outcome.out.index("void third(")
    assert "-o FILE writes a file for each" in outcome.err
    assert run("apply", str(file), "--factor", "2", "-k", "third").code == 0


def test_apply_explains_and_reports_each(run: Run, file: Path) -> None:
    for options in (["--explain"], ["--factor", "2", "--report"]):
        outcome = run("apply", str(file), *options)
        assert (outcome.code, outcome.err.strip().endswith(REFUSED)) == (3, True)
        headings = [line for line in outcome.out.splitlines() if line.startswith("kernel ")]
        assert [heading.split()[1].strip(",:") for heading in headings] == ["first", "third"]
    reports = json.loads(run("apply", str(file), "--factor", "2", "--report", "-f", "json").out)
    assert [(each["kernel"], each["refusal"] is None) for each in reports] == [
        *(("first", True), ("second", False), ("third", True))
    ]


def test_apply_of_binary_code_needs_a_file(run: Run, file: Path) -> None:
    outcome = run("apply", str(file), "--factor", "2", "--emit", "spv")
    assert (outcome.code, outcome.out) == (2, "")
    assert "choose one with -k, or -o FILE for all: first, second, third" in outcome.err


@pytest.mark.parametrize(
    "options", [["predict", "-d", "tahiti"], ["predict", "-d", "h200"], ["apply", "--factor", "2"]]
)
def test_the_file_is_compiled_once(
    run: Run, file: Path, options: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    sources: list[str | None] = []
    compile_with = Clang.run

    def remember(clang: Clang, arguments: list[str], source: str | None = None) -> CompletedProcess[str]:
        sources.append(source)
        return compile_with(clang, arguments, source)

    monkeypatch.setattr(Clang, "run", remember)
    assert run(*options, str(file)).code == 3
    assert len(set(sources)) == len(sources), "each set of extensions has macros of its own before the source"


@pytest.mark.parametrize("model", [["--dim", "0"], ["--model", "launch", "--no-measure"]])
def test_predict_answers_for_each(run: Run, file: Path, model: list[str]) -> None:
    outcome = run("predict", str(file), "-d", "intel", *model)
    assert outcome.code == 3
    assert outcome.err.strip().endswith(REFUSED)
    headings = [line.split()[1] for line in outcome.out.splitlines() if line.startswith("kernel ")]
    assert headings == ["first", "third"]
    outcome = run("predict", str(file), "-d", "intel", *model, "-f", "json")
    assert (outcome.code, outcome.out) == (2, "")
    assert "choose one with -k: first, second, third" in outcome.err


@pytest.mark.parametrize("inputs", [[], ["--inputs"]])
def test_each_gets_a_description(run: Run, file: Path, inputs: list[str]) -> None:
    taken = file.with_name("pairs.third.toml")
    taken.write_text("")
    outcome = run("describe", str(file), *inputs)
    assert (outcome.code, list(file.parent.glob("*.first.toml"))) == (2, [])
    assert f"{taken}: the file is there already" in outcome.err
    outcome = run("describe", str(file), *inputs, "--force")
    assert (outcome.code, outcome.out.count("wrote ")) == (0, 3)
    for name in ("first", "second", "third"):
        assert read_table(file.with_name(f"pairs.{name}.toml")).text("kernel") == name
    # Whoever names the source is told of them, and not to write one that `describe` never writes.
    outcome = run("tune", str(file), "-d", "intel")
    listed = "pairs.first.toml or pairs.second.toml or pairs.third.toml"
    assert (outcome.code, outcome.error) == (2, f"{file}: there is no pairs.toml beside it; give {listed}")
