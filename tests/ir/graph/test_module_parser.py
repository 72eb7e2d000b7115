"""What few modules have besides their instructions: to the graph and back as LLVM prints it."""

from __future__ import annotations

import pytest

from coarsen.ir.graph.module_parser import parse_module
from coarsen.ir.graph.printer import module_text
from coarsen.ir.modules import assembly_module

KERNEL = "define spir_kernel void @k({arguments}){after} {{\nentry:\n  ret void\n}}\n"
MODULES = {
    "comdat": "$k = comdat any\n" + KERNEL.format(arguments="i32 %n", after=" comdat"),
    "assembler": 'module asm "first"\nmodule asm "second"\n' + KERNEL.format(arguments="", after=""),
    "quoted attributes": KERNEL.format(
        arguments='ptr addrspace(1) noundef "key"="value, %x" align 4 "alone" %p', after=' section "text" align 16'
    ),
    "attributes with arguments": KERNEL.format(
        arguments="ptr initializes((0, 4)) %p, i32 range(i32 0, 10) %n", after=""
    ),
    "alias": "@t = constant [2 x i32] zeroinitializer\n@u = alias [2 x i32], ptr @t\n"
    + KERNEL.format(arguments="", after=""),
}


def printed_by_llvm(assembly: str) -> str:
    with assembly_module(assembly) as module:
        return str(module)


@pytest.mark.parametrize("assembly", MODULES.values(), ids=MODULES)
def test_it_is_printed_as_it_was(assembly: str) -> None:
    expected = printed_by_llvm(assembly)
    parsed = parse_module(expected)
    assert printed_by_llvm(module_text(parsed)) == expected
