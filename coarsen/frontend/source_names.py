"""Names for values: the source's where debug information tells them, plain ones everywhere.

Before: `%call = call i64 @get_global_id(0)`, `#dbg_value(i64 %call, !column, …)`. After: `%column = call …`.

Debug records are read from LLVM's text: llvmlite has no interface to them, and a dump of clang's syntax tree has
the variables, but not which of LLVM's values holds one after its passes. The graph is made later, since the hashes
that stored rows are found by are of the text with these names; what the records refer to, `ir/metadata.py` reads.
Where there are none, the spelling of a name tells whether the source gave it or clang did.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from coarsen.ir.graph.details import Opcode
from coarsen.ir.graph.display_name import NAMELESS, DisplayName
from coarsen.ir.graph.instruction import Instruction
from coarsen.ir.graph.module import Module
from coarsen.ir.graph.names import is_address_of_field, without_numbers
from coarsen.ir.metadata import Metadata

_DEBUG_VALUE = re.compile(
    r"#dbg_value\([^%!]*%(?P<value>[-a-zA-Z$._0-9]+), !(?P<variable>\d+), !DIExpression\(([^)]*)\),"
)
_DEBUG_DECLARATION = re.compile(r"#dbg_declare\(ptr[^%!]*%(?P<value>[-a-zA-Z$._0-9]+), !(?P<variable>\d+),")
_DEBUG_MEMBER = re.compile(r'!DIDerivedType\(tag: DW_TAG_member, name: "([^"]+)"')
_WHOLE_VALUE = ("", "DW_OP_constu, 0, DW_OP_swap, DW_OP_xderef")  # SPIR's spelling of "the variable is this value"

_UNSAFE = re.compile(r"[^a-zA-Z0-9_.]")
_TEMPORARY = re.compile(
    r"(?:i|call|conv|add|sub|mul|div|rem|shl|shr|and|or|xor|inc|dec|neg|cmp|tobool|lnot|cond|idxprom|idx\.ext"
    r"|arrayidx|arraydecay|add\.ptr|vecext|vecins|vecinit|splat|sext|idx)[\d.]*(?:i[\d.]*)*$"
)


def name_values(module: Any, kernel: str) -> None:  # noqa: ANN401 (llvmlite has no types)
    """Rename a kernel's values and blocks in place.

    A phi takes the name of the variable that it stands for, and so does a value that clang named after an
    operation (`sum.next` where a phi stands for the variable already). Characters that need quotes become
    underscores, also in program-scope variables' names, and a name that a structure type has gets one in front.
    """
    function = module.get_function(kernel)
    text = str(module)
    metadata = Metadata.of_text(text)
    names = {
        **_names_from_source(function, _variable_names(text, metadata)),
        **_names_of_memory(function, text, metadata),
    }
    taken = {structure.name for structure in module.struct_types}
    for variable in module.global_variables:
        set_name(variable, variable.name or "variable", set())
    for argument in function.arguments:
        set_name(argument, argument.name or "argument", taken)
    for block in function.blocks:
        set_name(block, block.name, taken)
        for instruction in block.instructions:
            if instruction.name:
                set_name(instruction, names.get(instruction.name, instruction.name), taken)


def _names_from_source(function: Any, variables: Mapping[str, str]) -> Mapping[str, str]:  # noqa: ANN401
    """The new names of those values that get one."""
    instructions = [instruction for block in function.blocks for instruction in block.instructions]
    phis = {i.name for i in instructions if i.opcode == "phi" and i.name in variables}
    carried = {variables[name] for name in phis}
    names = {name: named_by_source(variables[name]) for name in phis}
    for instruction in instructions:
        variable = variables.get(instruction.name)
        if variable and _TEMPORARY.match(instruction.name):
            name = named_by_source(variable)
            names.setdefault(instruction.name, f"{name}.next" if variable in carried else name)
    return names


def _names_of_memory(function: Any, text: str, metadata: Metadata) -> Mapping[str, str]:  # noqa: ANN401
    """The new names of arrays and of fields' addresses, where theirs don't tell the source's for sure."""
    declared = {m["value"]: metadata.variable_name(m["variable"]) for m in _DEBUG_DECLARATION.finditer(text)}
    members = set(_DEBUG_MEMBER.findall(text))
    found: dict[str, str] = {}
    for block in function.blocks:
        for instruction in block.instructions:
            if instruction.opcode == "getelementptr":
                name = member_by_source(_member(instruction.name, members))
            else:
                name = named_by_source(declared.get(instruction.name, ""))
            if is_surely_readable(name):
                found[instruction.name] = name
    return found


def _member(name: str, members: set[str]) -> str:
    """The field whose address clang named so, with a number after it where it needed another name."""
    plain = name.partition(".")[0]
    shorter = (plain[:end] for end in range(len(plain), 0, -1) if plain[end:].isdigit() or end == len(plain))
    return next((wish for wish in shorter if wish in members), "")


