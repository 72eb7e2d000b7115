"""A module's text, as LLVM prints it, to the graph.

    text ─▶ lines by kind ─▶ types, variables, callees ─▶ functions: blocks first, then their instructions
                                                      └▶ unread functions

The text is expected to have been printed by LLVM: for `parse_module` from a module in normal form, with one
instruction a line and names that need no quotes. Debug information is handed to `origins` and left out. For
`open_module` any module will do; all of it stays.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from coarsen.errors import InternalError, RefusalError
from coarsen.ir.graph.function import Function
from coarsen.ir.graph.instruction import Attachment, Block, Instruction
from coarsen.ir.graph.instruction_parser import parse_instruction, split_attachments, split_location
from coarsen.ir.graph.module import Module
from coarsen.ir.graph.operands import Argument, Callee, Variable
from coarsen.ir.graph.origin import UNKNOWN, Origin
from coarsen.ir.graph.scanner import Scanner, ValueParser
from coarsen.ir.graph.unread import UnreadFunction
from coarsen.ir.types import StructType, parse_type

OriginOf = Callable[[str], Origin]
"""The origin that a debug location stands for, by the number of its node; empty where an instruction has none."""

_HEADER = re.compile(r'target (datalayout|triple) = "([^"]*)"')
_STRUCTURE = re.compile(r"%([-a-zA-Z$._0-9]+) = type (.*)")
_INNER = re.compile(r"%([-a-zA-Z$._0-9]+)")
_VARIABLE = re.compile(r'@(?:([-a-zA-Z$._0-9]+)|"([^"]*)") = (.*)')
_SPACE = re.compile(r"addrspace\((\d+)\)")
_FUNCTION = re.compile(r'(?P<prefix>define [^@]*?) ?@(?:(?P<name>[-a-zA-Z$._0-9]+)|"(?P<quoted>[^"]*)")(?=\()')
_CALLEE = re.compile(r'declare [^@]*@(?:([-a-zA-Z$._0-9]+)|"([^"]*)")\(')
_GROUP = re.compile(r"attributes #(\d+) = \{ (.*) \}")
_NODE = re.compile(r"!([-\w$.]+) = (.*)")
_ATTACHED = re.compile(r" !([\w.]+) (!\d+)")
_ARGUMENT_NAME = re.compile(r"%([-a-zA-Z$._0-9]+)")


def parse_module(text: str, origin_of: OriginOf = lambda _node: UNKNOWN) -> Module:
    """Parse a module.

    Args:
        text: as LLVM prints it.
        origin_of: gives the origin of an instruction with a debug location.

    Raises:
        RefusalError: `unsupported-instruction`, for what no kernel in normal form has.
    """
    return _ModuleParser(text.split("\n"), origin_of).parse()


def open_module(text: str) -> Module:
    """Read of a module which functions and variables there are; bodies, types and debug information stay as text.

    Args:
        text: as LLVM prints it, of a module in any form.

    Raises:
        RefusalError: `unsupported-instruction`, for a line that is no part of a module of OpenCL's.
    """
    return _ModuleParser(text.split("\n"), None).open()


def parse_signature(function: UnreadFunction) -> Function:
    """Return a function without blocks that has the signature and the metadata of an unread one.

    Raises:
        RefusalError: `unsupported-instruction`, for one that no kernel has.
    """
    definition = _FUNCTION.match(f"{function.definition} {{")
    if definition is None:
        raise _unsupported(function.definition)
    return _FunctionParser({}, {}, None).signature(definition)


class _ModuleParser:
    """Sorts a module's lines and reads them; without `origin_of`, functions stay unread, with their locations."""

    def __init__(self, lines: Sequence[str], origin_of: OriginOf | None) -> None:
        self._lines = lines
        self._origin_of = origin_of
        self._module = Module()
        self._structures: dict[str, StructType] = {}
        self._program_scope: dict[str, Variable | Callee] = {}

    def parse(self) -> Module:
        """Return the module."""
        bodies = list(self._sort())
        self._module.structures = self._structures
        for definition, body in bodies:
            parser = _FunctionParser(self._structures, self._program_scope, self._origin_of)
            function = parser.parse(definition, body)
            self._module.functions[function.name] = function
        return self._module

    def open(self) -> Module:
        """Return the module with its functions unread."""
        for definition, body in self._sort():
            name = definition["name"] or definition["quoted"]
            line = definition.string.removesuffix(" {")
            self._module.unread[name] = UnreadFunction(name, line, tuple(body))
        return self._module

    def _sort(self) -> Iterator[tuple[re.Match[str], Sequence[str]]]:
        """Take in all lines but those of functions with bodies, which are given back."""
        structures: list[tuple[str, str]] = []
        position = 0
        found: list[tuple[re.Match[str], Sequence[str]]] = []
        while position < len(self._lines):
            line = self._lines[position]
            position += 1
            if line.startswith("!"):
                self._take_node(line)
                continue
            definition = _FUNCTION.match(line) if line.startswith("define ") else None
            if definition is not None:
                self._callee(definition["name"] or definition["quoted"], "")
                end = self._lines.index("}", position)
                found.append((definition, self._lines[position:end]))
                position = end + 1
            elif line.startswith("%") and self._origin_of is None:
                self._module.preamble = (*self._module.preamble, line)
            elif line.startswith("%"):
                match = _STRUCTURE.fullmatch(line)
                if match is None:
                    raise _unsupported(line)
                structures.append((match[1], match[2]))
            else:
                self._take(line)
        self._define_structures(structures)
        return iter(found)

    def _take(self, line: str) -> None:
        module = self._module
        if match := _HEADER.match(line):
            if match[1] == "triple":
                module.triple = match[2]
            else:
                module.data_layout = match[2]
        elif match := _VARIABLE.match(line):
            # Linkage and address space stand before the type.
            space = _SPACE.search(re.split(r"\b(?:global|constant)\b", match[3], maxsplit=1)[0])
            name, (definition, attached) = match[1] or match[2], split_attachments(match[3])
            definition += "".join(f", !{kind} {node}" for kind, node in attached if self._is_kept(kind))
            variable = Variable(name, int(space[1]) if space else 0, definition)
            module.variables[name] = variable
            if not variable.is_alias:
                self._program_scope[name] = variable
        elif match := _CALLEE.match(line):
            self._callee(match[1] or match[2], line if self._is_kept("dbg") else re.sub(r" !dbg !\d+", "", line))
        elif match := _GROUP.match(line):
            module.attribute_groups[match[1]] = match[2]
        elif line.startswith(("$", "module asm ")):
            module.preamble = (*module.preamble, line)
        elif line.startswith("source_filename"):
            module.source_name = line.partition('"')[2].removesuffix('"')
        elif line and not line.startswith(";"):
            raise _unsupported(line)

    def _take_node(self, line: str) -> None:
        name, _, body = line[1:].partition(" = ")  # most are numbers
        if not name.isdecimal():
            match = _NODE.match(line)
            if match is None:
                raise _unsupported(line)
            name, body = match[1], match[2]
        self._module.metadata[name] = body

    def _is_kept(self, kind: str) -> bool:
        return kind != "dbg" or self._origin_of is None

    def _callee(self, name: str, declaration: str) -> None:
        callee = Callee(name, declaration)
        self._module.callees[name] = self._program_scope[name] = callee

    def _define_structures(self, definitions: Sequence[tuple[str, str]]) -> None:
        """Define the named types, each after those inside of it, whatever their order in the text."""
        self._module.opaque = frozenset(name for name, body in definitions if body == "opaque")
        bodies, known = dict(definitions), self._structures
        pending, opened = [name for name, _ in reversed(definitions)], set[str]()
        while pending:
            name = pending[-1]
            inner = [each for each in _INNER.findall(bodies[name]) if each in bodies and each not in known]
            if name in known:
                pending.pop()
            elif not inner:
                known[name] = self._structure(name, bodies[name])
            elif name in opened:
                raise _unsupported(f"%{name} = type {bodies[name]}")
            else:
                opened.add(name)
                pending += inner
        self._structures = {name: known[name] for name, _ in definitions}

    def _structure(self, name: str, body: str) -> StructType:
        content = StructType("", ()) if body == "opaque" else parse_type(body, self._structures)
        if not isinstance(content, StructType):
            raise _unsupported(f"%{name} = type {body}")
        return StructType(name, content.elements, content.packed)


