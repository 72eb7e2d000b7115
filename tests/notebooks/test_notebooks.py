"""Every notebook runs from top to bottom in its quick mode, and is stored as it should be."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.notebooks.execution import execute
from tests.notebooks.files import code_cells, read, stored_notebooks
from tests.notebooks.rules import complaints

NOTEBOOKS = [pytest.param(path, id=path.stem) for path in stored_notebooks()]


def test_all_are_there() -> None:
    names = {path.stem for path in stored_notebooks()}
    assert names == {
        "features_and_components",
        "inputs",
        "optimisation_space",
        "paper",
        "prediction",
        "protocols",
        "quick_start",
        "streams",
    }


@pytest.mark.parametrize("path", NOTEBOOKS)
def test_runs_quickly_and_quietly(path: Path, tmp_path: Path) -> None:
    executed = execute(path, tmp_path, {"quick": True})
    outputs = [output for cell in code_cells(executed) for output in cell.outputs]
    assert outputs
    assert [output.text for output in outputs if output.get("name") == "stderr"] == []


@pytest.mark.parametrize("path", NOTEBOOKS)
def test_is_stored_as_it_should_be(path: Path) -> None:
    assert complaints(read(path)) == []


def test_the_quick_start_has_ten_cells_of_code() -> None:
    (path,) = (path for path in stored_notebooks() if path.stem == "quick_start")
    assert len(list(code_cells(read(path)))) <= 10
