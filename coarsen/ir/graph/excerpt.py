"""The part of a source's module that one kernel needs.

kernels a, b; helpers f, g, f calls g; variables t, u        a calls f, f reads t
excerpt for a ─▶ a, f, g, t
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from coarsen.ir.graph.module import Module
from coarsen.ir.graph.unread import names_in


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
