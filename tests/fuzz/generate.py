"""Random kernels: the same seed gives the same tree, see `nodes.py` for what holds for each."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, replace

from tests.fuzz.generate_expressions import COMPONENTS, HELPER_SCOPE, ExpressionGenerator, Scope, kernel_scope
from tests.fuzz.nodes import (
    Assign,
    Count,
    Exchange,
    Expression,
    For,
    Helper,
    If,
    Kernel,
    Layout,
    Leave,
    LoadVector,
    Memory,
    Publish,
    Recall,
    Reduce,
    SetElement,
    SetVector,
    Statement,
    Switch,
    Tally,
    While,
)
from tests.fuzz.render import LANES, OPERATIONS, SLOTS

MAX_DEPTH = 3
_UNIFORM_TARGETS = ("g0", "g1")
_LAYOUTS: tuple[Layout, ...] = ("rows", "columns", "columns")
_MEMORIES: tuple[Memory, ...] = ("tile", "shared")
_TARGETS = ("d0", "d1", "d2", "u0", "u1", *COMPONENTS)


@dataclass(frozen=True)
class Place:
    """Where a statement stands.

    `uniform`: all work-items of a group come here together, or none; `barriers`: it may have barriers (only
    then); `leaves`: how it may be left, by whom ever comes here.
    """

    scope: Scope
    depth: int
    uniform: bool
    barriers: bool
    leaves: tuple[str, ...]
    targets: tuple[str, ...]

    def inside(self, uniform: bool) -> Place:
        """One level further in, under a condition or in a loop that is uniform for the group, or not."""
        stays = self.uniform and uniform
        # Some of a group must not leave what the others meet in at a barrier.
        leaves = self.leaves if stays or not self.barriers else ()
        return replace(self, depth=self.depth + 1, uniform=stays, barriers=self.barriers and stays, leaves=leaves)

    def in_loop(self, counter: str, uniform: bool) -> Place:
        """In the body of a loop."""
        inside = self.inside(uniform)
        leaves = tuple(dict.fromkeys((*inside.leaves, "break", "continue")))
        return replace(inside, leaves=leaves, scope=self.scope.with_counter(counter, self.uniform and uniform))


def with_chain(kernel: Kernel, chosen: random.Random) -> Kernel:
    """A kernel that goes on with parts under equal or opposite conditions, which store slots and load them."""
    draw, scope = ExpressionGenerator(chosen), kernel_scope(False, ())
    condition, slots = draw.condition(scope), (chosen.randrange(SLOTS), chosen.randrange(SLOTS))
    parts: list[Statement] = []
    for _ in range(chosen.randint(2, 4)):
        part: tuple[Statement, ...] = (
            Publish(chosen.choice(slots), draw.expression(scope)),
            Assign(chosen.choice(("d0", "d1")), chosen.choice(("=", "+=")), Recall(chosen.choice(slots))),
        )
        part = part[:: chosen.choice((1, -1))][: chosen.choice((1, 2, 2))]
        other = (Assign("d2", "+=", Recall(slots[0])),)
        parts.append(If(condition, *((part, other), (other, part), (part, ()))[chosen.randrange(3)]))
    return replace(kernel, body=(*kernel.body, *parts))


class KernelGenerator:
    """Draws one kernel."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._expressions = ExpressionGenerator(self._random)
        self._counter = 0

    def kernel(self) -> Kernel:
        """The kernel of the seed."""
        chance = self._random.random
        barriers, local_ids = chance() < 0.4, chance() < 0.6
        dimensions = 2 if chance() < 0.3 else 1
        layout = self._random.choice(_LAYOUTS)
        helpers = tuple(self._helper(f"h{i}") for i in range(self._random.choice((0, 0, 0, 1, 2))))
        scope = kernel_scope(local_ids or barriers, tuple(helper.name for helper in helpers))
        place = Place(scope, 0, True, barriers, ("return",), _TARGETS)
        body = [] if barriers or chance() < 0.6 else [self._early_return(place)]
        body += [self._statement(place) for _ in range(self._random.randint(1, 4))]
        return Kernel(dimensions, chance() < 0.5, layout, helpers, tuple(body))

    def _early_return(self, place: Place) -> Statement:
        return If(self._expressions.condition(place.scope), (Leave("return"),))

    def _helper(self, name: str) -> Helper:
        place = Place(HELPER_SCOPE, MAX_DEPTH - 1, False, False, (), ("p", "q"))
        body = tuple(self._statement(place) for _ in range(self._random.randint(0, 2)))
        return Helper(name, body, self._expressions.expression(HELPER_SCOPE))

    # Statements.

    def _block(self, place: Place) -> tuple[Statement, ...]:
        return tuple(self._statement(place) for _ in range(self._random.choice((1, 1, 1, 2))))

    def _statement(self, place: Place) -> Statement:
        kinds: list[tuple[float, Callable[[Place], Statement]]] = [(3, self._assign)]
        if place.depth < MAX_DEPTH:
            kinds += [(3, self._if), (2.5, self._loop), (0.5, self._switch)]
        if place.leaves:
            kinds.append((0.8, self._leave))
        if place.barriers:
            kinds.append((2.5, self._meet))
        if place.scope.private:
            kinds += [(1, self._private), (0.7, self._vector), (1.3, self._publish), (0.7, self._count)]
        weights = [weight for weight, _ in kinds]
        return self._random.choices([draw for _, draw in kinds], weights)[0](place)

    def _any(self, place: Place) -> Expression:
        return self._expressions.expression(place.scope)

    def _assign(self, place: Place) -> Statement:
        operator = self._random.choice(("=", "+=", "^=", "*="))
        if place.uniform and place.scope.private and self._random.random() < 0.15:
            target = self._random.choice(tuple(t for t in _UNIFORM_TARGETS if t in place.scope.names))
            return Assign(target, operator, self._expressions.expression(place.scope, uniform=True))
        return Assign(self._random.choice(place.targets), operator, self._any(place))

    def _if(self, place: Place) -> Statement:
        uniform = place.uniform and self._random.random() < (0.5 if place.barriers else 0.2)
        inside = place.inside(uniform)
        condition = self._expressions.condition(place.scope, uniform)
        then = self._block(inside)
        return If(condition, then, self._block(inside) if self._random.random() < 0.4 else ())

    def _leave(self, place: Place) -> Statement:
        """By some work-items, or by the group as a whole where it may have barriers."""
        condition = self._expressions.condition(place.scope, uniform=place.barriers)
        chosen = self._random.choice(place.leaves)
        way = Leave("break") if chosen == "break" else Leave("continue" if chosen == "continue" else "return")
        return If(condition, (*([self._assign(place.inside(True))] if self._random.random() < 0.3 else []), way))

    def _loop(self, place: Place) -> Statement:
        self._counter += 1
        counter = f"i{self._counter}"
        uniform = place.uniform and self._random.random() < (0.6 if place.barriers else 0.2)
        body = self._block(place.in_loop(counter, uniform))
        draw = self._expressions
        choice = self._random.random()
        if uniform or not place.scope.private or choice < 0.35:
            start, limit = draw.expression(place.scope, uniform, 0), draw.expression(place.scope, uniform, 1)
            return For(counter, start, limit, "short", body)
        if choice < 0.65:
            limit = draw.expression(place.scope, self._random.random() < 0.7, 1)
            local = "item" in place.scope.names and self._random.random() < 0.5
            return For(counter, limit, limit, "local" if local else "grid", body)
        return While(counter, draw.condition(place.scope), self._random.random() < 0.5, body)

    def _switch(self, place: Place) -> Statement:
        """A `break` would leave the switch alone, so there is none."""
        uniform = place.uniform and self._random.random() < 0.4
        inside = place.inside(uniform)
        inside = replace(inside, leaves=tuple(way for way in inside.leaves if way != "break"))
        value = self._expressions.expression(place.scope, uniform, 1)
        cases = tuple(self._block(inside) for _ in range(self._random.randint(1, 3)))
        falls = len(cases) > 1 and self._random.random() < 0.3
        return Switch(value, cases, self._block(inside), falls)

    def _meet(self, place: Place) -> Statement:
        """The work-items of a group meet at barriers."""
        memory = self._random.choice(_MEMORIES)
        target = self._random.choice((*place.targets, *place.targets, *_UNIFORM_TARGETS))
        choice = self._random.random()
        if choice < 0.5:
            offset = self._random.randint(1, 9)
            return Exchange(memory, self._any(place), offset, self._random.choice(place.targets))
        if choice < 0.75:
            return Tally(self._any(place), target)
        return Reduce(memory, self._any(place), target)

    def _private(self, place: Place) -> Statement:
        return SetElement(self._any(place), self._any(place))

    def _vector(self, place: Place) -> Statement:
        target = self._random.choice(tuple(LANES))
        if self._random.random() < 0.4:
            return LoadVector(target, self._any(place))
        values = tuple(self._any(place) for _ in range(LANES[target]))
        return SetVector(target, self._random.choice("+^*"), values)

    def _publish(self, place: Place) -> Statement:
        return Publish(self._random.randrange(SLOTS), self._any(place))

    def _count(self, place: Place) -> Statement:
        return Count(self._random.choice(OPERATIONS), self._any(place), self._any(place))
