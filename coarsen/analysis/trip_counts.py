"""How often loops go round, where their code says so.

A loop ends where a comparison of two index forms (`index_forms.py`) changes its outcome. If their difference is
`start + step·iteration` with numbers for both, the count follows:

    for (int i = 0; i < 16; ++i)                  i - 16 = -16 + iteration      16 times
    for (int j = x; j < x + 8; j += 2)            j - (x + 8) = -8 + 2·iteration  4 times
    for (int k = 0; k < n; ++k)                   -n + iteration                not known
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from coarsen.analysis.algebra.comparisons import relation_of
from coarsen.analysis.algebra.index_forms import IndexForms
from coarsen.analysis.algebra.predict.symbols import iteration
from coarsen.analysis.control_flow import Loop
from coarsen.ir.graph.operands import ValueKind
from coarsen.ir.kernel import Instruction
from coarsen.ir.types import IntegerType, PointerType


def trip_counts(forms: IndexForms) -> Mapping[str, int]:
    """Return how often the body of each loop is run each time the loop is reached, by header.

    Loops whose count is not a number in the code are left out. Of several exits the one that comes first counts.
    """
    counts: dict[str, int] = {}
    for loop in forms.control_flow.loops:
        found = list(_counts(forms, loop))
        if found:
            counts[loop.header] = min(found)
    return counts


def _counts(forms: IndexForms, loop: Loop) -> Iterator[int]:
    for name in loop.blocks:
        branch = forms.kernel.block[name].terminator
        staying = [target in loop.blocks for target in branch.targets]
        if sorted(staying) != [False, True] or branch.arguments[0].kind is not ValueKind.INSTRUCTION:
            continue
        passed = _iterations_passed(forms, loop, branch, stays_if=branch.targets[0] in loop.blocks)
        if passed is not None:
            # A test at the head stands before the body, any other behind (at least part of) it.
            yield passed if name == loop.header and len(loop.blocks) > 1 else passed + 1


def _iterations_passed(forms: IndexForms, loop: Loop, branch: Instruction, *, stays_if: bool) -> int | None:
    """Return how many iterations in a row stay in the loop at a branch that may leave it."""
    comparison = forms.kernel.definition[branch.arguments[0].text]
    if comparison.opcode != "icmp":
        return None
    left, right = comparison.operands
    if not isinstance(left.type, IntegerType | PointerType):
        return None
    difference = forms.form(left) - forms.form(right)
    counter = (iteration(loop.header),)
    if any(product not in ((), counter) for product in difference.terms):
        return None
    relation = relation_of(comparison, holds=stays_if)
    return _while(relation, difference.constant_part, difference.terms.get(counter, 0))


def _while(relation: str, start: int, step: int) -> int | None:
    """For how many k from 0 on `start + step·k` stands in a relation to 0; None where that never ends."""
    if relation in ("gt", "ge"):
        return _while({"gt": "lt", "ge": "le"}[relation], -start, -step)
    if relation == "le":
        return _while("lt", start - 1, step)
    if relation == "eq":
        return 0 if start else (1 if step else None)
    if relation == "ne":
        is_met = start == 0 or (step and start % step == 0 and -start // step >= 0)
        return (-start // step if start else 0) if is_met else None
    if start >= 0:
        return 0
    return -(start // step) if step > 0 else None
