"""The LLVM IR writer: the same kernel, as clang would have printed it."""

from __future__ import annotations

import re

import pytest

from coarsen.backend.llvm_module import write_llvm_ir
from coarsen.frontend.lower import lower
from coarsen.variant.coarsening import Coarsening
from tests.coarsened_kernel import coarsen_kernel
from tests.frontend.corpus import launches


@pytest.mark.parametrize("name", sorted(launches()))
def test_can_be_lowered_again(name: str) -> None:
    launch = launches()[name]
    kernel = lower(launch.path, name, launch.options)
    again = lower(write_llvm_ir(kernel))
    assert again.name == name
    assert again.arguments == kernel.arguments
    assert again.globals == kernel.globals
    assert again.required_work_group_size == kernel.required_work_group_size
    assert write_llvm_ir(again) == write_llvm_ir(lower(write_llvm_ir(again)))


def test_nothing_unused_is_left() -> None:
    source = """
int helper(int x) { return x + 1; }
constant int unused[2] = {1, 2};
kernel void other(global float *f) { f[0] = sin(f[1]); }
kernel void k(global int *a) { a[get_global_id(0)] = helper(a[0]); }
"""
    text = write_llvm_ir(lower(source, "k"))
    assert not re.search(r"!dbg|!DI|#dbg_|Debug Info Version|Dwarf Version", text)
    assert not re.search(r"other|helper|unused|_Z3sinf", text)
    assert re.findall(r"^declare .*@(\w+)", text, re.MULTILINE) == ["_Z13get_global_idj"]
    groups = set(re.findall(r"^attributes (#\d+)", text, re.MULTILINE))
    assert groups == set(re.findall(r"#\d+", text))
    nodes = set(re.findall(r"^(!\d+) =", text, re.MULTILINE))
    assert nodes == set(re.findall(r"!\d+", text))


def test_demanded_size_follows_the_factor() -> None:
    launch = launches()["volume_sum"]
    coarsened = coarsen_kernel(lower(launch.path), [Coarsening(2, 0), Coarsening(4, 2)])
    assert lower(write_llvm_ir(coarsened)).required_work_group_size == (2, 4, 1)
