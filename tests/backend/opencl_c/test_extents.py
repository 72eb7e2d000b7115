"""Structures are laid out in C as LLVM lays them out, and each one only once."""

from __future__ import annotations

import llvmlite.binding as llvm
import pytest

from coarsen.backend.opencl_c.c.types import Record, alignment_of, from_llvm, size_of
from coarsen.frontend.normal_form import _SPIR_LAYOUT
from coarsen.ir.modules import assembly_module
from coarsen.ir.types import StructType, field_offset, parse_type

STRUCTURES = [
    *("{ i8, i32, i16 }", "<{ i8, i32, i16 }>", "{ i8, <3 x float>, i8 }", "{ i8, { i16, [3 x i8] }, double }"),
    *("{ i64, [0 x i32], i8 }", "{ [0 x i32], i8 }", "<{ i8, { i8, i64 } }>", "{ i8, <{ i64, i8 }>, i16 }", "{}"),
]
DEPTH = 60


@pytest.mark.parametrize("spelling", STRUCTURES)
def test_extents_are_those_of_llvm(spelling: str) -> None:
    layout = parse_type(spelling)
    assert isinstance(layout, StructType)
    record = from_llvm(layout)
    with assembly_module(f"@v = external global {spelling}") as module:
        in_llvm, data = module.get_global_variable("v").global_value_type, llvm.create_target_data(_SPIR_LAYOUT)
        assert size_of(record) == data.get_abi_size(in_llvm)
        assert alignment_of(record) == data.get_abi_alignment(in_llvm)
        for index in range(len(layout.elements)):
            assert field_offset(layout, index) == data.get_element_offset(in_llvm, index)


def test_a_nested_structure_is_laid_out_once() -> None:
    # Two of the structure before in each: laid out, or hashed, anew at each place it would never end.
    layout = parse_type("{ i64, i32 }")
    for depth in range(DEPTH):
        layout = StructType(f"struct.s{depth}", (layout, layout))
    assert isinstance(from_llvm(layout), Record)
    assert size_of(from_llvm(layout)) == 16 << DEPTH


def test_structures_of_one_name_that_differ_are_two() -> None:
    first, second = StructType("s", (parse_type("i32"),)), StructType("s", (parse_type("i64"),))
    assert len({first, second, StructType("s", (parse_type("i32"),))}) == 2
