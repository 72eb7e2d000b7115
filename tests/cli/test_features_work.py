"""`coarsen apply --features work`: functions of the sizes, and their values."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from coarsen.analysis.expressions import evaluate
from tests.analysis.expressions_of_data import expression_from_data

Run = Callable[..., Any]
ROWS = """
kernel void rows(global const float *matrix, global float *sums, int width)
{
    float sum = 0.0f;
    for (int column = 0; column < width; ++column)
        sum += matrix[get_global_id(0) * width + column];
    sums[get_global_id(0)] = sum;
}
"""


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    """A kernel whose work depends on an argument."""
    path = tmp_path / "rows.cl"
    path.write_text(ROWS)
    return path


def work_lines(output: str) -> list[str]:
    """The lines about work, behind the table of features."""
    lines: list[str] = output.splitlines()
    return lines[lines.index("the work of a work-item, a mean over the NDRange") :]


def test_functions_are_printed(rows: Path, run: Run) -> None:
    outcome = run("apply", rows, "--features", "work")
    assert (outcome.code, outcome.err) == (0, "")
    lines = work_lines(outcome.out)
    assert "line 5  width" in lines
    assert ["bytes", "between", "neighbours", "along", "0", "4·width"] in [line.split() for line in lines]
    [start] = [number for number, line in enumerate(lines) if line.startswith("line 7, store to sums, 4 bytes")]
    assert lines[start + 1].split() == ["times", "1"]
    assert all(line == line.rstrip() for line in lines)


def test_values_are_printed_at_sizes(rows: Path, run: Run) -> None:
    words = ("work", "--global-size", "1024", "--local-size", "64", "--size", "width=300")
    lines = work_lines(run("apply", rows, "--features", *words).out)
    assert lines[1] == "for global_size(0) = 1024, local_size(0) = 64, width = 300"
    assert "line 5    300  width" in lines
    assert any(line.split() == ["float", "300", "width"] for line in lines)


def test_a_value_that_needs_another_argument_is_left_out(rows: Path, run: Run) -> None:
    lines = work_lines(run("apply", rows, "--features", "work", "--global-size", "1024").out)
    assert "line 5      -  width" in lines


def test_json_has_the_functions_and_their_values(rows: Path, run: Run) -> None:
    words = ("work", "--global-size", "64", "--size", "width=5", "-f", "json")
    work = json.loads(run("apply", rows, "--features", *words).out)["work"]
    [loop] = work["loops"]
    assert loop["count"] == "width" and not loop["is_bound"]
    assert work["sizes"] == {"global_size(0)": 64, "local_size(0)": 256, "width": 5}
    for name, data in work["instructions"].items():
        assert evaluate(expression_from_data(data), work["sizes"]) == work["values"][name]
    load, store = work["accesses"]
    assert load["strides"] == [{"product": [4, "width"]}, 0, 0]
    assert (store["to"], store["store"], store["of_item"]) == ("sums", True, 4)
    assert work["unknown"] == []


PLANNED = ("work", "--global-size", "1024", "--local-size", "64", "--size", "width=300")


def test_the_work_of_a_configuration_is_printed_beside_the_original(rows: Path, run: Run) -> None:
    outcome = run("apply", rows, "--features", *PLANNED, "--factor", "4", "--stride", "2")
    assert (outcome.code, outcome.err) == (0, "")
    lines = outcome.out.splitlines()
    title = "factor 4 along dimension 0 with stride 2: the work of a coarsened work-item, from the plan"
    cells = [line.split() for line in lines[lines.index(title) :]]
    assert ["float", "300", "1200"] in cells
    assert ["stores", "1", "4"] in cells
    assert ["merged", "loads", "0"] in cells


def test_json_has_the_work_of_a_configuration(rows: Path, run: Run) -> None:
    words = ("--factor", "2", "--level", "group", "-f", "json")
    planned = json.loads(run("apply", rows, "--features", *PLANNED, *words).out)["planned_work"]
    assert planned["configuration"] == "factor 2 of work-groups along dimension 0"
    assert (planned["global_size"], planned["local_size"]) == ([512, 1, 1], [64, 1, 1])
    assert (planned["original"]["loads"], planned["values"]["loads"]) == (300, 600)
    assert planned["plan"]["copied_regions"] == 0
    assert sum(access["count"] for access in planned["accesses"]) == 602


def test_a_configuration_that_is_refused(tmp_path: Path, run: Run) -> None:
    path = tmp_path / "tile.cl"
    path.write_text(
        "kernel void k(global int *to) { local int tile[64]; tile[get_local_id(0)] = 1; "
        "barrier(CLK_LOCAL_MEM_FENCE); to[get_global_id(0)] = tile[0]; }"
    )
    outcome = run("apply", path, "--features", "work", "--global-size", "64", "--factor", "2", "--any-size")
    assert outcome.code != 0 and "needs-whole-groups" in outcome.err and "Traceback" not in outcome.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("paper", "--global-size", "64"), "--global-size goes with --features work"),
        (("paper", "--size", "width=3"), "--size goes with --features work"),
        (("paper", "--factor", "2"), "--factor goes with --features work"),
        (("work", "--factor", "2"), "--factor needs --global-size too: work is that of a launch"),
        (("work", "--stride", "2"), "--stride, --level and transforms go with --factor"),
        ((*PLANNED, "--factor", "0"), "the factor must be at least 1, not 0"),
        (("work", "--size", "width=3"), "--size needs --global-size too: work is that of a launch"),
        (
            ("work", "--global-size", "64x"),
            "--global-size takes one to three sizes, such as 4096 or 512x512, not '64x'",
        ),
        (
            ("work", "--global-size", "64", "--size", "width"),
            "--size takes a name and a whole number, such as width=1024, not 'width'",
        ),
        (
            ("work", "--global-size", "64", "--size", "widht=4"),
            "kernel rows has no whole argument 'widht' (did you mean width?)",
        ),
    ],
)
def test_bad_sizes_are_one_clear_line(words: tuple[str, ...], message: str, rows: Path, run: Run) -> None:
    outcome = run("apply", rows, "--features", *words)
    assert (outcome.code, outcome.out) == (2, "")
    assert message in outcome.err
    assert outcome.err.count("\n") == 1
