"""Random C functions made of loop nests, that stay inside of their arrays and overflow nowhere.

Each iterator has a size that it stays below, with a margin on both sides; an index is drawn from those that the
margins and the array's border allow. Whole expressions carry the most that they may come to.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace

WHOLE = ("int", "unsigned char", "long", "unsigned int", "short")
REAL = ("float", "double")
# A C function may call its variables what OpenCL C has other uses for, or what the kernels' own names are.
HARD_NAMES = [
    "kernel",
    "global",
    "local",
    "constant",
    "private",
    "half",
    "uint",
    "uchar",
    "ulong",
    "float4",
    "image2d_t",
    "event_t",
    "min",
    "max",
    "step",
    "distance",
    "dot",
    "get_global_id",
    "convert_int",
    "as_float",
    "exp",
    "cos",
    "c0",
    "c1",
    "p0",
    "p1",
    "t0",
    "t1",
    "l0",
    "l1",
    "S1",
    "mod",
    "floor",
]
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


@dataclass
class DrawnNest:
    """A function: its text, its sizes, its other numbers, its arrays; whether results may differ a little."""

    text: str
    sizes: list[str]
    numbers: list[str]
    arrays: list[DrawnArray]
    is_inexact: bool


@dataclass(frozen=True)
class _Scope:
    iterators: tuple[Iterator, ...] = ()
    scalars: tuple[tuple[str, str], ...] = ()
    depth: int = 0


@dataclass
class _Drawing:
    random: random.Random
    names: list[str] = field(default_factory=list)
    is_inexact: bool = False
    statements: int = 0

    # Names.

    def name(self, plain: str) -> str:
        """A new name, hard ones among them."""
        choices = [each for each in HARD_NAMES if each not in self.names]
        found = self.random.choice(choices) if self.is_hard and self.random.random() < 0.3 else plain
        while found in self.names:
            found += "x"
        self.names.append(found)
        return found

    def function(self) -> DrawnNest:
        rnd = self.random
        self.is_hard = rnd.random() < 0.25
        function = self.name("f")
        function += "_" * (function in LIBRARY_NAMES)
        self.size_type = rnd.choice(["int"] * 7 + ["long", "unsigned", "size_t", "const int"])
        self.is_unsigned = self.size_type in ("unsigned", "size_t")
        self.sizes = [self.name(each) for each in ("n", "m", "l")[: rnd.randint(1, 3)]]
        self.steps = self.name("steps") if rnd.random() < 0.3 else ""
        self.alpha, self.alpha_type = self.name("alpha"), rnd.choice(("float", "double", "float", "int"))
        self.is_record = rnd.random() < 0.2
        self.mathematical = rnd.random() < 0.15
        spellings = ["vla", "flat", "macro", "global", "pointer"] if not self.is_record else ["record"]
        self.arrays = []
        for number in range(rnd.randint(2, 5)):
            dims = tuple(self._dim() for _ in range(rnd.choice((1, 1, 2, 2, 2, 3))))
            element = rnd.choice(
                ("float",) * 5
                + ("double", "double", "int", "int", "unsigned char", "long", "unsigned int", "short")
            )
            name = self.name("abcdeg"[number])
            spelling = rnd.choice(spellings)
            if len(dims) == 3 and rnd.random() < 0.8:  # flat ones are mostly refused: an index has no iterator
                dims, spelling = (dims, "vla") if not self.is_record else (dims[1:], spelling)
            # The C library's headers know some of the hard names.
            self.arrays.append(
                DrawnArray(
                    name, element, dims, "vla" if name in LIBRARY_NAMES and spelling == "global" else spelling
                )
            )
        if rnd.random() < 0.15 and not self.is_record:
            dims = tuple(self._dim() for _ in range(rnd.choice((1, 2))))
            self.arrays.append(DrawnArray(self.name("tmp"), "float", dims, "vla", is_local=True))
        lines = self._beginning()
        if self.steps and rnd.random() < 0.5:
            lines += self._stencil()
        lines += self._block(_Scope(), rnd.randint(1, 3))
        if not any("for (" in line for line in lines):
            lines += self._loop(_Scope())
        return DrawnNest(
            self._text(function, lines), self._all_sizes(), [self.alpha], self.arrays, self.is_inexact
        )

    def _all_sizes(self) -> list[str]:
        return [*self.sizes, *[self.steps] * bool(self.steps)]

    def _dim(self) -> tuple[str, int]:
        return self.random.choice(self.sizes), self.random.choice((0, 0, 0, 1, 2))

    # The text around.

    def _text(self, function: str, lines: list[str]) -> str:
        head = [
            "#include <math.h>",
            "#include <stddef.h>",
            "#include <stdlib.h>",
            "typedef float real;",
            "enum { FOUR = 4, FIVE };",
        ]
        sizes = [(self.size_type, each) for each in self.sizes] + [("int", self.steps)] * bool(self.steps)
        parameters = [f"{type_} {name}" for type_, name in sizes] + [f"{self.alpha_type} {self.alpha}"]
        if self.is_record:
            members = [f"{type_.replace('const ', '')} {name};" for type_, name in sizes]
            members += [f"{self.alpha_type} {self.alpha};"]
            members += [f"{each.element} *{each.name};" for each in self.arrays]
            head.append(f"struct problem {{ {' '.join(members)} }};")
            parameters = ["struct problem *problem"]
        restrict = "restrict" if self.random.random() < 0.7 else ""
        for each in self.arrays:
            element = "real" if each.element == "float" and self.random.random() < 0.2 else each.element
            inner = "".join(f"[{extent}]" for extent in each.extents[1:])
            if each.is_local:
                continue
            if each.spelling == "global":
                head.append(f"static {element} {each.name}{'[18]' * len(each.dims)};")
            elif each.spelling == "vla":
                parameters.append(
                    f"{element} {each.name}[{restrict}]{inner}"
                    if inner
                    else f"{element} {each.name}[{each.extents[0]}]"
                )
            elif each.spelling in ("flat", "macro", "pointer"):
                parameters.append(f"{element} *{restrict} {each.name}")
                if each.spelling == "macro" and len(each.dims) == 2:
                    head.append(f"#define AT_{each.name}(q, r) {each.name}[(q) * ({each.extents[1]}) + (r)]")
        indented = [f"    {line}" for line in lines]
        return "\n".join([*head, f"void {function}({', '.join(parameters)})", "{", *indented, "}", ""])

    def _beginning(self) -> list[str]:
        lines = []
        if self.is_record:
            type_ = "int" if not self.is_unsigned and self.size_type != "long" else self.size_type
            lines += [f"const {type_} {name} = problem->{name};" for name in self._all_sizes()]
            lines += [f"const {self.alpha_type} {self.alpha} = problem->{self.alpha};"]
        for each in self.arrays:
            if each.is_local:
                extents = "".join(f"[{extent}]" for extent in each.extents)
                lines.append(f"{each.element} {each.name}{extents};")
                indices = [f"q{number}" for number in range(len(each.dims))]
                heads = [
                    f"for (int {q} = 0; {q} < {extent}; {q}++)"
                    for q, extent in zip(indices, each.extents, strict=True)
                ]
                lines.append(" ".join(heads) + f" {each.name}{''.join(f'[{q}]' for q in indices)} = 0.5f;")
        return lines

    # Statements.

    def _block(self, scope: _Scope, count: int) -> list[str]:
        lines: list[str] = []
        for _ in range(count):
            chance = self.random.random()
            if scope.depth and chance < 0.25:
                added, scope = self._declaration(scope)
                lines += added
            elif chance < (0.35 if scope.depth else 0.05) and (scope.iterators or not self.is_unsigned):
                lines += self._if(scope)
            elif chance < 0.65 and scope.depth < 4 and self.statements < 6:
                lines += self._loop(scope)
            elif scope.depth or chance < 0.7:
                lines += self._assignment(scope)
            else:
                lines += self._loop(scope)
        return lines

    def _declaration(self, scope: _Scope) -> tuple[list[str], _Scope]:
        type_ = self.random.choice(
            ("float", "float", "double", "int", "const float", "const int", "const double", "long")
        )
        value = self._value(type_.replace("const ", ""), scope, 2)
        name = self.name("s")
        if type_.startswith("const"):
            return [f"{type_} {name} = {value};"], replace(scope, scalars=(*scope.scalars, (name, type_)))
        return [f"{type_} {name} = {value};"], replace(scope, scalars=(*scope.scalars, (name, type_)))

    def _if(self, scope: _Scope) -> list[str]:
        lines = [
            f"if ({self._condition(scope)}) {{",
            *self._indented(self._block(scope, self.random.randint(1, 2))),
        ]
        if self.random.random() < 0.4:
            lines += ["} else {", *self._indented(self._block(scope, 1))]
        return [*lines, "}"]

    def _indented(self, lines: list[str]) -> list[str]:
        return [f"    {line}" for line in lines]

    def _condition(self, scope: _Scope) -> str:
        rnd = self.random
        names = [each.name for each in scope.iterators if each.type == "int"]
        size = rnd.choice(self.sizes)
        one, two = (rnd.choice(names) if names else size for _ in range(2))
        choices = [
            f"{one} % {rnd.randint(2, 3)} == {rnd.randint(0, 1)}", f"{one} > {rnd.randint(0, 3)}",
            f"{one} <= {two}", f"{one} != {rnd.randint(0, 4)}", f"{one} == 0 || {two} > 2",
            f"{size} > {rnd.randint(0, 4)}", f"!({one} == {two})", f"{one} / 2 == 1", f"{one} + {two} < {size}",
        ]  # fmt: skip
        if not self.is_unsigned:
            choices += [f"({one} - {two}) % 2 == 0", f"{one} < {size} - 2 && {two} >= 1", f"{one} - {two} > -2"]
        return rnd.choice(choices)

    def _loop(self, scope: _Scope) -> list[str]:
        rnd = self.random
        name = self.name("ijkpqr"[min(scope.depth, 5)]) if rnd.random() < 0.5 else "ijkpqr"[min(scope.depth, 5)]
        if (
            any(each.name == name for each in scope.iterators)
            or name in self.sizes
            or any(each.name == name for each in self.arrays)
        ):
            name = self.name("w")
        type_ = (
            rnd.choice(["int"] * 8 + ["long", "unsigned", "size_t"])
            if not self.is_unsigned
            else rnd.choice(["int", "unsigned", "size_t"])
        )
        is_signed = type_ in ("int", "long") and not self.is_unsigned
        size = rnd.choice(self.sizes)
        low, margin, step = (
            rnd.choice((0, 0, 0, 1, 2)),
            rnd.choice((0, 0, 0, 1, 2)) if is_signed else 0,
            rnd.choice((1, 1, 1, 1, 2, 3)),
        )
        if self.steps and not scope.depth and rnd.random() < 0.4:
            time = Iterator(name, self.steps, 0, 0)
            return self._looped(f"for (int {name} = 0; {name} < {self.steps}; {name}++)", time, scope)
        behind = size if not margin else f"{size} - {margin}"
        outer = [each for each in scope.iterators if each.size in self.sizes and not each.is_half]
        counting = f"{name}++" if step == 1 else f"{name} += {step}"
        kind = rnd.choice(
            ("up", "up", "up", "up", "triangle", "triangle", "below", "down", "half", "both", "last", "constant")
        )
        if kind in ("triangle", "below") and outer and is_signed:
            other = rnd.choice(outer)
            if kind == "triangle":
                added = rnd.randint(0, 1)
                margin = rnd.choice((0, margin))
                behind = other.size if not margin else f"{other.size} - {margin}"
                first = f"{other.name} + {added}" if added else other.name
                head = f"for ({type_} {name} = {first}; {name} < {behind}; {counting})"
                return self._looped(head, Iterator(name, other.size, other.low + added, margin, type_), scope)
            relation = rnd.choice(("<", "<="))
            low = min(low, 1)
            behind_own = other.margin + (relation == "<")
            return self._looped(
                f"for ({type_} {name} = {low}; {name} {relation} {other.name}; {counting})",
                Iterator(name, other.size, low, behind_own, type_),
                scope,
            )
        if kind == "down" and is_signed:
            first = f"{size} - {1 + margin}"
            down = f"{name}--" if step == 1 else f"{name} -= {step}"
            return self._looped(
                f"for ({type_} {name} = {first}; {name} >= {low}; {down})",
                Iterator(name, size, low, margin, type_),
                scope,
            )
        if kind == "half":
            return self._looped(
                f"for ({type_} {name} = 0; {name} < {size} / 2; {name}++)",
                Iterator(name, size, 0, 0, type_, is_half=True),
                scope,
            )
        if kind == "both" and len(self.sizes) > 1 and type_ == "int" and not self.is_unsigned:
            other_size = rnd.choice([each for each in self.sizes if each != size])
            return self._looped(
                f"for (int {name} = {low}; {name} < {behind} && {name} < {other_size}; {counting})",
                Iterator(name, size, low, margin),
                scope,
            )
        if kind == "last" and is_signed and self.size_type in ("int", "const int"):
            last = self.name("last")
            head = f"for ({type_} {name} = {low}; {name} <= {last}; {counting})"
            return [
                f"const int {last} = {size} - {1 + margin};",
                *self._looped(head, Iterator(name, size, low, margin, type_), scope),
            ]
        if kind == "constant":
            head = f"for ({type_} {name} = 0; {name} < {rnd.choice(('3', 'FOUR'))}; {name}++)"
            return self._looped(head, Iterator(name, "", 0, 0, type_), scope)
        return self._looped(
            f"for ({type_} {name} = {low}; {name} < {behind}; {counting})",
            Iterator(name, size, low, margin, type_),
            scope,
        )

    def _looped(self, head: str, iterator: Iterator, scope: _Scope) -> list[str]:
        inner = replace(scope, iterators=(*scope.iterators, iterator), depth=scope.depth + 1)
        wanted = 1 if scope.depth else self.random.randint(1, 2)
        lines = self._block(inner, self.random.randint(wanted, 3))
        return [f"{head} {{", *self._indented(lines), "}"]

    def _assignment(self, scope: _Scope) -> list[str]:
        rnd = self.random
        self.statements += 1
        changing = [each for each in scope.scalars if not each[1].startswith("const")]
        if changing and rnd.random() < 0.3:
            name, type_ = rnd.choice(changing)
            if type_ in WHOLE:
                return [f"{name} = {self._whole(scope, 2, 500)};"]
            sign = rnd.choice(("=", "+=", "-=", "*="))
            return [f"{name} {sign} {self._value(type_, scope, 2)};"]
        # Iterations mostly write elements of their own.
        tried = rnd.sample(self.arrays, min(3, len(self.arrays)))
        sizes = {each.size for each in scope.iterators}
        array = max(tried, key=lambda each: sum(size in sizes for size, _ in each.dims) - len(each.dims))
        before, target = self._access(array, scope, is_written=True)
        if array.element in WHOLE:
            text, bound = self._bounded(scope, 2, 100)
            sign = rnd.choice(("=", "=", "=", "+=")) if array.element in ("int", "long") else "="
            return [*before, f"{target} {sign} {text};" if bound <= 100 else f"{target} = ({text}) % 100;"]
        if rnd.random() < 0.05:
            return [*before, f"{target}++;"]
        sign = rnd.choice(("=", "=", "=", "+=", "+=", "-=", "*="))
        value = self._value(array.element, scope, 3)
        if rnd.random() < 0.15:
            value, sign = f"{target} + {value}", "="
        if sign == "*=":
            value = f"({value}) * 0.25f"
        return [*before, f"{target} {sign} {value};"]

    def _stencil(self) -> list[str]:
        """A stencil in a loop over time: from one array to another and back, or in place."""
        rnd = self.random
        size = rnd.choice(self.sizes)
        if self.is_unsigned:
            return []
        first, second = (
            DrawnArray(
                self.name(each),
                "float",
                ((size, 0),) * 2,
                "record" if self.is_record else rnd.choice(("vla", "flat")),
            )
            for each in "uv"
        )
        self.arrays += [first, second]
        t, i, j = "t", "i", "j"
        loops = f"for (int {i} = 1; {i} < {size} - 1; {i}++) for (int {j} = 1; {j} < {size} - 1; {j}++)"

        def at(array: DrawnArray, row: str, column: str) -> str:
            return self._element(array, [row, column])[1]

        def step(to: DrawnArray, of: DrawnArray) -> str:
            near = [(f"{i} - 1", j), (f"{i} + 1", j), (i, f"{j} - 1"), (i, f"{j} + 1")]
            return f"{loops} {at(to, i, j)} = 0.25f * ({' + '.join(at(of, *each) for each in near)});"

        body = [
            step(second, first),
            rnd.choice((step(first, second), f"{loops} {at(first, i, j)} = {at(second, i, j)};")),
        ]
        if rnd.random() < 0.25:
            body = [f"{loops} {at(first, i, j)} = 0.5f * ({at(first, i, j)} + {at(second, i, j)});", *body]
        if rnd.random() < 0.3:
            body.append(
                f"{at(first, '0', '0')} += 1;"
                if rnd.random() < 0.5
                else f"for (int {i} = 0; {i} < {size}; {i}++) {at(first, '0', i)} = {t};"
            )
        self.statements += 3
        return [f"for (int {t} = 0; {t} < {self.steps}; {t}++) {{", *self._indented(body), "}"]

    # Elements.

    def _access(self, array: DrawnArray, scope: _Scope, *, is_written: bool = False) -> tuple[list[str], str]:
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

    def _index(self, dim: tuple[str, int], scope: _Scope) -> str:
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

    def _value(self, type_: str, scope: _Scope, depth: int) -> str:
        if type_ in WHOLE:
            return self._bounded(scope, depth, 100)[0]
        return self._real(scope, depth)

    def _real(self, scope: _Scope, depth: int) -> str:
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
                    f"exp(-fabs({one}))",
                    f"powf(fabsf({one}) + 1, 0.5f)",
                    f"hypot({one}, {two})",
                )
            )
        return f"({rnd.choice(('float', 'double', 'real'))})({one})"

    def _real_leaf(self, scope: _Scope) -> str:
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

    def _bounded(self, scope: _Scope, depth: int, most: int) -> tuple[str, int]:
        text, bound = self._whole_with_bound(scope, depth)
        if bound > most:
            return f"({text}) % {most}", most
        return text, bound

    def _whole(self, scope: _Scope, depth: int, most: int) -> str:
        return self._bounded(scope, depth, most)[0]

    def _whole_with_bound(self, scope: _Scope, depth: int) -> tuple[str, int]:
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

    def _whole_leaf(self, scope: _Scope) -> tuple[str, int]:
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


def drawn(seed: int) -> DrawnNest:
    """Return the function of a seed."""
    return _Drawing(random.Random(seed)).function()
