"""Versions of several launches with scratch: in order, out of order, from several queues and threads at once."""

from __future__ import annotations

import functools
import itertools
import random
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyopencl as cl
import pyopencl.array
import pytest
from pyopencl.tools import VectorArg

import coarsen
from coarsen.dispatch.launch_sizes import sequence_function
from coarsen.dispatch.tree import Leaf
from coarsen.dispatch.tuned_version import TunedLaunch, TunedVersion
from coarsen.runtime.launch import DividedLaunch, OriginalLaunch
from coarsen.runtime.sequence import Scratch
from coarsen.variant.variant import Variant
from tests.runtime.sums import SIZES, SOURCE, VERSIONS, Sum, sum_file, summing, summing_program

pytestmark = pytest.mark.compiled_devices
OUT_OF_ORDER = cl.command_queue_properties.OUT_OF_ORDER_EXEC_MODE_ENABLE


@dataclass
class Seen:
    """Observes launches."""

    launches: list[tuple[OriginalLaunch, DividedLaunch]] = field(default_factory=list)

    def launched(self, kernel: str, original: OriginalLaunch, divided: DividedLaunch) -> None:
        assert kernel == "total"
        self.launches.append((original, divided))


@functools.cache
def whole_program(context: cl.Context) -> coarsen.Program:
    return summing_program(context)


@pytest.fixture(params=["in order", "out of order"])
def any_queue(request: pytest.FixtureRequest, context: cl.Context) -> cl.CommandQueue:
    """A queue of each kind."""
    if request.param == "out of order":
        return cl.CommandQueue(context, properties=OUT_OF_ORDER)
    return cl.CommandQueue(context)


def test_random_launches(context: cl.Context, any_queue: cl.CommandQueue, no_builds: Callable[[], None]) -> None:
    """Twenty at a time, of which none is waited for before the next."""
    program, generator = whole_program(context), random.Random(5)
    no_builds()
    sums = [Sum(context, generator.randrange(1, 3000), seed) for seed in range(40)]
    for _ in range(25):
        events: list[tuple[Sum, cl.Event]] = []
        for each in generator.sample(sums, 20):
            waiting = generator.choice((None, [event for _, event in events[-2:]] or None))
            if generator.random() < 0.5:
                event = program.total(any_queue, *SIZES, *each.arguments, wait_for=waiting)
            else:
                event = summing(program).launch(any_queue, *each.arguments, wait_for=waiting)
            events.append((each, event))
        any_queue.flush()
        for each, event in events:
            each.check(event)


def test_what_is_launched_is_seen(context: cl.Context, queue: cl.CommandQueue) -> None:
    seen = Seen()
    program = coarsen.Program(context, SOURCE, tuned=sum_file(context.devices[0]), observer=seen).build()
    for n in (10, 500, 2000):
        each = Sum(context, n)
        each.check(program.total(queue, *SIZES, *each.arguments))
    assert [divided.local_size for _, divided in seen.launches] == [(1,), (16,), (4,)]
    assert {original.global_size for original, _ in seen.launches} == {(1,)}
    assert seen.launches[1][1].reason == "2 launches, as the tuned file chooses: parts, finish"
    # Observers count launches that are alike.
    assert len({divided for _, divided in seen.launches}) == 3
    own = seen.launches[0][1].own
    assert own is None or (own.sizes is None) == (own.steps is None)


def test_the_events_that_it_waits_for(context: cl.Context, any_queue: cl.CommandQueue) -> None:
    """It waits for them, whatever form they come in, and its own event isn't over before."""
    program, each = whole_program(context), Sum(context, 500)
    for form in (list, tuple, iter):
        gate = cl.UserEvent(context)
        event = program.total(any_queue, *SIZES, *each.arguments, wait_for=form([gate]))
        any_queue.flush()
        time.sleep(0.01)
        assert event.command_execution_status > cl.command_execution_status.COMPLETE
        assert each.found() == -7
        gate.set_status(cl.command_execution_status.COMPLETE)
        each.check(event)


