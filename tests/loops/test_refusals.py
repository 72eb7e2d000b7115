"""C functions that are no affine loop nests: each is refused with a code, a line and a column."""

from __future__ import annotations

import re

import pytest

from coarsen.errors import RefusalError
from tests.loops.conftest import Analysed

FOR = "for (int i = 0; i < n; i++) "
FROM_1 = "for (int j = 1; j < n; j++) "
FOR_J = "for (int j = 0; j < n; j++) "
# The mark stands before the place that is named.
REFUSED = {
    "an index that is read": ("not-affine", f"{FOR} a[^b[i]] = 0;"),
    "a product of iterators": ("not-affine", f"{FOR} {FOR_J} ^a[i * j] = 0;"),
    "a quotient as an index": ("not-affine", f"{FOR} a[^i / 2] = 0;"),
    "strides that are no rows": ("not-affine", f"{FOR} {FOR_J} ^a[i * n + j * m] = 0;"),
    "a scalar of the loop as an index": ("not-affine", f"int at = 0; {FOR} {{ at += 2; a[^at] = 0; }}"),
    "a product in a bound": ("not-affine", f"{FOR} for (int j = 0; j < ^i * n; j++) a[j] = 0;"),
    "a bound that is read": ("data-dependent-bound", f"{FOR} for (int j = 0; j < ^b[i]; j++) f[j] = 0;"),
    "a first value that is read": ("data-dependent-bound", f"{FOR} for (int j = ^b[i]; j < n; j++) f[j] = 0;"),
    "a bound that is counted": (
        "data-dependent-bound",
        f"int k = 0; {FOR} {{ k += b[i]; for (int j = 0; j < ^k; j++) f[j] = 1; }}",
    ),
    "a condition on data": ("data-dependent-condition", f"{FOR} if (^f[i] > 0) a[i] = 0;"),
    "a condition on a number that is not whole": (
        "data-dependent-condition",
        f"const float q = ^x * 2; {FOR} if (i < q) a[i] = 0;",
    ),
    "an unknown function": ("unknown-call", f"{FOR} a[i] = ^other(i);"),
    "a called pointer": ("unknown-call", f"{FOR} a[i] = ^pointed(i);"),
    "output": ("unknown-call", f'{FOR} ^printf("%d", i);'),
    "a pointer that moves": ("pointer-alias", f"float *p = f; {FOR} *^p++ = 0;"),
    "a pointer set twice": ("pointer-alias", f"float *p = f; ^p = g; {FOR} p[i] = 0;"),
    "rows anywhere": ("pointer-alias", f"{FOR} {FOR_J} ^rows[i][j] = 0;"),
    "one of two pointers": ("pointer-alias", f"float *p = ^n > 3 ? f : g; {FOR} p[i] = 0;"),
    "an address as a value": ("unknown-call", f"{FOR} f[i] = ^first(&g[i]);"),
    "a column beside its row": ("index-leaves-row", f"{FOR} {FOR_J} ^f[i * n + j + 1] = 0;"),
    "a halo that is not there": ("index-leaves-row", f"{FOR} {FOR_J} g[i * n + j] = ^f[i * n + j - 1];"),
    "a while loop": ("loop-form", "int i = 0; ^while (i < n) { f[i] = 0; i++; }"),
    "a do loop": ("loop-form", "int i = 0; ^do f[i] = 0; while (++i < n);"),
    "a break": ("loop-form", f"{FOR} {{ f[i] = 0; if (i == m) ^break; }}"),
    "a changed iterator": ("loop-form", f"{FOR} {{ f[i] = 0; ^i++; }}"),
    "a growing step": ("loop-form", "^for (int i = 1; i < n; i *= 2) f[i] = 0;"),
    "a step that is a parameter": ("loop-form", "^for (int i = 1; i < n; i += m) f[i] = 0;"),
    "a bound on the wrong side": ("loop-form", "^for (int i = 1; i > n; i++) f[i] = 0;"),
    "another condition": ("loop-form", "^for (int i = 1; i != n; i++) f[i] = 0;"),
    "no condition": ("loop-form", "^for (int i = 1; ; i++) f[i] = 0;"),
    "a counter of floats": ("loop-form", "^for (float y = 0; y < n; y++) f[0] = y;"),
    "an assignment inside": ("side-effect", f"{FOR} f[i] = ^g[i] = 0;"),
    "a goto": ("unsupported-statement", f"{FOR} {{ f[i] = 0; ^goto end; }} end: return;"),
    "a switch": ("unsupported-statement", f"{FOR} ^switch (i) {{ case 1: f[i] = 0; }}"),
    "a critical section": ("unsupported-statement", f"{FOR} {{\n^#pragma omp critical\nf[0] += 1; }}"),
    "what every thread does": (
        "unsupported-statement",
        f"\n#pragma omp parallel\n{{ ^f[0] += 1;\n#pragma omp for\n{FOR} g[i] = 0; }}",
    ),
    "an array with first values": ("unsupported-statement", f"float ^t[2] = {{1, 2}}; {FOR} f[i] = t[0];"),
    "a recurrence called parallel": (
        "omp-contradicted",
        "\n^#pragma omp parallel for\nfor (int i = 1; i < n; i++) f[i] = f[i - 1];",
    ),
    "a sum called parallel": (
        "omp-contradicted",
        f"float s = 0;\n^#pragma omp parallel for\n{FOR} s += f[i];\nf[0] = s;",
    ),
    "a stencil called parallel": (
        "omp-contradicted",
        f"\n^#pragma omp parallel for collapse(2)\n{FOR} {FROM_1} f[i * n + j] = f[i * n + j - 1];",
    ),
    "no loop": ("no-loop", "f[0] = 1;"),
}
HEAD = "int printf(const char *, ...); float other(int); float first(float *);\n"
PARAMETERS = "int n, int m, float x, int *a, const int *b, float *f, float *g, float **rows, float (*pointed)(int)"


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str, analyse: Analysed) -> None:
    code, body = REFUSED[name]
    text = f"{HEAD}void function({PARAMETERS})\n{{ {body} }}\n"
    before, _, after = text.partition("^")
    with pytest.raises(RefusalError) as refused:
        analyse(before + after)
    assert refused.value.code == code
    position = refused.value.position
    assert position is not None and position.file.endswith("loops.c")
    if name == "no loop":
        before = HEAD
    assert (position.line, position.column) == (before.count("\n") + 1, len(before) - before.rfind("\n"))
    assert re.fullmatch(r"[^\n]+ \[[a-z-]+\]", str(refused.value))


def test_enough_are_refused() -> None:
    assert len(REFUSED) >= 20
    assert len({code for code, _ in REFUSED.values()}) == 11
