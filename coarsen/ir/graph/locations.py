"""Origins that go through LLVM's passes and come back: each is a debug location while it is there.

    store i32 %v, ptr %p, !dbg !8      !8 = !DILocation(line: 3, scope: !5)      table[3]: the origin

LLVM keeps debug locations with care, whatever its passes do, and they change nothing of what the passes do. A
value or block that comes back under the name it went by has that name's origin; another phi that of its values,
if they have one in common; all else what its location says. So nothing is guessed from how a name is spelled.

Since most values come back under their names, most go without a location at first, which is half of the text that
LLVM reads and prints. Should that turn out to be too few (`Origins.suffice`), all go once more with locations.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from coarsen.ir.graph.debug_metadata import number_anew, without_debug_information
from coarsen.ir.graph.details import Opcode
from coarsen.ir.graph.display_name import DisplayName
from coarsen.ir.graph.function import Function
from coarsen.ir.graph.instruction import Instruction
from coarsen.ir.graph.module import Module
from coarsen.ir.graph.module_parser import FormerModule, Lines, parse_module
from coarsen.ir.graph.names import name_after
from coarsen.ir.graph.origin import UNKNOWN, Origin
from coarsen.ir.graph.printer import module_text
from coarsen.ir.types import VoidType

_LOCATION = re.compile(r"^!(\d+) = !DILocation\(line: (\d+)", re.MULTILINE)
_PHI_VALUE = re.compile(r"\[ %([^ ,]+),")
_FLAGS, _UNITS = "llvm.module.flags", "llvm.dbg.cu"
_VERSION_NAME = '!"Debug Info Version"'
_VERSION = f"!{{i32 2, {_VERSION_NAME}, i32 3}}"


@dataclass(frozen=True)
class Origins:
    """The origins of a module that is with LLVM.

    Attributes:
        module: which is taken apart when LLVM gives it back.
        lines: the text of its functions' instructions.
        numbered: by the line that stands for each.
        adds_version: whether the module had no version of debug information of its own.
        is_complete: whether all instructions have a location.
    """

    module: Module
    lines: Mapping[str, Lines]
    numbered: Mapping[int, Origin]
    adds_version: bool
    is_complete: bool

    def suffice(self, text: str) -> bool:
        """Return True if all that LLVM gives back says where it comes from: by its former name, or by a location.

        Where LLVM makes a location of others, it makes none if one of them is left out. So what has one has the
        same as if none were left out.
        """
        if self.is_complete:
            return True
        [before] = self._before.values()
        unlocated = [line for line in text.split("\n") if line.startswith("  ") and "!dbg" not in line]
        return all(map(before.tells, unlocated))

    @cached_property
    def _before(self) -> Mapping[str, _Before]:
        return {name: _Before(function) for name, function in self.module.functions.items()}

    def parse(self, text: str) -> Module:
        """Return the module that LLVM gives back, each instruction and block with its origin; to be done once."""
        lines = {node: int(line) for node, line in _LOCATION.findall(text)}
        numbered = self.numbered
        before = self._before
        former = FormerModule(self.module, self.lines)
        module = parse_module(text, lambda node: numbered.get(lines.get(node, 0), UNKNOWN), former)
        for name, function in module.functions.items():
            before[name].restore(function)
        if self.adds_version:
            _drop_version(module.metadata)
        without_debug_information(module)
        number_anew(module)
        return module


class _Before:
    """A function as LLVM was given it."""

    def __init__(self, function: Function) -> None:
        self._arguments = {argument.name for argument in function.arguments}
        self._blocks = {block.name: block.origin for block in function.blocks}
        # An instruction without a result may have a name, too: a mere wish, which is nobody's.
        self._results = {
            instruction.name: instruction.origin
            for block in function.blocks
            for instruction in block.instructions
            if not isinstance(instruction.type, VoidType)
        }

    def restore(self, function: Function) -> None:
        """Give the values and blocks of the function that LLVM gives back their origins."""
        known = self._results
        for block in function.blocks:
            block.origin = self._blocks.get(block.name, block.origin)
            for instruction in block.instructions:
                name = instruction.name
                if name in known:
                    instruction.origin = known[name]
                elif name:
                    common = self._common(instruction) if instruction.opcode is Opcode.PHI else None
                    instruction.origin = (common or instruction.origin).called(name_after(name, self._names))

    def tells(self, line: str) -> bool:
        """Return True for a line of a result, without a location, whose origin `restore` knows all the same."""
        if line[2] != "%":
            return False
        if line[3 : line.find(" ", 3)] in self._results:
            return True
        named = _PHI_VALUE.findall(line) if " = phi " in line else ()
        origins = {self._results.get(name) for name in named if name not in self._arguments}
        return len(origins) == 1 and None not in origins

    @cached_property
    def _names(self) -> Mapping[str, DisplayName]:
        """The names that the function's values had for a reader: of use for what LLVM has made of them."""
        names = {name: origin.name for name, origin in self._results.items()}
        return names | {name: DisplayName(name) for name in (*self._arguments, *self._blocks)}

    def _common(self, phi: Instruction) -> Origin | None:
        """Return the origin that all values of a phi have, LLVM's own apart."""
        known = {self._results.get(value.name) for value in phi.operands if isinstance(value, Instruction)}
        return known.pop() if len(known) == 1 else None


