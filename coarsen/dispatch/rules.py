"""A tree in words, as rules that people read."""

from __future__ import annotations

from collections.abc import Iterator

from coarsen.dispatch.tree import Leaf, Tree

_INDENT = "    "


def rules(tree: Tree, depth: int = 0) -> Iterator[str]:
    """Enumerate the lines of a tree as rules."""
    indent = _INDENT * depth
    if isinstance(tree, Leaf):
        yield f"{indent}version {tree.version}"
        return
    yield f"{indent}if {tree.feature} <= {tree.threshold:g}:"
    yield from rules(tree.at_most, depth + 1)
    yield f"{indent}otherwise:"
    yield from rules(tree.above, depth + 1)
