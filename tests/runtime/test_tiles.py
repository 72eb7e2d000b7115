"""Programs with tiles inside of loops: each local size has code of its own, and memory that overlaps has none."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pyopencl as cl
import pytest
from numpy.typing import NDArray

from coarsen.drop_in.program import Program
from coarsen.policy.remembered import is_allowed
from coarsen.runtime.advice import Decision
from coarsen.runtime.launch import DividedLaunch, OriginalLaunch
from coarsen.runtime.launches import words_of
from coarsen.tuning.settings import Tune
from coarsen.variant.coarsening import Coarsening, Configuration
from coarsen.variant.transforms import Tile, Transforms
from coarsen.variant.variant import Variant
from tests.runtime.advisors import FakeAdvisor

N = 64
SOURCE = f"""
kernel void product(global const float *a, global const float *b, global float *c, int n)
{{
    int x = get_global_id(0), y = get_global_id(1);
    float sum = 0;
    for (int k = 0; k < n; k++)
        sum += a[x + k*{N}] * b[y + k*{N}];
    c[x + y*{N}] = sum;
}}
"""


@dataclass
class Recorder:
    """Remembers the tiles of launches; None for the program's own transforms."""

    seen: list[Tile | None] = field(default_factory=list)

    def launched(self, kernel: str, original: OriginalLaunch, divided: DividedLaunch) -> None:
        del kernel, original
        assert divided.coarsenings
        self.seen.append(divided.transforms.tile if divided.transforms else None)


@dataclass
class Launches:
    """Remembers how launches were carried out."""

    seen: list[DividedLaunch]

    def launched(self, kernel: str, original: OriginalLaunch, divided: DividedLaunch) -> None:
        del kernel, original
        self.seen.append(divided)


def filled(queue: cl.CommandQueue, values: NDArray[np.float32]) -> cl.Buffer:
    return cl.Buffer(queue.context, cl.mem_flags.COPY_HOST_PTR | cl.mem_flags.READ_WRITE, hostbuf=values)


def product(queue: cl.CommandQueue, program: Program, local_size: tuple[int, int] | None, n: int) -> None:
    """Launch the kernel, and compare what it leaves."""
    draw = np.random.default_rng(n)
    a, b = (draw.integers(-9, 9, (N, N)).astype(np.float32) for _ in range(2))
    c = filled(queue, np.zeros((N, N), np.float32))
    program.product(queue, (N, N), local_size, filled(queue, a), filled(queue, b), c, np.int32(n))
    got = np.empty((N, N), np.float32)
    cl.enqueue_copy(queue, got, c)
    np.testing.assert_array_equal(got, b[:n].T @ a[:n])


def test_each_local_size_has_code_of_its_own(queue: cl.CommandQueue) -> None:
    seen = Recorder()
    program = Program(queue.context, SOURCE, factor=(2, 4), dim=(0, 1), tile="8", observer=seen).build()
    for local_size in ((16, 8), (8, 16), (16, 8), (4, 4)):
        product(queue, program, local_size, 21)
    product(queue, program, None, 21)
    assert seen.seen == [None] * 5
    kernels = {variant.local_size for variant in program.product._launches._variants}
    assert kernels >= {(16, 8), (8, 16), (4, 4)}


@pytest.mark.parametrize("demand", ["", "__attribute__((reqd_work_group_size(16, 8, 1)))"])
def test_a_tile_without_coarsening_is_launched(queue: cl.CommandQueue, demand: str) -> None:
    seen: list[DividedLaunch] = []
    variant = Variant((16, 8), transforms=Transforms(tile=Tile("8")))
    advisor = FakeAdvisor(Decision(variant, "a test says so", is_exact=True))
    source = SOURCE.replace("kernel ", f"kernel {demand} ")
    program = Program(queue.context, source, tune=advisor, observer=Launches(seen)).build()
    product(queue, program, (16, 8), 37)
    assert [each.is_rewritten for each in seen] == [True]
    assert words_of(seen[0]) == "nothing merged, tile 8"
    # What overlaps is read where it is.
    same = filled(queue, np.zeros((N, N), np.float32))
    program.product(queue, (N, N), (16, 8), same, same, same, np.int32(9))
    assert not seen[1].is_rewritten


