"""The head of a file that `coarsen apply` writes: what was merged, and how the launch is divided."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from coarsen.base.version import __version__

Run = Callable[..., Any]


def head(path: Path, mark: str = "//") -> list[str]:
    lines = path.read_text().splitlines()
    return lines[: next(i for i, line in enumerate(lines) if not line.startswith(mark))]


@pytest.mark.parametrize(
    ("words", "merged", "launch"),
    [
        (
            ("--factor", 4, "--dim", 1),
            "4 work-items merged along dimension 1",
            ["along dimension 1, divide the global and the local size by 4"],
        ),
        (
            ("--factor", 2, "--stride", 8),
            "2 work-items merged along dimension 0 with stride 8",
            [
                "along dimension 0, divide the global and the local size by 2; 8 must divide what is left of the "
                "local size"
            ],
        ),
        (
            ("--factor", 2, "--level", "group"),
            "2 work-groups merged along dimension 0",
            ["along dimension 0, divide the global size by 2, and keep the local size"],
        ),
        (
            ("--factor", 2, "--factor", 3, "--dim", 0, "--dim", 1, "--any-size"),
            "2 work-items merged along dimension 0, 3 work-items merged along dimension 1",
            [
                "along dimension 0, for a global size G: at least ceil(G / 2) work-items, in groups of any size",
                "along dimension 1, for a global size G: at least ceil(G / 3) work-items, in groups of any size",
            ],
        ),
        (
            ("--factor", 4, "--any-size", "--stride", 2),
            "4 work-items merged along dimension 0 with stride 2",
            ["along dimension 0, for a global size G: at least ceil(G / 8) * 2 work-items, in groups of any size"],
        ),
        (
            ("--factor", 4, "--any-size", "--level", "group"),
            "4 work-groups merged along dimension 0",
            [
                "along dimension 0, for a global size G and a local size L: ceil(G / L / 4) * L work-items in "
                "groups of L"
            ],
        ),
        (("--factor", 1), "nothing merged", ["as the original"]),
    ],
)
def test_the_coarsening_and_its_launch(
    words: tuple[object, ...], merged: str, launch: list[str], scale: Path, tmp_path: Path, run: Run
) -> None:
    assert run("apply", scale, *words, "-o", tmp_path / "out.cl").code == 0
    lines = [line for line in head(tmp_path / "out.cl") if line.startswith(("// Written", "// Launch"))]
    expected = [f"// Launch: {each}." for each in launch]
    assert lines == [f"// Written by coarsen {__version__}: kernel scale, {merged}.", *expected]


@pytest.mark.parametrize(("form", "mark"), [("cl", "//"), ("ll", ";"), ("ptx", "//")])
def test_the_text_below_is_that_of_standard_output(
    form: str, mark: str, scale: Path, tmp_path: Path, run: Run
) -> None:
    assert run("apply", scale, "--factor", 2, "--emit", form, "-o", tmp_path / "out").code == 0
    whole, below = (tmp_path / "out").read_text(), run("apply", scale, "--factor", 2, "--emit", form).out
    comment = whole.removesuffix(below)
    assert comment
    assert all(line.startswith(f"{mark} ") for line in comment.splitlines())


def test_what_a_launch_has_to_keep_to_is_there(tmp_path: Path, run: Run) -> None:
    file = tmp_path / "sums.cl"
    file.write_text(
        "kernel void sums(global float *r, global const float *w, int m)\n"
        "{ int id = get_global_id(0); for (int i = 0; i < m; i++) r[id] += w[i] * i; }\n"
    )
    assert run("apply", file, "--factor", 2, "--distinct", "--any-size", "-o", tmp_path / "out.cl").code == 0
    lines = head(tmp_path / "out.cl")
    assert "// Note: the memory passed for r must not overlap that for w." in lines
    said = "global_size_x: the uncoarsened launch's global size along dimension 0, a ulong"
    assert [line for line in lines if "global_size_x" in line] == [f"// {said}"]
    assert run("apply", file, "--factor", 2, "--any-size", "--emit", "ll", "-o", tmp_path / "out.ll").code == 0
    assert f"; Note: pass for the added argument {said}." in (tmp_path / "out.ll").read_text().splitlines()
