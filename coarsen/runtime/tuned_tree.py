"""The version that a tuned file's trees choose for the numbers of a launch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import cast

import numpy as np

from coarsen.dispatch.choosing import Chooser, Number, chooser
from coarsen.dispatch.features import SIZE_NAMES
from coarsen.dispatch.launch_sizes import size_inputs
from coarsen.dispatch.tree import Tree, features_of
from coarsen.dispatch.tuned_file import TunedFile
from coarsen.errors import InvalidInputError
from coarsen.near_names import did_you_mean
from coarsen.runtime.sizes import PassedSizes


@dataclass(frozen=True, slots=True)
class _Choice:
    """A chooser, the supplied features that it needs, and what takes its numbers from among a launch's.

    `is_of_arguments` says that these are numbers of arguments alone.
    """

    chooser: Chooser
    supplied: tuple[str, ...]
    taken: Callable[[Sequence[Number | None]], Sequence[Number | None]]
    is_of_arguments: bool


class TreeChoice:
    """Chooses among the versions of one file.

    Args:
        file: the tuned file.
        say_once: logs a warning the first time.
    """

    def __init__(self, file: TunedFile, say_once: Callable[[object, str], None]) -> None:
        self._file = file
        self._say_once = say_once
        sizes = size_inputs(file)
        # The names of the arguments' numbers, and of sizes of buffers, that a decision depends on, in order: first
        # those that launches' sizes are computed from.
        self.names = (*sizes, *sorted(_feature_inputs(file) - set(sizes)))
        self._choice = self._choice_by(file.tree)
        without = file.tree_without_supplied
        self._choice_without = None if without is None else self._choice_by(without)

    @property
    def supplied(self) -> tuple[str, ...]:
        """The features that the caller supplies, as far as they count."""
        return self._choice.supplied

    def supplied_values(self, features: Mapping[str, float]) -> tuple[float | None, ...]:
        """Return the supplied features that count, None for those that aren't there.

        Args:
            features: by name.

        Raises:
            InvalidInputError: one that the file doesn't have, or that is no number.
        """
        known = [feature.name for feature in self._file.features if feature.is_supplied]
        for name, value in features.items():
            if name not in known:
                hint = did_you_mean(str(name), known)
                raise InvalidInputError(f"the tuned file has no supplied feature {name!r}{hint}")
            if not isinstance(value, int | float | np.number):
                raise InvalidInputError(f"the supplied feature {name} must be a number, not {value!r}")
        return tuple(float(features[name]) if name in features else None for name in self.supplied)

    def number(
        self, numbers: Sequence[Number | None], sizes: PassedSizes, supplied: Mapping[str, float]
    ) -> int | None:
        """Return the number of the version; None where a number or a feature has no value.

        Args:
            numbers: those of `names`.
            sizes: of the default version's launch.
            supplied: features that the caller supplies.
        """
        choice = self._choice if not self._choice.supplied else self._choice_with(supplied)
        if choice is None:
            return None
        every = numbers
        if not choice.is_of_arguments:
            every = (*numbers, *_padded(sizes), *(supplied.get(name) for name in choice.supplied))
        needed = choice.taken(every)
        return None if None in needed else choice.chooser.version(cast("Sequence[Number]", needed))

    def _choice_by(self, tree: Tree) -> _Choice:
        made = chooser(self._file, tree)
        asked = features_of(tree)
        supplied = tuple(
            feature.name for feature in self._file.features if feature.is_supplied and feature.name in asked
        )
        every = (*self.names, *SIZE_NAMES, *supplied)
        places = tuple(every.index(name) for name in made.features.inputs)
        return _Choice(made, supplied, _taking(places), max(places, default=0) < len(self.names))

    def _choice_with(self, supplied: Mapping[str, float]) -> _Choice | None:
        missing = [name for name in self._choice.supplied if name not in supplied]
        if not missing:
            return self._choice
        self._say_once(
            ("supplied", self._file.kernel),
            f"kernel {self._file.kernel}: launched without the feature {missing[0]}, which its tuned file asks "
            "for: launch(…, features={…}) takes it (said once)",
        )
        return self._choice_without


def _taking(places: tuple[int, ...]) -> Callable[[Sequence[Number | None]], Sequence[Number | None]]:
    """Return what takes the numbers at these places."""
    if len(places) > 1:
        # It makes a tuple, faster than anything else.
        return itemgetter(*places)
    return lambda every: [every[place] for place in places]


def _feature_inputs(file: TunedFile) -> set[str]:
    """Return the names of what a launch passes that features are computed from, but sizes of the launch."""
    names: set[str] = set()
    for feature in file.features:
        formula = feature.formula()
        names |= set() if formula is None else formula.names
    return names - set(SIZE_NAMES)


def _padded(sizes: PassedSizes) -> tuple[int, ...]:
    """Sizes for three dimensions, 1 for those that aren't there; a local size that is left open is 0."""
    whole, local = sizes
    own = (0, 0, 0) if local is None else (*local, *[1] * (3 - len(local)))
    return (*whole, *[1] * (3 - len(whole)), *own)
