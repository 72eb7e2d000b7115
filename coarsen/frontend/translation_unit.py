"""A source as clang has compiled it, once for all of its kernels.

    kernel.cl ──clang──▶ LLVM IR ──open──▶ TranslationUnit: kernels, helpers, variables, nobody has read a body
                                             │ part("a")                │ part("b")
                                             ▼                          ▼
                                      kernel a, what it needs    kernel b, what it needs

A kernel that is refused, or a helper that nobody can read, spoils only what needs it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from coarsen.base.names import did_you_mean
from coarsen.errors import InvalidInputError
from coarsen.frontend.input_checks import readable_name
from coarsen.frontend.kernel_stubs import without_stubs
from coarsen.ir.graph.module import Module
from coarsen.ir.graph.module_parser import open_module
from coarsen.ir.graph.stored import excerpt

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
    groups = {number: _inlinable(words) for number, words in module.attribute_groups.items()}
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


def _inlinable(attributes: str) -> str:
    """Return a group without requests not to inline or optimise; LLVM does not read an empty one."""
    return " ".join(word for word in attributes.split(" ") if word not in _BLOCKING_ATTRIBUTES) or "inlinehint"
