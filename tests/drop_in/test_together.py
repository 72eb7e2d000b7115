"""`coarsen.Program.together`: launches that one launch may do, when it does, and what a region refuses."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyopencl as cl
import pytest
from numpy.typing import NDArray

import coarsen
from coarsen.drop_in import together
from coarsen.errors import InvalidInputError
from coarsen.fused import FusedKernel, fuse_launches

COUNT = 96
SOURCE = """
kernel void scale(int n, int k, global const int *a, global int *t)
{ int i = get_global_id(0); if (i < n) t[i] = k * a[i]; }
kernel void add(int n, global const int *t, global const int *b, global int *c)
{ int i = get_global_id(0); if (i >= n) return; c[i] = t[i] + b[i]; }
kernel void blur(int n, global const int *t, global int *c)
{ int i = get_global_id(0); if (i + 1 < n) c[i] = t[i] + t[i + 1]; }
kernel void sums(global const int *a, global int *s, local int *m)
{ int l = get_local_id(0); m[l] = a[get_global_id(0)]; barrier(CLK_LOCAL_MEM_FENCE);
  if (l == 0) { int r = 0; for (int k = 0; k < 8; ++k) r += m[k]; s[get_group_id(0)] = r; } }
"""
pytestmark = pytest.mark.compiled_devices
Numbers = NDArray[np.int32]
N, K = np.int32(COUNT - 3), np.int32(5)


class Region:
    """A program and its buffers `a`, `b`, `c` and `t`, `c` with 7 in it, `t` with 9."""

    def __init__(self, queue: cl.CommandQueue) -> None:
        self.queue = queue
        self.program = coarsen.Program(queue.context, SOURCE).build()
        self.numbers = np.arange(COUNT, dtype=np.int32)
        sevens, nines = (np.full(COUNT, each, np.int32) for each in (7, 9))
        contents = {"a": self.numbers, "b": self.numbers[::-1].copy(), "c": sevens, "t": nines}
        flags = cl.mem_flags.COPY_HOST_PTR
        self.buffers = {name: cl.Buffer(queue.context, flags, hostbuf=each) for name, each in contents.items()}

    def __getitem__(self, name: str) -> cl.Buffer:
        return self.buffers[name]

    def read(self, name: str) -> Numbers:
        found = np.empty(COUNT, np.int32)
        cl.enqueue_copy(self.queue, found, self[name])
        return found

    def scale(self, n: np.int32 = N, k: np.int32 = K) -> object:
        return self.program.scale(self.queue, (COUNT,), None, n, k, self["a"], self["t"])

    def add(self, n: np.int32 = N) -> object:
        return self.program.add(self.queue, (COUNT,), None, n, self["t"], self["b"], self["c"])

    def check(self, k: int, is_written: bool = True) -> None:
        """See that `scale` and `add` have run."""
        scaled = np.where(self.numbers < N, k * self.numbers, 9)
        np.testing.assert_array_equal(self.read("t"), scaled if is_written else 9)
        added = np.where(self.numbers < N, scaled + self.numbers[::-1], 7)
        np.testing.assert_array_equal(self.read("c"), added)


@pytest.fixture
def region(queue: cl.CommandQueue) -> Region:
    return Region(queue)


@pytest.fixture(params=[0.5, 2.0], ids=["faster", "slower"])
def cost(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> float:
    """What one launch takes of the time of two, as a clock says that only these turn."""

    def clock() -> Iterator[float]:
        now = 0.0
        while True:
            for passed in (0.0, 1.0, 0.0, request.param):
                now += passed
                yield now

    times = clock()
    monkeypatch.setattr("coarsen.drop_in.together.time.perf_counter", lambda: next(times))
    return float(request.param)


def test_what_is_measured_to_be_faster_is_taken(region: Region, cost: float) -> None:
    taken: list[bool] = []
    for k in range(2 * together.TURNS + 2):
        with region.program.together(region.queue) as t:
            region.scale(k=np.int32(k))
            region.add()
            assert t.event is None
        assert t.event is not None
        t.event.wait()
        region.check(k)
        taken.append(t.is_fused)
    assert taken == [False, True] * together.TURNS + [cost < 1] * 2
    assert t.reason == ("" if cost < 1 else "one launch was not faster")


def test_what_is_asked_for_is_taken_at_once(region: Region) -> None:
    with region.program.together(region.queue, measure=False) as t:
        launched = region.scale()
        region.add()
        t.gives_up(region["t"])
    assert t.is_fused and launched.command_type == cl.command_type.NDRANGE_KERNEL  # type: ignore[attr-defined]
    region.check(5, is_written=False)
    with region.program.together(region.queue, measure=False) as t:
        region.program.sums(region.queue, (COUNT,), (8,), region["a"], region["t"], cl.LocalMemory(32))
        region.program.sums(region.queue, (COUNT,), (8,), region["b"], region["c"], cl.LocalMemory(32))
    assert t.is_fused
    for name, numbers in (("t", region.numbers), ("c", region.numbers[::-1])):
        np.testing.assert_array_equal(region.read(name)[: COUNT // 8], numbers.reshape(-1, 8).sum(axis=1))


def test_kernel_objects_with_types_and_set_arguments(region: Region) -> None:
    scale, add = region.program.scale, region.program.add
    scale.set_scalar_arg_dtypes([np.int32, np.int32, None, None])
    add.set_args(N, region["t"], region["b"], region["c"])
    with region.program.together(region.queue, measure=False) as t:
        scale(region.queue, (COUNT // 8,), (8,), int(N), 6, region["a"], region["t"], g_times_l=True)
        cl.enqueue_nd_range_kernel(region.queue, add, (COUNT,), (8,))
    assert t.is_fused, t.reason
    region.check(6)


def test_what_is_set_once_is_launched_each_time(region: Region) -> None:
    scale, add = region.program.scale, region.program.add
    scale.set_args(N, K, region["a"], region["t"])
    add.set_args(N, region["t"], region["b"], region["c"])
    for k, is_fused in enumerate((False, True, False)):
        with region.program.together(region.queue) as t:
            for each in (scale, add):
                cl.enqueue_nd_range_kernel(region.queue, each, (COUNT,), None)
            scale.set_arg(1, np.int32(k))
        assert t.is_fused == is_fused
        region.check(k - 1 if k else 5)
    for each in (scale, add):
        cl.enqueue_nd_range_kernel(region.queue, each, (COUNT,), None)
    region.check(2)
    # Arguments of a call hold no longer than it takes.
    with region.program.together(region.queue, measure=False) as t:
        scale(region.queue, (COUNT,), None, N, K, region["a"], region["t"])
        add(region.queue, (COUNT,), None, N, region["t"], region["b"], region["c"])
    assert t.is_fused and not scale._set.values()[1] and not add._set.values()[1]


def test_what_is_passed_is_as_it_was_at_the_launch(region: Region) -> None:
    numbers = np.array(6, np.int32), ctypes.c_int(6), bytearray(np.int32(6).tobytes())
    for each in numbers:
        t = cl.Buffer(region.queue.context, cl.mem_flags.READ_WRITE, 4 * COUNT)
        kept: Any = cl.MemoryObject.from_int_ptr(t.int_ptr)
        with region.program.together(region.queue, measure=False) as made:
            region.program.scale(region.queue, (COUNT,), None, N, each, region["a"], t)
            memoryview(each).cast("B")[0] = 7  # type: ignore[arg-type]
            region.program.add(region.queue, (COUNT,), None, N, t, region["b"], region["c"])
            t.release()
            assert kept.reference_count > 1
        assert made.is_fused, made.reason
        added = np.where(region.numbers < N, 6 * region.numbers + region.numbers[::-1], 7)
        np.testing.assert_array_equal(region.read("c"), added)


def test_launches_wait_for_those_of_other_regions(region: Region, context: cl.Context) -> None:
    program, other = region.program, cl.CommandQueue(context)
    with program.together(region.queue, measure=False) as first:
        launched = region.scale()
    with program.together(region.queue, measure=False) as t:
        later = region.scale()
        arguments = N, region["t"], region["b"], region["c"]
        program.add(region.queue, (COUNT,), None, *arguments, wait_for=[launched, later])
        assert t._launches[1].options["wait_for"] == [first.event]
    region.check(5)
    with pytest.raises(ValueError, match="nothing"), program.together(region.queue):
        lost = region.scale()
        raise ValueError("nothing")
    with (
        program.together(other),
        pytest.raises(InvalidInputError, match="another region of `together` is not made"),
    ):
        program.add(other, (COUNT,), None, *arguments, wait_for=[lost])


def test_a_kernel_is_made_once_for_all_ndranges(region: Region, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[object] = []

    def fused(*args: Any) -> FusedKernel:  # noqa: ANN401
        made.append(args)
        return fuse_launches(*args)

    monkeypatch.setattr(together, "fuse_launches", fused)
    monkeypatch.setattr(together, "_MOST_KNOWN", 2)
    for size in (COUNT, 64, 32):
        with region.program.together(region.queue) as t:
            program, queue = region.program, region.queue
            program.scale(queue, (size,), None, N, K, region["a"], region["t"])
            program.add(queue, (size,), None, N, region["t"], region["b"], region["c"])
        assert "being measured" in t.reason
    assert len(made) == 1
    region.check(5)


def test_a_source_that_can_not_be_looked_at_is_compiled_once(
    region: Region, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[object] = []

    def refuses(*args: object) -> None:
        asked.append(args)
        raise InvalidInputError("not known here")

    monkeypatch.setattr(together, "compile_source", refuses)
    for _ in range(2):
        with region.program.together(region.queue) as t:
            region.scale()
            region.scale()
        assert t.reason == "not known here"
    assert len(asked) == 1


def test_what_can_not_be_one_launch_runs_as_it_is(region: Region) -> None:
    def reason(*launches: object) -> str:
        with region.program.together(region.queue, measure=False) as t:
            for launch in launches:
                launch()  # type: ignore[operator]
        assert not t.is_fused
        return t.reason

    program, queue = region.program, region.queue
    assert reason() == "" and reason(region.scale) == "there is only one launch"
    wider = lambda: program.add(queue, (COUNT + 8,), None, N, region["t"], region["b"], region["c"])  # noqa: E731
    assert "fusion-ndrange" in reason(region.scale, wider)
    region.check(5)
    blur = lambda: program.blur(queue, (COUNT,), None, N, region["t"], region["c"])  # noqa: E731
    assert "fusion-crosses-items" in reason(region.scale, blur)
    scaled = 5 * region.numbers
    np.testing.assert_array_equal(region.read("c")[: N - 1], (scaled[:-1] + scaled[1:])[: N - 1])
    assert "fusion-crosses-items" in reason(region.scale, lambda: region.add(np.int32(COUNT)))
    # Parts of one buffer overlap: `add` reads what it writes over.
    whole = region["t"]
    both = [whole.get_sub_region(0, 4 * COUNT), whole.get_sub_region(0, 2 * COUNT)]
    args = (np.int32(8), both[0], region["b"], both[1])
    add = lambda: program.add(queue, (COUNT,), None, *args)  # noqa: E731
    assert "fusion-alias" in reason(region.scale, add)
    np.testing.assert_array_equal(region.read("t")[:8], scaled[:8] + region.numbers[::-1][:8])


def test_mistakes_leave_nothing_launched(region: Region, context: cl.Context) -> None:
    program, queue = region.program, region.queue

    def refused(match: str | None, act: object, error: type[Exception] = InvalidInputError) -> None:
        with pytest.raises(error, match=match), program.together(queue, measure=False) as t:
            region.scale()
            act(t)  # type: ignore[operator]

    other = cl.CommandQueue(context)
    refused("another queue", lambda _: program.scale(other, (COUNT,), None, N, K, region["a"], region["t"]))
    refused("can't be nested", lambda _: program.together(queue).__enter__())
    refused("scale takes 4 arguments, 1 were given", lambda _: program.scale(queue, (COUNT,), None, N))
    enqueue = cl.enqueue_nd_range_kernel
    refused("takes calls with all arguments", lambda _: enqueue(queue, program.add, (COUNT,), None))
    refused("gives_up takes buffers", lambda t: t.gives_up("t"))
    refused("no launch of the region", lambda t: t.gives_up(region["c"]))
    refused("wait: nothing is launched before the end", lambda _: region.add().wait())  # type: ignore[attr-defined]
    refused(None, lambda _: program.scale(queue, (COUNT,), None, N, K, "a", region["t"]), Exception)
    found: list[Exception] = []

    def elsewhere() -> None:
        try:
            region.add()
        except InvalidInputError as error:
            found.append(error)

    with program.together(queue) as t:
        thread = threading.Thread(target=elsewhere)
        thread.start()
        thread.join()
    assert "another thread" in str(found[0])
    with pytest.raises(InvalidInputError, match="belongs inside"):
        t.gives_up(region["t"])
    with pytest.raises(InvalidInputError, match="entered once"), t:
        pass
    unordered = cl.CommandQueue(context, properties=cl.command_queue_properties.OUT_OF_ORDER_EXEC_MODE_ENABLE)
    with pytest.raises(InvalidInputError, match="keeps the order"), program.together(unordered):
        pass
    with pytest.raises(InvalidInputError, match="is built from OpenCL C"):
        coarsen.Program(context, SOURCE).together(queue)
    queue.finish()
    assert (region.read("t") == 9).all() and (region.read("c") == 7).all()
    region.scale()
    region.add()
    region.check(5)
