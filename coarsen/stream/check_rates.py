"""Rates are counted in what an actor's work is lowered to, and compared with those that are told.

    work="for (int k = 0; k < taps; k++) push(pop());"   pop="taps"
      ─▶ int pops(…, int taps) { int pops = 0; for (…) { … pops++ … } return pops - taps; }
      ─▶ LLVM: ret i32 0

The work is compiled with counters in the place of channels. LLVM's optimiser finds what these are at the end, for
loops by its scalar evolution: the rate is as told if their difference is the constant 0. What it can't find is
refused: nothing is believed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache

from coarsen.dispatch.expressions import parse_expression
from coarsen.errors import InvalidInputError, RefusalError
from coarsen.frontend.clang import find_clang
from coarsen.ir.modules import assembly_module
from coarsen.stream.actor import EDGE, HIDDEN, Actor, Rate
from coarsen.stream.graph import c_text

_WORDS = ("-x", "cl", "-target", "spir64-unknown-unknown", "-cl-std=CL1.2", "-S", "-emit-llvm", "-O2", "-o", "-")
_UNSEQUENCED = "unsequenced"
_CONSTANT = re.compile(r"i32 (-?\d+)")
_COUNTED = {
    "pop": "takes {} elements a firing, and pop says {}",
    "push": "puts out {} elements a firing, and push says {}",
    "peek": "looks at an element that is none of the {1} that peek says",
}


@lru_cache(maxsize=256)
def check_rates(actors: tuple[Actor, ...]) -> None:
    """Compare the rates of actors with those of their work.

    Raises:
        InvalidInputError: a work that does not compile, or takes elements in an order that C leaves open.
        RefusalError: `stream-rates`, for a rate that isn't as told, or that can't be counted.
    """
    clang = find_clang()
    text = "\n".join(line for actor in actors for word in _COUNTED for line in _counting(actor, word))
    words = [
        *_WORDS,
        "-fno-color-diagnostics",
        "-Wno-everything",
        f"-Werror={_UNSEQUENCED}",
        *clang.header_options,
        "-",
    ]
    outcome = clang.run(words, text)
    if outcome.returncode != 0:
        error = next((line for line in outcome.stderr.splitlines() if "error:" in line), "clang failed")
        if _UNSEQUENCED in error:
            error = f"{error.split(':')[0]}: C does not say which of two pop() in an expression comes first"
        raise InvalidInputError(f"the work of an actor can't be compiled: {error}")
    with assembly_module(outcome.stdout) as module:
        returned = {function.name: _returned(function) for function in module.functions}
    for actor in actors:
        for word, sentence in _COUNTED.items():
            difference, told = returned[f"{HIDDEN}{word}_{actor.name}"], _rates(actor)[word]
            if difference is None:
                raise RefusalError(
                    "stream-rates",
                    f"{actor.name}: whether {word} is {told} can't be told from its work: it depends on data, "
                    "or on loops that LLVM can't count",
                )
            if difference != 0:
                counted = int(told) + difference if str(told).isdecimal() else f"{told} + {difference}"
                raise RefusalError("stream-rates", f"{actor.name} {sentence.format(counted, told)}")


def _rates(actor: Actor) -> Mapping[str, Rate]:
    """The rates of the work: that of a stencil is for one element, which it looks at by `u`."""
    if actor.border:
        return {"pop": 0, "push": 1, "peek": 0}
    return {"pop": actor.pop, "push": actor.push, "peek": actor.peek or actor.pop}


def _counting(actor: Actor, word: str) -> Iterator[str]:
    """Yield a function that returns by how much a rate differs; of `peek`, whether anything else is looked at."""
    own, rates = f"{HIDDEN}{word}_{actor.name}", _rates(actor)
    type_, result, work = actor.type, actor.result, actor.placed(is_numbered=False)
    names = sorted({name for rate in rates.values() for name in parse_expression(rate).names})
    arguments = [f"int {name}" for name in ("width", "height", "x", "y")] if actor.border else []
    given = [*arguments, *(each.strip() for each in actor.arguments.split(",") if each.strip())]
    yield f"{type_} {HIDDEN}at_{own}(global const {type_} *from, int place, int last, int *is_beside)"
    yield "{ *is_beside |= place < 0 || place >= last; return from[place]; }"
    if actor.border:
        outside = "0" if actor.border == EDGE else actor.border
        yield f"#define u(dx, dy) ({HIDDEN}from[((dy) + y) * width + (dx) + x] + ({outside}))"
    read = f"{HIDDEN}at_{own}({HIDDEN}from, {{}}, {c_text(rates['peek'], ())}, &{HIDDEN}beside)"
    yield f"#define {HIDDEN}pop(place) {read.format('place')}"
    yield f"#define {HIDDEN}peek(place, k) {read.format('(place) + (k)')}"
    yield f"#define {HIDDEN}push(place, value) ({HIDDEN}sink = (value), (void)(place))"
    yield f"int {own}({', '.join([f'global const {type_} *{HIDDEN}from', 'int i', *map(in_global, given)])})"
    yield f"{{ int {HIDDEN}pops = 0, {HIDDEN}pushes = 0, {HIDDEN}beside = 0; {result} {HIDDEN}sink;"
    # A pipeline makes no launch with rates below 1.
    yield from (f"__builtin_assume({c_text(name, ())} > 0);" for name in names)
    if not actor.has_branches:
        yield f'_Pragma("clang diagnostic push") _Pragma("clang diagnostic ignored \\"-W{_UNSEQUENCED}\\"")'
    yield f'#line 1 "{actor.name}"'
    yield f"{{ {work} }}"
    if not actor.has_branches:
        yield '_Pragma("clang diagnostic pop")'
    counter = {"pop": f"{HIDDEN}pops", "push": f"{HIDDEN}pushes", "peek": f"{HIDDEN}beside"}[word]
    yield f"return {counter} - ({c_text(rates[word], ())}); }}" if word != "peek" else f"return {counter}; }}"
    yield from (f"#undef {name}" for name in (f"{HIDDEN}pop", f"{HIDDEN}peek", f"{HIDDEN}push", "u"))


def in_global(argument: str) -> str:
    """Return an argument's declaration with an address space, where it is a pointer without one."""
    has_space = {"global", "__global", "constant", "__constant"} & {*argument.split()}
    return argument if "*" not in argument or has_space else f"global {argument}"


def _returned(function: object) -> int | None:
    """Return the constant that a function of LLVM's returns; None for anything else."""
    last = [[*block.instructions][-1] for block in function.blocks]  # type: ignore[attr-defined]
    values = [str(operand) for each in last if each.opcode == "ret" for operand in each.operands]
    found = [_CONSTANT.fullmatch(value.strip()) for value in values]
    return int(found[0][1]) if len(found) == 1 and found[0] else None
