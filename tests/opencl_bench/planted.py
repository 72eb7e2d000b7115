"""A user's kernel that is wrong for one value of a macro only, and versions of it."""

from __future__ import annotations

from pathlib import Path

from coarsen.variant.coarsening import Coarsening
from coarsen.variant.variant import Variant

# One element is wrong where STEP is 4, alike in the coarsened and in the uncoarsened kernel.
KERNEL = """\
kernel void add(global int *sums, global const int *numbers, int width)
{
    int i = get_global_id(0) * STEP;
    for (int j = i; j < i + STEP; ++j)
        sums[j] = numbers[j] + width + (STEP == 4 && j == 5);
}
"""
FILE = """\
file = "add.cl"
kernel = "add"
outputs = ["sums"]
[ndrange]
global_size = ["n // STEP"]
local_size = [16]
local_sizes = [[16], [32]]
[tunables]
STEP = [1, 2, 4]
[sizes.small]
n = 256
[sizes.large]
n = 1024
[[arguments]]
name = "sums"
buffer = "int"
elements = "n"
[[arguments]]
name = "numbers"
buffer = "int"
elements = "n"
values = "integers(0, 100)"
[[arguments]]
name = "width"
scalar = "int"
value = "n"
"""


def written(folder: Path) -> Path:
    """Write the kernel and its description; return the path of the latter."""
    (folder / "add.cl").write_text(KERNEL)
    path = folder / "add.toml"
    path.write_text(FILE)
    return path


def version(step: int, local_size: int = 16, factor: int = 1) -> Variant:
    """A version of the kernel."""
    coarsenings = (Coarsening(factor),) if factor > 1 else ()
    return Variant((local_size,), coarsenings, (("STEP", str(step)),))


DEFAULT = version(1)
VERSIONS = (DEFAULT, version(2), version(2, 32), version(4), version(1, 16, 2), version(4, 16, 2))
