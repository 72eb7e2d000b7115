"""A source with several kernels: compiled once, each kernel taken from it as if it were alone."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import coarsen
from coarsen.errors import CoarsenError, InvalidInputError, RefusalError, SourcePosition
from coarsen.frontend.clang import Clang
from coarsen.frontend.lower import compile_source, list_kernels, lower
from coarsen.frontend.translation_unit import TranslationUnit, translation_unit
from coarsen.ir.graph.printer import function_lines, module_text
from coarsen.ir.hashed_text import hashed_text
from coarsen.ir.kernel import Kernel

SEVERAL = """\
typedef struct { float weight; int at[4]; } Record;
constant float table[4] = {1.0f, 0.5f, 0.25f, 0.125f};
int fact(int n) { return n < 2 ? 1 : n * fact(n - 1); }
float weighted(float x, int i) { return x * table[i & 3]; }
kernel void scale(global float *restrict data, int n) {
    int i = get_global_id(0);
    if (i < n) data[i] = weighted(data[i], i) + weighted(data[i], i + 1);
}
kernel void sum(global const float *in, global float *out) {
    local float tile[64];
    tile[get_local_id(0)] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0) out[get_group_id(0)] = tile[0] + tile[63];
}
kernel void records(global float *out, Record record) {
    record.at[get_global_id(0) & 3] += 2;
    out[get_global_id(0)] = record.weight * record.at[1];
}
kernel void calls(global float *data, int n) { scale(data, n); data[get_global_id(0)] += 1; }
kernel void recursive(global int *out) { out[get_global_id(0)] = fact(out[0]); }
"""
ALONE = ("scale", "sum", "records", "calls")
PARTS = {
    "void @plain": "define spir_kernel void @plain(ptr addrspace(1) %p) {\n  store i32 1, ptr addrspace(1) %p\n"
    "  ret void\n}\n",
    "invoke": "define spir_kernel void @invokes() personality ptr null {\n"
    "  invoke void @far() to label %ok unwind label %no\nok:\n  ret void\nno:\n"
    "  %l = landingpad { ptr, i32 } cleanup\n  ret void\n}\ndeclare void @far()\n",
    "alias": "@other = alias i32 (i32), ptr @aliased\ndefine i32 @aliased(i32 %x) {\n  ret i32 %x\n}\n"
    "define spir_kernel void @through(ptr addrspace(1) %p) {\n  %r = call i32 @other(i32 1)\n"
    "  store i32 %r, ptr addrspace(1) %p\n  ret void\n}\n",
    "variadic": "define i32 @any(i32 %x, ...) {\n  ret i32 %x\n}\n",
    "nothing but noinline": "define i32 @apart(i32 %x) noinline {\n  ret i32 %x\n}\n",
}


def text_of(kernel: Kernel) -> str:
    return hashed_text(module_text(kernel.graph))


@pytest.fixture
def clang_starts(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    starts: list[str] = []
    run = Clang.run

    def counted(self: Clang, arguments: list[str], source: str | None = None) -> object:
        starts.append(source or "")
        return run(self, arguments, source)

    monkeypatch.setattr(Clang, "run", counted)
    yield starts


def test_all_kernels_of_a_source_take_one_start_of_clang(clang_starts: list[str]) -> None:
    unit = compile_source(SEVERAL)
    assert unit.kernels == (*ALONE, "recursive")
    assert [lower(unit, name).name for name in ALONE] == list(ALONE)
    assert coarsen.coarsen(unit, kernel="sum", factor=2, level="group").configuration
    assert len(clang_starts) == 1


@pytest.mark.parametrize("name", ALONE)
def test_a_kernel_is_the_same_whatever_was_taken_before(name: str) -> None:
    unit = compile_source(SEVERAL)
    for other in ALONE:
        lower(unit, other)
    assert text_of(lower(unit, name)) == text_of(lower(SEVERAL, name))


def test_a_kernel_takes_with_it_what_it_needs_and_no_more() -> None:
    unit = compile_source(SEVERAL)
    assert set(unit.part("scale").unread) == {"scale", "weighted", "__clang_ocl_kern_imp_scale"}
    assert set(unit.part("scale").variables) == {"table"}
    assert set(unit.part("sum").unread) == {"sum"}
    assert set(unit.part("sum").variables) == {"sum.tile"}
    assert set(unit.part("calls").unread) == {"calls", "weighted", "__clang_ocl_kern_imp_scale"}
    assert "recursive" in unit.module.unread


def test_a_refused_kernel_spoils_no_other() -> None:
    unit = compile_source(SEVERAL)
    with pytest.raises(RefusalError, match="the helper function 'fact' calls itself") as caught:
        lower(unit, "recursive")
    assert (caught.value.code, caught.value.position) == ("recursion", SourcePosition(3, 1))
    assert lower(unit, "scale").name == "scale"


@pytest.mark.parametrize("odd", [name for name in PARTS if name != "void @plain"])
def test_what_cannot_be_read_spoils_only_what_needs_it(odd: str) -> None:
    alone, beside = PARTS["void @plain"], "".join([PARTS["void @plain"], PARTS[odd]])
    head = 'target triple = "spir64-unknown-unknown"\n'
    assert function_lines(lower(head + beside, "plain").function) == function_lines(
        lower(head + alone, "plain").function
    )
    for name in set(list_kernels(head + beside)) - {"plain"}:
        with pytest.raises(CoarsenError):
            lower(head + beside, name)


def test_names_in_metadata_keep_what_they_name() -> None:
    listed = '!opencl.kernels = !{!0}\n!0 = !{ptr @other, !"@text"}\n'
    text = (
        'target triple = "spir64-unknown-unknown"\n'
        "define spir_kernel void @k(ptr addrspace(1) %p) {\n  ret void\n}\n"
        f"define spir_kernel void @other() {{\n  ret void\n}}\n{listed}"
    )
    assert set(translation_unit(text).part("k").unread) == {"k", "other"}
    assert lower(text, "k").name == "k"


def test_options_go_with_the_compilation() -> None:
    unit = compile_source("kernel void k(global int *a) { a[0] = N; }", "-DN=4")
    assert isinstance(unit, TranslationUnit)
    with pytest.raises(InvalidInputError, match="the source is compiled already"):
        lower(unit, "k", "-DN=5")
