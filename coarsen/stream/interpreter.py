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

from coarsen.dispatch.expressions import parse_expression
from coarsen.errors import InvalidInputError, RefusalError
from coarsen.frontend.clang import find_clang
from coarsen.stream.actor import EDGE, Actor, Stage, actors_of, arguments_of, check_neighbours, is_array

_WORDS = (
    *("-x", "cl", "-target", "x86_64-linux-gnu", "-cl-std=CL1.2", "-O1", "-ffp-contract=off", "-fPIC", "-w"),
    "-fno-stack-protector",
)
# The builtin functions of OpenCL C that work may call, by clang's for vectors, which take numbers too.
_BUILTINS = """abs=abs fabs=abs max=max min=min fmax=maxnum fmin=minnum sqrt=sqrt exp=exp exp2=exp2 log=log
log2=log2 log10=log10 sin=sin cos=cos tan=tan tanh=tanh floor=floor ceil=ceil trunc=trunc round=round pow=pow
fma=fma"""
_BITS = 20


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
    run = _Run(stages, width, height, given)
    items = np.ascontiguousarray(elements).reshape(-1)
    for stage in stages:
        items = run.stage(stage, items)
    return items


class _Run:
    """The functions of some actors, and what they are given."""

    def __init__(self, stages: Sequence[Stage], width: int, height: int, given: Mapping[str, Any]) -> None:
        known = arguments_of(stages)
        if wrong := sorted(known.keys() ^ given.keys()):
            raise InvalidInputError(f"the argument {wrong[0]} is missing, or there is none of that name")
        self._size = width, height
        self._arrays = {
            name: np.ascontiguousarray(given[name], each.dtype) for name, each in known.items() if is_array(each)
        }
        self._numbers = {name: each.dtype.type(given[name]) for name, each in known.items() if not is_array(each)}
        actors = tuple(actor for stage in stages for actor in actors_of(stage))
        text = "\n".join((*_prelude(), *(line for actor in actors for line in _entry(actor))))
        with tempfile.TemporaryDirectory() as folder:
            clang = find_clang()
            library = clang.shared_library([*_WORDS, *clang.header_options], text, Path(folder))
            try:
                ctypes.CDLL("libm.so.6", ctypes.RTLD_GLOBAL)
                self._library = ctypes.CDLL(str(library))
            except OSError as error:
                raise InvalidInputError(f"an actor's work can't be run here: {error}") from None

    def stage(self, stage: Stage, items: NDArray[Any]) -> NDArray[Any]:
        """Return what a stage puts out."""
        if isinstance(stage, Actor):
            return self._all_firings(stage, items)
        found = []
        for branch in stage.branches:
            own = items
            for actor in branch:
                own = self._all_firings(actor, own)
            found.append(own)
        turns = min(len(own) // weight for own, weight in zip(found, stage.join, strict=True))
        joined = [
            own[turn * weight : (turn + 1) * weight]
            for turn in range(turns)
            for own, weight in zip(found, stage.join, strict=True)
        ]
        return np.concatenate(joined) if joined else np.empty(0, found[0].dtype)

    def _all_firings(self, actor: Actor, items: NDArray[Any]) -> NDArray[Any]:
        """Return what an actor puts out in as many firings as its elements allow."""
        fire = getattr(self._library, f"stream_entry_{actor.name}")
        fire.restype = ctypes.c_long
        passed = [*self._passed(actor)]
        width, height = self._size
        if actor.border:
            if items.size != width * height:
                raise InvalidInputError(f"{actor.name}: {items.size} elements are no image of {width} x {height}")
            put = np.empty(items.size, actor.result_dtype)
            for place in range(items.size):
                to = ctypes.c_void_p(put.ctypes.data + place * put.itemsize)
                window = ctypes.c_void_p(items.ctypes.data)
                self._check(actor, fire(window, to, 0, 1, place, width, height, *passed), 0, 1)
            return put
        peek, pop, push = (self._rate(each) for each in (actor.peek, actor.pop, actor.push))
        found: list[NDArray[Any]] = []
        head = 0
        while items.size - head >= peek:
            put = np.empty(push, actor.result_dtype)
            window = ctypes.c_void_p(items.ctypes.data + head * items.itemsize)
            to = ctypes.c_void_p(put.ctypes.data)
            self._check(actor, fire(window, to, peek, push, len(found), width, height, *passed), pop, push)
            found.append(put)
            head += pop
        return np.concatenate(found) if found else np.empty(0, actor.result_dtype)

    def _rate(self, rate: int | str | None) -> int:
        value = parse_expression(str(rate)).evaluate({name: int(each) for name, each in self._numbers.items()})
        if value < 1:
            raise InvalidInputError(f"the rate {rate} is {value}, not at least 1")
        return value

    def _passed(self, actor: Actor) -> Iterator[object]:
        for each in actor.given:
            if is_array(each):
                yield ctypes.c_void_p(self._arrays[each.name].ctypes.data)
            else:
                yield np.ctypeslib.as_ctypes_type(each.dtype)(self._numbers[each.name].item())

    @staticmethod
    def _check(actor: Actor, returned: int, pop: int, push: int) -> None:
        popped, pushed = returned % 2**_BITS, (returned >> _BITS) % 2**_BITS
        if returned >> 2 * _BITS or (popped, pushed) != (pop, push):
            raise RefusalError(
                "stream-rates",
                f"{actor.name} took {popped} elements and put out {pushed}, or looked further than it tells: "
                f"pop is {actor.pop}, push {actor.push}, peek {actor.peek}",
            )


def _prelude() -> Iterator[str]:
    for name, own in (pair.split("=") for pair in _BUILTINS.split()):
        yield f"#define {name}(...) __builtin_elementwise_{own}(__VA_ARGS__)"
    yield "#define clamp(x, low, high) min(max(x, low), high)"
    yield "#define mad(a, b, c) ((a) * (b) + (c))"


def _entry(actor: Actor) -> Iterator[str]:
    """Yield a function that fires an actor once, and returns how many elements it took and put out."""
    name, type_, result = actor.name, actor.type, actor.result
    given = "".join(
        f", {'global ' * ('*' in each)}{each.strip()}" for each in actor.arguments.split(",") if each.strip()
    )
    yield f"typedef struct {{ global const {type_} *from; global {result} *to; int looks, puts, popped, pushed, "
    yield f"beside, width, height; {type_} border; }} stream_state_{name};"
    state = f"private stream_state_{name} *s"
    yield f"{type_} stream_peek_{name}({state}, int k)"
    yield "{ int at = s->popped + k; int is_in = at >= 0 && at < s->looks; s->beside |= !is_in; "
    yield "return is_in ? s->from[at] : 0; }"
    yield f"{type_} stream_pop_{name}({state}) {{ {type_} e = stream_peek_{name}(s, 0); s->popped++; return e; }}"
    yield f"void stream_push_{name}({state}, {result} e)"
    yield "{ if (s->pushed >= s->puts) s->beside = 1; else s->to[s->pushed] = e; s->pushed++; }"
    if actor.border:
        yield f"{type_} stream_u_{name}({state}, int x, int y)"
        yield "{ if (x < 0 || y < 0 || x >= s->width || y >= s->height) {"
        if actor.border == EDGE:
            yield "x = x < 0 ? 0 : x >= s->width ? s->width - 1 : x;"
            yield "y = y < 0 ? 0 : y >= s->height ? s->height - 1 : y; }"
        else:
            yield "return s->border; }"
        yield "return s->from[(long)y * s->width + x]; }"
    yield f"long stream_entry_{name}(global const {type_} *from, global {result} *to, int looks, int puts, int i, "
    yield f"int width, int height{given})"
    border = actor.border if actor.border and actor.border != EDGE else "0"
    yield f"{{ stream_state_{name} stream_state = {{from, to, looks, puts, 0, 0, 0, width, height, {border}}};"
    yield f"#define pop() stream_pop_{name}(&stream_state)"
    yield f"#define peek(k) stream_peek_{name}(&stream_state, k)"
    yield f"#define push(e) stream_push_{name}(&stream_state, e)"
    if actor.border:
        yield "const int x = i % width, y = i / width, stream_x = x, stream_y = y;"
        yield f"#define u(dx, dy) stream_u_{name}(&stream_state, stream_x + (dx), stream_y + (dy))"
    yield f'#line 1 "{name}"'
    yield f"{{ {actor.work} }}"
    yield f"return stream_state.popped | (long)stream_state.pushed << {_BITS} | "
    yield f"(long)stream_state.beside << {2 * _BITS}; }}"
    yield from (f"#undef {each}" for each in ("pop", "peek", "push", "u"))
