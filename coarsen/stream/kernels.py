"""A pipeline as kernels of OpenCL C and their launches; which neighbours are one kernel, macros say.

    scale ─▶ gain ─▶ blur          FUSE_scale=1 FUSE_gain=0
      ─▶ gain, which computes what scale puts out where it takes it ─▶ a channel in memory ─▶ blur

Each actor is a function of a firing's number. It takes its elements by `STREAM_AT_…`: of a channel in memory, or
of the function of the actor before it (Samadi et al., "Adaptic", PLDI 2012, section 4.3.1). So neighbours can
be fused where the first one puts out one element a firing; one that is looked at twice is computed twice.
What branches of a split-join put out is joined by where it is written or looked for, never by a copy; in one
kernel (TOGETHER_…=1) they look at their common elements once (section 4.3.2).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from pyopencl.tools import dtype_to_ctype

from coarsen.errors import InvalidInputError
from coarsen.stream.actor import (
    EDGE,
    HIDDEN,
    Actor,
    SplitJoin,
    Stage,
    Stencil,
    actors_of,
    arguments_of,
    check_neighbours,
    is_array,
)
from coarsen.stream.graph import branch_firings, c_text, element_counts, firings, turns

SIZES = ("n", "width", "height")


@dataclass(frozen=True)
class StreamLaunch:
    """A launch of one of a pipeline's kernels.

    Attributes:
        kernel: its name.
        source: the number of the channel that it reads, 0 for the input.
        target: the number of the channel that it writes.
        when: the values of macros with which it is launched.
        global_size: in work-items at least, an expression for each dimension, 0 first.
    """

    kernel: str
    source: int
    target: int
    when: Mapping[str, int]
    global_size: tuple[str, ...]


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
        names = [
            *arguments_of(self.stages),
            *(each.name for each in self.actors),
            *(each.name for each in self.stages if isinstance(each, SplitJoin)),
        ]
        if twice := [name for name in names if names.count(name) > 1]:
            raise InvalidInputError(
                f"there are two of the name '{twice[0]}': actors, arguments and split-joins have their own"
            )
        for actor in self.actors:
            if isinstance(actor, Stencil) and not self.is_image[actor.name]:
                raise InvalidInputError(
                    f"{actor.name}: it takes an image, and what comes before it makes none: maps and stencils do"
                )

    @cached_property
    def actors(self) -> tuple[Actor, ...]:
        """All actors, those of branches too."""
        return tuple(actor for stage in self.stages for actor in actors_of(stage))

    @cached_property
    def has_image(self) -> bool:
        """Return True if the input is an image."""
        return any(isinstance(each, Stencil) for each in self.actors)

    @cached_property
    def is_image(self) -> Mapping[str, bool]:
        """Whether an actor makes an image of one, by its name."""
        found, is_so = {}, self.has_image
        for stage in self.stages:
            for branch in stage.branches if isinstance(stage, SplitJoin) else ((stage,),):
                inner = is_so
                for actor in branch:
                    inner = found[actor.name] = inner and actor.is_elementwise
            is_so = is_so and isinstance(stage, Actor) and stage.is_elementwise
        return found

    @cached_property
    def counts(self) -> tuple[str, ...]:
        """How many elements each channel gets, expressions of `n` and arguments."""
        return element_counts(self.stages)

    @cached_property
    def sizes(self) -> tuple[str, ...]:
        """The names of the sizes that kernels are given."""
        return SIZES if self.has_image else SIZES[:1]

    @cached_property
    def macros(self) -> Mapping[str, tuple[int, ...]]:
        """The macros that say what is fused, with their values, the default first.

        By default what several firings look at is not computed by each of them.
        """
        found: dict[str, tuple[int, ...]] = {}
        for stage, after in zip(self.stages, (*self.stages[1:], None), strict=True):
            is_single = all(each.puts_one for each in actors_of(stage))
            if isinstance(stage, SplitJoin):
                found[f"TOGETHER_{stage.name}"] = (1, 0)
            if is_single and after is not None:
                heads = [after] if isinstance(after, Actor) else [each[0] for each in after.branches]
                found[f"FUSE_{stage.name}"] = (1, 0) if all(each.reads_once for each in heads) else (0, 1)
        return found

    @cached_property
    def conditions(self) -> tuple[str, ...]:
        """What the values of macros keep to."""
        names = [each.name for each in self.stages if isinstance(each, SplitJoin)]
        return tuple(f"FUSE_{each} <= TOGETHER_{each}" for each in names if f"FUSE_{each}" in self.macros)

    @cached_property
    def launches(self) -> tuple[StreamLaunch, ...]:
        """The launches of all versions, in their order."""
        found: list[StreamLaunch] = []
        for place, stage in enumerate(self.stages):
            for source, when in self._sources(place):
                after = f"FUSE_{stage.name}"
                if after in self.macros:
                    when = {**when, after: 0}
                for kernel, together, size in self._kernels(place, stage):
                    own = {} if together is None else {f"TOGETHER_{stage.name}": together}
                    found.append(StreamLaunch(kernel, source, place + 1, {**when, **own}, size))
        return tuple(found)

    def _sources(self, place: int) -> Iterator[tuple[int, dict[str, int]]]:
        """Yield the channels that a stage may read in memory, each with what must be fused for that."""
        when: dict[str, int] = {}
        for source in range(place, -1, -1):
            macro = f"FUSE_{self.stages[source - 1].name}" if source else ""
            if macro not in self.macros:
                yield source, dict(when)
                return
            yield source, {**when, macro: 0}
            when[macro] = 1

    def _kernels(self, place: int, stage: Stage) -> Iterator[tuple[str, int | None, tuple[str, ...]]]:
        """Yield the kernels of a stage: the name, whether branches are together in it, and its global size."""
        own = self.name if place == len(self.stages) - 1 else f"{self.name}_{stage.name}"
        if isinstance(stage, Actor):
            yield own, None, self._global_size(stage, firings(stage, self.counts[place]))
            return
        yield own, 1, (turns(stage, self.counts[place]),)
        for branch in stage.branches:
            last = branch[-1]
            name = own if branch is stage.branches[-1] else f"{self.name}_{last.name}"
            yield name, 0, self._global_size(last, branch_firings(branch, self.counts[place]))

    def _global_size(self, actor: Actor, count: str) -> tuple[str, ...]:
        return ("width", "height") if self.is_image[actor.name] else (count,)


def opencl_text(pipeline: Pipeline) -> str:
    """Return the kernels of a pipeline in OpenCL C, those of all versions."""
    return "\n".join((*_Writing(pipeline).lines(), ""))


class _Writing:
    """Writes the kernels of one pipeline."""

    def __init__(self, pipeline: Pipeline) -> None:
        self._pipeline = pipeline
        self._arguments = arguments_of(pipeline.stages)
        self._names = [*pipeline.sizes[1:], *self._arguments]
        self._last = len(pipeline.stages) - 1

    def lines(self) -> Iterator[str]:
        pipeline = self._pipeline
        yield f"/* {' -> '.join(each.name for each in pipeline.stages)}: a pipeline, by coarsen.stream. */"
        for macro, values in pipeline.macros.items():
            yield f"#pragma coarsen values {','.join(map(str, values))}"
            yield f"#define {macro} {values[0]}"
        yield from (f"#pragma coarsen where {each}" for each in pipeline.conditions)
        for place, stage in enumerate(pipeline.stages):
            yield from ("", *self._reading(place, stage))
            for branch in stage.branches if isinstance(stage, SplitJoin) else ((stage,),):
                for number, actor in enumerate(branch):
                    yield from self._element_macro(actor, branch[number - 1] if number else None, stage.name)
                    yield from self._function(actor, f"STREAM_SOURCE_{stage.name}")
            if isinstance(stage, Actor):
                yield from self._kernel(place, stage)
            else:
                yield from self._split_kernels(place, stage)

    def _reading(self, place: int, stage: Stage) -> Iterator[str]:
        """Yield the macros by which a stage reads: of memory, or of what the stage before makes."""
        before = self._pipeline.stages[place - 1] if place else None
        is_fusable = before is not None and f"FUSE_{before.name}" in self._pipeline.macros
        if is_fusable:
            assert before is not None
            yield f"#if FUSE_{before.name}"
            yield f"#define STREAM_SOURCE_{stage.name} STREAM_SOURCE_{before.name}"
            yield f"#define STREAM_ELEMENT_{stage.name}(place) {self._value(before, ('place',))}"
            if isinstance(before, Actor) and self._pipeline.is_image[before.name]:
                yield f"#define STREAM_PIXEL_{stage.name}(x, y) {self._value(before, ('x', 'y'))}"
            yield "#else"
        yield f"#define STREAM_SOURCE_{stage.name} {stage.type}"
        yield f"#define STREAM_ELEMENT_{stage.name}(place) {HIDDEN}from[place]"
        if self._pipeline.has_image:
            yield f"#define STREAM_PIXEL_{stage.name}(x, y) {HIDDEN}from[(y) * {HIDDEN}width + (x)]"
        if is_fusable:
            yield "#endif"

    def _element_macro(self, actor: Actor, before: Actor | None, stage: str) -> Iterator[str]:
        """Yield how an actor looks at an element: what its stage reads, or the actor before it in a branch."""
        if self._pipeline.is_image[actor.name]:
            own = f"STREAM_PIXEL_{stage}(x, y)" if before is None else self._value(before, ("x", "y"))
            yield f"#define STREAM_AT_{actor.name}(x, y) {own}"
        else:
            own = f"STREAM_ELEMENT_{stage}(place)" if before is None else self._value(before, ("place",))
            yield f"#define STREAM_AT_{actor.name}(place) {own}"

    def _value(self, stage: Stage, at: Sequence[str], source: str = f"{HIDDEN}from", prefix: str = HIDDEN) -> str:
        """Return the call that computes an element of a stage, by its place or by its column and row."""
        width = f"{prefix}width"
        if isinstance(stage, Actor) and self._pipeline.is_image[stage.name]:
            at = at if len(at) == 2 else (f"({at[0]}) % {width}", f"({at[0]}) / {width}")
        elif len(at) == 2:
            at = (f"({at[1]}) * {width} + ({at[0]})",)
        return f"{HIDDEN}{stage.name}({', '.join([source, *(prefix + name for name in self._names), *at])})"

    def _declared(self, prefix: str, names: Sequence[str]) -> list[str]:
        """Declare sizes and arguments."""
        found = []
        for name in names:
            argument = self._arguments.get(name)
            if argument is None:
                found.append(f"int {prefix}{name}")
            else:
                pointer = "global const {} *" if is_array(argument) else "{} "
                found.append(f"{pointer.format(dtype_to_ctype(argument.dtype))}{prefix}{name}")
        return found

    def _function(self, actor: Actor, source: str) -> Iterator[str]:
        """Yield the function of an actor's firing: it returns what is put out, or writes it where it is more."""
        is_image, is_single = self._pipeline.is_image[actor.name], actor.puts_one
        own = [each.name for each in actor.given]
        at = ["int stream_x", "int stream_y"] if is_image else ["int stream_i"]
        given = [f"global const {source} *{HIDDEN}from", *self._declared(HIDDEN, self._names), *at]
        if isinstance(actor, Stencil):
            yield from self._neighbour(actor, given)
        if not is_single:
            given.insert(1, f"global {actor.result} *{HIDDEN}to")
        yield f"{actor.result if is_single else 'void'} {HIDDEN}{actor.name}({', '.join(given)})"
        yield "{"
        if is_single:
            yield f"    {actor.result} {HIDDEN}value;"
        yield "    {"
        if is_image:
            names = ("x", "y", "width", "height")
            yield f"        const int {', '.join(f'{name} = {HIDDEN}{name}' for name in names)};"
        yield f"        const int i = {f'{HIDDEN}y * {HIDDEN}width + {HIDDEN}x' if is_image else f'{HIDDEN}i'};"
        for text, name in zip(self._declared("", own), own, strict=True):
            yield f"        {text if '*' in text else f'const {text}'} = {HIDDEN}{name};"
        if not is_image:
            yield f"        const int {HIDDEN}first = i * ({c_text(actor.pop)});"
        if not is_single:
            yield f"        const int {HIDDEN}put = i * ({c_text(actor.push)});"
        if actor.has_branches:
            yield f"        int {HIDDEN}pops = 0, {HIDDEN}pushes = 0;"
        yield from self._calls(actor, is_image, is_single)
        yield f"        {{ {actor.placed(is_numbered=not actor.has_branches)} }}"
        yield from (f"#undef {HIDDEN}{word}" for word in ("pop", "peek", "push"))
        yield from ["#undef u"] if isinstance(actor, Stencil) else []
        yield "    }"
        if is_single:
            yield f"    return {HIDDEN}value;"
        yield "}"

    def _calls(self, actor: Actor, is_image: bool, is_single: bool) -> Iterator[str]:
        """Yield the macros of what an actor calls."""
        at = f"STREAM_AT_{actor.name}"
        pop = f"{at}({HIDDEN}x, {HIDDEN}y)" if is_image else f"{at}({HIDDEN}first + (place))"
        peek = pop if is_image else f"{at}({HIDDEN}first + (place) + (k))"
        yield f"#define {HIDDEN}pop(place) {pop}"
        yield f"#define {HIDDEN}peek(place, k) {peek}"
        to = f"{HIDDEN}value" if is_single else f"{HIDDEN}to[{HIDDEN}put + (place)]"
        yield f"#define {HIDDEN}push(place, value) {to} = (value)"
        if isinstance(actor, Stencil):
            given = ", ".join([f"{HIDDEN}from", *(HIDDEN + name for name in self._names)])
            yield f"#define u(dx, dy) STREAM_U_{actor.name}({given}, {HIDDEN}x + (dx), {HIDDEN}y + (dy))"

    def _neighbour(self, actor: Stencil, given: Sequence[str]) -> Iterator[str]:
        """Yield the function of a stencil's neighbour, which may be outside of the image."""
        x, y, width, height = (HIDDEN + each for each in ("x", "y", "width", "height"))
        own = [each.name for each in actor.given]
        yield f"{actor.type} STREAM_U_{actor.name}({', '.join(given)})"
        yield "{"
        if actor.border == EDGE:
            yield f"    {x} = clamp({x}, 0, {width} - 1);"
            yield f"    {y} = clamp({y}, 0, {height} - 1);"
        else:
            yield f"    if ({x} < 0 || {y} < 0 || {x} >= {width} || {y} >= {height}) {{"
            for text, name in zip(self._declared("", own), own, strict=True):
                yield f"        {text} = {HIDDEN}{name};"
            yield f"        return {actor.border};"
            yield "    }"
        yield f"    return STREAM_AT_{actor.name}({x}, {y});"
        yield "}"

    def _head(self, place: int, kernel: str, stage: Stage) -> Iterator[str]:
        """Yield the first lines of a kernel, which names its channels `from` and `to`."""
        first, last = self._pipeline.stages[0], self._pipeline.stages[-1]
        source, target = f"STREAM_SOURCE_{stage.name}", stage.result
        is_main = place == self._last
        given = [
            f"global const {first.type if is_main else source} *input",
            f"global {last.result if is_main else target} *output",
            *(f"int {name}" for name in self._pipeline.sizes),
            *self._declared("", [*self._arguments]),
        ]
        yield f"kernel void {kernel}({', '.join(given)})"
        yield "{"
        # The one that is called by the host may read a channel that has another type than the input.
        yield f"    global const {source} *{HIDDEN}from = (global const {source} *) input;"

    def _kernel(self, place: int, stage: Actor) -> Iterator[str]:
        kernel, _, _ = next(self._pipeline._kernels(place, stage))
        yield from self._head(place, kernel, stage)
        yield from self._of_actor(stage, firings(stage, self._pipeline.counts[place]), None)
        yield "}"

    def _of_actor(self, actor: Actor, count: str, joined: tuple[int, int, int, str] | None) -> Iterator[str]:
        """Yield what a work-item does: one firing.

        Args:
            actor: that fires.
            count: how often, as an expression.
            joined: of a branch, how many elements it puts out at its turn, of how many, from which one on, and how
                many it puts out at all; None where there are no branches.
        """
        plain = SIZES
        if self._pipeline.is_image[actor.name]:
            yield "    const int x = get_global_id(0), y = get_global_id(1), place = y * width + x;"
            condition, at = "x < width && y < height", ("x", "y")
        else:
            yield "    const int place = get_global_id(0);"
            condition, at = f"place < {c_text(count, plain=plain)}", ("place",)  # type: ignore[assignment]
        to = "place"
        if joined is not None:
            weight, turn, first, most = joined
            condition += f" && place < {c_text(most, plain=plain)}"
            to = (
                f"place / {weight} * {turn} + {first} + place % {weight}"
                if weight > 1
                else f"place * {turn} + {first}"
            )
        value = self._value(actor, at, prefix="")
        if actor.puts_one:
            yield f"    if ({condition})"
            yield f"        output[{to}] = {value};"
        else:
            yield f"    if ({condition})"
            yield f"        {value.replace(f'{HIDDEN}from', f'{HIDDEN}from, output', 1)};"

    def _split_kernels(self, place: int, stage: SplitJoin) -> Iterator[str]:
        """Yield the function of a joined element, and the kernels of branches together and apart."""
        kernels = [*self._pipeline._kernels(place, stage)]
        turn, elements = sum(stage.join), self._pipeline.counts[place]
        most = turns(stage, elements)
        firsts = [sum(stage.join[:number]) for number in range(len(stage.join))]
        parts = [*zip(stage.branches, stage.join, firsts, strict=True)]
        source = f"global const STREAM_SOURCE_{stage.name} *{HIDDEN}from"
        given = [source, *self._declared(HIDDEN, self._names), "int place"]
        yield f"{stage.result} {HIDDEN}{stage.name}({', '.join(given)})"
        yield "{"
        yield f"    const int turn = place / {turn}, own = place % {turn};"
        for branch, weight, first in parts:
            at = f"turn * {weight} + own - {first}" if weight > 1 else "turn"
            if first + weight < turn:
                yield f"    if (own < {first + weight})"
                yield f"        return {self._value(branch[-1], (at,))};"
            else:
                yield f"    return {self._value(branch[-1], (at,))};"
        yield "}"
        yield f"#if TOGETHER_{stage.name}"
        yield from self._head(place, kernels[0][0], stage)
        yield "    const int place = get_global_id(0);"
        yield f"    if (place < {c_text(most, plain=SIZES)}) {{"
        for branch, weight, first in parts:
            for own in range(weight):
                value = self._value(branch[-1], (_at_turn(weight, own),), prefix="")
                yield f"        output[place * {turn} + {first + own}] = {value};"
        yield "    }"
        yield "}"
        yield "#else"
        for (kernel, _, _), (branch, weight, first) in zip(kernels[1:], parts, strict=True):
            fired = branch_firings(branch, elements)
            yield from self._head(place, kernel, stage)
            yield from self._of_actor(branch[-1], fired, (weight, turn, first, f"({most}) * {weight}"))
            yield "}"
        yield "#endif"


def _at_turn(weight: int, own: int) -> str:
    """The place of an element that a branch puts out at its turn, whose number is `place`."""
    return "place" if weight == 1 else f"place * {weight} + {own}"
