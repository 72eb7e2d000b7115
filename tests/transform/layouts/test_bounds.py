"""Bounds of indices hold for all numbers of a few bits; what they say of addresses need not be assumed."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from coarsen.frontend.lower import lower
from coarsen.ir.graph.details import Opcode
from coarsen.pipeline import laid_out
from coarsen.transform.layouts.bounds import _RULES, Interval
from coarsen.variant.data_layout import DEEP_SOA
from coarsen.variant.data_plan import ArrayPlan

WIDTH = 4
NUMBERS = range(-(1 << (WIDTH - 1)), 1 << (WIDTH - 1))
INTERVALS = [Interval(least, greatest) for least in NUMBERS for greatest in NUMBERS if least <= greatest]
ALL = 1 << WIDTH


def signed(value: int, width: int = WIDTH) -> int:
    half = 1 << (width - 1)
    return (value + half) % (2 * half) - half


def truncated(value: int, divisor: int) -> int:
    quotient = abs(value) // abs(divisor)
    return quotient if (value < 0) == (divisor < 0) else -quotient


# What LLVM computes of two numbers; None where it is nothing.
COMPUTED: Mapping[Opcode, Callable[[int, int], int | None]] = {
    Opcode.ADD: lambda x, y: x + y,
    Opcode.SUB: lambda x, y: x - y,
    Opcode.MUL: lambda x, y: x * y,
    Opcode.AND: lambda x, y: x & y,
    Opcode.UREM: lambda x, y: x % ALL % (y % ALL) if y else None,
    Opcode.SREM: lambda x, y: x - y * truncated(x, y) if y else None,
    Opcode.UDIV: lambda x, y: x % ALL // (y % ALL) if y else None,
    Opcode.SDIV: lambda x, y: truncated(x, y) if y else None,
    Opcode.SHL: lambda x, y: x << y if 0 <= y < WIDTH else None,
    Opcode.LSHR: lambda x, y: x % ALL >> y if 0 <= y < WIDTH else None,
}
CONVERTED: Mapping[Opcode, tuple[int, Callable[[int], int]]] = {
    Opcode.ZEXT: (7, lambda x: x % ALL),
    Opcode.SEXT: (7, lambda x: x),
    Opcode.TRUNC: (2, lambda x: signed(x, 2)),
}


def holds(between: Interval | None, value: int) -> bool:
    return between is None or between.least <= value <= between.greatest


@pytest.mark.parametrize("opcode", COMPUTED)
def test_operations(opcode: Opcode) -> None:
    rule, compute = _RULES[opcode], COMPUTED[opcode]
    results = {(x, y): compute(x, y) for x in NUMBERS for y in NUMBERS}
    for left in INTERVALS[::3]:
        for right in INTERVALS[::2]:
            found = rule([left, right], [WIDTH, WIDTH])
            between = None if found is None else found.within(WIDTH)
            values = (
                results[x, y]
                for x in range(left.least, left.greatest + 1)
                for y in range(right.least, right.greatest + 1)
            )
            assert all(holds(between, signed(value)) for value in values if value is not None), (left, right)


@pytest.mark.parametrize("opcode", CONVERTED)
def test_conversions(opcode: Opcode) -> None:
    width, convert = CONVERTED[opcode]
    for between in INTERVALS:
        found = _RULES[opcode]([between], [WIDTH])
        assert found is not None
        kept = found.within(width)
        assert all(holds(kept, convert(x)) for x in range(between.least, between.greatest + 1)), between


def test_every_rule_is_tested() -> None:
    assert {*COMPUTED, *CONVERTED, Opcode.SELECT} == set(_RULES)


RECORD = "typedef struct { int ids[3]; float x; } R;\n"


@pytest.mark.parametrize(
    ("index", "is_assumed"),
    [("all[i].ids[i % 3]", True), ("(all[i].ids + (i & 1))[(uint)i % 2]", False), ("all[i].ids[2]", False)],
)
def test_what_is_known_is_not_assumed(index: str, is_assumed: bool) -> None:
    source = f"{RECORD}kernel void k(global R *all) {{ int i = get_global_id(0); {index} = 1; }}"
    laid = laid_out(lower(source, "k"), [ArrayPlan("all", DEEP_SOA, shape=(100,))])
    assert bool(laid.assumptions) == is_assumed


def test_ids_in_a_group_of_known_size_are_bounded() -> None:
    source = f"""{RECORD}kernel __attribute__((reqd_work_group_size(2, 1, 1))) void k(global R *all)
    {{ (all[get_global_id(0)].ids + 1)[get_local_id(0)] = 1; }}"""
    assert not laid_out(lower(source, "k"), [ArrayPlan("all", DEEP_SOA, shape=(100,))]).assumptions
