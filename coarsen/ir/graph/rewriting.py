"""What transforms do to the graph besides building: split blocks, copy instructions, regions and functions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import lru_cache, partial

from coarsen.ir.graph.details import Opcode
from coarsen.ir.graph.function import Function
from coarsen.ir.graph.instruction import Block, Instruction
from coarsen.ir.graph.module import Module
from coarsen.ir.graph.module_parser import parse_module
from coarsen.ir.graph.operands import Argument, Callee, Named, Operand, Variable
from coarsen.ir.graph.origin import Origin, Role
from coarsen.ir.graph.printer import module_text
from coarsen.ir.graph.unread import names_in

OriginMap = Callable[[Origin], Origin]
"""The origin of a copy, by that of the original."""


def same_origin(origin: Origin) -> Origin:
    """Return the original's own origin."""
    return origin


class ValueMap:
    """What stands for values, variables and blocks in a copy.

    Args:
        under: a map that is asked for what this one lacks, so that a region's map need not hold the kernel's.
    """

    def __init__(self, under: ValueMap | None = None) -> None:
        self._own: dict[Named, Operand] = {}
        self._under = under

    def __setitem__(self, original: Named, stands_for_it: Operand) -> None:
        self._own[original] = stands_for_it

    def __contains__(self, original: Named) -> bool:
        return original in self._own or (self._under is not None and original in self._under)

    def find(self, original: Named) -> Operand:
        """Return what stands for something with a name: itself if nothing else does."""
        found = self._own.get(original)
        if found is not None:
            return found
        return original if self._under is None else self._under.find(original)

    def operand(self, original: Operand) -> Operand:
        """Return what stands for an operand, also for a constant that names variables."""
        if isinstance(original, Named):
            return self._own.get(original) or self.find(original)
        mapped = original
        for named in original.referenced():
            mapped = mapped.replaced(named, self.find(named))
        return mapped

    def block(self, original: Block) -> Block:
        """Return the block that stands for one."""
        found = self.find(original)
        assert isinstance(found, Block)
        return found


def split_block(block: Block, index: int, name: str) -> Block:
    """Move the instructions from an index on into a new block after this one, which is left without a branch.

    Args:
        block: stands in a function that the caller owns; there is no phi from the index on.
        index: of the first instruction that moves.
        name: wanted for the new block.

    Returns:
        the new block; the phis of the blocks that it leads to take from it what they took from `block`.
    """
    assert block.function is not None
    rest = Block(name, block.origin)
    block.function.add_after(block, rest)
    for instruction in block.take_from(index):
        rest.append(instruction)
    block.replace_as_source(rest)
    return rest


def split_entry(function: Function, name: str) -> Block:
    """Move all but the allocas, wherever they stand, out of the entry into a new block after it, and return that.

    Args:
        function: the caller owns it; its entry is left without a branch.
        name: wanted for the new block.
    """
    entry = function.entry
    body = split_block(entry, 0, name)
    for instruction in body.take_from(0):
        (entry if instruction.opcode is Opcode.ALLOCA else body).append(instruction)
    return body


def copy_instruction(original: Instruction, values: ValueMap, origin: OriginMap = same_origin) -> Instruction:
    """Return a copy that stands nowhere, with the operands and blocks that the map says; the map has it then."""
    copied = without_operands(original, origin)
    fill_in(copied, original, values)
    values[original] = copied
    return copied


def without_operands(original: Instruction, origin: OriginMap = same_origin) -> Instruction:
    """Return a copy without operands, which stands nowhere, for `fill_in` to complete.

    What is made so first may be used by what is complete before it.
    """
    return Instruction(
        original.opcode,
        original.type,
        name=original.name,
        flags=original.flags,
        detail=original.detail,
        attachments=original.attachments,
        origin=origin(original.origin),
    )


def fill_in(copied: Instruction, original: Instruction, values: ValueMap) -> None:
    """Give a copy the operands and blocks that stand for those of the original."""
    blocks = [values.block(block) for block in original.blocks] if original.blocks else ()
    copied.set_operands(map(values.operand, original.operands), blocks)


def copy_blocks(blocks: Iterable[Block], values: ValueMap, origin: OriginMap = same_origin) -> list[Block]:
    """Return copies of blocks that stand nowhere; what is defined in them is mapped to its copy.

    Names are those of the originals, as wishes.
    """
    originals = list(blocks)
    for block in originals:
        values[block] = copied = Block(block.name, origin(block.origin))
        for instruction in block.instructions:
            values[instruction] = copied.append(without_operands(instruction, origin))
    copies = [values.block(block) for block in originals]
    for block, copied in zip(originals, copies, strict=True):
        # Only now: what comes round a loop, or from a block that stands later, has a copy as well.
        for instruction, copy in zip(block.instructions, copied.instructions, strict=True):
            fill_in(copy, instruction, values)
    return copies


