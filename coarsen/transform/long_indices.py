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
_PASSED_ON = _SUMS | {Opcode.TRUNC, Opcode.SEXT}
_PLACES = frozenset({"get_global_id", "get_local_id"})
_LONG, _INT = IntegerType(64), IntegerType(32)


def indices_to_lengthen(function: Function) -> list[Instruction]:
    """Return the extended sums of a function that have the place along dimension 0 as a term."""
    return [each for each in _of_places(function) if _is_extension(each) and _is_sum(each.operands[0])]


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
    indices, of_places = indices_to_lengthen(function), _of_places(function)
    long: dict[Operand, Operand] = {}
    pending: list[Operand] = [index.operands[0] for index in indices]
    while pending:
        value = pending[-1]
        assert isinstance(value, Instruction)
        terms = [each for each in value.operands if each in of_places] if _is_sum(value) else []
        missing = [each for each in terms if each not in long]
        if missing:
            pending += missing
            continue
        pending.pop()
        if value not in long:
            long[value] = _long_sum(value, long) if terms else _long_place(value)
    for value, made in long.items():
        for use in list(value.uses if isinstance(value, Instruction) else ()):
            extension = use.user
            if isinstance(extension, Instruction) and extension is not made and _is_extension(extension):
                extension.replace_all_uses(made)
                extension.erase()
    make_names_unique(function, module.structures)
    return module, len(indices)


def _of_places(function: Function) -> dict[Instruction, None]:
    """Return what is computed, by sums and conversions alone, of places along dimension 0, and these, in order."""
    instructions = [each for block in function.blocks for each in block.instructions]
    pending = [
        each for each in instructions if builtin_name(each.callee) in _PLACES and each.arguments[0].number == 0
    ]
    found = set(pending)
    while pending:
        users = (use.user for use in pending.pop().uses)
        fresh = {each for each in users if isinstance(each, Instruction) and each.opcode in _PASSED_ON} - found
        found |= fresh
        pending += fresh
    return dict.fromkeys(each for each in instructions if each in found)


def _is_extension(value: Instruction) -> bool:
    return value.opcode is Opcode.SEXT and value.type == _LONG and value.operands[0].type == _INT


def _is_sum(value: Operand) -> bool:
    """Return True if a value of 32 bits is computed without wrapping around."""
    return isinstance(value, Instruction) and value.type == _INT and value.opcode in _SUMS and "nsw" in value.flags


def _long_place(place: Instruction) -> Operand:
    """Extend a place after it is computed; it has a name, so that it is computed once in the text, too."""
    assert place.block is not None
    name = like(place)
    display = DisplayName(f"long_{name.display.text}" if name.display.text else "long_index")
    build = Builder(place.block, place.origin).after(place)
    return build.cast(Opcode.SEXT, place, _LONG, NewName(f"{name.spelling}.long", display))


def _long_sum(value: Instruction, long: dict[Operand, Operand]) -> Operand:
    """Compute a sum in 64 bits after it is computed in 32, of terms that are long, or extended for it."""
    assert value.block is not None
    build = Builder(value.block, value.origin).after(value)

    def term(each: Operand) -> Operand:
        if each.number is not None:
            return number(_LONG, each.number)
        return long[each] if each in long else build.cast(Opcode.SEXT, each, _LONG, TEMPORARY)

    left, right = map(term, value.operands)
    return build.binary(value.opcode, left, right, TEMPORARY, ("nsw",))
