"""Small notebooks for the tests of the rules."""

from __future__ import annotations

from collections.abc import Sequence

from nbformat import v4

from tests.notebooks.files import PARAMETERS, Cell, Notebook
from tests.notebooks.normal_form import normalise

WORDS = "What the reader should see below is this, and here are enough words to say so plainly."


def code(source: str, *outputs: object) -> Cell:
    return v4.new_code_cell(source, outputs=list(outputs), execution_count=1)


def printed(text: str, name: str = "stdout") -> object:
    return v4.new_output("stream", name=name, text=text)


def picture(**metadata: object) -> object:
    return v4.new_output(
        "display_data", {"image/png": "AAAA"}, metadata={"image/png": metadata} if metadata else {}
    )


def sample(*cells: Cell, parameters: str = "quick = False", words: Sequence[str] = (WORDS,)) -> Notebook:
    """A notebook in its normal form: the parameters, then the cells of code, with words before each."""
    first = v4.new_code_cell(parameters, metadata={"tags": [PARAMETERS]}, execution_count=1)
    all_cells = []
    for number, cell in enumerate((first, *cells)):
        all_cells += [v4.new_markdown_cell(words[min(number, len(words) - 1)]), cell]
    return normalise(v4.new_notebook(cells=all_cells))
