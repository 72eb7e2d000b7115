"""Each lesson's commands print what its CHECK lines say; CONTRIBUTING.md says how to add one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.textual.run_lines import complaint, outcome, run_lines

FOLDER = Path(__file__).parent / "lessons"
LESSONS = sorted(path for path in FOLDER.rglob("*") if path.suffix in (".cl", ".ll"))
# What the command line's users may get wrong, or a kernel that it refuses: never an error of its own.
EXPECTED_FAILURES = (2, 3)


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda path: path.relative_to(FOLDER).with_suffix("").as_posix())
def test_lesson(lesson: Path) -> None:
    lines = list(run_lines(lesson))
    assert lines, f"{lesson} has no RUN line"
    for line in lines:
        result = outcome(line)
        assert result.code in (EXPECTED_FAILURES if line.fails else (0,)), (result.unchecked + result.checked)[
            :2000
        ]
        found = complaint(line, result.checked)
        assert not found, found
