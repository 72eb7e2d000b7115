"""What the normal form promises, for every kernel of the corpus and for what each promise is about."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import networkx
import pytest

from coarsen.frontend.input_checks import check_target, parsed
from coarsen.frontend.lower import list_kernels, lower
from coarsen.ir.graph.details import Opcode
from coarsen.ir.graph.printer import module_text
from coarsen.ir.kernel import Kernel
from tests.frontend.corpus import FOLDER, launches

NAMES = sorted(launches())
PLAIN_NAME = re.compile(r"[A-Za-z_.][A-Za-z0-9_.]*")


@cache
def lowered(name: str) -> Kernel:
    launch = launches()[name]
    return lower(launch.path, name, launch.options)


def names_of(kernel: Kernel) -> list[str]:
    values = [i.name for i in kernel.instructions() if i.name]
    return [*values, *(argument.name for argument in kernel.arguments), *(block.name for block in kernel.blocks)]


def test_corpus_has_a_launch_of_every_kernel() -> None:
    kernels = {
        (path.name, name)
        for path in FOLDER.glob("*.cl")
        for name in list_kernels(path, "-cl-std=CL2.0" if "generic" in path.name else "")
    }
    assert kernels == {(launch.file, name) for name, launch in launches().items()}


@pytest.mark.parametrize("name", NAMES)
def test_every_value_has_a_plain_name_of_its_own(name: str) -> None:
    kernel = lowered(name)
    names = names_of(kernel)
    assert len(set(names)) == len(names)
    assert all(PLAIN_NAME.fullmatch(value) for value in names)
    assert not set(names) & set(kernel.structures)


@pytest.mark.parametrize("name", NAMES)
def test_only_builtins_are_called(name: str) -> None:
    callees = {i.callee for i in lowered(name).instructions() if i.opcode == "call"}
    assert all(callee.startswith(("_Z", "llvm.", "__translate_sampler")) for callee in callees)
    assert not any(part in callee for callee in callees for part in ("shaped", "sum_of", "add_to"))


@pytest.mark.parametrize("name", NAMES)
def test_one_exit_and_no_switch(name: str) -> None:
    terminators = [block.terminator.opcode for block in lowered(name).blocks]
    assert terminators.count(Opcode.RET) == 1
    assert set(terminators) <= {"ret", "br"}


@pytest.mark.parametrize("name", NAMES)
def test_loops_are_simple_and_closed(name: str) -> None:
    kernel = lowered(name)
    graph = networkx.DiGraph()
    graph.add_nodes_from(block.name for block in kernel.blocks)
    graph.add_edges_from((block.name, target) for block in kernel.blocks for target in block.terminator.targets)
    dominators = networkx.immediate_dominators(graph, kernel.blocks[0].name)
    for header, latches in back_edges(graph, dominators).items():
        body = loop_body(graph, header, latches)
        assert len(latches) == 1
        assert len(set(graph.predecessors(header)) - body) == 1
        assert_closed(kernel, body)


def back_edges(graph: networkx.DiGraph, dominators: dict[str, str]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for source, target in graph.edges:
        above = source
        while above != target and dominators.get(above, above) != above:
            above = dominators[above]
        if above == target:
            found.setdefault(target, set()).add(source)
    return found


def loop_body(graph: networkx.DiGraph, header: str, latches: set[str]) -> set[str]:
    body, pending = {header}, list(latches)
    while pending:
        block = pending.pop()
        if block not in body:
            body.add(block)
            pending.extend(graph.predecessors(block))
    return body


def assert_closed(kernel: Kernel, body: set[str]) -> None:
    """Values of a loop are used outside of it only by phis (LCSSA)."""
    for block in kernel.blocks:
        if block.name in body:
            continue
        for instruction in block.instructions:
            if instruction.opcode != "phi":
                used = {operand.text for operand in instruction.operands if operand.is_local}
                assert not {value for value in used if kernel.block_of.get(value) in body}


def test_scalars_live_in_values() -> None:
    source = (
        "kernel void k(global int *a, int n) { int sum = 0; for (int i = 0; i < n; ++i) sum += a[i]; a[0] = sum; }"
    )
    kernel = lower(source)
    assert not any(i.opcode == "alloca" for i in kernel.instructions())
    assert "sum" in {i.name for i in kernel.instructions() if i.opcode == "phi"}


def test_names_come_from_the_source() -> None:
    body = "int column = get_global_id(0); int twice = column * 2; a[column] = twice;"
    source = f"kernel void k(global int *a) {{ {body} }}"
    assert {"column", "twice"} <= {i.name for i in lower(source).instructions()}


def test_noinline_helpers_are_inlined() -> None:
    source = (
        "__attribute__((noinline)) int f(int x) { return x * 3; } kernel void k(global int *a) { a[0] = f(a[1]); }"
    )
    assert not any(i.opcode == "call" for i in lower(source).instructions())


def test_kernel_called_by_a_kernel_has_its_own_body() -> None:
    source = (
        "kernel void inner(global int *a) { a[get_global_id(0)] += 1; }"
        "kernel void outer(global int *a) { inner(a); a[get_global_id(0)] *= 2; }"
    )
    for name in ("inner", "outer"):
        kernel = lower(source, name)
        assert kernel.name == name
        assert [a.name for a in kernel.arguments] == ["a"]
        assert "__clang_ocl_kern_imp_" not in module_text(kernel.graph)


def test_structure_and_value_of_the_same_name() -> None:
    assembly = """
target triple = "spir64-unknown-unknown"
%cell = type { i32, float }
define spir_kernel void @k(ptr addrspace(1) %a) {
  %cell = getelementptr %cell, ptr addrspace(1) %a, i64 1, i32 1
  store float 1.000000e+00, ptr addrspace(1) %cell
  ret void
}
"""
    kernel = lower(assembly)
    assert "cell" in kernel.structures
    assert "cell" not in names_of(kernel)
    with parsed(module_text(kernel.graph)) as module:
        check_target(module.triple)


def test_enqueued_blocks_are_not_kernels() -> None:
    source = """
kernel void k(global int *a) {
    enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(1), ^{ a[0] = 1; });
}
"""
    assert list_kernels(source, "-cl-std=CL2.0") == ["k"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1"])
def test_encodings_and_line_ends(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "kernel.cl"
    path.write_bytes("// größer\r\nkernel void k(global int *a) {\r\n  a[0] = 1;\r\n}\r\n".encode(encoding))
    assert lower(path).name == "k"
