"""The SPIR-V writer: valid words, the original's results on devices that take it, refusals instead of crashes."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pyopencl as cl
import pytest

from coarsen.backend.spirv import write_spirv
from coarsen.errors import RefusalError, SourcePosition
from coarsen.frontend.lower import lower
from tests.frontend.corpus import Launch, LocalMemory, assert_same, launches, run

SUITE = Path(__file__).parents[2] / "opencl_bench" / "kernels"
OP_EXECUTION_MODE, LOCAL_SIZE = 16, 17


def words_of(code: bytes) -> tuple[int, ...]:
    return struct.unpack(f"<{len(code) // 4}I", code)


def instructions(code: bytes) -> list[tuple[int, ...]]:
    """Each instruction's opcode and operands."""
    words, position, found = words_of(code), 5, []
    while position < len(words):
        count = words[position] >> 16
        found.append((words[position] & 0xFFFF, *words[position + 1 : position + count]))
        position += count
    return found


def built(context: cl.Context, code: str | bytes, options: str = "") -> cl.Program:
    program: cl.Program = cl.Program(context, code).build(options)
    return program


@pytest.mark.parametrize("name", sorted(launches()))
def test_device_gives_the_originals_results(name: str, spirv_queue: cl.CommandQueue) -> None:
    launch = launches()[name]
    code = write_spirv(lower(launch.path, name, launch.options))
    context = spirv_queue.context
    expected = run(launch, built(context, launch.path.read_text(), launch.options), spirv_queue)
    assert_same(expected, run(launch, built(context, code), spirv_queue), launch)


@pytest.mark.parametrize("path", sorted(SUITE.glob("*.cl")), ids=lambda path: path.stem)
def test_kernels_of_the_suite(path: Path) -> None:
    assert len(write_spirv(lower(path))) > 100


def test_version_stands_in_the_header() -> None:
    code = write_spirv(lower("kernel void k(global int *a) { a[0] = 1; }"))
    assert words_of(code)[1] == 1 << 16 | 2 << 8


def test_demanded_size_is_an_execution_mode() -> None:
    code = write_spirv(lower(launches()["jacobi"].path))
    modes = [i for i in instructions(code) if i[0] == OP_EXECUTION_MODE and i[2] == LOCAL_SIZE]
    assert [mode[3:] for mode in modes] == [(8, 8, 1)]


BUILTINS = {
    "fences": "a[0] = 1; mem_fence(CLK_GLOBAL_MEM_FENCE); read_mem_fence(CLK_LOCAL_MEM_FENCE);"
    "write_mem_fence(CLK_GLOBAL_MEM_FENCE); a[n + 1] = a[0];",
    "atomics": "a[5] = atomic_xchg(a, 7) + atomic_inc(a + 1) + atomic_dec(a + 2) + atomic_min(a + 3, n)"
    "+ atomic_max((volatile global uint *)a + 4, 9u); atomic_xchg(f, 2.5f);",
    "to double": "double2 d = convert_double2(*(global uint2 *)a);"
    "f[0] = (float)(d.x + convert_double(f[1]) + d.y);",
    "copies": "event_t e = async_work_group_copy(l, (global char *)a, (size_t)n, 0); wait_group_events(1, &e);"
    "a[n] = l[1];",
    "printf": 'printf("%d %s %f\\n", n, "text", f[0]); printf("%v4d\\n", *(global int4 *)a); a[0] = 3;',
    "bits": "a[0] = popcount(n) + clz(n) + __builtin_bswap32(n) + rotate(n, 5) + upsample((short)n, (ushort)n);",
    "pointers": "global int *p = n > 3 ? a : 0; if (p) a[1] = *p; a[2] = p == a + 3;*(global uchar *)(a + 3) = 1;",
}


