"""From a kernel to its graph and back."""

from __future__ import annotations

from coarsen.frontend.lower import lower
from coarsen.ir.graph.bridge import thaw
from coarsen.ir.graph.printer import module_text as graph_text
from coarsen.ir.graph.view import instruction_view
from coarsen.ir.modules import assembly_module
from coarsen.ir.printer import module_text

SOURCE = """
constant float table[2] = {1.0f, 2.0f};
kernel __attribute__((reqd_work_group_size(4, 1, 1))) void k(global float *data, local float *tile)
{
    tile[get_local_id(0)] = native_sin(data[get_global_id(0)]);
    barrier(CLK_LOCAL_MEM_FENCE);
    data[get_global_id(0)] = tile[3 - get_local_id(0)] + table[get_local_id(0) & 1];
}
"""


def printed_by_llvm(text: str) -> str:
    with assembly_module(text) as module:
        return str(module)


def test_the_graph_of_a_kernel_is_the_same_for_llvm() -> None:
    kernel = lower(SOURCE)
    assert printed_by_llvm(graph_text(thaw(kernel))) == printed_by_llvm(module_text(kernel))


def test_an_instruction_of_the_graph_is_known_as_the_kernel_s_own() -> None:
    kernel = lower(SOURCE)
    for block, own in zip(thaw(kernel).function("k").blocks, kernel.blocks, strict=True):
        for built, known in zip(block.instructions, own.instructions, strict=True):
            form = instruction_view(built)
            assert (form.name, form.opcode, form.text, form.callee) == (
                *(known.name, known.opcode, known.text, known.callee),
            )
            assert [(value.kind, value.text) for value in form.arguments] == [
                (value.kind, value.text) for value in known.arguments
            ]
