"""A pipeline run as it is told, one firing at a time: what its kernels have to compute.

    channel [e0 e1 e2 …] ─▶ while there are `peek` elements: fire, take `pop`, put `push` into the next channel

Nothing of what writes the kernels is used. The work of each actor is compiled for this machine by clang, as OpenCL
C with functions for `pop`, `peek` and `push`, which count: an actor whose rates aren't as told is found here, too.
"""

from __future__ import annotations

import ctypes
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coarsen.errors import InvalidInputError, RefusalError
from coarsen.frontend.clang import find_clang
from coarsen.stream.actor import (
    EDGE,
    Actor,
    Stage,
    actors_of,
    arguments_of,
    branches_of,
    check_neighbours,
    is_array,
)
from coarsen.stream.graph import Channel

_WORDS = (
    *("-x", "cl", "-target", "x86_64-linux-gnu", "-cl-std=CL1.2", "-O1", "-ffp-contract=off", "-fPIC", "-w"),
    "-fno-stack-protector",
)
# The builtin functions of OpenCL C that work may call, by clang's for vectors, which take numbers too.
_BUILTINS = """abs=abs fabs=abs max=max min=min fmax=maxnum fmin=minnum sqrt=sqrt exp=exp exp2=exp2 log=log
log2=log2 log10=log10 sin=sin cos=cos tan=tan tanh=tanh floor=floor ceil=ceil trunc=trunc round=round pow=pow
fma=fma"""
_BITS = 31


def interpret(
    stages: Sequence[Stage], elements: NDArray[Any], *, width: int = 0, height: int = 0, **given: object
) -> NDArray[Any]:
    """Return what a pipeline puts out, element by element.

    Args:
        stages: actors and split-joins, one after the other.
        elements: of the input, in their order.
        width: of the image, in elements, where there are stencils.
        height: of the image, in rows.
        given: the actors' arguments by name, numbers and arrays of NumPy's.

    Raises:
        InvalidInputError: an argument is missing, a work can't be compiled for this machine.
        RefusalError: `stream-rates`, for an actor that takes or puts out another number of elements than it tells.
    """
    check_neighbours(stages)
    known = arguments_of(stages)
    if wrong := sorted(known.keys() ^ given.keys()):
        raise InvalidInputError(f"the argument {wrong[0]} is missing, or there is none of that name")
    values = {
        name: np.ascontiguousarray(given[name], each.dtype) if is_array(each) else each.dtype.type(given[name])
        for name, each in known.items()
    }
    run = _Run(tuple(actor for stage in stages for actor in actors_of(stage)), values, (width, height))
    items = np.ascontiguousarray(elements).reshape(-1)
    for stage in stages:
        found = []
        for branch in branches_of(stage):
            own = items
            for actor in branch:
                own = run.all_firings(actor, own)
            found.append(own)
        items = found[0] if isinstance(stage, Actor) else _joined(found, stage.join)
    return items