@pytest.mark.parametrize("word", sorted(BUILTINS))
def test_builtins_that_the_back_end_needs_help_with(word: str, spirv_queue: cl.CommandQueue) -> None:
    parameters = "volatile global int *a, volatile global float *f, local char *l, int n"
    if word in ("copies", "pointers"):
        parameters = parameters.replace("volatile ", "")
    source = f"kernel void k({parameters}) {{ {BUILTINS[word]} }}"
    launch = _launch()
    expected = run(launch, built(spirv_queue.context, source), spirv_queue)
    code = write_spirv(lower(source))
    assert_same(expected, run(launch, built(spirv_queue.context, code), spirv_queue), launch)


def _launch() -> Launch:
    numbers, reals = np.arange(3, 35, dtype=np.int32), np.linspace(1, 2, 32, dtype=np.float32)
    return Launch("", "k", (numbers, reals, LocalMemory(64), np.int32(8)), (1,), (1,))


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("a[0] = __builtin_bitreverse32(n);", "the intrinsic llvm.bitreverse.i32"),
        ("int r; a[0] = __builtin_add_overflow(n, 3, &r) + r;", "the intrinsic llvm.sadd.with.overflow.i32"),
        ("typedef int v6 __attribute__((ext_vector_type(6))); *(global v6 *)a += n;", "a vector of 6 elements"),
        ("typedef _BitInt(24) narrow; a[0] = (narrow)n * (narrow)n;", "an integer of 24 bits"),
        (
            "local int t[8]; event_t e = 0, f; for (int i = 0; i < n; i++) {"
            "f = e; wait_group_events(1, &f); e = async_work_group_copy(t, a, 8, 0); }",
            "a variable that may be no event",
        ),
    ],
)
def test_what_it_can_not_take_is_refused(body: str, reason: str) -> None:
    kernel = lower(f"kernel void k(global int *a, int n) {{ {body} }}", options="-cl-std=CL2.0")
    with pytest.raises(RefusalError) as caught:
        write_spirv(kernel)
    assert caught.value.code == "spirv-unsupported"
    assert caught.value.reason == f"LLVM's SPIR-V back end has no form for {reason}"
    assert caught.value.position is not None
    assert caught.value.position.line == 1


def test_unknown_function_is_refused_with_its_place() -> None:
    source = "int magic(int);\nkernel void k(global int *a) {\n  a[0] = magic(a[1]);\n}"
    with pytest.raises(RefusalError, match="no form for the function magic") as caught:
        write_spirv(lower(source))
    assert caught.value.position == SourcePosition(3, 10)


ASSEMBLY = """
target triple = "spir64-unknown-unknown"
declare void @llvm.memset.inline.p1.i64(ptr addrspace(1), i8, i64, i1)
declare {{ float, i32 }} @llvm.frexp.f32.i32(float)
define spir_kernel void @k(ptr addrspace(1) %a, i32 %n, float %x, <4 x i32> %v, ptr %f) {{
  {body}
  ret void
}}
"""


@pytest.mark.parametrize(
    "body",
    [
        "%r = atomicrmw nand ptr addrspace(1) %a, i32 %n seq_cst",
        "%r = atomicrmw fadd ptr addrspace(1) %a, float %x seq_cst",
        "call void @llvm.memset.inline.p1.i64(ptr addrspace(1) %a, i8 0, i64 9, i1 false)",
        "%r = call { float, i32 } @llvm.frexp.f32.i32(float %x)\n store { float, i32 } %r, ptr addrspace(1) %a",
        "%t = sext i32 %n to i128\n store volatile i128 %t, ptr addrspace(1) %a",
        "store bfloat 0xR3F80, ptr addrspace(1) %a",
        "store fp128 0xL00000000000000003FFF000000000000, ptr addrspace(1) %a",
        'call void asm sideeffect "nop", ""()',
        "call void %f()",
    ],
)
def test_what_would_end_the_process_is_refused(body: str) -> None:
    kernel = lower(ASSEMBLY.format(body=body))
    with pytest.raises(RefusalError, match="SPIR-V back end has no form"):
        write_spirv(kernel)
