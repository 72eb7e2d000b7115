"""LLVM's types, parsed and spelled."""

from __future__ import annotations

import pytest

from coarsen.ir.types import (
    ArrayType,
    FloatType,
    IntegerType,
    PointerType,
    StructType,
    TargetType,
    VectorType,
    parse_type,
    quoted,
)


@pytest.mark.parametrize(
    "text",
    [
        "i1",
        "i64",
        "half",
        "double",
        "ptr",
        "ptr addrspace(3)",
        "<4 x float>",
        "[2 x [3 x <4 x i8>]]",
        "{ i32, ptr addrspace(1), [4 x float] }",
        "<{ i8, i32 }>",
        "{}",
        "<{}>",
        "void",
        "label",
        'target("spirv.Image", void, 1, 0, 0, 0, 0, 0, 0)',
        'target("spirv.Event")',
    ],
)
def test_spelling_survives(text: str) -> None:
    assert str(parse_type(text)) == text


def test_structure_of_types() -> None:
    expected = ArrayType(2, VectorType(4, FloatType("float")))
    assert parse_type("[2 x <4 x float>]") == expected
    assert parse_type("{ i32, ptr }") == StructType("", (IntegerType(32), PointerType(0)))
    assert parse_type('target("spirv.Sampler")') == TargetType('target("spirv.Sampler")')


def test_named_structures() -> None:
    cell = StructType("struct.cell", (IntegerType(32),))
    assert parse_type("%struct.cell", {"struct.cell": cell}) == cell
    assert parse_type("%opaque") == StructType("opaque", ())
    assert str(parse_type('%"a b"')) == '%"a b"'


def test_text_behind_the_type_is_left() -> None:
    assert parse_type("ptr addrspace(1) noundef %a") == PointerType(1)


def test_quotes_only_where_needed() -> None:
    assert [quoted(name) for name in ("a.b", "12", "a b", "1a")] == ["a.b", "12", '"a b"', '"1a"']


@pytest.mark.parametrize("text", ["", "?", "[4 y i32]", "<4 x"])
def test_no_type(text: str) -> None:
    with pytest.raises(ValueError, match=r"type|invalid literal"):
        parse_type(text)
