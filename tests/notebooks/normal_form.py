"""A notebook as it is stored: the same cells and outputs give the same file, on any machine."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from nbformat import from_dict

from tests.notebooks.files import PARAMETERS, Cell, Notebook, tags

_INJECTED = "injected-parameters"
_METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
# The forms of an output that are kept, of those that IPython makes.
_KEPT = ("image/png", "text/html", "text/plain")


def normalise(notebook: Notebook) -> Notebook:
    """Bring a notebook, executed or not, into the form in which it is stored. It is changed in place.

    The cell that papermill injected goes, so the stored parameters are the notebook's own.
    """
    notebook.cells = [cell for cell in notebook.cells if _INJECTED not in tags(cell)]
    notebook.metadata = from_dict(_METADATA)
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    executed = 0
    for number, cell in enumerate(notebook.cells, start=1):
        cell.id = f"cell-{number:02}"
        cell.metadata = from_dict({"tags": [PARAMETERS]} if PARAMETERS in tags(cell) else {})
        cell.source = cell.source.strip("\n")
        if cell.cell_type == "code" and cell.execution_count is not None:
            executed += 1
            _normalise_outputs(cell, executed)
    return notebook


def without_outputs(notebook: Notebook) -> Notebook:
    """The notebook as before it was ever executed. It is changed in place."""
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.execution_count, cell.outputs = None, []
    return notebook


def _normalise_outputs(cell: Cell, number: int) -> None:
    cell.execution_count = number
    cell.outputs = _joined(cell.outputs)
    for output in cell.outputs:
        if output.output_type == "execute_result":
            output.execution_count = number
        if "data" in output:
            output.data = from_dict({kind: output.data[kind] for kind in _KEPT if kind in output.data})
            output.metadata = from_dict({kind: output.metadata[kind] for kind in _KEPT if kind in output.metadata})


def _joined(outputs: Iterable[Any]) -> list[Any]:
    """The outputs, neighbours of one stream as one: how a stream is cut into pieces differs from run to run."""
    joined: list[Any] = []
    for output in outputs:
        last = joined[-1] if joined else None
        if last is not None and output.output_type == "stream" == last.output_type and output.name == last.name:
            last.text += output.text
        else:
            joined.append(output)
    return joined
