"""A pipeline's stages: what their kernels and launches are, and what there is to choose.

    scale ─▶ gain ─▶ blur          three stages, channels 0 (the input) to 3 (the output), FUSE_scale, FUSE_gain

By default neighbours are one kernel where nothing is computed twice, channels lie as they are filled, and a whole
image has one text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from coarsen.dispatch.expressions import LONGEST_TEXT
from coarsen.errors import InvalidInputError
from coarsen.stream.actor import (
    Actor,
    Rate,
    SplitJoin,
    Stage,
    actors_of,
    arguments_of,
    branches_of,
    check_neighbours,
)
from coarsen.stream.graph import element_counts, firings, turns
from coarsen.stream.reduction_text import Argument

SIZES = ("n", "width", "height")
# Of fusions, layouts and interiors: each doubles the number of versions.
MOST_CHOICES = 8


@dataclass(frozen=True)
class StreamLaunch:
    """A launch of a stage's kernel.

    Attributes:
        stage: its number.
        source: the number of the channel that it reads, 0 for the input; it writes the one behind its stage.
        when: the values of macros with which it is made.
    """

    stage: int
    source: int
    when: Mapping[str, int]


@dataclass(frozen=True)
class Pipeline:
    """Stages one after the other: what their kernels are.

    Attributes:
        name: of the kernel that writes the output; others have it before their own.
        stages: actors and split-joins.

    Raises:
        InvalidInputError: neighbours that don't go together, a name that is there twice.
    """

    name: str
    stages: tuple[Stage, ...]

    def __post_init__(self) -> None:
        if not self.stages:
            raise InvalidInputError("a pipeline has one actor at least")
        check_neighbours(self.stages)
        joins = [each.name for each in self.stages if isinstance(each, SplitJoin)]
        names = [*self.arguments, *(each.name for each in self.actors), *joins]
        if twice := [name for name in names if names.count(name) > 1]:
            raise InvalidInputError(f"there are two of the name '{twice[0]}': give one of them another")
        for actor in self.actors:
            if actor.border and not self.is_image[actor.name]:
                raise InvalidInputError(
                    f"{actor.name}: it takes an image, and what comes before it makes none: maps and stencils do"
                )

    @cached_property
    def actors(self) -> tuple[Actor, ...]:
        """All actors, those of branches too."""
        return tuple(actor for stage in self.stages for actor in actors_of(stage))

    @cached_property
    def arguments(self) -> Mapping[str, Argument]:
        """The arguments of all actors by name."""
        return arguments_of(self.stages)

    @cached_property
    def dtypes(self) -> tuple[np.dtype[Any], ...]:
        """NumPy's types of the elements of each channel."""
        return (self.actors[0].dtype, *(branches_of(each)[-1][-1].result_dtype for each in self.stages))

    @cached_property
    def is_image(self) -> Mapping[str, bool]:
        """Return whether an actor makes an image of one, by its name; a split-join, whether each element of an
        image becomes one of each branch."""
        found, is_so = {}, any(each.border for each in self.actors)
        for stage in self.stages:
            for branch in branches_of(stage):
                inner = is_so
                for actor in branch:
                    inner = found[actor.name] = inner and actor.is_elementwise
            if isinstance(stage, SplitJoin):
                is_even = {*stage.join} == {1}
                found[stage.name] = is_even and all(found[branch[-1].name] for branch in stage.branches)
            is_so = is_so and isinstance(stage, Actor) and stage.is_elementwise
        return found

    @property
    def keeps_shape(self) -> bool:
        """Return True if the output has an element in the place of each of the input."""
        return all(isinstance(each, Actor) and each.is_elementwise for each in self.stages)

    @cached_property
    def is_map(self) -> bool:
        """Return True if each element becomes another of its type, and is read for no other one."""
        actors = [each for each in self.stages if isinstance(each, Actor) and not each.border]
        is_elementwise = len(actors) == len(self.stages) and all(each.is_elementwise for each in actors)
        return is_elementwise and self.dtypes[0] == self.dtypes[-1]

    @cached_property
    def counts(self) -> tuple[str, ...]:
        """Return how many elements each channel gets, expressions of `n` and arguments."""
        return element_counts(self.stages)

    @cached_property
    def sizes(self) -> tuple[str, ...]:
        """The names of the sizes that kernels are given."""
        return SIZES if any(each.border for each in self.actors) else SIZES[:1]

    @cached_property
    def fusions(self) -> Mapping[str, tuple[int, ...]]:
        """The macros that say what is fused, with their values, the default first.

        By default neighbours are one kernel where each branch looks at each element once. Only the first few
        of them are a choice.
        """
        choices = [
            (stage, (1, 0) if reads_once(after) else (0, 1))
            for stage, after in pairwise(self.stages)
            if all(each.puts_one for each in actors_of(stage))
        ]
        return {
            f"FUSE_{stage.name}": values if number < MOST_CHOICES else values[:1]
            for number, (stage, values) in enumerate(choices)
        }

    @cached_property
    def layouts(self) -> Mapping[int, Rate]:
        """The channels that may be transposed, by number, each with the elements of a firing.

        These are as many as each branch behind the channel takes, or else as what is before it puts out.
        """
        left = MOST_CHOICES - sum(len(values) > 1 for values in self.fusions.values())
        found: dict[int, Rate] = {}
        for number, (stage, after) in enumerate(pairwise(self.stages), 1):
            taken = {1 if own.is_elementwise else own.pop for own, *_ in branches_of(after)}
            together = taken.pop() if len(taken) == 1 else 1
            together = together if together != 1 else _put(stage)
            is_in_memory = 0 in self.fusions.get(f"FUSE_{stage.name}", (0,))
            # It has the count twice, and is to be evaluated.
            capacity = self.sized(_transposed(self.counts[number], together))
            is_short = len(f"({capacity}) * 16") <= LONGEST_TEXT
            if together != 1 and is_in_memory and is_short and len(found) < left:
                found[number] = together
        return found

    @cached_property
    def macros(self) -> Mapping[str, tuple[int, ...]]:
        """The macros that say what is fused, which channels are transposed, which stencils have an interior.

        Each with its values, the default first.
        """
        layouts = {f"LAYOUT_{self.stages[channel - 1].name}": (0, 1) for channel in self.layouts}
        left = MOST_CHOICES - sum(len(values) > 1 for values in self.fusions.values()) - len(layouts)
        known = [each.name for each in self.stages if isinstance(each, Actor) and each.border and each.reach]
        return {**self.fusions, **layouts, **{f"INTERIOR_{name}": (0, 1) for name in known[: max(left, 0)]}}

    def capacity(self, channel: int, macros: Mapping[str, int]) -> str:
        """Return how many elements a channel's memory has at values of macros, at least one, as an expression."""
        count = self.counts[channel]
        is_transposed = macros.get(f"LAYOUT_{self.stages[channel - 1].name}")
        return _transposed(count, self.layouts[channel]) if is_transposed else f"max({count}, 1)"

    def sized(self, expression: str) -> str:
        """Return an expression of `n` by what callers say: the width and the height of an image."""
        return re.sub(r"\bn\b", "(width * height)", expression) if len(self.sizes) > 1 else expression

    def kernel(self, stage: int) -> str:
        """Return the name of a stage's kernel."""
        return self.name if stage == len(self.stages) - 1 else f"{self.name}_{self.stages[stage].name}"

    def work_items(self, stage: int) -> str:
        """Return how many work-items a stage has, as an expression."""
        own, elements = self.stages[stage], self.counts[stage]
        return firings(own, elements) if isinstance(own, Actor) else turns(own, elements)

    def global_size(self, stage: int) -> tuple[str, ...]:
        """Return the work-items of a stage along each dimension, 0 first, as expressions."""
        is_image = self.is_image.get(self.stages[stage].name)
        return ("width", "height") if is_image else (self.work_items(stage),)

    @cached_property
    def launches(self) -> tuple[StreamLaunch, ...]:
        """The launches of all versions, in their order."""
        found = []
        for number, stage in enumerate(self.stages):
            after = f"FUSE_{stage.name}"
            for source, fused in self._sources(number):
                own = {after: 0} if after in self.fusions else {}
                found.append(StreamLaunch(number, source, {**fused, **own}))
        return tuple(
            each for each in found if all(value in self.fusions[name] for name, value in each.when.items())
        )

    def _sources(self, place: int) -> Iterator[tuple[int, dict[str, int]]]:
        """Yield the channels that a stage may read in memory, each with what must be fused for that."""
        fused: dict[str, int] = {}
        for source in range(place, -1, -1):
            macro = f"FUSE_{self.stages[source - 1].name}" if source else ""
            if macro not in self.fusions:
                yield source, dict(fused)
                return
            yield source, {**fused, macro: 0}
            fused[macro] = 1


def reads_once(stage: Stage) -> bool:
    """Return True if each element is looked at by one firing alone, of each branch."""
    return all(branch[0].peek == branch[0].pop and not branch[0].border for branch in branches_of(stage))


def _transposed(count: str, together: Rate) -> str:
    """As many elements as a transposed channel's memory has; the last firing's may lie apart."""
    return f"max({count} + min({together}, {count}), 1)"


def _put(stage: Stage) -> Rate:
    """As many elements as a stage puts out together."""
    return sum(stage.join) if isinstance(stage, SplitJoin) else 1 if stage.puts_one else stage.push
