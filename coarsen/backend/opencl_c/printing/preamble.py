"""What stands around a kernel's statements: pragmas, types, tables, samplers, the signature and local arrays."""

from __future__ import annotations

import re
from collections.abc import Iterator

from coarsen.backend.opencl_c.c.types import (
    SCALARS,
    SPACE_NAMES,
    Opaque,
    Pointer,
    Record,
    alignment_of,
    declared,
    from_llvm,
    record_name,
)
from coarsen.backend.opencl_c.decide.arguments import by_value_type
from coarsen.backend.opencl_c.decide.constants import parse_constant
from coarsen.backend.opencl_c.decide.records import definitions, inner_records, structures_of
from coarsen.backend.opencl_c.decide.variables import PrivateArray, Variables, array_declaration
from coarsen.backend.opencl_c.express.constant_expressions import initializer
from coarsen.backend.opencl_c.express.translator import Translator
from coarsen.backend.opencl_c.structure.words import words_of
from coarsen.errors import RefusalError
from coarsen.ir.added_arguments import described_arguments
from coarsen.ir.kernel import Argument, GlobalVariable
from coarsen.ir.types import AddressSpace

_INDENT = "    "
_WIDEST_SIGNATURE = 100
_DOUBLE = re.compile(r"\bdouble\d*\b")
_HALF = re.compile(r"\bhalf\d*\b(?!\*| \*|_)|\(half\d*\)")
_ALIASING = re.compile(r"\baliasing_(\w+)\b")


def kernel_text(translator: Translator, lines: list[str]) -> str:
    """The complete program text around the kernel's lines."""
    comments = [f"// {added.name}: {added.sentence}" for added in described_arguments(translator.kernel)]
    body = "\n".join([*comments, _signature(translator), "{", *lines, "}"])
    tables = _tables(translator)
    samplers = [
        f"constant sampler_t {translator.sampler_names[number]} = {text};"
        for number, text in translator.requirements.samplers.items()
    ]
    records = _records(translator, "\n".join([body, *tables]))
    needed = "\n".join([*records, *tables, *samplers, body])
    aliases = [
        f"typedef {scalar} __attribute__((may_alias)) aliasing_{scalar};"
        for scalar in sorted(set(_ALIASING.findall(needed)))
        if scalar in SCALARS
    ]
    pragmas = [f"#pragma OPENCL EXTENSION {name} : enable" for name in sorted(_extensions(translator, needed))]
    groups = [pragmas, aliases, records, tables, samplers, [body]]
    return "\n\n".join("\n".join(group) for group in groups if group) + "\n"


def _extensions(translator: Translator, text: str) -> set[str]:
    names = set(translator.requirements.extensions)
    if _DOUBLE.search(text) or translator.requirements.uses_double:
        names.add("cl_khr_fp64")
    if _HALF.search(text):
        names.add("cl_khr_fp16")
    if (
        "image3d_t" in text
        and "write_image" in text
        and re.search(r"write_only image3d_t|read_write image3d_t", text)
    ):
        names.add("cl_khr_3d_image_writes")
    return names


def _signature(translator: Translator) -> str:
    kernel = translator.kernel
    size = kernel.required_work_group_size
    attribute = f"__attribute__((reqd_work_group_size({size[0]}, {size[1]}, {size[2]})))\n" if size else ""
    arguments = [_argument(translator, argument) for argument in kernel.arguments]
    head = f"kernel {attribute}void {kernel.name}("
    one_line = f"{head}{', '.join(arguments)})"
    if len(one_line) <= _WIDEST_SIGNATURE or not arguments:
        return one_line
    return head + ",".join(f"\n{_INDENT}{argument}" for argument in arguments) + ")"


def _argument(translator: Translator, argument: Argument) -> str:
    type_ = translator.pointees.arguments[argument.name]
    if isinstance(type_, Opaque):
        return f"{_access(argument)}{type_} {argument.name}"
    text = declared(type_, argument.name)
    if isinstance(type_, Pointer) and "restrict" in argument.qualifiers:
        text = re.sub(rf"\* ?{re.escape(argument.name)}$", f"* restrict {argument.name}", text)
    return text


