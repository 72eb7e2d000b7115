"""Random integer arithmetic computes the same after clean-up; known bits hold for random values."""

from __future__ import annotations

import operator
import random
import re
from collections.abc import Callable

import pytest

from coarsen.transform.body_text import BodyText, Line, read_line
from coarsen.transform.known_bits import known_bits
from coarsen.transform.memory_order import MemoryOrder
from coarsen.transform.shared_values import SharedValues

WIDTH = 32
ARGUMENTS = ("%a", "%b", "%c")
_OPERATION = re.compile(r"(\w+) i(\d+) ([^ ,]+)(?:, ([^ ,]+)| to i(\d+))$")


def random_lines(generator: random.Random, count: int) -> list[Line]:
    """Arithmetic of 64 bits first, cut to 32 bits where that is used."""
    wide, narrow, lines = ["%n", "%m"], [*ARGUMENTS], list[Line]()
    for number in range(count):
        kind = generator.random()
        values = wide if kind < 0.3 else narrow
        width = 64 if kind < 0.3 else WIDTH
        name = f"v{number}"
        if 0.3 <= kind < 0.45:
            text = f"trunc i64 {generator.choice(wide)} to i{WIDTH}"
        else:
            opcode = generator.choice(("add", "sub", "mul", "shl", "and", "urem"))
            number_ = str(generator.choice((1, 2, 3, 4, 8, 16)))
            right = number_ if opcode in ("shl", "urem") or generator.random() < 0.3 else generator.choice(values)
            text = f"{opcode} i{width} {generator.choice(values)}, {right}"
        values.append(f"%{name}")
        lines.append(read_line(name, text))
    return lines


def evaluate(lines: list[Line], values: dict[str, int]) -> dict[str, int]:
    """What each line computes."""
    known = dict(values)
    for line in lines:
        match = _OPERATION.match(line.text)
        assert match is not None, line.text
        left = known[match[3]] if match[3] in known else int(match[3])
        if match[5]:
            known[f"%{line.name}"] = left % 2 ** int(match[5])
            continue
        right = known[match[4]] if match[4] in known else int(match[4])
        known[f"%{line.name}"] = result(match[1], left, right) % 2 ** int(match[2])
    return known


def result(opcode: str, left: int, right: int) -> int:
    """An operation on whole numbers."""
    operations: dict[str, Callable[[int, int], int]] = {
        "add": operator.add,
        "sub": operator.sub,
        "mul": operator.mul,
        "shl": operator.lshift,
        "and": operator.and_,
        "urem": operator.mod,
    }
    return operations[opcode](left, right)


def width_of(line: Line) -> int:
    """Of a line's result, in bits."""
    return 64 if line.opcode != "trunc" and " i64 " in line.text else WIDTH


def random_values(generator: random.Random) -> dict[str, int]:
    narrow = {name: generator.getrandbits(WIDTH) for name in ARGUMENTS}
    return {**narrow, "%n": generator.getrandbits(64), "%m": generator.getrandbits(64)}


@pytest.mark.parametrize("seed", range(60))
def test_the_same_is_computed_with_less(seed: int) -> None:
    generator = random.Random(seed)
    lines = random_lines(generator, 40)
    results = [read_line("", f"store i64 %{line.name}, ptr %p") for line in lines]
    body = BodyText("", (("entry", (*lines, *results, read_line("", "ret void"))),), "")
    [(_, left)] = SharedValues(body, MemoryOrder("")).blocks()
    values = random_values(generator)
    wanted = evaluate(lines, values)
    got = evaluate([line for line in left if line.name], values)
    stored = [line.text.split()[2].rstrip(",") for line in left if line.opcode == "store"]
    for line, value in zip(lines, stored, strict=True):
        number = got[value] if value in got else int(value)
        assert number % 2 ** width_of(line) == wanted[f"%{line.name}"], (line, value)


def test_much_is_merged() -> None:
    """The test above would pass if nothing were."""
    lines = random_lines(random.Random(1), 200)
    body = BodyText("", (("entry", (*lines, read_line("", "ret void"))),), "")
    [(_, left)] = SharedValues(body, MemoryOrder("")).blocks()
    assert len(left) < len(lines)


@pytest.mark.parametrize("seed", range(60))
def test_known_bits_are_those_of_every_value(seed: int) -> None:
    generator = random.Random(seed)
    lines = random_lines(generator, 25)
    definition = {line.name: line for line in lines}
    found = {line.name: known_bits(f"%{line.name}", width_of(line), definition) for line in lines}
    assert any(bits.zeros | bits.ones for bits in found.values())
    for _ in range(20):
        computed = evaluate(lines, random_values(generator))
        for name, bits in found.items():
            assert computed[f"%{name}"] & bits.zeros == 0
            assert computed[f"%{name}"] & bits.ones == bits.ones
