"""Trip counts of loops, where the code says them."""

from __future__ import annotations

import pytest

from coarsen.analysis.algebra.index_forms import IndexForms
from coarsen.analysis.control_flow import ControlFlow
from coarsen.analysis.loop_counts import trip_counts
from coarsen.frontend.lower import lower

X = "int x = get_global_id(0);"


def counts(body: str) -> list[int]:
    """The known counts, outer loops first."""
    kernel = lower(f"kernel void k(global int *data, int n)\n{{\n{body}\n}}\n")
    forms = IndexForms(kernel, ControlFlow(kernel))
    found = trip_counts(forms)
    return [found[loop.header] for loop in forms.control_flow.loops if loop.header in found]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("for (int i = 0; i < 16; ++i) data[i] = 1;", [16]),
        ("for (uint i = 0; i <= 16; ++i) data[i] = 1;", [17]),
        ("for (int i = 20; i > 2; i -= 5) data[i] = 1;", [4]),
        ("for (int i = 20; i >= 0; i -= 5) data[i] = 1;", [5]),
        ("for (int i = 0; i != 12; i += 4) data[i] = 1;", [3]),
        ("for (int i = n; i < n; ++i) data[i] = 1;", [0]),
        (f"{X} for (int i = x; i < x + 8; i += 3) data[i] = 1;", [3]),
        ("int i = 0; do { data[i] = 1; } while (++i < 10);", [10]),
        ("int i = n; do { data[i] = 1; ++i; } while (i < n - 3);", [1]),
        ("for (int i = 0; i < 7; ++i) { if (data[i]) break; data[i] = 1; }", [7]),
        ("for (int i = 0; i < 7; ++i) { if (data[i]) data[n] = 3; if (i >= 2) break; data[n] = 2; }", [3]),
        ("for (int i = 0; i < 4; ++i) for (int j = i; j < i + 3; ++j) data[j] = 1;", [4, 3]),
        ("for (int i = 0; i < n; ++i) data[i] = 1;", []),
        ("for (int i = 1; i < 64; i *= 2) data[i] = 1;", []),
        ("for (float f = 0; f < 3.0f; f += 1.0f) data[n] += 1;", []),
        ("while (data[n]) data[n] -= 1;", []),
    ],
)
def test_counts(body: str, expected: list[int]) -> None:
    assert counts(body) == expected
