"""From a module that llvmlite has parsed to `ir.Kernel`.

What an instruction *is* (opcode, type, operands) comes from LLVM's own objects; its text comes from one print of
the whole module, since printing instruction by instruction makes LLVM number the module again every time.

The module is expected in normal form: every value has a name, and no name needs quotes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from coarsen.errors import InternalError
from coarsen.ir.kernel import Argument, Block, GlobalVariable, Instruction, Kernel, Value, ValueKind
from coarsen.ir.metadata import Metadata, debug_node, strip_attachments
from coarsen.ir.types import LabelType, StructType, Type, VoidType, parse_type

_DROPPED_CALLS = ("llvm.lifetime.", "llvm.experimental.noalias.scope.decl", "llvm.dbg.", "llvm.donothing")
_INCOMING = re.compile(r", %([-a-zA-Z$._0-9]+) \]")
_LOCAL = re.compile(r"%[-a-zA-Z$._0-9]+")
_COMPARISONS = ("icmp", "fcmp")
_BINARY = (
    *("add", "sub", "mul", "udiv", "sdiv", "urem", "srem", "shl", "lshr", "ashr", "and", "or", "xor"),
    *("fadd", "fsub", "fmul", "fdiv", "frem", *_COMPARISONS, "store"),
)
_UNARY = (
    *("trunc", "zext", "sext", "fptoui", "fptosi", "uitofp", "sitofp", "fptrunc", "fpext", "fneg"),
    *("ptrtoint", "inttoptr", "bitcast", "addrspacecast", "load"),
)
_OPERAND_COUNTS = {**dict.fromkeys(_BINARY, 2), **dict.fromkeys(_UNARY, 1), "select": 3}
_VOID = VoidType()
_LABEL_TYPE = LabelType()
_LABEL = re.compile(r"label %([-a-zA-Z$._0-9]+)")
_GLOBAL = re.compile(
    r"^@(?P<name>\S+) = .*?(?:addrspace\((?P<space>\d+)\) )?(?:externally_initialized )?"
    r"(?P<kind>global|constant) (?P<rest>.*)$"
)
# What stands after a variable's initialiser; a string inside of that may hold the same words.
_PROPERTIES = re.compile(
    r'(?:, (?:align \d+|section "[^"]*"|partition "[^"]*"|comdat(?:\([^)]*\))?|![\w.]+ !\d+))*$'
)
_ALIGNMENT = re.compile(r", align (\d+)")
_DEBUG_ATTACHMENT = re.compile(r'c"[^"]*"|,? !dbg !\d+|^ +#dbg_\w+\([^\n]*\n', re.MULTILINE)
_KIND_BY_LLVM_NAME = {
    "instruction": ValueKind.INSTRUCTION,
    "argument": ValueKind.ARGUMENT,
    "basic_block": ValueKind.BLOCK,
    "global_variable": ValueKind.GLOBAL,
    "function": ValueKind.FUNCTION,
}


@dataclass(frozen=True, slots=True)
class _FunctionText:
    """A module's text, cut around one function."""

    before: str
    signature: str
    body: str
    after: str


def read_kernel(module: Any, name: str) -> Kernel:  # noqa: ANN401 (llvmlite has no types)
    """Read one kernel of a module.

    Args:
        module: an `llvmlite.binding.ModuleRef` in normal form.
        name: the kernel's name.

    Raises:
        InternalError: if the printed text and LLVM's objects disagree.
    """
    text = str(module)
    cut = _cut(text, name)
    metadata = Metadata(text)
    reader = _Reader(module, metadata)
    blocks = tuple(reader.blocks(module.get_function(name), cut.body))
    signature = strip_attachments(cut.signature)
    before, after = reader.strip_module(cut, signature, blocks)
    return Kernel(
        name=name,
        arguments=tuple(reader.arguments(module.get_function(name), cut.signature)),
        blocks=blocks,
        signature=signature,
        globals=reader.globals(),
        structures=reader.structures,
        before=before,
        after=after,
        required_work_group_size=_required_size(cut.signature, metadata),
    )


def _cut(text: str, name: str) -> _FunctionText:
    match = re.search(rf'^define [^\n]*@"?{re.escape(name)}"?\([^\n]*\{{$', text, re.MULTILINE)
    if match is None:
        raise InternalError(f"kernel '{name}' is not in the printed module")
    end = text.index("\n}\n", match.end())
    return _FunctionText(text[: match.start()], match.group(), text[match.end() + 1 : end + 1], text[end + 3 :])


