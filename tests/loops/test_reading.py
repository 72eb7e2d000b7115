"""What is read of C: loops and conditions of every form beside executed ones, flat indices, pointers, OpenMP."""

from __future__ import annotations

import pytest

from coarsen.errors import RefusalError
from coarsen.loops.explain import lines_of, loop_sentence
from coarsen.loops.nest import affine_text
from coarsen.loops.schedules import bands, pieces_of
from tests.loops.conftest import Analysed, Read
from tests.loops.executed import assert_as_executed, execute

# The usual loops are macros, so that each text fits its line.
MACROS = "#define FOR_I for (int i = 0; i < n; i++)\n#define FOR_J for (int j = 0; j < n; j++)\n"
HEAD = "void f(int n, int m, float a[n][n], float b[n], float c[n]) "
LOOPS = {
    "downwards": "for (int i = n - 1; i > 0; i--) b[i] = b[i - 1];",
    "downwards by two": "for (int i = n - 1; i >= 0; i -= 2) for (int j = i; j > 0; j--) a[i][j] = a[j][i];",
    "by three": "for (int i = 1; i < n; i += 3) { b[i] = c[i - 1]; c[i] = b[i]; }",
    "from an outer one by two": "FOR_I for (int j = i; j < n; j += 2) b[j] += a[i][j];",
    "triangle": "FOR_I for (int j = 0; j <= i; j++) a[i][j] = a[j][i];",
    "quotient as a bound": "for (int i = 0; i < n / 2; i++) b[i] = b[n - 1 - i];",
    "quotient of a difference": "for (int i = (m - n) / 2 + 3; i < n; i++) b[i] = c[i];",
    "remainder": "FOR_I if (i % 3 == 1) b[i] = b[i - 1]; else c[i] = b[i];",
    "remainder of a difference": "FOR_I if ((i - 3) % 2) b[i] = c[i];",
    "both bounds": "for (int i = 0; i < n && i < m + 1; i++) b[i] = c[i];",
    "bound on the left": "for (int i = 0; n > i; i++) b[i] = c[i];",
    "conditions": "FOR_I FOR_J if ((i == j || i + j > n) && !(i < 2)) a[i][j] = 0;",
    "conditional bound": "const int last = n < m ? n : m; for (int i = 0; i < last; i++) b[i] = c[i];",
    "named index": "for (int i = 0; i < n - 1; i++) { const int next = i + 1; b[next] = b[i]; }",
    "one after another": "FOR_I b[i] = 0; for (int i = 1; i < n; i++) c[i] = b[i - 1] + c[i - 1];",
    "uneven depths": "FOR_I { b[i] = c[i]; for (int j = 0; j < i; j++) b[i] += a[i][j] * b[j]; c[i] = b[i]; }",
    "skewed": "FOR_I for (int j = 0; j < n - i; j++) b[i + j] += c[j] * b[j];",
}


@pytest.mark.parametrize("name", LOOPS)
@pytest.mark.parametrize("sizes", [(5, 7), (6, 2), (1, 1)])
def test_loops_beside_executed_ones(name: str, sizes: tuple[int, int], read: Read, analyse: Analysed) -> None:
    text = f"{MACROS}{HEAD}{{ {LOOPS[name]} }}"
    nest, found = analyse(text)
    given = dict(zip(("n", "m"), sizes, strict=True))
    assert_as_executed(
        execute(read(text)["f"], given), nest, found, {each: given[each] for each in nest.parameters}
    )


def test_statements_that_never_run_are_in_no_launch(analyse: Analysed) -> None:
    nest, found = analyse(
        """void f(int n, float a[n], float b[n][n]) { for (int i = 0; i < n; i++) {
        a[2 * i] = a[i + 1];
        if (i / 3 < 0) a[i] = 0;
        for (int j = -2; j < -i - 2; j++) if (j > i) b[i][j] = 0; else b[j][i] = 0;
        } }"""
    )
    assert [each.statements for each in pieces_of(bands(nest, found))] == [("S1",)]
    assert [affine_text(form) for form in nest.statements[0].accesses[1].subscripts] == ["2*i"]
    assert list(lines_of(nest, found))


FLAT = {
    "three dimensions": ("a[(i*m + j)*l + k] = a[i*m*l + j*l + k - 0];", ["a[i][j][k]", "a[i][j][k]"]),
    "rows of the whole": ("a[l*(m*i + j) + k] = 0;", ["a[i][j][k]"]),
    "the other order": ("a[k + l*j + m*l*i] = 0;", ["a[i][j][k]"]),
    "from the end": ("a[((i + 1)*m - 1 - j)*l + k] = 0;", ["a[i][-j + m - 1][k]"]),
    "a row ahead": ("a[(i*m + j + m)*l + k] = 0;", ["a[i + 1][j][k]"]),
    "an extent with a border": ("a[(i*m + j)*(l + 2) + k + 1] = 0;", ["a[i][j][k + 1]"]),
    "numbers": ("a[(i*m + j)*4 + q] = 0;", ["a[i][j][q]"]),
    "an even place": ("a[2*k + 1] = a[2*k];", ["a[2*k]", "a[2*k + 1]"]),
}


