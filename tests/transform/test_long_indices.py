"""Long indices: which indices become long, and that results are the same with them as without."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyopencl as cl
import pytest

from coarsen.api import coarsen
from coarsen.devices.discovery import DeviceDescription, open_device
from coarsen.devices.selection import find_device
from coarsen.drop_in.program import Program
from coarsen.frontend.lower import lower
from coarsen.pipeline import CoarsenedKernel
from coarsen.runtime.advice import Decision
from coarsen.transform.long_indices import lengthen_indices
from coarsen.tuning.settings import Tune
from coarsen.variant.coarsening import Coarsening, Configuration
from coarsen.variant.space import Dimension, TransformChoices, VariantSpace
from coarsen.variant.transforms import Tile, Transforms
from coarsen.variant.variant import Variant
from tests.runtime.advisors import FakeAdvisor
from tests.transform.cases import CASES, Case
from tests.transform.harness import (
    assert_same,
    coarsened,
    coarsened_outcome,
    form_by_turns,
    lowered,
    original_outcome,
    turns_of,
)

LONG = Transforms(long_indices=True)
CONFIGURATIONS: tuple[Configuration, ...] = (
    (),
    (Coarsening(4),),
    (Coarsening(2, 1),),
    (Coarsening(2), Coarsening(2, 1)),
)


@dataclass(frozen=True)
class Small:
    """A kernel of 16 × 4 work-items, and how many of its indices become long."""

    name: str
    body: str
    long: int

    @property
    def case(self) -> Case:
        """How it is launched: room for 512 elements."""
        parameters = "global int *to, global const int *from, int width"

        def arguments(rng: np.random.Generator, _items: int) -> list[Any]:
            return [*(rng.integers(0, 100, 512).astype(np.int32) for _ in range(2)), np.int32(16)]

        text = f"kernel void k({parameters})\n{{\n{self.body}\n}}\n"
        return Case("k", (16, 4), (8, 4), arguments, factors=(2, 4), text=text)


XY = "int x = get_global_id(0), y = get_global_id(1);"
SMALL = (
    Small("rows", f"{XY} to[y * width + x] = from[y * width + x + 1];", 2),
    Small("columns", f"{XY} to[x * 4 + y] = from[x * width + y];", 2),
    Small("differences", f"{XY} to[y * width + x] = from[300 - x + y];", 2),
    Small(
        "in_a_loop",
        f"{XY} int s = 0; for (int k = 0; k < 7; ++k) s += from[k * width + x]; to[y * 16 + x] = s;",
        2,
    ),
    Small(
        "within_a_group", "int x = get_local_id(0); to[get_global_id(0) + 16 * get_global_id(1)] = from[x + 3];", 1
    ),
    Small("of_a_square", f"{XY} to[y * width + x] = from[x * x + y];", 2),
    Small("a_term_of_what_is_read", f"{XY} to[y * width + x] = from[x + (from[y] & 63)];", 2),
    # Nothing is computed in 32 bits, or it may wrap around, or the place along dimension 0 is no term.
    Small("ids_of_64_bits", "size_t x = get_global_id(0); to[get_global_id(1) * 16 + x] = from[x];", 0),
    Small(
        "unsigned", "uint x = get_global_id(0), y = get_global_id(1); to[y * width + x] = from[x + 400 - 3];", 0
    ),
    Small("along_another_dimension", f"{XY} if (x == 0) to[y * width] = from[y + 1];", 0),
    Small("a_quotient", f"{XY} if (y == 0) to[x] = from[x / 2];", 0),
    Small("shifted", f"{XY} if (y == 0) to[x] = from[x << 1];", 0),
    Small("eight_bits", f"{XY} if (y == 0) to[x] = from[(uchar)(x + 250)];", 0),
    Small("a_value", f"{XY} to[(size_t)y * 16 + x] = x * 7 + y;", 0),
)


@pytest.mark.parametrize("small", SMALL, ids=lambda small: small.name)
def test_which_indices_become_long(small: Small) -> None:
    made = lengthen_indices(lowered(small.case))
    assert (made[1] if made else 0) == small.long


@pytest.mark.parametrize(
    ("number", "small"), [pytest.param(n, each, id=each.name) for n, each in enumerate(SMALL)]
)
def test_small_kernels_give_the_same(
    number: int, small: Small, device: DeviceDescription, queue: cl.CommandQueue
) -> None:
    check_by_turns(small.case, CONFIGURATIONS, number, device, queue)


@pytest.mark.parametrize(("number", "case"), [pytest.param(n, case, id=case.name) for n, case in enumerate(CASES)])
def test_hazards_give_the_same(number: int, case: Case, device: DeviceDescription, queue: cl.CommandQueue) -> None:
    merged = (Coarsening(case.factors[0], case.dimensions[0]),)
    check_by_turns(case, ((), merged), number, device, queue)


def check_by_turns(
    case: Case,
    configurations: tuple[Configuration, ...],
    number: int,
    device: DeviceDescription,
    queue: cl.CommandQueue,
) -> None:
    """Compare with the original where any index is long."""
    for place, turn in turns_of(device, number, len(configurations)).items():
        chosen = configurations[place]
        made = coarsened(case, chosen, LONG)
        if made.long_indices:
            outcome = coarsened_outcome(queue, made, form_by_turns(device, turn), case, chosen)
            assert_same(original_outcome(queue.context, case), outcome, case.tolerance)


SOURCE = """
kernel void columns(global const int *from, global int *to, int width, int height)
{
    int x = get_global_id(0);
    int sum = 0;
    for (int y = 0; y < height; ++y)
        sum += from[y * width + x];
    to[x] = sum;
}
"""


def test_the_place_is_extended_once() -> None:
    made: CoarsenedKernel = coarsen(SOURCE, factor=2, long_indices=True)
    text = made.opencl_c
    assert text.count("long long_x = x;") == 1
    assert text.count("+ long_x]") == text.count("to[long_x]") == 1
    assert "(long)x" not in text
    assert "long_" not in coarsen(SOURCE, factor=2).opencl_c


@pytest.mark.parametrize("local_size", [None, (8,)])
def test_a_program_launches_long_indices_of_what_is_not_merged(
    queue: cl.CommandQueue, local_size: tuple[int, ...] | None
) -> None:
    program = Program(queue.context, SOURCE, factor=1, long_indices=True).build()
    values = np.arange(96, dtype=np.int32)
    flags = cl.mem_flags
    source = cl.Buffer(queue.context, flags.COPY_HOST_PTR | flags.READ_ONLY, hostbuf=values)
    to = cl.Buffer(queue.context, flags.READ_WRITE, 24 * 4)
    program.columns(queue, (24,), local_size, source, to, np.int32(24), np.int32(4))
    got = np.empty(24, np.int32)
    cl.enqueue_copy(queue, got, to)
    assert got.tolist() == values.reshape(4, 24).sum(axis=0).tolist()


@pytest.mark.parametrize("factor", [1, 4])
@pytest.mark.parametrize("tile", ["no", "16"])
def test_a_launch_that_can_not_be_rewritten_stays_as_it_is(
    factor: int, tile: str, device: DeviceDescription, queue: cl.CommandQueue
) -> None:
    """Work-groups of any size are OpenCL C 2.0's, and the text of variants is not."""
    options, items = (["-cl-std=CL2.0"], 23) if device.takes_spirv else ([], 24)
    # Its groups matter.
    source = SOURCE.replace("int sum = 0;", "int sum = get_group_id(0);")
    merged = (Coarsening(factor),) if factor > 1 else ()
    transforms = Transforms(long_indices=True, tile=Tile(tile))
    advice = FakeAdvisor(Decision(Variant((), merged, transforms=transforms), "a test says so"))
    asked: list[dict[str, Any]] = [{"tune": advice}, {"factor": factor, "long_indices": True, "tile": tile}]
    for how in asked:
        program = Program(queue.context, source, **how).build(options)
        values = np.arange(4 * items, dtype=np.int32)
        flags = cl.mem_flags
        given = cl.Buffer(queue.context, flags.COPY_HOST_PTR | flags.READ_ONLY, hostbuf=values)
        to = cl.Buffer(queue.context, flags.READ_WRITE, items * 4)
        program.columns(queue, (items,), (8,), given, to, np.int32(items), np.int32(4))
        got = np.empty(items, np.int32)
        cl.enqueue_copy(queue, got, to)
        assert got.tolist() == (values.reshape(4, items).sum(axis=0) + np.arange(items) // 8).tolist()


HEAD = "kernel void k(global int *to, global const int *from)"


def test_sums_of_sums_are_computed_once() -> None:
    """Each is a term twice over: as trees they would have 2^24 leaves."""
    body = "".join("t = t * t + 1; " for _ in range(24))
    text = f"{HEAD} {{ int t = FIRST; {body} to[t] = from[t + 1]; }}"
    for first, count in (("get_global_id(0)", 2), ("from[get_global_id(0)]", 0)):
        kernel = lower(text.replace("FIRST", first), "k")
        made = lengthen_indices(kernel)
        assert (made[1] if made else 0) == count
        if made:
            assert sum(1 for block in made[0].function("k").blocks for _ in block.instructions) < 300


def test_a_sum_may_have_many_terms() -> None:
    terms = "".join(f" + from[{number}]" for number in range(1500))
    text = f"{HEAD} {{ int x = get_global_id(0); to[x{terms}] = x; }}"
    made = lengthen_indices(lower(text, "k"))
    assert made is not None and made[1] == 1


@pytest.mark.parametrize("values", [(False, True), (True, False)])
def test_variants_are_found_again_in_a_space(values: tuple[bool, ...]) -> None:
    choices = TransformChoices(long_indices=values, tile=(Tile("16"), Tile()))
    space = VariantSpace((Dimension("factor_0", (1, 2)), *choices.dimensions()))
    found = [*space]
    assert len(found) == 8
    assert all(space.variant(space.choice_of(each)) == each for each in found)


@pytest.mark.parametrize(("how", "index"), [({"long_indices": True}, "uint x"), ({"tile": "16"}, "int x")])
def test_programs_with_transforms_of_their_own_are_tuned(
    how: dict[str, Any], index: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    context = cl.Context([open_device(find_device("pocl"))])
    tune = Tune(seconds=20, trials=2, store=str(tmp_path / "found.db"))
    program = Program(context, SOURCE.replace("int x", index), tune=tune, **how).build()
    given, to = (cl.Buffer(context, cl.mem_flags.READ_WRITE, 4 * 64 * 64) for _ in range(2))
    with caplog.at_level("INFO", "coarsen"):
        program.columns(cl.CommandQueue(context), (64,), (64,), given, to, np.int32(64), np.int32(64)).wait()
    assert caplog.messages and not [text for text in caplog.messages if "not in the space" in text]
