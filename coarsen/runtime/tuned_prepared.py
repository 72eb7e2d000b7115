"""Launches that were decided, with the kernel objects that one thread launches for them."""

from __future__ import annotations

from collections.abc import Hashable
from typing import NamedTuple, TypeAlias

import numpy as np
import pyopencl
from pyopencl._cl import Kernel as PlainKernel

from coarsen.errors import InvalidInputError
from coarsen.runtime.launches import LaunchedKernels
from coarsen.runtime.sizes import Sizes
from coarsen.runtime.tuned_arguments import Pairs
from coarsen.runtime.tuned_decision import AnyDecision, Decision
from coarsen.runtime.tuned_sequence import PreparedSequence, SequenceKernels

# The number of launches that are kept.
_MOST_KNOWN = 4096


class PreparedLaunch(NamedTuple):
    """One launch: a kernel object, what is set after the caller's arguments, and the sizes."""

    kernel: pyopencl.Kernel
    references: Pairs
    numbers: Pairs
    global_size: Sizes
    local_size: Sizes | None
    decision: Decision


Prepared: TypeAlias = PreparedLaunch | PreparedSequence


class VersionObjects:
    """The kernel objects of a tuned kernel's versions, for one kernel object of a program."""

    def __init__(self) -> None:
        self._coarsened: dict[int, LaunchedKernels] = {}
        self._as_written: dict[int, pyopencl.Kernel] = {}
        self._sequences: dict[int, SequenceKernels] = {}

    def prepared(self, decision: AnyDecision, own: pyopencl.Kernel, count: int) -> Prepared:
        """Return a launch that was decided, with its kernel objects.

        Args:
            decision: how it is carried out.
            own: the program's own kernel.
            count: how many arguments that takes.
        """
        if not isinstance(decision, Decision):
            number = decision.version.number
            if number not in self._sequences:
                self._sequences[number] = SequenceKernels(decision.version)
            return PreparedSequence(decision, self._sequences[number])
        kernel = self._object(decision, own)
        if not decision.local_memory and not decision.added:
            return PreparedLaunch(kernel, (), (), decision.global_size, decision.local_size, decision)
        references: Pairs = ()
        numbers: Pairs = ()
        for index, memory in decision.local_memory.items():
            references += index, memory
        for index, value in enumerate(decision.added, count):
            if isinstance(value, np.number):
                numbers += index, value
            else:
                references += index, value
        return PreparedLaunch(kernel, references, numbers, decision.global_size, decision.local_size, decision)

    def _object(self, decision: Decision, own: pyopencl.Kernel) -> pyopencl.Kernel:
        version = decision.version
        if version is None:
            return own
        launches = version.launches
        if decision.launched is None:
            if version.number not in self._as_written:
                self._as_written[version.number] = PlainKernel(launches.raw_program, launches.name)
            return self._as_written[version.number]
        if version.number not in self._coarsened:
            self._coarsened[version.number] = LaunchedKernels(launches)
        kernel = self._coarsened[version.number].get(decision.launched)
        if kernel is None:
            raise InvalidInputError(f"kernel {launches.name}: a version that was built is gone")
        return kernel


def keep(known: dict[Hashable, Prepared], key: Hashable | None, found: Prepared) -> None:
    """Remember a launch for all that are alike; None stands for one that none is like."""
    if key is not None:
        if len(known) >= _MOST_KNOWN:
            known.clear()
        known[key] = found
