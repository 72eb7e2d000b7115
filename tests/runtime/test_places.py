"""Arrays in other memory: which launches run such a variant, and that all give the original's result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import pyopencl as cl
import pytest
from numpy.typing import NDArray

import coarsen
from coarsen.drop_in.program import Program
from coarsen.errors import InvalidInputError, RefusalError
from coarsen.runtime.arguments import SetArguments, suits
from coarsen.runtime.launch import DividedLaunch, OriginalLaunch
from coarsen.runtime.text_cache.store import Entry, entry_of, file_of
from coarsen.runtime.toolchain import Code
from coarsen.variant.data_plan import ArrayPlan, array_plan
from coarsen.variant.placement import Place, PlacedArgument

# A work-item reads again what it has written, where `w` is `out`; none meets another.
SOURCE = """
kernel void grow(global int *out, global const int *w, int rounds)
{
    int i = get_global_id(0);
    for (int k = 0; k < rounds; k++)
        out[i] += 3 * w[i] + k;
}
"""
ITEMS, ROUNDS = 96, 5
BYTES = 4 * ITEMS


def plan(place: str, elements: int | None = ITEMS) -> ArrayPlan:
    return array_plan("w", place=place, shape=[elements] if place == "local" and elements else None)


PLANS = [plan("constant"), plan("noncoherent"), plan("local")]


@dataclass(frozen=True)
class Memory:
    """What is passed; `whole` is kept, since Intel's runtime forgets where parts of a buffer lie that is gone."""

    out: cl.Buffer
    w: cl.Buffer
    whole: cl.Buffer | None = None


@dataclass
class Recorder:
    """Remembers where launches found arrays."""

    places: list[Place] = field(default_factory=list)
    launches: list[DividedLaunch] = field(default_factory=list)

    def launched(self, kernel: str, original: OriginalLaunch, divided: DividedLaunch) -> None:
        assert divided.coarsenings
        self.launches.append(divided)
        self.places.append(divided.arrays[0].place if divided.arrays else Place.GLOBAL)


def new(context: cl.Context, items: int = ITEMS, flags: int = cl.mem_flags.READ_WRITE) -> cl.Buffer:
    values = np.arange(items, dtype=np.int32) % 17 + 1
    return cl.Buffer(context, flags | cl.mem_flags.COPY_HOST_PTR, hostbuf=values)


def parts(context: cl.Context, first: int, second: int) -> Memory:
    """Parts of a buffer, from two multiples of what they may begin at on."""
    step = max(device.mem_base_addr_align for device in context.devices) // 8
    whole = new(context, (step * max(first, second) + BYTES) // 4)
    out, w = (whole.get_sub_region(step * each, BYTES, cl.mem_flags.READ_WRITE) for each in (first, second))
    return Memory(out, w, whole)


def two_buffers(context: cl.Context) -> Memory:
    return Memory(new(context), new(context))


def parts_that_do_not_meet(context: cl.Context) -> Memory:
    return parts(context, 0, 8)


def with_table_of(items: int, context: cl.Context) -> Memory:
    return Memory(new(context), new(context, items))


def one_buffer(context: cl.Context) -> Memory:
    both = new(context)
    return Memory(both, both)


def whole_and_part(context: cl.Context) -> Memory:
    memory = parts(context, 0, 0)
    assert memory.whole is not None
    return Memory(memory.whole, memory.w, memory.whole)


APART = (two_buffers, parts_that_do_not_meet)
SHARED = (one_buffer, whole_and_part)


def run(queue: cl.CommandQueue, program: cl.Program, memory: Memory) -> NDArray[np.int32]:
    program.grow(queue, (ITEMS,), (24,), memory.out, memory.w, np.int32(ROUNDS))
    found = np.empty(ITEMS, np.int32)
    cl.enqueue_copy(queue, found, memory.out)
    return found


def same(queue: cl.CommandQueue, program: cl.Program, make: Callable[[cl.Context], Memory]) -> None:
    """Check that a program's launch leaves what the original does."""
    context = queue.context
    wanted = run(queue, cl.Program(context, SOURCE).build(), make(context))
    np.testing.assert_array_equal(run(queue, program, make(context)), wanted, str(make))


@pytest.mark.parametrize("kind", [Program, coarsen.Program])
@pytest.mark.parametrize("chosen", PLANS, ids=lambda chosen: str(chosen.place))
def test_each_launch_gives_the_original_result(
    chosen: ArrayPlan, kind: type[Program], queue: cl.CommandQueue
) -> None:
    seen = Recorder()
    program = kind(queue.context, SOURCE, factor=4, arrays=[chosen], observer=seen).build()
    for make in (*SHARED, *APART, *SHARED):
        same(queue, program, make)
    assert seen.places == [Place.GLOBAL] * 2 + [chosen.place] * 2 + [Place.GLOBAL] * 2


def test_the_variant_is_wrong_where_memory_is_shared(queue: cl.CommandQueue) -> None:
    program = Program(queue.context, SOURCE, factor=4, arrays=[plan("local")]).build()
    wanted = run(queue, cl.Program(queue.context, SOURCE).build(), one_buffer(queue.context))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SetArguments, "suit", lambda *_: True)
        assert not np.array_equal(run(queue, program, one_buffer(queue.context)), wanted)


