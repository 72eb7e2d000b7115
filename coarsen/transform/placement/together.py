"""A part of a kernel once more, for work-groups of which all work-items go there.

    if (x < n) body            all work-items of the group set `apart` where they don't have x < n
                               if (no work-item did) body′       all of a group are here: barriers may stand in it
                               else if (x < n) body

A vote costs two barriers, and no condition has to be understood for it.
"""

from __future__ import annotations

from collections.abc import Collection

from coarsen.analysis.control_flow import EXIT, ControlFlow, FlowGraph
from coarsen.analysis.memory_effects import EffectsOfKernel
from coarsen.analysis.pointer_roots import PointerRoots
from coarsen.errors import RefusalError
from coarsen.ir.graph.builder import Builder, number
from coarsen.ir.graph.details import Access, Opcode
from coarsen.ir.graph.function import Function
from coarsen.ir.graph.instruction import Block, Instruction
from coarsen.ir.graph.module import Module
from coarsen.ir.graph.operands import Named, Operand, Variable
from coarsen.ir.graph.origin import Origin
from coarsen.ir.graph.rewriting import ValueMap, copy_blocks
from coarsen.ir.kernel import Kernel
from coarsen.ir.opencl.builtins import is_barrier, is_group_copy
from coarsen.ir.types import AddressSpace, IntegerType, PointerType
from coarsen.transform.placement.tile import meet

VOTE = ".0.apart"
"""What the name of a vote's variable ends with, and no name of a source."""
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
    number_of_votes = sum(name.endswith(VOTE) for name in module.variables)
    name = f"{function.name}.{number_of_votes}{VOTE}"
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


# Values that work-items may find different though they read one address: of memory that is written meanwhile.
#
#     int c = out[1023];             another work-group writes out: each work-item has a c of its own
#     for (k = 0; k < c; ++k) …      no barrier may stand in this loop
#
# Programs do so with flags, race or not. A vote is safe: who reads it comes from a barrier after the last store.


def changeable_values(
    kernel: Kernel, flow: ControlFlow, tiles: Collection[str] = ()
) -> tuple[frozenset[str], frozenset[str]]:
    """Return the names of such values, and of the blocks whose branches depend on one.

    Args:
        kernel: in normal form.
        flow: of the kernel.
        tiles: names of variables that are written between barriers alone, as those of votes are.
    """
    effects, roots = EffectsOfKernel.of_kernel(kernel), PointerRoots()
    written: set[Named] | None = set()
    # A barrier shows what others have written, by stores that are the kernel's own.
    for instruction in kernel.instructions():
        if is_barrier(instruction) and not is_group_copy(instruction):
            continue
        touched = effects.of(instruction)
        found = roots.of_all(touched.writes)
        written = None if touched.writes_anything or found is None or written is None else written | set(found)

    def is_shared_safely(name: str) -> bool:
        return name.endswith(VOTE) or name in tiles

    def reads_what_changes(instruction: Instruction) -> bool:
        touched = effects.of(instruction)
        pointers = [each for each in touched.reads if not _is_private(each)]
        if touched.reads_anything or not pointers:
            return touched.reads_anything
        read = roots.of_all(pointers)
        if read is not None and all(isinstance(root, Variable) and is_shared_safely(root.name) for root in read):
            return False
        return read is None or written is None or bool(set(read) & written)

    values = {each.name for each in kernel.instructions() if each.name and reads_what_changes(each)}
    branches: set[str] = set()
    if not values:
        return frozenset(), frozenset()
    while True:
        before = len(values), len(branches)
        for block in kernel.blocks:
            for each in block.instructions:
                is_moved = any(isinstance(a, Instruction) and a.name in values for a in each.operands)
                if each.opcode is Opcode.PHI:
                    is_moved |= any(
                        flow.controlling(source) & branches or source in branches for source in each.incoming
                    )
                if is_moved and each is block.terminator:
                    branches.add(block.name)
                elif is_moved and each.name:
                    values.add(each.name)
        # What a loop leaves behind differs where its end does.
        for name in branches:
            for loop in flow.loops_around(name):
                inside = (
                    each for block in kernel.blocks if block.name in loop.blocks for each in block.instructions
                )
                values |= {each.name for each in inside if each.name}
        if before == (len(values), len(branches)):
            return frozenset(values), frozenset(branches)


def _is_private(pointer: Operand) -> bool:
    """Return True for a pointer to memory of one work-item, or that nothing writes."""
    space = pointer.type.address_space if isinstance(pointer.type, PointerType) else None
    is_cast = isinstance(pointer, Instruction) and pointer.opcode is Opcode.ADDRSPACECAST
    return space in (AddressSpace.PRIVATE, AddressSpace.CONSTANT) and not is_cast
