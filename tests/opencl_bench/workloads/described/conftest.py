"""A kernel and a file that describes it, to be changed by the tests."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

BLEND_KERNEL = """\
#ifndef WEIGHT
#define WEIGHT 2
#endif
kernel void blend(global float *output, global const float4 *input, constant int *shift, local float *scratch,
                  float factor, uint count, int2 offset)
{
    uint item = get_global_id(0);
    uint lane = get_local_id(0);
    scratch[lane] = item < count ? input[item].y * factor : 0.0f;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item < count)
        output[item] = WEIGHT * scratch[lane] + shift[item % 8] + offset.x - offset.y;
}
"""

BLEND_FILE = """\
file = "blend.cl"
kernel = "blend"
outputs = ["output"]
relative_tolerance = 1e-6

[ndrange]
global_size = ["(n + local_size_0 - 1) // local_size_0 * local_size_0"]
local_size = [64]
local_sizes = [[32], [64], [128]]

[tunables]
WEIGHT = [2, 3]

[sizes.test]
n = 1000

[sizes.cpu]
n = 100000

[[arguments]]
name = "output"
buffer = "float"
elements = "n"

[[arguments]]
name = "input"
buffer = "float4"
elements = "n"
values = "uniform(-1, 1)"

[[arguments]]
name = "shift"
buffer = "int"
elements = 8
values = "integers(-5, WEIGHT)"

[[arguments]]
name = "scratch"
local = "float"
elements = "local_size_0"

[[arguments]]
name = "factor"
scalar = "float"
value = 0.5

[[arguments]]
name = "count"
scalar = "uint"
value = "n"

[[arguments]]
name = "offset"
scalar = "int2"
value = [7, "n % 3"]
"""

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """`write(("n = 1000", "n = 7"))` writes kernel and file with parts replaced and gives the file's path."""

    def write_here(*replacements: tuple[str, str]) -> Path:
        text = BLEND_FILE
        for old, new in replacements:
            assert old in text
            text = text.replace(old, new)
        (tmp_path / "blend.cl").write_text(BLEND_KERNEL)
        path = tmp_path / "blend.toml"
        path.write_text(text)
        return path

    return write_here
