"""The code of the explanation pages is what the tool makes today."""

from __future__ import annotations

from typing import Any

import pytest

import coarsen
from coarsen.cost.banks import ANY_DEVICE
from coarsen.cost.memory_report import memory_lines, memory_report
from coarsen.frontend.lower import lower
from coarsen.variant.coarsening import Coarsening
from tests.docs.conftest import ROOT
from tests.docs.snippets import blocks

PAGE = ROOT / "docs" / "explanation" / "how-coarsening-works.md"
MEMORY_PAGE = ROOT / "docs" / "explanation" / "memory-access.md"
# Which kernel of the page, coarsened how, and a line by which what came of it is found.
PRINTED: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("row_scale", {"factor": 2}, "int x_2 = (uint)x + 1;"),
    ("row_scale", {"factor": 2, "stride": 4}, "int x_2 = (uint)x + 4;"),
    ("row_scale", {"factor": 2, "dim": 1}, "int y_2 = (uint)y + 1;"),
    ("weigh", {"factor": 2, "fast_path": "never"}, "float sum_2 = 0.0f;"),
    ("weigh", {"factor": 2}, "if (condition & condition_2) {"),
    ("row_sums", {"factor": 2}, "if (!(condition & condition_2)) {"),
    ("reverse", {"factor": 2, "level": "group"}, "tile_2[l] = loaded;"),
)


@pytest.mark.parametrize(("kernel", "options", "line"), PRINTED)
def test_the_code_is_what_the_tool_prints(kernel: str, options: dict[str, Any], line: str) -> None:
    texts = [block.text for block in blocks(PAGE) if block.language == "c"]
    source = next(text for text in texts if f"kernel void {kernel}(" in text)
    printed = next(text for text in texts if line in text and not is_line_of(line, source))
    written = coarsen.coarsen(source, kernel=kernel, **options).opencl_c
    assert in_order(lines_of(printed), lines_of(written))


def test_what_is_told_of_memory_is_what_the_tool_tells() -> None:
    source, told = (block.text for block in blocks(MEMORY_PAGE))
    report = memory_report(lower(source), (Coarsening(2, 1),), ANY_DEVICE, (32, 8, 1))
    assert list(memory_lines(report)) == told.rstrip("\n").splitlines()


def test_code_that_the_tool_did_not_print_is_found() -> None:
    assert in_order(["a", "…", "d"], ["a", "b", "c", "d"])
    assert not in_order(["a", "c"], ["a", "b", "c", "d"])
    assert not in_order(["a", "…", "e"], ["a", "b", "c", "d"])


def is_line_of(line: str, text: str) -> bool:
    return line in lines_of(text)


def lines_of(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def in_order(printed: list[str], written: list[str]) -> bool:
    """Whether the lines stand one after the other in what was written; `…` stands for any that were left out."""
    return any(matches(printed, written[start:]) for start in range(len(written)))


def matches(printed: list[str], written: list[str]) -> bool:
    if not printed:
        return True
    if printed[0] == "…":
        return any(matches(printed[1:], written[skipped:]) for skipped in range(len(written) + 1))
    return bool(written) and printed[0] == written[0] and matches(printed[1:], written[1:])
