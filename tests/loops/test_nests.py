"""The thirteen nests: the same in three spellings, with the loops parallel that are, and isl's bands."""

from __future__ import annotations

import re
from typing import Any

import islpy as isl
import pytest

from coarsen.loops.dependences import Dependence, carried_by
from coarsen.loops.nest import Nest, affine_text
from coarsen.loops.schedules import bands, pieces_of
from tests.loops.conftest import Analysed, Read
from tests.loops.executed import assert_as_executed, execute
from tests.loops.nests import NESTS

SPELLINGS = ("vla", "flat", "macros")


def spelled(name: str, spelling: str) -> str:
    return str(getattr(NESTS[name], spelling)(name))


def facts(nest: Nest, found: tuple[Dependence, ...]) -> list[Any]:
    """All that a nest says, with the names of members of a record as the names of arguments."""

    def plain(text: object) -> str:
        return re.sub(r"problem_(\w+?)_?\b", r"\1", str(text))

    extents = sorted(
        (plain(each.name), [plain(e and affine_text(e)) for e in each.extents[1:]])
        for each in nest.arrays.values()
    )
    statements = [
        (
            isl.Set(plain(nest.domain(each))),
            plain(nest.schedule(each)),
            sorted(plain(nest.access(each, access)) for access in each.reads),
            [plain(nest.access(each, access)) for access in each.writes],
            each.accumulates,
        )
        for each in nest.statements
    ]
    return [
        extents,
        statements,
        sorted(plain(each) for each in found),
        [plain(each.iterator) for each in nest.loops],
    ]


@pytest.mark.parametrize("name", NESTS)
def test_three_spellings_are_the_same_nest_with_the_loops_parallel_that_are(name: str, analyse: Analysed) -> None:
    analysed = [analyse(spelled(name, spelling)) for spelling in SPELLINGS]
    first, *others = (facts(*each) for each in analysed)
    assert all(other == first for other in others)
    for nest, found in analysed:
        parallel = [not carried_by(nest, found, loop) for loop in nest.loops]
        assert "".join(str(int(each)) for each in parallel) == NESTS[name].parallel


@pytest.mark.parametrize("name", NESTS)
def test_dependences_are_those_of_the_executed_loops(name: str, read: Read, analyse: Analysed) -> None:
    text = spelled(name, "vla")
    sizes = {size: 3 + place % 3 for place, size in enumerate(NESTS[name].sizes.split())}
    (function,) = read(text).values()
    assert_as_executed(execute(function, sizes), *analyse(text), sizes)


@pytest.mark.parametrize(
    ("name", "inner"), [("jacobi_2d", [2, 2]), ("fdtd_2d", [1, 2, 2, 2]), ("heat_3d", [3, 3])]
)
def test_stencils_have_a_sequential_loop_around_parallel_ones(
    name: str, inner: list[int], analyse: Analysed
) -> None:
    nest, found = analyse(spelled(name, "flat"))
    (outer,) = bands(nest, found)
    assert outer.coincident == (False,)
    counted = {nest.statement(each).combined(row) for each, rows in outer.rows.items() for row in rows}
    assert counted == {"t"}
    assert [each.coincident for each in outer.below] == [(True,) * count for count in inner]


def test_the_first_values_of_a_sum_are_a_launch_of_their_own(analyse: Analysed) -> None:
    pieces = list(pieces_of(bands(*analyse(spelled("mm", "vla")))))
    assert [each.statements for each in pieces] == [("S1",), ("S2",)]
    assert [each.band.coincident for each in pieces] == [(True, True), (True, True, False)]
