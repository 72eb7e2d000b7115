"""A kernel whose source declares parameters, two implementations of it, and a file that describes them."""

from __future__ import annotations

from pathlib import Path

KERNEL = """\
#pragma coarsen select IMPL at_once,in_parts
#pragma erange 16,64,2
#define BLKSZ 32
#pragma coarsen values 2,4
#define PARTS 2
#pragma coarsen where PARTS * BLKSZ <= 128
#pragma coarsen input length = width
kernel void sum(global float *sums, global const float *values, int height, int width)
{
    int row = get_global_id(0);
    float total = 0.0f;
#pragma coarsen unroll LU 1,4,2
    for (int column = 0; column < width; column++)
        total += values[row * width + column];
    sums[row] = total;
}

kernel void sum_parts(global float *parts, global const float *values, int height, int width)
{
    int part = get_global_id(0), row = get_global_id(1);
    float total = 0.0f;
    for (int column = part; column < width; column += PARTS)
        total += values[row * width + column];
    parts[row * PARTS + part] = total;
}

kernel void finish(global float *sums, global const float *parts)
{
    int row = get_global_id(0);
    float total = 0.0f;
    for (int part = 0; part < PARTS; part++)
        total += parts[row * PARTS + part];
    sums[row] = total;
}
#define at_once 0
#define in_parts 1
"""

FILE = """\
file = "sum.cl"
kernel = "sum"
outputs = ["sums"]
roundings = "width"

[ndrange]
global_size = ["height"]
local_size = ["BLKSZ"]

[sizes.test]
height = 128
width = 10

[features]
rows = "height"

[[launches]]
when = "IMPL == at_once"

[[launches]]
when = "IMPL == in_parts"
kernel = "sum_parts"
arguments = ["parts", "values", "height", "width"]
global_size = ["PARTS", "height"]
local_size = ["PARTS", "BLKSZ // 2"]

[[launches]]
when = ["IMPL == in_parts"]
kernel = "finish"
arguments = ["sums", "parts"]
global_size = ["height"]
local_size = [1]

[[arguments]]
name = "sums"
buffer = "float"
elements = "height"

[[arguments]]
name = "values"
buffer = "float"
elements = "height * width"
values = "uniform(-1, 1)"

[[arguments]]
name = "height"
scalar = "int"
value = "height"

[[arguments]]
name = "width"
scalar = "int"
value = "width"

[[arguments]]
name = "parts"
buffer = "float"
elements = "height * PARTS"
scratch = true
"""


def write_sums(folder: Path, *replacements: tuple[str, str]) -> Path:
    """Write the kernel and its file with parts of either replaced; return the file's path."""
    kernel, text = KERNEL, FILE
    for old, new in replacements:
        assert old in text or old in kernel
        kernel, text = kernel.replace(old, new), text.replace(old, new)
    (folder / "sum.cl").write_text(kernel)
    path = folder / "sum.toml"
    path.write_text(text)
    return path
