"""Random indices and values of C: indices inside of arrays, whole numbers that overflow nowhere.

Each iterator has a size that it stays below, with a margin on both sides; an index is drawn from those that the
margins and the array's border allow. Whole expressions carry the most that they may come to.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace

WHOLE = ("int", "unsigned char", "long", "unsigned int", "short")
REAL = ("float", "double")
# A C function may call its variables what OpenCL C has other uses for, or what the kernels' own names are.
HARD_NAMES = (
    "kernel", "global", "local", "constant", "private", "half", "uint", "uchar", "ulong", "float4",
    "image2d_t", "event_t", "min", "max", "step", "distance", "dot", "get_global_id", "convert_int",
    "as_float", "exp", "cos", "c0", "c1", "p0", "p1", "t0", "t1", "l0", "l1", "S1", "mod", "floor",
)  # fmt: skip
LIBRARY_NAMES = frozenset(("ulong", "uint", "exp", "cos", "floor"))
MOST = 1 << 30


@dataclass(frozen=True)
class Iterator:
    """An iterator: it stays from `low` to the size less `margin`, less one; `half` of the size if `is_half`."""

    name: str
    size: str
    low: int
    margin: int
    type: str = "int"
    is_half: bool = False


@dataclass(frozen=True)
class DrawnArray:
    """An array: of each dimension the size and what is added to it; how the source spells it."""

    name: str
    element: str
    dims: tuple[tuple[str, int], ...]
    spelling: str
    is_local: bool = False

    @property
    def extents(self) -> list[str]:
        return [size if not pad else f"{size} + {pad}" for size, pad in self.dims]


@dataclass(frozen=True)
class Scope:
    """What stands around a statement: iterators, variables with their types, the number of loops."""

    iterators: tuple[Iterator, ...] = ()
    scalars: tuple[tuple[str, str], ...] = ()
    depth: int = 0


@dataclass
class Expressions:
    """Draws elements and values of a function's arrays, sizes and other numbers."""

    random: random.Random
    names: list[str] = field(default_factory=list)
    arrays: list[DrawnArray] = field(default_factory=list)
    sizes: list[str] = field(default_factory=list)
    size_type: str = "int"
    alpha: str = ""
    is_hard: bool = False
    is_unsigned: bool = False
    is_inexact: bool = False
    mathematical: bool = False

    # Names.

    def name(self, plain: str) -> str:
        """A new name, hard ones among them."""
        choices = [each for each in HARD_NAMES if each not in self.names]
        found = self.random.choice(choices) if self.is_hard and self.random.random() < 0.3 else plain
        while found in self.names:
            found += "x"
        self.names.append(found)
        return found

    # Elements.

    def _access(self, array: DrawnArray, scope: Scope, *, is_written: bool = False) -> tuple[list[str], str]:
        """An element inside of its array, and what has to stand before the statement."""
        indices: list[str] = []
        for each in array.dims:
            # Iterations mostly write elements of their own.
            fresh = [one for one in scope.iterators if not any(one.name in index for index in indices)]
            indices.append(
                self._index(each, replace(scope, iterators=tuple(fresh)) if is_written and fresh else scope)
            )
        return self._element(array, indices)

    def _element(self, array: DrawnArray, indices: list[str]) -> tuple[list[str], str]:
        rnd = self.random
        if array.spelling in ("global", "vla"):
            return [], array.name + "".join(f"[{each}]" for each in indices)
        if array.spelling == "macro" and len(indices) == 2:
            return [], f"AT_{array.name}({indices[0]}, {indices[1]})"
        base = f"problem->{array.name}" if array.spelling == "record" else array.name
        if array.spelling == "pointer" and len(indices) == 2 and self.size_type != "size_t":
            row = self.name("row")
            element = array.element
            return [f"{element} *{row} = {base} + ({indices[0]}) * ({array.extents[1]});"], f"{row}[{indices[1]}]"
        index = f"({indices[0]})"
        for extent, each in zip(array.extents[1:], indices[1:], strict=True):
            extent = f"({extent})"
            index = rnd.choice((f"({index}) * {extent} + ({each})", f"({each}) + {extent} * ({index})"))
        return [], f"{base}[{index}]"

    def _index(self, dim: tuple[str, int], scope: Scope) -> str:
        size, pad = dim
        rnd = self.random
        found = []
        for each in scope.iterators:
            if each.size != size:
                continue
            if each.is_half:
                found += [each.name, f"2 * {each.name}", f"2 * {each.name} + 1"]
                continue
            found += [each.name] * 4
            found += [f"{each.name} - {shift}" for shift in range(1, each.low + 1)]
            found += [f"{each.name} + {shift}" for shift in range(1, each.margin + pad + 1)]
            if not self.is_unsigned and each.type == "int":
                found.append(f"{size} - 1 - {each.name}")
        if found and rnd.random() < 0.93:
            return rnd.choice(found)
        return rnd.choice(("0", "0", "0" if self.is_unsigned else f"{size} - 1"))

    # Values.

    def _value(self, type_: str, scope: Scope, depth: int) -> str:
        if type_ in WHOLE:
            return self._bounded(scope, depth, 100)[0]
        return self._real(scope, depth)

    def _real(self, scope: Scope, depth: int) -> str:
        rnd = self.random
        chance = rnd.random()
        if depth == 0 or chance < 0.25:
            return self._real_leaf(scope)
        one, two = self._real(scope, depth - 1), self._real(scope, depth - 1)
        if chance < 0.6:
            return f"({one}) {rnd.choice('+-')} {two}"
        if chance < 0.72:
            return f"0.5f * ({one})"
        if chance < 0.78:
            return f"({one}) / {rnd.choice(('3', '7.0f', '1.5'))}"
        if chance < 0.84 and not self.mathematical:
            return f"((({one}) {rnd.choice(('<', '>', '<='))} ({two})) ? {self._real(scope, depth - 1)} : ({two}))"
        if chance < 0.88 and not self.mathematical:
            test = rnd.choice(
                (f"({one}) < 0.5 && ({two}) > 0", f"!({one})", f"(({one}) > 1) + 1", f"{self._real_leaf(scope)}")
            )
            return f"(({test}) ? {two} : 0.25)"
        if chance < 0.92:
            name = rnd.choice(("fabsf", "fabs", "floorf", "fmaxf", "fmin"))
            return f"{name}({one}, {two})" if "m" in name else f"{name}({one})"
        if self.mathematical:
            self.is_inexact = True
            return rnd.choice(
                (
                    f"sqrtf(fabsf({one}))",
                    f"cosf({one})",
                    f"sin({one})",
                    f"exp{'f' * ('exp' in self.names)}(-fabs({one}))",
                    f"powf(fabsf({one}) + 1, 0.5f)",
                    f"hypot({one}, {two})",
                )
            )
        return f"({rnd.choice(('float', 'double', 'real'))})({one})"

    def _real_leaf(self, scope: Scope) -> str:
        rnd = self.random
        reals = [
            each
            for each in self.arrays
            if each.element in REAL and (each.spelling != "pointer" or len(each.dims) != 2)
        ]
        scalars = [name for name, type_ in scope.scalars if type_.removeprefix("const ") in REAL]
        chance = rnd.random()
        if reals and chance < 0.55:
            return self._access(rnd.choice(reals), scope)[1]
        if scalars and chance < 0.75:
            return rnd.choice(scalars)
        if chance < 0.8:
            return self.alpha
        if chance < 0.9:
            text = self._bounded(scope, 1, 10000)[0]
            return rnd.choice(
                (f"(float)({text})", f"({text}) * 0.125f", f"(double)({text}) / {rnd.randint(3, 9)}")
            )
        return rnd.choice(("0.1f", "0.1", "1.0f", "2", "1e-3", "0.333333333333", "1", "'a' * 0.01f"))

    def _bounded(self, scope: Scope, depth: int, most: int) -> tuple[str, int]:
        text, bound = self._whole_with_bound(scope, depth)
        if bound > most:
            return f"({text}) % {most}", most
        return text, bound

    def _whole(self, scope: Scope, depth: int, most: int) -> str:
        return self._bounded(scope, depth, most)[0]

    def _whole_with_bound(self, scope: Scope, depth: int) -> tuple[str, int]:
        """A whole expression, and the most that its value may be, up to its sign."""
        rnd = self.random
        chance = rnd.random()
        if depth == 0 or chance < 0.3:
            return self._whole_leaf(scope)
        (one, most), (two, other) = (self._whole_with_bound(scope, depth - 1) for _ in range(2))
        if chance < 0.5:
            return f"({one}) {rnd.choice('+-')} ({two})", most + other
        if chance < 0.62 and most * other < MOST:
            return f"({one}) * ({two})", most * other
        if chance < 0.7:
            return f"({one}) / {rnd.randint(2, 5)}", most
        if chance < 0.78:
            return f"({one}) % {rnd.randint(2, 9)}", 9
        if chance < 0.82:
            return f"(({one}) {rnd.choice(('<', '==', '>', '!='))} ({two})) + {rnd.choice(('0', '1'))}", 2
        if chance < 0.86:
            return f"(({one}) > 2 && ({two}) < 9) ? ({one}) : ({two})", max(most, other)
        if chance < 0.9:
            return rnd.choice(
                (
                    (f"(({one}) & 15)", 15),
                    (f"(({one}) >> 1)", most),
                    (f"(1 << (({one}) & 7))", 128),
                    (f"(~({one}) & 31)", 31),
                    (f"(({one}) ^ 3) & 63", 63),
                )
            )
        if chance < 0.94:
            return f"abs((int)({one}))", most
        if chance < 0.97 and most < 256:
            return rnd.choice(
                ((f"(unsigned char)({one})", 255), (f"(long)({one})", most), (f"(short)({one})", most))
            )
        return f"(int)((({one}) % 100) * 0.5f)", 50

    def _whole_leaf(self, scope: Scope) -> tuple[str, int]:
        rnd = self.random
        wholes = [
            each
            for each in self.arrays
            if each.element in WHOLE and (each.spelling != "pointer" or len(each.dims) != 2)
        ]
        scalars = [name for name, type_ in scope.scalars if type_.removeprefix("const ") in WHOLE]
        chance = rnd.random()
        if scope.iterators and chance < 0.35:
            return rnd.choice(scope.iterators).name, 20
        if wholes and chance < 0.65:
            array = rnd.choice(wholes)
            most = 100_000 if array.element in ("int", "long") else 100
            return self._access(array, scope)[1], most
        if scalars and chance < 0.75:
            return rnd.choice(scalars), 500
        if chance < 0.85:
            return rnd.choice(self.sizes), 20
        return rnd.choice((("3", 3), ("1u", 1), ("7L", 7), ("'a'", 97), ("FIVE", 5), ("2", 2), ("0x10", 16)))
