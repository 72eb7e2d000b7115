"""`coarsen features --compiled`: the original and coarsened kernels side by side, and what it says of failures."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import coarsen
from coarsen.devices.compiled.build import ProgramText
from coarsen.devices.compiled.reading import Reading
from coarsen.devices.discovery import DeviceDescription
from coarsen.models.compiled.facts import CompiledFacts
from coarsen.models.compiled.inputs import compiled_inputs
from coarsen.runtime import compiled_variants

Run = Callable[..., Any]
FACTS = CompiledFacts(item_lanes=16, loop_lanes=1, operation_bytes=12.5, code_bytes=100, instructions=30)


class Compiler:
    """Stands in for the reading process: code grows with the programs, and the last fails where that is wanted."""

    def __init__(self, failing: str = "") -> None:
        self.programs: list[ProgramText] = []
        self._failing = failing

    def __call__(self, device: DeviceDescription, programs: Sequence[ProgramText]) -> list[Reading]:
        self.programs += programs
        readings = [Reading(replace(FACTS, code_bytes=100 * (1 + place))) for place in range(len(programs))]
        return [*readings[:-1], Reading(failure=self._failing)] if self._failing else readings


@pytest.fixture
def compiler(monkeypatch: pytest.MonkeyPatch) -> Compiler:
    found = Compiler()
    monkeypatch.setattr(compiled_variants, "read_compiled_facts", found)
    return found


def test_json_has_facts_and_their_changes(scale: Path, run: Run, compiler: Compiler) -> None:
    words = ("--factors", "4", "--compiled", "intel", "--local-size", "64", "-f", "json")
    outcome = run("features", scale, *words)
    assert (outcome.code, outcome.err) == (0, "")
    found = json.loads(outcome.out)["compiled"]
    assert found["local_size"] == [64] and "Intel" in found["device"]
    assert list(found["facts"]) == ["1", "4"], "the original is always there"
    assert found["facts"]["1"]["item_lanes"] == 16 and found["facts"]["1"]["vectorised"] == "work-items"
    assert found["facts"]["4"]["code_bytes"] == 200 and found["facts"]["4"]["registers"] is None
    assert found["inputs"] == {"4": compiled_inputs(FACTS, replace(FACTS, code_bytes=200))}
    original, coarsened = compiler.programs
    assert original.source == scale.read_text() and original.local_size == (64,)
    assert coarsened.source != original.source and coarsened.local_size == (16,)


def test_the_table_follows_that_of_the_features(scale: Path, run: Run, compiler: Compiler) -> None:
    outcome = run("features", scale, "--factors", "1,2", "--compiled", "intel")
    plain = run("features", scale, "--factors", "1,2")
    assert outcome.out.startswith(plain.out)
    lines = [line.split() for line in outcome.out.removeprefix(plain.out).splitlines() if line]
    assert lines[0][:2] == ["compiled", "for"]
    assert lines[1] == ["fact", "as", "it", "is", "2"]
    rows = {" ".join(line[:-2]): line[-2:] for line in lines[2:]}
    assert rows == {
        "vectorised over": ["work-items", "work-items"],
        "work-items in a vector": ["16", "16"],
        "iterations in a vector": ["1", "1"],
        "bytes of an operation": ["12.5", "12.5"],
        "bytes of code": ["100", "200"],
        "instructions": ["30", "30"],
    }, "what is not known has no row"


def test_a_failure_has_a_note(scale: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled_variants, "read_compiled_facts", Compiler("its compiler crashed"))
    outcome = run("features", scale, "--factors", "2", "--compiled", "intel")
    assert outcome.code == 0
    assert outcome.err == "coarsen: note: factor 2: its compiler crashed\n"
    outcome = run("features", scale, "--factors", "2", "--compiled", "intel", "-f", "json")
    assert json.loads(outcome.out)["compiled"]["facts"]["2"] == {"failure": "its compiler crashed"}


def test_without_a_disassembler_it_says_what_to_install(
    scale: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    bare = [Reading(CompiledFacts(item_lanes=16, code_bytes=100))] * 2
    monkeypatch.setattr(compiled_variants, "read_compiled_facts", lambda device, programs: bare)
    outcome = run("features", scale, "--factors", "2", "--compiled", "intel")
    assert outcome.code == 0 and "pip install 'coarsen[compiled]'" in outcome.err


def test_a_file_s_own_folder_is_looked_in(tmp_path: Path, run: Run, compiler: Compiler) -> None:
    (tmp_path / "by.h").write_text("#define BY 3\n")
    kernel = tmp_path / "by.cl"
    kernel.write_text('#include "by.h"\nkernel void by(global int *v) { v[get_global_id(0)] *= BY; }')
    assert run("features", kernel, "--factors", "2", "--compiled", "intel").code == 0
    assert f"-I{tmp_path}" in compiler.programs[0].options


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("--compiled", "cray"), 4, "no OpenCL device is called 'cray'"),
        (("--compiled", ""), 4, "no OpenCL device is called ''"),
    ],
)
def test_bad_devices(scale: Path, run: Run, words: tuple[str, ...], code: int, message: str) -> None:
    outcome = run("features", scale, *words)
    assert outcome.code == code and message in outcome.error


def test_llvm_ir_has_no_text_for_a_device(scale: Path, run: Run, tmp_path: Path) -> None:
    module = tmp_path / "scale.ll"
    module.write_text(coarsen.coarsen(scale, factor=2).llvm_ir)
    outcome = run("features", module, "--compiled", "intel")
    assert outcome.code == 2 and "--compiled needs OpenCL C" in outcome.error


def test_a_real_device(scale: Path, run: Run) -> None:
    outcome = run("features", scale, "--factors", "2", "--compiled", "intel", "-f", "json")
    assert (outcome.code, outcome.err) == (0, "")
    facts = json.loads(outcome.out)["compiled"]["facts"]
    assert facts["1"]["item_lanes"] and facts["1"]["code_bytes"] and facts["2"]["instructions"]
