"""Reading kernels of every kind, and that what is printed back is the same module."""

from __future__ import annotations

import re

import pytest

from coarsen.errors import SourcePosition
from coarsen.frontend.input_checks import parsed
from coarsen.frontend.lower import lower
from coarsen.ir.graph.locations import read_module
from coarsen.ir.graph.operands import ValueKind
from coarsen.ir.graph.printer import instruction_text, module_text
from coarsen.ir.kernel import Kernel
from coarsen.ir.metadata import Metadata
from coarsen.ir.types import AddressSpace, ArrayType, FloatType, IntegerType, PointerType, TargetType
from tests.frontend.corpus import launches

# Constructs that the corpus has not got, by a word for what they are: options, and the body of `kernel void k(…)`.
PARAMETERS = "global int *a, global float *f, local int *l, int n"
CONSTRUCTS = {
    "printf": ("", 'printf("%d %s\\n", n, "text");'),
    "memory copies": ("", "struct S s = ((global struct S *)a)[n]; *(local struct S *)l = s; f[0] = s.v[n];"),
    "memory filled": ("", "int b[40] = {0}; b[n] = 3; a[0] = b[n + 1];"),
    "pointers compared": ("", "global int *p = n > 3 ? a : 0; if (p) a[1] = *p; a[2] = p == a + 3;"),
    "pointers as integers": ("", "ulong x = (ulong)a; *(global int *)(x + 8) = (int)(x & 63);"),
    "volatile": ("", "volatile local int *p = l; *p = 3; a[0] = *p; volatile int q = n; a[1] = q;"),
    "vectors built": ("", "float4 v = (float4)(f[0], f[1], (float2)(n)); f[2] = v.wzyx.s1; v.xz += 1;"
                      "vstore4(v, 1, f);"),
    "booleans": ("", "bool b[4]; for (int i = 0; i < 4; ++i) b[i] = a[i] > n; a[0] = b[n & 3] && n > 3;"),
    "goto": ("", "int j = 0; again: j++; a[j] = n; if (j < n) goto again;"),
    "switch": ("", "switch (n) { case 1: a[0] = 1; case 5: a[1] = 2; break; default: a[3] = 4; }"),
    "intrinsics": ("", "a[0] = abs_diff(n, 3) + __builtin_clz(n) + __builtin_elementwise_add_sat(n, a[1]);"),
    "doubles": ("", "f[0] = (float)((double)f[1] * 0.1 + sqrt((double)f[2]));"),
    "halves": ("", "vstore_half(f[0], n, (global half *)a); f[1] = vload_half(n, (global half *)a);"),
    "unions": ("", "union { int i; float f; uchar c[4]; } u; u.f = f[0]; u.c[n] = 3; a[0] = u.i;"),
    "async copies": ("", "event_t e[2]; e[0] = async_work_group_copy(l, a, 8, 0);"
                     "e[1] = async_work_group_copy(l + 8, a + 8, 8, 0); wait_group_events(2, e); a[0] = l[n];"),
    "fences": ("", "a[0] = 1; mem_fence(CLK_GLOBAL_MEM_FENCE); barrier(CLK_LOCAL_MEM_FENCE); a[1] = l[0];"),
    "two results": ("", "int r; a[0] = __builtin_add_overflow(n, a[1], &r); a[2] = r;"),
    "generic pointers": ("-cl-std=CL2.0", "int b[3] = {1, 2, n};"
                         "int *p = n > 3 ? (int *)a : n > 2 ? (int *)l : b; a[0] = *p;"),
    "atomic operations of 2.0": ("-cl-std=CL2.0", "atomic_fetch_add((global atomic_int *)a, n);"),
    "program-scope variable": ("-cl-std=CL2.0", "counter += n; a[0] = counter;"),
    "fast math": ("-cl-fast-relaxed-math", "f[0] = sin(f[1]) * f[2] / f[3] + f[4];"),
}  # fmt: skip
PROGRAM_SCOPE = {"program-scope variable": "global int counter = 3;"}


def construct(word: str) -> Kernel:
    options, body = CONSTRUCTS[word]
    types = "struct S { int a[20]; float v[4]; };"
    return lower(f"{types}{PROGRAM_SCOPE.get(word, '')} kernel void k({PARAMETERS}) {{ {body} }}", None, options)


def corpus_kernel(name: str) -> Kernel:
    launch = launches()[name]
    return lower(launch.path, name, launch.options)


def texts(kernel: Kernel) -> list[str]:
    """The instructions, without the numbers that LLVM gives to metadata and attributes anew."""
    return [re.sub(r"[!#]\d+", "", instruction_text(i)) for i in kernel.instructions()]


def assert_round_trip(kernel: Kernel) -> None:
    with parsed(module_text(kernel.graph)) as module:
        again = Kernel(kernel.name, read_module(str(module)))
    assert texts(again) == texts(kernel)
    assert again.arguments == kernel.arguments
    assert again.globals == kernel.globals
    assert again.structures == kernel.structures
    assert again.required_work_group_size == kernel.required_work_group_size
    assert "!dbg" not in module_text(kernel.graph)
    assert "!DI" not in module_text(kernel.graph)


@pytest.mark.parametrize("name", sorted(launches()))
def test_round_trip_of_the_corpus(name: str) -> None:
    assert_round_trip(corpus_kernel(name))


@pytest.mark.parametrize("word", sorted(CONSTRUCTS))
def test_round_trip_of_constructs(word: str) -> None:
    assert_round_trip(construct(word))


