"""Arguments behind a kernel's own: what LLVM reads back, and what each back end makes of them."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from coarsen.analysis.legality import is_local_pointer
from coarsen.backend.opencl_c.writer import write_opencl_c
from coarsen.backend.ptx import write_ptx
from coarsen.backend.spirv import write_spirv
from coarsen.frontend.lower import lower
from coarsen.frontend.normal_form import renormalised
from coarsen.ir.graph.locations import read_module
from coarsen.ir.graph.printer import module_text
from coarsen.ir.kernel import Argument, Kernel
from coarsen.ir.metadata import node_items
from coarsen.transform.added_arguments import add_arguments, copy_of_argument, global_size_argument
from coarsen.transform.names import NameSupply

VECTORS = """
kernel void vectors(global const float *restrict in, local uint4 *tile, int global_size_x, global float *out)
{
    tile[get_local_id(0)] = (uint4)(global_size_x);
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = in[0] + tile[0].x;
}
"""
STRUCTURE = """
typedef struct { int first; float rest[2]; } pair_of;
kernel void structure(pair_of given, local pair_of *kept, global int *out)
{
    *kept = given;
    out[0] = kept->first;
}
"""
NOTHING = "kernel void nothing(void) {}"
SOURCES = (VECTORS, STRUCTURE, NOTHING)


def further_arguments(kernel: Kernel) -> Iterator[Argument]:
    names = NameSupply(kernel)
    yield global_size_argument(0, names)
    for argument in filter(is_local_pointer, kernel.arguments):
        yield from (copy_of_argument(argument, replica, names) for replica in (1, 2))


def extended(source: str, options: str = "") -> tuple[tuple[Argument, ...], Kernel]:
    """The arguments of a kernel and further ones, and the kernel that is read back with them."""
    kernel = lower(source, options=options)
    added = tuple(further_arguments(kernel))
    module = kernel.editable_graph()
    add_arguments(module, module.function(kernel.name), added)
    with renormalised(module_text(module)) as written:
        return (*kernel.arguments, *added), Kernel(kernel.name, read_module(str(written)))


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("options", ["", "-cl-kernel-arg-info"])
def test_they_are_read_back_as_they_were_written(source: str, options: str) -> None:
    arguments, read = extended(source, options)
    assert read.arguments == arguments
    assert len(read.arguments) > len(lower(source).arguments)


def test_their_types_are_those_of_the_arguments_that_they_copy() -> None:
    _, read = extended(VECTORS)
    names = [argument.name for argument in read.arguments]
    assert names == ["in", "tile", "global_size_x", "out", "global_size_x_", "tile_1", "tile_2"]
    assert read.arguments[5].type_name == read.arguments[1].type_name == "uint4*"
    assert read.arguments[5].address_space == 3 and read.arguments[4].address_space == 0


def test_their_names_are_recorded_where_the_others_are() -> None:
    _, read = extended(NOTHING, "-cl-kernel-arg-info")
    node = read.graph.function(read.name).attachment("kernel_arg_name")
    assert node and node_items(read.graph.metadata, node) == ['!"global_size_x"']


def test_llvm_ir_without_a_record_of_the_source_gets_none() -> None:
    assembly = (
        'target triple = "spir64-unknown-unknown"\ndefine spir_kernel void @plain(i32 %n) {\n  ret void\n}\n'
    )
    _, read = extended(assembly)
    assert not any(kind.startswith("kernel_arg") for kind, _ in read.graph.function(read.name).attachments)
    assert [str(argument.type) for argument in read.arguments] == ["i32", "i64"]


def test_no_arguments_change_nothing() -> None:
    kernel = lower(VECTORS)
    module = kernel.editable_graph()
    before = module_text(module)
    assert add_arguments(module, module.function(kernel.name), []) == []
    assert module_text(module) == before


def test_opencl_c_declares_them() -> None:
    text = write_opencl_c(extended(VECTORS)[1]).text
    head = re.sub(r"\s+", " ", text.partition("{")[0])
    assert head.strip().endswith("ulong global_size_x_, local uint4* tile_1, local uint4* tile_2)")
    assert "local pair_of* kept_2)" in re.sub(r"\s+", " ", write_opencl_c(extended(STRUCTURE)[1]).text)


def test_ptx_and_spirv_have_them() -> None:
    kernel = extended(VECTORS)[1]
    parameters = re.findall(r"^\s*\.param \.\w+.* vectors_param_\d", write_ptx(kernel, "sm_75"), re.MULTILINE)
    assert len(parameters) == len(kernel.arguments) == 7
    assert len(write_spirv(kernel)) > len(write_spirv(lower(VECTORS)))
