"""Origins that go through LLVM's passes and come back: each is a debug location while it is there.

    store i32 %v, ptr %p, !dbg !8      !8 = !DILocation(line: 3, scope: !5)      table[3]: the origin

LLVM keeps debug locations with care, whatever its passes do, and they change nothing of what the passes do. A
value or block that comes back under the name it went by has that name's origin; another phi that of its values,
if they have one in common; all else what its location says. So nothing is guessed from how a name is spelled.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import chain

from coarsen.ir.graph.details import Opcode
from coarsen.ir.graph.display_name import DisplayName
from coarsen.ir.graph.function import Function
from coarsen.ir.graph.instruction import Instruction
from coarsen.ir.graph.module import Module
from coarsen.ir.graph.module_parser import parse_module
from coarsen.ir.graph.names import name_after
from coarsen.ir.graph.origin import UNKNOWN, Origin
from coarsen.ir.graph.printer import module_text
from coarsen.ir.metadata import Metadata
from coarsen.ir.types import OtherType, VoidType

_LOCATION = re.compile(r"^!(\d+) = !DILocation\(line: (\d+)", re.MULTILINE)
_FLAGS, _UNITS = "llvm.module.flags", "llvm.dbg.cu"
_VERSION_NAME = '!"Debug Info Version"'
_VERSION = f"!{{i32 2, {_VERSION_NAME}, i32 3}}"


def _restore(before: Function, after: Function) -> None:
    """Give the values and blocks of the function that LLVM gives back the origins that they had."""
    blocks = {block.name: block.origin for block in before.blocks}
    # An instruction without a result may have a name, too: a mere wish, which is nobody's.
    results = {each.name: each.origin for each in before.instructions() if not isinstance(each.type, VoidType)}
    # Of use for what LLVM has made of them.
    names = {name: origin.name for name, origin in results.items()}
    names |= {each.name: DisplayName(each.name) for each in (*before.arguments, *before.blocks)}
    for block in after.blocks:
        block.origin = blocks.get(block.name, block.origin)
    for instruction in after.instructions():
        if instruction.name in results:
            instruction.origin = results[instruction.name]
        elif instruction.name:
            is_phi = instruction.opcode is Opcode.PHI
            # The origin that all values of a phi have, LLVM's own apart.
            common = {results.get(v.name) for v in instruction.operands if is_phi and isinstance(v, Instruction)}
            origin = (common.pop() if len(common) == 1 else None) or instruction.origin
            instruction.origin = origin.called(name_after(instruction.name, names))


def _drop_version(metadata: dict[str, str]) -> None:
    """Take the version of debug information out of a module's flags."""
    flags = metadata[_FLAGS].removeprefix("!{").removesuffix("}").split(", ")
    kept = [flag for flag in flags if _VERSION_NAME not in metadata[flag.removeprefix("!")]]
    metadata[_FLAGS] = f"!{{{', '.join(kept)}}}"
    if not kept:
        del metadata[_FLAGS]


@dataclass
class Located:
    """A module on its way through LLVM: `text` goes in, with a location for instructions, `parse` reads it back.

    Origins are numbered, and the metadata that they need is written after the module's own.

    Attributes:
        module: without debug information; its names are unique (`names.py`).
    """

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

    def parse(self, text: str) -> Module:
        """Return the module that LLVM gives back, each instruction and block with its origin."""
        lines = {node: int(line) for node, line in _LOCATION.findall(text)}
        numbered = {number: origin for origin, (number, _) in self._located.items()}
        module = parse_module(text, lambda node: numbered.get(lines.get(node, 0), UNKNOWN))
        for name, function in module.functions.items():
            _restore(self.module.functions[name], function)
        if self._adds_version:
            _drop_version(module.metadata)
        without_debug_information(module)
        number_anew(module)
        return module

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


# Debug information of a module: positions in the source are read from it, then it is taken out.

_TEXT_OR_REFERENCE = re.compile(r'!"[^"]*"|!(\d+)\b')
_REFERENCE = re.compile(r"!(\d+)\b")
_LIST = re.compile(r"(?P<head>(?:distinct )?)!\{(?P<items>.*)\}")
_KEPT = frozenset(
    {"tbaa", "llvm.loop", "fpmath", "range", "nonnull"}
    | {"reqd_work_group_size", "work_group_size_hint", "vec_type_hint", "intel_reqd_sub_group_size"}
)


