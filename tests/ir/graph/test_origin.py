"""Origins as keys: many of one line are looked up as fast as others."""

from __future__ import annotations

import pytest

from coarsen.errors import SourcePosition
from coarsen.ir.graph.display_name import DisplayName
from coarsen.ir.graph.origin import Origin

LINE = SourcePosition(3, 7)
MANY = range(1000)


@pytest.mark.parametrize(
    "origins",
    [
        [Origin(LINE, SourcePosition(line, 9)) for line in MANY],
        [Origin(LINE, SourcePosition(9, column)) for column in MANY],
        [Origin(LINE, name=DisplayName("x", str(number))) for number in MANY],
        [Origin(LINE, name=DisplayName(f"x{number}")) for number in MANY],
        [Origin(LINE, replica=replica) for replica in MANY],
        [Origin(SourcePosition(line, 7)) for line in MANY],
    ],
    ids=["calls of a function", "calls in a line", "values of a variable", "variables", "replicas", "lines"],
)
def test_origins_that_a_kernel_has_many_of_are_told_apart(origins: list[Origin]) -> None:
    assert len({hash(origin) for origin in origins}) > 0.99 * len(MANY)


def test_equal_origins_are_one_key() -> None:
    first, second = (Origin(SourcePosition(3, 7), SourcePosition(9, 1), DisplayName("x", "2")) for _ in range(2))
    assert first is not second
    assert {first: 1}[second] == 1
    assert {Origin(SourcePosition(3, 7)): 1}[Origin(SourcePosition(3, 7))] == 1
