"""Inputs of a space: the same ones at every call, with corners, within the limits, all different."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.inputs.drawing import draw_inputs
from coarsen.opencl_bench.workloads.described.inputs import InputSpace, read_inputs, write_inputs

SPACE = InputSpace(
    ranges={"width": (16, 4096), "height": (16, 4096)},
    limits=("width * height <= 100000", "width * height >= 256"),
    count=20,
)


def test_drawn_twice_they_are_the_same() -> None:
    assert draw_inputs(SPACE) == draw_inputs(SPACE)


def test_corners_come_first() -> None:
    sizes = [(one["width"], one["height"]) for one in draw_inputs(SPACE)]
    assert sizes[:6] == [(16, 16), (4096, 16), (16, 4096), (256, 256), (255, 255), (257, 257)]
    beyond = InputSpace({"width": (16, 4096), "height": (1000, 4096)}, ("width * height <= 100000",), count=2)
    assert [one["width"] for one in draw_inputs(beyond)] == [16, 64]


def test_all_are_within_the_limits_and_cover_the_ranges() -> None:
    inputs = draw_inputs(SPACE)
    assert all(256 <= one["width"] * one["height"] <= 100_000 for one in inputs)
    assert len(inputs) == len({tuple(one.values()) for one in inputs}) == 20
    for name in ("width", "height"):
        assert (min(one[name] for one in inputs), max(one[name] for one in inputs)) == (16, 4096)
    # Evenly over the logarithm: half of the drawn widths lie below the middle of the range.
    widths = np.log([one["width"] for one in inputs])
    assert 0.35 < (widths < np.log(256)).mean() < 0.75


def test_multiples_powers_and_fixed_sizes() -> None:
    space = InputSpace(
        {"items": (64, 5000), "levels": (4, 64)},
        multiples={"items": 64},
        powers_of_two=frozenset({"levels"}),
        fixed={"passes": 3},
        count=12,
    )
    inputs = draw_inputs(space)
    assert all(one["items"] % 64 == 0 and one["levels"] in (4, 8, 16, 32, 64) for one in inputs)
    assert {one["passes"] for one in inputs} == {3}


def test_spaces_that_cannot_be_drawn_from() -> None:
    with pytest.raises(InvalidInputError, match="only 3 of 24 sizes are within n <= 3"):
        draw_inputs(InputSpace({"n": (1, 1000)}, ("n <= 3",)))
    with pytest.raises(InvalidInputError, match="must compare two expressions"):
        draw_inputs(InputSpace({"n": (1, 9)}, ("n",)))


def test_lists_are_read_as_they_were_written(tmp_path: Path) -> None:
    inputs = draw_inputs(SPACE)
    write_inputs(tmp_path / "list.csv", inputs)
    assert [*dict(read_inputs(tmp_path / "list.csv")).values()] == [*inputs]
    assert [*dict(read_inputs(tmp_path / "list.csv"))][:2] == ["input-000", "input-001"]


def test_ranges_with_too_few_sizes_are_refused_without_limits() -> None:
    space = InputSpace(ranges={"n": (64, 256)}, multiples={"n": 64}, count=9)
    with pytest.raises(InvalidInputError, match=r"only 4 of 9 sizes are in the ranges n = \[64, 256\]: widen"):
        draw_inputs(space)