@pytest.mark.parametrize("name", FLAT)
def test_flat_indices(name: str, analyse: Analysed) -> None:
    body, accesses = FLAT[name]
    loops = "".join(
        f"for (int {i} = 0; {i} < {n}; {i}++) " for i, n in zip("ijkq", ("n", "m", "l", "4"), strict=True)
    )
    nest, _ = analyse(f"void f(int n, int m, int l, float *a) {{ {loops} {body} }}")
    (statement,) = nest.statements
    spelled = ["a" + "".join(f"[{affine_text(form)}]" for form in each.subscripts) for each in statement.accesses]
    assert spelled == accesses
    assert not nest.assumptions


def test_a_leading_extent_that_is_not_known_to_be_long_enough_is_assumed_so(analyse: Analysed) -> None:
    loops = "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++)"
    text = f"void f(int n, int m, int lda, float *a) {{ {loops} a[i*lda + j] = 0; }}"
    nest, _ = analyse(text)
    assert nest.assumptions == ("m <= lda",)


POINTERS = {
    "a row": ("float *row = a + i*n; row[j] = 0;", "a[i][j]"),
    "a row of an array": ("float *row = b[i]; row[j] = 0;", "b[i][j]"),
    "an address": ("float *row = &b[i][1]; row[j - 1] = 0;", "b[i][j]"),
    "a sum": ("*(a + i*n + j) = 0;", "a[i][j]"),
    "another shape": ("float (*t)[n] = (float (*)[n])a; t[i][j] = 0;", "a[i][j]"),
}


@pytest.mark.parametrize("name", POINTERS)
def test_pointers(name: str, analyse: Analysed) -> None:
    body, access = POINTERS[name]
    head = "struct point { float x, y; }; void f(int n, float *a, float b[n][n], struct point *p)"
    nest, _ = analyse(f"{head} {{ for (int i = 0; i < n; i++) for (int j = 1; j < n; j++) {{ {body} }} }}")
    written = nest.statements[-1].writes[0]
    spelled = nest.arrays[written.array].spelled + "".join(f"[{affine_text(form)}]" for form in written.subscripts)
    assert spelled == access


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("p[i] = p[0];", "c-type"),
        ("*p = p[i]; v[i] = p->x;", "c-type"),
        ("p[i].x = 1;", "unsupported-statement"),
        ("struct p *at = &p[i]; at->x = 1;", "unsupported-statement"),
        ("struct p own = p[i]; v[i] = own.x;", "c-type"),
        ("u[i].whole = 1; v[i] = u[i].part;", "pointer-alias"),
        ("if (n < 2) return; v[i] = 0;", "unsupported-statement"),
        ("v[i] = last; last = i;", None),
        ("struct p own; own.x = v[i]; v[i] = own.x;", "unsupported-statement"),
    ],
)
def test_what_looks_harmless(body: str, code: str | None, analyse: Analysed) -> None:
    head = "struct p { float x; }; union u { int whole; float part; };"
    head += "void f(int n, struct p *p, union u *u, float *v)"
    text = f"{head} {{ float last = 0; for (int i = 0; i < n; i++) {{ {body} }} }}"
    if code is None:
        nest, found = analyse(text)
        assert loop_sentence(nest, found, nest.loops[0]).startswith("not parallel: flow of last")
        return
    with pytest.raises(RefusalError) as refused:
        analyse(text)
    assert refused.value.code == code


REDUCTIONS = {
    "a sum": ("reduction(+:s)", "s += v[i];", True),
    "a difference": ("reduction(+:s)", "s = s - v[i];", True),
    "a longer sum": ("reduction(+:s)", "s = v[i] + s + 1;", True),
    "two sums": ("reduction(+ : s, t)", "s += v[i]; t += v[i];", True),
    "a sum in two steps": ("reduction(+:s)", "s += v[i]; s += 2;", True),
    "a product": ("reduction(*:s)", "s *= v[i];", True),
    "a maximum": ("reduction(max:s)", "s = fmaxf(v[i], s);", True),
    "in a macro": ("reduction(+:SUM)", "SUM += v[i];", True),
    "another sum": ("reduction(+:t)", "s += v[i];", False),
    "no sum": ("reduction(+:s)", "s = s * v[i] + 1;", False),
    "read as well": ("reduction(+:s)", "s += v[i]; v[i] = s;", False),
    "a recurrence": ("reduction(+:v[:n])", "v[i] += v[i - 1];", False),
}


