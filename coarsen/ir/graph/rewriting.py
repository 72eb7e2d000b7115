"""What transforms do to the graph besides building: split blocks, copy instructions, regions and functions."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import lru_cache, partial

from coarsen.ir.graph.function import Function
from coarsen.ir.graph.instruction import Block, Instruction
from coarsen.ir.graph.module import Module
from coarsen.ir.graph.operands import Argument, Callee, Named, Operand, Variable
from coarsen.ir.graph.origin import Origin, Role

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
