"""Arrays and structures that start with a value are declared with it; what fills them later stays."""

from __future__ import annotations

from coarsen.backend.opencl_c.writer import write_opencl_c
from coarsen.frontend.lower import lower

SOURCE = """
struct row { int v[4]; };
kernel void k(global int *a, int n) {
    struct row r = {{0}};
    r.v[n & 3] = 3;
    a[0] = r.v[1];
    __builtin_memset(&r, 0, sizeof r);
    r.v[(n + 1) & 3] += 1;
    a[1] = r.v[n & 3];
}
"""


def test_a_second_fill_that_says_the_same_as_the_first_is_written() -> None:
    text = str(write_opencl_c(lower(SOURCE)))
    declared, _, rest = text.partition("row r = {0};")
    assert "for (" not in declared
    assert rest.index("a = r.v[1];") < rest.index("for (") < rest.index("a[1] = r.v[n & 3];")