def _joined(found: Sequence[NDArray[Any]], weights: Sequence[int]) -> NDArray[Any]:
    """Return what branches have put out, by turns, as long as each has enough for its own."""
    turns = min(len(own) // weight for own, weight in zip(found, weights, strict=True))
    parts = [own[: turns * weight].reshape(turns, weight) for own, weight in zip(found, weights, strict=True)]
    return np.hstack(parts).reshape(-1)


class _Run:
    """The functions of some actors, and what they are given."""

    def __init__(self, actors: Sequence[Actor], values: Mapping[str, Any], size: tuple[int, int]) -> None:
        self._values, self._size = values, size
        text = "\n".join((*_prelude(), *(line for actor in actors for line in (*fired(actor), *_entry(actor)))))
        with tempfile.TemporaryDirectory() as folder:
            clang = find_clang()
            library = clang.shared_library([*_WORDS, *clang.header_options], text, Path(folder))
            try:
                ctypes.CDLL("libm.so.6", ctypes.RTLD_GLOBAL)
                self._library = ctypes.CDLL(str(library))
            except OSError as error:
                raise InvalidInputError(f"an actor's work can't be run here: {error}") from None

    def all_firings(self, actor: Actor, items: NDArray[Any]) -> NDArray[Any]:
        """Return what an actor puts out in as many firings as its elements allow, or as an image has."""
        fire = getattr(self._library, f"stream_entry_{actor.name}")
        fire.restype = ctypes.c_long
        own = [(each, self._values[each.name]) for each in actor.given]
        passed = [
            ctypes.c_void_p(value.ctypes.data)
            if is_array(each)
            else np.ctypeslib.as_ctypes_type(each.dtype)(value.item())
            for each, value in own
        ]
        if actor.border:
            peek, pop, push, count = 0, 0, 1, items.size
            if count != self._size[0] * self._size[1]:
                raise InvalidInputError(f"{actor.name}: {count} elements are no image of this width and height")
        else:
            whole = {each.name: int(value) for each, value in own if not is_array(each)}
            rates = Channel("the one before", actor.name, actor.push, actor.pop, actor.peek).rates(whole)
            push, pop, peek = rates
            count = max((items.size - peek) // pop + 1, 0)
        put = np.empty((count, push), actor.result_dtype)
        for number in range(count):
            window = ctypes.c_void_p(items.ctypes.data + number * pop * items.itemsize)
            to = ctypes.c_void_p(put.ctypes.data + number * push * put.itemsize)
            returned = fire(window, to, peek, push, number, *self._size, *passed)
            popped, pushed = returned % 2**_BITS, (returned >> _BITS) % 2**_BITS
            if returned >> 2 * _BITS or (popped, pushed) != (pop, push):
                raise RefusalError(
                    "stream-rates",
                    f"{actor.name} took {popped} elements and put out {pushed}, or looked further than it tells: "
                    f"pop is {actor.pop}, push {actor.push}, peek {actor.peek}",
                )
        return put.reshape(-1)


def _prelude() -> Iterator[str]:
    for name, own in (pair.split("=") for pair in _BUILTINS.split()):
        yield f"#define {name}(...) __builtin_elementwise_{own}(__VA_ARGS__)"
    yield "#define clamp(x, low, high) min(max(x, low), high)"
    yield "#define mad(a, b, c) ((a) * (b) + (c))"


def fired(actor: Actor) -> Iterator[str]:
    """Yield OpenCL C of what a firing is: `stream_run_…` runs the work on a state, which counts what is called."""
    name, type_, result, inline = actor.name, actor.type, actor.result, "__attribute__((always_inline))"
    yield f"typedef struct {{ global const {type_} *from; global {result} *to; int looks, puts, popped, pushed, "
    yield f"beside, width, height; }} stream_state_{name};"
    state = f"private stream_state_{name} *s"
    yield f"{inline} {type_} stream_peek_{name}({state}, int k)"
    yield "{ int at = s->popped + k; int is_in = at >= 0 && at < s->looks; s->beside |= !is_in; "
    yield "return is_in ? s->from[at] : 0; }"
    yield f"{inline} {type_} stream_pop_{name}({state})"
    yield f"{{ {type_} e = stream_peek_{name}(s, 0); s->popped++; return e; }}"
    yield f"{inline} void stream_push_{name}({state}, {result} e)"
    yield "{ s->to[s->pushed < s->puts ? s->pushed : 0] = e; s->pushed++; }"
    if actor.border:
        yield f"{inline} {type_} stream_u_{name}({state}, int x, int y, {type_} border)"
        yield "{ if (x < 0 || y < 0 || x >= s->width || y >= s->height) {"
        if actor.border == EDGE:
            yield "x = x < 0 ? 0 : x >= s->width ? s->width - 1 : x;"
            yield "y = y < 0 ? 0 : y >= s->height ? s->height - 1 : y; }"
        else:
            yield "return border; }"
        yield "return s->from[(long)y * s->width + x]; }"
    yield f"{inline} void stream_run_{name}(private stream_state_{name} *stream_s, int i{given_to(actor)})"
    yield "{"
    yield f"#define pop() stream_pop_{name}(stream_s)"
    yield f"#define peek(k) stream_peek_{name}(stream_s, k)"
    yield f"#define push(e) stream_push_{name}(stream_s, e)"
    if actor.border:
        yield f"const {type_} stream_border = {'0' if actor.border == EDGE else actor.border};"
        yield "const int width = stream_s->width, height = stream_s->height;"
        yield "const int x = i % width, y = i / width, stream_x = x, stream_y = y;"
        yield f"#define u(dx, dy) stream_u_{name}(stream_s, stream_x + (dx), stream_y + (dy), stream_border)"
    yield f'#line 1 "{name}"'
    yield f"{{ {actor.work} }} }}"
    yield from (f"#undef {each}" for each in ("pop", "peek", "push", "u"))


def given_to(actor: Actor) -> str:
    """Return the declarations of an actor's arguments, behind others."""
    each = (text.strip() for text in actor.arguments.split(",") if text.strip())
    return "".join(f", {'global ' * ('*' in text and 'global' not in text)}{text}" for text in each)


def _entry(actor: Actor) -> Iterator[str]:
    """Yield a function that fires an actor once, and returns how many elements it took and put out."""
    name, names = actor.name, "".join(f", {each.name}" for each in actor.given)
    yield f"long stream_entry_{name}(global const {actor.type} *from, global {actor.result} *to, int looks, "
    yield f"int puts, int i, int width, int height{given_to(actor)})"
    yield f"{{ stream_state_{name} stream_s = {{from, to, looks, puts, 0, 0, 0, width, height}};"
    yield f"stream_run_{name}(&stream_s, i{names});"
    yield f"return stream_s.popped | (long)stream_s.pushed << {_BITS} | (long)stream_s.beside << {2 * _BITS}; }}"
