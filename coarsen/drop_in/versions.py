"""The version of a tuned file that is remembered for a launch, or found now.

launch ─▶ class of the numbers that it is decided by ─▶ remembered ─▶ the version with these macros
                                                     ─▶ else captured, all versions searched, remembered
       ─▶ where nothing is faster, or known: as the file's tree chooses
"""

from __future__ import annotations

from coarsen.dispatch.launch_sizes import (
    NO_ONE_LAUNCH,
    SequenceSizes,
    passed_arguments,
    sequence_function,
    size_inputs,
)
from coarsen.dispatch.tuned_file import TunedFile
from coarsen.dispatch.tuned_version import TunedVersion
from coarsen.drop_in.mode import Otherwise
from coarsen.frontend.annotations import source_without_pragmas
from coarsen.policy.remembered import Remembered
from coarsen.policy.tuned import Picker
from coarsen.policy.tuned_tree import TreeChoice
from coarsen.runtime.advice import LaunchRequest
from coarsen.tuning.settings import Tune
from coarsen.tuning.workload.benchmark import ByMacros, MacroSizes, MacroStep
from coarsen.variant.coarsening import DIMENSIONS
from coarsen.variant.variant import Definitions


class FoundVersions(Picker):
    """Picks versions as is remembered and, where that is asked for, by a search at the first launch of a class.

    Args:
        file: whose versions differ in their macros.
        mode: whether to search, and settings.
        roundings: the name of the number of operations that lead to an element; None where it isn't known.
    """

    def __init__(self, file: TunedFile, mode: tuple[Otherwise, Tune], roundings: str | None = None) -> None:
        self._file, self._inputs, self._roundings = file, size_inputs(file), roundings
        self._tree = TreeChoice(file)
        self._sizes = [sequence_function(file, each, self._inputs) for each in file.versions]
        self._by_definitions = {_sorted(each): number for number, each in enumerate(file.versions)}
        kind: type[Remembered] = Remembered
        if mode[0] is Otherwise.TUNE:
            # Imported late: a program that remembers measures nothing.
            from coarsen.drop_in.search import SearchNow

            kind = SearchNow
        self._policy = kind(mode[1], by_macros=self._by_macros)
        self.looks_at_arguments = kind.looks_at_arguments

    def pick(self, request: LaunchRequest) -> tuple[int, str] | None:
        """Return the version that is known to be the fastest; None where nothing is known."""
        # By their magnitudes alone: what divides a number of elements matters to none of the versions.
        extents = tuple(1 << max(int(each), 1).bit_length() - 1 for each in self._numbers(request).values())
        launch = request.launch._replace(global_size=extents[:DIMENSIONS] or (1,), local_size=None)
        # Of its sizes the tuning is told by `_by_macros`, and what the tree chooses is its launch as it is.
        request = request._replace(source=source_without_pragmas(request.source), launch=launch)
        # A version may launch all kernels of the source.
        known = self._policy.known(request, self._file.source_hash, *map(str, extents[DIMENSIONS:]))
        definitions = known.choice.variant.definitions if known is not None and known.choice is not None else ()
        # Without any, nothing is faster than what the tree chooses.
        found = self._by_definitions.get(definitions)
        return None if known is None or found is None else (found, known.reason)

    def _by_macros(self, request: LaunchRequest) -> ByMacros:
        """The sizes of a launch in each version that can be launched so, first in the one that the tree takes."""
        numbers = request.launch.numbers[: len(self._inputs)]
        found = list[MacroSizes]()
        given, passed = request.launch.numbers[: len(self._tree.names)], request.launch[1:3]
        chosen = self._tree.number(given, passed)
        for number in sorted(range(len(self._sizes)), key=lambda each: each != chosen):
            sizes = self._sizes[number](*numbers)
            if sizes is not None:
                found.append(_macro_sizes(self._file, self._file.versions[number], sizes))
        return ByMacros(tuple(found), None if self._roundings is None else self._numbers(request)[self._roundings])

    def _numbers(self, request: LaunchRequest) -> dict[str, int]:
        """The numbers of a launch that sizes and features are computed from, by name."""
        given = zip(self._tree.names, request.launch.numbers, strict=False)
        return {name: int(each) for name, each in given if each is not None}


def _sorted(version: TunedVersion) -> Definitions:
    return tuple(sorted(version.variant.definitions))


def _macro_sizes(file: TunedFile, version: TunedVersion, sizes: SequenceSizes) -> MacroSizes:
    whole, local, _ = sizes.launches[-1] if sizes.launches else NO_ONE_LAUNCH
    # Steps of one launch, too: versions are launched as they are written, and nothing else is searched.
    steps = list[MacroStep]()
    for place, launched, numbers in zip(sizes.order, sizes.launches, sizes.numbers, strict=True):
        launch = version.launches[place]
        passed = passed_arguments(version, launch, file.arguments)
        own = launched.global_size or (1,), launched.local_size or ()
        steps.append(MacroStep(launch.kernel, *own, passed, numbers))
    return MacroSizes(_sorted(version), whole or (1,), local or (), tuple(steps), sizes.scratch)
