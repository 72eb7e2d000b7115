"""Random reads of boxes, put into a random kernel.

Most stand at a kernel's start, where every work-item comes to them; some anywhere among its statements, where a
work-item may have returned.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace

from tests.fuzz.field import Axis, Bound, ElementType, Field, Id, IdKind, IndexType, Tap, Window
from tests.fuzz.launches import Launch
from tests.fuzz.nodes import Kernel, Stencil
from tests.fuzz.render import DIVERGENT_TARGETS

_ELEMENTS: tuple[ElementType, ...] = ("uint", "uint", "uint", "uchar", "ushort", "ulong", "float", "uint2")
_INDICES: tuple[IndexType, ...] = ("int", "int", "uint", "size_t")
_KINDS: tuple[IdKind, ...] = ("global", "counted", "tile", "local", "group")
_PITCHES = (5, 16, 33, 40, 64)
_STRIDES = (1, 1, 1, 1, 2, 3)
_ANYWHERE = 0.15
_MOST_WINDOWS = 2
_BOUNDED = 0.35
# Strips of 8 trips, and rests of up to seven.
_STRIP_ROUNDS = (8, 9, 15, 16, 23)


def with_field(kernel: Kernel, launch: Launch, chosen: random.Random, *, has_tiles: bool = False) -> Kernel:
    """Return a kernel that reads boxes of an array besides what it does.

    Args:
        kernel: that has no such array.
        launch: of which the tiles' sizes are made.
        chosen: what is drawn comes from it.
        has_tiles: whether reads stand in loops that are long enough to be cut into strips.
    """
    field = Field(
        chosen.choice(_ELEMENTS),
        chosen.choice(_INDICES),
        _axes(chosen, launch),
        width=chosen.choice((chosen.randint(1, 40), chosen.randint(1, 40), 64, 0)),
    )
    body = list(kernel.body)
    for number in range(chosen.choice((1, 1, 2))):
        place = chosen.randint(0, len(body)) if chosen.random() < _ANYWHERE else 0
        body.insert(place, _stencil(chosen, field, number, has_tiles))
    return replace(kernel, body=tuple(body))


def _axes(chosen: random.Random, launch: Launch) -> tuple[Axis, ...]:
    """One axis to three, each of other ids; one without any is for windows."""
    dimensions = list(range(len(launch.local_size)))
    if chosen.random() < 0.05:
        dimensions.append(len(launch.local_size))  # There is no such dimension: its ids are 0.
    chosen.shuffle(dimensions)
    stride = chosen.choice(_STRIDES)
    factors = [(stride, False)]
    # Between elements that are a stride apart there are others, which a window takes.
    if stride > 1 and chosen.random() < 0.7:
        factors.append((1, False))
    if chosen.random() < 0.6:
        factors.append(chosen.choice(((1, True), (1, True), (2, True), (chosen.choice(_PITCHES), False))))
    axes = [Axis(count, times_width, _ids(chosen, launch, dimensions)) for count, times_width in factors]
    if not any(axis.ids for axis in axes):
        axes[0] = replace(axes[0], ids=(Id("global", 0),))
    chosen.shuffle(axes)
    return tuple(axes)


def _ids(chosen: random.Random, launch: Launch, dimensions: list[int]) -> tuple[Id, ...]:
    """Ids along dimensions that are left: mostly one."""
    count = chosen.choice((0, 1, 1, 1, 1, 1, 2))
    taken = [dimensions.pop() for _ in range(min(count, len(dimensions)))]
    return tuple(_id(chosen, launch, dimension) for dimension in taken)


def _id(chosen: random.Random, launch: Launch, dimension: int) -> Id:
    kind = chosen.choices(_KINDS, (4, 2, 3, 1, 1))[0]
    size = launch.local_size[dimension] if dimension < len(launch.local_size) else 1
    step = chosen.choice((size, size, size - 1, size + 2, chosen.randint(1, 40)))
    return Id(kind, dimension, step, backwards=chosen.random() < 0.15)


def _varies(own: Id) -> bool:
    return own.kind != "group"


def _stencil(chosen: random.Random, field: Field, number: int, has_tiles: bool) -> Stencil:
    empty = [place for place, axis in enumerate(field.axes) if not any(map(_varies, axis.ids))]
    further = chosen.choices(range(len(field.axes)), k=chosen.choice((1, 1, 2) if has_tiles else (0, 0, 1, 2)))
    along = [*empty, *further][: max(_MOST_WINDOWS, len(empty))]
    windows = tuple(_window(chosen, axis, f"k{number}_{place}") for place, axis in enumerate(along))
    if has_tiles:
        # The innermost one.
        windows = (*windows[:-1], replace(windows[-1], rounds=chosen.choice(_STRIP_ROUNDS)))
    count = chosen.choice((1, 1, 2, 3, 5) if windows else (2, 3, 4, 5))
    made = Stencil(
        chosen.choice(DIVERGENT_TARGETS),
        field,
        windows,
        tuple(_tap(chosen, field, windows) for _ in range(count)),
        weighted=bool(windows) and chosen.random() < 0.4,
        factored=chosen.random() < 0.5,
        turned=chosen.random() < 0.3,
    )
    # Drawn apart, so that the rest is as without.
    return replace(made, bounds=tuple(_bounds(random.Random(f"bounds {made}"), made)))


def _bounds(chosen: random.Random, made: Stencil) -> Iterator[Bound]:
    """Of some stencils, bounds along axes of one id at most."""
    if chosen.random() < _BOUNDED:
        for place, axis in enumerate(made.field.axes):
            has_counters = chosen.random() < 0.5 and any(each.axis == place for each in made.windows)
            limit = chosen.choice((1, 3, 7, 12, 20, 40))
            if (axis.ids or has_counters) and len(axis.ids) < 2:
                yield Bound(place, limit, has_counters)


def _window(chosen: random.Random, axis: int, counter: str) -> Window:
    least = chosen.choice((0, 0, 0, -1, -1, -2, 1, 3))
    rounds = chosen.choice((2, 2, 3, 3, 3, 4, 5, 8) if chosen.random() < 0.95 else (1,))
    return Window(counter, axis, least, rounds, chosen.choice(("<", "<", "<=", "!=", "down")))


def _tap(chosen: random.Random, field: Field, windows: tuple[Window, ...]) -> Tap:
    offsets = tuple(
        chosen.choice((0, 0, 0, 1, 1, 2, 3)) - min(0, sum(each.least for each in windows if each.axis == axis))
        for axis in range(len(field.axes))
    )
    return Tap(offsets, chosen.choice((1, 2, 3, 5, 7)))
