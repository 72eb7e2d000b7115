"""Rewrite a kernel for arrays that lie otherwise: each access to such an argument's elements gets its new address.

    before                                        after, bodies=soa of 1000 (24: 4@0 1@4 8@8 2@16)
    %b = gep %struct.Body, %bodies, %i            %mass = gep double, %bodies, %i
    %m = gep %struct.Body, %b, 0, 2               %v = load double, %mass
    %v = load double, %m

Why it is legal:

- **every access is known** (`elements.py`): an argument of which an address is merged with others, compared,
  stored or passed on is refused, so that no access remains that finds the old layout;
- **each byte of a field has one place** (`Arrangement`): accesses that were to the same bytes of an element still
  are, and those to others are not, whatever the index was computed from: two accesses meet just where they met;
- **no access reaches over fields**, but those that are split (`whole_records.py`), which no atomic access is;
- **padding has no place**: what only copies it is left out (`copied_padding`), other accesses to it refused;
- **alignment**: a field's places are multiples of what its size, its offset and the record's size have in common,
  and an access that needs more is refused.

Where the shape is not known, the extents that count become arguments of the kernel: one compiled kernel serves
all sizes then. What a launch has to keep to is said in words: the buffer holds the elements of the shape and no
more, packed; and it is not passed a second time for an argument that lies otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from coarsen.errors import InvalidInputError, RefusalError
from coarsen.ir.added_arguments import AddedArgument
from coarsen.ir.graph.builder import Builder, number
from coarsen.ir.graph.details import AtomicUpdate, Opcode, access_of
from coarsen.ir.graph.instruction import Instruction
from coarsen.ir.graph.module import Module
from coarsen.ir.graph.names import make_names_unique
from coarsen.ir.graph.operands import Argument as GraphArgument
from coarsen.ir.graph.operands import Named, Operand
from coarsen.ir.kernel import Argument, Kernel
from coarsen.ir.opencl.builtins import is_atomic_update
from coarsen.ir.types import AddressSpace, IntegerType, alignment_of, content_bytes
from coarsen.transform.added_arguments import add_arguments, extent_argument
from coarsen.transform.layouts.elements import (
    ElementType,
    Place,
    Places,
    RewrittenArrays,
    accessed_type,
    array_argument,
    element_type,
    is_copy,
    is_fill,
    resolved_uses,
)
from coarsen.transform.layouts.positions import Addresses, Piece, Target, pieces_of, whole_piece, with_positions
from coarsen.transform.layouts.whole_records import copied_padding, split_copy, split_fill, split_load, split_store
from coarsen.transform.names import NameSupply
from coarsen.transform.prologue import INDEX
from coarsen.variant.data_layout import Arrangement
from coarsen.variant.data_plan import ArrayPlan

_ADDRESS_BITS = 64
_BYTE_BITS = 8


@dataclass(frozen=True)
class LaidArray:
    """An argument's array as a launch has to pass it."""

    argument: str
    arrangement: Arrangement

    @property
    def sentence(self) -> str:
        """Return what the host has to do."""
        arrangement = self.arrangement
        if arrangement.is_as_written:
            return f"the buffer for {self.argument} stays as it is: elements '{arrangement.record}'"
        order = "" if arrangement.order is None else f" in the order {arrangement.order}"
        elements, size = "elements", ""
        if arrangement.shape is not None:
            elements = f"just {' x '.join(map(str, arrangement.shape))} elements"
            size = f", {arrangement.size} bytes"
        return (
            f"pack the buffer for {self.argument} as {arrangement.layout}{order}: {elements}"
            f" '{arrangement.record}'{size} (coarsen.Layout); pass it for no other argument that lies otherwise"
        )


def lay_out(kernel: Kernel, plans: Sequence[ArrayPlan]) -> RewrittenArrays:
    """Rewrite a kernel for other layouts of its arguments' arrays.

    Args:
        kernel: in normal form, not yet coarsened.
        plans: at most one for each argument.

    Raises:
        InvalidInputError: there is no such argument; it is no array in global or constant
            memory, or its elements or its shape are not those of the plan.
        RefusalError: `layout-pointer-escapes`, `layout-mixed-types`, `layout-atomic-width`.
    """
    module = kernel.editable_graph()
    function = module.function(kernel.name)
    if module.size_type.width != _ADDRESS_BITS:
        raise InvalidInputError("layouts are for kernels with addresses of 64 bits")
    graphs = {graph.name: graph for graph in function.arguments}
    arrays: list[LaidArray] = []
    targets: dict[Named, Target] = {}
    accesses: dict[Instruction, Places] = {}
    extents = Extents(kernel, module)
    for plan in plans:
        argument = array_argument(kernel, plan.argument, AddressSpace.GLOBAL, AddressSpace.CONSTANT)
        target = _target(argument, graphs[argument.name], plan, module)
        arrays.append(LaidArray(argument.name, target.arrangement))
        if target.arrangement.is_as_written:
            continue
        graph = graphs[argument.name]
        targets[graph] = replace(target, extents=extents.of(argument, target.arrangement))
        for instruction, slot, place in resolved_uses(graph, target.arrangement.record.size):
            accesses.setdefault(instruction, {})[slot] = place
    assumptions = tuple(_assumptions(accesses))
    padding = copied_padding(accesses, targets)
    positioned = with_positions(kernel, module, targets, accesses)
    # A load that is split may be the index of an access that is still to be rewritten.
    split: dict[Operand, Operand] = {}
    for instruction, places in positioned.items():
        if instruction in padding:
            _leave_out(instruction)
            continue
        laid = {slot: (targets[place.array], place.with_values(split)) for slot, place in places.items()}
        value = _rewrite(instruction, laid)
        if value is not None:
            split[instruction] = value
    make_names_unique(function, module.structures)
    return RewrittenArrays(module, tuple(arrays), assumptions, extents.added)