class _FunctionParser:
    """Reads one function."""

    def __init__(
        self,
        structures: dict[str, StructType],
        program_scope: dict[str, Variable | Callee],
        origin_of: OriginOf | None,
    ) -> None:
        self._structures = structures
        self._keeps_debug = origin_of is None
        self._origin_of = origin_of or (lambda _node: UNKNOWN)
        self._values = ValueParser(program_scope)

    def parse(self, definition: re.Match[str], body: Sequence[str]) -> Function:
        """Return the function of a `define` line and the lines up to the closing brace."""
        function = self.signature(definition)
        lines = [line for line in body if line and not line.lstrip().startswith((";", "#dbg_"))]
        starts = [index for index, line in enumerate(lines) if not line.startswith(" ")]
        if starts[:1] != [0]:
            raise InternalError(f"the first block of '{function.name}' has no name")
        for start in starts:
            block = function.append(Block(lines[start].partition(":")[0]))
            self._values.add_block(block)
        for block, start, end in zip(function.blocks, starts, [*starts[1:], len(lines)], strict=True):
            block.extend(map(self._instruction, lines[start + 1 : end]))
            block.origin = block.terminator.origin
            block.has_unique_name = True
        self._values.check_complete()
        return function

    def _instruction(self, line: str) -> Instruction:
        text, location, kept = split_location(line.strip())
        origin = self._origin_of(location)
        try:
            instruction = parse_instruction(text, self._values, self._structures)
        except RefusalError as refusal:
            raise RefusalError(refusal.code, refusal.reason, origin.position) from None
        instruction.attachments, instruction.origin = kept, origin
        instruction.has_unique_name = instruction.name != ""
        return instruction

    def signature(self, definition: re.Match[str]) -> Function:
        """Return the function of a `define` line, without blocks."""
        function = Function(definition["name"] or definition["quoted"], definition["prefix"])
        scanner = Scanner(definition.string, self._structures)
        scanner.position = definition.end() + 1
        while not definition.string.startswith(")", scanner.position):
            argument = _argument(scanner)
            argument.has_unique_name = True
            function.arguments.append(argument)
            self._values.define(argument)
        rest = definition.string[scanner.position + 1 :].removesuffix(" {")
        kept: tuple[Attachment, ...] = tuple(
            (kind, node) for kind, node in _ATTACHED.findall(rest) if kind != "dbg" or self._keeps_debug
        )
        function.attachments = kept
        function.suffix = _ATTACHED.sub("", rest)
        return function


def _argument(scanner: Scanner) -> Argument:
    type_ = scanner.type()
    attributes = scanner.attributes()
    name = scanner.matched(_ARGUMENT_NAME)[1:]
    scanner.take(",")
    return Argument(type_, name, attributes)


def _unsupported(line: str) -> RefusalError:
    return RefusalError("unsupported-instruction", f"LLVM IR that is not supported: '{line}'")
