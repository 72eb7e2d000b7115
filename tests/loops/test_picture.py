"""The picture of a nest: the cells of work-items and of what they access, and the file that comes of them."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure

from coarsen.cli.main import main
from coarsen.loops import picture as pictures
from coarsen.loops import read_program

FOLDER = Path(__file__).parents[2] / "opencl_bench" / "kernels" / "loops"
LOCAL, CONSTANT, DIRECT, WORK_ITEMS = (to_rgba(each) for each in ("#d95f02", "#1b7f5c", "#3b6fb6", "#444444"))


def panels(path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Axes]:
    """What is drawn of a C file's loops."""
    figures: list[Figure] = []
    write = Figure.savefig

    def written(figure: Figure, *given: object, **named: object) -> None:
        figures.append(figure)
        write(figure, *given, **named)

    monkeypatch.setattr(Figure, "savefig", written)
    assert pictures.picture(read_program(path), ".png").startswith(b"\x89PNG")
    return [each for each in figures[0].axes if each.collections]


def cells(axes: Axes, colour: tuple[float, ...]) -> set[tuple[int, int]]:
    (mesh,) = axes.collections
    shown = mesh.to_rgba(mesh.get_array())
    return {(int(row), int(column)) for row, column in np.argwhere(np.all(np.isclose(shown, colour), axis=2))}


def drawn(path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Axes]:
    """The first panel of each title."""
    return {each.get_title(): each for each in reversed(panels(path, monkeypatch))}


def test_rows_and_columns_of_a_product(monkeypatch: pytest.MonkeyPatch) -> None:
    found = drawn(FOLDER / "mm.c", monkeypatch)
    assert cells(found["work-items"], WORK_ITEMS) == {(1, 1)}
    assert found["work-items"].get_xlabel() == "j (dimension 0)"
    assert cells(found["a[][]"], LOCAL) == {(1, k) for k in range(8)}
    assert cells(found["b[][]"], LOCAL) == {(k, 1) for k in range(8)}
    assert (found["a[][]"].get_ylabel(), found["a[][]"].get_xlabel()) == ("i", "k")
    assert cells(found["c[][]"], DIRECT) == {(1, 1)}
    assert cells(found["a[][]"], (*LOCAL[:3], 0.42)) == {(i, k) for i in (0, 2, 3) for k in range(8)}


def test_a_star_and_the_first_step(monkeypatch: pytest.MonkeyPatch) -> None:
    found = drawn(FOLDER / "jacobi_2d.c", monkeypatch)
    first = found["a[][]"]
    assert cells(first, DIRECT) == {(2, 2), (1, 2), (3, 2), (2, 1), (2, 3)}
    assert first.get_xlabel() == "j - 1, j, j + 1"
    assert cells(found["work-items"], WORK_ITEMS) == {(2, 2)}


def test_a_single_dimension_and_constant_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    found = drawn(FOLDER / "tmv.c", monkeypatch)
    assert cells(found["y[]"], CONSTANT) == {(0, j) for j in range(8)}
    assert found["y[]"].get_ylim() == (0.5, -0.5)
    assert cells(found["a[][]"], DIRECT) == {(j, 1) for j in range(8)}


def test_a_triangle_s_group_is_one_that_is_full(monkeypatch: pytest.MonkeyPatch) -> None:
    found = drawn(FOLDER / "syrk.c", monkeypatch)
    assert cells(found["work-items"], WORK_ITEMS) == {(5, 1)}
    assert cells(found["a[][]"], LOCAL) == {(row, k) for row in (1, 5) for k in range(8)}


@pytest.mark.parametrize("name", ["doitgen", "mri_q"])
def test_nests_of_each_kind_have_a_picture(name: str, tmp_path: Path) -> None:
    path = FOLDER / f"{name}.c"
    file = tmp_path / "nest.svg"
    assert main(["apply", str(path), "--explain", "-o", str(file)]) == 0
    text = file.read_text()
    program = read_program(path)
    for array in program.nest.arrays.values():
        if not array.is_scalar:
            assert f">{array.spelled}[".replace("->", "-&gt;") in text
    assert len(re.findall(">work-items<", text)) == len(program.names)


def test_a_nest_that_is_too_large_for_a_picture(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "late.c"
    path.write_text("void late(int n, float *a) { for (int i = 9; i < n; i++) a[i] = 0; }")
    assert main(["apply", str(path), "--explain", "-o", str(tmp_path / "late.png")]) == 2
    assert "where all sizes are 8, a kernel has no work-items" in capsys.readouterr().err
    assert main(["apply", str(path), "--explain", "-o", str(tmp_path / "late.txt")]) == 0
    assert (tmp_path / "late.txt").read_text().count("late")
