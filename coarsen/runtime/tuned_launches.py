"""The choice of a version for each launch of a tuned kernel that differs from those before.

    the file is of another source, device, driver, …      ─▶ the default version
    sizes that aren't the default version's               ─▶ as it is written, with these sizes
    features ─▶ tree ─▶ version ─▶ its sizes ─▶ how it is carried out, as for any coarsened kernel
    version not built, too large a work-group, no value   ─▶ the default version

Nothing is built here, and no buffer is read.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial

import pyopencl

from coarsen.dispatch.choosing import Number
from coarsen.dispatch.features import ArgumentKind, KernelArgument
from coarsen.dispatch.launch_sequence import SequenceSizes, Source
from coarsen.dispatch.launch_sizes import size_inputs
from coarsen.dispatch.tuned_file import TunedFile
from coarsen.runtime.launches import added_values
from coarsen.runtime.original_launch import OriginalLaunch
from coarsen.runtime.sizes import MOST_WORK_ITEMS, PassedSizes
from coarsen.runtime.tuned_arguments import PassedValues, local_bytes, numbers_function
from coarsen.runtime.tuned_checks import Problem
from coarsen.runtime.tuned_decision import (
    NO_MEMORY,
    AnyDecision,
    Asked,
    Decision,
    SequenceDecision,
)
from coarsen.runtime.tuned_default import BuiltDefault
from coarsen.runtime.tuned_device import DeviceFacts
from coarsen.runtime.tuned_tree import TreeChoice
from coarsen.runtime.tuned_versions import AnyBuilt, BuiltSequence, BuiltVersion

_OF_NO_DEVICE = "it isn't built for this device"
_NO_SIZES = "its sizes have no value, or none that is positive, for these arguments"
_TOO_MANY = "it has too many work-items"


class TunedLaunches:
    """Decides for one kernel of a program.

    Args:
        file: of the kernel.
        versions: its versions, built; None for those that can't be used.
        not_built: why they can't, by their numbers.
        default: what runs where the file says nothing, or what can't be launched.
        problem: why the file can't be used at all; None if it can.
        problems: by the addresses of devices: why it can't be used there.
        say_once: logs a warning the first time.
    """

    def __init__(
        self,
        file: TunedFile,
        versions: Sequence[AnyBuilt | None],
        not_built: Mapping[int, str],
        default: BuiltDefault,
        problem: Problem | None,
        problems: Mapping[int, Problem],
        say_once: Callable[[object, str], None],
    ) -> None:
        self.file = file
        self.problem = problem
        self.default = default
        self._versions = tuple(versions)
        self._not_built = not_built
        self._problems = problems
        self.tree = TreeChoice(file, say_once)
        self._numbers = numbers_function(file.arguments, self.tree.names)
        self._size_count = len(size_inputs(file))
        self._has_sizes = file.has_sizes

    @property
    def asked(self) -> frozenset[str]:
        """The names of the arguments' numbers, and of sizes of buffers, that a decision depends on."""
        return frozenset(self.tree.names)

    def arguments(self, count: int) -> tuple[KernelArgument, ...]:
        """Return the arguments of a kernel that takes so many: the file's, unless that is of other code."""
        if self.problem is not None and self.problem.is_other_code:
            return tuple(KernelArgument(f"arg{index}", ArgumentKind.OTHER) for index in range(count))
        return self.file.arguments

    @property
    def needs_all_bytes(self) -> bool:
        """Return True if the size of every buffer counts."""
        return any(isinstance(version, BuiltVersion) and version.has_wide_accesses for version in self._versions)

    @property
    def needs_all_apart(self) -> bool:
        """Return True if it counts whether all buffers are apart."""
        return any(isinstance(version, BuiltVersion) and version.is_distinct for version in self._versions)

    def decide(self, asked: Asked) -> AnyDecision:
        """Return how a launch is carried out.

        Raises:
            InvalidInputError: there are neither sizes that are passed nor sizes in the file that hold; or macros
                that the sizes may not be for.
        """
        passed = asked.passed
        problem = self.problem or self._problems.get(asked.device.int_ptr)
        if problem is not None and problem.is_other_code:
            return self.default.decision(passed, None, problem.reason)
        numbers = self._numbers(asked.arguments)
        given = numbers[: self._size_count]
        default = None if None in given else self.default.sizes(*given)
        if problem is not None:
            return self.default.decision(passed, default, problem.reason)
        if passed is not None and self._has_sizes:
            if default is None or passed != (default.global_size, default.local_size):
                reason = "sizes that aren't the default version's for the arguments"
                return self.default.decision(passed, default, reason)
            if asked.has_offset:
                return self.default.decision(passed, default, "an offset of the first work-item")
        sizes = passed or (None if default is None else (default.global_size or (), default.local_size))
        number = None if sizes is None else self.tree.number(numbers, sizes, asked.supplied)
        if sizes is None or number is None:
            return self.default.decision(passed, default, "a feature or a size that has no value")
        version = self._versions[number]
        if isinstance(version, BuiltSequence):
            otherwise = partial(self.default.decision, passed, default)
            found: AnyDecision | str = self._sequence(version, asked, given, sizes, otherwise)
        elif version is None:
            found = self._not_built.get(number, "it isn't built")
        else:
            found = self._one(version, asked, given, sizes)
        if not isinstance(found, str):
            return found
        return self.default.decision(passed, default, f"the version {number}, which can't be launched so: {found}")

    def _sequence(
        self,
        version: BuiltSequence,
        asked: Asked,
        given: Sequence[Number | None],
        sizes: PassedSizes,
        otherwise: Callable[[str], Decision],
    ) -> SequenceDecision | str:
        """Return the launches of a version of several; where one can't be made, why."""
        facts = version.facts.get(asked.device.int_ptr)
        own = None if None in given else version.sizes(*given)
        if facts is None:
            return _OF_NO_DEVICE
        if own is None:
            return _NO_SIZES
        if max(own.scratch, default=0) > asked.device.max_mem_alloc_size:
            return "its scratch buffers are too large for the device"
        for place, each in enumerate(facts):
            whole, local, _ = own.launches[place]
            memory = _local_bytes_of(version, place, asked, own)
            if whole is None or math.prod(whole) > MOST_WORK_ITEMS:
                return _TOO_MANY
            if not each.allow(whole, local, memory, version.any_groups):
                return each.reason_against(whole, local, memory)
        return SequenceDecision(version, own, sizes, otherwise)

    def _one(
        self, version: BuiltVersion, asked: Asked, given: Sequence[Number | None], sizes: PassedSizes
    ) -> Decision | str:
        """Return the way a version of one launch is launched; where it can't be, why."""
        own = None if None in given else version.sizes(*given)
        facts = version.facts.get(asked.device.int_ptr)
        if facts is None:
            return _OF_NO_DEVICE
        if own is None:
            return _NO_SIZES
        whole, local = (own.global_size, own.local_size) if own.global_size else sizes
        if own.global_size and math.prod(whole) > MOST_WORK_ITEMS:
            return _TOO_MANY
        memory = NO_MEMORY
        if own.local_memory:
            memory = {index: pyopencl.LocalMemory(size) for index, size in own.local_memory.items()}
        places = asked.local_places
        bytes_of_group = local_bytes(places, asked.arguments, memory) if places else 0
        if memory and not facts.holds(bytes_of_group):
            return facts.reason_against(whole, local, bytes_of_group)
        known = facts.decided(whole, local, bytes_of_group) if self._has_sizes else None
        if known is not None:
            launched, divided_whole, divided_local = known
            return Decision(version, divided_whole, divided_local, sizes, None, launched, (), memory)
        original = OriginalLaunch(asked.device, whole, local, bytes_of_group)
        return _weighed(version, facts, original, asked, sizes, memory)


