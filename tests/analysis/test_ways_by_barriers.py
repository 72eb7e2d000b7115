"""The ways through a kernel that differ in the barriers on them."""

from __future__ import annotations

import pytest

from coarsen.analysis.barriers import ways_by_barriers
from coarsen.frontend.lower import lower

BARRIER = "barrier(CLK_LOCAL_MEM_FENCE);"
CASES = {
    "no barrier": ("if (n > 1) out[0] = 1;", 1),
    "a barrier that is always reached": (f"out[0] = 1; {BARRIER}", 1),
    "a branch without a barrier": (f"if (n > 1) out[0] = 1; {BARRIER}", 1),
    "one condition": (f"if (n > 1) {{ out[0] = 1; {BARRIER} }}", 2),
    "two conditions in a row": (
        f"if (n > 1) {{ out[0] = 1; {BARRIER} }} if (n > 5) {{ out[1] = 1; {BARRIER} }}",
        4,
    ),
    "one condition inside another": (f"if (n > 1) {{ {BARRIER} if (n > 5) {{ out[1] = 1; {BARRIER} }} }}", 3),
    "one or the other": (f"if (n > 1) {{ out[0] = 1; {BARRIER} }} else {{ {BARRIER} out[1] = 1; {BARRIER} }}", 2),
    "a loop": (f"for (int i = 0; i < n; i++) {{ out[i] += 1; {BARRIER} }}", 2),
    "a loop that may be left": (
        f"for (int i = 0; i < n; i++) {{ if (in[i] == 7) break; out[i] += 1; {BARRIER} }}",
        3,
    ),
    "a loop that begins anew": (
        f"for (int i = 0; i < n; i++) {{ if (in[i] == 7) continue; out[i] += 1; {BARRIER} }}",
        3,
    ),
    "a loop in a loop": (
        f"for (int i = 0; i < n; i++) {{ for (int j = 0; j < in[i]; j++) {{ out[j] += i; {BARRIER} }} }}",
        3,
    ),
    "a loop after a loop": (
        f"for (int i = 0; i < n; i++) {{ out[i] += 1; {BARRIER} }}"
        f"for (int i = 0; i < n; i++) {{ out[i] *= 3; {BARRIER} }}",
        4,
    ),
    "an early end": (f"if (n > 1) return; out[0] = 1; {BARRIER}", 2),
}


@pytest.mark.parametrize("case", CASES)
def test_ways(case: str) -> None:
    body, ways = CASES[case]
    kernel = lower(f"kernel void k(global int *out, global const int *in, int n) {{ {body} }}")
    assert ways_by_barriers(kernel) == ways
