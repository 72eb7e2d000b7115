"""A kernel with two implementations, described to be tuned over inputs, and versions of it."""

from __future__ import annotations

from pathlib import Path

from coarsen.variant.coarsening import Coarsening
from coarsen.variant.variant import Variant

KERNEL = """\
#define straight 0
#define turned 1
#pragma coarsen select IMPL straight,turned
#pragma coarsen input length = count
kernel void scale(global float *values, int count, float factor)
{
    int item = get_global_id(0);
#if IMPL == turned
    item = get_global_size(0) - 1 - item;
#endif
    if (item < count)
        values[item] *= factor;
}
"""
DESCRIPTION = """\
file = "scale.cl"
kernel = "scale"
build_options = ["-cl-std=CL1.2"]
outputs = ["values"]

[ndrange]
global_size = ["(count + 63) // 64 * 64"]
local_size = [64]

[sizes.test]
count = 100

[inputs]
ranges = { count = [64, 5000] }
count = 3

[[arguments]]
name = "values"
buffer = "float"
elements = "count"
values = "uniform(0, 1)"

[[arguments]]
name = "count"
scalar = "int"
value = "count"

[[arguments]]
name = "factor"
scalar = "float"
value = 0.5
"""
STRAIGHT = Variant((64,), definitions=(("IMPL", "0"),))
TURNED = Variant((64,), definitions=(("IMPL", "1"),))
COARSENED = Variant((64,), (Coarsening(2),), (("IMPL", "0"),))


def write_described(folder: Path) -> Path:
    """Write the kernel and its description into a folder, and return the path of the latter."""
    (folder / "scale.cl").write_text(KERNEL)
    path = folder / "scale.toml"
    path.write_text(DESCRIPTION)
    return path
