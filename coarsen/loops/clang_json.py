"""Clang's syntax tree of a C file as JSON, with the place of every node, and what its OpenMP directives say.

Clang writes a file name and a line only where they differ from those before, in the order of the text: here each
place has both. It writes no clauses of OpenMP directives: these are read from the preprocessed text, where macros
in them are expanded.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from coarsen.errors import InvalidInputError, SourcePosition
from coarsen.frontend.clang import Clang, find_clang, packaged_clang

Node = dict[str, Any]

_TARGET = "x86_64-linux-gnu"
# Of the packaged clang's own headers: its language's, then those of a C library.
_HEADERS = (
    *("include", "libc/include/x86-linux-gnu", "libc/include/x86_64-linux-gnu", "libc/include/generic-glibc"),
    *("libc/include/x86-linux-any", "libc/include/any-linux-any"),
)
_OPTIONS = ("-x", "c", "-fopenmp", "-fno-color-diagnostics", "-w", "-target", _TARGET)
_DUMP = ("-fsyntax-only", "-Xclang", "-ast-dump=json")
# Directives that are declarations, so that they are no statement in the tree.
_DECLARATIVE = ("declare", "end", "begin", "requires", "threadprivate", "allocate", "assumes")


def syntax_tree(path: Path, options: Sequence[str] = ()) -> Node:
    """Return the root of clang's tree of a C file, its nodes as in clang's JSON; `options` are words for clang.

    What says a place has `file` and `line` always; a directive of OpenMP has its words after `omp` under
    `directive`, where they could be found.

    Raises:
        InvalidInputError: the file can't be read or is no C that clang takes; there is no clang.
    """
    if not path.is_file():
        raise InvalidInputError(f"{path}: there is no such file")
    clang = find_clang()
    outcome = clang.run([*words_of(clang, options), *_DUMP, str(path)])
    if outcome.returncode != 0:
        raise InvalidInputError(_errors_of(outcome.stderr) or f"{path}: clang stopped with {outcome.returncode}")
    places = _Places()
    try:
        tree: Node = json.loads(outcome.stdout, object_hook=places.completed)
    except (ValueError, RecursionError):
        raise InvalidInputError(f"{path}: statements or expressions are nested too deeply to be read") from None
    directives = [node for node in nodes(tree) if is_directive(node)]
    if directives:
        pragmas = list(_pragmas(clang.run([*words_of(clang, options), "-E", str(path)]).stdout))
        if len(pragmas) == len(directives):
            for node, pragma in zip(directives, pragmas, strict=True):
                node["directive"] = pragma
    return tree


def nodes(tree: Node) -> Iterator[Node]:
    """Yield a node and all below it, in the order of the text."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(reversed(node.get("inner", ())))


def is_directive(node: Node) -> bool:
    """Return True for a statement of OpenMP."""
    kind = node.get("kind", "")
    return bool(kind.startswith("OMP") and kind.endswith("Directive"))


def bounds(node: Node) -> tuple[Node, Node]:
    """Return where a node begins and where its last word begins, in the user's file where a macro made it."""
    span = node.get("range", {})
    first, last = span.get("begin", {}), span.get("end", {})
    return first.get("expansionLoc", first), last.get("expansionLoc", last)


def place_of(node: Node, which: str = "") -> SourcePosition:
    """Return where a node begins; where the name is that it declares, if `which` is `loc`."""
    first: Node = node[which] if node.get(which) else bounds(node)[0]
    first = first.get("expansionLoc", first)
    return SourcePosition(first.get("line", 1), first.get("col", 1), first.get("file", ""))


class _Places:
    """Adds to each place the file and the line that clang left out."""

    def __init__(self) -> None:
        self._file, self._line = "", 1

    def completed(self, node: Node) -> Node:
        """Complete a place; return any other object as it is. Objects must come in the order of the text."""
        if "offset" in node and "col" in node:
            self._file = node.setdefault("file", self._file)
            self._line = node.setdefault("line", self._line)
        return node


def words_of(clang: Clang, options: Sequence[str] = ()) -> list[str]:
    """Return the words after a clang's name that have it read C, with OpenMP and a C library's headers."""
    if clang != packaged_clang():
        return [*_OPTIONS, *options]
    # It has no folders of its own when it is called so.
    folder = Path(clang.command[0]).parent / "lib"
    found = (folder / name for name in _HEADERS)
    headers = [word for each in found if each.is_dir() for word in ("-isystem", str(each))]
    return [*_OPTIONS, "-nostdinc", *options, *headers]


def _errors_of(diagnostics: str) -> str:
    """The first error, its line of the source and the mark below left out."""
    return next((line for line in diagnostics.splitlines() if "error:" in line), "")


def _pragmas(preprocessed: str) -> Iterator[str]:
    """Yield what stands after `#pragma omp` in directives that are statements."""
    for line in preprocessed.splitlines():
        words = line.strip().removeprefix("#").split(None, 2)
        if words[:2] == ["pragma", "omp"] and len(words) == 3 and not words[2].startswith(_DECLARATIVE):
            yield words[2]
