"""The studies of streams measure what there is, and compare its results with NumPy's."""

from __future__ import annotations

import numpy as np
import pyopencl as cl
import pytest

from coarsen.opencl_bench.studies import chains, reductions, shapes, turns
from coarsen.stream import Map, pipeline
from coarsen.stream.reduction_text import PARAMETERS

pytestmark = pytest.mark.compiled_devices


@pytest.fixture(autouse=True)
def _few_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "FAILED", [])
    monkeypatch.setattr(turns, "_ROUNDS", 2)
    monkeypatch.setattr(turns, "_SECONDS", 1e-5)


def test_fixed_versions_are_some_of_all() -> None:
    every = (*reductions.FIXED, *shapes.FIXED)
    assert all(value in PARAMETERS[name] for each in every for name, value in each.items())


def test_a_line_for_each_size(queue: cl.CommandQueue, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reductions, "FIXED", reductions.FIXED[:1])
    lines = [*reductions.rows(queue, "iamax", (64, 100), reductions.ours("iamax"))]
    assert [line[1:3] for line in lines] == [["iamax", 64], ["iamax", 100]]
    assert not turns.FAILED


def test_what_a_call_takes_the_host(queue: cl.CommandQueue) -> None:
    (_, *lines) = reductions.host_lines(queue, rounds=1, calls=2)
    times = {way: float(each) for _, way, each in lines}
    assert min(times.pop("kernel"), times.pop("reduce")) > 0
    assert {"kernel, new array", "reduce, out", "pyopencl", "choice"} <= times.keys()


def test_products_over_shapes(queue: cl.CommandQueue, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shapes, "FIXED", shapes.FIXED[:1])
    found = {line[1:5] for line in shapes.measured(queue, shapes.product(), 32)}
    assert {(4, 8, False, "chosen"), (10, 3, True, "FORM=1 LOCAL=32")} <= found
    assert not turns.FAILED


@pytest.mark.parametrize(("what", "ways"), [("3 maps", 5), ("map and sum", 3)])
def test_chains(what: str, ways: int, queue: cl.CommandQueue) -> None:
    lines = [*chains.chain_lines(queue, what, (64, 100))]
    assert [line[:2] for line in lines if line[1] in ("apart", "fused")] == [
        (n, word) for n in (64, 100) for word in ("apart", "fused")
    ]
    assert len(lines) >= 2 * ways
    assert {len(line) for line in lines} == {1 + len(turns.COMPARED)}
    assert not turns.FAILED


def test_channels_are_saved() -> None:
    whole = pipeline(*(Map(f"m{number}", "u + 1") for number in range(3)))
    saved = [chains.fused_chain(whole, is_given_up=given_up).saved_bytes for given_up in (False, True)]
    # Two channels of floats: read no more, and then neither written.
    assert saved == [2 * 4, 2 * 8]


def test_stencils(queue: cl.CommandQueue, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chains, "GROUPS", ((16, 4),))
    monkeypatch.setattr(chains, "FACTORS", (2,))
    ways = [line[1] for line in chains.stencil_lines(queue, "5-point", [(9, 21)])]
    macros = [f"FUSE_first_stage={fused} INTERIOR_second_stage={own}" for fused in (0, 1) for own in (0, 1)]
    versions = [f"{each} 16×4 by 2" for each in macros]
    assert {*ways} <= {"untuned", *versions, *(f"{each} tile" for each in versions)}
    assert ways[0] == "untuned"
    assert not turns.FAILED


def test_break_evens(queue: cl.CommandQueue) -> None:
    *found, middle = chains.break_lines(queue, "tmv", (6, 8), None)
    assert found
    for *_, predicted, low, high, distance in found:
        assert (float(distance) == 0) == (low <= predicted <= high)
    assert middle[2:3] == ("median",)
    assert not turns.FAILED


def test_what_is_wrong_is_said(queue: cl.CommandQueue, capsys: pytest.CaptureFixture[str]) -> None:
    ways = {
        "right": turns.Way(lambda: None, lambda _: np.ones(2)),
        "wrong": turns.Way(lambda: None, lambda _: 1.1),
    }
    assert turns.correct("one", ways, 1.0, 0).keys() == {"right"}
    assert turns.FAILED == ["one: wrong"]
    assert "one: wrong: ValueError: a wrong result: the largest difference is 0.1" in capsys.readouterr().err
