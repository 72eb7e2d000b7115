"""A kernel's configuration space as one to search: coarsenings, launches, transforms and macros as axes.

shared        local sizes, factors, strides (they scale every access of a kernel); macros that are not independent
independent   transforms of coarsened kernels; layouts and orders of arrays; macros that a user declares so
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.search.spaces import Axis, Choice
from coarsen.variant.space import MACRO, VariantSpace, is_of_arrays
from coarsen.variant.variant import Variant

# Choices that stand for a variant: more are not listed.
_MOST_LISTED = 200_000
TRANSFORMS = frozenset({"fast_path", "lock_step", "wide_accesses", "clean_up", "distinct", "any_size"})


@dataclass(frozen=True)
class VariantSearchSpace:
    """The choices of a configuration space that stand for a variant which may run.

    Args:
        space: the dimensions, and the constraints.
        independent_macros: names of `-D` macros whose contributions to the time add up with those of others.

    Raises:
        InvalidInputError: the space has no such macro.
    """

    space: VariantSpace
    independent_macros: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        known = {d.name.removeprefix(MACRO) for d in self.space.dimensions if d.name.startswith(MACRO)}
        if unknown := sorted(self.independent_macros - known):
            raise InvalidInputError(
                f"{unknown[0]} is no macro of the space: it has {', '.join(sorted(known)) or 'none'}"
            )

    @cached_property
    def axes(self) -> tuple[Axis, ...]:
        """The dimensions of the space, in its order."""
        return tuple(Axis(d.name, d.values, self._is_shared(d.name)) for d in self.space.dimensions)

    def is_valid(self, choice: Choice) -> bool:
        """Return True if a choice stands for a variant, against which nothing is known."""
        variant = self.space.variant(choice)
        return variant is not None and self.space.violation(variant) is None

    def variant(self, choice: Choice) -> Variant:
        """Return the variant of a valid choice.

        Raises:
            InvalidInputError: another choice stands for it, or it coarsens too much.
        """
        variant = self.space.variant(choice)
        if variant is None:
            raise InvalidInputError(f"{choice} stands for no variant of the space: ask is_valid first")
        return variant

    def choice_of(self, variant: Variant) -> Choice:
        """Return the choice that stands for a variant.

        Raises:
            InvalidInputError: the variant is not in the space.
        """
        try:
            return self.space.choice_of(variant)
        except ValueError as error:
            raise InvalidInputError(f"not in the space: {variant}") from error

    def standing(self, choice: Choice) -> Choice:
        """Return the choice that stands for the same variant: one without a stride where nothing is merged."""
        return self.space.standing(choice)

    def _is_shared(self, name: str) -> bool:
        if name in TRANSFORMS or is_of_arrays(name):
            return False
        return name.removeprefix(MACRO) not in self.independent_macros


@dataclass(frozen=True)
class ListedVariantSpace(VariantSearchSpace):
    """A space whose valid choices are listed once: `listed` makes one."""

    def is_valid(self, choice: Choice) -> bool:
        """Return True if a choice stands for a variant, against which nothing is known."""
        return choice in self._valid

    def valid_choices(self) -> Iterator[Choice]:
        """Enumerate the valid choices, each once, in ascending order."""
        return iter(self._valid)

    @cached_property
    def _valid(self) -> dict[Choice, None]:
        standing = self.space.standing_choices(_MOST_LISTED) or ()
        return dict.fromkeys(filter(super().is_valid, standing))


def listed(space: VariantSearchSpace) -> VariantSearchSpace:
    """Return a space that lists its valid choices once where these are not too many, and else the space itself.

    Few of the combinations stand for a variant, so that testing every one takes long.
    """
    if space.space.standing_choices(_MOST_LISTED) is None:
        return space
    return ListedVariantSpace(space.space, space.independent_macros)
