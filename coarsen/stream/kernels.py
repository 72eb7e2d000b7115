"""A pipeline as kernels of OpenCL C and their launches; which neighbours are one kernel, macros say.

    scale ─▶ gain ─▶ blur          FUSE_scale=1 FUSE_gain=0
      ─▶ gain, which computes what scale puts out where it takes it ─▶ a channel in memory ─▶ blur

Each actor is a function of a firing's number. It takes its elements of a channel in memory, or of the function of
the actor before it (Samadi et al., "Adaptic", PLDI 2012, section 4.3.1). So neighbours can be fused where the
first one puts out one element a firing; one that is looked at twice is computed twice.
The branches of a split-join are one kernel, which looks at their common elements once (section 4.3.2); what they
put out is joined by where it is written or looked for, never by a copy.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from pyopencl.tools import dtype_to_ctype

from coarsen.errors import InvalidInputError
from coarsen.stream.actor import (
    EDGE,
    HIDDEN,
    Actor,
    SplitJoin,
    Stage,
    actors_of,
    arguments_of,
    branches_of,
    check_neighbours,
    is_array,
)
from coarsen.stream.graph import c_text, element_counts, firings, turns
from coarsen.stream.reduction_text import Argument

SIZES = ("n", "width", "height")
_VECTORS = (2, 4, 8, 16)
# Of what is fused: each doubles the number of versions.
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

    @property
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
    def macros(self) -> Mapping[str, tuple[int, ...]]:
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
                own = {after: 0} if after in self.macros else {}
                found.append(StreamLaunch(number, source, {**fused, **own}))
        return tuple(
            each for each in found if all(value in self.macros[name] for name, value in each.when.items())
        )

    def _sources(self, place: int) -> Iterator[tuple[int, dict[str, int]]]:
        """Yield the channels that a stage may read in memory, each with what must be fused for that."""
        fused: dict[str, int] = {}
        for source in range(place, -1, -1):
            macro = f"FUSE_{self.stages[source - 1].name}" if source else ""
            if macro not in self.macros:
                yield source, dict(fused)
                return
            yield source, {**fused, macro: 0}
            fused[macro] = 1


def reads_once(stage: Stage) -> bool:
    """Return True if each element is looked at by one firing alone, of each branch."""
    return all(branch[0].peek == branch[0].pop and not branch[0].border for branch in branches_of(stage))


def opencl_text(pipeline: Pipeline) -> str:
    """Return the kernels of a pipeline in OpenCL C, those of all versions."""
    return "\n".join((*_Writing(pipeline, not pipeline.keeps_shape).lines(), ""))


def fused_text(pipeline: Pipeline, place: str) -> tuple[str, str]:
    """Return functions in OpenCL C that compute an element of a pipeline's output of its `input`, and the call.

    Args:
        pipeline: all of whose stages put out one element a firing.
        place: of the element, an expression of type `int`.
    """
    writing = _Writing(pipeline, has_places=True)
    head = [f"#define {macro} 1" for macro in pipeline.macros]
    functions = [line for number in range(len(pipeline.stages)) for line in writing.functions(number)]
    return "\n".join((*head, *functions)), writing.value(pipeline.stages[-1], (place,), "input", "")


class _Writing:
    """Writes the kernels of one pipeline; `has_places` where elements of an image are taken by one number."""

    def __init__(self, pipeline: Pipeline, has_places: bool) -> None:
        self._pipeline, self._has_places = pipeline, has_places
        self._names = [*pipeline.sizes[1:], *pipeline.arguments]

    def lines(self) -> Iterator[str]:
        """Yield the lines of the text."""
        pipeline = self._pipeline
        yield f"/* {' -> '.join(each.name for each in pipeline.stages)}: a pipeline, by coarsen.stream. */"
        # A tile is for one local size: `-D WORK_GROUP=16,4,1` lets kernels demand it.
        demanded = "__attribute__((reqd_work_group_size(WORK_GROUP)))"
        yield f"#ifdef WORK_GROUP\n#define STREAM_DEMANDED {demanded}\n#else\n#define STREAM_DEMANDED\n#endif"
        for macro, values in pipeline.macros.items():
            yield f"#pragma coarsen values {','.join(map(str, values))}"
            yield f"#define {macro} {values[0]}"
        for place in range(len(pipeline.stages)):
            yield from self.functions(place)
            yield from self._kernel(place)

    def functions(self, place: int) -> Iterator[str]:
        """Yield the functions of a stage: of its actors, and of what branches put out by turns."""
        stage = self._pipeline.stages[place]
        yield from ("", *self._reading(place, stage))
        for branch in branches_of(stage):
            for number, actor in enumerate(branch):
                at = ("x", "y") if self._pipeline.is_image[actor.name] else ("place",)
                read = f"STREAM_{'PIXEL' if len(at) > 1 else 'ELEMENT'}_{stage.name}({', '.join(at)})"
                own = self.value(branch[number - 1], at) if number else read
                yield f"#define STREAM_AT_{actor.name}({', '.join(at)}) {own}"
                yield from self._function(actor, f"STREAM_SOURCE_{stage.name}")
        if isinstance(stage, SplitJoin):
            given = [
                f"global const STREAM_SOURCE_{stage.name} *{HIDDEN}from",
                *self._declared(HIDDEN, self._names),
            ]
            yield f"{stage.result} {HIDDEN}{stage.name}({', '.join([*given, 'int place'])})"
            yield "{"
            yield f"    const int turn = place / {sum(stage.join)}, own = place % {sum(stage.join)};"
            for branch, weight, first in stage.parts:
                is_last = branch is stage.branches[-1]
                yield f"    {'' if is_last else f'if (own < {first + weight}) '}return "
                yield f"        {self.value(branch[-1], (f'turn * {weight} + own - {first}',))};"
            yield "}"

    def _reading(self, place: int, stage: Stage) -> Iterator[str]:
        """Yield the macros by which a stage reads: of memory, or of what the stage before makes."""
        before = self._pipeline.stages[place - 1] if place else None
        is_fusable = before is not None and f"FUSE_{before.name}" in self._pipeline.macros
        if before is not None and is_fusable:
            yield f"#if FUSE_{before.name}"
            yield f"#define STREAM_SOURCE_{stage.name} STREAM_SOURCE_{before.name}"
            yield f"#define STREAM_ELEMENT_{stage.name}(place) {self.value(before, ('place',))}"
            yield f"#define STREAM_PIXEL_{stage.name}(x, y) {self.value(before, ('x', 'y'))}"
            yield "#else"
        yield f"#define STREAM_SOURCE_{stage.name} {stage.type}"
        yield f"#define STREAM_ELEMENT_{stage.name}(place) {HIDDEN}from[place]"
        yield f"#define STREAM_PIXEL_{stage.name}(x, y) {HIDDEN}from[(y) * {HIDDEN}width + (x)]"
        if is_fusable:
            yield "#endif"

    def value(self, stage: Stage, at: Sequence[str], source: str = f"{HIDDEN}from", prefix: str = HIDDEN) -> str:
        """Return the call that computes an element of a stage, by its place or by its column and row."""
        name = f"{HIDDEN}{stage.name}"
        if isinstance(stage, Actor) and self._pipeline.is_image[stage.name]:
            name = f"{HIDDEN if len(at) == 2 else 'STREAM_PLACED_'}{stage.name}"
        elif len(at) == 2:
            at = (f"({at[1]}) * {prefix}width + ({at[0]})",)
        return f"{name}({', '.join([source, *(prefix + name for name in self._names), *at])})"

    def _declared(self, prefix: str, names: Sequence[str]) -> list[str]:
        """Declare sizes and arguments."""
        found = []
        for name in names:
            argument = self._pipeline.arguments.get(name)
            type_ = "int" if argument is None else dtype_to_ctype(argument.dtype)
            is_pointer = argument is not None and is_array(argument)
            found.append(f"{f'global const {type_} *' if is_pointer else f'{type_} '}{prefix}{name}")
        return found

    def _copies(self, actor: Actor) -> Iterator[str]:
        """Declare an actor's arguments by their own names: its work may declare others of the same."""
        own = [each.name for each in actor.given]
        for text, name in zip(self._declared("", own), own, strict=True):
            yield f"        {text} = {HIDDEN}{name};"

    def _function(self, actor: Actor, source: str) -> Iterator[str]:
        """Yield the function of a firing: it returns what is put out, or writes it where it is more."""
        is_image, value = self._pipeline.is_image[actor.name], f"{HIDDEN}value"
        given = [f"global const {source} *{HIDDEN}from", *self._declared(HIDDEN, self._names)]
        own = [*given, *(("int stream_x", "int stream_y") if is_image else ("int stream_i",))]
        if actor.border:
            yield from self._neighbour(actor, own)
        if not actor.puts_one:
            own.insert(1, f"global {actor.result} *{HIDDEN}to")
        yield f"{actor.result if actor.puts_one else 'void'} {HIDDEN}{actor.name}({', '.join(own)})"
        yield "{"
        yield f"    {actor.result} {value};"
        yield "    {"
        if is_image:
            names = ("x", "y", "width", "height")
            yield f"        const int {', '.join(f'{name} = {HIDDEN}{name}' for name in names)};"
        yield f"        const int i = {f'{HIDDEN}y * {HIDDEN}width + {HIDDEN}x' if is_image else f'{HIDDEN}i'};"
        yield from self._copies(actor)
        rates = ("1", "1") if is_image else (c_text(actor.pop, ()), c_text(actor.push, ()))
        yield f"        const int {HIDDEN}first = i * ({rates[0]}), {HIDDEN}put = i * ({rates[1]});"
        yield f"        int {HIDDEN}pops = 0, {HIDDEN}pushes = 0;"
        at = f"STREAM_AT_{actor.name}"
        element = f"{at}({HIDDEN}x, {HIDDEN}y)" if is_image else f"{at}({HIDDEN}first + (at))"
        to = value if actor.puts_one else f"{HIDDEN}to[{HIDDEN}put + (at)]"
        yield f"#define {HIDDEN}pop(at) {element}"
        yield f"#define {HIDDEN}peek(at, k) {HIDDEN}pop((at) + (k))"
        yield f"#define {HIDDEN}push(at, value) {to} = (value)"
        if actor.border:
            passed = ", ".join([f"{HIDDEN}from", *(HIDDEN + name for name in self._names)])
            yield f"#define u(dx, dy) STREAM_U_{actor.name}({passed}, {HIDDEN}x, {HIDDEN}y, dx, dy)"
        yield f"        {{ {actor.placed(is_numbered=not actor.has_branches)} }}"
        yield from (f"#undef {name}" for name in (f"{HIDDEN}pop", f"{HIDDEN}peek", f"{HIDDEN}push"))
        yield from ["#undef u"] if actor.border else []
        yield "    }"
        yield from [f"    return {value};"] if actor.puts_one else []
        yield "}"
        if is_image and self._has_places:
            # A function, since `stream_pops++` for a place is to be counted once.
            column_and_row = tuple(f"{HIDDEN}place {sign} {HIDDEN}width" for sign in "%/")
            yield f"{actor.result} STREAM_PLACED_{actor.name}({', '.join([*given, f'int {HIDDEN}place'])})"
            yield f"{{ return {self.value(actor, column_and_row)}; }}"

    def _neighbour(self, actor: Actor, given: Sequence[str]) -> Iterator[str]:
        """Yield the function of a stencil's neighbour, which may be outside of the image.

        The element itself is inside. Of a neighbour so far away, which a constant says, there is one question at
        most for each axis: PoCL makes vectors of work-items where nothing is asked of the element itself.
        """
        x, y, dx, dy, width, height = (HIDDEN + each for each in ("x", "y", "dx", "dy", "width", "height"))
        yield f"{actor.type} STREAM_U_{actor.name}({', '.join([*given, f'int {dx}', f'int {dy}'])})"
        yield "{"
        axes = (x, dx, width), (y, dy, height)
        if actor.border == EDGE:
            for at, by, size in axes:
                last = f"{by} > 0 ? min({at} + {by}, {size} - 1) : {at}"
                yield f"    {at} = {by} < 0 ? max({at} + {by}, 0) : {last};"
        else:
            yield from (f"    {at} += {by};" for at, by, _ in axes)
            outside = (f"({by} < 0 ? {at} < 0 : {by} > 0 && {at} >= {size})" for at, by, size in axes)
            yield f"    if ({' || '.join(outside)}) {{"
            yield from self._copies(actor)
            yield f"        return {actor.border};"
            yield "    }"
        yield f"    return STREAM_AT_{actor.name}({x}, {y});"
        yield "}"

    def _kernel(self, place: int) -> Iterator[str]:
        pipeline = self._pipeline
        stage, count = pipeline.stages[place], c_text(pipeline.work_items(place), SIZES)
        source = f"STREAM_SOURCE_{stage.name}"
        given = [
            # The one whose arguments are a call's may read a channel that has another type than the input.
            f"global const {pipeline.stages[0].type if stage is pipeline.stages[-1] else source} *input",
            f"global {stage.result} *output",
            *(f"int {name}" for name in pipeline.sizes),
            *self._declared("", [*pipeline.arguments]),
        ]
        yield f"kernel STREAM_DEMANDED void {pipeline.kernel(place)}({', '.join(given)})"
        yield "{"
        yield f"    global const {source} *{HIDDEN}from = (global const {source} *) input;"
        at: tuple[str, ...] = ("place",)
        if len(pipeline.global_size(place)) > 1:
            at = ("x", "y")
            yield "    const int x = get_global_id(0), y = get_global_id(1), place = y * width + x;"
            yield "    if (x < width && y < height) {"
        else:
            yield "    const int place = get_global_id(0);"
            yield f"    if (place < {count}) {{"
        if isinstance(stage, SplitJoin):
            values = [
                self.value(branch[-1], at if len(at) > 1 else (f"place * {weight} + {own}",), prefix="")
                for branch, weight, _ in stage.parts
                for own in range(weight)
            ]
            if (count := len(values)) in _VECTORS:
                # One store: elements that lie between those of other work-items are written one by one on CPUs.
                listed = ",\n            ".join(values)
                yield f"        vstore{count}(({stage.result}{count})(\n            {listed}), place, output);"
            else:
                for own, value in enumerate(values):
                    yield f"        output[place * {count} + {own}] = {value};"
        elif stage.puts_one:
            yield f"        output[place] = {self.value(stage, at, prefix='')};"
        else:
            yield f"        {self.value(stage, at, f'{HIDDEN}from, output', '')};"
        yield "    }"
        yield "}"
