"""Long indices: sums of 64 bits where an index has the work-item's place along dimension 0 as a term.

    before                                   after
    int j = get_global_id(0);                int j = get_global_id(0);
                                             long long_j = j;
    … b[k * m + j] …                         … b[k * m + long_j] …

A compiler for CPUs computes neighbours along dimension 0 side by side. Where it can't tell that they read
neighbouring elements, since a sum of 32 bits might wrap around in between, it gathers each one by itself. Intel's
(2026.22) does so in loops, and then for all that the loop reads: with four columns merged, `sgemm` took 6.7 ms,
with long indices 1.9. The extended place is one value for all of its uses: one that is used once LLVM takes back.

Why it is legal: a sum, difference or product that is extended is `nsw`, as clang marks those of `int`. Where it
does not fit in 32 bits, the program has no meaning (C11, 6.5, paragraph 5). All others stay as they are, such as
those of `uint`, which may wrap around.
"""

from __future__ import annotations

from coarsen.ir.graph.builder import Builder, number
from coarsen.ir.graph.details import Opcode
from coarsen.ir.graph.display_name import DisplayName, NewName
from coarsen.ir.graph.function import Function
from coarsen.ir.graph.instruction import Instruction
from coarsen.ir.graph.module import Module
from coarsen.ir.graph.names import make_names_unique
from coarsen.ir.graph.operands import Operand
from coarsen.ir.kernel import Kernel
from coarsen.ir.opencl.queries import builtin_name
from coarsen.ir.types import IntegerType
from coarsen.transform.names import TEMPORARY, like

_SUMS = frozenset({Opcode.ADD, Opcode.SUB, Opcode.MUL})
_PLACES = frozenset({"get_global_id", "get_local_id"})
_LONG, _INT = IntegerType(64), IntegerType(32)


def indices_to_lengthen(function: Function) -> list[Instruction]:
    """Return the extended sums of a function that have the place along dimension 0 as a term."""
    return [
        each
        for block in function.blocks
        for each in block.instructions
        if each.opcode is Opcode.SEXT and each.type == _LONG and _is_sum(each.operands[0]) and _has_place(each)
    ]


def lengthen_indices(kernel: Kernel) -> tuple[Module, int] | None:
    """Return the module of a kernel with long indices, and how many they are; None where there are none.

    LLVM has to bring it into normal form.

    Args:
        kernel: in normal form, coarsened or not; it stays as it is.
    """
    if not indices_to_lengthen(kernel.function):
        return None
    module = kernel.editable_graph()
    function = module.function(kernel.name)
    places: dict[Operand, Operand] = {}
    found = indices_to_lengthen(function)
    for index in found:
        index.replace_all_uses(_long(index.operands[0], index, places))
        index.erase()
    for place, long in places.items():
        _take_everywhere(place, long)
    make_names_unique(function, module.structures)
    return module, len(found)


def _take_everywhere(place: Operand, long: Operand) -> None:
    """Let indices that are a place alone use its one extension, too."""
    assert isinstance(place, Instruction)
    for use in list(place.uses):
        user = use.user
        if (
            isinstance(user, Instruction)
            and user is not long
            and user.opcode is Opcode.SEXT
            and user.type == _LONG
        ):
            user.replace_all_uses(long)
            user.erase()


def _is_sum(value: Operand) -> bool:
    """Return True if a value of 32 bits is computed without wrapping around."""
    return isinstance(value, Instruction) and value.type == _INT and value.opcode in _SUMS and "nsw" in value.flags


def _has_place(value: Operand) -> bool:
    """Return True if a value is computed, by sums and conversions alone, of the place along dimension 0."""
    if not isinstance(value, Instruction):
        return False
    if value.opcode is Opcode.CALL:
        return builtin_name(value.callee) in _PLACES and value.arguments[0].number == 0
    return value.opcode in {*_SUMS, Opcode.TRUNC, Opcode.SEXT} and any(map(_has_place, value.operands))


def _long(value: Operand, index: Instruction, places: dict[Operand, Operand]) -> Operand:
    """Return what a value of 32 bits is in 64, computed before an index where it isn't known.

    Of a place it is one value for the whole kernel, which `places` keeps.
    """
    if value.number is not None:
        return number(_LONG, value.number)
    if not _has_place(value):
        return Builder.replacing(index).cast(Opcode.SEXT, value, _LONG, TEMPORARY)
    assert isinstance(value, Instruction)
    if _is_sum(value):
        left, right = (_long(each, index, places) for each in value.operands)
        return Builder.replacing(index).binary(value.opcode, left, right, TEMPORARY, ("nsw",))
    if value not in places:
        assert value.block is not None
        name = like(value)
        display = DisplayName(f"long_{name.display.text}" if name.display.text else "long_index")
        after = Builder(value.block, value.origin).after(value)
        places[value] = after.cast(Opcode.SEXT, value, _LONG, NewName(f"{name.spelling}.long", display))
    return places[value]
