"""Bases, forms and strides of accesses whose addresses are known by reading the kernel."""

from __future__ import annotations

import pytest

from coarsen.analysis.algebra.affine import INDIRECT, SYMBOLIC, Access, Stride, access_patterns
from coarsen.analysis.algebra.index_forms import IndexForms
from coarsen.analysis.control_flow import ControlFlow
from coarsen.frontend.lower import lower
from coarsen.ir.types import AddressSpace

PARAMETERS = "global int *data, global const int *index, int n, int m, local int *tile"
X, Y = "int x = get_global_id(0);", "int y = get_global_id(1);"


def accesses(body: str, parameters: str = PARAMETERS, before: str = "") -> tuple[Access, ...]:
    kernel = lower(f"{before}\nkernel void k({parameters})\n{{\n{body}\n}}\n", None, "-cl-std=CL2.0")
    return access_patterns(IndexForms(kernel, ControlFlow(kernel)))


def stored(body: str, parameters: str = PARAMETERS, before: str = "") -> Access:
    """The last store of a kernel."""
    return [access for access in accesses(body, parameters, before) if access.is_store][-1]


@pytest.mark.parametrize(
    ("index", "along_x", "along_y"),
    [
        ("x", 4, 0),
        ("2 * x + 1", 8, 0),
        ("n - x", -4, 0),
        ("7", 0, 0),
        ("n * m", 0, 0),
        ("y * 16 + x", 4, 64),
        ("y * n + x", 4, SYMBOLIC),
        ("x * n + y", SYMBOLIC, 4),
        ("x << 3", 32, 0),
        ("x << m", SYMBOLIC, 0),
        ("(x << 2) | 1", 16, 0),
        ("x * n - x * n", 0, 0),
        ("x * x", INDIRECT, 0),
        ("x * y", SYMBOLIC, SYMBOLIC),
        ("~x", -4, 0),
        ("x ^ 64", 4, 0),
        ("x / 32", 0, 0),
        ("x % 32", 4, 0),
        ("x & 31", 4, 0),
        ("x & ~31", 0, 0),
        ("x >> 1", 0, 0),
        ("(x * 8) / 4", 8, 0),
        ("(x * 3) / 4", INDIRECT, 0),
        ("(x / n) * n + x % n", 4, 0),
        ("(x / n) * m + x % n", 4, 0),
        ("(x % n) * m + x / n", SYMBOLIC, 0),
        ("index[x]", INDIRECT, 0),
        ("index[n]", 0, 0),
        ("index[n] + x", 4, 0),
        ("max(x - 1, 0)", 4, 0),
        ("clamp(x + 1, 0, n)", 4, 0),
        ("x < n ? x : n", 4, 0),
        ("x < n ? x : 2 * x", INDIRECT, 0),
        ("index[x] > 0 ? 1 : 2", INDIRECT, 0),
        ("m > 0 ? 1 : 2", 0, 0),
        ("mad24(y, 4, x)", 4, 16),
        ("mul24(x, n)", SYMBOLIC, 0),
        ("get_local_id(0) + get_group_id(0) * get_local_size(0)", 4, 0),
        ("get_group_id(0)", 0, 0),
        ("get_global_linear_id()", 4, SYMBOLIC),
        ("get_local_linear_id()", 4, SYMBOLIC),
        ("get_global_id(m)", INDIRECT, INDIRECT),
        ("(int2)(y, x).y", 4, 0),
    ],
)
def test_strides_of_an_index(index: str, along_x: Stride, along_y: Stride) -> None:
    access = stored(f"{X} {Y} data[{index}] = 1;")
    assert access.base is not None
    assert (access.base.text, access.address_space) == ("data", AddressSpace.GLOBAL)
    assert (access.strides[0], access.strides[1], access.strides[2])[:2] == (along_x, along_y)


def test_the_form_counts_bytes_from_the_base() -> None:
    access = stored(f"{X} {Y} data[y * n + x + 2] = 1;")
    assert str(access.form) == "4·global_id(0) + 4·global_id(1)·n + 8"


@pytest.mark.parametrize(
    ("body", "form", "along_x"),
    [
        ("for (int i = 0; i < n; ++i) data[i] = 1;", "4·iteration(for.cond)", 0),
        (f"{X} for (int i = x; i < n; i += get_global_size(0)) data[i] = 1;", None, 4),
        (f"{X} for (int i = 3; i < n; i += 2) data[i * m + x] = 1;", None, 4),
        (f"{X} global int *p = data + x; for (int i = 0; i < n; ++i) {{ *p = 1; p += m; }}", None, 4),
        (f"{X} for (int i = 0; i < n; ++i) data[x * n + i] = 1;", None, SYMBOLIC),
        (f"{X} for (int i = x * 2; i < n; i += x) data[i] = 1;", None, SYMBOLIC),
        (f"{X} for (int i = n; i > 0; i >>= 1) data[x + i] = 1;", None, 4),
        (f"{X} for (int i = x; i > 0; i >>= 1) data[i] = 1;", None, INDIRECT),
        (f"{X} int s = x; for (int i = 0; i < n; ++i) {{ data[s] = 1; s += i; }}", None, 4),
        (f"{X} int s = 0; for (int i = 0; i < n; ++i) {{ data[s] = 1; s += index[x + i]; }}", None, INDIRECT),
        ("for (int i = 0; i < n; ++i) for (int j = 0; j < m; ++j) data[i * m + j] = 1;", None, 0),
        (f"{X} int s = x; for (int i = 0; i < n; ++i) for (int j = 0; j < m; ++j) data[s++] = 1;", None, 4),
    ],
)
def test_strides_in_loops(body: str, form: str | None, along_x: Stride) -> None:
    access = stored(body)
    assert access.strides[0] == along_x
    assert form is None or str(access.form) == form


