"""Debug information of a module: positions in the source are read from it, then it is taken out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import chain

from coarsen.ir.graph.details import Opcode
from coarsen.ir.graph.instruction import Instruction
from coarsen.ir.graph.module import Module
from coarsen.ir.graph.module_parser import parse_module
from coarsen.ir.graph.origin import Origin
from coarsen.ir.metadata import Metadata
from coarsen.ir.types import OtherType

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
