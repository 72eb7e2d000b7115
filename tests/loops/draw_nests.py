"""Random C functions made of loop nests, that stay inside of their arrays and overflow nowhere."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace

from tests.loops.draw_values import LIBRARY_NAMES, WHOLE, DrawnArray, Expressions, Iterator, Scope


@dataclass
class DrawnNest:
    """A function: its text, its sizes, its other numbers, its arrays; whether results may differ a little."""

    text: str
    sizes: list[str]
    numbers: list[str]
    arrays: list[DrawnArray]
    is_inexact: bool


@dataclass
class _Drawing(Expressions):
    statements: int = 0
    seed: int = 0
    is_summing: bool = False

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
        self.is_summing = self.seed % 4 == 1
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
        if self.is_summing:
            lines += self._sums() + self._sums() * (rnd.random() < 0.3)
        else:
            lines += self._block(Scope(), rnd.randint(1, 3))
        if not any("for (" in line for line in lines):
            lines += self._loop(Scope())
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

    def _block(self, scope: Scope, count: int) -> list[str]:
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

    def _sums(self) -> list[str]:
        """A loop in which each iteration makes a sum for an element of its own."""
        array, index = self.random.choice(self.arrays), self.name("row")
        size = array.dims[0][0]
        lines = self._sum(Scope((Iterator(index, size, 0, 0),), (), 1), array)
        return [f"for (int {index} = 0; {index} < {size}; {index}++) {{", *self._indented(lines), "}"]

    def _sum(self, scope: Scope, array: DrawnArray) -> list[str]:
        """A sum that lanes may share: exact in any order: of whole numbers, quarters, powers of 2."""
        rnd = self.random
        self.statements += 1
        size, name, index = rnd.choice(self.sizes), self.name("sum"), self.name("z")
        inner = replace(scope, iterators=(*scope.iterators, Iterator(index, size, 0, 0)), depth=scope.depth + 1)
        whole, real = self._whole(inner, 2, 100), self._real(inner, 1)
        type_ = rnd.choice(("float", "float", "double", "int", "unsigned int", "unsigned char"))
        if type_ in WHOLE:
            operator = rnd.choice("+-*&|^")
            added = f"{name} {operator}= {whole};"
        else:
            operator, added = rnd.choice(
                (
                    ("+", f"{name} += 0.25f * ({whole});"),
                    ("-", f"{name} = {name} - ({whole});"),
                    ("*", f"{name} *= ({whole}) % 2 == 0 ? 2 : 0.5f;"),
                    ("max", f"{name} = fmax({name}, {real});"),
                )
            )
        loop = [f"for (int {index} = 0; {index} < {size}; {index}++) {{", f"    {added}", "}"]
        if rnd.random() < 0.3:
            loop[1] = f"    if ({self._condition(inner)}) {added}"
        if type_ not in WHOLE or rnd.random() < 0.5:
            loop.insert(0, f"#pragma omp simd reduction({operator}:{name})")
        kept = replace(scope, scalars=(*scope.scalars, (name, type_)))
        before, target = self._access(array, kept, is_written=True)
        value = name if array.element not in WHOLE else f"(int){name} % 100" if type_ in WHOLE else "1"
        return [f"{type_} {name} = {rnd.randint(0, 3)};", *loop, *before, f"{target} = {value};"]

    def _declaration(self, scope: Scope) -> tuple[list[str], Scope]:
        type_ = self.random.choice(
            ("float", "float", "double", "int", "const float", "const int", "const double", "long")
        )
        value = self._value(type_.replace("const ", ""), scope, 2)
        name = self.name("s")
        if type_.startswith("const"):
            return [f"{type_} {name} = {value};"], replace(scope, scalars=(*scope.scalars, (name, type_)))
        return [f"{type_} {name} = {value};"], replace(scope, scalars=(*scope.scalars, (name, type_)))

    def _if(self, scope: Scope) -> list[str]:
        lines = [
            f"if ({self._condition(scope)}) {{",
            *self._indented(self._block(scope, self.random.randint(1, 2))),
        ]
        if self.random.random() < 0.4:
            lines += ["} else {", *self._indented(self._block(scope, 1))]
        return [*lines, "}"]

    def _indented(self, lines: list[str]) -> list[str]:
        return [f"    {line}" for line in lines]

    def _condition(self, scope: Scope) -> str:
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

    def _loop(self, scope: Scope) -> list[str]:
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

    def _looped(self, head: str, iterator: Iterator, scope: Scope) -> list[str]:
        inner = replace(scope, iterators=(*scope.iterators, iterator), depth=scope.depth + 1)
        wanted = 1 if scope.depth else self.random.randint(1, 2)
        lines = self._block(inner, self.random.randint(wanted, 3))
        return [f"{head} {{", *self._indented(lines), "}"]

    def _assignment(self, scope: Scope) -> list[str]:
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


def drawn(seed: int) -> DrawnNest:
    """Return the function of a seed."""
    return _Drawing(random.Random(seed), seed=seed).function()
