"""The command line run in this process, and kernels for it to read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from coarsen.cli.main import main

SCALE = """\
kernel void scale(global float *values, float factor, uint count)
{
    uint item = get_global_id(0);
    if (item < count)
        values[item] *= factor;
}
"""

# The barrier makes the branch uniform for the work-group, though its condition looks divergent.
HALVES = """\
kernel void halves(global int *values, local int *tile)
{
    int item = get_local_id(0);
    tile[item] = values[item];
    if (values[item] >= 0) {
        barrier(CLK_LOCAL_MEM_FENCE);
        values[item] = tile[get_local_size(0) - 1 - item];
    }
}
"""


@dataclass(frozen=True)
class Outcome:
    """How a run of the command line ended."""

    code: int
    out: str
    err: str

    @property
    def error(self) -> str:
        """The one line on standard error, without what every error starts with; fails if there are more."""
        lines = self.err.splitlines()
        assert len(lines) == 1, self.err
        assert lines[0].startswith("coarsen: error: "), self.err
        return lines[0].removeprefix("coarsen: error: ")


Run = Callable[..., Outcome]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """`run("apply", path, "--factor", 4)` runs the command line in this process."""

    def run_here(*words: object) -> Outcome:
        code = main([str(word) for word in words])
        captured = capsys.readouterr()
        return Outcome(code, captured.out, captured.err)

    return run_here


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text)
    return path


@pytest.fixture
def scale(tmp_path: Path) -> Path:
    """A file with one kernel and a divergent guard."""
    return written(tmp_path, "scale.cl", SCALE)


@pytest.fixture
def halves(tmp_path: Path) -> Path:
    """A file with a kernel whose barrier stands under a condition that looks divergent."""
    return written(tmp_path, "halves.cl", HALVES)
