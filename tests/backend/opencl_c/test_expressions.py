"""Expressions as text: parentheses, signs, places, shortened assignments, broken lines."""

from __future__ import annotations

import pytest

from coarsen.backend.opencl_c.c.build import (
    address_of,
    both,
    call,
    comparison,
    dereference,
    literal_int,
    logical_and,
    logical_or,
    negation,
)
from coarsen.backend.opencl_c.c.tree import (
    Binary,
    Cast,
    Conditional,
    Expression,
    Index,
    Integer,
    Member,
    Name,
    Real,
    Retyped,
    Unary,
    VectorLiteral,
    names_in,
)
from coarsen.backend.opencl_c.c.types import BOOL, FLOAT, INT, LONG, Pointer, Record, Vector
from coarsen.backend.opencl_c.printing.expressions import assignment, wrapped, written
from coarsen.backend.opencl_c.writer import write_opencl_c
from coarsen.frontend.lower import lower
from coarsen.ir.types import AddressSpace, StructType

A, B, C = (Name(text, INT) for text in "abc")
P = Name("p", Pointer(INT, AddressSpace.GLOBAL))
S = Name("s", Pointer(Record("part", StructType("struct.part", ())), AddressSpace.GLOBAL))


def of(left: Expression, operator: str, right: Expression) -> Binary:
    return Binary(left, operator, right, INT)


def is_less(left: Expression, right: Expression) -> Binary:
    return Binary(left, "<", right, BOOL, has_opposite=True)


WRITTEN = [
    (of(of(A, "+", B), "*", C), "(a + b) * c"),
    (of(A, "+", of(B, "*", C)), "a + b * c"),
    (of(of(A, "-", B), "-", C), "a - b - c"),
    (of(A, "-", of(B, "-", C)), "a - (b - c)"),
    (of(of(A, "*", B), "<<", C), "(a * b) << c"),
    (of(of(A, "&", B), "&", C), "(a & b) & c"),
    (comparison(of(A, "+", B), "<", C), "a + b < c"),
    (comparison(of(A, "&", B), "==", C), "(a & b) == c"),
    (both(both(is_less(A, B), is_less(B, C)), is_less(A, C)), "(a < b) & (b < c) & (a < c)"),
    (logical_or(logical_and(is_less(A, B), is_less(B, C)), is_less(A, C)), "(a < b && b < c) || a < c"),
    (Unary("-", Unary("-", A, INT), INT), "- -a"),
    (Unary("-", Integer(-1, INT), INT), "- -1"),
    (Integer(-(2**31), INT), "(-2147483647 - 1)"),
    (Integer(-(2**63), LONG), "(-9223372036854775807L - 1)"),
    (Cast(of(A, "+", B), FLOAT), "(float)(a + b)"),
    (Conditional(is_less(A, B), A, Conditional(is_less(B, C), B, C, INT), INT), "a < b ? a : b < c ? b : c"),
    (Index(P, of(A, "+", B), INT), "p[a + b]"),
    (Index(address_of(A, Pointer(INT, AddressSpace.PRIVATE)), B, INT), "(&a)[b]"),
    (address_of(dereference(P), Pointer(INT, AddressSpace.GLOBAL)), "p"),
    (Member(dereference(S), "x", INT), "s->x"),
    (Member(VectorLiteral((A, B), Vector(INT, 2)), "yx", Vector(INT, 2)), "((int2)(a, b)).yx"),
    (of(Retyped(is_less(A, B), INT), "+", C), "(a < b) + c"),
]


@pytest.mark.parametrize(("expression", "text"), WRITTEN, ids=[text for _, text in WRITTEN])
def test_text(expression: Expression, text: str) -> None:
    assert written(expression) == text


NEGATED = [
    (is_less(A, B), "a >= b"),
    (comparison(Name("x", FLOAT), "<", Name("y", FLOAT)), "!(x < y)"),
    (logical_and(is_less(A, B), is_less(B, C)), "a >= b || b >= c"),
    (both(is_less(A, B), Name("known", BOOL)), "!((a < b) & known)"),
]


@pytest.mark.parametrize(("condition", "text"), NEGATED, ids=[text for _, text in NEGATED])
def test_opposites(condition: Expression, text: str) -> None:
    assert written(negation(condition)) == text


def test_the_opposite_of_an_opposite_is_the_condition() -> None:
    for condition in (both(is_less(A, B), is_less(B, C)), Name("known", BOOL), *(one for one, _ in NEGATED)):
        assert negation(negation(condition)) == condition


ASSIGNED = [
    (of(A, "+", Integer(1, INT)), "++a"),
    (of(A, "-", of(B, "+", C)), "a -= b + c"),
    (of(B, "*", A), "a *= b"),
    (of(B, "-", A), "a = b - a"),
    (of(of(A, "+", B), "+", C), "a = a + b + c"),
    (Cast(Real("1.0f", FLOAT), INT), "a = 1.0f"),
]


@pytest.mark.parametrize(("value", "text"), ASSIGNED, ids=[text for _, text in ASSIGNED])
def test_assignments(value: Expression, text: str) -> None:
    assert "".join(assignment(A, value)) == text


def test_long_lines_end_at_outer_operators_and_commas() -> None:
    long = of(call("first", [A] * 12, INT), "+", call("second", [B] * 12, INT))
    line = ["    ", *assignment(Index(P, A, INT), of(long, "-", call("third", [C] * 12, INT))), ";"]
    assert [len(part) <= 110 for part in wrapped(line)] == [True, True]
    assert list(wrapped(line))[1] == "        - third(c, c, c, c, c, c, c, c, c, c, c, c);"


def test_names_are_variables_not_functions_nor_fields() -> None:
    expression = of(call("max", [A, Member(dereference(S), "x", INT)], INT), "+", literal_int(2))
    assert names_in(expression) == {"a", "s"}


@pytest.mark.parametrize("name", ["aliasing_int", "aliasing_double"])
def test_an_argument_named_like_a_type_of_the_writer(name: str) -> None:
    source = f"kernel void k(global int* {name}) {{ {name}[get_global_id(0)] += 1; }}"
    assert write_opencl_c(lower(source)).text.startswith(f"kernel void k(global int* {name})\n{{\n")
