"""Clang's twin functions.

Clang compiles `kernel void k(…) { BODY }` into two functions, so that a kernel may call another as a function:

    define spir_kernel void @k(…)                  { … call @__clang_ocl_kern_imp_k(…); ret }
    define spir_func void @__clang_ocl_kern_imp_k(…) { BODY }

After: `define spir_kernel void @k(…) { BODY }`, so that names and positions are the source's and not those of an
inlined call. A pair whose arguments differ, or whose twin another kernel calls, is left to the inliner.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

TWIN_PREFIX = "__clang_ocl_kern_imp_"
_DEFINITION = re.compile(r"^define [^\n]*?@(?P<name>[^\s(]+)\((?P<arguments>[^\n]*)\{\n", re.MULTILINE)
_DEBUG_NODE = re.compile(r" !dbg !\d+")
_LOCAL = re.compile(r"%[-a-zA-Z$._0-9]+")
_DEFINITION_AND_CALL = 2


@dataclass(frozen=True, slots=True)
class _Definition:
    """Where a function's signature starts, its body starts and its body ends (with the brace), in the text."""

    start: int
    body: int
    end: int
    arguments: str


def merge_twins(assembly: str) -> str:
    """Give each kernel the body of its twin, in the twin's place; text without twins comes back as it is."""
    if TWIN_PREFIX not in assembly:
        return assembly
    definitions = {match["name"]: _definition(assembly, match) for match in _DEFINITION.finditer(assembly)}
    kernels = [name for name in definitions if _can_merge(assembly, definitions, name)]
    replacements: dict[int, tuple[int, str]] = {}
    for name in kernels:
        kernel, twin = definitions[name], definitions[TWIN_PREFIX + name]
        replacements[kernel.start] = (kernel.end, "")
        replacements[twin.start] = (twin.body, _signature(assembly, kernel, twin))
    return _replace(assembly, replacements)


def _definition(assembly: str, match: re.Match[str]) -> _Definition:
    end = assembly.index("\n}\n", match.end() - 1) + len("\n}\n")
    return _Definition(match.start(), match.end(), end, match["arguments"])


def _can_merge(assembly: str, definitions: Mapping[str, _Definition], kernel: str) -> bool:
    twin = definitions.get(TWIN_PREFIX + kernel)
    if twin is None:
        return False
    uses = re.findall(rf"@{re.escape(TWIN_PREFIX + kernel)}(?![-a-zA-Z$._0-9])", assembly)
    same_names = _LOCAL.findall(definitions[kernel].arguments) == _LOCAL.findall(twin.arguments)
    return same_names and len(uses) == _DEFINITION_AND_CALL


def _signature(assembly: str, kernel: _Definition, twin: _Definition) -> str:
    """The kernel's signature in the debug scope of its twin, which the body refers to."""
    scope = _DEBUG_NODE.search(twin.arguments)
    return _DEBUG_NODE.sub(scope.group() if scope else "", assembly[kernel.start : kernel.body])


def _replace(text: str, replacements: Mapping[int, tuple[int, str]]) -> str:
    pieces, position = [], 0
    for start, (end, replacement) in sorted(replacements.items()):
        pieces += [text[position:start], replacement]
        position = end
    return "".join([*pieces, text[position:]])
