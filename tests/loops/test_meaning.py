"""What C means and OpenCL C does not, or calls otherwise: kernels do what the function does, or are refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyopencl as cl
import pytest

from coarsen.errors import InvalidInputError, RefusalError
from tests.loops.ran import element_type, make, run_natively, run_on

FOR, FOR_J = (f"for (int {each} = 0; {each} < n; {each}++) " for each in "ij")
# What is behind the arguments: int n, float x, and arrays of 64 elements.
ARRAYS = "float *f, double *d, int *k, unsigned int *u, unsigned char *c, long *q"
HEAD = f"#include <math.h>\n#include <stdlib.h>\n#include <stddef.h>\nvoid function(int n, float x, {ARRAYS}) "
BODIES = {
    "unsigned numbers wrap": f"{FOR} f[i] = u[i] - 20u;",
    "unsigned numbers in abs": f"{FOR} k[i] = abs(u[i] - 9u);",
    "long numbers in abs": f"{FOR} k[i] = abs(q[i] - 20);",
    "a long number's own abs": f"{FOR} q[i] = labs(k[i] - 30);",
    "characters are promoted": f"{FOR} k[i] = c[i] - 200 + (c[i] << 4);",
    "characters are cut": f"{FOR} c[i] = k[i] * 77;",
    "a complement of a character": f"{FOR} k[i] = ~c[i] >> 1;",
    "a remainder below 0": f"{FOR} k[i] = (k[i] - 20) % 7 + (k[i] - 20) / 7;",
    "a quotient of whole numbers": f"{FOR} f[i] = i / 4 * 0.5f;",
    "a double number in a sum of floats": f"{FOR} f[i] = f[i] * 0.1 + 0.1f;",
    "a sum in double of a float": f"{FOR} f[i] += 0.1;",
    "numbers beyond all": f"{FOR} {{ f[i] -= 1e40f; d[i] = d[i] < 1e400; }}",
    "no step of an iterator": f"{FOR} {FOR_J} {{ k[j * 0] += c[i]; u[j - j] += c[i]; }}",
    "a character's number": f"{FOR} f[i] = 'a' + '\\n';",
    "a floating condition": f"{FOR} f[i] = f[i] ? x : 2;",
    "a double condition": f"{FOR} f[i] = d[i] - d[i] ? 1 : !d[i] + 3;",
    "floating truth": f"{FOR} k[i] = (f[i] && x) + !f[i];",
    "a comparison of comparisons": f"{FOR} k[i] = (f[i] < x) == (x < d[i]) != (k[i] > 3);",
    "a comparison as a number": f"{FOR} k[i] = ((f[i] < x) < k[i]) + 1;",
    "functions of two types": f"{FOR} d[i] = fmin(f[i], d[i]) + fmaxf(f[i], 0.25) + fmin((float)i, n);",
    "the nearest whole number": f"{FOR} f[i] = nearbyintf(f[i] * 10) + nearbyint(d[i] * 10) + rintf(x * f[i]);",
    "a function of a whole number": f"{FOR} d[i] = sqrt(i) + fabs(k[i] - 20);",
    "a whole number in between": f"{FOR} {{ const unsigned int v = i - 3; f[i] = v / 2; }}",
    "a long number in between": f"{FOR} {{ const long v = n; q[i] = v * 1000000000 * i; }}",
    "a number of floats in between": f"{FOR} {{ const float v = 0.1; d[i] = v * d[i]; }}",
    "a small number in between": f"{FOR} {{ const unsigned char v = 300 + i; k[i] = v; }}",
    "a wide iterator": "for (long i = 0; i < n; i++) q[i] = i * 3000000000 + i * i;",
    "an unsigned iterator": "for (unsigned i = 0; i < 9; i++) f[i] = (i - 3) / 2 + (float)(i - 5);",
    "an iterator of size_t": "for (size_t i = 0; i < n; i++) d[i] = (double)(i - 2);",
    "an iterator of one value": "for (long i = 2; i < 3; i++) q[i] = i * 3000000000;",
    "an int beside an unsigned one": "for (unsigned i = 0; i < 5; i++) for (int j = 0; j < 5; j++) "
    "k[5 * i + j] = (j - 3) / 2;",
    "bounds of a number and a long one": "for (long i = 0; i < n && i < 7; i++) f[i] = 1;",
    "enumerators": "enum { A, B = 7, C, D = -2, E }; for (int i = A; i < B; i++) f[i + C] = D * C - -E;",
    "steps downwards": "for (int i = n - 1; i >= 0; i -= 2) f[i] = d[i];",
    "a variable of several uses": f"{FOR} {{ float s = 0; {FOR_J} s += d[j]; f[i] = s; "
    f"s = x; {FOR_J} s *= d[j]; q[i] = s; }}",
    "one held element is set to another": f"{FOR} {{ d[i] = f[i]; {FOR_J} {{ d[i] += q[j]; f[i] += k[j]; }} }}",
    "an argument that is set": f"x = x * 2; {FOR} f[i] = x;",
    "an element that is set beside one of a loop that may not run": f"{FOR} {{ f[i] = 0; "
    "for (int j = 0; j < i; j++) { f[i] += d[j]; q[i] += k[j]; } }",
    "an element that is used behind a loop that may not run": f"{FOR} {{ "
    "for (int j = 0; j < i; j++) { f[i] += d[j]; q[i] += k[j]; } f[i] *= 2; }",
    "elements that few work-items have": f"{FOR} {FOR_J} {{ d[i] += q[j]; if (i < 2) f[i + 62] += k[j]; }}",
    "an element before the first": f"{FOR} {FOR_J} {{ d[i] += q[j]; if (i > 0) f[i - 1] += k[j]; }}",
    "multiples of quotients as bounds": "for (int i = 0; i < 2 * (n / 3); i++) f[i] = 1; "
    "for (int i = 0; i < 3 * (n % 4); i++) d[i] = 2;",
    "a variable's name behind an array's": f"{FOR} for (int k_value = 0; k_value < n; k_value++) k[i] += k_value;",
    "a loop that may not run": f"{FOR} {{ for (int j = i; j < 3; j++) f[i] += d[j]; }}",
    "a loop from a quotient": f"{FOR} {{ for (int j = (i - 3) / 2; j < 3; j++) f[i] += d[j + 2]; }}",
    "quotients of steps": "for (int i = 2; i < n; i++) for (int j = 1; j < n; j++) "
    "for (int l = i + 1; l < n; l += 2) { if (!(j % 3 == 1)) k[n - 1 - l] = k[l]; k[l] = n; }",
    "nothing unused is passed": f"{FOR} f[i] = 1;",
    "names of OpenCL C": f"float global = x; {FOR} {{ const int kernel = i, half = 2; "
    "int uint = k[kernel]; f[kernel] = global * half + uint; }",
    "iterators like the kernels' names": "for (int p0 = 0; p0 < n; p0++) for (int c0 = 0; c0 < 4; c0++) "
    "for (int l0 = 0; l0 < 3; l0++) f[p0 * 4 + c0] += d[l0];",
}  # fmt: skip


def check(text: str, queue: cl.CommandQueue, folder: Path, sizes: tuple[int, ...] = (5, 11)) -> None:
    """Fail unless kernels do what a text's last function does; arrays have 64 elements, or as many as C says."""
    made = make(text, folder)
    kernels = made.build(queue.context)
    random = np.random.default_rng(0)
    for n in sizes:
        numbers = {name: n if name in made.nest.parameters else 1.75 for name in made.nest.spelled}
        arrays = {}
        for each in made.nest.arrays.values():
            if not each.is_private:
                shape = [64 if extent is None else int(extent.number or n) for extent in each.extents]
                type_ = element_type(made, each.name)
                values = random.random(shape) * 3 if type_.kind == "f" else random.integers(0, 40, shape)
                arrays[each.name] = np.asarray(values).astype(type_)
        expected = run_natively(made, numbers, arrays)
        found = run_on(queue, kernels, made, numbers, arrays)
        changed = False
        for name in made.given:
            if made.nest.arrays[name].spelled != "x":  # C's own copy
                np.testing.assert_array_equal(found[name], expected[name], f"{name} at {n}")
                changed |= bool((expected[name] != arrays[name]).any())
        assert changed


