"""Where the notebooks are, and what their cells hold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import nbformat

from coarsen.errors import InvalidInputError

FOLDER = Path(__file__).parents[2] / "notebooks"
PARAMETERS = "parameters"

# What nbformat calls a NotebookNode: a dictionary whose keys are attributes too.
Notebook = Any
Cell = Any


def stored_notebooks() -> tuple[Path, ...]:
    """The notebooks of the repository, in the order of their names."""
    return tuple(sorted(FOLDER.glob("*.ipynb")))


def named_notebooks(names: Sequence[str]) -> tuple[Path, ...]:
    """The notebooks of these names, all if there are none. Raises InvalidInputError for a name of none."""
    known = {path.stem: path for path in stored_notebooks()}
    wanted = [name.removesuffix(".ipynb") for name in names] or list(known)
    for name in wanted:
        if name not in known:
            raise InvalidInputError(f"no notebook '{name}'; there are {', '.join(known)}")
    return tuple(known[name] for name in wanted)


def read(path: Path) -> Notebook:
    """A notebook in the newest form of its format, and valid."""
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    return notebook


def code_cells(notebook: Notebook) -> Iterator[Cell]:
    """The cells with Python in them."""
    return (cell for cell in notebook.cells if cell.cell_type == "code")


def tags(cell: Cell) -> Sequence[str]:
    """The tags of a cell."""
    return tuple(cell.metadata.get("tags", ()))
