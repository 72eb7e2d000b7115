"""A kernel object that decides how launches of a tuned kernel are carried out, and which of them are alike."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import pyopencl

from coarsen.dispatch.features import ArgumentKind, KernelArgument
from coarsen.runtime.launches import KernelLaunches
from coarsen.runtime.set_apart_kernel import SetApartKernel
from coarsen.runtime.tuned_arguments import Arguments, key_function, setting, with_local_memory
from coarsen.runtime.tuned_decision import NO_FEATURES, Asked, PassedSizes
from coarsen.runtime.tuned_launches import TunedLaunches
from coarsen.runtime.tuned_prepared import Prepared, VersionObjects


class DecidingKernel(SetApartKernel):
    """A kernel object of one thread, of a kernel with a tuned file."""

    # True once arguments were seen: which of them are local memory is the kernel's, not the launch's.
    _knows_kinds = False

    def __init__(self, program: pyopencl.Program, launches: KernelLaunches, tuned: TunedLaunches) -> None:
        super().__init__(program, launches)
        self._tuned = tuned
        self._count = launches.argument_count
        devices: Any = program.get_info(pyopencl.program_info.DEVICES)
        self._only_device = devices[0] if len(devices) == 1 else None
        self._take(tuned.arguments(self._count))
        self._objects = VersionObjects()
        self._known: dict[Hashable, Prepared] = {}
        # Of launches with the file's sizes.
        self._known_without_sizes: dict[Hashable, Prepared] = {}

    def _call_key(
        self, queue: pyopencl.CommandQueue, args: Arguments, passed: PassedSizes, has_offset: bool
    ) -> Hashable | None:
        if self._only_device is not None and not has_offset:
            return self._key(args), *passed
        return self._key(args), *passed, self._device_key(queue), has_offset

    def _device(self, queue: pyopencl.CommandQueue) -> pyopencl.Device:
        return self._only_device or queue.device

    def _device_key(self, queue: pyopencl.CommandQueue) -> int:
        return 0 if self._only_device is not None else int(queue.device.int_ptr)

    def _decide(
        self,
        device: pyopencl.Device,
        args: Arguments,
        passed: PassedSizes | None,
        supplied: Mapping[str, float] = NO_FEATURES,
        has_offset: bool = False,
    ) -> Prepared:
        """Return how a launch is carried out that isn't known yet."""
        if not self._knows_kinds:
            self._look_at(args)
        decision = self._tuned.decide(Asked(device, args, passed, supplied, has_offset, self._local_places))
        return self._objects.prepared(decision, self, self._count)

    def _look_at(self, args: Arguments) -> None:
        """Take arguments that the first launch gives local memory for that, whatever the file says."""
        self._knows_kinds = True
        arguments = with_local_memory(self._arguments, args)
        if arguments is not self._arguments:
            # Keys of before have fewer parts: none is taken for one of these.
            self._take(arguments)

    def _take(self, arguments: tuple[KernelArgument, ...]) -> None:
        """Make what sets the arguments of the kernel, and what tells launches apart."""
        self._arguments = arguments
        self._local_places = tuple(
            index for index, argument in enumerate(arguments) if argument.kind is ArgumentKind.LOCAL
        )
        set_by = setting(arguments)
        self._references, self._numbers = set_by.references, set_by.numbers
        self._key = key_function(
            arguments, self._tuned.asked, self._tuned.needs_all_bytes, self._tuned.needs_all_apart
        )
