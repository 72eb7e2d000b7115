"""The thirteen nests, each in three spellings of C: arrays of variable length, flat indices, macros over a record.

In the texts below an element is written as a call, `a(i, k)`; `@` stands before loops that OpenMP is told of.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

Spelled = Callable[[str, list[str]], str]


@dataclass(frozen=True)
class CNest:
    """A nest: its whole arguments, its arrays with their extents, its body, and which loops are parallel."""

    sizes: str
    arrays: dict[str, str]
    body: str
    parallel: str
    numbers: str = ""

    def vla(self, name: str) -> str:
        return self._text(
            name, lambda array, indices: array + "".join(f"[{each}]" for each in indices), is_flat=False
        )

    def flat(self, name: str) -> str:
        return self._text(name, lambda array, indices: f"{array}[{self._index(array, indices)}]", is_flat=True)

    def _text(self, name: str, spelled: Spelled, *, is_flat: bool) -> str:
        arrays = (
            f"float *restrict {array}"
            if is_flat
            else f"float {array}[restrict {extents.split()[0]}]"
            + "".join(f"[{each}]" for each in extents.split()[1:])
            for array, extents in self.arrays.items()
        )
        arguments = [f"int {each}" for each in self.sizes.split()]
        arguments += [f"float {each}" for each in self.numbers.split()] + list(arrays)
        return (
            f"#include <math.h>\nvoid {name}({', '.join(arguments)})\n{{{self._body(spelled).replace('@', '')}}}\n"
        )

    def macros(self, name: str) -> str:
        fields = [f"int {each};" for each in self.sizes.split()]
        fields += [f"real {each};" for each in self.numbers.split()] + [f"real *{each}_;" for each in self.arrays]
        defined = []
        for array, extents in self.arrays.items():
            letters = [f"q{number}" for number in range(len(extents.split()))]
            index = self._index(array, letters)
            defined.append(f"#define {array}({', '.join(letters)}) (problem->{array}_[{index}])")
        known = [f"const int {each} = problem->{each};" for each in self.sizes.split()]
        known += [f"const real {each} = problem->{each};" for each in self.numbers.split()]
        body = self.body.replace("@", "\n#pragma omp parallel for schedule(static)\n").replace("float", "real")
        return "\n".join(
            [
                "#include <math.h>",
                "typedef float real;",
                f"struct problem {{ {' '.join(fields)} }};",
                *defined,
                f"void {name}(const struct problem *problem)",
                "{",
                *known,
                body,
                "}\n",
            ]
        )

    def _index(self, array: str, indices: list[str]) -> str:
        extents = self.arrays[array].split()
        index = f"({indices[0]})"
        for extent, each in zip(extents[1:], indices[1:], strict=True):
            index = f"({index}) * {extent} + ({each})"
        return index

    def _body(self, spelled: Spelled) -> str:
        pattern = rf"\b({'|'.join(self.arrays)})\(([^()]*)\)"
        return re.sub(pattern, lambda m: spelled(m[1], [each.strip() for each in m[2].split(",")]), self.body)


def loop(iterator: str, first: str, last: str) -> str:
    return f"for (int {iterator} = {first}; {iterator} < {last}; {iterator}++)"


OVER_I, OVER_J = (loop(each, "0", "n") for each in "ij")

NESTS = {
    "mv": CNest(
        "n", {"a": "n n", "x": "n", "y": "n"}, f"@{OVER_I} {{ x(i) = 0; {OVER_J} x(i) += a(i, j) * y(j); }}", "10"
    ),
    "tmv": CNest(
        "n", {"a": "n n", "x": "n", "y": "n"}, f"@{OVER_I} {{ x(i) = 0; {OVER_J} x(i) += a(j, i) * y(j); }}", "10"
    ),
    "mvt": CNest(
        "n",
        {"a": "n n", "x1": "n", "x2": "n", "y1": "n", "y2": "n"},
        f"@{OVER_I} {OVER_J} x1(i) += a(i, j) * y1(j); @{OVER_I} {OVER_J} x2(i) = x2(i) + a(j, i) * y2(j);",
        "1010",
    ),
    "mm": CNest(
        "n m l",
        {"a": "n l", "b": "l m", "c": "n m"},
        f"@{OVER_I} {loop('j', '0', 'm')} {{ c(i, j) = 0; {loop('k', '0', 'l')} c(i, j) += a(i, k) * b(k, j); }}",
        "110",
    ),
    "mri_q": CNest(
        "nk nx",
        dict.fromkeys(("pr", "pi", "mag", "kx", "ky", "kz"), "nk")
        | dict.fromkeys(("x", "y", "z", "qr", "qi"), "nx"),
        f"""@{loop("k", "0", "nk")} mag(k) = pr(k) * pr(k) + pi(k) * pi(k);
        @{loop("p", "0", "nx")} {{
            float real_part = 0, imaginary = 0;
            {loop("k", "0", "nk")} {{
                const float angle = 6.2831853f * (kx(k) * x(p) + ky(k) * y(p) + kz(k) * z(p));
                real_part += mag(k) * cosf(angle);
                imaginary += mag(k) * sinf(angle);
            }}
            qr(p) = real_part;
            qi(p) = imaginary;
        }}""",
        "110",
    ),
    "mri_fhd": CNest(
        "nk nx",
        dict.fromkeys(("pr", "pi", "dr", "di", "rr", "ri", "kx", "ky", "kz"), "nk")
        | dict.fromkeys(("x", "y", "z", "fr", "fi"), "nx"),
        f"""float angle, c, s;
        {loop("k", "0", "nk")} {{
            rr(k) = pr(k) * dr(k) + pi(k) * di(k);
            ri(k) = pr(k) * di(k) - pi(k) * dr(k);
        }}
        {loop("p", "0", "nx")}
            {loop("k", "0", "nk")} {{
                angle = 6.2831853f * (kx(k) * x(p) + ky(k) * y(p) + kz(k) * z(p));
                c = cosf(angle);
                s = sinf(angle);
                fr(p) += rr(k) * c - ri(k) * s;
                fi(p) += ri(k) * c + rr(k) * s;
            }}""",
        "110",
    ),
    "fdtd_2d": CNest(
        "steps nx ny",
        {"ex": "nx ny", "ey": "nx ny", "hz": "nx ny", "f": "steps"},
        f"""{loop("t", "0", "steps")} {{
            @{loop("j", "0", "ny")} ey(0, j) = f(t);
            @{loop("i", "1", "nx")} {loop("j", "0", "ny")} ey(i, j) = ey(i, j) - 0.5f * (hz(i, j) - hz(i - 1, j));
            @{loop("i", "0", "nx")} {loop("j", "1", "ny")} ex(i, j) = ex(i, j) - 0.5f * (hz(i, j) - hz(i, j - 1));
            @{loop("i", "0", "nx - 1")} {loop("j", "0", "ny - 1")}
                hz(i, j) = hz(i, j) - 0.7f * (ex(i, j + 1) - ex(i, j) + ey(i + 1, j) - ey(i, j));
        }}""",
        "01111111",
    ),
    "jacobi_2d": CNest(
        "steps n",
        {"a": "n n", "b": "n n"},
        f"""{loop("t", "0", "steps")} {{
            @{loop("i", "1", "n - 1")} {loop("j", "1", "n - 1")}
                b(i, j) = 0.2f * (a(i, j) + a(i, j - 1) + a(i, j + 1) + a(i + 1, j) + a(i - 1, j));
            @{loop("i", "1", "n - 1")} {loop("j", "1", "n - 1")} a(i, j) = b(i, j);
        }}""",
        "01111",
    ),
    "syrk": CNest(
        "n m",
        {"a": "n m", "c": "n n"},
        f"""@{OVER_I} {{
            for (int j = 0; j <= i; j++) c(i, j) *= beta;
            {loop("k", "0", "m")} for (int j = 0; j <= i; j++) c(i, j) += alpha * a(i, k) * a(j, k);
        }}""",
        "1101",
        "alpha beta",
    ),
    "gemver": CNest(
        "n",
        {"a": "n n"} | dict.fromkeys(("u1", "v1", "u2", "v2", "x", "y", "z", "w"), "n"),
        f"""@{OVER_I} {OVER_J} a(i, j) = a(i, j) + u1(i) * v1(j) + u2(i) * v2(j);
        @{OVER_I} {OVER_J} x(i) = x(i) + beta * a(j, i) * y(j);
        @{OVER_I} x(i) = x(i) + z(i);
        @{OVER_I} {OVER_J} w(i) = w(i) + alpha * a(i, j) * x(j);""",
        "1110110",
        "alpha beta",
    ),
    "doitgen": CNest(
        "nr nq np",
        {"a": "nr nq np", "c4": "np np", "sum": "np"},
        f"""{loop("r", "0", "nr")} {loop("q", "0", "nq")} {{
            @{loop("p", "0", "np")} {{ sum(p) = 0; {loop("s", "0", "np")} sum(p) += a(r, q, s) * c4(s, p); }}
            @{loop("p", "0", "np")} a(r, q, p) = sum(p);
        }}""",
        "00101",
    ),
    "heat_3d": CNest(
        "steps n",
        {"a": "n n n", "b": "n n n"},
        f"{loop('t', '1', 'steps')} {{"
        + "".join(
            f"""@{loop("i", "1", "n - 1")} {loop("j", "1", "n - 1")} {loop("k", "1", "n - 1")}
                {to}(i, j, k) = 0.125f * ({of}(i + 1, j, k) - 2.0f * {of}(i, j, k) + {of}(i - 1, j, k))
                    + 0.125f * ({of}(i, j + 1, k) - 2.0f * {of}(i, j, k) + {of}(i, j - 1, k))
                    + 0.125f * ({of}(i, j, k + 1) - 2.0f * {of}(i, j, k) + {of}(i, j, k - 1)) + {of}(i, j, k);"""
            for of, to in ("ab", "ba")
        )
        + "}",
        "0111111",
    ),
    "correlation": CNest(
        "n m",
        {"data": "n m", "corr": "m m", "mean": "m", "dev": "m"},
        f"""const int last = m - 1;
        @{loop("j", "0", "m")} {{ mean(j) = 0; {OVER_I} mean(j) += data(i, j); mean(j) /= (float)n; }}
        @{loop("j", "0", "m")} {{
            dev(j) = 0;
            {OVER_I} dev(j) += (data(i, j) - mean(j)) * (data(i, j) - mean(j));
            dev(j) = sqrtf(dev(j) / n);
            dev(j) = dev(j) <= 0.1f ? 1.0f : dev(j);
        }}
        @{OVER_I} {loop("j", "0", "m")} {{ data(i, j) -= mean(j); data(i, j) /= sqrtf((float)n) * dev(j); }}
        @{loop("i", "0", "last")} {{
            corr(i, i) = 1;
            {loop("j", "i + 1", "m")} {{
                corr(i, j) = 0;
                {loop("k", "0", "n")} corr(i, j) += data(k, i) * data(k, j);
                corr(j, i) = corr(i, j);
            }}
        }}
        corr(last, last) = 1;""",
        "101011110",
    ),
}
