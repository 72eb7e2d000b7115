"""Rewrite a kernel for arguments' arrays that are read from another memory.

    kernel void f(global float *out, global const float *w)      out[i] = w[k]

    w=constant      kernel void f(global float *out, constant float *w)
    w=noncoherent   kernel void f(global float *out, global const float *restrict w)     PTX: ld.global.nc
    w=local         a copy of w in local memory, made by each work-group at its start (`tile.py`)

Why it is legal:

- **the array is only read** through the argument, by uses that are all known (`uses.py`);
- **nothing else writes it** while the kernel runs: what the kernel writes goes to other arguments (`apart_from`),
  each of which is `restrict`, or must be passed other memory, which is said (`PlacedArray.apart_from`). Other
  kernels that run meanwhile may not write what this one reads in any case: that would be a race;
- `local`: the copy reads just the elements that the array has, so the number of these must be given.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from coarsen.errors import InvalidInputError, RefusalError
from coarsen.ir.graph.details import Opcode
from coarsen.ir.graph.function import Function
from coarsen.ir.graph.instruction import Instruction
from coarsen.ir.graph.module import Module
from coarsen.ir.graph.names import make_names_unique
from coarsen.ir.graph.operands import Argument as GraphArgument
from coarsen.ir.graph.operands import Callee
from coarsen.ir.kernel import Argument, Kernel
from coarsen.ir.metadata import node_items
from coarsen.ir.types import AddressSpace, PointerType, size_of
from coarsen.transform.layouts.elements import RewrittenArrays, array_argument, element_type, is_copy
from coarsen.transform.placement.box_copy import copy_box_at_start
from coarsen.transform.placement.tile import check_copied, copy_at_start, tile_of
from coarsen.transform.placement.uses import (
    NEVER_CHANGES,
    ArrayUses,
    allow_changes,
    apart_from,
    check_alignment,
    uses_of,
)
from coarsen.variant.data_layout import AOS
from coarsen.variant.data_plan import ArrayPlan
from coarsen.variant.placement import Place, PlacedArgument

_ADDRESS_BITS = 64
# What CL_DEVICE_MAX_CONSTANT_ARGS is at least (OpenCL 1.2, table 4.3).
_MOST_CONSTANT_ARGUMENTS = 8


@dataclass(frozen=True)
class PlacedArray:
    """An argument's array as a launch has to pass it.

    Attributes:
        argument: its name.
        place: where it is read.
        apart_from: arguments that must be passed other memory.
        size: the bytes that the buffer has; None for any. In constant memory a device has a limit
            (`CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE`).
    """

    argument: str
    place: Place
    apart_from: tuple[str, ...] = ()
    size: int | None = None

    def of_arguments(self, names: Sequence[str]) -> PlacedArgument:
        """Return the same by the places of arguments among a kernel's, whose names these are."""
        apart = tuple(names.index(name) for name in self.apart_from)
        return PlacedArgument(names.index(self.argument), self.place, apart, self.size)

    @property
    def sentence(self) -> str:
        """Return what the host has to do."""
        apart = f", not the memory of {' or '.join(self.apart_from)}" if self.apart_from else ""
        what = {
            Place.CONSTANT: "a buffer of at most CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE bytes, for constant memory",
            Place.NONCOHERENT: "a buffer that nothing changes meanwhile",
            Place.LOCAL: (
                "a buffer, of which each work-group copies the part that it reads"
                if self.size is None
                else f"a buffer of just {self.size} bytes, of which each work-group makes a copy"
            ),
            Place.GLOBAL: "a buffer",
        }
        return f"pass for {self.argument} {what[self.place]}{apart}"


def place_arrays(kernel: Kernel, plans: Sequence[ArrayPlan]) -> RewrittenArrays:
    """Rewrite a kernel for other places of its arguments' arrays.

    Args:
        kernel: in normal form, not yet coarsened.
        plans: at most one for each argument.

    Raises:
        InvalidInputError: there is no such argument, or it is no array in global memory.
        RefusalError: `place-not-read-only`, `place-pointer-escapes`, `place-may-change`, `place-extent-unknown`,
            `place-footprint-unknown`, `place-too-large`, `layout-mixed-types` where it isn't known what a local
            copy holds.
    """
    module = kernel.editable_graph()
    function = module.function(kernel.name)
    placed = [_placed(kernel, module, function, plan) for plan in plans]
    _check_constant_arguments(function, placed)
    make_names_unique(function, module.structures)
    return RewrittenArrays(module, tuple(placed))


def _check_constant_arguments(function: Function, placed: Sequence[PlacedArray]) -> None:
    """Refuse a kernel that has more arguments in constant memory than a device need take."""
    count = sum(1 for each in function.arguments if each.type == PointerType(AddressSpace.CONSTANT))
    if count > _MOST_CONSTANT_ARGUMENTS and any(each.place is Place.CONSTANT for each in placed):
        raise RefusalError(
            "place-too-large",
            f"{count} arguments would be in constant memory, and a device need take no more than "
            f"{_MOST_CONSTANT_ARGUMENTS}",
        )


