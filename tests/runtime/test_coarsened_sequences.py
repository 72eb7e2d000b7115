"""Launches of a version of several are coarsened where that is exactly right for their sizes, else as written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyopencl as cl
import pytest

import coarsen
from coarsen.dispatch.tree import Leaf
from coarsen.dispatch.tuned_file import TunedFile
from coarsen.dispatch.tuned_version import TunedLaunch, TunedVersion
from coarsen.errors import InvalidInputError
from coarsen.runtime.arguments import ENQUEUE
from coarsen.runtime.kernel import Kernel
from coarsen.variant.coarsening import Coarsening, Level
from coarsen.variant.transforms import Transforms
from coarsen.variant.variant import Variant
from tests.runtime.time_loops import BACK, FORTH, IN_LOOP, SOURCE, Steps, loop_file

TWO = replace(FORTH, coarsened=True), replace(BACK, global_size=FORTH.global_size, local_size=(), coarsened=True)
FACTORS = [
    Variant((16,), (Coarsening(2, 0),)),
    Variant((16,), (Coarsening(4, 0, 4),)),
    Variant((16,), (Coarsening(2, 0, level=Level.GROUP),)),
    Variant((16,), (Coarsening(2, 0), Coarsening(2, 0, level=Level.GROUP))),
    Variant((), (Coarsening(3, 0),), any_size=True),
    Variant((16,), (Coarsening(4, 0),), transforms=Transforms(wide_accesses=True, distinct=True)),
]
Launched = list[tuple[str, tuple[int, ...], tuple[int, ...] | None]]


@pytest.fixture
def launched(monkeypatch: pytest.MonkeyPatch) -> Launched:
    """What sequences launch, in order: kernels, global and local sizes."""
    seen: Launched = []

    def enqueue(queue: cl.CommandQueue, kernel: cl.Kernel, whole: Any, local: Any, *rest: Any) -> cl.Event:  # noqa: ANN401 (as PyOpenCL has it)
        seen.append((kernel.function_name, whole, local))
        event: cl.Event = original(queue, kernel, whole, local, *rest)
        return event

    original = ENQUEUE
    monkeypatch.setattr("coarsen.runtime.sequence.ENQUEUE", enqueue)
    return seen


def kernel_of(context: cl.Context, variant: Variant, launches: Sequence[TunedLaunch] = TWO) -> Kernel:
    versions = (IN_LOOP, TunedVersion(variant, tuple(launches)))
    file = loop_file(context.devices[0], versions=versions, tree=Leaf(1))
    file = TunedFile.from_bytes(file.to_bytes())
    kernel = coarsen.Program(context, SOURCE, tuned=file).build().forth
    assert isinstance(kernel, Kernel)
    return kernel


@pytest.mark.compiled_devices
@pytest.mark.parametrize("variant", FACTORS, ids=str)
def test_results_are_those_of_the_loop(
    variant: Variant, context: cl.Context, queue: cl.CommandQueue, launched: Launched
) -> None:
    launches = [replace(each, global_size=("n",)) for each in TWO] if variant.any_size else TWO
    kernel = kernel_of(context, variant, launches)
    # 1024 divides by all; 1000 is rounded to 63 groups; of one group none merge.
    for n, steps in ((1024, 6), (1000, 4), (16, 3), (1, 3)):
        each = Steps(context, n, steps)
        each.check(kernel.launch(queue, *each.arguments))
    assert len(launched) == 2 * (5 + 3 + 2 + 2)
    # 342 that are guarded, in whole work-groups.
    merged = 352 if variant.any_size else 1024 // variant.factor
    assert {whole for _, whole, _ in launched[:10]} == {(merged,)}
    assert [name for name, *_ in launched] == ["forth", "back"] * 12


@pytest.mark.compiled_devices
def test_what_does_not_divide_runs_as_it_is_written(
    context: cl.Context, queue: cl.CommandQueue, launched: Launched
) -> None:
    """63 groups by two, and work-groups of one work-item; the other launch is coarsened all the same."""
    alone = replace(BACK, coarsened=True)
    kernel = kernel_of(context, FACTORS[0], (TWO[0], alone))
    each = Steps(context, 1000, 3)
    each.check(kernel.launch(queue, *each.arguments))
    assert launched == [("forth", (504,), (8,)), ("back", (1000,), (1,))] * 2
    launched.clear()
    kernel = kernel_of(context, FACTORS[2], TWO)
    each = Steps(context, 1000, 3)
    each.check(kernel.launch(queue, *each.arguments))
    assert launched == [("forth", (1008,), (16,)), ("back", (1008,), (16,))] * 2


@pytest.mark.compiled_devices
def test_one_of_several_is_coarsened(context: cl.Context, queue: cl.CommandQueue, launched: Launched) -> None:
    kernel = kernel_of(context, FACTORS[1], (TWO[0], replace(TWO[1], coarsened=False)))
    each = Steps(context, 64, 4)
    each.check(kernel.launch(queue, *each.arguments))
    assert launched == [("forth", (16,), (4,)), ("back", (64,), (16,))] * 3


@pytest.mark.compiled_devices
def test_memory_that_overlaps_is_not_taken_as_distinct(
    context: cl.Context, queue: cl.CommandQueue, launched: Launched
) -> None:
    kernel = kernel_of(context, FACTORS[5])
    n, whole = 64, np.arange(96, dtype=np.uint32)
    memory = cl.Buffer(context, cl.mem_flags.COPY_HOST_PTR, hostbuf=whole)
    first = memory.get_sub_region(0, 4 * n)
    kernel.launch(queue, first, memory, np.int32(n), np.int32(2), np.int32(0)).wait()
    assert launched[0] == ("forth", (64,), (16,))


@pytest.mark.compiled_devices
def test_sizes_that_shrink_are_coarsened_where_they_divide(
    context: cl.Context, queue: cl.CommandQueue, launched: Launched
) -> None:
    shrinking = replace(FORTH, global_size=("n - turn",), local_size=("2",), coarsened=True)
    even = replace(shrinking, global_size=("(n - turn) // 2 * 2",))
    kernel = kernel_of(context, Variant((16,), (Coarsening(2, 0),)), (even,))
    each = Steps(context, 12, 7)
    kernel.launch(queue, *each.arguments).wait()
    assert [whole for _, whole, _ in launched] == [(5,), (5,), (4,), (4,), (3,), (3,)]
    found, expected = np.empty_like(each.values), each.values.copy()
    cl.enqueue_copy(queue, found, each.b)
    for turn in range(1, 7):
        end = (12 - turn) // 2 * 2
        expected[:end] = 3 * each.values[:end] + np.roll(each.values, -1)[:end] + np.uint32(turn)
    assert (found == expected).all()


def test_a_kernel_that_can_not_be_coarsened_leaves_the_version_out(
    context: cl.Context, queue: cl.CommandQueue, caplog: pytest.LogCaptureFixture
) -> None:
    """The factor divides no local size: the version isn't built, and the default one runs."""
    kernel = kernel_of(context, Variant((16,), (Coarsening(5, 0),)))
    each = Steps(context, 100, 3)
    each.check(kernel.launch(queue, *each.arguments))
    assert "version 1 isn't used" in caplog.text


@pytest.mark.parametrize(
    ("variant", "launches", "message"),
    [
        (Variant((16,)), TWO, "a launch is coarsened, and its version says nothing of how"),
        (FACTORS[0], (FORTH, BACK), "a version of several launches is coarsened, and none of these is"),
    ],
)
def test_versions_that_contradict_themselves(
    variant: Variant,
    launches: tuple[TunedLaunch, ...],
    message: str,
    context: cl.Context,
) -> None:
    with pytest.raises(InvalidInputError, match=message):
        loop_file(context.devices[0], versions=(IN_LOOP, TunedVersion(variant, launches)))


def test_it_is_explained(context: cl.Context) -> None:
    text = str(kernel_of(context, FACTORS[0], (TWO[0], BACK)).explain(n=64, steps=3))
    assert "version 1: factor 2 along dimension 0, local size 16" in text
    assert "forth: global size (64,), local size (16,), before anything is merged, 2 times" in text
    assert "back: global size (64,), local size (1,), 2 times" in text
