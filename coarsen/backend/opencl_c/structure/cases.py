"""Trees of comparisons, which LLVM makes of a `switch`, become chains of tests for equality again.

if (n < 2) { if (n == 1) A else D } else if (n < 7) { if (n == 2) B else D } else …
→   if (n == 1) A else if (n == 2) B else … D
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from coarsen.backend.opencl_c.c.build import logical_or
from coarsen.backend.opencl_c.c.statements import Assign, Statement
from coarsen.backend.opencl_c.c.tree import Expression
from coarsen.backend.opencl_c.printing.expressions import written

_LONGEST_CHAIN = 24
_LESS = frozenset({"slt", "ult"})


@dataclass(frozen=True, slots=True)
class Test:
    """A branch on a comparison with a constant: the value, LLVM's predicate, the constant and the value's bits.

    `largest` bounds a value that is known not to be negative.
    """

    value: str
    predicate: str
    constant: int
    width: int
    largest: int | None = None


@dataclass(frozen=True)
class _Outcome:
    """What a path through the tree leads to, for the numbers from `low` to `high`."""

    low: int
    high: int
    arm: Arm

    @property
    def key(self) -> tuple[str, tuple[tuple[str, str], ...]]:
        return self.arm.target, tuple(
            (copy.variable, written(copy.value) if copy.value is not None else "") for copy in self.arm.copies
        )


def chain_cases(
    nodes: dict[str, Node],
    entrances: Mapping[str, int],
    test_of: Callable[[str], Test | None],
    equals: Callable[[str, int], Expression],
) -> None:
    """Replace trees in `nodes`, in place.

    Args:
        nodes: the blocks of the text, outer ones of a tree before inner ones.
        entrances: how many edges lead to each node.
        test_of: the comparison at the end of a node.
        equals: the condition that a node's compared value is a constant.
    """
    for name in list(nodes):
        test = test_of(name)
        if test is None or test.predicate not in _LESS:
            continue
        outcomes = _outcomes(nodes, entrances, test_of, name, test)
        chain = _chain(outcomes) if outcomes is not None else None
        if chain is not None:
            _install(nodes, name, *chain, equals)


def _outcomes(
    nodes: Mapping[str, Node],
    entrances: Mapping[str, int],
    test_of: Callable[[str], Test | None],
    root: str,
    test: Test,
) -> list[_Outcome] | None:
    """The outcomes of a tree in the order of their numbers; None if it is none that a `switch` could have been."""
    sign = test.predicate[0]
    lowest = -(1 << (test.width - 1)) if sign == "s" else 0
    highest = lowest + (1 << test.width) - 1
    if test.largest is not None and test.largest <= highest:
        lowest, highest = 0, test.largest
    found: list[_Outcome] = []
    pending = [(Arm(root), lowest, highest)]
    while pending:
        arm, low, high = pending.pop()
        inner = _inner_test(nodes, entrances, test_of, arm, root, test)
        if inner is None:
            found.append(_Outcome(low, high, arm))
            continue
        node = nodes[arm.target]
        constant = inner.constant if sign == "s" else inner.constant % (1 << inner.width)
        if inner.predicate == "eq" and low <= constant <= high:
            pending += [(node.arms[1], low, constant - 1), (node.arms[1], constant + 1, high)]
            found.append(_Outcome(constant, constant, node.arms[0]))
        elif inner.predicate in _LESS and inner.predicate[0] == sign and low < constant <= high:
            pending += [(node.arms[1], constant, high), (node.arms[0], low, constant - 1)]
        else:
            return None
        if len(found) + len(pending) > 4 * _LONGEST_CHAIN:
            return None
    return sorted((one for one in found if one.low <= one.high), key=lambda one: one.low)


def _inner_test(
    nodes: Mapping[str, Node],
    entrances: Mapping[str, int],
    test_of: Callable[[str], Test | None],
    arm: Arm,
    root: str,
    test: Test,
) -> Test | None:
    """The test of a node that belongs to the tree."""
    if arm.target == root:
        return test if not arm.copies else None
    node = nodes[arm.target]
    inner = test_of(arm.target)
    alone = entrances.get(arm.target) == 1 and not node.statements and not arm.copies
    return inner if alone and inner is not None and inner.value == test.value else None


def _chain(outcomes: list[_Outcome]) -> tuple[list[tuple[list[int], Arm]], Arm] | None:
    """The numbers that lead to each case, and the default; None where a whole range is a case."""
    ranges = {outcome.key for outcome in outcomes if outcome.low != outcome.high}
    if len(ranges) > 1 or not outcomes:
        return None
    default_key = ranges.pop() if ranges else outcomes[-1].key
    default = next(outcome.arm for outcome in outcomes if outcome.key == default_key)
    cases: dict[object, tuple[list[int], Arm]] = {}
    for outcome in outcomes:
        if outcome.key != default_key:
            cases.setdefault(outcome.key, ([], outcome.arm))[0].append(outcome.low)
    return (list(cases.values()), default) if 0 < len(cases) <= _LONGEST_CHAIN else None


def _install(
    nodes: dict[str, Node],
    root: str,
    cases: list[tuple[list[int], Arm]],
    default: Arm,
    equals: Callable[[str, int], Expression],
) -> None:
    """Let the root test for the first case, and new nodes for the others."""
    names = [root, *(f"{root}.case{number}" for number in range(1, len(cases)))]
    for place, (numbers, arm) in enumerate(cases):
        is_last = place == len(cases) - 1
        otherwise = default if is_last else Arm(names[place + 1])
        statements = nodes[root].statements if place == 0 else []
        node = Node(names[place], statements, (arm, otherwise), _any_of(root, numbers, equals))
        nodes[names[place]] = node


def _any_of(root: str, numbers: list[int], equals: Callable[[str, int], Expression]) -> Expression:
    conditions: Iterator[Expression] = (equals(root, number) for number in numbers)
    condition = next(conditions)
    for other in conditions:
        condition = logical_or(condition, other)
    return condition


# The blocks and edges that the chains are found in, as the terminators of the kernel's blocks become them.


@dataclass(frozen=True, slots=True)
class Arm:
    """An edge: where it leads and what it assigns on the way."""

    target: str
    copies: tuple[Assign, ...] = ()


@dataclass(slots=True)
class Node:
    """A block of the C text: statements, then a return (no arms), a jump (one) or a branch (two).

    `unroll_hint` is the attribute of the loop that it is the header of.
    """

    name: str
    statements: list[Statement]
    arms: tuple[Arm, ...]
    condition: Expression | None = None
    unroll_hint: str = ""

    @property
    def is_empty_return(self) -> bool:
        """Return True if it does nothing but end the kernel."""
        return not self.arms and not self.statements
