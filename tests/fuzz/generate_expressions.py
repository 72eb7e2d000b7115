"""Random expressions and conditions, of what may be named in a place."""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace

from tests.fuzz.nodes import (
    Binary,
    Call,
    Choice,
    Compare,
    Condition,
    Constant,
    Converted,
    Element,
    Expression,
    Joined,
    Load,
    OwnLoad,
    Recall,
    Shifted,
    Variable,
)
from tests.fuzz.render import SLOTS

VARYING = ("d0", "d1", "d2", "u0", "u1")
GROUP_UNIFORM = ("g0", "g1", "a", "b")
COMPONENTS = ("w.x", "w.w", "v.y")
LOCAL_IDS = ("item", "items", "group", "groups", "part")


@dataclass(frozen=True)
class Scope:
    """What may be named: anything, and what is the same for the whole work-group; and what else is at hand.

    `private` is false in helper functions, which have neither arrays nor buffers.
    """

    names: tuple[str, ...]
    uniform_names: tuple[str, ...]
    private: bool = True
    helpers: tuple[str, ...] = ()

    def with_counter(self, name: str, is_uniform: bool) -> Scope:
        """The scope in the body of a loop; its counter is named often."""
        uniform = (*self.uniform_names, name) if is_uniform else self.uniform_names
        return replace(self, names=(*self.names, name, name), uniform_names=uniform)


def kernel_scope(local_ids: bool, helpers: tuple[str, ...]) -> Scope:
    """The scope of a kernel's body; without local ids it can be launched in any geometry."""
    ids = ("id", "x", "y", "size", "where", *(LOCAL_IDS if local_ids else ()))
    groups = ("group", "groups", "items", "part") if local_ids else ("size",)
    names = (*VARYING, *VARYING, *GROUP_UNIFORM, *ids, *COMPONENTS)
    if not local_ids:
        # `g0` starts from the group's id.
        names = tuple(name for name in names if name != "g0")
    uniform = tuple(name for name in (*GROUP_UNIFORM, *groups) if name in names)
    return Scope(names, uniform, helpers=helpers)


HELPER_SCOPE = Scope(("p", "q", "p", "q"), (), private=False)


@dataclass
class ExpressionGenerator:
    """Draws expressions; `uniform` asks for such as are the same for the whole work-group."""

    random: random.Random
    depth: int = field(default=2)

    def expression(self, scope: Scope, uniform: bool = False, depth: int | None = None) -> Expression:
        """Any expression."""
        left = self.depth if depth is None else depth
        choice = self.random.random()
        if left == 0 or choice < 0.25:
            return self._leaf(scope, uniform)

        def inner() -> Expression:
            return self.expression(scope, uniform, left - 1)

        if choice < 0.7:
            return Binary(self.random.choice("+++**^^-&|/%"), inner(), inner())
        if choice < 0.76:
            return Shifted(inner(), self.random.randint(1, 13))
        if choice < 0.82:
            return Converted(self.random.choice(("uchar", "ushort", "ulong", "float")), inner())
        if choice < 0.86:
            return Choice(self.condition(scope, uniform), inner(), inner())
        if scope.helpers and choice < 0.91:
            return Call(self.random.choice(scope.helpers), inner(), inner())
        return Load(inner()) if scope.private else inner()

    def _leaf(self, scope: Scope, uniform: bool) -> Expression:
        choice = self.random.random()
        if choice < 0.2:
            return Constant(self.random.choice((0, 1, 2, 3, 5, 7, 8, self.random.randrange(2**32))))
        if uniform or not scope.private or choice < 0.8:
            return Variable(self.random.choice(scope.uniform_names if uniform else scope.names))
        if choice < 0.9:
            return OwnLoad(self.random.randint(1, 4), self.random.randint(0, 7))
        if choice < 0.95:
            return Recall(self.random.randrange(SLOTS))
        return Element(Variable(self.random.choice(scope.names)))

    def condition(self, scope: Scope, uniform: bool = False) -> Condition:
        """A condition: of the kinds that kernels have, or any comparison."""
        choice = self.random.random()
        if choice < 0.15:
            operator = self.random.choice(("&&", "||"))
            return Joined(operator, self.condition(scope, uniform), self.condition(scope, uniform))
        if not uniform and "id" in scope.names and choice < 0.6:
            return self._of_ids(scope, choice)
        modulus = Constant(self.random.randint(2, 9))
        value = Binary("%", self.expression(scope, uniform, 1), modulus)
        return Compare(self.random.choice(("<", "==", ">", "!=")), value, Constant(self.random.randint(1, 3)))

    def _of_ids(self, scope: Scope, choice: float) -> Condition:
        """Guards by size, interior tests, odd and even, work-items in blocks."""
        own = Variable(self.random.choice(("id", "x", "x", "item" if "item" in scope.names else "y")))
        bound = Binary("-", Variable("size"), Constant(self.random.choice((1, 2, 3, 5, 13))))
        if choice < 0.25:
            return Compare(self.random.choice(("<", "<", ">=")), own, bound)
        if choice < 0.35:
            return Joined("&&", Compare(">=", own, Constant(1)), Compare("<", own, bound))
        if choice < 0.42:
            return Compare("==", own, Constant(self.random.choice((0, 0, 5))))
        if choice < 0.5:
            block = Binary("/", own, Constant(self.random.choice((1, 3, 5, 9))))
            return Compare("==", Binary("&", block, Constant(1)), Constant(self.random.randint(0, 1)))
        limit = Binary("%", self.expression(scope, True, 1), Constant(60))
        return Compare(self.random.choice(("<", "<=", ">")), own, limit)
