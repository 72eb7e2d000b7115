"""What stands around a kernel's statements: pragmas, structures, tables, samplers, signature, local arrays."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from coarsen.backend.opencl_c.c.build import place_of
from coarsen.backend.opencl_c.c.tree import (
    Assign,
    Expression,
    Name,
    Statement,
    all_statements,
    expressions_of,
    note_mentions,
)
from coarsen.backend.opencl_c.c.types import (
    DOUBLE,
    HALF,
    SPACE_NAMES,
    Array,
    CType,
    Opaque,
    Pointer,
    Record,
    Scalar,
    Vector,
    alignment_of,
    declared,
    from_llvm,
    image_access,
    record_name,
    size_of,
)
from coarsen.backend.opencl_c.decide.constants import parse_constant
from coarsen.backend.opencl_c.decide.pointees import by_value_alignment
from coarsen.backend.opencl_c.decide.variables import Names, PrivateArray, Variables, array_declaration
from coarsen.backend.opencl_c.express.constant_expressions import initializer
from coarsen.backend.opencl_c.express.translator import Translator
from coarsen.backend.opencl_c.printing.expressions import Line, tokens, wrapped
from coarsen.errors import RefusalError
from coarsen.ir.added_arguments import described_arguments
from coarsen.ir.graph.instruction import source_element_type
from coarsen.ir.graph.variables import GlobalVariable
from coarsen.ir.kernel import Argument, Kernel
from coarsen.ir.types import AddressSpace, ArrayType, StructType, Type

_INDENT = "    "
_WIDEST_SIGNATURE = 100


def kernel_text(
    translator: Translator, variables: Variables, body: list[Statement], lines: Iterable[Sequence[str]]
) -> str:
    """Return the complete program text.

    Args:
        translator: has written the expressions in the statements.
        variables: the kernel's variables.
        body: the kernel's statements.
        lines: the same as lines of tokens.
    """
    inner = [*_local_declarations(translator), *(_private(translator, array) for array in variables.arrays)]
    tables = list(_tables(translator).values())
    arguments = translator.pointees.arguments.values()
    types, functions = mentions(body, translator.variable_types, [*inner, *tables], arguments)
    records = _records(translator, types)
    scalars = set(scalars_in([*types, *records]))
    groups = [
        [
            f"#pragma OPENCL EXTENSION {name} : enable"
            for name in sorted(_extensions(translator, functions, scalars))
        ],
        [
            f"typedef {name} __attribute__((may_alias)) aliasing_{name};"
            for name in sorted({scalar.name for scalar, _ in scalars if scalar.may_alias})
        ],
        definitions(records, translator.field_names, _alignments(translator)),
        ["".join(_line(table)) for table in tables],
        [
            f"constant sampler_t {translator.sampler_names[number]} = {text};"
            for number, text in translator.requirements.samplers.items()
        ],
        list(_kernel(translator, variables.parameters, [*([_INDENT, *_line(one)] for one in inner), *lines])),
    ]
    return "\n\n".join("\n".join(group) for group in groups if group) + "\n"


def _kernel(translator: Translator, names: Mapping[str, str], lines: Iterable[Sequence[str]]) -> Iterator[str]:
    for added in described_arguments(translator.kernel.argument_names, translator.kernel.added_arguments):
        yield f"// {added.name}: {added.sentence}"
    yield _signature(translator, names)
    yield "{"
    for line in lines:
        yield from wrapped(line)
    yield "}"


def _line(declaration: Declaration) -> Line:
    value = [" = ", *tokens(declaration.value)] if declaration.value is not None else []
    return [declaration.text, *value, ";"]


def _extensions(
    translator: Translator, functions: Iterable[str], scalars: Iterable[tuple[object, bool]]
) -> set[str]:
    names = set(translator.requirements.extensions)
    kinds = {(str(scalar), is_pointee) for scalar, is_pointee in scalars}
    if (DOUBLE.name, True) in kinds or (DOUBLE.name, False) in kinds or translator.requirements.uses_double:
        names.add("cl_khr_fp64")
    if (HALF.name, False) in kinds:  # what is only pointed to is for `vload_half` and its like, which need nothing
        names.add("cl_khr_fp16")
    if _writes_volumes(translator) and any(name.startswith("write_image") for name in functions):
        names.add("cl_khr_3d_image_writes")
    return names


def _writes_volumes(translator: Translator) -> bool:
    """Return True if an argument is a three-dimensional image that may be written."""
    return any(
        translator.pointees.arguments[argument.name] == Opaque("image3d_t")
        and image_access(argument.type) in ("write_only", "read_write")
        for argument in translator.kernel.arguments
    )


def _signature(translator: Translator, names: Mapping[str, str]) -> str:
    kernel = translator.kernel
    size = kernel.required_work_group_size
    attribute = f"__attribute__((reqd_work_group_size({size[0]}, {size[1]}, {size[2]})))\n" if size else ""
    arguments = [_argument(translator, argument, names[argument.name]) for argument in kernel.arguments]
    head = f"kernel {attribute}void {kernel.name}("
    one_line = f"{head}{', '.join(arguments)})"
    if len(one_line) <= _WIDEST_SIGNATURE or not arguments:
        return one_line
    return head + ",".join(f"\n{_INDENT}{argument}" for argument in arguments) + ")"


def _argument(translator: Translator, argument: Argument, name: str) -> str:
    type_ = translator.pointees.arguments[argument.name]
    if isinstance(type_, Opaque):
        return f"{image_access(argument.type)} {type_} {name}".lstrip()
    is_restrict = isinstance(type_, Pointer) and "restrict" in argument.qualifiers
    return declared(type_, name, "restrict" if is_restrict else "")


def _tables(translator: Translator) -> dict[str, Declaration]:
    """The program-scope constants that the text uses, each after those that its initialiser uses."""
    found: dict[str, Declaration] = {}
    order = list(translator.kernel.globals)
    for symbol in sorted(translator.requirements.tables, key=order.index):
        _add_table(translator, symbol, found)
    return found


def _add_table(translator: Translator, symbol: str, found: dict[str, Declaration]) -> None:
    variable = translator.kernel.globals[symbol]
    if symbol in found or variable.address_space == AddressSpace.LOCAL:
        return
    before = set(translator.requirements.tables)
    table = _table(translator, variable)
    for inner in sorted(translator.requirements.tables - before):
        _add_table(translator, inner, found)
    found[symbol] = table


def _table(translator: Translator, variable: GlobalVariable) -> Declaration:
    if variable.address_space not in (AddressSpace.CONSTANT, AddressSpace.GLOBAL):
        raise RefusalError(
            "program-scope-variable", f"the program-scope variable '{variable.name}' is in no address space"
        )
    if variable.address_space == AddressSpace.GLOBAL:
        raise RefusalError(
            "program-scope-variable",
            f"the program-scope variable '{variable.name}' keeps its value between kernels",
        )
    parsed = parse_constant(variable.value_type, variable.initializer, translator.kernel.structures)
    value = initializer(translator, variable.value_type, parsed)
    type_ = from_llvm(variable.value_type)
    return Declaration(_declared(translator, variable, type_, SPACE_NAMES[AddressSpace.CONSTANT]), type_, value)


def _declared(translator: Translator, variable: GlobalVariable, type_: CType, space: str) -> str:
    place = place_of(translator.names[f"@{variable.name}"])
    if not isinstance(place, Name):
        raise RefusalError("program-scope-variable", f"the program-scope variable '{variable.name}' has no place")
    return array_declaration(place.text, type_, variable.alignment, alignment_of(type_), space)


def _records(translator: Translator, types: Iterable[CType]) -> list[Record]:
    """The structures that the text names, arguments' first."""
    wanted: dict[str, Record] = {}
    for argument in translator.kernel.arguments:
        for record in inner_records(translator.pointees.arguments[argument.name]):
            wanted[record.name] = record
    names = {record.name for type_ in types for record in inner_records(type_)}
    for structure in structures_of(translator.kernel):
        if record_name(structure) in names:
            wanted.setdefault(record_name(structure), Record(record_name(structure), structure))
    return list(wanted.values())


