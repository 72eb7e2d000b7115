"""A part of a kernel once more, for work-groups of which all work-items go there.

    if (x < n) body            all work-items of the group set `apart` where they don't have x < n
                               if (no work-item did) body′       all of a group are here: barriers may stand in it
                               else if (x < n) body

A vote costs two barriers, and no condition has to be understood for it.
"""

from __future__ import annotations

from coarsen.analysis.control_flow import EXIT, FlowGraph
from coarsen.errors import RefusalError
from coarsen.ir.graph.builder import Builder, number
from coarsen.ir.graph.details import Access, Opcode
from coarsen.ir.graph.function import Function
from coarsen.ir.graph.instruction import Block
from coarsen.ir.graph.module import Module
from coarsen.ir.graph.operands import Operand, Variable
from coarsen.ir.graph.origin import Origin
from coarsen.ir.graph.rewriting import ValueMap, copy_blocks
from coarsen.ir.types import AddressSpace, IntegerType
from coarsen.transform.placement.tile import meet

_VOTE = IntegerType(32)
_CONVERGENT = "convergent nounwind"
# The one operation on local memory that many work-items may do at once.
_AND = "_Z10atomic_andPU3AS3Vjj"


def copied_for_whole_groups(
    module: Module, function: Function, flow: FlowGraph, parting: Block, inside: Block
) -> ValueMap:
    """Copy what follows an edge for work-groups that take it together, and let a vote choose.

    Args:
        module: that has the function.
        function: owned by the caller.
        flow: of the function.
        parting: a block that all work-items of a group come to together, once; its branch parts them.
        inside: the target of the branch whose part is copied.

    Returns:
        what stands in the copy for what stands in the part.

    Raises:
        RefusalError: `tile-not-together`, the part can be entered elsewhere, or the branch is in a loop.
    """
    join = flow.immediate_post_dominator.get(parting.name, EXIT)
    part = [
        block
        for block in function.blocks
        if block.name in flow.between(parting.name, join) and flow.dominates(inside.name, block.name)
    ]
    names = {block.name for block in part}
    leads = {target for name in names for target in flow.successors(name)} - names
    if flow.loops_around(parting.name) or inside.name not in names or not leads <= {join, EXIT}:
        reason = "not all work-items of a group come to the loop together, for more than a guard"
        raise RefusalError("tile-not-together", reason, parting.terminator.position)
    part.sort(key=lambda block: block is not inside)
    values = ValueMap()
    copies = copy_blocks(part, values)
    (branch,) = parting.take_from(len(parting.instructions) - 1)
    otherwise = Block(f"{parting.name}.apart", parting.origin)
    place = parting
    for block in (*copies, otherwise):
        place = function.add_after(place, block)
    otherwise.append(branch)
    parting.replace_as_source(otherwise)
    for block in (each for each in function.blocks if each.name == join):
        for phi in block.phis:
            for value, source in list(phi.edges()):
                if source.name in names and source in part:
                    phi.add_incoming(values.operand(value), values.block(source))
    goes = branch.operands[0]
    is_true = branch.blocks[0] is inside
    build = Builder(parting, Origin())
    build.branch_if(_all(module, function, goes, is_true, build), copies[0], otherwise)
    return values


def _all(module: Module, function: Function, goes: Operand, is_true: bool, build: Builder) -> Operand:
    """Build whether a condition has a value for all work-items of the group."""
    name = f"{function.name}.apart"
    while name in module.variables or name in module.callees:
        name += "_"
    definition = f"internal addrspace({AddressSpace.LOCAL}) global i32 undef, align 4"
    variable = module.variables[name] = Variable(name, AddressSpace.LOCAL, definition)
    # Each stores the same before the vote begins.
    build.store(number(_VOTE, 1), variable, Access(4))
    meet(build, module)
    own = build.cast(Opcode.ZEXT, goes, _VOTE, "own")
    if not is_true:
        own = build.binary(Opcode.XOR, own, number(_VOTE, 1), "own")
    declaration = f"declare spir_func i32 @{_AND}(ptr addrspace(3), i32) {_CONVERGENT}"
    build.call(module.callee(_AND, declaration), _VOTE, [variable, own], "before", attributes="nounwind")
    meet(build, module)
    found = build.load(_VOTE, variable, "all", Access(4))
    return build.compare("ne", found, number(_VOTE, 0), "together")