def set_name(value: Any, name: str, taken: set[str]) -> None:  # noqa: ANN401
    """Give a value of LLVM's a name that needs no quotes and is not taken; other values' names LLVM sees to."""
    safe = _UNSAFE.sub("_", name)
    if safe in taken or safe[:1].isdigit():
        safe = f"_{safe}"
    if safe != value.name:
        value.name = safe


def _variable_names(text: str, metadata: Metadata) -> Mapping[str, str]:
    """The variable that each value is assigned to first, by the value's name."""
    names: dict[str, str] = {}
    for match in _DEBUG_VALUE.finditer(text):
        name = metadata.variable_name(match["variable"])
        if name and match[3] in _WHOLE_VALUE:
            names.setdefault(match["value"], name)
    return names


def name_origins(module: Module, kernel: str) -> None:
    """Write the source's names of a kernel's values into their origins, where all that follows reads them.

    Args:
        module: owned by the caller, with the names that `name_values` has given.
        kernel: the kernel's name.
    """
    for instruction in module.function(kernel).instructions():
        if instruction.name:
            instruction.origin = instruction.origin.called(_display_name(instruction))


def _display_name(instruction: Instruction) -> DisplayName:
    name = _name_in_source(instruction)
    if not name:
        return NAMELESS
    number = without_numbers(instruction.name).removeprefix(name)
    return DisplayName(name, number if number.isdecimal() and not is_address_of_field(instruction) else "")


def _name_in_source(instruction: Instruction) -> str:
    """The name that the source gives to a value; empty where the compiler made it."""
    if instruction.opcode is Opcode.ALLOCA:
        return readable(instruction.name)
    if is_temporary_name(instruction.name):
        return ""
    said = field_name if is_address_of_field(instruction) else readable
    return said(instruction.name)


# What the spelling of a value's name tells.
#
# Debug information names variables alone; fields, helpers' values and LLVM IR without it have nothing but their
# spelling. It is read here once: afterwards the name stands in `Origin.name`, and no one reads a spelling again.
#
# A value that holds a variable of the source, by the debug information, may have a name that looks like one of the
# compiler's: `mul`, `i`, `x10`. It is marked: `mul.source`. Stored rows are found by a hash of the text with these
# names, so they stay as they are.

_MARK = ".source"
_TEMPORARY_NAME = re.compile(
    r"(?:i|call|conv|add|sub|mul|div|rem|shl|shr|and|or|xor|inc|dec|neg|cmp|tobool|lnot|cond|idxprom|idx\.ext|not"
    r"|arrayidx|arraydecay|add\.ptr|vecext|vecins|vecinit|splat(?:\.splat)?|sext|extractVec|storetmp|astype|fneg|tmp"
    r"|cast|incdec|ascast|xtraiter|unroll_iter|retval|brmerge|Pivot|SwitchLeaf|spec\.select|or\.cond|indvars|sub\.ptr"
    r"|rotl|rotr|bitcast|[usf](?:max|min)|(?:bf|wide|broadcast|vec|masked|narrow|reass|cleanup|niter)\.[a-z]+)"
    r"(?:[\d.]|i\b|\.i|\.iv|\.mux|\.lcssa|\.neg|\.not|\.next|\.alone|\.out)*$"
)
_SUFFIX = re.compile(
    r"\.(?:addr|next|lcssa|sroa|ph|in|i|loopexit|us|sink|copyload|vec|expand|extract|vecblend|be|prol|epil|unr|\d+)(?=\.|\d|$)\d*"
)
_DIGITS_OF_UNIQUENESS = re.compile(r"(?<=[a-zA-Z_])\d{2,}$")


def named_by_source(name: str) -> str:
    """Return a value's name for a name of the source, marked where it would be taken for another."""
    return f"{name}{_MARK}" if is_temporary_name(name) or readable(name) != name else name


def member_by_source(name: str) -> str:
    """Return the name of a field's address for the field's name, whose digits may else be taken for LLVM's."""
    return f"{name}{_MARK}" if is_temporary_name(name) or name[-1:].isdigit() else name


def is_temporary_name(name: str) -> bool:
    """Return True if a compiler invented the name, as far as it tells."""
    return bool(_TEMPORARY_NAME.match(name))


def readable(name: str) -> str:
    """Return a value's name without what LLVM's passes added to it."""
    given, mark, added = name.partition(_MARK)
    if mark:
        return given + _without_suffixes(added.lstrip("0123456789"))
    name = _without_suffixes(name)
    return _DIGITS_OF_UNIQUENESS.sub("", name) or name


def _without_suffixes(name: str) -> str:
    previous = None
    while previous != name:
        previous = name
        name = _SUFFIX.sub("", name)
    return name


def is_surely_readable(name: str) -> bool:
    """Return True if `readable` gives exactly what the source says."""
    return _MARK in name


def field_name(name: str) -> str:
    """Return the field whose address clang called so: the field's name, with a number where that was taken."""
    # No name of the source has a dot: what comes after one was added.
    plain = readable(name).partition(".")[0] or readable(name)
    if is_surely_readable(name):
        return plain
    shortened = plain.rstrip("0123456789")
    return shortened if shortened and not shortened.endswith("_") else plain