@pytest.mark.parametrize("guard", ["", f"if (x < {N} - 7 && y < n + 9) {{"])
@pytest.mark.parametrize(
    "chosen", [(Coarsening(3),), (Coarsening(3), Coarsening(5, 1, 2)), (Coarsening(5, 0, 4), Coarsening(3, 1))]
)
def test_sizes_that_do_not_divide_have_tiles(queue: cl.CommandQueue, guard: str, chosen: Configuration) -> None:
    source = SOURCE.replace("float sum", f"{guard} float sum").replace("= sum;", "= sum; }" if guard else "= sum;")
    draw = np.random.default_rng(3)
    a, b = (filled(queue, draw.integers(-9, 9, (N, N)).astype(np.float32)) for _ in range(2))
    results = []
    seen: list[DividedLaunch] = []
    variant = Variant((16, 8), chosen, transforms=Transforms(tile=Tile("8")), any_size=True)
    for advisor in (False, FakeAdvisor(Decision(variant, "a test says so", is_exact=True))):
        program = Program(queue.context, source, tune=advisor, observer=Launches(seen)).build()
        c = filled(queue, np.full((N, N), -1, np.float32))
        program.product(queue, (N, N), (16, 8), a, b, c, np.int32(21))
        results.append(np.empty((N, N), np.float32))
        cl.enqueue_copy(queue, results[-1], c)
    np.testing.assert_array_equal(results[1], results[0])
    assert "tile 8, for any size" in words_of(seen[-1])
    assert seen[-1].local_size == (16, 8)


def test_an_exact_tile_that_the_kernel_refuses_leaves_it_as_it_is(queue: cl.CommandQueue) -> None:
    seen: list[DividedLaunch] = []
    variant = Variant((16,), transforms=Transforms(tile=Tile("8")))
    source = "kernel void scale(global float *c) { c[get_global_id(0)] *= 2; }"
    advisor = FakeAdvisor(Decision(variant, "a test says so", is_exact=True))
    program = Program(queue.context, source, tune=advisor, observer=Launches(seen)).build()
    c = filled(queue, np.ones(N, np.float32))
    program.scale(queue, (N,), (16,), c)
    assert not seen[0].is_rewritten
    assert "does not fit this launch" in (seen[0].reason or "")


def test_what_is_advised_is_coarsened_without_a_tile_where_none_is_made(queue: cl.CommandQueue) -> None:
    seen: list[DividedLaunch] = []
    variant = Variant((16,), (Coarsening(4),), transforms=Transforms(tile=Tile("8")))
    source = "kernel void scale(global float *c) { c[get_global_id(0)] *= 2; }"
    advisor = FakeAdvisor(Decision(variant, "a test says so"))
    program = Program(queue.context, source, tune=advisor, observer=Launches(seen)).build()
    c = filled(queue, np.ones(N, np.float32))
    program.scale(queue, (N,), (16,), c)
    assert seen[0].coarsenings == (Coarsening(4),)
    assert seen[0].transforms == Transforms(device_kind=variant.transforms.device_kind)


def test_memory_that_overlaps_is_read_where_it_is(queue: cl.CommandQueue) -> None:
    seen = Recorder()
    program = Program(queue.context, SOURCE, factor=(2, 4), dim=(0, 1), tile="8", observer=seen).build()
    same = filled(queue, np.zeros((N, N), np.float32))
    program.product(queue, (N, N), (16, 8), same, same, same, np.int32(9))
    assert seen.seen == [Tile()]


def test_a_kernel_without_loops_is_coarsened_without_tiles(queue: cl.CommandQueue) -> None:
    seen = Recorder()
    source = "kernel void scale(global float *c) { c[get_global_id(0)] *= 2; }"
    program = Program(queue.context, source, factor=4, tile="8", observer=seen).build()
    c = filled(queue, np.ones(N, np.float32))
    program.scale(queue, (N,), (16,), c)
    got = np.empty(N, np.float32)
    cl.enqueue_copy(queue, got, c)
    assert (got == 2).all()
    assert seen.seen == [Tile()]


def test_what_is_advised_runs_at_its_own_local_size(queue: cl.CommandQueue) -> None:
    seen = Recorder()
    coarsenings = (Coarsening(4, 0, 8), Coarsening(2, 1, 4))
    variant = Variant((32, 8), coarsenings, transforms=Transforms(tile=Tile("16")))
    advisor = FakeAdvisor(Decision(variant, "a test says so", is_exact=True))
    program = Program(queue.context, SOURCE, tune=advisor, observer=seen).build()
    product(queue, program, (8, 8), 37)
    assert seen.seen == [Tile("16")]


def test_what_is_remembered_with_a_tile_is_left_where_none_are_allowed() -> None:
    variant = Variant((16, 8), transforms=Transforms(tile=Tile("8")))
    assert is_allowed(variant, Tune())
    assert not is_allowed(variant, Tune(tiles=False))
