"""A program with one kernel that is tuned, and what a search may find for it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyopencl as cl

from coarsen.drop_in.program import Program
from coarsen.runtime.advice import LaunchRequest
from coarsen.runtime.launch import DividedLaunch, OriginalLaunch
from coarsen.tuning.measure.speedup import Speedup
from coarsen.tuning.remembered.choice import RememberedChoice
from coarsen.tuning.settings import Tune
from coarsen.tuning.store.database import open_store
from coarsen.tuning.tuned import Decision, Tuned
from coarsen.variant.coarsening import Coarsening
from coarsen.variant.variant import Variant

ROOT = Path(__file__).parents[2]
COUNT = 4096
FLAGS = cl.mem_flags
SOURCE = """\
kernel void add(global float *sum, global const float *terms, float factor, global float *last)
{
    size_t item = get_global_id(0);
    sum[item] += factor * terms[item];
    last[item] = terms[item];
}
"""
# Time enough for any machine: the trials end a search.
SECONDS = 200.0


class Recorder:
    """Keeps how launches were carried out."""

    def __init__(self) -> None:
        self.seen: list[DividedLaunch] = []

    def launched(self, kernel: str, original: OriginalLaunch, divided: DividedLaunch) -> None:
        assert kernel and original.global_size
        self.seen.append(divided)


class Buffers:
    """The buffers of the kernel `add`, and what they should hold."""

    def __init__(self, context: cl.Context, count: int = COUNT) -> None:
        generator = np.random.default_rng(count)
        self.count = count
        self.terms = generator.random(count, np.float32)
        self.wanted = generator.random(count, np.float32)
        flags = FLAGS.READ_WRITE | FLAGS.COPY_HOST_PTR
        self.sum_, self.terms_, self.last_ = (
            cl.Buffer(context, flags, hostbuf=content)
            for content in (self.wanted, self.terms, np.zeros(count, np.float32))
        )

    def launch(
        self, queue: cl.CommandQueue, program: Program, local_size: tuple[int, ...] | None = (64,), times: int = 1
    ) -> None:
        """Launch, and check that all buffers hold what so many launches make of them, no more."""
        for _ in range(times):
            program.add(queue, (self.count,), local_size, self.sum_, self.terms_, np.float32(2), self.last_)
            self.wanted = self.wanted + np.float32(2) * self.terms
        self.check(queue)

    def check(self, queue: cl.CommandQueue) -> None:
        for buffer, wanted in ((self.sum_, self.wanted), (self.terms_, self.terms), (self.last_, self.terms)):
            found = np.empty(self.count, np.float32)
            cl.enqueue_copy(queue, found, buffer)
            assert np.allclose(found, wanted, rtol=1e-6)


def found(request: LaunchRequest, factor: int = 4, local_size: tuple[int, ...] = ()) -> Tuned:
    """What a search may find."""
    gain = Speedup(2.0, 1.9, 2.1)
    own = request.launch.local_size
    choice = Variant(local_size or own or (), (Coarsening(factor),))
    decision = Decision(choice, gain, gain, 3, (2.0, 1.0))
    return Tuned(request.kernel, "made up", request.launch.global_size, own, decision, 9, 0, None, 1.0, "over")


def program_of(
    context: cl.Context, tune: Tune | bool | str | None, source: str = SOURCE
) -> tuple[Program, Recorder]:
    recorder = Recorder()
    return Program(context, source, tune=tune, observer=recorder).build(), recorder


def remember(store: str, choice: RememberedChoice) -> None:
    with open_store(store) as opened:
        opened.remembered.put(choice)
