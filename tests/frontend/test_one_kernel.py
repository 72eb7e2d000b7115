"""Sources that are cut down to one kernel: what it needs stays, and so do its form and its lines."""

from __future__ import annotations

import pytest

from coarsen.frontend.device_macros import PORTABLE
from coarsen.frontend.lower import compile_source, lower
from coarsen.frontend.one_kernel import source_of_one_kernel
from coarsen.ir.graph.printer import module_text

LIBRARY = """\
constant float table[2] = { 1.0f, 2.0f };  // kernel void in(a) { comment }
float helper(float x) { return x * table[1]; }
__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void first(global float *a)
{
    if (a[0] > 0) { a[0] = helper(a[0]); }
}
kernel void second(global float *a);
kernel void second(global float *a) { printf("}{"); a[get_global_id(0)] = helper(3.0f); }
#ifdef MORE
kernel void third(global float *a) { a[0] = 3; }
#endif
void kernel fourth(global float *a) {
#ifdef MORE
    a[0] = 4;
#else
    a[0] = 5;
#endif
}
"""


def alone(source: str, kernel: str, *options: str) -> str:
    return source_of_one_kernel(source, kernel, options, PORTABLE)


@pytest.mark.parametrize("kernel", ["first", "second", "fourth"])
def test_the_kernel_stays_as_it_was_on_its_line(kernel: str) -> None:
    text = alone(LIBRARY, kernel)
    assert text.count("\n") == LIBRARY.count("\n")
    assert module_text(lower(text, kernel).graph) == module_text(lower(LIBRARY, kernel).graph)
    wanted = next(
        number
        for number, line in enumerate(LIBRARY.splitlines())
        if f"{kernel}(global float *a) {{" in line or f"void {kernel}(" in line
    )
    assert text.splitlines()[wanted] == LIBRARY.splitlines()[wanted]


def test_other_kernels_go_with_their_bodies() -> None:
    text = alone(LIBRARY, "second")
    assert "void first" not in text and "helper(a[0])" not in text
    assert "float helper" in text and "constant float table" in text
    assert "MORE\n    a[0] = 4" in text, "what a directive decides stays"
    assert compile_source(text).kernels == ("second", "fourth")


def test_a_kernel_that_another_calls_stays() -> None:
    source = "kernel void a(global int *p) { p[0] = 1; } kernel void b(global int *p) { a(p); }"
    assert alone(source, "b") == source


def test_options_decide_what_the_source_is() -> None:
    source = "#ifdef X\n#define N 2\n#endif\nkernel void a(global int *p) { p[0] = N; } kernel void b(int n) {}"
    assert alone(source, "a", "-DX").endswith("p[0] = N; } ")
    assert alone(source, "a") == source, "it does not compile"


@pytest.mark.parametrize(
    "source",
    [
        "kernel void a(global int *p) { p[0] = 1; }",
        "#define DEF(n) kernel void n(global int *p) { p[0] = 1; }\nDEF(a)\nDEF(b)",
        "kernel void a(global int *p) { p[0] = 1; } kernel void b(global int *p) { p[0] = 1;",
    ],
)
def test_what_has_nothing_to_take_out_stays(source: str) -> None:
    assert alone(source, "a") == source
