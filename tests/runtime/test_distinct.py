"""Variants for distinct arguments: which launches run them, and that others give the general kernel's result."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyopencl as cl
import pytest
from numpy.typing import NDArray

import coarsen
from coarsen.drop_in.program import Program
from coarsen.runtime.advice import Decision, LaunchRequest, Policy
from coarsen.runtime.arguments import SetArguments
from coarsen.runtime.launch import DividedLaunch, OriginalLaunch
from coarsen.variant.coarsening import Coarsening
from coarsen.variant.transforms import Transforms
from coarsen.variant.variant import Variant

# What a work-item reads of `a` may be what it has written of `c`; no work-item meets another.
SOURCE = """
kernel void add(global int *a, global int *b, global int *c, int shift, int n)
{
    int i = get_global_id(0);
    for (int k = 0; k < n; k++)
        c[i] += a[i + shift] + b[i + shift];
}
"""
ITEMS, ROUNDS = 96, 5
DISTINCT = Transforms(distinct=True)


@dataclass(frozen=True)
class Memory:
    """What is passed; `whole` is kept, since Intel's runtime forgets where parts of a buffer lie that is gone."""

    a: cl.Buffer
    b: cl.Buffer
    c: cl.Buffer
    shift: int
    whole: cl.Buffer | None = None

    @property
    def buffers(self) -> tuple[cl.Buffer, cl.Buffer, cl.Buffer]:
        """The arguments."""
        return self.a, self.b, self.c


@dataclass
class Recorder:
    """Remembers by which transforms the launches ran; None for the program's own."""

    seen: list[Transforms | None] = field(default_factory=list)

    def launched(self, kernel: str, original: OriginalLaunch, divided: DividedLaunch) -> None:
        assert divided.coarsenings
        self.seen.append(divided.transforms)

    @property
    def were_distinct(self) -> list[bool]:
        """For each launch, whether its variant took arguments as distinct."""
        return [transforms is None or transforms.distinct for transforms in self.seen]


@dataclass
class Advisor(Policy):
    """Advises the variant for distinct arguments, with wide accesses."""

    looks_at_arguments = False

    def known_variants(self, request: LaunchRequest) -> tuple[Variant, ...]:
        return ()

    def choose(self, request: LaunchRequest) -> Decision | None:
        return Decision(
            Variant((), (Coarsening(4),), transforms=Transforms(wide_accesses=True, distinct=True)), "so"
        )


def _new(context: cl.Context, flags: int = cl.mem_flags.READ_WRITE) -> cl.Buffer:
    values = np.arange(2 * ITEMS, dtype=np.int32) % 17 + 1
    return cl.Buffer(context, flags | cl.mem_flags.COPY_HOST_PTR, hostbuf=values)


def _parts(context: cl.Context, first: int, second: int) -> tuple[cl.Buffer, cl.Buffer, cl.Buffer]:
    """Two parts of a buffer, as long as a buffer of its own, from two bytes on; and that buffer."""
    step = max(device.mem_base_addr_align for device in context.devices) // 8
    size = 2 * ITEMS * 4
    count = (step * max(first, second) + size) // 4
    whole = cl.Buffer(
        context,
        cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR,
        hostbuf=np.arange(count, dtype=np.int32) % 17 + 1,
    )
    return (
        whole.get_sub_region(step * first, size, cl.mem_flags.READ_WRITE),
        whole.get_sub_region(step * second, size, cl.mem_flags.READ_WRITE),
        whole,
    )


def two_buffers(context: cl.Context) -> Memory:
    return Memory(_new(context), _new(context), _new(context), 3)


def read_only_twice(context: cl.Context) -> Memory:
    read = _new(context)
    return Memory(read, read, _new(context), 3)


def parts_that_do_not_meet(context: cl.Context) -> Memory:
    first, second, whole = _parts(context, 0, 100)
    return Memory(first, _new(context), second, 3, whole)


def written_twice(context: cl.Context) -> Memory:
    both = _new(context)
    return Memory(both, _new(context), both, 0)