def _weighed(
    version: BuiltVersion,
    facts: DeviceFacts,
    original: OriginalLaunch,
    asked: Asked,
    sizes: PassedSizes,
    memory: Mapping[int, pyopencl.LocalMemory],
) -> Decision | str:
    """Return a launch that doesn't just divide, as for any coarsened kernel; where it can't be made, why."""
    launch = version.launches.choose(original)
    launched = version.launches.variant_of(launch)
    if launched is not None and launched.is_conditional:
        launch, launched = version.launches.allowed(original, launch, PassedValues(asked.arguments))
    driver_sizes = launch.global_size, launch.local_size
    if launched is None:
        works = facts.allow(*driver_sizes, original.local_bytes, version.launches.plan.any_groups)
        if not works:
            return facts.reason_against(*driver_sizes, original.local_bytes)
        return Decision(version, *driver_sizes, sizes, launch, None, (), memory)
    set_memory = {
        index: memory.get(index, value)
        for index, value in enumerate(asked.arguments)
        if isinstance(value, pyopencl.LocalMemory)
    }
    added = added_values(launched.added, len(asked.arguments), original.global_size, set_memory)
    if added is None:
        return "its local memory depends on an argument that is given none"
    return Decision(version, *driver_sizes, sizes, launch, launched, added, memory)


def _local_bytes_of(version: BuiltSequence, place: int, asked: Asked, own: SequenceSizes) -> int:
    """Return the bytes of local memory that the arguments of one launch give a work-group."""
    memory = own.launches[place].local_memory
    passed = [argument.index for argument in version.passed[place] if argument.source is Source.CALLER]
    return sum(memory.get(index, asked.arguments[index].size) for index in passed if index in asked.local_places)
