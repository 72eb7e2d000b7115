"""What can't be padded is refused, with the code and the place; and what is right is not."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from coarsen.errors import InvalidInputError, RefusalError
from coarsen.frontend.lower import lower
from coarsen.pipeline import LaidOutKernel, laid_out
from coarsen.transform.layouts.pad import PaddedArray
from coarsen.variant.data_plan import array_plans

ID = "int x = get_local_id(0);"
TILE = "local float tile[8][16] __attribute__((aligned(16))); local float flat[128];"


@dataclass(frozen=True)
class Refused:
    """A kernel `k(global float *out, int n)` whose local array `tile` can't have a pad."""

    name: str
    code: str
    body: str
    pad: str = "tile=1"


REFUSED = (
    Refused("phi", "layout-pointer-escapes", "for (local float *p = tile[x]; p[0] > 0; ++p) out[x] += *p;"),
    Refused("select", "layout-pointer-escapes", "local float *p = x > n ? tile[1] : flat; out[x] = p[x];"),
    Refused(
        "compared", "layout-pointer-escapes", "if (&tile[1][x] > &flat[n]) tile[0][x] = 1; out[x] = tile[0][n];"
    ),
    Refused("as_number", "layout-pointer-escapes", "out[x] = (size_t)&tile[x][n];"),
    Refused("constant_as_number", "layout-pointer-escapes", "tile[x][1] = 2; out[x] = (size_t)&tile[1][3];"),
    Refused(
        "copied_by_the_group",
        "layout-mixed-types",
        "event_t e = async_work_group_copy(tile[1], out, 16, 0); wait_group_events(1, &e); out[x] = tile[1][x];",
    ),
    Refused("bytes", "layout-mixed-types", "out[x] = ((local uchar *)tile)[x];"),
    Refused("two_rows", "layout-mixed-types", "vstore4((float4)(1), x, &tile[0][1]); out[x] = tile[x][0];"),
    Refused(
        "two_rows_at_once",
        "layout-mixed-types",
        "*(local float4 *)&tile[1][x] = (float4)(1); out[x] = tile[x][0];",
    ),
    Refused(
        "less_aligned", "layout-mixed-types", "*(local float4 *)&tile[x][4] = (float4)(1); out[x] = tile[x][0];"
    ),
    Refused(
        "rows_of_two_lengths", "layout-shape-unknown", "flat[n * 16 + x] = 1; out[x] = flat[n * 8 + x];", "flat=1"
    ),
    Refused("rows_not_known", "layout-shape-unknown", "flat[x] = 1; out[x] = flat[n];", "flat=1"),
)


def padded(body: str, *pads: str, shapes: tuple[str, ...] = ()) -> LaidOutKernel:
    source = f"kernel void k(global float *out, int n)\n{{\n{ID} {TILE}\n{body}\n}}\n"
    return laid_out(lower(source, "k"), array_plans((), (), shapes, (), pads))


@pytest.mark.parametrize("refused", REFUSED, ids=lambda refused: refused.name)
def test_refused(refused: Refused) -> None:
    with pytest.raises(RefusalError) as caught:
        padded(refused.body, refused.pad)
    assert caught.value.code == refused.code
    assert caught.value.position is not None
    assert caught.value.position.line == 4


@pytest.mark.parametrize(
    ("pads", "shapes", "message"),
    [
        (("tiel=1",), (), "has no static local array tiel \\(did you mean tile\\?\\)"),
        (("out=1",), (), "has no static local array out"),
        (("tile=1",), ("tile=16,8",), r"tile\[8\]\[16\] can't have the shape 16,8"),
        (("flat=1",), ("flat=4,30",), r"flat\[128\] can't have the shape 4,30"),
        (("tile=-1",), (), "a pad is a number of elements, xor or auto, not '-1'"),
        (("tile=99999",), (), "a pad has from 0 to 65536 elements, not 99999"),
        (("flat=xor",), ("flat=8,16",), "no power"),
        (("tile=auto",), (), "'auto' is chosen for a device"),
    ],
)
def test_pads_that_do_not_fit(pads: tuple[str, ...], shapes: tuple[str, ...], message: str) -> None:
    body = "tile[x][1] = n; vstore16((float16)(1), x, flat); out[x] = tile[1][x] + flat[x];"
    with pytest.raises(InvalidInputError, match=message):
        padded(body, *pads, shapes=shapes)


@pytest.mark.parametrize(
    ("declared", "message"),
    [
        (
            "struct { int a, b, c; } tile[8][16];",
            "the elements of tile have 12 bytes, no power of two, so that xor",
        ),
        ("short tile[8][9];", "9 elements of 2 bytes, are no power of two of units of 4 bytes, as xor needs"),
    ],
)
def test_what_can_not_be_permuted(declared: str, message: str) -> None:
    value, place = ("tile[1][n].a", "tile[x][1].a") if "struct" in declared else ("tile[1][n]", "tile[x][1]")
    body = f"{{ local {declared} int x = get_local_id(0); {place} = n; out[x] = {value}; }}"
    kernel = lower(f"kernel void k(global float *out, int n) {body}", "k")
    with pytest.raises(InvalidInputError, match=message):
        laid_out(kernel, array_plans((), (), (), (), ("tile=xor",)))


def test_memory_grows_and_nothing_is_assumed() -> None:
    found = padded("tile[x][n] = n; out[x] = tile[1][x];", "tile=3")
    assert found.assumptions == ()
    [array] = found.done
    assert isinstance(array, PaddedArray)
    assert (array.bytes_before, array.bytes_after) == (512, 608)


def test_addresses_from_the_start_need_no_assumption() -> None:
    assert padded("flat[x] = n; out[x] = flat[n];", "flat=1", shapes=("flat=8,16",)).assumptions == ()


def test_no_pad_leaves_the_array() -> None:
    found = padded("tile[x][n] = n; out[x] = tile[1][x];", "tile=0")
    assert found.done == ()
