"""`python -m tests.notebooks [NAME…]`: execute notebooks in full and store them with their outputs."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from coarsen.errors import CoarsenError, InvalidInputError
from tests.notebooks.execution import execute
from tests.notebooks.files import (
    PARAMETERS,
    Notebook,
    code_cells,
    named_notebooks,
    read,
    tags,
)
from tests.notebooks.normal_form import normalise, without_outputs
from tests.notebooks.rules import as_text, complaints


def main(arguments: Sequence[str]) -> int:
    """Store the notebooks that are named, all if none is. Returns the exit code: 0, or 2 where one was refused."""
    wanted = _parser().parse_args(arguments)
    try:
        for path in named_notebooks(wanted.names):
            _handle(path, wanted)
    except CoarsenError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.notebooks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="of notebooks; all of them by default")
    parser.add_argument("--quick", action="store_true", help="execute in the quick mode, and store nothing")
    parser.add_argument("--draft", action="store_true", help="execute nothing, and store without outputs")
    parser.add_argument("--published-runtimes", type=Path, metavar="FILE", help="the published runtimes (.csv)")
    return parser


def _handle(path: Path, wanted: argparse.Namespace) -> None:
    started = time.monotonic()
    notebook = read(path)
    parameters = _parameters(notebook, wanted)
    if wanted.draft:
        notebook = without_outputs(notebook)
    else:
        with tempfile.TemporaryDirectory() as folder:
            notebook = execute(path, Path(folder), parameters)
    normalise(notebook)
    found = complaints(notebook, executed=not wanted.draft)
    if found:
        raise InvalidInputError(f"{path.name} is not stored:\n  " + "\n  ".join(found))
    seconds = time.monotonic() - started
    if wanted.quick:
        print(f"{path.name}: ran in {seconds:.0f} s, {len(as_text(notebook)):,} bytes, not stored")
        return
    path.write_text(as_text(notebook), encoding="utf-8")
    print(f"{path.name}: stored after {seconds:.0f} s, {path.stat().st_size:,} bytes")


def _parameters(notebook: Notebook, wanted: argparse.Namespace) -> dict[str, object]:
    """The parameters that the notebook has, with values for this run."""
    given: dict[str, object] = {"quick": wanted.quick}
    if wanted.published_runtimes:
        given["published_runtimes"] = str(wanted.published_runtimes.resolve())
    own = "\n".join(cell.source for cell in code_cells(notebook) if PARAMETERS in tags(cell))
    return {name: value for name, value in given.items() if name in own}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
