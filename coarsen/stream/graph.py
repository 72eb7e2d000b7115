"""Graphs of actors: how often each fires in a steady state, how large channels are, how many elements come out.

    pairs (2 ─▶ 1) ──▶ triples (3 ─▶ 1)     3 · 1 element = 1 · 3 elements: pairs fires 3 times, triples once

A steady state leaves every channel as it was: firings balance (Lee and Messerschmitt, "Synchronous Data Flow",
Proceedings of the IEEE 75(9), 1987; Samadi et al., "Adaptic", PLDI 2012, section 2).
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from coarsen.dispatch.expressions import LONGEST_TEXT, parse_expression, parsed
from coarsen.errors import InvalidInputError, RefusalError
from coarsen.stream.actor import Actor, Rate, SplitJoin, Stage

# Firings of one steady state that are simulated; more tell nothing about channels that anybody would want.
MOST_FIRINGS = 100_000
# What is left of elements that an actor looks at and doesn't take.
_KEPT = re.compile(r"max\(([^(),]*) - (\d+), 0\)")
_NAME = re.compile(r"\b[A-Za-z_]\w*\b(?!\s*\()")


@dataclass(frozen=True)
class Channel:
    """What leads from one actor to another.

    Attributes:
        source: the name of the actor that fills it.
        sink: the name of the actor that empties it.
        push: how many elements a firing of the source puts in.
        pop: how many a firing of the sink takes out.
        peek: how many it looks at, those that it takes among them; as many as it takes where it is left out.
        initial: how many elements are in it before anything fires.
    """

    source: str
    sink: str
    push: Rate = 1
    pop: Rate = 1
    peek: Rate | None = None
    initial: int = 0

    @property
    def names(self) -> frozenset[str]:
        """The names in its rates."""
        rates = (self.push, self.pop, self.peek or self.pop)
        return frozenset().union(*(parse_expression(each).names for each in rates))

    def rates(self, sizes: Mapping[str, int]) -> tuple[int, int, int]:
        """Return push, pop and peek at some sizes. Raises InvalidInputError for one, or a name in one, below 1."""
        peek = self.pop if self.peek is None else self.peek
        found = tuple(parse_expression(each).evaluate(sizes) for each in (self.push, self.pop, peek))
        if min(found) < 1:
            raise InvalidInputError(
                f"a rate between {self.source} and {self.sink} is {min(found)}, not at least 1"
            )
        if low := sorted(name for name in self.names if sizes[name] < 1):
            raise InvalidInputError(f"{low[0]} is {sizes[low[0]]}, and in a rate it is at least 1")
        return found[0], found[1], found[2]


def channels_of(stages: Sequence[Stage]) -> tuple[Channel, ...]:
    """Return the channels of a pipeline; a split-join has an actor before its branches and one after them."""
    found: list[Channel] = []
    source: tuple[str, Rate] | None = None
    for stage in stages:
        if isinstance(stage, Actor):
            if source is not None:
                found.append(Channel(*_between(source, stage)))
            source = stage.name, stage.push
            continue
        split = f"{stage.name}_split"
        if source is not None:
            found.append(Channel(source[0], split, source[1]))
        for branch, weight in zip(stage.branches, stage.join, strict=True):
            last: tuple[str, Rate] = (split, 1)
            for actor in branch:
                found.append(Channel(*_between(last, actor)))
                last = actor.name, actor.push
            found.append(Channel(last[0], stage.name, last[1], weight))
        source = stage.name, sum(stage.join)
    return tuple(found)


def _between(source: tuple[str, Rate], sink: Actor) -> tuple[str, str, Rate, Rate, Rate | None]:
    return source[0], sink.name, source[1], sink.pop, sink.peek


def repetitions(channels: Sequence[Channel], sizes: Mapping[str, int] | None = None) -> dict[str, int]:
    """Return how often each actor fires in the smallest steady state.

    Args:
        channels: of the graph.
        sizes: the values of names in rates.

    Raises:
        RefusalError: `stream-rates`, for a channel that no number of firings leaves as it was.
        InvalidInputError: a rate below 1, or one whose name has no value.
    """
    rates = {each: each.rates(sizes or {}) for each in channels}
    found: dict[str, Fraction] = {}
    for start in (name for each in channels for name in (each.source, each.sink)):
        if start in found:
            continue
        found[start], waiting = Fraction(1), [start]
        while waiting:
            name = waiting.pop()
            for each, (push, pop, _) in rates.items():
                for own, other, ratio in (
                    (each.source, each.sink, Fraction(push, pop)),
                    (each.sink, each.source, Fraction(pop, push)),
                ):
                    if own == name and other not in found:
                        found[other] = found[name] * ratio
                        waiting.append(other)
    for each, (push, pop, _) in rates.items():
        if found[each.source] * push != found[each.sink] * pop:
            raise RefusalError(
                "stream-rates",
                f"the channel from {each.source} to {each.sink} never balances: {found[each.source]} firings put "
                f"in {push} elements each while {found[each.sink]} take out {pop} each",
            )
    whole = math.lcm(*(each.denominator for each in found.values()))
    counts = {name: int(each * whole) for name, each in found.items()}
    return {name: count // math.gcd(*counts.values()) for name, count in counts.items()}


def buffers(channels: Sequence[Channel], sizes: Mapping[str, int] | None = None) -> dict[Channel, int]:
    """Return how many elements each channel holds at most, when a steady state is run one firing at a time.

    An actor that looks further than it takes keeps elements back; but in a loop of channels only what is in it
    before anything fires is there.

    Args:
        channels: of the graph.
        sizes: the values of names in rates.

    Raises:
        RefusalError: as of `repetitions`; `stream-deadlock`, where actors wait for each other.
    """
    rates = {each: each.rates(sizes or {}) for each in channels}
    left = repetitions(channels, sizes)
    if sum(left.values()) > MOST_FIRINGS:
        raise InvalidInputError(f"a steady state has {sum(left.values())} firings, more than {MOST_FIRINGS}")
    held = {
        each: each.initial + (0 if each.source in _after(each.sink, channels) else peek - pop)
        for each, (_, pop, peek) in rates.items()
    }
    most = dict(held)
    # What empties channels goes first.
    names = [*dict.fromkeys(name for each in reversed(channels) for name in (each.sink, each.source))]
    while any(left.values()):
        for name in names:
            into = [each for each in channels if each.sink == name]
            if left[name] and all(held[each] >= rates[each][2] for each in into):
                break
        else:
            waiting = ", ".join(name for name in names if left[name])
            raise RefusalError(
                "stream-deadlock", f"actors wait for each other's elements, and none can fire: {waiting}"
            )
        left[name] -= 1
        for each, (push, pop, _) in rates.items():
            held[each] += push * (each.source == name) - pop * (each.sink == name)
            most[each] = max(most[each], held[each])
    return most


def _after(name: str, channels: Sequence[Channel]) -> set[str]:
    """The names of an actor and of all that its elements come to."""
    found, waiting = {name}, [name]
    while waiting:
        own = waiting.pop()
        new = {each.sink for each in channels if each.source == own} - found
        found |= new
        waiting += new
    return found


def element_counts(stages: Sequence[Stage]) -> tuple[str, ...]:
    """Return how many elements each channel of a pipeline gets, from its input to its output, as expressions.

    Each actor fires as often as its elements allow; what is left of the input stays.

    Args:
        stages: one after the other.
    """
    found = ["n"]
    for stage in stages:
        each = turns(stage, found[-1]) if isinstance(stage, SplitJoin) else firings(stage, found[-1])
        put = sum(stage.join) if isinstance(stage, SplitJoin) else 1 if stage.puts_one else stage.push
        found.append(each if put == 1 else _tidy(f"({each}) * ({put})"))
    return tuple(found)


def firings(actor: Actor, elements: str) -> str:
    """Return how often an actor fires, as an expression.

    Args:
        actor: any; one that is elementwise counts as firing for each element.
        elements: how many it gets, as an expression.
    """
    if actor.is_elementwise:
        return elements
    if actor.peek != actor.pop:
        is_known = isinstance(actor.peek, int) and isinstance(actor.pop, int)
        kept = str(int(actor.peek or 0) - int(actor.pop)) if is_known else f"(({actor.peek}) - ({actor.pop}))"
        if is_known and (found := _KEPT.fullmatch(elements)) is not None:
            elements, kept = found[1], str(int(found[2]) + int(kept))
        elements = _tidy(f"max({elements} - {kept}, 0)")
    return elements if actor.pop == 1 else _tidy(f"({elements}) // ({actor.pop})")


def turns(stage: SplitJoin, elements: str) -> str:
    """Return how often all branches of a split-join have put out what they do at their turns, as an expression."""
    found = dict[str, None]()
    for branch, weight, _ in stage.parts:
        fired = elements
        for actor in branch:
            fired = firings(actor, fired)
        found[fired if weight == 1 else _tidy(f"({fired}) // {weight}")] = None
    return next(iter(found)) if len(found) == 1 else f"min({', '.join(found)})"


def _tidy(expression: str) -> str:
    """Return an expression without parentheses that have no effect."""
    if len(expression) > LONGEST_TEXT:
        raise InvalidInputError(f"the pipeline is too long: '{expression[:40]}…' counts its elements")
    return ast.unparse(parsed(expression))


def c_text(expression: Rate, plain: Sequence[str], prefix: str = "") -> str:
    """Return an expression of whole numbers in C, all of whose numbers are `int`.

    Args:
        expression: as `dispatch.expressions` reads it, of which no part is negative.
        plain: names that are `int` anyway.
        prefix: what stands before each name.
    """

    def named(match: re.Match[str]) -> str:
        return prefix + match[0] if match[0] in plain else f"(int){prefix}{match[0]}"

    tree = _Pairs().visit(parsed(str(expression)))
    return _NAME.sub(named, ast.unparse(tree).replace("//", "/"))


class _Pairs(ast.NodeTransformer):
    """Makes `min` and `max` those of OpenCL C, of two: `min(a, b, c)` → `min(min(a, b), c)`."""

    def visit_Call(self, node: ast.Call) -> ast.Call:
        self.generic_visit(node)
        while len(node.args) > 2:
            node.args[:2] = [ast.Call(node.func, node.args[:2], [])]
        return node
