"""The length of a kernel with its helpers inlined, before they are."""

from __future__ import annotations

import pytest

from coarsen.errors import RefusalError
from coarsen.frontend.lower import lower
from coarsen.frontend.normal_form import inlined_length
from coarsen.ir.graph.module_parser import open_module

SHARED = """
define void @shared() {
  %a = add i32 1, 2
  ret void
}
define void @"twice"() {
entry:
    #dbg_value(i32 1, !1, !DIExpression(), !2)
  call void @shared()
  call void @"shared"()
  ret void
}
define spir_kernel void @k() {
  call void @twice()
  call void @shared()
  call void @missing()
  ret void
}
"""


def test_each_call_counts() -> None:
    assert inlined_length(open_module(SHARED), "shared") == 2
    assert inlined_length(open_module(SHARED), "twice") == 3 + 2 * 2
    assert inlined_length(open_module(SHARED), "k") == 4 + 7 + 2
    assert inlined_length(open_module(SHARED), "none") == 0


def test_the_order_of_calls_does_not_matter() -> None:
    swapped = SHARED.replace("@twice()\n  call void @shared()", "@shared()\n  call void @twice()")
    assert swapped != SHARED
    assert inlined_length(open_module(swapped), "k") == 4 + 7 + 2


def test_recursion_comes_to_an_end() -> None:
    text = "define void @k() {\n  call void @f()\n  ret void\n}\n"
    other = text.replace("@k", "@g").replace("@f", "@k").replace("@g", "@f")
    assert inlined_length(open_module(text + other), "k") == 4


def test_helpers_that_double_each_other_are_refused_before_they_are_inlined() -> None:
    helpers = ["int f0(int x) { return x * 3 + 1; }"]
    helpers += [f"int f{n}(int x) {{ return f{n - 1}(x) + f{n - 1}(x + {n}); }}" for n in range(1, 60)]
    source = "\n".join([*helpers, "kernel void doubling(global int *out) { out[0] = f59(1); }"])
    with pytest.raises(RefusalError, match="more than 400,000 instructions") as caught:
        lower(source)
    assert caught.value.code == "too-long"
