"""Definitions, in LLVM IR, of builtins that a target has no counterpart of.

    before                                              after
    declare spir_func void @_Z9mem_fencej(i32) #2       define internal spir_func void @_Z9mem_fencej(i32 %0) … {
                                                          call spir_func void @_Z22atomic_work_item_fence…(…)
                                                          ret void
                                                        }

A library is a function from a declaration to the body that defines it, or None. Functions that a body calls are
declared here, by the types that stand in the call, unless the module knows them. The always-inliner does the rest.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from coarsen.ir.opencl.names import builtin_name
from coarsen.ir.types import StructType, Type, VectorType, parse_type

_DECLARATION = re.compile(
    r"^declare (?P<head>[^\n@]*)@(?P<name>[\w.$]+)\((?P<parameters>[^\n]*)\)[^\n)]*$", re.MULTILINE
)
_DEFINED = re.compile(r"^define [^\n@]*@([\w.$]+)", re.MULTILINE)
_LINKAGE = re.compile(r"\b(?:dso_local|spir_func|zeroext|signext|noundef|noalias|nofpclass\([^)]*\)) ?")
_CALL = re.compile(
    r"\bcall (?:(?:fast|afn|nsz|contract) )*(?P<head>[^@\n]+?) @(?P<name>[\w.$]+)\((?P<arguments>[^\n]*)\)"
)
_ELEMENT_CODE = re.compile(r"(?:P?U3AS\d)?(?:P)?[VK]*(?:U7_Atomic)?(?:Dv\d+_)?(Dh|[a-z])")
_UNSIGNED_CODES = frozenset("hjmty")


@dataclass(frozen=True, slots=True)
class Declaration:
    """A builtin that a module declares; `name` is mangled, `builtin` its OpenCL name."""

    name: str
    builtin: str
    result: Type
    parameters: tuple[Type, ...]

    @property
    def is_unsigned(self) -> bool:
        """Return True if the first parameter, or what it points to, is unsigned (LLVM's types don't say)."""
        length = len(str(len(self.builtin))) + len("_Z") + len(self.builtin)
        match = _ELEMENT_CODE.match(self.name[length:])
        return match is not None and match[1] in _UNSIGNED_CODES


Library = Callable[[Declaration], Iterable[str] | None]


def with_definitions(text: str, library: Library, structures: Mapping[str, StructType]) -> str:
    """Return a module's text that defines all that the library has a body for, what bodies call included."""
    while True:
        definitions = {
            match["name"]: function(declaration.result, declaration.name, declaration.parameters, body)
            for match in _DECLARATION.finditer(text)
            if (body := library(declaration := _read(match, structures))) is not None
        }
        if not definitions:
            return text
        text = _DECLARATION.sub(lambda match: definitions.get(match["name"], match.group()), text)  # noqa: B023
        text += "".join(_declarations_for(definitions.values(), text))


def function(result: Type, name: str, parameters: Iterable[Type], body: Iterable[str]) -> str:
    """Return a definition that the inliner will remove; its parameters are %0, %1, …"""
    spelled = ", ".join(f"{type_} %{index}" for index, type_ in enumerate(parameters))
    lines = "".join(f"{line}\n" if line.endswith(":") else f"  {line}\n" for line in body)
    return f"define internal spir_func {result} @{name}({spelled}) alwaysinline nounwind {{\nstart:\n{lines}}}\n"


def elements(type_: Type) -> int:
    """Return how many elements a value has that a builtin works on one by one."""
    return type_.count if isinstance(type_, VectorType) else 1


def scalar(type_: Type) -> Type:
    """Return the type of one such element."""
    return type_.element if isinstance(type_, VectorType) else type_


def _read(match: re.Match[str], structures: Mapping[str, StructType]) -> Declaration:
    parameters = (_type(spelling, structures) for spelling in split(match["parameters"]) if spelling != "...")
    return Declaration(
        match["name"], builtin_name(match["name"]), _type(match["head"], structures), tuple(parameters)
    )


def _type(spelling: str, structures: Mapping[str, StructType]) -> Type:
    """The type at the start of a parameter's spelling, `ptr addrspace(1) noundef` for one."""
    return parse_type(_LINKAGE.sub("", spelling).strip(), structures)


def split(arguments: str) -> list[str]:
    """Return a list between parentheses, cut at its own commas."""
    parts, depth, start = [], 0, 0
    for position, character in enumerate(arguments):
        depth += (character in "([{<") - (character in ")]}>")
        if character == "," and depth == 0:
            parts.append(arguments[start:position].strip())
            start = position + 1
    return [part for part in (*parts, arguments[start:].strip()) if part]


def _declarations_for(definitions: Iterable[str], text: str) -> Iterator[str]:
    known = {match["name"] for match in _DECLARATION.finditer(text)} | set(_DEFINED.findall(text))
    for definition in definitions:
        for match in _CALL.finditer(definition):
            if match["name"] not in known:
                known.add(match["name"])
                types = ", ".join(str(parse_type(argument)) for argument in split(match["arguments"]))
                yield f"declare {match['head']} @{match['name']}({types})\n"
