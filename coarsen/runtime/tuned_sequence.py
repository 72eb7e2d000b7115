"""The launches of a version that takes several, one after the other, with the scratch that they share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

import numpy as np
import pyopencl
from pyopencl._cl import Kernel as PlainKernel

from coarsen.dispatch.launch_sizes import PassedArgument, Source, VersionSizes
from coarsen.errors import CoarsenError
from coarsen.runtime.arguments import Argument, set_all
from coarsen.runtime.enqueue import ENQUEUE, WaitList
from coarsen.runtime.sizes import Sizes
from coarsen.runtime.tuned_arguments import OF_CALLER, OF_SCRATCH, Arguments, Place, values_function
from coarsen.runtime.tuned_decision import SequenceDecision
from coarsen.runtime.tuned_scratch import ScratchPool, in_order_handle
from coarsen.runtime.tuned_versions import BuiltSequence

_NUMBERS: Mapping[str, Callable[[int], Argument]] = MappingProxyType(
    {"int": np.int32, "uint": np.uint32, "long": np.int64, "ulong": np.uint64}
)
_NO_BUFFERS: tuple[pyopencl.Buffer, ...] = ()


class NotLaunchedError(CoarsenError):
    """Nothing was launched: there is no memory for scratch, or an argument can't be set."""


class SequenceKernels:
    """The kernel objects of a version of several launches, one for each launch, and its scratch; of one thread."""

    def __init__(self, version: BuiltSequence) -> None:
        self.kernels = tuple(PlainKernel(version.program, name) for name in version.kernels)
        self.pool = ScratchPool()


class PreparedSequence:
    """Launches that were decided, with kernel objects.

    Args:
        decision: what is launched.
        kernels: the objects.
    """

    def __init__(self, decision: SequenceDecision, kernels: SequenceKernels) -> None:
        self.decision = decision
        self._pool = kernels.pool
        self._scratch = decision.sizes.scratch
        steps = zip(
            kernels.kernels, decision.version.passed, decision.sizes.launches, decision.sizes.numbers, strict=True
        )
        self._steps = tuple(_Step(*step) for step in steps)

    def enqueue(self, queue: pyopencl.CommandQueue, args: Arguments, wait_for: WaitList) -> pyopencl.Event:
        """Launch all, each after the one before it, and return the event that ends with the last.

        Args:
            queue: in order or not.
            args: the caller's.
            wait_for: events that the first waits for.

        Raises:
            NotLaunchedError: none of them was launched.
        """
        in_order = in_order_handle(queue)
        try:
            scratch = self._pool.take(queue, self._scratch, in_order) if self._scratch else None
            buffers = _NO_BUFFERS if scratch is None else scratch.buffers
            for step in self._steps:
                step.set_arguments(args, buffers)
        except pyopencl.Error as error:
            raise _not_launched(error) from None
        first, *others = self._steps
        try:
            event = first.enqueue(queue, wait_for)
        except pyopencl.Error as error:
            raise _not_launched(error) from None
        for step in others:
            if scratch is not None:
                scratch.used_by(event, in_order)
            # In a queue in order, each waits for all before it anyway.
            event = step.enqueue(queue, [event] if in_order is None else None)
        if scratch is not None:
            scratch.used_by(event, in_order)
        return event


class _Step:
    """One launch: a kernel object, its sizes, and what makes its arguments of the caller's and of scratch."""

    def __init__(
        self,
        kernel: pyopencl.Kernel,
        passed: Sequence[PassedArgument],
        sizes: VersionSizes,
        numbers: Sequence[int],
    ) -> None:
        self.kernel = kernel
        self.global_size: Sizes = sizes.global_size or ()
        self.local_size: Sizes | None = sizes.local_size
        self._values: Callable[..., tuple[Argument, ...]] = values_function(
            [_value(argument, sizes, numbers) for argument in passed]
        )

    def enqueue(self, queue: pyopencl.CommandQueue, wait_for: WaitList) -> pyopencl.Event:
        """Launch the kernel object with the arguments that are set."""
        event: pyopencl.Event = ENQUEUE(
            queue, self.kernel, self.global_size, self.local_size, None, wait_for, False, False
        )
        return event

    def set_arguments(self, args: Arguments, scratch: Sequence[pyopencl.Buffer]) -> None:
        """Set the arguments of the kernel object."""
        values = self._values(args, scratch)
        set_all(self.kernel, range(len(values)), values)


def _not_launched(error: pyopencl.Error) -> NotLaunchedError:
    return NotLaunchedError(" ".join(str(error).split())[:200])


def _value(argument: PassedArgument, sizes: VersionSizes, numbers: Sequence[int]) -> Argument:
    """Return the place of an argument that each launch has its own of; else the argument itself."""
    if argument.source is Source.SCRATCH:
        return Place(OF_SCRATCH, argument.index)
    if argument.source is Source.NUMBER:
        return _NUMBERS[argument.type](numbers[argument.index])
    if argument.index in sizes.local_memory:
        return pyopencl.LocalMemory(sizes.local_memory[argument.index])
    return Place(OF_CALLER, argument.index)