def test_a_kernel_object_that_is_kept(
    context: cl.Context, any_queue: cl.CommandQueue, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its further calls are ready: other buffers, events in any form, no memory for scratch for once."""
    kernel, seeds = whole_program(context).total, itertools.count()
    for n in (500, 900, 500):
        for form in (list, tuple, iter):
            each, gate = Sum(context, n, next(seeds)), cl.UserEvent(context)
            event = kernel(any_queue, *SIZES, *each.arguments, wait_for=form([gate]))
            any_queue.flush()
            assert each.found() == -7
            gate.set_status(cl.command_execution_status.COMPLETE)
            each.check(event)
    assert any(ready.own is not None for ready in kernel._ready.values())
    each = Sum(context, 900, next(seeds))
    with monkeypatch.context() as patched:
        patched.setattr(Scratch, "grow", refuse)
        each.check(kernel(any_queue, *SIZES, *each.arguments))
    other = Sum(context, 500, next(seeds))
    other.check(kernel(any_queue, *SIZES, *other.arguments))


def refuse(*_: object) -> None:
    raise cl.MemoryError("no memory")


@pytest.mark.parametrize("queues", ["two", "one out of order"])
def test_a_launch_waits_for_no_other(queues: str, context: cl.Context) -> None:
    """Neither has the other's scratch, though the first is still to run."""
    program = whole_program(context)
    first, second = Sum(context, 900, 1), Sum(context, 900, 2)
    if queues == "two":
        queue, other = cl.CommandQueue(context), cl.CommandQueue(context)
    else:
        queue = other = cl.CommandQueue(context, properties=OUT_OF_ORDER)
    gate = cl.UserEvent(context)
    held = program.total(queue, *SIZES, *first.arguments, wait_for=[gate])
    free = program.total(other, *SIZES, *second.arguments)
    other.flush()
    until = time.monotonic() + 20
    while free.command_execution_status > cl.command_execution_status.COMPLETE:
        assert time.monotonic() < until, "it waits for the other"
        time.sleep(0.001)
    second.check(free)
    gate.set_status(cl.command_execution_status.COMPLETE)
    first.check(held)


def test_more_launches_at_once_than_scratch_is_kept(context: cl.Context) -> None:
    queue = cl.CommandQueue(context, properties=OUT_OF_ORDER)
    program, gate = whole_program(context), cl.UserEvent(context)
    sums = [Sum(context, 800 + number) for number in range(24)]
    events = [program.total(queue, *SIZES, *each.arguments, wait_for=[gate]) for each in sums]
    gate.set_status(cl.command_execution_status.COMPLETE)
    queue.flush()
    for each, event in zip(sums, events, strict=True):
        each.check(event)


def test_two_threads(context: cl.Context) -> None:
    program, failures = whole_program(context), []
    barrier = threading.Barrier(2)

    def work(seed: int) -> None:
        try:
            queue = cl.CommandQueue(context)
            sums = [Sum(context, 700 + 50 * number, seed) for number in range(20)]
            barrier.wait()
            for _ in range(3):
                events = [program.total(queue, *SIZES, *each.arguments) for each in sums]
                for each, event in zip(sums, events, strict=True):
                    each.check(event)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_scratch_is_made_once(
    context: cl.Context, queue: cl.CommandQueue, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = summing_program(context, tree=Leaf(1))
    sums, made = [Sum(context, n) for n in (2000, 1500, 2000, 3)], []
    buffer = cl.Buffer

    def counted(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        made.append(args)
        return buffer(*args, **kwargs)

    monkeypatch.setattr(cl, "Buffer", counted)
    events = [program.total(queue, *SIZES, *each.arguments) for each in (*sums, *sums)]
    assert [size for *_, size in made] == [1000]
    for each, event in zip(sums, events[4:], strict=True):
        each.check(event)


def test_what_a_call_passes_is_not_kept(context: cl.Context, queue: cl.CommandQueue) -> None:
    kernel, each = whole_program(context).total, Sum(context, 500)
    counts = {sys.getrefcount(each.values)}
    for _ in range(4):
        each.check(kernel(queue, *SIZES, *each.arguments))
        counts.add(sys.getrefcount(each.values))
    assert kernel._ready and len(counts) == 1


def test_one_launch_with_scratch(context: cl.Context, queue: cl.CommandQueue) -> None:
    """Its own kernel object, so that `set_args` of the kernel stays as it was."""
    launch = TunedLaunch("parts", ("1",), ("1",), (), ("x", "n", "y", "uint: 1"))
    version = TunedVersion(Variant((), (), (("CHUNK", "100000"),)), (launch,), (("unused", "bytes_x"),))
    program, each = summing_program(context, versions=(VERSIONS[0], version), tree=Leaf(1)), Sum(context, 500)
    each.check(program.total(queue, *SIZES, *each.arguments))
    kernel = program.total
    kernel.set_args(*each.arguments)
    each.check(cl.enqueue_nd_range_kernel(queue, kernel, *SIZES))


def test_launches_of_constant_sizes_know_their_arguments(context: cl.Context, queue: cl.CommandQueue) -> None:
    """What was set by a call, or by an address, is of the kernel as it is written alone."""
    launch = TunedLaunch("parts", ("1",), ("1",), (), ("x", "n", "y", "uint: 1"))
    version = TunedVersion(Variant((), (), (("CHUNK", "100000"),)), (launch,), (("unused", "4"),))
    program = summing_program(context, versions=(VERSIONS[0], version), features=(), tree=Leaf(1))
    each, kernel = Sum(context, 500), program.total
    each.check(kernel(queue, *SIZES, *each.arguments))
    each.check(cl.enqueue_nd_range_kernel(queue, kernel, *SIZES))
    each.check(cl.enqueue_nd_range_kernel(queue, kernel.clone(), *SIZES))
    kernel.set_args(*each.arguments)
    each.check(cl.enqueue_nd_range_kernel(queue, kernel, *SIZES))
    assert kernel.int_ptr
    each.check(cl.enqueue_nd_range_kernel(queue, kernel, *SIZES))
    each.check(kernel(queue, *SIZES, *each.arguments))


def test_launches_wait_for_what_fills_an_array(context: cl.Context) -> None:
    """As PyOpenCL's own call of a kernel whose argument is of the type of arrays does."""
    queue = cl.CommandQueue(context, properties=OUT_OF_ORDER)
    each, kernel = Sum(context, 500), whole_program(context).total
    buffer, *others = each.arguments
    types = [np.int32 if isinstance(value, np.int32) else None for value in others]
    kernel.set_arg_types([VectorArg(np.int32, "x"), *types])
    array, gate = pyopencl.array.Array(queue, (500,), np.int32, data=buffer), cl.UserEvent(context)
    array.add_event(gate)
    event = kernel(queue, *SIZES, array, *others)
    queue.flush()
    time.sleep(0.01)
    assert event.command_execution_status > cl.command_execution_status.COMPLETE
    gate.set_status(cl.command_execution_status.COMPLETE)
    each.check(event)


def test_sizes_that_have_no_value(context: cl.Context) -> None:
    file = sum_file(context.devices[0])
    sizes = sequence_function(file, VERSIONS[1], ("n",))
    found = sizes(1000)
    assert found is not None
    assert [launch.global_size for launch in found.launches] == [(128,), (16,)]
    assert found.launches[1].local_memory == {3: 64}
    assert found.numbers == ((125,), (125,))
    assert found.scratch == (500,)
    assert sizes(0) is None
    assert sizes(2**63 - 1) is None


def test_a_program_explains_them(context: cl.Context) -> None:
    found = summing(whole_program(context)).explain(n=500)
    assert found.number == 1
    text = str(found)
    assert "parts: global size (64,), local size (8,)" in text
    assert "finish: global size (16,), local size (16,)" in text
    assert "scratch: 252 bytes" in text
    assert np.isfinite(found.features["n"])
