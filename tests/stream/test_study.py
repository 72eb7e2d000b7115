"""The studies of streams measure what there is, and compare its results with NumPy's."""

from __future__ import annotations

import re
from argparse import Namespace
from dataclasses import replace
from math import log2
from pathlib import Path

import numpy as np
import pyopencl as cl
import pytest

from coarsen.dispatch.tuned_file import TunedFile
from coarsen.errors import InvalidInputError
from coarsen.models.inputs.times import InputPoint, VersionTimes
from coarsen.opencl_bench.inputs.evidence import Evidence
from coarsen.opencl_bench.studies import chains, reductions, turns
from coarsen.stream import Reduce
from coarsen.stream.reduction_choice import default_file
from coarsen.stream.reduction_text import PARAMETERS

pytestmark = pytest.mark.compiled_devices


@pytest.fixture(autouse=True)
def _few_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "SAID", {})
    monkeypatch.setattr(turns, "_ROUNDS", 2)
    monkeypatch.setattr(turns, "_SECONDS", 1e-5)


def test_fixed_versions_are_some_of_all() -> None:
    every = (*reductions.FIXED, *reductions.FIXED_BY_ROWS)
    assert all(value in PARAMETERS[name] for each in every for name, value in each.items())


def asked(**given: object) -> Namespace:
    """What the command is asked for."""
    return Namespace(
        **{
            "what": None,
            "powers": None,
            "sizes": None,
            "totals": None,
            "tuned": None,
            "drawn": 2,
            "seed": 1,
            "seconds": 1,
            **given,
        }
    )


def test_a_line_for_each_size(queue: cl.CommandQueue, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reductions, "FIXED", reductions.FIXED[:1])
    _, *lines = reductions.reductions(queue, asked(what=["iamax"], powers=(6, 7)))
    assert [line[1:3] for line in lines] == [("iamax", 64), ("iamax", 97), ("iamax", 128)]
    assert not any(turns.SAID.values())


def test_what_a_call_takes_the_host(queue: cl.CommandQueue, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reductions, "HOST_ROUNDS", 1)
    _, *lines = reductions.host(queue, asked())
    times = {way: float(each) for _, way, each in lines}
    assert min(times.pop("kernel"), times.pop("reduce")) > 0
    assert {"kernel, new array", "reduce, out", "pyopencl", "pipeline, out", "choice"} <= times.keys()


def test_products_over_shapes(queue: cl.CommandQueue, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reductions, "FIXED_BY_ROWS", reductions.FIXED_BY_ROWS[:1])
    found = {line[1:5] for line in reductions.products(queue, asked(totals=[32]))}
    assert {(4, 8, False, "chosen"), (4, 8, False, "pyopencl"), (10, 3, True, "FORM=1 LOCAL=32")} <= found
    assert not any(turns.SAID.values())


def test_held_out_sizes(
    queue: cl.CommandQueue, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tuned_by = (InputPoint("input-000", "", {"n": 100.0, "rows": 20.0, "width": 30.0}),)
    written = list[TunedFile]()

    def tune(reduction: Reduce, *_: object, **__: object) -> TunedFile:
        file = default_file(reduction._operation, reduction.source, queue.device, is_pinned=False)
        times = VersionTimes(tuned_by, (file.default_version.variant,), np.array([[1.0]]), 0)
        written.append(replace(file, evidence=Evidence("reduction.toml", 0.05, times).to_json()))
        return written[-1]

    monkeypatch.setattr(Reduce, "tune", tune)
    monkeypatch.setattr(reductions, "FIXED", reductions.FIXED[:1])
    monkeypatch.setattr(reductions, "FIXED_BY_ROWS", reductions.FIXED_BY_ROWS[:1])
    given = asked(what=["sum"], powers=(6, 8), totals=[4096], tuned=tmp_path, device="any")
    first, again = ([*reductions.reductions(queue, given)][1:] for _ in range(2))
    sizes = [line[2] for line in first]
    assert sizes == [line[2] for line in again] == reductions.held_out(written[0], given, 64, 256)
    assert len(written) == 1 and all(float(line[-1]) > 0 for line in first)
    assert re.search(r"sum: tuned: [01]\.\d\d, least [01]\.\d\d\n", capsys.readouterr().err)
    # Any other file has others.
    other = replace(written[0], evidence={**written[0].evidence, "margin": 0.04})
    drawn = [reductions.held_out(file, asked(seed=3, drawn=50), 64, 256) for file in (written[0], other)]
    assert drawn[0] != drawn[1] and not {64, 100, 128, 256} & {*drawn[0], *drawn[1]}
    assert reductions.held_out(written[0], asked(seed=3, drawn=50), 14, 22) == [14, 15, 17, 18, 19, 21, 22]
    shapes = {line[1:4] for line in reductions.products(queue, given) if line[4] == "tuned"}
    assert shapes == {(rows, 4096 // rows, True) for rows in reductions.held_out(written[1], given, 4, 1024)}
    assert not any(turns.SAID.values())
    with pytest.raises(InvalidInputError, match="of another device"):
        replace(written[0], driver="other").write(tmp_path / "sum.any.json")
        reductions.tuned_file(queue, "sum", given, 256)


@pytest.mark.parametrize(("what", "ways"), [("3 maps", 5), ("map and sum", 3)])
def test_chains(what: str, ways: int, queue: cl.CommandQueue) -> None:
    lines = [*chains.chain_lines(queue, what, (64, 100))]
    assert [line[:2] for line in lines if line[1] in ("apart", "fused")] == [
        (n, word) for n in (64, 100) for word in ("apart", "fused")
    ]
    assert len(lines) >= 2 * ways
    assert {len(line) for line in lines} == {1 + len(turns.COMPARED)}
    assert not any(turns.SAID.values())


def test_stencils(queue: cl.CommandQueue, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chains, "GROUPS", ((16, 4),))
    monkeypatch.setattr(chains, "FACTORS", (2,))
    ways = [line[1] for line in chains.stencil_lines(queue, "5-point", [(9, 21)])]
    macros = [f"FUSE_first_stage={fused} INTERIOR_second_stage={own}" for fused in (0, 1) for own in (0, 1)]
    versions = [f"{each} 16×4 by 2" for each in macros]
    assert {*ways} <= {"untuned", *versions, *(f"{each} tile" for each in versions)}
    assert ways[0] == "untuned"
    assert not any(turns.SAID.values())


def test_break_evens(queue: cl.CommandQueue) -> None:
    _, *found, middle = reductions.breaks(queue, asked(what=["iamax"], powers=(16, 18)))
    assert found
    for *_, predicted, low, high, distance in found:
        outside = max(0, log2(max(low, 1) / predicted), log2(predicted / min(high, 2**62)))
        assert float(distance) == pytest.approx(outside, abs=0.006)
    assert middle[1:5] == ("iamax", "", "", "median")
    assert not any(turns.SAID.values())


def test_what_is_wrong_is_said(queue: cl.CommandQueue, capsys: pytest.CaptureFixture[str]) -> None:
    ways = {
        "right": turns.Way(lambda: None, lambda _: np.ones(2)),
        "wrong": turns.Way(lambda: None, lambda _: 1.1),
    }
    assert turns.correct("one", ways, 1.0, 0).keys() == {"right"}
    assert [*turns.SAID.values()] == [True]
    assert "one: wrong: ValueError: a wrong result: the largest difference is 0.1" in capsys.readouterr().err