def _required_size(signature: str, metadata: Metadata) -> tuple[int, int, int] | None:
    match = re.search(r"!reqd_work_group_size !(\d+)", signature)
    if match is None:
        return None
    sizes = metadata.integers(match[1])
    return (sizes[0], sizes[1], sizes[2])


class _Reader:
    """Shares parsed types and metadata between the parts of one module."""

    def __init__(self, module: Any, metadata: Metadata) -> None:  # noqa: ANN401
        self._module = module
        self._metadata = metadata
        self._types: dict[int, Type] = {}
        self._values: dict[int, Value] = {}
        self._local: dict[str, Value] = {}
        self.structures: dict[str, StructType] = {}
        definitions = [(structure.name, str(structure)) for structure in module.struct_types]
        before: object = None
        while before != (before := repr(self.structures)):
            # Until structures inside of others are known in full, whatever their order.
            for name, text in definitions:
                parsed = parse_type(text, self.structures)
                if isinstance(parsed, StructType):
                    self.structures[name] = parsed

    def blocks(self, function: Any, body: str) -> Iterator[Block]:  # noqa: ANN401
        lines = _lines_of_blocks(body)
        for argument in function.arguments:
            self._local[f"%{argument.name}"] = self._value(argument)
        for block in function.blocks:
            instructions = list(block.instructions)
            if len(instructions) != len(lines.get(block.name, ())):
                raise InternalError(f"LLVM's text and objects disagree in the block '{block.name}'")
            read = map(self._instruction, instructions, lines[block.name])
            yield Block(block.name, tuple(i for i in read if not i.callee.startswith(_DROPPED_CALLS)))

    def _instruction(self, instruction: Any, line: str) -> Instruction:  # noqa: ANN401
        # Every question to LLVM is a foreign call; what the line says plainly is taken from it.
        name, _, rest = line.partition(" = ") if line.startswith("%") else ("", "", line)
        opcode = _opcode(rest)
        targets = tuple(_LABEL.findall(line)) if opcode in ("br", "switch") else ()
        operands = self._plain_operands(opcode, rest, targets)
        type_: Type = _VOID
        if name:
            type_ = _plain_result(opcode, operands) or self._type(instruction.type)
            self._local[name] = value = Value(ValueKind.INSTRUCTION, type_, name[1:])
            self._values[_address(instruction)] = value
        node = debug_node(line)
        return Instruction(
            name=name[1:],
            opcode=opcode,
            type=type_,
            operands=operands or tuple(map(self._value, instruction.operands)),
            text=strip_attachments(line),
            incoming=tuple(_INCOMING.findall(line)) if opcode == "phi" else (),
            targets=targets,
            position=self._metadata.position(node) if node else None,
            call_position=self._metadata.call_position(node) if node else None,
        )

    def _plain_operands(self, opcode: str, text: str, targets: tuple[str, ...]) -> tuple[Value, ...]:
        """The operands where the text names nothing but values that are known by now; else nothing.

        Structures' names look the same, but no value has one of those in normal form.
        """
        if len(targets) == 1:
            return (Value(ValueKind.BLOCK, _LABEL_TYPE, targets[0]),)
        names = _LOCAL.findall(text)
        if len(names) != _OPERAND_COUNTS.get(opcode):
            return ()
        operands = tuple(self._local[name] for name in names if name in self._local)
        return operands if len(operands) == len(names) else ()

    def _value(self, value: Any) -> Value:  # noqa: ANN401
        address = _address(value)
        known = self._values.get(address)
        if known is None:
            known = self._values[address] = self._read_value(value)
        return known

    def _read_value(self, value: Any) -> Value:  # noqa: ANN401
        kind = _kind_of(value)
        type_ = self._type(value.type)
        if kind is not ValueKind.CONSTANT:
            return Value(kind, type_, value.name)
        return Value(kind, type_, str(value).removeprefix(str(type_)).strip())

    def _type(self, type_: Any) -> Type:  # noqa: ANN401
        address = _address(type_)
        known = self._types.get(address)
        if known is None:
            known = self._types[address] = parse_type(str(type_), self.structures)
        return known

    def arguments(self, function: Any, signature: str) -> Iterator[Argument]:  # noqa: ANN401
        described = {
            key: signature.partition(f"!kernel_arg_{key} !")[2].partition(" ")[0]
            for key in ("type", "base_type", "addr_space", "access_qual", "type_qual")
        }
        spellings = _split_arguments(signature)
        spaces = self._metadata.integers(described.pop("addr_space"))
        # Each node lists all arguments: it is read once, not once for each of them.
        texts = {key: self._metadata.strings(node) for key, node in described.items()}
        for index, argument in enumerate(function.arguments):
            yield Argument(
                name=argument.name,
                type=self._type(argument.type),
                attributes=spellings[index],
                type_name=_at(texts["type"], index),
                base_type_name=_at(texts["base_type"], index),
                address_space=spaces[index] if index < len(spaces) else 0,
                access=_at(texts["access_qual"], index) or "none",
                qualifiers=tuple(_at(texts["type_qual"], index).split()),
            )

    def globals(self) -> Mapping[str, GlobalVariable]:
        variables = (self._global(variable) for variable in self._module.global_variables)
        return {variable.name: variable for variable in variables}

    def _global(self, variable: Any) -> GlobalVariable:  # noqa: ANN401
        line = str(variable).strip()
        match = _GLOBAL.match(line)
        if match is None:
            raise InternalError(f"can't read the program-scope variable '{line}'")
        value_type = self._type(variable.global_value_type)
        initializer, properties = _without_properties(match["rest"].removeprefix(str(value_type)).strip())
        alignment = _ALIGNMENT.search(properties)
        return GlobalVariable(
            name=variable.name,
            value_type=value_type,
            address_space=int(match["space"] or 0),
            is_constant=match["kind"] == "constant",
            initializer=initializer,
            alignment=int(alignment[1]) if alignment else 1,
        )

    def strip_module(self, cut: _FunctionText, signature: str, blocks: tuple[Block, ...]) -> tuple[str, str]:
        """The text before and after the function, free of debug information."""
        before = _without_debug_attachments(cut.before)
        end = re.search(r"^!", cut.after, re.MULTILINE)
        declarations = _without_debug_attachments(cut.after[: end.start()] if end else cut.after)
        kept = "\n".join(
            [before, declarations, signature, *(i.text for block in blocks for i in block.instructions)]
        )
        return before, self._metadata.without_debug(kept, attributes=declarations)