def limit_constant_memory(monkeypatch: pytest.MonkeyPatch, limit: int) -> None:
    def suits_it(placed: PlacedArgument, memory: cl.MemoryObject | None, _: int) -> bool:
        return suits(placed, memory, limit)

    monkeypatch.setattr("coarsen.runtime.arguments.suits", suits_it)


def test_a_buffer_too_large_for_constant_memory_stays_in_global_memory(
    queue: cl.CommandQueue, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = Recorder()
    program = Program(queue.context, SOURCE, factor=4, arrays=[plan("constant")], observer=seen).build()
    limit_constant_memory(monkeypatch, BYTES - 1)
    same(queue, program, two_buffers)
    limit_constant_memory(monkeypatch, BYTES)
    same(queue, program, two_buffers)
    # A part of a larger buffer: a driver may take that for what is passed.
    same(queue, program, parts_that_do_not_meet)
    assert seen.places == [Place.GLOBAL, Place.CONSTANT, Place.GLOBAL]


def test_the_limit_is_that_of_the_device(queue: cl.CommandQueue, monkeypatch: pytest.MonkeyPatch) -> None:
    limits: list[int] = []

    def noted(placed: PlacedArgument, memory: cl.MemoryObject | None, limit: int) -> bool:
        limits.append(limit)
        return suits(placed, memory, limit)

    monkeypatch.setattr("coarsen.runtime.arguments.suits", noted)
    program = Program(queue.context, SOURCE, factor=4, arrays=[plan("constant")]).build()
    same(queue, program, two_buffers)
    assert set(limits) == {queue.device.max_constant_buffer_size}


def test_a_buffer_of_another_size_is_not_copied(queue: cl.CommandQueue) -> None:
    seen = Recorder()
    program = Program(queue.context, SOURCE, factor=4, arrays=[plan("local")], observer=seen).build()
    for items in (ITEMS + 1, ITEMS, 2 * ITEMS):
        same(queue, program, partial(with_table_of, items))
    assert seen.places == [Place.GLOBAL, Place.LOCAL, Place.GLOBAL]


def test_pads_stay_where_places_go(queue: cl.CommandQueue) -> None:
    source = """
    kernel void grow(global int *out, global const int *w, int rounds)
    {
        local int tile[24][4];
        int i = get_global_id(0), l = get_local_id(0);
        tile[l][l % 4] = w[i];
        for (int k = 0; k < rounds; k++)
            out[i] += 3 * tile[l][l % 4] + k;
    }
    """
    seen = Recorder()
    arrays = [plan("constant"), array_plan("tile", pad=1)]
    program = Program(queue.context, source, factor=2, arrays=arrays, observer=seen).build()
    original = cl.Program(queue.context, source).build()
    for make in (one_buffer, two_buffers):
        wanted = run(queue, original, make(queue.context))
        np.testing.assert_array_equal(run(queue, program, make(queue.context)), wanted)
    assert [[each.argument for each in launch.arrays] for launch in seen.launches] == [["tile"], ["tile", "w"]]
    assert "not suit" in (seen.launches[0].reason or "") and seen.launches[1].reason is None


def test_distinct_arguments_and_places_are_given_up_apart(
    queue: cl.CommandQueue, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = Recorder()
    program = Program(
        queue.context, SOURCE, factor=4, distinct=True, arrays=[plan("constant")], observer=seen
    ).build()
    same(queue, program, two_buffers)
    limit_constant_memory(monkeypatch, 1)
    same(queue, program, two_buffers)
    same(queue, program, one_buffer)
    assert seen.places == [Place.CONSTANT, Place.GLOBAL, Place.GLOBAL]
    distinct = [each.transforms is None or each.transforms.distinct for each in seen.launches]
    assert distinct == [True, True, False]


def test_launches_that_do_not_divide_run_as_well(queue: cl.CommandQueue) -> None:
    for chosen in PLANS:
        seen = Recorder()
        program = Program(queue.context, SOURCE, factor=8, arrays=[chosen], observer=seen).build()
        for size in (12, 16):
            memory, wanted = two_buffers(queue.context), two_buffers(queue.context)
            for one, each in ((program, memory), (cl.Program(queue.context, SOURCE).build(), wanted)):
                one.grow(queue, (ITEMS,), (size,), each.out, each.w, np.int32(ROUNDS))
            found, expected = np.empty(ITEMS, np.int32), np.empty(ITEMS, np.int32)
            cl.enqueue_copy(queue, found, memory.out)
            cl.enqueue_copy(queue, expected, wanted.out)
            np.testing.assert_array_equal(found, expected)
        assert set(seen.places) == {chosen.place}


def noted(*values: object) -> SetArguments:
    found = SetArguments(len(values))
    found.note_all(values)
    return found


def test_null_is_no_array_to_copy(context: cl.Context) -> None:
    # Kept: arguments that are set are known by their addresses.
    buffer = new(context)
    passed = noted(None, buffer)
    assert passed.suit([PlacedArgument(0, Place.CONSTANT, (1,))], 0)
    assert passed.suit([PlacedArgument(0, Place.NONCOHERENT)], 0)
    assert not passed.suit([PlacedArgument(0, Place.LOCAL, (), 0)], 0)


def test_what_is_not_known_suits_no_place(context: cl.Context) -> None:
    shared, buffer = cl.SVM(np.zeros(ITEMS, np.int32)), new(context)
    for place in (Place.CONSTANT, Place.NONCOHERENT, Place.LOCAL):
        placed = PlacedArgument(0, place, (), BYTES)
        assert not noted(shared).suit([placed], BYTES)
        assert not SetArguments(1).suit([placed], BYTES)
        assert noted(buffer).suit([placed], BYTES)


def test_a_stored_kernel_keeps_what_its_launches_need() -> None:
    kernel = coarsen.coarsen(SOURCE, factor=2, arrays=[plan("local")])
    assert kernel.placed_arguments == (PlacedArgument(1, Place.LOCAL, (0,), BYTES),)
    entry = Entry("key", Code.of(kernel, "opencl_c"), None)
    assert entry_of(file_of(entry), "key", Code) == entry


def test_more_arguments_than_constant_memory_takes_are_refused() -> None:
    names = [f"c{number}" for number in range(9)]
    source = f"kernel void k(global int *out, {', '.join(f'global const int *{name}' for name in names)})"
    source += f"{{ int i = get_global_id(0); out[i] = {' + '.join(f'{name}[i]' for name in names)}; }}"
    plans = [array_plan(name, place="constant") for name in names]
    assert len(coarsen.coarsen(source, arrays=plans[:8]).placed) == 8
    with pytest.raises(RefusalError, match="9 arguments") as caught:
        coarsen.coarsen(source, arrays=plans)
    assert caught.value.code == "place-too-large"


TWO = SOURCE + "kernel void other(global int *to) { to[get_global_id(0)] = 1; }"


def test_arrays_by_kernel(queue: cl.CommandQueue) -> None:
    seen = Recorder()
    program = Program(queue.context, TWO, factor=4, arrays={"grow": [plan("constant")]}, observer=seen).build()
    same(queue, program, two_buffers)
    program.other(queue, (ITEMS,), (24,), new(queue.context))
    assert seen.places == [Place.CONSTANT, Place.GLOBAL]


@pytest.mark.parametrize(
    ("arrays", "said"),
    [
        ({"grew": [plan("constant")]}, "names the kernel 'grew', which is not to be coarsened"),
        ([plan("constant")], "the kernel other has no argument w"),
        ([array_plan("w", layout="soa")], "give its coarsen.Layout by its name"),
        (["w=constant"], "arrays are given as a sequence of coarsen.array_plan"),
        (5, "arrays are given as a sequence of coarsen.array_plan"),
        ({"scale": 5}, "arrays are given as a sequence of coarsen.array_plan"),
        ([plan("constant"), plan("local")], "laid out twice"),
    ],
)
def test_arrays_that_can_not_be(arrays: object, said: str, context: cl.Context) -> None:
    given: Any = arrays
    with pytest.raises(InvalidInputError, match=said):
        Program(context, TWO, factor=4, arrays=given).build()
