"""What a stored notebook has to be, each rule a function that gives its complaints, one line each."""

from __future__ import annotations

import ast
import re
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import nbformat

from tests.notebooks.files import PARAMETERS, Cell, Notebook, code_cells, tags
from tests.notebooks.normal_form import normalise
from tests.notebooks.public_names import private_uses

MOST_BYTES = 1_000_000
MOST_CELLS = 25
# What the parameters must be in the file, of those that a notebook has.
_STORED_PARAMETERS = {"quick": False, "published_runtimes": ""}
# An absolute path, but none of a URL, a fraction or a tag of HTML.
_ABSOLUTE_PATH = re.compile(r"(?<![\w.:/<*])/[A-Za-z]\w*(?:/[\w.+-]+)+")
_FEWEST_LETTERS = 60


def complaints(notebook: Notebook, executed: bool = True) -> list[str]:
    """What is wrong with a notebook as it is stored; `executed` if it should have outputs."""
    rules = [*_ALWAYS, *(_EXECUTED if executed else ())]
    return [complaint for rule in rules for complaint in rule(notebook)]


def as_text(notebook: Notebook) -> str:
    """A notebook's file."""
    return str(nbformat.writes(notebook, version=4)) + "\n"


def _is_small(notebook: Notebook) -> Iterator[str]:
    size = len(as_text(notebook).encode())
    if size >= MOST_BYTES:
        yield f"the file has {size:,} bytes, not fewer than {MOST_BYTES:,}"
    if len(notebook.cells) > MOST_CELLS:
        yield f"there are {len(notebook.cells)} cells, more than {MOST_CELLS}"


def _is_normal(notebook: Notebook) -> Iterator[str]:
    if as_text(notebook) != as_text(normalise(nbformat.from_dict(notebook))):
        yield "the file is not in its normal form: store it with python -m tests.notebooks"


def _has_parameters(notebook: Notebook) -> Iterator[str]:
    first = next(code_cells(notebook), None)
    if first is None or PARAMETERS not in tags(first):
        yield f"the first code cell isn't tagged {PARAMETERS}"
        return
    values = {
        target.id: ast.literal_eval(node.value)
        for node in ast.parse(first.source).body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    if "quick" not in values:
        yield "there is no parameter quick"
    for name, value in _STORED_PARAMETERS.items():
        if values.get(name, value) != value:
            yield f"the parameter {name} is {values[name]!r} in the file, not {value!r}"


def _says_what_to_see(notebook: Notebook) -> Iterator[str]:
    before: Cell | None = None
    for cell in notebook.cells:
        if cell.cell_type == "code" and (before is None or _letters(before) < _FEWEST_LETTERS):
            yield f"no words before the cell that begins with {_first_line(cell)!r}"
        before = cell


def _letters(cell: Cell) -> int:
    """How much a cell says, without its headings."""
    if cell.cell_type != "markdown":
        return 0
    return sum(len(line) for line in cell.source.splitlines() if not line.startswith("#"))


def _uses_what_is_public(notebook: Notebook) -> Iterator[str]:
    yield from private_uses("\n".join(cell.source for cell in code_cells(notebook)))


def _names_no_machine(notebook: Notebook) -> Iterator[str]:
    places = [place for place in (str(Path.home()), tempfile.gettempdir()) if len(place) > 1]
    for text in _texts(notebook):
        found = [match.group() for match in _ABSOLUTE_PATH.finditer(text)]
        found += [place for place in places if re.search(rf"(?<![\w./]){re.escape(place)}\b", text)]
        yield from (f"a path of one machine: {path}" for path in dict.fromkeys(found))


def _texts(notebook: Notebook) -> Iterator[str]:
    """All that a reader reads; pictures have no text."""
    for cell in notebook.cells:
        yield cell.source
        for output in cell.get("outputs", ()):
            yield from map(str, output.get("traceback", ()))
            yield str(output.get("text", ""))
            yield from (str(text) for kind, text in output.get("data", {}).items() if kind.startswith("text/"))


def _ran_in_order(notebook: Notebook) -> Iterator[str]:
    counts = [cell.execution_count for cell in code_cells(notebook)]
    if counts != list(range(1, len(counts) + 1)):
        yield f"the cells did not run from top to bottom: {counts}"


def _shows_what_it_should(notebook: Notebook) -> Iterator[str]:
    for cell in code_cells(notebook):
        if _has_something_to_show(cell.source) and not cell.outputs:
            yield f"there is no output of the cell that begins with {_first_line(cell)!r}"
        for output in cell.outputs:
            if output.output_type == "error" or output.get("name") == "stderr":
                yield f"an error or a warning after the cell that begins with {_first_line(cell)!r}"


def _has_something_to_show(code: str) -> bool:
    """Whether the code ends with an expression, or prints or displays anything."""
    tree = ast.parse(code)
    if tree.body and isinstance(tree.body[-1], ast.Expr):
        return True
    calls = (node.func for node in ast.walk(tree) if isinstance(node, ast.Call))
    return any(isinstance(call, ast.Name) and call.id in ("print", "display") for call in calls)


def _figures_are_described(notebook: Notebook) -> Iterator[str]:
    for cell in code_cells(notebook):
        for output in cell.outputs:
            if "image/png" in output.get("data", {}) and not output.metadata.get("image/png", {}).get("alt"):
                yield f"a picture without words for who can't see it after {_first_line(cell)!r}"


def _first_line(cell: Cell) -> str:
    return str(cell.source).partition("\n")[0][:60]


Rule = Callable[[Notebook], Iterator[str]]
_ALWAYS: tuple[Rule, ...] = (
    _is_small,
    _is_normal,
    _has_parameters,
    _says_what_to_see,
    _uses_what_is_public,
    _names_no_machine,
)
_EXECUTED: tuple[Rule, ...] = (_ran_in_order, _shows_what_it_should, _figures_are_described)
