"""`coarsen fuse`: what one launch of two kernels is like, which pairs are refused and why, the command."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyopencl as cl
import pytest

from coarsen.devices.building import build_uncached
from coarsen.errors import InvalidInputError, RefusalError
from coarsen.frontend.device_macros import PORTABLE
from coarsen.fused import fuse, fuse_launches

SCALE = "kernel void scale(int n, float k, global const float *a, global float *t)\n"
FIRST = f"{SCALE}{{ int i = get_global_id(0); if (i < n) t[i] = k * a[i]; }}\n"
SECOND = "kernel void next(int n, global float *t, global float *b, global float *c)\n"
ADD = f"{SECOND}{{ int i = get_global_id(0); if (i >= n) return; c[i] = t[i] + b[i]; }}\n"


def body(text: str) -> str:
    """A second kernel of `t`, `b` and `c`, its item `i`."""
    return f"{SECOND}{{ int i = get_global_id(0); {text} }}\n"


def test_a_value_stays_in_a_register() -> None:
    fused = fuse(FIRST + ADD, "scale", "next")
    assert fused.kernel.argument_names == ("n", "k", "a", "t", "b", "c")
    assert "t[i] = value;" in fused.opencl_c and "= t[" not in fused.opencl_c
    assert "the memory passed for t must not overlap that for b and c" in fused.assumptions


def test_what_is_given_up_is_neither_written_nor_passed() -> None:
    fused = fuse(FIRST + ADD, "scale", "next", gives_up=["t"])
    assert (fused.dropped, fused.kernel.argument_names) == (("t",), ("n", "k", "a", "b", "c"))
    assert "t[" not in fused.opencl_c


def test_what_the_kernel_reads_itself_is_written_all_the_same() -> None:
    reading = FIRST.replace("t[i] = k * a[i]", "{ t[i] = k; t[2 * i] = k; t[i] = t[i] * a[i]; }")
    fused = fuse(reading + ADD.replace("t[i] +", ""), "scale", "next", gives_up=["t"])
    [given_up] = fused.given_up
    assert fused.dropped == () and "may read" in given_up.left and given_up.position is not None
    # The last one: nothing reads afterwards.
    assert given_up.stores == 1 and fused.opencl_c.count("t[i] =") == 1


def test_arguments_of_other_names_are_one_where_that_is_told() -> None:
    other = ADD.replace("global float *t", "global float *from").replace("t[i]", "from[i]")
    assert "from" not in fuse(FIRST + other, "scale", "next(n, t, b, c)").opencl_c
    assert fuse(FIRST + other, "scale", "next").kernel.argument_names[-3:] == ("from", "b", "c")


def test_local_memory_of_one_name_is_each_kernel_s_own() -> None:
    own = (
        "kernel void {}(global int *a, local int *m) "
        "{{ int i = get_global_id(0); m[i & 7] = 1; a[i] = m[i & 7]; }}\n"
    )
    fused = fuse(own.format("one") + own.format("two"), "one", "two")
    assert fused.kernel.argument_names == ("a", "m", "m_2")


ITEM = "int i = get_global_id(0);"


def test_side_by_side_what_both_read_is_read_once() -> None:
    other = f"kernel void add(int n, global const float *a, global float *u) {{ {ITEM} if (i < n) u[i] = a[i]; }}"
    fused = fuse(FIRST + other, "scale", "add")
    assert fused.is_side_by_side and fused.saved_bytes == 4 and fused.opencl_c.count("a[i]") == 1
    assert not fuse(FIRST + ADD, "scale", "next").is_side_by_side


SUM = (
    "kernel void {0}(global const int *a, global int *{0}s, local int *m) {{{{ int l = get_local_id(0); "
    "m[l] = a[get_global_id(0)]; barrier(CLK_LOCAL_MEM_FENCE); for (int k = 4; k; k /= 2) {{{{ if (l < k) "
    "m[l] = {1}(m[l], m[l + k]); barrier(CLK_LOCAL_MEM_FENCE); }}}} if (l == 0) atomic_add({0}s, m[0]); }}}}\n"
)
SUMS = (SUM.format("most", "max") + SUM.format("least", "min")).format()


@pytest.mark.compiled_devices
def test_barriers_and_atomics_go_side_by_side(queue: cl.CommandQueue) -> None:
    fused = fuse(SUMS, "most", "least")
    assert fused.is_side_by_side and fused.opencl_c.count("atomic_add") == 2
    numbers = np.random.default_rng(3).integers(0, 1000, 64).astype(np.int32)
    flags = cl.mem_flags.COPY_HOST_PTR
    contents = {"mosts": np.zeros(1, np.int32), "leasts": np.zeros(1, np.int32), "a": numbers}
    buffers = {name: cl.Buffer(queue.context, flags, hostbuf=each) for name, each in contents.items()}
    kernel = cl.Kernel(build_uncached(queue.context, fused.opencl_c), fused.kernel.name)
    arguments: list[Any] = [buffers.get(name, cl.LocalMemory(32)) for name in fused.kernel.argument_names]
    kernel(queue, (64,), (8,), *arguments)
    for name, of in (("mosts", np.max), ("leasts", np.min)):
        found = np.empty(1, np.int32)
        cl.enqueue_copy(queue, found, buffers[name])
        assert found[0] == of(numbers.reshape(8, 8), axis=1).sum()


def test_several_kernels_are_one() -> None:
    steps = "".join(
        f"kernel void {name}(global const int *in, global int *out) {{ {ITEM} out[i] = in[i] {operation}; }}\n"
        for name, operation in (("one", "* 3"), ("two", "+ 5"), ("three", "^ 6"))
    )
    fused = fuse(steps, "one", "two(out, out_2)", "three(out_2, out)", gives_up=["out_2"])
    assert fused.kernel.argument_names == ("in", "out") and fused.dropped == ("out_2",)
    apart = fuse(steps, "one", "two ( a , b )")
    assert apart.kernel.argument_names == ("in", "out", "a", "b") and apart.is_side_by_side
    # By what is passed, it is told in words that make the same.
    by_things = fuse_launches([("one", "ab"), ("two", "bc"), ("three", "cd")], steps, (), PORTABLE, {"b"})
    assert by_things.calls == ("one", "two(out, out_2)", "three(out_2, out_2_2)")
    again = fuse(steps, *by_things.calls, gives_up=["out"])
    assert again.opencl_c == by_things.opencl_c and by_things.dropped == ("out",)


def test_what_a_source_calls_its_things() -> None:
    source = (
        "typedef float real;\nkernel void add(int n, global const real *restrict a, global real (*t)[2]) "
        f"{{ {ITEM} if (i < n) t[i][0] = a[i]; }}\n#define n 5\n#define t that\n"
        f"kernel void sat(global float *a, global real *c) {{ {ITEM} c[i] = a[i]; }}\n#define sat 3\n"
    )
    fused = fuse(source, "add", "sat")
    assert fused.kernel.name == "add_then_sat", "add_sat is a function of OpenCL C"
    assert fused.kernel.argument_names == ("n", "a", "t", "c") and "restrict a" in fused.opencl_c


def test_a_demanded_size_stays() -> None:
    sized = FIRST.replace("kernel void", "kernel __attribute__((reqd_work_group_size(8, 1, 1))) void")
    assert "reqd_work_group_size(8, 1, 1)" in fuse(sized + ADD, "scale", "next").opencl_c


CROSSING = {
    "neighbour": body("if (i < n) c[i] = t[i + 1];"),
    "neighbour before": body("if (i < n && i > 0) c[i] = t[i - 1];"),
    "no guard": body("c[i] = t[i];"),
    "guard that may be other": body("if (i <= n - 1) c[i] = t[i];"),
    "guard of another argument": body("if (i < (int)b[0]) c[i] = t[i];"),
    "guard of 32 bits": body("if (get_global_id(0) < n) c[i] = t[i];"),
    "wrapped index": body("if (i < n) c[i] = t[(uchar)i];"),
    "index that wraps": body("if (i < n) c[i] = t[(ulong)(uint)i];"),
    "all of them": body("if (i < n) { float s = 0; for (int k = 0; k < n; ++k) s += t[k]; c[i] = s; }"),
    "one of them": body("if (i < n) c[i] = t[0];"),
    "from a table": body("if (i < n) c[i] = t[(int)b[i]];"),
    "part of it": body("if (i < n) c[i] = ((global uchar *)t)[i * 4 + 1];"),
    "wider": body("if (i < n) c[i] = ((global float2 *)t)[i].x;"),
    "written over elsewhere": body("if (i < n) { t[i + 1] = 0; c[i] = t[i]; }"),
    "written elsewhere": body("if (i < n) t[i + 1] = b[i];"),
    "written by one": body("if (i == 0) t[i] = b[i];"),
    "written at one place": body("if (i < n) t[0] = b[i];"),
    "written for some": body("if (i < n && b[i] > 0) t[i] = b[i];"),
    "as another type": body("if (i < n) ((global short *)t)[i] = 1;"),
    "by vectors": body("if (i < n) { vstore2((float2)(1, 2), i, t); }"),
    "read by vectors": body("if (i < n) c[i] = vload2(i, t).x;"),
    "behind a barrier of its own loop": body("if (i < n) for (int k = 0; k < 2; ++k) { c[i] = t[i + k]; }"),
}


@pytest.mark.parametrize("case", CROSSING)
def test_work_items_that_may_meet_are_refused(case: str) -> None:
    with pytest.raises(RefusalError) as refused:
        fuse(FIRST + CROSSING[case], "scale", "next")
    assert refused.value.code == "fusion-crosses-items" and refused.value.position is not None


# Kernels of which the second resets what the first has read, and whether work-items keep to themselves.
RESET = (
    "kernel void one(global const int *t, global int *c, int n) {{ int i = get_global_id(0); c[i] += t[{0}]; }}\n"
    "kernel void two(global int *t, int n) {{ int i = get_global_id(0); t[{0}] = 0; }}\n"
)
PLACES = {
    "i": True,
    "2 * i + 1": True,
    "i + n": True,
    "get_group_id(0) * get_local_size(0) + get_local_id(0) + 0 * i": True,
    "i & 15": False,
    "i / (int)get_local_size(0)": False,
    "i - (int)get_local_id(0)": False,
    "i - i % 4": False,
    "i < n ? i : 0": False,
    "(i >> 2) + n": False,
    "get_group_id(0) * 4 + get_local_id(0) + 0 * i": False,
}


@pytest.mark.parametrize("place", PLACES)
def test_elements_of_several_work_items_are_refused(place: str) -> None:
    if PLACES[place]:
        assert fuse(RESET.format(place), "one", "two").kernel.name == "one_two"
        return
    with pytest.raises(RefusalError, match="several work-items may write one element of t"):
        fuse(RESET.format(place), "one", "two")


STEP = (
    "kernel void step(global const float *in, global float *out) { int i = get_global_id(0); out[i] = in[i] + 1; }"
)


def test_what_is_said_to_be_the_same_takes_the_place_of_equal_names() -> None:
    found = fuse(STEP, "step", "step(out, to)", name="twice", gives_up=["out"])
    assert found.kernel.argument_names == ("in", "to")


def test_an_argument_of_several_that_is_written_is_not_const() -> None:
    source = (
        "kernel void one(global const int *t, global int *o) { int i = get_global_id(0); o[i] = t[i]; }\n"
        "kernel void two(global int *x, global const int *t) { int i = get_global_id(0); x[i] = 3 + t[i]; }"
    )
    assert "global int* t" in fuse(source, "one", "two(t, u)").opencl_c


def test_what_is_given_up_and_only_read_is_said_to_stay() -> None:
    both = "".join(
        f"kernel void {name}(global const int *t, global int *{name}s) "
        f"{{ int i = get_global_id(0); {name}s[i] = t[i]; }}"
        for name in ("one", "two")
    )
    (given_up,) = fuse(both, "one", "two", gives_up=["t"]).given_up
    assert (given_up.stores, given_up.left) == (0, "t is only read: it stays an argument")


def test_a_first_kernel_that_never_ends_is_refused() -> None:
    parts = "".join(f"kernel void {name}(global int *t) {{ t[get_global_id(0)] = 1; }}" for name in ("one", "two"))
    with pytest.raises(RefusalError, match="the first kernel never ends"):
        fuse(parts.replace("= 1;", "= 1; for (;;);", 1), "one", "two")


def test_headers_beside_the_file_come_first(tmp_path: Path) -> None:
    for folder, value in (("a", 1), ("b", 2)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "cfg.h").write_text(f"#define K {value}\n")
    file = tmp_path / "a" / "k.cl"
    file.write_text(f'#include "cfg.h"\n{STEP.replace("+ 1", "+ K")}')
    assert "+ 1.0f" in fuse(file, "step", "step(out, to)", options=[f"-I{tmp_path / 'b'}"], name="twice").opencl_c


ROWS = "kernel void {}(global int *t, int n) {{ int x = get_global_id(0), y = get_global_id(1); t[{}] = {}; }}\n"
IN_PLACE = f"{SCALE}{{ int i = get_global_id(0); if (i < n) t[i] = k * a[i + 1]; }}\n"
OTHERS = {
    "reads what is written next": (
        IN_PLACE + body("if (i < n) t[i] = 1;").replace("*t,", "*a,").replace("t[i]", "a[i]"),
        "fusion-crosses-items",
    ),
    "barrier": (
        FIRST + body("if (n > 3) barrier(CLK_GLOBAL_MEM_FENCE); if (i < n) c[i] = t[i];"),
        "fusion-barrier",
    ),
    "atomic": (FIRST + body("if (i < n) atomic_inc((global int *)t);"), "fusion-barrier"),
    "fence": (FIRST + body("mem_fence(CLK_GLOBAL_MEM_FENCE); if (i < n) c[i] = t[i];"), "fusion-barrier"),
    "volatile": (FIRST + body("if (i < n) c[i] = *(volatile global float *)&t[i];"), "fusion-barrier"),
    "unknown function": (f"float f(float);\n{FIRST}" + body("if (i < n) c[i] = f(t[i]);"), "fusion-barrier"),
    "other dimensions": (FIRST + body("if (i < n) c[i] = t[i] + get_global_id(1);"), "fusion-ndrange"),
    "other sizes": (
        FIRST.replace("kernel", "kernel __attribute__((reqd_work_group_size(8, 1, 1)))")
        + ADD.replace("kernel", "kernel __attribute__((reqd_work_group_size(4, 1, 1)))"),
        "fusion-ndrange",
    ),
    "pointer from an integer": (FIRST + body("if (i < n) c[i] = *(global float *)(ulong)n;"), "fusion-alias"),
    "image": (
        FIRST + "kernel void next(write_only image2d_t p) { write_imagei(p, get_global_id(0), 1); }",
        "fusion-alias",
    ),
    "two rows": (
        ROWS.format("scale", "y * n + x", "1") + ROWS.format("next", "x * n + y", "2"),
        "fusion-crosses-items",
    ),
    "one row": (ROWS.format("scale", "x", "y") + ROWS.format("next", "x", "y + 1"), "fusion-crosses-items"),
}


@pytest.mark.parametrize("case", OTHERS)
def test_other_pairs_are_refused(case: str) -> None:
    source, code = OTHERS[case]
    with pytest.raises(RefusalError) as refused:
        fuse(source, "scale", "next")
    assert refused.value.code == code


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({"gives_up": ["q"]}, "no argument 'q'"),
        ({"gives_up": ["n"]}, "no buffer in global memory"),
        ({"name": "scale"}, "can't be called 'scale'"),
        ({"name": "mad_sat"}, "can't be called 'mad_sat'"),
        ({"name": "a b"}, "can't be called 'a b'"),
    ],
)
def test_mistakes(words: dict[str, object], said: str) -> None:
    with pytest.raises(InvalidInputError, match=said):
        fuse(FIRST + ADD, "scale", "next", **words)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("next(k, t, b, c)", "they can't be one argument"),
        ("next(n, t, b)", "next takes 4 arguments, not 3"),
        ("next(n, 3, b, c)", "is neither a kernel nor a call"),
        ("next(n", "is neither a kernel nor a call"),
        ("other", "no kernel 'other'"),
    ],
)
def test_mistaken_calls(call: str, said: str) -> None:
    with pytest.raises((InvalidInputError, RefusalError), match=said):
        fuse(FIRST + ADD, "scale", call)


def test_an_argument_with_the_name_of_a_kernel() -> None:
    with pytest.raises(InvalidInputError, match="an argument is called 'next', as one of the kernels is"):
        fuse(FIRST.replace("float k", "float next").replace("k *", "next *") + ADD, "scale", "next")


def test_llvm_ir_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "kernels.ll"
    path.write_text("define void @f() {\n  ret void\n}\n")
    with pytest.raises(InvalidInputError, match="only OpenCL C"):
        fuse(path, "f", "g")
