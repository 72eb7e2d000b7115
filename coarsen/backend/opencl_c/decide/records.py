"""Structures: the names of their fields, which clang leaves in the names of addresses, and their definitions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from coarsen.backend.opencl_c.c.names import Names
from coarsen.backend.opencl_c.c.types import (
    Array,
    CType,
    Pointer,
    Record,
    alignment_of,
    declared,
    from_llvm,
    record_name,
    size_of,
)
from coarsen.ir.graph.instruction import source_element_type
from coarsen.ir.kernel import Kernel
from coarsen.ir.types import ArrayType, StructType, Type

_STRUCTURE_INDEX = 3
_INDENT = "    "
_AGGREGATES = (ArrayType, StructType)


def field_names(kernel: Kernel) -> Mapping[tuple[str, int], str]:
    """Return names for fields, by structure and number: clang calls a field's address by the field's name."""
    wishes: dict[str, dict[int, Counter[str]]] = {}
    for instruction in kernel.instructions():
        if instruction.opcode != "getelementptr" or len(instruction.operands) != _STRUCTURE_INDEX:
            continue
        source = source_element_type(instruction)
        number = instruction.operands[2].text
        if isinstance(source, StructType) and number.isdigit() and (wish := instruction.origin.name.base):
            fields = wishes.setdefault(record_name(source), {})
            fields.setdefault(int(number), Counter())[wish] += 1
    return {
        (record, number): name for record, fields in wishes.items() for number, name in _distinct(fields).items()
    }


def _distinct(fields: Mapping[int, Counter[str]]) -> dict[int, str]:
    names = Names()
    return {number: names.new(fields[number].most_common(1)[0][0]) for number in sorted(fields)}


def definitions(
    records: Iterable[Record], names: Mapping[tuple[str, int], str], alignments: Mapping[str, int]
) -> list[str]:
    """Return the `typedef struct` of each record and of those inside of it, inner ones first."""
    written: dict[str, str] = {}
    for record in records:
        _define(record, names, alignments, written)
    return list(written.values())


def _define(
    record: Record, names: Mapping[tuple[str, int], str], alignments: Mapping[str, int], written: dict[str, str]
) -> None:
    if record.name in written:
        return
    fields = []
    for number, element in enumerate(record.layout.elements):
        type_ = from_llvm(element)
        for inner in inner_records(type_):
            _define(inner, names, alignments, written)
        name = names.get((record.name, number), f"field{number}")
        fields.append(f"{_INDENT}{declared(type_, name)};\n")
    attributes = " __attribute__((packed))" if record.layout.packed else ""
    wanted = alignments.get(record.name, 1)
    if wanted > alignment_of(record) and size_of(record) % wanted == 0:
        attributes += f" __attribute__((aligned({wanted})))"
    body = "".join(fields)
    written[record.name] = f"typedef struct{attributes} {{\n{body}}} {record.name};"


def structures_of(kernel: Kernel) -> Iterator[StructType]:
    """Yield the structures that a kernel's text may name: the module's, unnamed ones of variables and values."""
    yield from kernel.structures.values()
    for variable in kernel.globals.values():
        yield from _unnamed_in(variable.value_type)
    for instruction in kernel.instructions():
        if isinstance(instruction.type, _AGGREGATES):
            yield from _unnamed_in(instruction.type)
        if instruction.opcode in ("alloca", "getelementptr"):
            yield from _unnamed_in(source_element_type(instruction))


def _unnamed_in(type_: Type) -> tuple[StructType, ...]:
    while isinstance(type_, ArrayType):
        type_ = type_.element
    return (type_,) if isinstance(type_, StructType) and not type_.name else ()


def inner_records(type_: CType) -> list[Record]:
    """Return the records that a type's definition needs: itself, an array's element, what a pointer points to."""
    while isinstance(type_, (Array, Pointer)):
        type_ = type_.element if isinstance(type_, Array) else type_.pointee
    return [type_] if isinstance(type_, Record) else []
