"""The choice of a version for each launch of a tuned kernel that differs from those before.

    the file is of another source, device, driver, …      ─▶ the kernel as it is written
    sizes that aren't the default version's               ─▶ as it is written, with these sizes
    features ─▶ tree ─▶ version ─▶ its sizes ─▶ how it is carried out, as for any coarsened kernel
    version not built, too large a work-group, no value   ─▶ as it is written

Nothing is built here, and no buffer is read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import pyopencl

from coarsen.dispatch.choosing import Chooser, Number, chooser
from coarsen.dispatch.features import SIZE_NAMES, ArgumentKind, KernelArgument
from coarsen.dispatch.launch_sizes import VersionSizes, size_inputs
from coarsen.dispatch.tree import Tree, features_of
from coarsen.dispatch.tuned_file import TunedFile
from coarsen.runtime.launches import added_values
from coarsen.runtime.original_launch import OriginalLaunch
from coarsen.runtime.tuned_arguments import Arguments, are_below, local_bytes, numbers_function
from coarsen.runtime.tuned_checks import Problem
from coarsen.runtime.tuned_decision import NO_MEMORY, Decision, PassedSizes
from coarsen.runtime.tuned_default import BuiltDefault
from coarsen.runtime.tuned_versions import BuiltVersion, DeviceFacts


@dataclass(frozen=True, slots=True)
class _Choice:
    """A chooser, the supplied features that it needs, and the places of its numbers among a launch's.

    `is_of_arguments` says that these are numbers of arguments alone.
    """

    chooser: Chooser
    supplied: tuple[str, ...]
    places: tuple[int, ...]
    is_of_arguments: bool


class TunedLaunches:
    """Decides for one kernel of a program.

    Args:
        file: of the kernel.
        versions: its versions, built; None for those that can't be used.
        default: what runs where the file says nothing, or what can't be launched.
        problem: why the file can't be used at all; None if it can.
        problems: by the addresses of devices: why it can't be used there.
        say_once: logs a warning the first time.
    """

    def __init__(
        self,
        file: TunedFile,
        versions: Sequence[BuiltVersion | None],
        default: BuiltDefault,
        problem: Problem | None,
        problems: Mapping[int, Problem],
        say_once: Callable[[object, str], None],
    ) -> None:
        self.file = file
        self.problem = problem
        self._versions = tuple(versions)
        self._problems = problems
        self._say_once = say_once
        self._size_names = size_inputs(file)
        self.default = default
        others = sorted(self._feature_names() - set(self._size_names))
        # Those that sizes are computed from come first.
        self._argument_names = (*self._size_names, *others)
        self._numbers = numbers_function(file.arguments, self._argument_names)
        self._has_sizes = file.has_sizes
        self._places_of_local = tuple(
            index for index, argument in enumerate(file.arguments) if argument.kind is ArgumentKind.LOCAL
        )
        self._choice = self._choice_by(file.tree)
        without = file.tree_without_supplied
        self._choice_without = None if without is None else self._choice_by(without)

    @property
    def asked(self) -> frozenset[str]:
        """The names of the arguments' numbers, and of sizes of buffers, that a decision depends on."""
        return frozenset(self._argument_names)

    def arguments(self, count: int) -> tuple[KernelArgument, ...]:
        """Return the arguments of a kernel that takes so many: the file's, unless that is of other code."""
        if self.problem is not None and self.problem.is_other_code:
            return tuple(KernelArgument(f"arg{index}", ArgumentKind.OTHER) for index in range(count))
        return self.file.arguments

    @property
    def supplied(self) -> tuple[str, ...]:
        """The features that the caller supplies, as far as they count."""
        return self._choice.supplied

    @property
    def needs_all_bytes(self) -> bool:
        """Return True if the size of every buffer counts."""
        return any(version is not None and version.has_wide_accesses for version in self._versions)

    def decide(
        self,
        device: pyopencl.Device,
        arguments: Arguments,
        passed: PassedSizes | None,
        supplied: Mapping[str, float],
        has_offset: bool = False,
    ) -> Decision:
        """Return how a launch is carried out.

        Args:
            device: of its queue.
            arguments: the kernel's own.
            passed: its sizes, for the default version; None where they are to be those of the file.
            supplied: features that the caller supplies.
            has_offset: whether the first work-item isn't the one at 0.

        Raises:
            InvalidInputError: there are neither sizes that are passed nor sizes in the file that hold.
        """
        problem = self.problem or self._problems.get(device.int_ptr)
        if problem is not None and problem.is_other_code:
            return self.default.decision(passed, None, problem.reason)
        numbers = self._numbers(arguments)
        default = self.default.sizes(numbers[: len(self._size_names)])
        if problem is not None:
            return self.default.decision(passed, default, problem.reason)
        if passed is not None and self._has_sizes:
            if default is None or passed != (default.global_size, default.local_size):
                return self.default.decision(
                    passed, default, "sizes that aren't the default version's for the arguments"
                )
            if has_offset:
                return self.default.decision(passed, default, "an offset of the first work-item")
        sizes = passed or (None if default is None else (default.global_size or (), default.local_size))
        number = None if sizes is None else self._chosen(numbers, sizes, supplied)
        if number is None:
            return self.default.decision(passed, default, "a feature or a size that has no value")
        found = None if sizes is None else self._decision(number, device, arguments, numbers, sizes)
        return found or self.default.decision(passed, default, f"the version {number}, which can't be launched so")

    def chooser_with(self, supplied: Mapping[str, float]) -> Chooser | None:
        """Return what chooses where these features are supplied; None if nothing does."""
        choice = self._choice_with(supplied)
        return None if choice is None else choice.chooser

    def _feature_names(self) -> set[str]:
        names: set[str] = set()
        for feature in self.file.features:
            formula = feature.formula()
            names |= set() if formula is None else formula.names
        return names - set(SIZE_NAMES)

    def _choice_by(self, tree: Tree) -> _Choice:
        made = chooser(self.file, tree)
        asked = features_of(tree)
        supplied = tuple(
            feature.name for feature in self.file.features if feature.is_supplied and feature.name in asked
        )
        every = (*self._argument_names, *SIZE_NAMES, *supplied)
        places = tuple(every.index(name) for name in made.features.inputs)
        return _Choice(made, supplied, places, max(places, default=0) < len(self._argument_names))

    def _choice_with(self, supplied: Mapping[str, float]) -> _Choice | None:
        if not self._choice.supplied:
            return self._choice
        missing = [name for name in self._choice.supplied if name not in supplied]
        if not missing:
            return self._choice
        self._say_once(
            ("supplied", self.file.kernel),
            f"kernel {self.file.kernel}: launched without the feature {missing[0]}, which its tuned file asks "
            "for: launch(…, features={…}) takes it (said once)",
        )
        return self._choice_without

    def _chosen(
        self, numbers: Sequence[Number | None], sizes: PassedSizes, supplied: Mapping[str, float]
    ) -> int | None:
        choice = self._choice_with(supplied)
        if choice is None:
            return None
        if choice.is_of_arguments:
            needed = [numbers[place] for place in choice.places]
        else:
            every = (*numbers, *_padded(sizes), *(supplied.get(name) for name in choice.supplied))
            needed = [every[place] for place in choice.places]
        return None if None in needed else choice.chooser.version(cast("list[Number]", needed))

    def _sizes_by(
        self, function: Callable[..., VersionSizes | None], numbers: Sequence[Number | None]
    ) -> VersionSizes | None:
        needed = numbers[: len(self._size_names)]
        return None if None in needed else function(*needed)

    def _decision(
        self,
        number: int,
        device: pyopencl.Device,
        arguments: Arguments,
        numbers: Sequence[Number | None],
        asked: PassedSizes,
    ) -> Decision | None:
        """Return the way a version is launched; None where it can't be."""
        version = self._versions[number]
        sizes = None if version is None else self._sizes_by(version.sizes, numbers)
        if version is None or sizes is None:
            return None
        whole, local = (sizes.global_size, sizes.local_size) if sizes.global_size else asked
        facts = version.facts.get(device.int_ptr)
        if facts is None:
            return None
        memory = NO_MEMORY
        if sizes.local_memory:
            memory = {index: pyopencl.LocalMemory(size) for index, size in sizes.local_memory.items()}
        bytes_of_group = local_bytes(self._places_of_local, arguments, memory) if self._places_of_local else 0
        known = facts.decided(whole, local, bytes_of_group) if self._has_sizes else None
        if known is not None:
            launched, divided_whole, divided_local = known
            return Decision(version, divided_whole, divided_local, asked, None, launched, (), memory)
        return self._weighed(
            version, facts, OriginalLaunch(device, whole, local, bytes_of_group), asked, arguments, memory
        )

    def _weighed(
        self,
        version: BuiltVersion,
        facts: DeviceFacts,
        original: OriginalLaunch,
        asked: PassedSizes,
        arguments: Arguments,
        memory: Mapping[int, pyopencl.LocalMemory],
    ) -> Decision | None:
        """A launch that doesn't just divide, as for any coarsened kernel; None where it can't be made."""
        launch = version.launches.choose(original)
        launched = version.launches.variant_of(launch)
        limit = None if launched is None else launched.objects_below
        if limit is not None and not are_below(arguments, limit):
            launch = version.launches.choose_narrow(original)
            launched = version.launches.variant_of(launch)
        sizes = launch.global_size, launch.local_size
        if launched is None:
            works = facts.allow(*sizes, original.local_bytes, version.launches.plan.any_groups)
            return Decision(version, *sizes, asked, launch, None, (), memory) if works else None
        set_memory = {
            index: memory.get(index, value)
            for index, value in enumerate(arguments)
            if isinstance(value, pyopencl.LocalMemory)
        }
        added = added_values(launched.added, len(arguments), original.global_size, set_memory)
        return None if added is None else Decision(version, *sizes, asked, launch, launched, added, memory)


def _padded(sizes: PassedSizes) -> tuple[int, ...]:
    """Sizes for three dimensions, 1 for those that aren't there; a local size that is left open is 0."""
    whole, local = sizes
    own = (0, 0, 0) if local is None else (*local, *[1] * (3 - len(local)))
    return (*whole, *[1] * (3 - len(whole)), *own)
