"""Sizes and offsets, against LLVM's own for SPIR's data layout."""

from __future__ import annotations

import llvmlite.binding as llvm
import pytest

from coarsen.ir.modules import assembly_module
from coarsen.ir.types import StructType, alignment_of, content_bytes, field_offset, parse_type, size_of

LAYOUT = "e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-G1"
TYPES = [
    *("i8", "i16", "i32", "i64", "half", "float", "double", "ptr addrspace(1)"),
    *("<2 x i8>", "<3 x i32>", "<3 x float>", "<4 x float>", "<16 x double>", "[5 x i16]", "[3 x <3 x i32>]"),
    *("{ i8, i32, i16 }", "<{ i8, i32, i16 }>", "{ i8, <3 x float>, i8 }", "{ i8, { i16, [3 x i8] }, double }"),
    *("[4 x { i64, i8 }]", "{}"),
]


@pytest.mark.parametrize("spelling", TYPES)
def test_sizes_and_offsets_are_those_of_llvm(spelling: str) -> None:
    type_ = parse_type(spelling)
    with assembly_module(f'target datalayout = "{LAYOUT}"\n@g = external global {spelling}\n') as module:
        data = llvm.create_target_data(LAYOUT)
        real = next(module.global_variables).global_value_type
        assert size_of(type_) == data.get_abi_size(real)
        assert alignment_of(type_) == data.get_abi_alignment(real)
        if isinstance(type_, StructType):
            offsets = [data.get_element_offset(real, i) for i in range(len(type_.elements))]
            assert [field_offset(type_, i) for i in range(len(type_.elements))] == offsets


def test_a_vector_of_three_is_accessed_without_its_gap() -> None:
    assert (content_bytes(parse_type("<3 x float>")), size_of(parse_type("<3 x float>"))) == (12, 16)


@pytest.mark.parametrize("spelling", ["void", "label", "metadata"])
def test_other_types_have_no_size(spelling: str) -> None:
    assert size_of(parse_type(spelling)) == content_bytes(parse_type(spelling)) == 0
