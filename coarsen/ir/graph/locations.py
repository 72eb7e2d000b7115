"""Origins that go through LLVM's passes and come back: each is a debug location while it is there.

    store i32 %v, ptr %p, !dbg !8      !8 = !DILocation(line: 3, scope: !5)      table[3]: the origin

LLVM keeps debug locations with care, whatever its passes do, and they change nothing of what the passes do. A
value or block that comes back under the name it went by has that name's origin; another phi that of its values,
if they have one in common; all else what its location says. So nothing is guessed from how a name is spelled.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from coarsen.ir.graph.debug_metadata import number_anew, without_debug_information
from coarsen.ir.graph.details import Opcode
from coarsen.ir.graph.display_name import DisplayName
from coarsen.ir.graph.function import Function
from coarsen.ir.graph.instruction import Instruction
from coarsen.ir.graph.module import Module
from coarsen.ir.graph.module_parser import parse_module
from coarsen.ir.graph.names import name_after
from coarsen.ir.graph.origin import UNKNOWN, Origin
from coarsen.ir.graph.printer import module_text
from coarsen.ir.types import VoidType

_LOCATION = re.compile(r"^!(\d+) = !DILocation\(line: (\d+)", re.MULTILINE)
_FLAGS, _UNITS = "llvm.module.flags", "llvm.dbg.cu"
_VERSION_NAME = '!"Debug Info Version"'
_VERSION = f"!{{i32 2, {_VERSION_NAME}, i32 3}}"


@dataclass(frozen=True)
class Origins:
    """The origins of a module that is with LLVM.

    Attributes:
        module: as LLVM is given it.
        numbered: by the line that stands for each.
        adds_version: whether the module had no version of debug information of its own.
    """

    module: Module
    numbered: Mapping[int, Origin]
    adds_version: bool

    def parse(self, text: str) -> Module:
        """Return the module that LLVM gives back, each instruction and block with its origin."""
        lines = {node: int(line) for node, line in _LOCATION.findall(text)}
        numbered = self.numbered
        module = parse_module(text, lambda node: numbered.get(lines.get(node, 0), UNKNOWN))
        for name, function in module.functions.items():
            _Before(self.module.functions[name]).restore(function)
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
    _nodes: list[str] = field(default_factory=list)
    # Of each origin its number, and the location in each function.
    _located: dict[Origin, tuple[int, dict[str, str]]] = field(default_factory=dict)
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
        return Origins(self.module, numbered, self._adds_version)

    def _location(self, instruction: Instruction) -> str:
        assert instruction.block is not None
        assert instruction.block.function is not None
        name = instruction.block.function.name
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


def located_text(module: Module) -> tuple[str, Origins]:
    """Return a module's text with debug locations for its instructions, and what they stand for.

    Args:
        module: without debug information; its names are unique (`names.py`).
    """
    writer = _Writer(module)
    return writer.text(), writer.origins()