@pytest.mark.compiled_devices
@pytest.mark.parametrize("name", BODIES)
def test_kernels_mean_what_c_means(name: str, queue: cl.CommandQueue, tmp_path: Path) -> None:
    check(f"{HEAD}{{ {BODIES[name]} }}", queue, tmp_path)


TEXTS = {
    "a function called like one of OpenCL C": f"void dot(int n, float *a) {{ {FOR} a[i] = i; }}",
    "a function called like an array": "void sum(int n, float *sum) { for (int i = 0; i < n; i++) sum[i] = i; }",
    "another one": f"void get_local_id(int n, float *barrier) {{ {FOR} barrier[i] = i; }}",
    "an array called like a function": """#include <math.h>
void f(int n, float *exp, float *min, float *get_global_id, float *v_exp) {
    for (int i = 0; i < n && i < 9; i++) exp[i] = expf(min[i]) * 0 + get_global_id[i] - v_exp[i]; }""",
    "arrays called like the entry's": """void f(int n, float *arrays, float *wholes, int *reals) {
    for (int i = 0; i < n; i++) arrays[i] = wholes[i] + reals[i]; }""",
    "constants of a file": """enum { FOUR = 4, FIVE }; static const int N = FOUR * 2; const float w = 0.2;
void f(float *a) { static const long L = 3; for (int i = 0; i < N; i++) a[i * FIVE] = w * N + L; }""",
    "constants as extents": """enum { FOUR = 4 }; static const int N = 3;
void f(int n, float a[n][N], float b[4][n + FOUR]) {
    for (int i = 0; i < N; i++) for (int j = 0; j < FOUR && j < n; j++) { a[j][i] = i; b[i][j + FOUR] = j; } }""",
    "a global number": f"static int n; static float x = 3; void f(float *a) {{ {FOR} a[i] = x; }}",
    "a sum in a record": """struct r { int n; float *a; float sum; }; void f(struct r *r) {
    r->sum = 1; for (int i = 0; i < r->n; i++) r->a[i] = 2; }""",
    "an array in a record": """struct r { float a[20]; }; void f(int n, struct r *r) {
    for (int i = 0; i < n; i++) r->a[i] = i; }""",
    "a record that is passed": """struct r { int n; float *a; }; void f(struct r r) {
    for (int i = 0; i < r.n; i++) r.a[i] = i; }""",
    "a record of a file": """struct r { int n; float *a; }; static struct r *own; void f(void) {
    for (int i = 0; i < own->n; i++) own->a[i] = i; }""",
    "a function with a value": f"int f(int n, float *a, int unused) {{ {FOR} a[i] = i; return 0; }}",
    "sizes of size_t": """#include <stddef.h>
void f(size_t n, float *a) { for (size_t i = 1; i < n; i++) a[i] = n - 20 + i; }""",
    "a stencil by two steps": """void f(int n, float *a, float *b) { for (int t = 0; t < n; t++) {
    for (int i = 1; i < 40; i++) b[i] = a[i - 1] + a[i + 1];
    for (int i = 1; i < 40; i++) a[i] = b[i] * 0.5f; a[0] = t; } }""",
    "a sweep in place": """void f(int n, float *a) {
    for (int i = 1; i < 8; i++) for (int j = 0; j < 8; j++) a[8 * i + j] += a[8 * (i - 1) + j]; }""",
}  # fmt: skip


