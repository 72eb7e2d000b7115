"""Random integer arithmetic computes the same after value numbering; known bits hold for random values."""

from __future__ import annotations

import operator
import random
from collections.abc import Callable, Iterable, Mapping

import pytest

from coarsen.ir.graph.builder import number
from coarsen.ir.graph.details import Opcode
from coarsen.ir.graph.instruction import Instruction
from coarsen.ir.graph.operands import Operand
from coarsen.ir.types import IntegerType
from coarsen.transform.value_numbering.sums import known_bits
from tests.transform.value_numbering.straight_line import NARROW, WIDE, StraightLine

_OPERATIONS: dict[Opcode, Callable[[int, int], int]] = {
    Opcode.ADD: operator.add,
    Opcode.SUB: operator.sub,
    Opcode.MUL: operator.mul,
    Opcode.SHL: operator.lshift,
    Opcode.AND: operator.and_,
    Opcode.UREM: operator.mod,
}


def random_arithmetic(generator: random.Random, count: int) -> tuple[StraightLine, list[Instruction]]:
    """Build arithmetic of 64 bits, cut to 32 bits where that is used, and return it with the results."""
    line = StraightLine()
    wide: list[Operand] = [line.argument(name) for name in "nm"]
    narrow: list[Operand] = [line.argument(name) for name in "abc"]
    made: list[Instruction] = []
    for _ in range(count):
        kind = generator.random()
        if 0.3 <= kind < 0.45:
            result = line.build.cast(Opcode.TRUNC, generator.choice(wide), NARROW, "v")
        else:
            result = random_operation(line, generator, wide if kind < 0.3 else narrow)
        (wide if result.type == WIDE else narrow).append(result)
        made.append(result)
    return line, made


def random_operation(line: StraightLine, generator: random.Random, values: list[Operand]) -> Instruction:
    opcode = generator.choice(list(_OPERATIONS))
    left = generator.choice(values)
    constant = number(left.type, generator.choice((1, 2, 3, 4, 8, 16)))
    is_constant = opcode in (Opcode.SHL, Opcode.UREM) or generator.random() < 0.3
    return line.build.binary(opcode, left, constant if is_constant else generator.choice(values), "v")


def evaluate(instructions: Iterable[Instruction], arguments: Mapping[Operand, int]) -> dict[Operand, int]:
    """Return the result of each instruction."""
    known = dict(arguments)
    for instruction in instructions:
        values = [known[each] if each.is_local else int(each.text) for each in instruction.operands]
        result = values[0] if instruction.opcode is Opcode.TRUNC else _OPERATIONS[instruction.opcode](*values)
        known[instruction] = result % 2 ** width_of(instruction)
    return known


def width_of(operand: Operand) -> int:
    """Return an integer's width in bits."""
    assert isinstance(operand.type, IntegerType)
    return operand.type.width


def random_values(line: StraightLine, generator: random.Random) -> dict[Operand, int]:
    integers = [line.argument(name) for name in "abcnm"]
    return {argument: generator.getrandbits(width_of(argument)) for argument in integers}


@pytest.mark.parametrize("seed", range(60))
def test_the_same_is_computed_with_less(seed: int) -> None:
    generator = random.Random(seed)
    line, results = random_arithmetic(generator, 40)
    arguments = random_values(line, generator)
    wanted = evaluate(results, arguments)
    stores = [line.build.store(result, line.argument("p")) for result in results]
    line.number_values()
    got = evaluate((each for each in line.block.instructions if each.name), arguments)
    for result, store in zip(results, stores, strict=True):
        value = store.operands[0]
        found = got[value] if value.is_local else int(value.text)
        assert found % 2 ** width_of(value) == wanted[result], (result.name, value.text)


def test_much_is_merged() -> None:
    """The test above would pass if nothing were."""
    line, results = random_arithmetic(random.Random(1), 200)
    line.number_values()
    assert len(line.block.instructions) < 0.95 * len(results)


@pytest.mark.parametrize("seed", range(60))
def test_known_bits_are_those_of_every_value(seed: int) -> None:
    generator = random.Random(seed)
    line, results = random_arithmetic(generator, 25)
    found = {result: known_bits(result) for result in results}
    assert any(bits.zeros | bits.ones for bits in found.values())
    for _ in range(20):
        computed = evaluate(results, random_values(line, generator))
        for result, bits in found.items():
            assert computed[result] & bits.zeros == 0
            assert computed[result] & bits.ones == bits.ones
