"""The harness itself: a lesson whose CHECK lines don't fit fails, and a RUN line of another form is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.textual.run_lines import complaint, outcome, run_lines

VERSION = "// RUN: coarsen --version | filecheck %s\n"


def lesson(folder: Path, text: str) -> Path:
    path = folder / "lesson.cl"
    path.write_text(text)
    return path


def complaints(path: Path) -> list[str]:
    return [complaint(line, outcome(line).checked) for line in run_lines(path)]


def test_lines_that_fit(tmp_path: Path) -> None:
    assert complaints(lesson(tmp_path, f"{VERSION}// CHECK: coarsen\n")) == [""]


def test_lines_that_do_not_fit_are_told_with_the_output(tmp_path: Path) -> None:
    (found,) = complaints(lesson(tmp_path, f"{VERSION}// CHECK: coarser\n"))
    assert 'Couldn\'t match "coarser"' in found and "--- output ---\ncoarsen" in found


def test_what_must_not_be_there(tmp_path: Path) -> None:
    (found,) = complaints(lesson(tmp_path, f"{VERSION}// CHECK-NOT: coarsen\n"))
    assert found


def test_a_prefix_without_lines_is_a_mistake(tmp_path: Path) -> None:
    text = VERSION.replace("%s\n", "%s --check-prefix OTHER\n") + "// CHECK: coarsen\n"
    (found,) = complaints(lesson(tmp_path, text))
    assert "No check strings found with prefix OTHER" in found


def test_errors_are_checked_where_that_is_asked_for(tmp_path: Path) -> None:
    text = "// RUN: not coarsen apply 2>&1 | filecheck %s\n// RUN: not coarsen apply | filecheck %s\n"
    both, plain = run_lines(lesson(tmp_path, f"{text}// CHECK: error\n"))
    assert both.fails and plain.fails
    assert "error" in outcome(both).checked
    assert outcome(plain).checked == "" and "error" in outcome(plain).unchecked


@pytest.mark.parametrize(
    "line", ["coarsen --version", "clang %s | filecheck %s", "coarsen --version | grep coarsen"]
)
def test_other_commands_are_refused(line: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="write 'RUN:"):
        list(run_lines(lesson(tmp_path, f"// RUN: {line}\n")))
