"""The rewritten ids are a bijection onto the original NDRange, tested exhaustively over small sizes.

What is tested is the code that the transform emits: its few arithmetic instructions are interpreted here for every
coarsened work-item of a launch.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest

from coarsen.frontend.lower import lower
from coarsen.ir.kernel import Kernel
from coarsen.transform.ids import IdRewriter
from coarsen.transform.names import NameSupply
from coarsen.variant.coarsening import Coarsening

SOURCE = """
kernel void ids(global ulong *out) {
    out[0] = get_global_id(0) + get_local_id(0) + get_global_id(1) + get_local_id(1) + get_global_id(2)
        + get_local_id(2) + get_global_linear_id() + get_local_linear_id() + get_local_size(0) + get_global_size(0)
        + get_local_size(1) + get_global_size(1) + get_local_size(2) + get_global_size(2)
        + get_enqueued_local_size(0);
}
"""
OPERATIONS: dict[str, Callable[[int, int], int]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "udiv": lambda a, b: a // b,
    "urem": lambda a, b: a % b,
}
QUERY = re.compile(r"%(\S+) = call .*@_Z\d+(get_\w+?)j\(i32 (\d)\)")
ARITHMETIC = re.compile(r"%(\S+) = (\w+) i64 (\S+), (\S+)$")

Triple = tuple[int, int, int]
Compute = Callable[[dict[str, int], dict[str, Triple]], int]


@dataclass(frozen=True)
class Geometry:
    """An NDRange: sizes of a work-group, numbers of work-groups, offset; each per dimension."""

    local: Triple
    groups: Triple
    offset: Triple

    def answers(self, group: Triple, item: Triple) -> dict[str, Triple]:
        """What the work-item functions of dimension 0, 1, 2 return to one work-item."""
        indices = range(3)
        return {
            "get_local_id": item,
            "get_group_id": group,
            "get_local_size": self.local,
            "get_enqueued_local_size": self.local,
            "get_global_offset": self.offset,
            "get_global_size": _triple(self.local[i] * self.groups[i] for i in indices),
            "get_global_id": _triple(group[i] * self.local[i] + item[i] + self.offset[i] for i in indices),
        }

    def items(self) -> Iterator[tuple[Triple, Triple]]:
        """All pairs of a work-group and a work-item in it."""
        for group in itertools.product(*map(range, self.groups)):
            for item in itertools.product(*map(range, self.local)):
                yield _triple(group), _triple(item)


def _triple(values: Iterator[int] | tuple[int, ...]) -> Triple:
    first, second, third = values
    return first, second, third


@pytest.fixture(scope="module")
def kernel() -> Kernel:
    return lower(SOURCE, options="-cl-std=CL2.0")


class Rewritten:
    """The emitted answers of one coarsening: for each query the text of each replica's value."""

    def __init__(self, kernel: Kernel, coarsening: Coarsening) -> None:
        self._ids = IdRewriter(kernel, coarsening, NameSupply(kernel))
        self._replicas = {}
        for instruction in kernel.instructions():
            if self._ids.handles(instruction):
                key = re.sub(
                    r".*@_Z\d+(get_\w+?)[jv]\((?:i32 (?:noundef )?(\d))?\).*", r"\1(\2)", instruction.text
                )
                self._replicas[key] = self._ids.replicas(instruction)

        self._program = [self._parse(line) for line in self._ids.prologue]

    def __contains__(self, query: str) -> bool:
        return query in self._replicas

    def run(self, answers: dict[str, Triple]) -> dict[str, int]:
        """All values that the emitted instructions compute for one coarsened work-item."""
        values: dict[str, int] = {}
        for name, compute in self._program:
            values[name] = compute(values, answers)
        return values

    def spelling(self, query: str, replica: int) -> str:
        """The value that stands for a query in one replica."""
        replicas = self._replicas[query]
        return replicas[replica if len(replicas) > 1 else 0]

    @staticmethod
    def _parse(line: str) -> tuple[str, Compute]:
        if query := QUERY.match(line):
            asked, along = query[2], int(query[3])
            return f"%{query[1]}", lambda values, answers: answers[asked][along]
        match = ARITHMETIC.match(line)
        assert match is not None, f"not interpreted: {line}"
        operation, left, right = OPERATIONS[match[2]], match[3], match[4]
        return f"%{match[1]}", lambda values, answers: operation(_value(values, left), _value(values, right))


def _value(values: dict[str, int], operand: str) -> int:
    return values[operand] if operand.startswith("%") else int(operand)


@pytest.mark.parametrize("dimension", [0, 1, 2])
@pytest.mark.parametrize("factor", [2, 3, 4, 5])
def test_bijection_onto_the_original_work_group(kernel: Kernel, dimension: int, factor: int) -> None:
    for coarsened_size in (1, 2, 3, 4, 6):
        for stride in (s for s in range(1, coarsened_size + 1) if coarsened_size % s == 0):
            rewritten = Rewritten(kernel, Coarsening(factor, dimension, stride))
            check_geometry(rewritten, dimension, factor, coarsened_size)


def check_geometry(rewritten: Rewritten, dimension: int, factor: int, coarsened_size: int) -> None:
    local, groups, offset = [2, 1, 2], [1, 2, 1], [3, 0, 7]
    local[dimension], groups[dimension] = coarsened_size, 3
    launch = Geometry(_triple(tuple(local)), _triple(tuple(groups)), _triple(tuple(offset)))
    local[dimension] = coarsened_size * factor
    original = Geometry(_triple(tuple(local)), launch.groups, launch.offset)
    seen = []
    for group, item in launch.items():
        answers = launch.answers(group, item)
        values = rewritten.run(answers)
        for replica in range(factor):
            seen.append((group, original_item(rewritten, replica, values, answers, original, group)))
    assert sorted(seen) == sorted(original.items())


def original_item(
    rewritten: Rewritten,
    replica: int,
    values: dict[str, int],
    answers: dict[str, Triple],
    original: Geometry,
    group: Triple,
) -> Triple:
    """The original work-item that a replica stands for; all of the kernel's queries must agree on it."""

    def ask(query: str, along: int) -> int:
        key = f"{query}({along})"
        return values[rewritten.spelling(key, replica)] if key in rewritten else answers[query][along]

    item = _triple(tuple(ask("get_local_id", along) for along in range(3)))
    wanted = original.answers(group, item)
    for query in ("get_global_id", "get_local_size", "get_global_size"):
        assert tuple(ask(query, along) for along in range(3)) == wanted[query]
    enqueued = ask("get_enqueued_local_size", 0)
    assert enqueued == original.local[0]
    sizes, offset, ids = wanted["get_global_size"], original.offset, wanted["get_global_id"]
    position = [ids[i] - offset[i] for i in range(3)]
    linear = (position[2] * sizes[1] + position[1]) * sizes[0] + position[0]
    assert values[rewritten.spelling("get_global_linear_id()", replica)] == linear
    local_linear = (item[2] * original.local[1] + item[1]) * original.local[0] + item[0]
    assert values[rewritten.spelling("get_local_linear_id()", replica)] == local_linear
    return item