@pytest.mark.parametrize("name", sorted(launches()))
def test_every_operand_is_defined(name: str) -> None:
    kernel = corpus_kernel(name)
    arguments = {argument.name for argument in kernel.arguments}
    for instruction in kernel.instructions():
        for operand in instruction.operands:
            known = {
                ValueKind.INSTRUCTION: kernel.definition,
                ValueKind.ARGUMENT: arguments,
                ValueKind.BLOCK: kernel.block,
                ValueKind.GLOBAL: kernel.globals,
            }.get(operand.kind)
            assert known is None or operand.text in known


def test_arguments_as_opencl_declared_them() -> None:
    kernel = corpus_kernel("image_convolution")
    source, target, weights = kernel.arguments
    assert isinstance(source.type, TargetType)
    assert (source.name, source.type_name, source.access) == ("source", "image2d_t", "read_only")
    assert target.access == "write_only"
    assert weights.type == PointerType(AddressSpace.CONSTANT)
    assert (weights.type_name, weights.qualifiers) == ("float*", ("const",))


def test_structure_passed_by_value() -> None:
    kernel = corpus_kernel("particles")
    settings = kernel.arguments[1]
    assert settings.type == PointerType(AddressSpace.PRIVATE)
    assert "byval(%struct.Settings)" in settings.attributes
    assert kernel.structures["struct.Settings"].elements[1] == FloatType("float")


def test_program_scope_constants() -> None:
    kernel = corpus_kernel("constant_tables")
    table = kernel.globals["tables"]
    assert (table.address_space, table.is_constant) == (AddressSpace.CONSTANT, True)
    assert isinstance(table.value_type, ArrayType)
    assert table.value_type.count == 2
    assert table.initializer.startswith("[")


def test_static_local_memory() -> None:
    kernel = corpus_kernel("bitonic_sort")
    memory = kernel.globals["bitonic_sort.key"]
    assert (memory.address_space, memory.is_constant) == (AddressSpace.LOCAL, False)
    assert memory.value_type == ArrayType(32, IntegerType(32))
    assert memory.alignment >= 4


def test_required_work_group_size() -> None:
    assert corpus_kernel("volume_sum").required_work_group_size == (4, 4, 4)
    assert corpus_kernel("histogram").required_work_group_size is None


def test_null_event_is_a_constant() -> None:
    kernel = corpus_kernel("string_match")
    (copy,) = [i for i in kernel.instructions() if "async_work_group_copy" in i.callee]
    assert copy.arguments[-1].kind is ValueKind.CONSTANT
    assert copy.arguments[-1].text == "zeroinitializer"


def test_branches_and_phis_name_their_blocks() -> None:
    kernel = corpus_kernel("mandelbrot")
    for block in kernel.blocks:
        assert all(target in kernel.block for target in block.terminator.targets)
        predecessors = {other.name for other in kernel.blocks if block.name in other.terminator.targets}
        for phi in block.phis:
            assert set(phi.incoming) == predecessors
            assert len(phi.incoming) == len(phi.operands)


def test_assembly_of_a_users_own() -> None:
    assembly = """
target triple = "spir64-unknown-unknown"
%"struct.a b" = type { i32, [3 x float] }
@"my table" = internal addrspace(2) constant [3 x i32] [i32 1, i32 2, i32 3], align 4
declare spir_func i64 @_Z13get_global_idj(i32)
define spir_kernel void @k(ptr addrspace(1) %0, i32 %1, ptr byval(%"struct.a b") align 4 %"odd name") !dbg !5 {
  %3 = call spir_func i64 @_Z13get_global_idj(i32 0), !dbg !8
  %"quoted value" = getelementptr inbounds i32, ptr addrspace(1) %0, i64 %3
  %5 = getelementptr [3 x i32], ptr addrspace(2) @"my table", i64 0, i32 %1
  %6 = load i32, ptr addrspace(2) %5
  store i32 %6, ptr addrspace(1) %"quoted value", !dbg !9
  ret void
}
!llvm.dbg.cu = !{!1}
!llvm.module.flags = !{!0}
!0 = !{i32 2, !"Debug Info Version", i32 3}
!1 = distinct !DICompileUnit(language: DW_LANG_OpenCL, file: !2, emissionKind: FullDebug)
!2 = !DIFile(filename: "own.cl", directory: "/")
!4 = !DISubroutineType(types: !{})
!5 = distinct !DISubprogram(name: "k", file: !2, line: 3, type: !4, unit: !1, spFlags: DISPFlagDefinition)
!8 = !DILocation(line: 4, column: 7, scope: !5)
!9 = !DILocation(line: 5, column: 2, scope: !5)
"""
    kernel = lower(assembly)
    assert_round_trip(kernel)
    assert "my_table" in kernel.globals
    assert "odd_name" in {argument.name for argument in kernel.arguments}
    (store,) = [i for i in kernel.instructions() if i.opcode == "store"]
    assert store.position == SourcePosition(5, 2)


def test_kernel_without_metadata_on_its_arguments() -> None:
    kernel = lower("define spir_kernel void @k(ptr addrspace(1) %a) { ret void }")
    assert (kernel.arguments[0].type_name, kernel.arguments[0].access) == ("", "none")


def test_metadata_of_arguments_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    strings = Metadata.strings

    def counted(metadata: Metadata, node: str) -> tuple[str, ...]:
        read.append(node)
        return strings(metadata, node)

    monkeypatch.setattr(Metadata, "strings", counted)
    arguments = ", ".join(f"global uint4 *p{k}" for k in range(50))
    kernel = lower(f"kernel void many({arguments}) {{ p7[0] = p0[0]; }}")
    assert [argument.type_name for argument in kernel.arguments] == ["uint4*"] * 50
    assert len(read) == 4  # not 4 for each argument
