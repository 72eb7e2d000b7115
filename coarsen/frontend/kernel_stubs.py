"""Clang's kernel stubs.

Clang compiles `kernel void k(…) { BODY }` into two functions, so that a kernel may call another as a function:

    define spir_kernel void @k(…)                  { … call @__clang_ocl_kern_imp_k(…); ret }     the stub
    define spir_func void @__clang_ocl_kern_imp_k(…) { BODY }                                    the implementation

After: `define spir_kernel void @k(…) { BODY }`, so that names and positions are the source's and not those of an
inlined call. A stub whose arguments differ from its implementation's, or whose implementation something else
mentions, is left to the inliner.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from coarsen.errors import RefusalError
from coarsen.ir.graph.function import Function
from coarsen.ir.graph.module import Module
from coarsen.ir.graph.module_parser import parse_signature
from coarsen.ir.graph.operands import Callee
from coarsen.ir.graph.printer import signature_text
from coarsen.ir.graph.unread import UnreadFunction, names_in

IMPLEMENTATION_PREFIX = "__clang_ocl_kern_imp_"


def without_stubs(module: Module) -> Module:
    """Return a module in which kernels have the bodies of their implementations, and stand in their places.

    Args:
        module: whose functions are unread; one without stubs is given back.
    """
    stubs = [name for name in module.unread if IMPLEMENTATION_PREFIX + name in module.unread]
    mentioned = _mentioned(module) if stubs else {}
    merged = {
        IMPLEMENTATION_PREFIX + name: kernel
        for name in stubs
        if mentioned[IMPLEMENTATION_PREFIX + name] == 1 and (kernel := _merged(module, name)) is not None
    }
    if not merged:
        return module
    gone = {kernel.name for kernel in merged.values()}
    left = {name: merged.get(name, unread) for name, unread in module.unread.items() if name not in gone}
    callees = [
        Callee(merged[name].name) if name in merged else callee
        for name, callee in module.callees.items()
        if name not in gone
    ]
    return replace(
        module,
        callees={callee.name: callee for callee in callees},
        unread={function.name: function for function in left.values()},
    )


def _mentioned(module: Module) -> Mapping[str, int]:
    """Return how often each name occurs in a module, apart from where functions define it."""
    texts = (*(variable.definition for variable in module.variables.values()), *module.metadata.values())
    found = Counter(name for text in texts if "@" in text for name in names_in(text))
    for function in module.unread.values():
        found.update(function.mentioned)
    return found


def _merged(module: Module, name: str) -> UnreadFunction | None:
    """Return the kernel with its implementation's body; None if their arguments differ or can't be read."""
    stub, implementation = module.unread[name], module.unread[IMPLEMENTATION_PREFIX + name]
    try:
        signature, inner = parse_signature(stub), parse_signature(implementation)
    except RefusalError:
        return None
    if _argument_names(signature) != _argument_names(inner) or not stub.mentioned[implementation.name]:
        return None
    # The body's positions refer to the implementation's scope.
    scope = inner.attachment("dbg")
    if scope is None:
        signature.detach("dbg")
    else:
        signature.attach("dbg", scope)
    return UnreadFunction(name, signature_text(signature), implementation.body)


def _argument_names(function: Function) -> list[str]:
    """Return the names of a function's arguments, in their order."""
    return [argument.name for argument in function.arguments]