def parts_that_meet(context: cl.Context) -> Memory:
    step = max(device.mem_base_addr_align for device in context.devices) // 8
    first, second, whole = _parts(context, 0, 1)
    return Memory(first, _new(context), second, step // 4, whole)


def the_same_part(context: cl.Context) -> Memory:
    first, second, whole = _parts(context, 1, 1)
    return Memory(first, _new(context), second, 0, whole)


def whole_and_part(context: cl.Context) -> Memory:
    first, _, whole = _parts(context, 0, 1)
    return Memory(whole, _new(context), first, 0)


def other_twice(context: cl.Context) -> Memory:
    both = _new(context)
    return Memory(_new(context), both, both, 0)


APART = (two_buffers, read_only_twice, parts_that_do_not_meet)
SHARED = (written_twice, parts_that_meet, the_same_part, whole_and_part, other_twice)


def called(queue: cl.CommandQueue, program: cl.Program, memory: Memory) -> None:
    program.add(queue, (ITEMS,), (24,), *memory.buffers, np.int32(memory.shift), np.int32(ROUNDS))


def enqueued(queue: cl.CommandQueue, program: cl.Program, memory: Memory) -> None:
    kernel = program.add
    kernel.set_args(*memory.buffers, np.int32(memory.shift), np.int32(ROUNDS))
    cl.enqueue_nd_range_kernel(queue, kernel, (ITEMS,), (24,))


def typed(queue: cl.CommandQueue, program: cl.Program, memory: Memory) -> None:
    kernel = program.add
    kernel.set_scalar_arg_dtypes([None, None, None, np.int32, np.int32])
    kernel(queue, (ITEMS,), (24,), *memory.buffers, memory.shift, ROUNDS)


def of_any_size(queue: cl.CommandQueue, program: cl.Program, memory: Memory) -> None:
    program.add(queue, (ITEMS - 3,), None, *memory.buffers, np.int32(memory.shift), np.int32(ROUNDS))


def left(queue: cl.CommandQueue, memory: Memory) -> list[NDArray[np.int32]]:
    contents = []
    for buffer in memory.buffers:
        contents.append(np.empty(buffer.size // 4, np.int32))
        cl.enqueue_copy(queue, contents[-1], buffer)
    return contents


@pytest.fixture(params=["requested", "requested of a drop-in", "advised"])
def program(request: pytest.FixtureRequest, context: cl.Context) -> Iterator[tuple[Program, Recorder]]:
    """A program whose kernel is coarsened for distinct arguments, and what sees its launches."""
    seen = Recorder()
    how: dict[str, Any] = {"tune": Advisor()} if request.param == "advised" else {"factor": 4, "distinct": True}
    kind = coarsen.Program if "drop-in" in request.param else Program
    yield kind(context, SOURCE, observer=seen, **how).build(), seen


@pytest.mark.parametrize("launch", [called, enqueued, typed, of_any_size], ids=lambda f: f.__name__)
def test_each_launch_gives_the_original_result(
    launch: Callable[..., None], program: tuple[Program, Recorder], context: cl.Context, queue: cl.CommandQueue
) -> None:
    coarsened, seen = program
    original = cl.Program(context, SOURCE).build()
    for make in (*SHARED, *APART, *SHARED):
        wanted, got = make(context), make(context)
        launch(queue, original, wanted)
        launch(queue, coarsened, got)
        for expected, found in zip(left(queue, wanted), left(queue, got), strict=True):
            np.testing.assert_array_equal(found, expected, make.__name__)
    assert seen.were_distinct == [*itertools.repeat(False, 5), True, True, True, *itertools.repeat(False, 5)]


def test_the_variant_for_distinct_arguments_is_wrong_for_others(
    context: cl.Context, queue: cl.CommandQueue
) -> None:
    seen = Recorder()
    program = Program(context, SOURCE, factor=4, distinct=True, observer=seen).build()
    memory, wanted = written_twice(context), written_twice(context)
    called(queue, cl.Program(context, SOURCE).build(), wanted)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SetArguments, "are_apart", lambda *_: True)
        called(queue, program, memory)
    assert seen.were_distinct == [True]
    assert not np.array_equal(left(queue, memory)[2], left(queue, wanted)[2])


def _noted(*values: object) -> SetArguments:
    noted = SetArguments(len(values))
    noted.note_all(values)
    return noted


def test_null_overlaps_nothing(context: cl.Context) -> None:
    buffer = _new(context)
    assert _noted(None, buffer, None).are_apart([(0, 1), (0, 2)])


def test_what_is_not_known_may_overlap(context: cl.Context) -> None:
    buffer = _new(context)
    shared = cl.SVM(np.zeros(4, np.int32))
    assert not _noted(shared, buffer).are_apart([(0, 1)])
    assert not _noted(np.int32(1), buffer).are_apart([(0, 1)])
    assert not SetArguments(2).are_apart([(0, 1)])


def test_a_buffer_on_the_hosts_memory_may_overlap_any_other(context: cl.Context) -> None:
    values = np.zeros(1024, np.int32)
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.USE_HOST_PTR
    first, second = (cl.Buffer(context, flags, hostbuf=part) for part in (values, values[:512]))
    assert not _noted(first, second).are_apart([(0, 1)])
    # The host may have mapped the other one there.
    assert not _noted(first, _new(context)).are_apart([(0, 1)])
