"""Reductions have NumPy's results at every size, in every form, on every device."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyopencl as cl
import pyopencl.array
import pytest

from coarsen.runtime.sequence import Scratch
from coarsen.stream import Reduce
from tests.stream.forms import BY_ITEM, FORMS, take, whole

# Oclgrind interprets every form in `oclgrind/test_reductions`.
pytestmark = pytest.mark.compiled_devices
SIZES = (0, 1, 2, 31, 64, 257, 1021, 4095, 4097, 40_000)


# Elements beside an array: where they are read no result is a number, and they are to stay as they are.
GUARD = np.full(64, np.nan, np.float32)


@pytest.fixture
def guarded_scratch(monkeypatch: pytest.MonkeyPatch) -> list[cl.Buffer]:
    """The buffers in the middle of which the scratch of all launches lies, with bytes of 0x7F around it."""
    around: list[cl.Buffer] = []

    def grow(scratch: Scratch, context: cl.Context, sizes: Sequence[int]) -> None:
        (size,) = sizes
        content = np.full(size + 8192, 0x7F, np.uint8)
        around.append(cl.Buffer(context, cl.mem_flags.COPY_HOST_PTR, hostbuf=content))
        scratch.buffers = (around[-1].get_sub_region(4096, size),)

    monkeypatch.setattr(Scratch, "grow", grow)
    return around


@pytest.mark.parametrize("form", [*FORMS, "item"])
def test_a_dot_product(form: str, queue: cl.CommandQueue, guarded_scratch: list[cl.Buffer]) -> None:
    """Nothing beside the buffers is read or written, the scratch between two launches included."""
    rows = "rows" if form == "item" else ""
    dot = Reduce("a + b", identity="0", map="x[i] * y[i]", arguments="const float *x, const float *y", rows=rows)
    take(dot, BY_ITEM if rows else FORMS[form], queue.device)
    for n in SIZES:
        x, y = whole(n), whole(n, high=3)
        held = [np.concatenate((GUARD, each, GUARD)) for each in (x, y, whole(1))]
        there = [cl.array.to_device(queue, each) for each in held]
        given = [each[64 : 64 + n] for each in there[:2]]
        if rows:
            dot(queue, *given, out=there[2][64:65], rows=1, n=n)
        else:
            dot(queue, *given, out=there[2][64:65])
        held[2][64:-64] = np.dot(x, y)
        for each, wanted in zip(there, held, strict=True):
            np.testing.assert_array_equal(each.get(), wanted)
    for scratch in guarded_scratch:
        content = np.empty(scratch.size, np.uint8)
        cl.enqueue_copy(queue, content, scratch)
        assert (content[:4096] == 0x7F).all() and (content[-4096:] == 0x7F).all()
    assert bool(guarded_scratch) == ("GROUPS" in FORMS.get(form, {}))


@pytest.mark.parametrize("form", ["lanes", "strided", "item"])
def test_rows(form: str, queue: cl.CommandQueue) -> None:
    norms = Reduce(
        "a + b",
        identity="0",
        map="m[row][i] * m[row][i]",
        arguments="const int *m",
        rows="rows",
        length="width",
        checks_laws=False,
    )
    take(norms, BY_ITEM if form == "item" else FORMS[form], queue.device)
    for rows, width in ((0, 5), (1, 1), (3, 0), (1, 4097), (5, 257), (97, 3)):
        m = whole(rows * width, np.int32).reshape(rows, width)
        result = norms(queue, cl.array.to_device(queue, m))
        np.testing.assert_array_equal(result.get(), (m * m).sum(axis=1))


@pytest.mark.parametrize("form", ["lanes", "strided"])
def test_places_of_extremes(form: str, queue: cl.CommandQueue) -> None:
    least, largest = (
        take(make("const float *x"), FORMS[form], queue.device) for make in (Reduce.argmin, Reduce.argmax)
    )
    for n in (1, 2, 31, 1021, 4097):
        x = whole(n)  # many are equal
        cases = [x, x - 2, np.where(x > 2, np.nan, x), np.where(x > 1, -0.0, x)]
        cases += [np.full(n, value) for value in (np.nan, np.inf, -np.inf)]
        for each in cases:
            given = cl.array.to_device(queue, each.astype(np.float32))
            assert least(queue, given).get() == np.argmin(each)
            assert largest(queue, given).get() == np.argmax(each)
    assert largest(queue, cl.array.empty(queue, 0, np.float32)).get() == -1