def _plain_result(opcode: str, operands: tuple[Value, ...]) -> Type | None:
    """The type of a result that is that of the (plain) operands; else None."""
    if not operands or opcode in _UNARY or opcode in _COMPARISONS:
        return None
    return operands[-1].type


def _address(reference: Any) -> int:  # noqa: ANN401
    """Where LLVM keeps a value or type: its identity while the module lives. Asking for more costs a call each."""
    return hash(reference)


def _kind_of(value: Any) -> ValueKind:  # noqa: ANN401
    try:
        return _KIND_BY_LLVM_NAME.get(value.value_kind.name, ValueKind.CONSTANT)
    except ValueError:
        # llvmlite's list of kinds ends before LLVM's: a null event, of a target's own type, is not in it.
        return ValueKind.CONSTANT


def _opcode(text: str) -> str:
    """The opcode at the start of an instruction's text, a call's markers apart."""
    words = text.split(" ", 2)
    return "call" if words[0] in ("tail", "musttail", "notail") else words[0]


def _without_debug_attachments(text: str) -> str:
    return _DEBUG_ATTACHMENT.sub(lambda match: match.group() if match.group().startswith('c"') else "", text)


def _without_properties(text: str) -> tuple[str, str]:
    """A variable's initialiser, and what follows it: alignment, section, metadata."""
    match = _PROPERTIES.search(text)
    return (text[: match.start()], match.group()) if match else (text, "")


def _lines_of_blocks(body: str) -> Mapping[str, list[str]]:
    """The lines of a function's body that are instructions, stripped, by the name of their block."""
    blocks: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in body.splitlines():
        stripped = line.strip()
        if not line.startswith(" "):
            name = stripped.partition(":")[0]
            if name:
                lines = blocks[name] = []
        elif not stripped.startswith(("#dbg_", ";")):
            lines.append(stripped)
    return blocks


def _split_arguments(signature: str) -> list[str]:
    """The spelling of each argument in a `define` line, `ptr noundef byval(%struct.S) align 4 %s` for one."""
    parts, depth, start = [], 0, signature.index("(", signature.index("@")) + 1
    for position in range(start, len(signature)):
        character = signature[position]
        if character in "([{<":
            depth += 1
        elif character in ")]}>":
            depth -= 1
        if (character == "," and depth == 0) or depth < 0:
            parts.append(signature[start:position].strip())
            start = position + 1
        if depth < 0:
            break
    return [part for part in parts if part]


def _at(items: tuple[str, ...], index: int) -> str:
    return items[index] if index < len(items) else ""
