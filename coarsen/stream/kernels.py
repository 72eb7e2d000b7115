"""A pipeline as kernels of OpenCL C and their launches; which neighbours are one kernel, macros say.

    scale ─▶ gain ─▶ blur          FUSE_scale=1 FUSE_gain=0
      ─▶ gain, which computes what scale puts out where it takes it ─▶ a channel in memory ─▶ blur

Each actor is a function of a firing's number. It takes its elements of a channel in memory, or of the function of
the actor before it (Samadi et al., "Adaptic", PLDI 2012, section 4.3.1). So neighbours can be fused where the
first one puts out one element a firing; one that is looked at twice is computed twice.
The branches of a split-join are one kernel, which looks at their common elements once (section 4.3.2); what they
put out is joined by where it is written or looked for, never by a copy.

A channel in memory holds its elements in their order, or transposed (section 4.1.1), so that the k-th elements of
neighbouring firings are neighbours, of those that take or put out several. Who writes it puts them there:

    LAYOUT_scale=0   a0 a1 a2  b0 b1 b2  c0 c1 c2  d0          three elements a firing
    LAYOUT_scale=1   a0 b0 c0 d0  a1 b1 c1 --  a2 b2 c2 --

Work-groups that look at nothing outside of the image have no border to ask for (INTERIOR_blur=1):

    if (the group is inside) output[…] = (in[x - 1] + in[x + 1]) / 2;
    else if (x < width) output[…] = (in[max(x - 1, 0)] + in[min(x + 1, width - 1)]) / 2;
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pyopencl.tools import dtype_to_ctype

from coarsen.stream.actor import EDGE, HIDDEN, Actor, Rate, SplitJoin, Stage, branches_of, is_array
from coarsen.stream.graph import c_text
from coarsen.stream.reduction_text import chosen
from coarsen.stream.stages import SIZES, Pipeline

# Farther than any image is wide and high.
_FAR = 1 << 24
_VECTORS = (2, 4, 8, 16)


def opencl_text(pipeline: Pipeline) -> str:
    """Return the kernels of a pipeline in OpenCL C, those of all versions."""
    return "\n".join((*_Writing(pipeline, not pipeline.keeps_shape).lines(), ""))


def fused_text(pipeline: Pipeline, place: str) -> tuple[str, str]:
    """Return functions in OpenCL C that compute an element of a pipeline's output of its `input`, and the call.

    Args:
        pipeline: all of whose stages put out one element a firing.
        place: of the element, an expression of type `long`.
    """
    writing = _Writing(pipeline, has_places=True, has_channels=False)
    functions = [line for number in range(len(pipeline.stages)) for line in writing.functions(number)]
    return "\n".join(functions), writing.value(pipeline.stages[-1], (place,), "input", "")


class _Writing:
    """Writes the kernels of one pipeline.

    Args:
        pipeline: whose they are.
        has_places: whether elements of an image are taken by one number.
        has_channels: whether what is between stages may be in memory.
    """

    def __init__(self, pipeline: Pipeline, has_places: bool, has_channels: bool = True) -> None:
        self._pipeline, self._has_places, self._has_channels = pipeline, has_places, has_channels
        self._layouts = pipeline.layouts if has_channels else {}
        images = (each for each in pipeline.stages if isinstance(each, Actor) and each.border)
        self._has_interior = has_channels and any(images)
        own = ["inside"] if self._has_interior else []
        self._names = [*pipeline.sizes[0 if self._layouts else 1 :], *own, *pipeline.arguments]

    def lines(self) -> Iterator[str]:
        """Yield the lines of the text."""
        pipeline = self._pipeline
        yield f"/* {' -> '.join(each.name for each in pipeline.stages)}: a pipeline, by coarsen.stream. */"
        # A tile is for one local size: `-D WORK_GROUP=16,4,1` lets kernels demand it.
        demanded = "__attribute__((reqd_work_group_size(WORK_GROUP)))"
        yield f"#ifdef WORK_GROUP\n#define STREAM_DEMANDED {demanded}\n#else\n#define STREAM_DEMANDED\n#endif"
        for macro, values in pipeline.macros.items():
            yield from chosen(macro, values)
        if self._layouts:
            # A function, since `stream_pops++` for a place is to be counted once.
            yield "int STREAM_TRANSPOSED(int at, int each, int count)"
            yield "{ return at % each * ((count - 1) / each + 1) + at / each; }"
        for channel in self._layouts:
            yield from self._layout(pipeline.stages[channel - 1].name)
        for place in range(len(pipeline.stages)):
            yield from self.functions(place)
            yield from self._kernel(place)

    def _layout(self, name: str) -> Iterator[str]:
        """Yield where a channel has its elements: one by its number, one by that of a firing and its own there."""
        if f"FUSE_{name}" in self._pipeline.fusions:
            yield f"#pragma coarsen where FUSE_{name} * LAYOUT_{name} == 0"
        yield f"#if LAYOUT_{name}"
        yield f"#define STREAM_LAID_{name}(i, at, each, count) ((at) * (((count) - 1) / (each) + 1) + (i))"
        yield f"#define STREAM_PLACE_{name}(at, each, count) STREAM_TRANSPOSED(at, each, count)"
        yield "#else"
        yield f"#define STREAM_LAID_{name}(i, at, each, count) ((i) * (each) + (at))"
        yield f"#define STREAM_PLACE_{name}(at, each, count) (at)"
        yield "#endif"

    def _layout_numbers(self, channel: int, prefix: str) -> tuple[str, str]:
        """The numbers that a channel's layout needs: the elements of a firing, and of the whole channel."""
        count = self._pipeline.counts[channel]
        return c_text(self._layouts[channel], (), prefix), c_text(count, SIZES, prefix)

    def _numbers(self, actor: Actor, read: int, written: int) -> Iterator[str]:
        """Declare what places are computed of: in the actor's work a name of its own may hide `max`."""
        for channel in (read, *[written] * (not actor.puts_one)):
            if channel in self._layouts:
                each, count = self._layout_numbers(channel, HIDDEN)
                name = self._pipeline.stages[channel - 1].name
                yield f"    const int STREAM_EACH_{name} = {each}, STREAM_COUNT_{name} = {count};"
        if not actor.puts_one:
            yield f"    const int STREAM_PUT = {c_text(actor.push, (), HIDDEN)};"

    def _place(self, channel: int, at: str, each: Rate = 1, firing: str = "", *, is_in_work: bool = False) -> str:
        """The place of an element in a channel: of the `at`-th of all, or of a firing of so many elements."""
        together = self._layouts.get(channel)
        number = f"{firing} * {'STREAM_PUT' if is_in_work else each} + {at}" if firing else at
        if together is None:
            return number
        name = self._pipeline.stages[channel - 1].name
        own = (f"STREAM_EACH_{name}", f"STREAM_COUNT_{name}") if is_in_work else self._layout_numbers(channel, "")
        told = ", ".join(own)
        if firing and each == together:
            return f"STREAM_LAID_{name}({firing}, {at}, {told})"
        return f"STREAM_PLACE_{name}({number}, {told})"

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
                yield from self._function(actor, place, is_first=not number)
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
            yield from [f"#if FUSE_{before.name}"] if self._has_channels else []
            yield f"#define STREAM_SOURCE_{stage.name} STREAM_SOURCE_{before.name}"
            yield f"#define STREAM_ELEMENT_{stage.name}(place) {self.value(before, ('place',))}"
            yield f"#define STREAM_PIXEL_{stage.name}(x, y) {self.value(before, ('x', 'y'))}"
            if place in self._layouts:
                yield f"#define STREAM_TAKEN_{stage.name}(at) {self.value(before, (f'{HIDDEN}first + (at)',))}"
            if not self._has_channels:
                return
            yield "#else"
        element = self._place(place, "place", is_in_work=True)
        yield f"#define STREAM_SOURCE_{stage.name} {stage.type}"
        yield f"#define STREAM_ELEMENT_{stage.name}(place) {HIDDEN}from[{element}]"
        yield f"#define STREAM_PIXEL_{stage.name}(x, y) {HIDDEN}from[(y) * {HIDDEN}width + (x)]"
        if place in self._layouts:
            taken = self._place(place, "(at)", self._layouts[place], f"{HIDDEN}i", is_in_work=True)
            yield f"#define STREAM_TAKEN_{stage.name}(at) {HIDDEN}from[{taken}]"
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

    def _function(self, actor: Actor, stage: int, is_first: bool) -> Iterator[str]:
        """Yield the function of a firing: it returns what is put out, or writes it where it is more."""
        is_image, value = self._pipeline.is_image[actor.name], f"{HIDDEN}value"
        name, together = self._pipeline.stages[stage].name, self._layouts.get(stage)
        given = [f"global const STREAM_SOURCE_{name} *{HIDDEN}from", *self._declared(HIDDEN, self._names)]
        own = [*given, *(("int stream_x", "int stream_y") if is_image else ("long stream_i",))]
        if actor.border:
            yield from self._neighbour(actor, own)
        if not actor.puts_one:
            own.insert(1, f"global {actor.result} *{HIDDEN}to")
        yield f"{actor.result if actor.puts_one else 'void'} {HIDDEN}{actor.name}({', '.join(own)})"
        yield "{"
        yield f"    {actor.result} {value};"
        yield from self._numbers(actor, stage if is_first else 0, stage + 1)
        yield "    {"
        if is_image:
            names = ("x", "y", "width", "height")
            yield f"        const int {', '.join(f'{name} = {HIDDEN}{name}' for name in names)};"
        yield f"        const int i = {f'{HIDDEN}y * {HIDDEN}width + {HIDDEN}x' if is_image else f'{HIDDEN}i'};"
        yield from self._copies(actor)
        type_, first = ("int", "i") if is_image else ("long", f"{HIDDEN}i * ({c_text(actor.pop, ())})")
        yield f"        const {type_} {HIDDEN}first = {first};"
        yield f"        int {HIDDEN}pops = 0, {HIDDEN}pushes = 0;"
        at = f"STREAM_AT_{actor.name}"
        element = f"{at}({HIDDEN}x, {HIDDEN}y)" if is_image else f"{at}({HIDDEN}first + (at))"
        if is_first and together == actor.pop == actor.peek:
            element = f"STREAM_TAKEN_{name}(at)"
        to = self._place(stage + 1, "(at)", actor.push, f"{HIDDEN}i", is_in_work=True)
        to = value if actor.puts_one else f"{HIDDEN}to[{to}]"
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
            # A function for the same reason.
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
        may_be = f"!{HIDDEN}inside && " if self._has_interior else ""
        if actor.border == EDGE:
            for at, by, size in axes:
                low, high = (f"{may_be}{by} {sign} 0" for sign in "<>")
                yield f"    {at} += {by};"
                # A tile's cells are places that are all clamped alike.
                yield f"#ifdef WORK_GROUP\n    {at} = clamp({at}, 0, {size} - 1);\n#else"
                yield f"    {at} = {low} ? max({at}, 0) : {high} ? min({at}, {size} - 1) : {at};\n#endif"
        else:
            yield from (f"    {at} += {by};" for at, by, _ in axes)
            outside = (f"({by} < 0 ? {at} < 0 : {by} > 0 && {at} >= {size})" for at, by, size in axes)
            yield f"    if ({may_be}({' || '.join(outside)})) {{"
            yield from self._copies(actor)
            yield f"        return {actor.border};"
            yield "    }"
        yield f"    return STREAM_AT_{actor.name}({x}, {y});"
        yield "}"

    def _inside(self, place: int, stage: Actor) -> Iterator[str]:
        """Yield what a work-group does that looks at nothing outside of an image."""
        before = self._pipeline.stages[place - 1] if place else None
        macro, reach = f"INTERIOR_{stage.name}", str(_FAR if stage.reach or stage.reach is None else 0)
        reach = f"({macro} ? {stage.reach} : {_FAR})" if macro in self._pipeline.macros else reach
        if before is not None and f"FUSE_{before.name}" in self._pipeline.fusions:
            reach += f" + (FUSE_{before.name} ? STREAM_REACH_{before.name} : 0)"
        own, to = f"STREAM_REACH_{stage.name}", self._place(place + 1, "place")
        yield f"#define {own} ({reach})"
        yield f"#if {own} && {own} < {_FAR}"
        told = []
        for axis, size in enumerate(("width", "height")):
            first, end = f"{HIDDEN}first_{axis}", f"{HIDDEN}end_{axis}"
            group = f"get_group_id({axis}) * get_local_size({axis})"
            yield f"    const int {first} = get_global_offset({axis}) + {group};"
            yield f"    const int {end} = {first} + (int)get_local_size({axis});"
            told.append(f"{first} >= {own} && {end} + {own} <= {size}")
        yield f"    if ({' && '.join(told)}) {{"
        yield "        const int inside = 1;"
        yield f"        output[{to}] = {self.value(stage, ('x', 'y'), prefix='')};"
        yield "    } else"
        yield "#endif"

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
        yield from ["    const int inside = 0;"] if self._has_interior else []
        if len(pipeline.global_size(place)) > 1:
            at = ("x", "y")
            yield "    const int x = get_global_id(0), y = get_global_id(1), place = y * width + x;"
            yield from self._inside(place, stage) if self._has_interior and isinstance(stage, Actor) else ()
            yield "    if (x < width && y < height) {"
        else:
            # Of an `int`, Intel's compiler doesn't see that neighbours read neighbours: a factor of 3 to 6.
            yield "    const long place = get_global_id(0);"
            yield f"    if (place < {count}) {{"
        if isinstance(stage, SplitJoin):
            yield from self._joined(stage, place, at)
        elif stage.puts_one:
            to = self._place(place + 1, "place")
            yield f"        output[{to}] = {self.value(stage, at, prefix='')};"
        else:
            yield f"        {self.value(stage, at, f'{HIDDEN}from, output', '')};"
        yield "    }"
        yield "}"

    def _joined(self, stage: SplitJoin, place: int, at: tuple[str, ...]) -> Iterator[str]:
        """Yield what writes the elements that the branches put out at a place."""
        values = [
            self.value(branch[-1], at if len(at) > 1 else (f"place * {weight} + {own}",), prefix="")
            for branch, weight, _ in stage.parts
            for own in range(weight)
        ]
        count, has_layout = len(values), place + 1 in self._layouts
        if count in _VECTORS:
            # One store: elements that lie between those of other work-items are written one by one on CPUs.
            listed = ",\n            ".join(values)
            yield from [f"#if !LAYOUT_{stage.name}"] if has_layout else []
            yield f"        vstore{count}(({stage.result}{count})(\n            {listed}), place, output);"
            yield from ["#else"] if has_layout else []
        if count not in _VECTORS or has_layout:
            for own, value in enumerate(values):
                to = self._place(place + 1, str(own), count, "place")
                yield f"        output[{to}] = {value};"
        yield from ["#endif"] if has_layout and count in _VECTORS else []
