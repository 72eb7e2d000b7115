"""OpenCL 1.x's atomic functions as LLVM's atomic instructions, for targets that lack some of the functions.

By hand since each is one instruction, with the scope and order that OpenCL 1.x asks for
(`docs/explanation/own-builtins.md`).
"""

from __future__ import annotations

from collections.abc import Iterable

from coarsen.backend.builtin_library import Declaration

# OpenCL 1.x orders nothing around an atomic function; it is seen by the whole device.
_ORDERING = 'syncscope("device") monotonic'
_OPERATIONS = {"add": "add", "sub": "sub", "xchg": "xchg", "and": "and", "or": "or", "xor": "xor"}
_STEPS = {"inc": "add", "dec": "sub"}
_EXTREMES = frozenset({"min", "max"})


def atomic_body(declaration: Declaration) -> Iterable[str] | None:
    """Return the body of `atomic_add` and its kind, by the older names (`atom_add`) too.

    None for another function.
    """
    prefix, _, operation = declaration.builtin.partition("_")
    if prefix not in ("atom", "atomic"):
        return None
    if operation == "cmpxchg":
        return _compare_and_exchange(declaration)
    value = "%1"
    if operation in _STEPS:
        instruction, value = _STEPS[operation], "1"
    elif operation in _EXTREMES:
        instruction = f"u{operation}" if declaration.is_unsigned else operation
    elif operation in _OPERATIONS:
        instruction = _OPERATIONS[operation]
    else:
        return None
    type_ = declaration.result
    return [
        f"%old = atomicrmw {instruction} {declaration.parameters[0]} %0, {type_} {value} {_ORDERING}",
        f"ret {type_} %old",
    ]


def _compare_and_exchange(declaration: Declaration) -> Iterable[str]:
    type_ = declaration.result
    pointer = declaration.parameters[0]
    return [
        f"%pair = cmpxchg {pointer} %0, {type_} %1, {type_} %2 {_ORDERING} monotonic",
        f"%old = extractvalue {{ {type_}, i1 }} %pair, 0",
        f"ret {type_} %old",
    ]
