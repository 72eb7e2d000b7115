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


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("paper", "--global-size", "64"), "--global-size goes with --features work"),
        (("paper", "--size", "width=3"), "--size goes with --features work"),
        (("paper", "--factor", "2"), "--features is of the kernel as it is"),
        (("work", "--wide-accesses"), "--features is of the kernel as it is"),
        (("work", "--dim", "0", "--dim", "1"), "--features is of the kernel as it is"),
        (("work", "--dim", "3"), "the dimension must be 0, 1 or 2"),
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
