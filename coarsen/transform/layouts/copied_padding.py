"""Find accesses to padding that only copy it: a record that is copied through registers, its padding with it.

    %p = load i8, %records[low] + 15      →   0
    store i8 %p, %records[high] + 15      →   nothing

LLVM makes these of `records[high] = records[low]`. What padding holds is no value on which a program could rely,
and it has no place in another layout. An access that does more than copy from padding to padding of such arrays
stays, and is refused, since bytes that other memory gives or gets may be somebody's data: what is loaded may go to
left-out stores alone, what is stored may come from left-out loads alone, through `phi`, `select` and `freeze`.
"""

from __future__ import annotations

from collections.abc import Mapping

from coarsen.ir.graph.instruction import Instruction
from coarsen.ir.graph.opcode import Opcode
from coarsen.ir.graph.operands import Named, Operand
from coarsen.ir.layout import content_bytes
from coarsen.ir.types import IntegerType
from coarsen.transform.layouts.addresses import Target, pieces_of
from coarsen.transform.layouts.elements import Places

_PASSED_ON = (Opcode.PHI, Opcode.SELECT, Opcode.FREEZE)
_NO_VALUE = ("undef", "poison")


def copied_padding(
    accesses: Mapping[Instruction, Places], targets: Mapping[Named, Target]
) -> frozenset[Instruction]:
    """Return the loads and stores of padding alone that only copy it.

    Args:
        accesses: to arrays that lie otherwise, with their places.
        targets: how these arrays lie.
    """
    found = frozenset(access for access, places in accesses.items() if _is_of_padding(access, places, targets))
    while True:
        kept = frozenset(access for access in found if _copies_within(access, found))
        if kept == found:
            return found
        found = kept


def _copies_within(access: Instruction, accesses: frozenset[Instruction]) -> bool:
    if access.opcode is Opcode.LOAD:
        return _goes_to_stores(access, accesses)
    return _comes_from_loads(access.operands[0], accesses)


def _is_of_padding(instruction: Instruction, places: Places, targets: Mapping[Named, Target]) -> bool:
    if instruction.opcode not in (Opcode.LOAD, Opcode.STORE) or instruction.is_volatile or instruction.is_atomic:
        return False
    ((_, place),) = places.items()
    type_ = instruction.type if instruction.opcode is Opcode.LOAD else instruction.operands[0].type
    if not isinstance(type_, IntegerType) or place.inner:
        return False
    return pieces_of(targets[place.array], place, content_bytes(type_)) == []


def _goes_to_stores(value: Instruction, stores: frozenset[Instruction]) -> bool:
    waiting, seen = [value], {value}
    while waiting:
        for use in waiting.pop().uses:
            user = use.user
            assert isinstance(user, Instruction)
            if user in stores and use.slot == 0:
                continue
            if user.opcode not in _PASSED_ON or (user.opcode is Opcode.SELECT and use.slot == 0):
                return False
            if user not in seen:
                seen.add(user)
                waiting.append(user)
    return True


def _comes_from_loads(value: Operand, loads: frozenset[Instruction]) -> bool:
    waiting: list[Operand] = [value]
    seen: set[Operand] = set()
    while waiting:
        source = waiting.pop()
        if source in seen or (not source.is_local and source.text in _NO_VALUE):
            continue
        seen.add(source)
        if not isinstance(source, Instruction):
            return False
        if source.opcode in _PASSED_ON:
            waiting += source.operands[1:] if source.opcode is Opcode.SELECT else source.operands
        elif source not in loads:
            return False
    return True
