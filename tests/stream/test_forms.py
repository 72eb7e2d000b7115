"""Reductions have NumPy's results at every size, in every form, on every device."""

from __future__ import annotations

import numpy as np
import pyopencl as cl
import pyopencl.array
import pytest

from coarsen.stream import Reduce
from tests.stream.forms import BY_ITEM, FORMS, take, whole

# Oclgrind interprets every form in `oclgrind/test_reductions`.
pytestmark = pytest.mark.compiled_devices
SIZES = (0, 1, 2, 31, 64, 257, 1021, 4095, 4097, 40_000)


@pytest.mark.parametrize("form", FORMS)
def test_a_dot_product(form: str, queue: cl.CommandQueue) -> None:
    dot = Reduce("a + b", identity="0", map="x[i] * y[i]", arguments="const float *x, const float *y")
    take(dot, FORMS[form], queue.device)
    for n in SIZES:
        x, y = whole(n), whole(n, high=3)
        given = (cl.array.to_device(queue, each) for each in (x, y))
        assert dot(queue, *given).get() == np.dot(x, y), n


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