@pytest.mark.parametrize(("bound", "expected"), [("n", 4), ("index[x]", INDIRECT)])
def test_what_comes_out_of_a_loop_is_regular_if_all_leave_it_together(bound: str, expected: Stride) -> None:
    assert stored(f"{X} int i = 0; while (i < {bound}) ++i; data[x + i] = 1;").strides[0] == expected


@pytest.mark.parametrize(
    ("before", "parameters", "body", "expected"),
    [
        ("", "global float4 *v", f"{X} v[x] = 0.0f;", (16, 4, 4)),
        ("", "global float4 *v", f"{X} v[x].y = 0.0f;", (16, 4, 4)),
        ("", "global float *v", f"{X} vstore4((float4)(0.0f), x, v);", (16, 4, 4)),
        ("", "global float *v", f"{X} vstore3((float3)(0.0f), x, v);", (12, 4, 3)),
        ("", "global half *v", f"{X} vstore_half2((float2)(0.0f), x, v);", (4, 2, 2)),
        ("", "global double *v", f"{X} v[2 * x] = 0.0;", (16, 8, 1)),
        ("typedef struct { int a; float b[3]; char c; } s;", "global s *v", f"{X} v[x].b[1] = 0.0f;", (20, 4, 1)),
        ("typedef struct { int a; float b[3]; char c; } s;", "global s *v", f"{X} v[1].b[x] = 0.0f;", (4, 4, 1)),
        ("", "global int *v", f"{X} atomic_add(v + 2 * x, 1);", (8, 4, 1)),
        ("", "global volatile int *v", f"{X} atomic_xchg(v + x, 1);", (4, 4, 1)),
    ],
)
def test_sizes_of_elements(before: str, parameters: str, body: str, expected: tuple[int, int, int]) -> None:
    before = f"#pragma OPENCL EXTENSION all : enable\n{before}"
    access = stored(body, parameters, before)
    assert (access.strides[0], access.element_bytes, access.width) == expected


def test_a_field_has_its_offset() -> None:
    fields = "typedef struct { char a; int b; short c; } s;"
    assert str(stored(f"{X} v[x].c = 1;", "global s *v", fields).form) == "12·global_id(0) + 8"


def test_atomics_load_and_store() -> None:
    access = stored("atomic_inc(data);")
    assert (access.is_load, access.is_store, access.is_atomic) == (True, True, True)


def test_spaces_and_bases() -> None:
    body = """
    local int shared_tile[64];
    int own[4];
    int l = get_local_id(0);
    own[n] = table[l];
    shared_tile[l * 2] = own[m];
    tile[l] = 1;
    barrier(CLK_LOCAL_MEM_FENCE);
    data[l] = shared_tile[0];
    """
    found = {
        (access.base.text.removeprefix("k."), access.address_space, access.strides[0])
        for access in accesses(body, before="constant int table[4] = {1, 2, 3, 4};")
        if access.base is not None
    }
    assert found == {
        ("own", AddressSpace.PRIVATE, 0),
        ("table", AddressSpace.CONSTANT, 4),
        ("shared_tile", AddressSpace.LOCAL, 8),
        ("shared_tile", AddressSpace.LOCAL, 0),
        ("tile", AddressSpace.LOCAL, 4),
        ("data", AddressSpace.GLOBAL, 4),
    }


def test_a_choice_between_buffers_has_no_base_but_a_stride() -> None:
    access = stored(f"{X} global int *p = n > 0 ? a : b; p[x] = 1;", "global int *a, global int *b, int n")
    assert access.base is None
    assert (access.address_space, access.strides[0]) == (AddressSpace.GLOBAL, 4)


def test_expressions_without_end_are_given_up() -> None:
    products = f"{X} int y = x; " + "y = (y + 1) * (y + n);" * 20
    assert stored(f"{products} data[y] = 1;").strides[0] is INDIRECT
    for length, expected in ((5, 4), (40, INDIRECT)):
        pieces = f"{X} int y = x; " + "y = (y % n) ^ m;" * length
        assert stored(f"{pieces} data[y] = 1;").strides[0] == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("uint y = x;" + "y = y * 1103515245u + 12345u;" * 40, INDIRECT),
        ("int y = n > 0 ? 3 : 3;" + "y = y * y;" * 8 + "y += x;", 4),
    ],
)
def test_numbers_that_would_grow_too_large_are_given_up(body: str, expected: Stride) -> None:
    access = stored(f"{X} {body} data[y] = 1;")
    assert access.strides[0] == expected
    assert all(abs(number) < 1 << 80 for number in access.form.terms.values())


def test_products_of_what_moves_by_long_sums_are_given_up() -> None:
    total = " + ".join(f"data[{number}]" for number in range(20))
    body = f"{X} int y = x * ({total}); data[max(y, 1) * max(y, 2) * max(y, 3) * max(y, 4)] = 1;"
    kernel = lower(f"kernel void k(global int *data) {{ {body} }}")
    forms = IndexForms(kernel, ControlFlow(kernel))
    product = access_patterns(forms)[-1].form
    assert len(product.symbols) == 4
    assert forms.symbols.difference(product, 0) is None


def test_values_of_a_loop_with_two_entries_are_irregular() -> None:
    body = "if (index[x] & 1) goto middle; start: data[x] = i; middle: ++i; data[i] = 1; if (i < n) goto start;"
    found = accesses(f"{X} int i = 0; {body}")
    assert [access.strides[0] for access in found] == [4, 4, INDIRECT]


def test_long_sums_are_followed() -> None:
    sums = f"{X} int y = x;" + "y = y + n * x;" * 400
    assert str(stored(f"{sums} data[y] = 1;").form) == "4·global_id(0) + 1600·global_id(0)·n"