def _target(argument: Argument, graph: GraphArgument, plan: ArrayPlan, module: Module) -> Target:
    try:
        element = element_type(argument, graph, module.structures, is_deep=plan.layout.is_deep)
    except RefusalError:
        if graph.uses:
            raise
        return _never_accessed(argument, plan)
    if plan.record is not None and plan.record != element.record:
        raise InvalidInputError(
            f"the elements of {argument.name} are '{element.record}' to the kernel, '{plan.record}' to the host"
        )
    return Target(Arrangement(element.record, plan.layout, plan.shape, plan.order), element)


def _never_accessed(argument: Argument, plan: ArrayPlan) -> Target:
    """The target of an array of unknown elements that the kernel never looks at: it may lie in any way."""
    if plan.record is None:
        raise InvalidInputError(f"the kernel never accesses {argument.name}, so there is nothing to lay out")
    element = ElementType(IntegerType(_BYTE_BITS), plan.record, {})
    return Target(Arrangement(plan.record, plan.layout, plan.shape, plan.order), element)


def _assumptions(accesses: dict[Instruction, Places]) -> Iterator[str]:
    """Yield what is taken for granted, in words."""
    inner = (place.name for places in accesses.values() for place in places.values() if place.inner)
    for name in dict.fromkeys(inner):
        yield f"indices into arrays inside of the elements of {name} stay within these arrays"


def _rewrite(instruction: Instruction, laid: dict[int, tuple[Target, Place]]) -> Operand | None:
    """Let an instruction access its places where they are now; return what a load was replaced by, if it was."""
    if is_copy(instruction):
        split_copy(instruction, laid)
        return None
    ((slot, (target, place)),) = laid.items()
    if is_fill(instruction):
        split_fill(instruction, target, place)
        return None
    type_ = accessed_type(instruction)
    pieces = pieces_of(target, place, content_bytes(type_)) or []
    piece = whole_piece(pieces, place, content_bytes(type_))
    if instruction.is_atomic or is_atomic_update(instruction.callee):
        _check_atomic(instruction, target, place, piece)
    if piece is not None:
        _redirect(instruction, slot, target, place, piece)
    elif instruction.opcode is Opcode.LOAD:
        return split_load(instruction, target, place)
    else:
        split_store(instruction, target, place)
    return None


def _leave_out(instruction: Instruction) -> None:
    """Remove an access that only copies padding; what copies of it that stay have is zero."""
    if instruction.opcode is Opcode.LOAD:
        assert isinstance(instruction.type, IntegerType)
        instruction.replace_all_uses(number(instruction.type, 0))
    instruction.erase()


def _check_atomic(instruction: Instruction, target: Target, place: Place, piece: Piece | None) -> None:
    width = 0 if piece is None else piece.size - (0 if piece.is_one_of else place.reach)
    if piece is None or target.alignment(place, piece) < width:
        reason = f"an atomic access to {place.name} is not to one field of its width"
        raise RefusalError("layout-atomic-width", reason, instruction.position)


def _redirect(instruction: Instruction, slot: int, target: Target, place: Place, piece: Piece) -> None:
    """Give an access to one field its new address, and the alignment that this has."""
    known = target.alignment(place, piece)
    detail = instruction.detail
    access = access_of(detail)
    if access is not None:
        natural = alignment_of(accessed_type(instruction))
        wanted = access.alignment or natural
        if known < min(wanted, natural):
            reason = f"an access to {place.name} needs more alignment than its field has"
            raise RefusalError("layout-mixed-types", reason, instruction.position)
        access = replace(access, alignment=min(wanted, known))
        instruction.detail = replace(detail, access=access) if isinstance(detail, AtomicUpdate) else access
    build = Builder.replacing(instruction)
    instruction.set_operand(slot, Addresses(build).address(target, place, piece))


# The extents of arrays that lie otherwise: numbers where their shapes are known, else arguments of the kernel.
#
# kernel void k(global Body *bodies)   →   kernel void k(global Body *bodies, ulong bodies_count)      bodies=soa
# kernel void k(global float *image)   →   kernel void k(global float *image, ulong image_extent_0,
#                                                        ulong image_extent_1)                         image=1,0


class Extents:
    """Gives the extents of arrays, and adds those that are not known to a kernel's arguments.

    Args:
        kernel: as it was.
        module: owned by the caller; the kernel in it gets the arguments.

    Attributes:
        added: what a launch passes for the arguments that were added, in their order.
    """

    def __init__(self, kernel: Kernel, module: Module) -> None:
        self._kernel = kernel
        self._module = module
        self._names = NameSupply(kernel)
        self.added: tuple[AddedArgument, ...] = ()

    def of(self, argument: Argument, arrangement: Arrangement) -> tuple[Operand, ...]:
        """Return an array's extents, the slowest first; none where no address depends on them.

        Args:
            argument: one of the kernel's.
            arrangement: of the array that it points to.
        """
        if not arrangement.needs_shape:
            return ()
        if arrangement.shape is not None:
            return tuple(number(INDEX, extent) for extent in arrangement.shape)
        count = len(arrangement.order.permutation) if arrangement.order else 1
        dimensions: Sequence[int | None] = range(count) if count > 1 else (None,)
        added = [extent_argument(argument.name, dimension, self._names) for dimension in dimensions]
        index = self._kernel.arguments.index(argument)
        self.added += tuple(AddedArgument("extent", dimension, index) for dimension in range(count))
        return tuple(add_arguments(self._module, self._module.function(self._kernel.name), added))
