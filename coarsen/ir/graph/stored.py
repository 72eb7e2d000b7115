"""A module, or what of it one kernel needs, as text and origins: what other processes and caches get."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from coarsen.ir.graph.instruction import Block, Instruction
from coarsen.ir.graph.module import Module
from coarsen.ir.graph.module_parser import parse_module
from coarsen.ir.graph.origin import Origin
from coarsen.ir.graph.printer import module_text
from coarsen.ir.graph.unread import names_in


def stored(module: Module) -> tuple[str, tuple[Origin, ...]]:
    """Return what is kept of a module whose names are unique (`names.py`).

    Returns:
        its text, and the origins of each block and the instructions in it, in their order.
    """
    return module_text(module), tuple(placed.origin for placed in _with_origins(module))


def restored(text: str, origins: Iterable[Origin]) -> Module:
    """Return the module of which this was kept."""
    module = parse_module(text)
    for placed, origin in zip(_with_origins(module), origins, strict=True):
        placed.origin = origin
    return module


def _with_origins(module: Module) -> Iterator[Block | Instruction]:
    for function in module.functions.values():
        for block in function.blocks:
            yield block
            yield from block.instructions


# The part that one kernel needs.
#
# kernels a, b; helpers f, g, f calls g; variables t, u        a calls f, f reads t
# excerpt for a ─▶ a, f, g, t


def excerpt(module: Module, name: str) -> Module:
    """Return a module with one function, all that it mentions, all that this mentions in turn, and no more.

    Order and spelling of what stays are the module's, with all of its types, attributes and metadata.

    Args:
        module: whose functions are unread.
        name: the function's.
    """
    needed = _reached(module, [name, *_always_needed(module)])
    return replace(
        module,
        variables={key: variable for key, variable in module.variables.items() if key in needed},
        callees={key: callee for key, callee in module.callees.items() if key in needed},
        unread={key: function for key, function in module.unread.items() if key in needed},
        attribute_groups=dict(module.attribute_groups),
        metadata=dict(module.metadata),
    )


def _always_needed(module: Module) -> Iterator[str]:
    """Yield the names that can't be left out: those in metadata, and numbers, which must have no gaps."""
    for body in module.metadata.values():
        if "@" in body:
            yield from names_in(body)
    yield from (name for name in (*module.variables, *module.callees) if name.isdigit())


def _reached(module: Module, names: Iterable[str]) -> set[str]:
    reached: set[str] = set()
    pending = list(names)
    while pending:
        name = pending.pop()
        if name not in reached:
            reached.add(name)
            pending += _mentioned(module, name)
    return reached


def _mentioned(module: Module, name: str) -> Iterable[str]:
    if name in module.unread:
        return module.unread[name].mentioned
    return names_in(module.variables[name].definition) if name in module.variables else ()
