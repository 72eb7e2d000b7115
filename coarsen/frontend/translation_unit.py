"""A source as clang has compiled it, once for all of its kernels.

    kernel.cl ──clang──▶ LLVM IR ──open──▶ TranslationUnit: kernels, helpers, variables, nobody has read a body
                                             │ part("a")                │ part("b")
                                             ▼                          ▼
                                      kernel a, what it needs    kernel b, what it needs

A kernel that is refused, or a helper that nobody can read, spoils only what needs it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from coarsen.base.names import did_you_mean
from coarsen.errors import InvalidInputError, RefusalError
from coarsen.frontend.input_checks import readable_name
from coarsen.ir.graph.function import Function
from coarsen.ir.graph.module import Module
from coarsen.ir.graph.module_parser import open_module, parse_signature
from coarsen.ir.graph.operands import Callee
from coarsen.ir.graph.printer import signature_text
from coarsen.ir.graph.rewriting import excerpt
from coarsen.ir.graph.unread import UnreadFunction, names_in

# LLVM can't rename types, and every line may name them: this is done on the text, before anything is read.
_QUOTED_STRUCTURE = re.compile(r'^(%"[^"\n]*") = type ', re.MULTILINE)
_NOT_PLAIN = re.compile(r"[^a-zA-Z0-9_.]+")
_ENQUEUED_BLOCK = re.compile(r"__.*_block_invoke(?:_\d+)?_kernel$")
_BLOCKING_ATTRIBUTES = frozenset({"noinline", "optnone"})
# The literals of C that end in ULL, of which usually the lower half alone counts.
WIDE = " i128"


@dataclass(frozen=True)
class TranslationUnit:
    """A compiled source.

    Attributes:
        kernels: the names of its kernels, in their order.
        module: kernels without stubs, helpers, variables; it stays as it is.
        has_wide_integers: whether there are integers of 128 bits anywhere.
        guarded: compiles the source with more and more extensions, for kernels that are left out without them.
    """

    kernels: tuple[str, ...]
    module: Module
    has_wide_integers: bool
    guarded: Callable[[], tuple[TranslationUnit, ...]] = field(default=tuple, compare=False, repr=False)

    def with_kernel(self, wanted: str | None) -> TranslationUnit:
        """Return the compiled source with a kernel, any where none is named: this one where no other has it."""
        if self._has(wanted):
            return self
        return next((unit for unit in self.guarded() if unit._has(wanted)), self)

    def _has(self, wanted: str | None) -> bool:
        return bool(self.kernels) if wanted is None else wanted in self.kernels

    def chosen(self, wanted: str | None) -> str:
        """Return the kernel that is meant, the only one where none is named.

        Raises:
            InvalidInputError: that isn't clear; the choices are named.
        """
        names = self.kernels
        if not names:
            raise InvalidInputError("there is no kernel in the source; one under an #if needs its macro: -D NAME")
        if wanted is None and len(names) > 1:
            listed = ", ".join(names)
            raise InvalidInputError(f"there are several kernels, choose one with -k (kernel= in Python): {listed}")
        if wanted is not None and wanted not in names:
            hint = did_you_mean(wanted, names)
            raise InvalidInputError(f"there is no kernel '{wanted}'{hint}; there is: {', '.join(names)}")
        return wanted or names[0]

    def part(self, kernel: str) -> Module:
        """Return the module of one kernel: it, and the helpers and variables that it needs, all unread."""
        return excerpt(self.module, kernel)


def translation_unit(assembly: str) -> TranslationUnit:
    """Open a module.

    Args:
        assembly: LLVM IR text, as LLVM prints it.

    Raises:
        RefusalError: `unsupported-instruction`, for a line that is no part of a module of OpenCL's.
    """
    module = open_module(_with_plain_structures(assembly))
    names = (readable_name(function.name) for function in module.unread.values() if function.is_kernel)
    kernels = tuple(name for name in names if not _ENQUEUED_BLOCK.match(name))
    # Nothing asks not to be inlined or optimised; LLVM reads no empty group.
    groups = {
        number: " ".join(word for word in words.split(" ") if word not in _BLOCKING_ATTRIBUTES) or "inlinehint"
        for number, words in module.attribute_groups.items()
    }
    merged = without_stubs(replace(module, attribute_groups=groups))
    return TranslationUnit(kernels, merged, WIDE in assembly)


def _with_plain_structures(assembly: str) -> str:
    """Give structure types names that need no quotes."""
    for quoted in _QUOTED_STRUCTURE.findall(assembly):
        plain = "%" + _NOT_PLAIN.sub("_", quoted[2:-1])
        while re.search(rf"{plain}(?![-\w$.])", assembly):
            plain += "_"
        assembly = assembly.replace(quoted, plain)
    return assembly


# Clang's kernel stubs.
#
# Clang compiles `kernel void k(…) { BODY }` into two functions, so that a kernel may call another as a function:
#
#   define spir_kernel void @k(…)                  { … call @__clang_ocl_kern_imp_k(…); ret }     the stub
#   define spir_func void @__clang_ocl_kern_imp_k(…) { BODY }                                    the implementation
#
# After: `define spir_kernel void @k(…) { BODY }`, so that names and positions are the source's and not those of an
# inlined call. A stub whose arguments differ from its implementation's, or whose implementation something else
# mentions, is left to the inliner.

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
