"""What can't be read from another memory is refused, with the code and the place; and what has to hold is said."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from coarsen.errors import InvalidInputError, RefusalError
from coarsen.frontend.lower import lower
from coarsen.pipeline import LaidOutKernel, laid_out
from coarsen.variant.data_plan import array_plan, array_plans


@dataclass(frozen=True)
class Refused:
    """A kernel `k(global float *out, global float *in, int n)` whose array `in` can't be placed."""

    name: str
    code: str
    body: str
    place: str = "constant"


REFUSED = (
    Refused("stored_to", "place-not-read-only", "in[x] = in[x] + 1;"),
    Refused("atomic", "place-not-read-only", "out[x] = in[x]; atomic_xchg(in, 1.0f);"),
    Refused("stored_to_as_a_vector", "place-not-read-only", "vstore4((float4)(1), x, in);"),
    Refused("volatile", "place-not-read-only", "out[x] = *(volatile global float *)&in[x];"),
    Refused("phi", "place-pointer-escapes", "for (global float *p = in; *p > 0; ++p) out[x] += *p;"),
    Refused("select", "place-pointer-escapes", "out[x] = (x > n ? in : out)[x];"),
    Refused("as_number", "place-pointer-escapes", "out[x] = (size_t)&in[x];"),
    Refused("prefetched", "place-pointer-escapes", "prefetch(in, 4); out[x] = in[x];"),
    Refused("aligned", "place-pointer-escapes", "out[x] = in[x] + (*(global float4 *)&in[4 * x]).x;", "local"),
    Refused("any_memory", "place-may-change", "out[x] = in[x]; *(global float *)(size_t)n = 1;"),
    Refused("extent", "place-extent-unknown", "out[x] = in[x];", "local"),
)


def placed(body: str, *texts: str, shapes: tuple[str, ...] = (), qualifier: str = "") -> LaidOutKernel:
    arguments = f"global float *{qualifier} out, global float *in, int n"
    source = f"kernel void k({arguments})\n{{\nint x = get_global_id(0);\n{body}\n}}\n"
    return laid_out(lower(source, "k"), array_plans((), (), shapes, texts))


@pytest.mark.parametrize("refused", REFUSED, ids=lambda refused: refused.name)
def test_refused(refused: Refused) -> None:
    shapes = ("in=9",) if refused.name == "aligned" else ()
    with pytest.raises(RefusalError) as caught:
        placed(refused.body, f"in={refused.place}", shapes=shapes)
    assert caught.value.code == refused.code
    assert caught.value.position is not None
    assert caught.value.position.line == 4


def test_a_copy_has_a_limit() -> None:
    with pytest.raises(RefusalError, match="in has 16388 bytes") as caught:
        placed("out[x] = in[x];", "in=local", shapes=("in=4097",))
    assert caught.value.code == "place-too-large"


@pytest.mark.parametrize(
    ("texts", "shapes", "message"),
    [
        (("im=constant",), (), "has no argument im"),
        (("n=constant",), (), "n is no array in global memory"),
        (("in=image",), (), "image is not offered"),
        (("in=texture",), (), "a place is global, constant, noncoherent, local, not 'texture'"),
        (("in=local",), ("in=0",), "in can't have the shape 0"),
    ],
)
def test_places_that_do_not_fit(texts: tuple[str, ...], shapes: tuple[str, ...], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        placed("out[x] = in[x];", *texts, shapes=shapes)


def test_a_copy_is_of_the_array_as_written() -> None:
    kernel = lower("kernel void k(global int *out, global int *in) { out[0] = in[0]; }", "k")
    with pytest.raises(InvalidInputError, match="give it no layout"):
        laid_out(kernel, [array_plan("in", layout="aosoa:4", shape=[8], place="local")])


def test_what_the_kernel_writes_must_be_apart_unless_it_is_restrict() -> None:
    body = "out[x] = in[x];"
    assert [each.apart_from for each in placed(body, "in=noncoherent").placed] == [("out",)]
    assert [each.apart_from for each in placed(body, "in=noncoherent", qualifier="restrict").placed] == [()]


def test_written_pointers_are_followed_through_choices() -> None:
    source = """kernel void k(global int *a, global int *b, global int *c, global int *in)
    {
        global int *p = in[0] ? a : b + in[1];
        *p = in[2] + c[0];
    }"""
    [array] = laid_out(lower(source, "k"), [array_plan("in", place="constant")]).placed
    assert array.apart_from == ("a", "b")


def test_global_leaves_the_kernel() -> None:
    assert placed("out[x] = in[x];", "in=global").placed == ()