def _alignments(translator: Translator) -> dict[str, int]:
    """The alignments, in bytes, of the structures that are passed by value."""
    found: dict[str, int] = {}
    for argument in translator.kernel.arguments:
        alignment = by_value_alignment(argument, translator.kernel.structures)
        for record in inner_records(translator.pointees.arguments[argument.name]):
            if alignment is not None:
                found[record.name] = alignment
    return found


def _local_declarations(translator: Translator) -> Iterator[Declaration]:
    for variable in translator.kernel.globals.values():
        if variable.address_space == AddressSpace.LOCAL and variable.name in translator.requirements.tables:
            type_ = from_llvm(variable.value_type)
            yield Declaration(_declared(translator, variable, type_, SPACE_NAMES[AddressSpace.LOCAL]), type_)


def _private(translator: Translator, array: PrivateArray) -> Declaration:
    if isinstance(array.type, (Opaque, Pointer)):
        return Declaration(declared(array.type, array.name), array.type)
    text = array_declaration(array.name, array.type, array.alignment, alignment_of(array.type))
    if array.initial is None:
        return Declaration(text, array.type)
    return Declaration(text, array.type, initializer(translator, array.initial.type, array.initial.value))


# What a program's text mentions: the types that it spells out and the functions that it calls.
#
# Extensions, structures and aliasing types are declared where they are mentioned, and nowhere else.


@dataclass(frozen=True, slots=True)
class Declaration:
    """A variable in memory: its declaration without the initialiser, its type, and the initialiser if any."""

    text: str
    type: CType
    value: Expression | None = None


def mentions(
    body: list[Statement],
    variables: Mapping[str, CType],
    declarations: Iterable[Declaration],
    arguments: Iterable[CType],
) -> tuple[set[CType], set[str]]:
    """Return the types that a kernel's text spells out, and the functions that it calls.

    Args:
        body: its statements.
        variables: the types of the variables that the statements declare.
        declarations: the variables in memory, those of the program included.
        arguments: the types of its arguments.
    """
    types = set(arguments)
    expressions: list[Expression] = []
    for statement in all_statements(body):
        if isinstance(statement, Assign) and statement.declare:
            types.add(variables[statement.variable])
        expressions += expressions_of(statement)
    for declaration in declarations:
        types.add(declaration.type)
        if declaration.value is not None:
            expressions.append(declaration.value)
    functions: set[str] = set()
    for expression in expressions:
        note_mentions(expression, types, functions)
    return types, functions


def scalars_in(types: Iterable[CType]) -> Iterator[tuple[Scalar, bool]]:
    """Yield the scalars in types, those of structures' fields included, and whether each is only pointed to."""
    pending = [(type_, False) for type_ in types]
    records: set[str] = set()
    while pending:
        type_, is_pointee = pending.pop()
        match type_:
            case Scalar():
                yield type_, is_pointee
            case Vector(element):
                yield element, is_pointee
            case Array(element_type):
                pending.append((element_type, False))
            case Pointer(pointee):
                pending.append((pointee, True))
            case Record(name, layout) if name not in records:
                records.add(name)
                pending.extend((from_llvm(element), False) for element in layout.elements)


# Structures: the names of their fields, which clang leaves in the names of addresses, and their definitions.

_STRUCTURE_INDEX = 3

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
