"""What a module declares of the functions that it calls."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from coarsen.ir.graph.module import Module
from coarsen.ir.graph.operands import Callee
from coarsen.ir.graph.scanner import Scanner


def attributes_of_callees(module: Module) -> Mapping[str, str]:
    """Return the attributes of each function without a body, its own and those of its group, in LLVM's words."""
    groups = module.attribute_groups
    return {name: _attributes(callee, groups) for name, callee in module.callees.items() if callee.declaration}


def _attributes(callee: Callee, groups: Mapping[str, str]) -> str:
    own, group = _own_and_group(callee.declaration, callee.spelling)
    return f"{own} {groups.get(group, '')}".strip()


@lru_cache(maxsize=4096)
def _own_and_group(declaration: str, spelling: str) -> tuple[str, str]:
    """Return a function's own attributes and the number of its group; kernels declare the same few functions."""
    line = Scanner(declaration, {})
    line.position = line.text.index(f"{spelling}(") + len(spelling)
    line.bracketed()
    own, _, group = line.rest.partition("#")
    return own.strip(), group.partition(" ")[0]
