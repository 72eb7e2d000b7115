"""The length of a coarsened kernel, before anything is copied."""

from __future__ import annotations

import subprocess
import sys

import pytest

from coarsen.errors import RefusalError
from coarsen.frontend.lower import lower
from coarsen.transform.coarsen import check_copied_length, copied_length
from coarsen.variant.coarsening import Coarsening, Level, configuration
from coarsen.variant.transforms import REPLICATION_ALONE
from tests.coarsened_kernel import coarsen_kernel

CUBE = (
    "kernel void cube(global float *data, int width) {"
    "size_t x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);"
    f"{'data[x + y * width + z * width * width] += 1;' * 40} }}"
)


def test_uniform_instructions_stand_once() -> None:
    kernel = lower("kernel void k(global int *d, int n) { d[get_global_id(0)] = n * n + 3; }")
    total = kernel.length
    chosen = configuration([Coarsening(8)])
    assert copied_length(kernel, chosen) == total + 7 * 3  # the query, the address and the store


def test_an_estimate_is_near_what_comes_out() -> None:
    kernel = lower(CUBE)
    chosen = configuration([Coarsening(4), Coarsening(2, 1), Coarsening(2, 2)])
    coarsened = coarsen_kernel(kernel, chosen, transforms=REPLICATION_ALONE)
    length = coarsened.length
    assert length / 1.5 < copied_length(kernel, chosen) < length * 1.5


def test_a_region_is_copied_whole() -> None:
    kernel = lower("kernel void k(global int *d, int n) { if (d[get_global_id(0)]) d[n] = n * n + 3; }")
    (inside,) = (block for block in kernel.blocks if any(i.opcode == "store" for i in block.instructions))
    more = copied_length(kernel, configuration([Coarsening(3)])) - copied_length(
        kernel, configuration([Coarsening(2)])
    )
    assert more >= len(inside.instructions)


@pytest.mark.parametrize("level", list(Level))
def test_too_many_copies_are_refused(level: Level) -> None:
    chosen = configuration(Coarsening(16, dimension, level=level) for dimension in range(3))
    with pytest.raises(RefusalError, match="instructions, more than 600,000") as caught:
        check_copied_length(lower(CUBE), chosen)
    assert caught.value.code == "too-many-copies"


def test_a_refusal_takes_little_memory() -> None:
    program = (
        "import resource, sys; from coarsen.api import coarsen; from coarsen.errors import RefusalError\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        f"try: coarsen({CUBE!r}, factor=[16] * 3, dim=[0, 1, 2])\n"
        "except RefusalError as error: print(error.code)\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)\n"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    code, kibibytes = result.stdout.split()
    assert code == "too-many-copies"
    assert int(kibibytes) < 100 * 1024