def _access(argument: Argument) -> str:
    """Return the access qualifier of an image, as LLVM's type says."""
    match = re.search(r'"spirv\.Image".* ([012])\)$', str(argument.type))
    return f"{('read_only', 'write_only', 'read_write')[int(match[1])]} " if match else ""


def _tables(translator: Translator) -> list[str]:
    """The program-scope constants that the text uses, each behind those that its initialiser uses."""
    written: dict[str, str] = {}
    order = list(translator.kernel.globals)
    for symbol in sorted(translator.requirements.tables, key=order.index):
        _add_table(translator, symbol, written)
    return list(written.values())


def _add_table(translator: Translator, symbol: str, written: dict[str, str]) -> None:
    variable = translator.kernel.globals[symbol]
    if symbol in written or variable.address_space == AddressSpace.LOCAL:
        return
    before = set(translator.requirements.tables)
    text = _table(translator, variable)
    for inner in sorted(translator.requirements.tables - before):
        _add_table(translator, inner, written)
    written[symbol] = text


def _table(translator: Translator, variable: GlobalVariable) -> str:
    if variable.address_space not in (AddressSpace.CONSTANT, AddressSpace.GLOBAL):
        raise RefusalError(
            "program-scope-variable", f"the program-scope variable '{variable.name}' is in no address space"
        )
    if variable.address_space == AddressSpace.GLOBAL:
        raise RefusalError(
            "program-scope-variable",
            f"the program-scope variable '{variable.name}' keeps its value between kernels",
        )
    place = translator.names[f"@{variable.name}"].place
    type_ = from_llvm(variable.value_type)
    if place is None:
        raise RefusalError("program-scope-variable", f"the program-scope variable '{variable.name}' has no place")
    parsed = parse_constant(variable.value_type, variable.initializer, translator.kernel.structures)
    value = initializer(translator, variable.value_type, parsed)
    space = SPACE_NAMES[AddressSpace.CONSTANT]
    declaration = array_declaration(place.text, type_, variable.alignment, alignment_of(type_), space)
    return f"{declaration} = {value};"


def _records(translator: Translator, text: str) -> list[str]:
    """The structures that the text names, arguments' first."""
    words = words_of(text)
    wanted: dict[str, Record] = {}
    alignments: dict[str, int] = {}
    for argument in translator.kernel.arguments:
        for record in inner_records(translator.pointees.arguments[argument.name]):
            wanted[record.name] = record
            match = re.search(r"\balign (\d+)", argument.attributes)
            if match and by_value_type(argument, translator.kernel.structures) is not None:
                alignments[record.name] = int(match[1])
    for structure in structures_of(translator.kernel):
        if record_name(structure) in words:
            wanted.setdefault(record_name(structure), Record(record_name(structure), structure))
    return definitions(wanted.values(), translator.field_names, alignments)


def local_declarations(translator: Translator, variables: Variables) -> Iterator[str]:
    """The kernel's local arrays, private arrays and structures."""
    lines = [_local(translator, variable) for variable in translator.kernel.globals.values()]
    lines += [_private(translator, array) for array in variables.arrays]
    for line in lines:
        if line:
            yield f"{_INDENT}{line};"


def _local(translator: Translator, variable: GlobalVariable) -> str:
    if variable.address_space != AddressSpace.LOCAL or variable.name not in translator.requirements.tables:
        return ""
    place = translator.names[f"@{variable.name}"].place
    type_ = from_llvm(variable.value_type)
    if place is None:
        return ""
    space = SPACE_NAMES[AddressSpace.LOCAL]
    return array_declaration(place.text, type_, variable.alignment, alignment_of(type_), space)


def _private(translator: Translator, array: PrivateArray) -> str:
    if isinstance(array.type, (Opaque, Pointer)):
        return declared(array.type, array.name)
    declaration = array_declaration(array.name, array.type, array.alignment, alignment_of(array.type))
    if array.initial is None:
        return declaration
    return f"{declaration} = {initializer(translator, array.initial.type, array.initial.value)}"