@lru_cache(maxsize=256)
def for_replica(replica: int | None, role: Role | None = None) -> OriginMap:
    """Return the map that gives copies the origin of a replica's, in another role if one is given."""
    return partial(Origin.for_replica, replica=replica, role=role)


# Whole functions and modules copied, for a transform to own.


def copy_module(original: Module) -> tuple[Module, ValueMap]:
    """Return a copy that shares nothing which can be changed, and what stands for what in it.

    The caller owns it and its functions, whether the original ones are sealed or not.
    """
    return copy_around(original, "")


def copy_around(original: Module, hollow: str) -> tuple[Module, ValueMap]:
    """Return a copy of a module without the body of one function, and what stands for what in it.

    Args:
        original: the module.
        hollow: the function of which the copy has no block, to be written anew.
    """
    values = ValueMap()
    copied = replace(
        original,
        variables={},
        callees={},
        functions={},
        attribute_groups=dict(original.attribute_groups),
        metadata=dict(original.metadata),
        is_sealed=False,
    )
    for name, variable in original.variables.items():
        copy = Variable(variable.name, variable.address_space, variable.definition)
        values[variable] = copied.variables[name] = copy
    for name, callee in original.callees.items():
        values[callee] = copied.callees[name] = Callee(callee.name, callee.declaration)
    for name, function in original.functions.items():
        copied.functions[name] = (_signature if name == hollow else copy_function)(function, values)
    return copied, values


def copy_function(original: Function, values: ValueMap) -> Function:
    """Return a copy that the caller owns, with the same names; the map has what stands for what in it then."""
    copied = _signature(original, values)
    for block, new_block in zip(original.blocks, copy_blocks(original.blocks, values), strict=True):
        copied.append(new_block)
        _map(block, new_block, values)
        for instruction, new_instruction in zip(block.instructions, new_block.instructions, strict=True):
            _map(instruction, new_instruction, values)
    return copied


def _signature(original: Function, values: ValueMap) -> Function:
    """Return a copy without blocks."""
    copied = Function(original.name, original.prefix, original.suffix)
    copied.attachments = original.attachments
    for argument in original.arguments:
        new = Argument(argument.type, argument.name, argument.attributes)
        copied.arguments.append(new)
        _map(argument, new, values)
    return copied


def _map(original: Named, copied: Named, values: ValueMap) -> None:
    copied.has_unique_name = original.has_unique_name
    values[original] = copied


# A module, or what of it one kernel needs, as text and origins: what other processes and caches get.


def stored(module: Module) -> tuple[str, tuple[Origin, ...]]:
    """Return what is kept of a module whose names are unique (`names.py`).

    Returns:
        its text, and the origins of each block and the instructions in it, in their order.
    """
    return module_text(module), tuple(placed.origin for placed in _with_origins(module))


def restored(text: str, origins: Iterable[Origin]) -> Module:
    """Return the module of which this was kept."""
    module = parse_module(text)
    for placed, origin in zip(_with_origins(module), origins, strict=True):
        placed.origin = origin
    return module


def _with_origins(module: Module) -> Iterator[Block | Instruction]:
    for function in module.functions.values():
        for block in function.blocks:
            yield block
            yield from block.instructions


# The part that one kernel needs.
#
# kernels a, b; helpers f, g, f calls g; variables t, u        a calls f, f reads t
# excerpt for a ─▶ a, f, g, t


def excerpt(module: Module, name: str) -> Module:
    """Return a module with one function, all that it mentions, all that this mentions in turn, and no more.

    Order and spelling of what stays are the module's, with all of its types, attributes and metadata.

    Args:
        module: whose functions are unread.
        name: the function's.
    """
    needed = _reached(module, [name, *_always_needed(module)])
    return replace(
        module,
        variables={key: variable for key, variable in module.variables.items() if key in needed},
        callees={key: callee for key, callee in module.callees.items() if key in needed},
        unread={key: function for key, function in module.unread.items() if key in needed},
        attribute_groups=dict(module.attribute_groups),
        metadata=dict(module.metadata),
    )


def _always_needed(module: Module) -> Iterator[str]:
    """Yield the names that can't be left out: those in metadata, and numbers, which must have no gaps."""
    for body in module.metadata.values():
        if "@" in body:
            yield from names_in(body)
    yield from (name for name in (*module.variables, *module.callees) if name.isdigit())


def _reached(module: Module, names: Iterable[str]) -> set[str]:
    reached: set[str] = set()
    pending = list(names)
    while pending:
        name = pending.pop()
        if name not in reached:
            reached.add(name)
            pending += _mentioned(module, name)
    return reached


def _mentioned(module: Module, name: str) -> Iterable[str]:
    if name in module.unread:
        return module.unread[name].mentioned
    return names_in(module.variables[name].definition) if name in module.variables else ()
