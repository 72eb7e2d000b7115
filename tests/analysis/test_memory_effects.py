"""What instructions do to memory: one judgement, and the questions that others ask of it."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

import pytest

from coarsen.analysis.divergence import Divergence
from coarsen.analysis.memory_accesses import Aliasing, Place, PrivateMemory, memory_access
from coarsen.analysis.memory_effects import EffectsOfKernel
from coarsen.frontend.lower import lower
from coarsen.ir.graph.module import attributes_of_callees
from coarsen.ir.graph.module_parser import parse_module
from coarsen.ir.graph.operands import Operand
from coarsen.ir.kernel import Kernel
from coarsen.ir.types import AddressSpace

PARAMETERS = "global float *p, global float *q, local float *tile, int n"


def kernel_of(statements: str) -> Kernel:
    """A kernel of some statements; those of OpenCL C 1.2 have no generic pointers in their builtins."""
    is_newer = "__c11" in statements or "atomic_" in statements
    parameters = f"{PARAMETERS}, volatile global atomic_int *a" if is_newer else PARAMETERS
    return lower(f"kernel void k({parameters}) {{ {statements} }}", options="-cl-std=CL2.0" if is_newer else "")


def effects_of(statements: str) -> tuple[list[str], list[str], str]:
    """The names of what is read and written, and R, W, O, C for the other effects that are true."""
    kernel = kernel_of(statements)
    effects = EffectsOfKernel.of_kernel(kernel).of_all(kernel.instructions())
    others = (effects.reads_anything, effects.writes_anything, effects.orders, effects.is_counted)
    aliasing = Aliasing(kernel)

    def names(pointers: Iterable[Operand]) -> list[str]:
        roots = (aliasing.place(pointer).root for pointer in pointers)
        return sorted({"?" if root is None else root.text for root in roots})

    return names(effects.reads), names(effects.writes), "".join(itertools.compress("RWOC", others))


@pytest.mark.parametrize(
    ("statements", "expected"),
    [
        ("q[n] = p[n];", (["p"], ["q"], "")),
        ("q[0] = *(volatile global float *)p;", (["p"], ["q"], "OC")),
        ("*(volatile global float *)q = 1;", ([], ["q"], "OC")),
        ("vstore4(vload4(n, p), n, q);", (["p"], ["q"], "C")),
        ("vstore_half(vload_half(n, (global half *)p), n, (global half *)q);", (["p"], ["q"], "C")),
        ("q[0] = fract(p[0], q + 1);", (["p"], ["q"], "")),
        ("q[0] = exp(p[0]);", (["p"], ["q"], "")),
        ("barrier(CLK_LOCAL_MEM_FENCE);", ([], [], "RWO")),
        ("mem_fence(CLK_LOCAL_MEM_FENCE);", ([], [], "RWO")),
        ("atomic_work_item_fence(2, memory_order_acq_rel, memory_scope_device);", ([], [], "RWO")),
        ("prefetch(p, 4);", (["p"], [], "")),
        ('printf("%d", n);', ([".str"], [], "C")),
        ("atomic_inc((global int *)p);", (["p"], ["p"], "OC")),
        ("atomic_store(a, n);", ([], ["?"], "OC")),
        ("async_work_group_copy(tile, p, 16, 0);", (["p"], ["tile"], "O")),
    ],
)
def test_effects(statements: str, expected: tuple[list[str], list[str], str]) -> None:
    found = effects_of(statements)
    assert found == expected


def test_a_uniform_copy_of_a_volatile_structure_is_each_work_item_s_own() -> None:
    """As a uniform volatile load or store is."""
    kernel = lower(
        "struct S { int a[8]; };"
        "kernel void k(global struct S *out, volatile global struct S *in) { out[0] = *in; }"
    )
    [copy] = [i for i in kernel.instructions() if i.opcode == "call"]
    assert copy.callee.startswith("llvm.memcpy")
    assert Divergence(kernel, 0).is_divergent(copy)


def test_what_is_only_loaded_from_under_a_branch_is_not_written_there() -> None:
    """`vload4` reads, as a load does: the array stays the same for all replicas."""
    kernel = kernel_of(
        "float own[8]; for (int i = 0; i < 8; ++i) own[i] = p[i * n];"
        "if (p[get_global_id(0)] > 0) vstore4(vload4(n & 1, own), get_global_id(0), q);"
    )
    [array] = [i.name for i in kernel.instructions() if i.opcode == "alloca"]
    assert array not in Divergence(kernel, 0).values


IN_IR = """
target triple = "spir64-unknown-unknown"
declare spir_func void @"_Z4keepPi"(ptr) {attributes}
declare spir_func i64 @_Z13get_global_idj(i32)
define spir_kernel void @k(ptr addrspace(1) %p) {{
  %own = alloca [4 x i32]
  %id = call spir_func i64 @_Z13get_global_idj(i32 0)
  store i32 1, ptr %own
  call spir_func void @_Z4keepPi(ptr %own) #1
  %value = load i32, ptr %own
  %place = getelementptr i32, ptr addrspace(1) %p, i64 %id
  store i32 %value, ptr addrspace(1) %place
  ret void
}}
attributes #0 = {{ nounwind memory(read, argmem: readwrite) }}
attributes #1 = {{ nounwind }}
"""


@pytest.mark.parametrize("attributes", ["#0", "nounwind", "memory(argmem: readwrite) #1", ""])
def test_a_function_of_which_nothing_is_known_may_keep_and_write_what_it_is_given(attributes: str) -> None:
    kernel = lower(IN_IR.format(attributes=attributes))
    private = PrivateMemory(kernel, (), EffectsOfKernel.of_kernel(kernel))
    [call] = [i for i in kernel.instructions() if i.callee == "_Z4keepPi"]
    assert private.escaping == set(private.allocas)
    assert private.written_by(call) == set(private.allocas)
    assert Aliasing(kernel).conflicting(call, [(Place(AddressSpace.CONSTANT, None), True)])


def test_attributes_are_those_of_the_declaration_and_of_its_group() -> None:
    text = (
        'declare i32 @"a b"(i32)\n'
        "declare spir_func i64 @one(i32, ptr captures(none)) local_unnamed_addr #3\n"
        "declare i64 @two(i32) nounwind memory(none)\n"
        'attributes #3 = { nounwind memory(read) "frame-pointer"="all" }\n'
    )
    found = attributes_of_callees(parse_module(text))
    assert found["one"] == 'local_unnamed_addr nounwind memory(read) "frame-pointer"="all"'
    assert found["two"] == "nounwind memory(none)"


def test_a_fence_of_llvm_is_not_repeated_as_one_of_opencl_is_not() -> None:
    kernel = kernel_of("p[0] = 1; __c11_atomic_thread_fence(5); q[0] = 2;")
    effects = EffectsOfKernel.of_kernel(kernel)
    [fence] = [i for i in kernel.instructions() if i.opcode == "fence"]
    assert effects.has_effect(fence)
    assert not effects.of(fence).is_counted


def test_flags_are_read_and_written_as_their_functions_say() -> None:
    kernel = lower(
        "kernel void k(volatile global atomic_flag *f, global int *p)"
        " { p[0] = atomic_flag_test_and_set(f); atomic_flag_clear(f); }",
        options="-cl-std=CL2.0",
    )
    found = [memory_access(i) for i in kernel.instructions() if i.opcode == "call"]
    assert [(access.is_load, access.is_store) for access in found if access] == [(True, True), (False, True)]
