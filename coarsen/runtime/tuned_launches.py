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
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

import pyopencl

from coarsen.dispatch.choosing import Number
from coarsen.dispatch.features import ArgumentKind, KernelArgument
from coarsen.dispatch.launch_sizes import SequenceSizes, Source, VersionSizes, size_inputs, sizes_function
from coarsen.dispatch.tuned_file import TunedFile
from coarsen.errors import InvalidInputError
from coarsen.runtime.arguments import Argument
from coarsen.runtime.launch import MOST_WORK_ITEMS, DividedLaunch, OriginalLaunch, PassedSizes, Sizes
from coarsen.runtime.launches import LaunchedVariant, added_values
from coarsen.runtime.tuned_arguments import PassedValues, local_bytes, numbers_function
from coarsen.runtime.tuned_building import AnyBuilt, BuiltSequence, BuiltVersion, DeviceFacts
from coarsen.runtime.tuned_checks import Problem, definition_options
from coarsen.runtime.tuned_tree import TreeChoice

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


# A launch of a tuned kernel as it is asked for, and the way it is carried out.

NO_MEMORY: Mapping[int, pyopencl.LocalMemory] = MappingProxyType({})
NO_FEATURES: Mapping[str, float] = MappingProxyType({})


class Asked(NamedTuple):
    """A launch as it is asked for.

    `device` is that of its queue, `arguments` are the kernel's own. `passed` are its sizes, for the default
    version, None where they are to be those of the file; `supplied` are features that the caller supplies;
    `has_offset` says that the first work-item isn't the one at 0. `local_places` are the indices of arguments that
    are local memory.
    """

    device: pyopencl.Device
    arguments: tuple[Argument, ...]
    passed: PassedSizes | None
    supplied: Mapping[str, float] = NO_FEATURES
    has_offset: bool = False
    local_places: tuple[int, ...] = ()


class Decision(NamedTuple):
    """The way one launch is carried out.

    `version` is what is launched, None for the program's own kernel as it is written, with `global_size` and
    `local_size` as it is given to the driver. `asked` are the sizes that were passed, else the default version's;
    `launched` is the coarsened variant, None for a version as it is written; `added` are the arguments after the
    kernel's own, `local_memory` is passed in place of the caller's, by index. `divided` is how the launch was
    weighed, None where that was simple.
    """

    version: BuiltVersion | None
    global_size: Sizes
    local_size: Sizes | None
    asked: PassedSizes
    divided: DividedLaunch | None
    launched: LaunchedVariant | None = None
    added: tuple[Argument, ...] = ()
    local_memory: Mapping[int, pyopencl.LocalMemory] = NO_MEMORY

    def shown(self) -> DividedLaunch:
        """Return this as observers are shown it."""
        if self.divided is not None:
            return self.divided
        variant = None if self.launched is None else self.launched.variant
        merged, transforms = ((), None) if variant is None else (variant.coarsenings, variant.transforms)
        return DividedLaunch(self.global_size, self.local_size, merged, transforms=transforms)


class SequenceDecision(NamedTuple):
    """The way a launch is carried out by several, which run as they are written.

    `asked` are the sizes that were passed, else the default version's. `otherwise` decides, for a reason, what is
    launched where these can't be.
    """

    version: BuiltSequence
    sizes: SequenceSizes
    asked: PassedSizes
    otherwise: Callable[[str], Decision]

    def shown(self) -> DividedLaunch:
        """Return this as observers are shown it: the last of the launches."""
        last = self.sizes.launches[-1]
        reason = (
            f"{len(self.sizes.launches)} launches, as the tuned file chooses: {', '.join(self.version.kernels)}"
        )
        return DividedLaunch(last.global_size or (), last.local_size, (), reason=reason)


AnyDecision: TypeAlias = Decision | SequenceDecision


# The default version of a tuned file, built: what a launch runs for which nothing else may be chosen.
#
# the source as it stands has its macros                     ─▶ the program's own kernel
# other macros, and its sizes or no sizes of the file        ─▶ the kernel as it is written, with these macros
# other macros, and sizes of which nobody can say for which  ─▶ refused: either could be wrong


class BuiltDefault:
    """The default version of one tuned file, for one program.

    Args:
        file: the tuned file.
        built: the version with its own macros; None where it isn't built.
        is_own: whether the program's source has these macros as it stands.
        problem: why the file can't be used at all; None if it can.
        say_once: logs a warning the first time.
    """

    def __init__(
        self,
        file: TunedFile,
        built: BuiltVersion | None,
        is_own: bool,
        problem: Problem | None,
        say_once: Callable[[object, str], None],
    ) -> None:
        self._kernel = file.kernel
        self._built = built
        self._is_own = is_own
        self._is_of_other_code = problem is not None and problem.is_other_code
        self._has_sizes = file.has_sizes
        self._macros = " ".join(definition_options(file.default_version.variant.definitions))
        self._say_once = say_once
        # Returns what it is launched with, of the numbers that `size_inputs` names.
        self.sizes = sizes_function(file, file.default_version, size_inputs(file))

    def decision(self, passed: PassedSizes | None, sizes: VersionSizes | None, reason: str) -> Decision:
        """Return how it is launched, and say once why.

        Args:
            passed: the caller's sizes; None where they are to be its own.
            sizes: its own, from `sizes`.
            reason: why nothing else is launched.

        Raises:
            InvalidInputError: there are no sizes; or macros and sizes that may not belong together.
        """
        if passed is None:
            return self._with_own_sizes(sizes, reason)
        if self._is_own:
            self._say(f"runs as it is written, not as its tuned file chooses: {reason}", reason)
            return Decision(None, *passed, passed, DividedLaunch(*passed, ()))
        is_of_these = sizes is not None and passed == (sizes.global_size, sizes.local_size)
        if self._is_of_other_code or (self._has_sizes and not is_of_these):
            self.check_own(reason)
        version = self._version(reason)
        self._say(f"runs in its default version, not as its tuned file chooses: {reason}", reason)
        return Decision(version, *passed, passed, DividedLaunch(*passed, ()))

    def check_own(self, reason: str) -> None:
        """Raise InvalidInputError unless the program's own kernel, called with some sizes, is the default version.

        Args:
            reason: why nothing else is launched.
        """
        if not self._is_own:
            raise InvalidInputError(
                f"kernel {self._kernel}: the default version of its tuned file has {self._macros}, and the source "
                f"as it stands hasn't; for which of them these sizes are can't be told ({reason}): pass the "
                "default version's sizes, or set these macros in the source"
            )

    def _with_own_sizes(self, sizes: VersionSizes | None, reason: str) -> Decision:
        if sizes is None or sizes.global_size is None or self._is_of_other_code:
            raise InvalidInputError(
                f"kernel {self._kernel}: the tuned file gives no sizes for this launch ({reason}): pass them"
            )
        version = None if self._is_own else self._version(reason)
        self._say(f"runs in its default version, not as its tuned file chooses: {reason}", reason)
        memory = {index: pyopencl.LocalMemory(size) for index, size in sizes.local_memory.items()}
        own = sizes.global_size, sizes.local_size
        return Decision(version, *own, own, DividedLaunch(*own, ()), None, (), memory)

    def _version(self, reason: str) -> BuiltVersion:
        if self._built is None:
            raise InvalidInputError(
                f"kernel {self._kernel}: the default version of its tuned file, with {self._macros}, isn't built "
                f"({reason}): set these macros in the source, or tune again"
            )
        return self._built

    def _say(self, what: str, reason: str) -> None:
        self._say_once(("as written", self._kernel, reason), f"kernel {self._kernel}: {what} (said once)")
