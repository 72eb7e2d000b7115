"""The rewritten ids are a bijection onto the original NDRange, tested exhaustively over small sizes.

What is tested is the code that the transform builds: its few arithmetic instructions are interpreted here for
every coarsened work-item of a launch.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import pytest

from coarsen.frontend.lower import lower
from coarsen.ir.graph.details import Opcode
from coarsen.ir.graph.instruction import Instruction
from coarsen.ir.graph.instruction import Instruction as Built
from coarsen.ir.graph.module import Module
from coarsen.ir.graph.operands import Operand
from coarsen.ir.kernel import Kernel
from coarsen.ir.opencl.queries import builtin_name
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
OPERATIONS: dict[Opcode, Callable[[int, int], int]] = {
    Opcode.ADD: operator.add,
    Opcode.SUB: operator.sub,
    Opcode.MUL: operator.mul,
    Opcode.UDIV: operator.floordiv,
    Opcode.UREM: operator.mod,
}

Triple = tuple[int, int, int]
Results = Mapping[Operand, int]
Compute = Callable[[Results, Mapping[str, Triple]], int]


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
    """The answers of one coarsening: for each query what stands for it in each replica."""

    def __init__(self, kernel: Kernel, coarsening: Coarsening) -> None:
        ids = IdRewriter(kernel, coarsening, NameSupply(kernel), Module(triple=kernel.graph.triple))
        self._replicas = {
            queried(instruction): ids.replicas(instruction)
            for instruction in kernel.instructions()
            if ids.handles(instruction)
        }
        self._program = [(instruction, meaning(instruction)) for instruction in ids.start.block.instructions]

    def __contains__(self, query: str) -> bool:
        return query in self._replicas

    def run(self, answers: Mapping[str, Triple]) -> Results:
        """All values that the instructions compute for one coarsened work-item."""
        results: dict[Operand, int] = {}
        for instruction, compute in self._program:
            results[instruction] = compute(results, answers)
        return results

    def standing_for(self, query: str, replica: int) -> Operand:
        """The value that stands for a query in one replica."""
        replicas = self._replicas[query]
        return replicas[replica if len(replicas) > 1 else 0]


def queried(call: Instruction) -> str:
    """A query as it is written, `get_local_id(0)`."""
    along = ", ".join(argument.text for argument in call.arguments)
    return f"{builtin_name(call.callee)}({along})"


def meaning(instruction: Built) -> Compute:
    """What an instruction computes, from what those before it have and from the launch's answers."""
    if instruction.opcode is Opcode.CALL:
        asked, along = builtin_name(instruction.callee), int(instruction.arguments[0].text)
        return lambda _, answers: answers[asked][along]
    left, right = instruction.operands
    operation = OPERATIONS[instruction.opcode]
    return lambda results, _: operation(result_of(left, results), result_of(right, results))


def result_of(operand: Operand, results: Results) -> int:
    return results[operand] if operand.is_local else int(operand.text)


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
    values: Results,
    answers: Mapping[str, Triple],
    original: Geometry,
    group: Triple,
) -> Triple:
    """The original work-item that a replica stands for; all of the kernel's queries must agree on it."""

    def ask(query: str, along: int) -> int:
        key = f"{query}({along})"
        return values[rewritten.standing_for(key, replica)] if key in rewritten else answers[query][along]

    item = _triple(tuple(ask("get_local_id", along) for along in range(3)))
    wanted = original.answers(group, item)
    for query in ("get_global_id", "get_local_size", "get_global_size"):
        assert tuple(ask(query, along) for along in range(3)) == wanted[query]
    enqueued = ask("get_enqueued_local_size", 0)
    assert enqueued == original.local[0]
    sizes, offset, ids = wanted["get_global_size"], original.offset, wanted["get_global_id"]
    position = [ids[i] - offset[i] for i in range(3)]
    linear = (position[2] * sizes[1] + position[1]) * sizes[0] + position[0]
    assert values[rewritten.standing_for("get_global_linear_id()", replica)] == linear
    local_linear = (item[2] * original.local[1] + item[1]) * original.local[0] + item[0]
    assert values[rewritten.standing_for("get_local_linear_id()", replica)] == local_linear
    return item