def _placed(kernel: Kernel, module: Module, function: Function, plan: ArrayPlan) -> PlacedArray:
    declared = array_argument(kernel, plan.argument, AddressSpace.GLOBAL)
    argument = next(each for each in function.arguments if each.name == declared.name)
    uses, index = uses_of(argument), function.arguments.index(argument)
    apart = apart_from(module, function, argument)
    size = None
    if plan.place is Place.LOCAL:
        size = _copy(kernel, module, argument, declared, uses, plan)
    elif plan.place is Place.CONSTANT:
        argument.type = PointerType(AddressSpace.CONSTANT)
        move_uses(module, uses, AddressSpace.CONSTANT)
        _record(module, function, index, "addr_space", f"i32 {AddressSpace.CONSTANT}")
        _record(module, function, index, "type_qual", _qualified(declared, "const"))
    else:
        _mark_unchanging(module, argument, uses)
        _record(module, function, index, "type_qual", _qualified(declared, "restrict", "const"))
    return PlacedArray(declared.name, plan.place, apart, size)


def _mark_unchanging(module: Module, argument: GraphArgument, uses: ArrayUses) -> None:
    """Say that nothing changes what is read through an argument, in LLVM's words."""
    words = argument.attributes.split()
    added = [word for word in ("noalias", "readonly") if word not in words]
    argument.attributes = " ".join([*added, argument.attributes]).strip()
    node = module.add_node(())
    for read, _ in uses.reads:
        if read.opcode is Opcode.LOAD and NEVER_CHANGES not in dict(read.attachments):
            read.attachments = (*read.attachments, (NEVER_CHANGES, node))


def _copy(
    kernel: Kernel, module: Module, argument: GraphArgument, declared: Argument, uses: ArrayUses, plan: ArrayPlan
) -> int | None:
    """Copy an array, or a box of it, to local memory at the kernel's start; return the array's bytes if known."""
    if plan.layout != AOS or plan.order is not None:
        raise InvalidInputError(f"{declared.name} is copied to local memory as it is written: give it no layout")
    function = module.function(kernel.name)
    element = element_type(declared, argument, module.structures).type
    check_alignment(declared.name, uses, size_of(element))
    if plan.shape is None:
        if module.size_type.width != _ADDRESS_BITS:
            raise InvalidInputError(
                "parts of arrays are copied by kernels with addresses of 64 bits: give the shape"
            )
        places = {instruction: place for place, instruction in enumerate(function.instructions())}
        reads = sorted(uses.reads, key=lambda read: places[read[0]])
        copy_box_at_start(kernel, module, argument, replace(uses, reads=tuple(reads)), element)
        return None
    count = math.prod(plan.shape)
    if not count:
        raise InvalidInputError(f"{declared.name} can't have the shape {','.join(map(str, plan.shape))}")
    size = count * size_of(element)
    check_copied(f"{declared.name} has {size} bytes", size)
    tile = tile_of(module, function.name, argument, element, count)
    for read, _ in uses.reads:
        allow_changes(read)
    argument.replace_all_uses(tile.variable)
    move_uses(module, uses, AddressSpace.LOCAL)
    copy_at_start(module, function, argument, tile)
    return size


def _qualified(declared: Argument, *words: str) -> str:
    kept = [word for word in declared.qualifiers if word not in words]
    return f'!"{" ".join([*kept, *words])}"'


def _record(module: Module, function: Function, index: int, key: str, value: str) -> None:
    """Change what clang recorded of an argument, if it did."""
    node = function.attachment(f"kernel_arg_{key}")
    if node is None:
        return
    known = node_items(module.metadata, node)
    if index < len(known):
        known[index] = value
        function.attach(f"kernel_arg_{key}", module.add_node(known))


# The addresses in an array, and the builtins that read it, in another address space.
#
# getelementptr float, ptr addrspace(1) %w, …     getelementptr float, ptr addrspace(2) %w, …
# _Z6vload4mPU3AS1Kf(i64, ptr addrspace(1))       _Z6vload4mPU3AS2Kf(i64, ptr addrspace(2))
# llvm.memcpy.p0.p1.i64                           llvm.memcpy.p0.p2.i64


def move_uses(module: Module, uses: ArrayUses, space: int) -> None:
    """Let the uses of an array in global memory be those of one in another space.

    Args:
        module: that the caller owns; the array itself has its new type, or its uses another operand.
        uses: of the array.
        space: the new one.
    """
    for address in uses.addresses:
        address.type = PointerType(space)
    for read, _ in uses.reads:
        if read.opcode is Opcode.CALL:
            _call_for_space(module, read, space)


def _call_for_space(module: Module, call: Instruction, space: int) -> None:
    callee = call.operands[-1]
    assert isinstance(callee, Callee)
    old = AddressSpace.GLOBAL
    if is_copy(call):
        name = _last(callee.name, f".p{old}.", f".p{space}.")
    else:
        name = _last(callee.name, f"PU3AS{old}", f"PU3AS{space}")
    declaration = callee.declaration.replace(callee.name, name)
    declaration = _last(declaration, f"ptr addrspace({old})", f"ptr addrspace({space})")
    call.set_operand(len(call.operands) - 1, module.callee(name, declaration))


def _last(text: str, old: str, new: str) -> str:
    """A text with the last of its parts that say `old` changed."""
    before, found, after = text.rpartition(old)
    assert found, text
    return f"{before}{new}{after}"
