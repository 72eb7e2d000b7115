"""What an instruction's text says beyond opcode and operands."""

from __future__ import annotations

from coarsen.frontend.lower import lower
from coarsen.ir.graph import instruction
from coarsen.ir.graph.instruction import Instruction
from coarsen.ir.types import ArrayType, IntegerType

ASSEMBLY = """
declare float @llvm.fma.f32(float, float, float)
define spir_kernel void @k(ptr addrspace(1) %a, i32 %n, float %x, <4 x i32> %v) {
  %add = add nsw i32 %n, 3
  %call1 = call nnan afn float @llvm.fma.f32(float %x, float %x, float %x)
  %icmp = icmp samesign slt i32 %add, 7
  %zero = uitofp i1 %icmp to float
  %fmul = fmul fast float %call1, %zero
  %alloca = alloca [4 x i32], align 16
  %getelementptr = getelementptr inbounds nuw [4 x i32], ptr %alloca, i64 0, i32 %n
  store volatile i32 %add, ptr %getelementptr, align 8
  %atomicrmw = atomicrmw volatile umax ptr addrspace(1) %a, i32 %add syncscope("device") monotonic
  %pair = cmpxchg ptr addrspace(1) %a, i32 1, i32 2 seq_cst monotonic
  %extractvalue = extractvalue { i32, i1 } %pair, 0
  %shufflevector = shufflevector <4 x i32> %v, <4 x i32> poison, <2 x i32> <i32 3, i32 poison>
  store <2 x i32> %shufflevector, ptr addrspace(1) %a
  store float %fmul, ptr addrspace(1) %a
  store i32 %extractvalue, ptr addrspace(1) %a
  %old = load atomic i32, ptr addrspace(1) %a acquire, align 4
  ret void
}
"""


def instruction_of(name: str) -> Instruction:
    return lower(ASSEMBLY).definition[name]


def stores() -> list[Instruction]:
    return [i for i in lower(ASSEMBLY).instructions() if i.opcode == "store"]


def test_flags_where_the_name_holds_the_opcode() -> None:
    assert set(instruction_of("add").flags) == {"nsw"}
    assert set(instruction_of("fmul").flags) == {"fast"}
    assert set(instruction_of("call1").flags) == {"nnan", "afn"}
    assert set(instruction_of("getelementptr").flags) == {"inbounds", "nuw"}
    assert instruction_of("pair").flags == ()


def test_predicate() -> None:
    assert instruction.predicate(instruction_of("icmp")) == "slt"


def test_types_in_the_text() -> None:
    array = ArrayType(4, IntegerType(32))
    assert instruction.source_element_type(instruction_of("getelementptr")) == array
    assert instruction.source_element_type(instruction_of("alloca")) == array


def test_alignment() -> None:
    assert instruction.alignment(instruction_of("alloca")) == 16
    assert instruction.alignment(stores()[0]) == 8
    assert instruction.alignment(instruction_of("add")) == 1


def test_volatile_and_atomic() -> None:
    assert stores()[0].is_volatile
    assert not stores()[1].is_volatile
    assert instruction_of("atomicrmw").is_volatile
    assert [instruction_of(name).is_atomic for name in ("atomicrmw", "pair", "old")] == [True] * 3
    assert not stores()[0].is_atomic


def test_atomic_operation() -> None:
    assert instruction.atomic_operation(instruction_of("atomicrmw")) == "umax"


def test_aggregate_indices() -> None:
    assert instruction.aggregate_indices(instruction_of("extractvalue")) == (0,)


def test_shuffle_mask() -> None:
    assert instruction.shuffle_mask(instruction_of("shufflevector")) == (3, None)


def test_shuffle_mask_of_zeros() -> None:
    source = "kernel void k(global float4 *a, float x) { a[0] = (float4)(x); }"
    (shuffle,) = [i for i in lower(source).instructions() if i.opcode == "shufflevector"]
    assert instruction.shuffle_mask(shuffle) == (0, 0, 0, 0)
