"""What a module declares of the functions that it calls."""

from __future__ import annotations

from collections.abc import Mapping

from coarsen.ir.graph.module import Module
from coarsen.ir.graph.operands import Callee
from coarsen.ir.graph.scanner import Scanner


def attributes_of_callees(module: Module) -> Mapping[str, str]:
    """Return the attributes of each function without a body, its own and those of its group, in LLVM's words."""
    groups = module.attribute_groups
    return {name: _attributes(callee, groups) for name, callee in module.callees.items() if callee.declaration}


def _attributes(callee: Callee, groups: Mapping[str, str]) -> str:
    line = Scanner(callee.declaration, {})
    line.position = line.text.index(f"{callee.spelling}(") + len(callee.spelling)
    line.bracketed()
    own, _, group = line.rest.partition("#")
    return f"{own.strip()} {groups.get(group.partition(' ')[0], '')}".strip()