def _drop_version(metadata: dict[str, str]) -> None:
    """Take the version of debug information out of a module's flags."""
    flags = metadata[_FLAGS].removeprefix("!{").removesuffix("}").split(", ")
    kept = [flag for flag in flags if _VERSION_NAME not in metadata[flag.removeprefix("!")]]
    metadata[_FLAGS] = f"!{{{', '.join(kept)}}}"
    if not kept:
        del metadata[_FLAGS]


@dataclass
class _Writer:
    """Numbers origins and writes the metadata that they need, after the module's own."""

    module: Module
    is_complete: bool
    _starts: set[Instruction] = field(default_factory=set)
    _nodes: list[str] = field(default_factory=list)
    # Of each origin its number, and the location in each function.
    _located: dict[Origin, tuple[int, dict[str, str]]] = field(default_factory=dict)
    _lines: dict[str, Lines] = field(default_factory=dict)
    _scopes: dict[str, int] = field(default_factory=dict)
    _adds_version: bool = False

    def __post_init__(self) -> None:
        numbers = (int(key) for key in self.module.metadata if key.isdigit())
        self._first = 1 + max(numbers, default=-1)

    def text(self) -> str:
        """Return the module's text with locations."""
        file = self._node('!DIFile(filename: "kernel", directory: "")')
        details = "language: DW_LANG_C99, emissionKind: LineTablesOnly"
        unit = self._node(f"distinct !DICompileUnit(file: !{file}, {details})")
        type_ = self._node(f"!DISubroutineType(types: !{self._node('!{}')})")
        for name in self.module.functions:
            details = f'name: "kernel", file: !{file}, type: !{type_}, unit: !{unit}'
            self._scopes[name] = self._node(f"distinct !DISubprogram({details}, spFlags: DISPFlagDefinition)")
            self._lines[name] = {}
        if not self.is_complete:
            self._starts.update(
                start for function in self.module.functions.values() for start in _starts(function)
            )
        metadata = {**self.module.metadata, _UNITS: f"!{{!{unit}}}"}
        self._set_version(metadata)
        located = replace(self.module, metadata=metadata)
        text = module_text(located, self._location, lambda f: f" !dbg !{self._scopes[f.name]}")
        return text + "".join([f"!{number} = {body}\n" for number, body in enumerate(self._nodes, self._first)])

    def _set_version(self, metadata: dict[str, str]) -> None:
        """Say which version of debug information this is, or LLVM throws it away."""
        if not any(_VERSION_NAME in body for body in metadata.values()):
            self._adds_version = True
            flags = metadata.get(_FLAGS, "!{}").removeprefix("!{").removesuffix("}")
            version = f"!{self._node(_VERSION)}"
            metadata[_FLAGS] = f"!{{{flags}, {version}}}" if flags else f"!{{{version}}}"

    def origins(self) -> Origins:
        """Return what each number and each name stands for."""
        numbered = {number: origin for origin, (number, _) in self._located.items()}
        return Origins(self.module, self._lines, numbered, self._adds_version, self.is_complete)

    def _location(self, instruction: Instruction, text: str) -> str:
        assert instruction.block is not None
        assert instruction.block.function is not None
        name = instruction.block.function.name
        self._lines[name][text] = instruction
        if not self.is_complete and text.startswith("%") and instruction not in self._starts:
            return ""
        origin = instruction.origin
        known = self._located.get(origin)
        if known is None:
            known = self._located[origin] = (len(self._located) + 1, {})
        number, locations = known
        if name not in locations:
            node = self._node(f"!DILocation(line: {number}, scope: !{self._scopes[name]})")
            locations[name] = f", !dbg !{node}"
        return locations[name]

    def _node(self, body: str) -> int:
        self._nodes.append(body)
        return self._first + len(self._nodes) - 1


def _starts(function: Function) -> Iterator[Instruction]:
    """Yield the first instruction of each block after its phis: LLVM puts blocks before it with its location."""
    for block in function.blocks:
        yield block.instructions[len(block.phis)]


def located_text(module: Module, *, is_complete: bool = True) -> tuple[str, Origins]:
    """Return a module's text with debug locations for its instructions, and what they stand for.

    Args:
        module: without debug information; its names are unique (`names.py`). `Origins.parse` takes it apart.
        is_complete: whether results have locations as well, which mostly come back under their names; those at
            the start of blocks always have one.
    """
    writer = _Writer(module, is_complete or len(module.functions) > 1)
    return writer.text(), writer.origins()