@pytest.mark.compiled_devices
@pytest.mark.parametrize("name", TEXTS)
def test_functions_of_other_forms(name: str, queue: cl.CommandQueue, tmp_path: Path) -> None:
    check(TEXTS[name], queue, tmp_path)


REFUSED = {
    "long double": ("c-type", "void f(int n, double *a) { for (int i = 0; i < n; i++) a[i] *= 0.1L; }"),
    "a static array": (
        "unsupported-statement",
        "void f(int n, float *a) { static float s[64]; for (int i = 0; i < n; i++) s[i] += a[i]; }",
    ),
    "a static number": (
        "unsupported-statement",
        "void f(int n, float *a) { static float s = 1; for (int i = 0; i < n; i++) a[i] = s; s++; }",
    ),
    "a constant array": (
        "unsupported-statement",
        "static const float w[3] = {1, 2, 1}; void f(float *a) { for (int i = 0; i < 3; i++) a[i] = w[i]; }",
    ),
    "records in an array": (
        "unsupported-statement",
        "struct p { float x, y; }; void f(int n, struct p *p) { for (int i = 0; i < n; i++) p[i].x = p[i].y; }",
    ),
    "whole records": (
        "c-type",
        f"struct p {{ float x; }}; void f(int n, struct p *p, struct p *q) {{ {FOR} p[i] = q[i]; }}",
    ),
    "an array of each iteration": (
        "unsupported-statement",
        """void f(int n, float *a) { for (int i = 0; i < n; i++) { float t[4];
        for (int j = 0; j < 4; j++) t[j] = a[i] * j; a[i] = t[0] + t[3]; } }""",
    ),
    "a value that is returned": (
        "unsupported-statement",
        "float f(int n, float *a) { float s = 0; for (int i = 0; i < n; i++) s += a[i]; return s; }",
    ),
    "a sum in a row": (
        "no-parallel-loop",
        "void f(int n, float *a) { for (int i = 1; i < n; i++) a[i] += a[i - 1]; }",
    ),
    "a variable over launches": (
        "scalar-between-launches",
        """void f(int n, float *a) { float s = 1; for (int t = 0; t < n; t++) {
        s *= 0.5f; for (int i = 0; i < 64; i++) a[i] += s; } }""",
    ),
    "nothing that runs": (
        "no-loop",
        "void f(int n, float *a) { for (int i = 0; i < n; i++) if (i < 0) a[i] = 0; }",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_no_kernel_does_is_refused(name: str, tmp_path: Path) -> None:
    code, text = REFUSED[name]
    with pytest.raises(RefusalError) as refused:
        make(text, tmp_path)
    assert refused.value.code == code
    assert refused.value.position is not None
    assert "\n" not in str(refused.value)


def test_a_pointer_in_a_record_behind_a_pointer_is_not_made_up(tmp_path: Path) -> None:
    text = """struct g { int n; }; struct r { struct g *g; float *a; }; void f(struct r *r) {
    for (int i = 0; i < r->g->n; i++) r->a[i] = i; }"""
    with pytest.raises(InvalidInputError, match=r"what leads to r->g->n is not known"):
        make(text, tmp_path)


def test_nothing_is_launched_for_no_element(tmp_path: Path, queue: cl.CommandQueue) -> None:
    loops = f"{FOR} for (int j = 0; j < m; j++) a[i][j] = 1;"
    made = make(f"void f(int n, int m, float a[n][m]) {{ {loops} }}", tmp_path)
    before = {"a": np.zeros(4, np.float32)}
    kernels = made.build(queue.context)
    for n, m in ((0, 3), (3, 0), (0, 0), (-1, 2)):
        after = run_on(queue, kernels, made, {"n": n, "m": m}, before)
        np.testing.assert_array_equal(after["a"], before["a"])
