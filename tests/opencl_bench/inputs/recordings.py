"""A described kernel, and recordings of made-up launches of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from coarsen.frontend.source_text import source_hash_of
from coarsen.tuning.workload.launch_list import (
    ListedKernel,
    ListedLaunch,
    PassedBuffer,
    PassedScalar,
    write_launch_list,
)

SOURCE = """\
kernel void blur(global const float *in, global const int *starts, int n, float weight, global float *out)
{
    int item = get_global_id(0);
    if (item < n)
        out[item] = weight * in[item] + starts[item + 1];
}
"""
DESCRIPTION = """\
file = "blur.cl"
kernel = "blur"
build_options = ["-cl-std=CL1.2"]
outputs = ["out"]

[ndrange]
global_size = ["(n + 63) // 64 * 64"]
local_size = [64]

[sizes.test]
n = 100

[[arguments]]
name = "in"
buffer = "float"
elements = "n"
values = "uniform(-1, 1)"

[[arguments]]
name = "starts"
buffer = "int"
elements = "n + 1"
values = "sorted(0, n)"

[[arguments]]
name = "n"
scalar = "int"
value = "n"

[[arguments]]
name = "weight"
scalar = "float"
value = 0.5

[[arguments]]
name = "out"
buffer = "float"
elements = "n"
"""


def described(folder: Path) -> Path:
    """Write the kernel and its description; return the description's path."""
    (folder / "blur.cl").write_text(SOURCE)
    path = folder / "blur.toml"
    path.write_text(DESCRIPTION)
    return path


def launch(
    n: int,
    weight: float = 0.5,
    count: int = 1,
    spare: int = 0,
    global_size: int | None = None,
    local_size: tuple[int, ...] | None = (64,),
) -> ListedLaunch:
    """Return launches of so many elements; `spare` is the number of elements that buffers have beyond them."""
    return ListedLaunch(
        global_size=(global_size or -(-n // 64) * 64,),
        local_size=local_size,
        global_offset=(),
        arguments=(
            PassedBuffer(4 * (n + spare)),
            PassedBuffer(4 * (n + 1)),
            PassedScalar(np.int32(n).tobytes()),
            PassedScalar(np.float32(weight).tobytes()),
            PassedBuffer(4 * (n + spare)),
        ),
        count=count,
    )


def recorded(folder: Path, *launches: ListedLaunch, source: str = SOURCE, kernel: str = "blur") -> Path:
    """Write a recording; return its folder."""
    path = folder / "recording"
    path.mkdir(exist_ok=True)
    write_launch_list([ListedKernel(kernel, source_hash_of(source), "source-x.cl", (), launches, 0)], path)
    return path
