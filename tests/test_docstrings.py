"""First lines of functions' docstrings are imperative: "Return the …", not "The …" nor "Whether …"."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
# A reader parses such a clause twice.
CLAUSES = {"What", "Whether", "How", "Which", "Where", "When", "Those", "True", "False"}
NOUNS = {"The", "A", "An", "All", "Each", "Every", "One", "Two", "Both", "Its"}
# Drivers and drawings are called what they make: "A tiled stencil …", "A panel per device …".
NAMED_BY_NOUNS = ("opencl_bench/workloads", "opencl_bench/reporting")


def documented(folder: str) -> Iterator[tuple[str, ast.FunctionDef, str]]:
    """Each function with a docstring: where it is, itself, and the docstring's first word."""
    for path in sorted((ROOT / folder).rglob("*.py")):
        name = path.relative_to(ROOT).as_posix()
        for node in ast.walk(ast.parse(path.read_text())):
            words = (ast.get_docstring(node) or "").split() if isinstance(node, ast.FunctionDef) else []
            if words and isinstance(node, ast.FunctionDef):
                yield name, node, words[0].rstrip(",:")


def is_property(function: ast.FunctionDef) -> bool:
    return any(ast.unparse(each).endswith("property") for each in function.decorator_list)


@pytest.mark.parametrize("folder", ["coarsen", "features", "models", "opencl_bench"])
def test_first_lines_are_imperative(folder: str) -> None:
    """Properties and private functions may be called what they are; the others say what they do."""
    wrong = []
    for name, function, word in documented(folder):
        is_named = name.startswith(NAMED_BY_NOUNS) or function.name.startswith("_") or is_property(function)
        if word in CLAUSES or (word in NOUNS and not is_named):
            wrong.append(f"{name}:{function.lineno} {function.name}: {word}")
    assert wrong == []
