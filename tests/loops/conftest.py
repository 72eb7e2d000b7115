"""Functions of C texts, and their nests."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from coarsen.loops.affine_of import nest_of
from coarsen.loops.clang_tree import functions_of
from coarsen.loops.dependences import Dependence, analysed
from coarsen.loops.nest import Nest
from coarsen.loops.tree import CFunction

Read = Callable[[str], dict[str, CFunction]]
Analysed = Callable[[str], tuple[Nest, tuple[Dependence, ...]]]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """`read(text)` returns the functions of a C text by name."""

    def read_text(text: str) -> dict[str, CFunction]:
        path = tmp_path / "loops.c"
        path.write_text(text)
        return {each.name: each for each in functions_of(path)}

    return read_text


@pytest.fixture
def analyse(read: Read) -> Analysed:
    """`analyse(text)` returns the nest of a text's only function, and its dependences."""

    def analyse_text(text: str) -> tuple[Nest, tuple[Dependence, ...]]:
        (function,) = read(text).values()
        return analysed(nest_of(function))

    return analyse_text