@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions(name: str, analyse: Analysed) -> None:
    clause, body, is_legal = REDUCTIONS[name]
    pragma = f"#pragma omp parallel for schedule(static) \\\n {clause}"
    text = f"""#include <math.h>
#define SUM s
float f(int n, float v[n]) {{
float s = 0, t = 0;
{pragma}
for (int i = 1; i < n; i++) {{ {body} }}
return s + t;
}}"""
    if is_legal:
        nest, found = analyse(text)
        assert loop_sentence(nest, found, nest.loops[0]).startswith("parallel as a reduction")
        return
    with pytest.raises(RefusalError) as refused:
        analyse(text)
    assert refused.value.code == "omp-contradicted"
    assert refused.value.position is not None and refused.value.position.line == 5


def test_a_variable_of_all_iterations_is_private_where_it_hands_nothing_on(analyse: Analysed) -> None:
    """The same variable serves two loops; what it is last set to is read afterwards in the second alone."""
    nest, found = analyse(
        """float f(int n, float v[n], float w[n]) { float t; int i;
        for (i = 0; i < n; i++) { t = v[i]; w[i] = t * t; }
        for (i = 0; i < n; i++) { t = w[i]; v[i] = t; }
        return t; }"""
    )
    assert [loop_sentence(nest, found, each).partition(":")[0] for each in nest.loops] == [
        "parallel",
        "not parallel",
    ]
    assert sorted(nest.arrays) == ["t", "t_2", "v", "w"]


def test_a_private_array(analyse: Analysed) -> None:
    text = """void f(int n, float v[n][8]) { float row[8];
#pragma omp parallel for private(row)
for (int i = 0; i < n; i++) {
    for (int j = 0; j < 8; j++) row[j] = v[i][7 - j];
    for (int j = 0; j < 8; j++) v[i][j] = row[j]; } }"""
    nest, found = analyse(text)
    assert [loop_sentence(nest, found, each) for each in nest.loops] == ["parallel"] * 3
    with pytest.raises(RefusalError, match="omp-contradicted"):
        analyse(text.replace("private(row)", "shared(row)"))


def test_a_pragma_in_a_macro(analyse: Analysed) -> None:
    text = """#define PARALLEL _Pragma("omp parallel for reduction(+:s)")
float f(int n, float v[n]) { float s = 0;
PARALLEL
for (int i = 0; i < n; i++) s += v[i];
return s; }"""
    nest, found = analyse(text)
    assert loop_sentence(nest, found, nest.loops[0]).startswith("parallel as a reduction")


def test_a_parallel_region_with_its_loops(analyse: Analysed) -> None:
    nest, _ = analyse(
        """void f(int n, float v[n], float w[n]) {
#pragma omp parallel
{
#pragma omp for nowait
for (int i = 0; i < n; i++) v[i] = 0;
#pragma omp for simd
for (int i = 0; i < n; i++) w[i] = v[i];
} }"""
    )
    assert [each.directives[0].words for each in nest.loops] == [("for",), ("for", "simd")]


def test_arrays_of_a_file_and_of_a_function(analyse: Analysed) -> None:
    nest, _ = analyse(
        """#define N 8
static double table[N][N];
enum { HALF = 4 };
void f(void) { float local[N]; for (int i = 0; i < HALF; i++) { local[i] = 0; table[i][i + HALF] = local[i]; } }"""
    )
    extents = {each.name: [each and affine_text(each) for each in each.extents] for each in nest.arrays.values()}
    assert extents == {"v_local": ["8"], "table": ["8", "8"]}
    assert nest.parameters == ()
    assert [affine_text(form) for form in nest.statements[-1].writes[0].subscripts] == ["i", "i + 4"]


def test_a_record_has_the_name_that_c_has(read: Read) -> None:
    text = """
    typedef struct { int n; float *x; } problem;
    typedef struct tagged { int n; float *x; } other;
    void a(const problem *p) { for (int i = 0; i < p->n; i++) p->x[i] = 0; }
    void b(const other *p) { for (int i = 0; i < p->n; i++) p->x[i] = 0; }
    void c(const struct tagged *p) { for (int i = 0; i < p->n; i++) p->x[i] = 0; }
    """
    types = {name: function.parameters[0].type for name, function in read(text).items()}
    assert types == {"a": "const problem *", "b": "const struct tagged *", "c": "const struct tagged *"}
