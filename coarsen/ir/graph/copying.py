"""Whole functions and modules copied, for a transform to own."""

from __future__ import annotations

from dataclasses import replace

from coarsen.ir.graph.function import Function
from coarsen.ir.graph.module import Module
from coarsen.ir.graph.operands import Argument, Callee, Named, Variable
from coarsen.ir.graph.rewriting import ValueMap, copy_blocks


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