def without_debug_information(module: Module) -> None:
    """Leave out, in place, debug information and attachments that only LLVM's passes had a use for."""
    metadata = module.metadata
    metadata.pop("llvm.dbg.cu", None)
    for function in module.functions.values():
        function.attachments = tuple(a for a in function.attachments if _is_kept(a[0]))
        for instruction in function.instructions():
            if instruction.attachments:
                instruction.attachments = tuple(a for a in instruction.attachments if _is_kept(a[0]))
    needed: set[str] = set()
    pending = list(_roots(module))
    while pending:
        for number in _REFERENCE.findall(pending.pop()):
            if number not in needed and number in metadata and not _is_debug(metadata[number]):
                needed.add(number)
                metadata[number] = _without_locations(metadata[number], module)
                pending.append(metadata[number])
    module.metadata = {key: body for key, body in metadata.items() if not key.isdigit() or key in needed}


def number_anew(module: Module) -> None:
    """Close the gaps that debug information has left between the numbers of a module's metadata, in place.

    The order of the numbers stays, which is LLVM's.
    """
    declared = [*(each.definition for each in module.variables.values())]
    declared += [each.declaration for each in module.callees.values()]
    if any(_metadata_operands(module)) or any(map(_REFERENCE.search, declared)):
        return  # Nodes stand in texts there that are left alone.
    numbers = sorted(int(key) for key in module.metadata if key.isdigit())
    new = {str(number): str(place) for place, number in enumerate(numbers)}
    if numbers == [*range(len(numbers))]:
        return

    @cache
    def renamed(text: str) -> str:
        return _TEXT_OR_REFERENCE.sub(lambda m: f"!{new[m[1]]}" if m[1] in new else m[0], text)

    module.metadata = {new.get(key, key): renamed(body) for key, body in module.metadata.items()}
    for function in module.functions.values():
        function.attachments = tuple((kind, renamed(node)) for kind, node in function.attachments)
    for instruction in _instructions(module):
        if instruction.attachments:
            instruction.attachments = tuple((kind, renamed(node)) for kind, node in instruction.attachments)


def _instructions(module: Module) -> Iterator[Instruction]:
    return chain.from_iterable(function.instructions() for function in module.functions.values())


def _is_kept(kind: str) -> bool:
    return kind in _KEPT or kind.startswith("kernel_arg")


def _roots(module: Module) -> Iterator[str]:
    """Yield the texts from which nodes are reached."""
    yield from (body for key, body in module.metadata.items() if not key.isdigit())
    yield from (variable.definition for variable in module.variables.values())
    yield from (callee.declaration for callee in module.callees.values())
    for function in module.functions.values():
        yield from (node for _, node in function.attachments)
        yield from {node for instruction in function.instructions() for _, node in instruction.attachments}
    yield from _metadata_operands(module)


def _metadata_operands(module: Module) -> Iterator[str]:
    """Yield the texts of operands that are metadata, which only functions take."""
    for instruction in _instructions(module):
        if instruction.opcode is Opcode.CALL:
            yield from (o.text for o in instruction.operands if isinstance(o.type, OtherType))


def _is_debug(body: str) -> bool:
    return "!DI" in body.partition("(")[0]


def _without_locations(body: str, module: Module) -> str:
    """Return a loop's node without the places where the loop stands."""
    match = _LIST.fullmatch(body)
    if match is None or "!DI" in body:
        return body
    items = match["items"].split(", ")
    kept = [i for i in items if not (i[1:].isdigit() and _is_debug(module.metadata.get(i[1:], "")))]
    return f"{match['head']}!{{{', '.join(kept)}}}"


# From a module's text, as LLVM prints it, to the graph of a kernel (`kernel.py`).
#
#     text ─▶ graph, with positions in the source ─▶ without debug information
#
# The module is expected in normal form: every value has a name, and no name needs quotes.

_DROPPED_CALLS = ("llvm.lifetime.", "llvm.experimental.noalias.scope.decl", "llvm.dbg.", "llvm.donothing")


def read_module(text: str) -> Module:
    """Read a module's text, as LLVM prints it, and keep of its debug information the positions in the source.

    Args:
        text: a module in normal form.

    Raises:
        RefusalError: `unsupported-instruction` or `unsupported-type`, with the place in the source if the module
            tells it.
    """
    module = parse_module(text, _Positions(text))
    without_debug_information(module)
    for function in module.functions.values():
        for block in function.blocks:
            if any(map(_is_dropped, block.instructions)):
                block.replace_instructions([i for i in block.instructions if not _is_dropped(i)])
    return module


def _is_dropped(instruction: Instruction) -> bool:
    return instruction.callee.startswith(_DROPPED_CALLS)


class _Positions:
    """The origins that a module's debug locations tell, by the numbers of their nodes."""

    def __init__(self, text: str) -> None:
        self._metadata = Metadata.of_text(text)
        self._known: dict[str, Origin] = {"": Origin()}

    def __call__(self, node: str) -> Origin:
        if node not in self._known:
            metadata = self._metadata
            self._known[node] = Origin(metadata.position(node), metadata.call_position(node))
        return self._known[node]
