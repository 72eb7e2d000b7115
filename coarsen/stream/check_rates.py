"""Rates are counted in what an actor's work is lowered to, and compared with those that are told.

    work="for (int k = 0; k < taps; k++) push(pop());"   pop="taps"
      ─▶ int differs(…, int taps) { state s = …; for (…) { … s.popped++ … } return s.popped - taps; }
      ─▶ LLVM: ret i32 0

The work is compiled as the interpreter runs it. LLVM's optimiser finds what is counted at the end, for loops by
its scalar evolution: the rate is as told if their difference is the constant 0. What it can't find is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache

from coarsen.dispatch.expressions import parse_expression
from coarsen.errors import InvalidInputError, RefusalError
from coarsen.frontend.clang import find_clang
from coarsen.ir.modules import assembly_module
from coarsen.stream.actor import HIDDEN, Actor, Rate
from coarsen.stream.graph import c_text
from coarsen.stream.interpreter import fired, given_to

_WORDS = (
    *("-x", "cl", "-target", "spir64-unknown-unknown", "-cl-std=CL1.2", "-S", "-emit-llvm", "-O2", "-w"),
    *("-fno-color-diagnostics", "-o", "-"),
)
_CONSTANT = re.compile(r"i32 (-?\d+)")
_COUNTED = {
    "popped": ("pop", "takes {} elements a firing, and pop says {}"),
    "pushed": ("push", "puts out {} elements a firing, and push says {}"),
    "beside": ("peek", "looks at an element that is none of the {1} that peek says"),
}


@lru_cache(maxsize=256)
def check_rates(actors: tuple[Actor, ...]) -> None:
    """Compare the rates of actors with those of their work.

    Raises:
        InvalidInputError: a work that does not compile.
        RefusalError: `stream-rates`, for a rate that isn't as told, or that can't be counted.
    """
    clang = find_clang()
    text = "\n".join(line for actor in actors for line in _counting(actor))
    outcome = clang.run([*_WORDS, *clang.header_options, "-"], text)
    if outcome.returncode != 0:
        error = next((line for line in outcome.stderr.splitlines() if "error:" in line), "clang failed")
        raise InvalidInputError(f"the work of an actor can't be compiled: {error}")
    with assembly_module(outcome.stdout) as module:
        returned = {function.name: _returned(function) for function in module.functions}
    for actor in actors:
        for counted, (word, sentence) in _COUNTED.items():
            difference, told = returned[f"{HIDDEN}{counted}_{actor.name}"], _rates(actor)[word]
            if difference is None:
                why = "it depends on data, or on loops that LLVM can't count"
                raise RefusalError("stream-rates", f"{actor.name}: whether {word} is {told} can't be told: {why}")
            if difference != 0:
                found = int(told) + difference if str(told).isdecimal() else f"{told} + {difference}"
                raise RefusalError("stream-rates", f"{actor.name} {sentence.format(found, told)}")


def _rates(actor: Actor) -> Mapping[str, Rate]:
    """The rates of the work: that of a stencil is for one element, which it looks at by `u`."""
    if actor.border:
        return {"pop": 0, "push": 1, "peek": 0}
    return {"pop": actor.pop, "push": actor.push, "peek": actor.peek or actor.pop}


def _counting(actor: Actor) -> Iterator[str]:
    """Yield functions that return by how much each rate differs, and whether anything else is looked at."""
    yield from fired(actor)
    rates, given = _rates(actor), "".join(f", {each.name}" for each in actor.given)
    pop, push, peek = (c_text(rates[word], ()) for word, _ in _COUNTED.values())
    names = sorted({name for rate in rates.values() for name in parse_expression(rate).names})
    for counted, told in zip(_COUNTED, (pop, push, "0"), strict=True):
        yield f"int {HIDDEN}{counted}_{actor.name}(global const {actor.type} *from, global {actor.result} *to, "
        yield f"int width, int height, int i{given_to(actor)}) {{"
        # `Channel.rates` refuses others.
        yield from (f"__builtin_assume({c_text(name, ())} > 0);" for name in names)
        yield f"stream_state_{actor.name} s = {{from, to, {peek}, 0, 0, 0, 0, width, height}};"
        yield f"stream_run_{actor.name}(&s, i{given}); return s.{counted} - ({told}); }}"


def _returned(function: object) -> int | None:
    """Return the constant that a function of LLVM's returns; None for anything else."""
    last = [[*block.instructions][-1] for block in function.blocks]  # type: ignore[attr-defined]
    values = [str(operand) for each in last if each.opcode == "ret" for operand in each.operands]
    found = [_CONSTANT.fullmatch(value.strip()) for value in values]
    return int(found[0][1]) if len(found) == 1 and found[0] else None
