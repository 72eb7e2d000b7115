"""All versions of a pipeline put out what the interpreter does, at every size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyopencl as cl
import pyopencl.array
import pytest
from numpy.typing import NDArray

from coarsen.dispatch.features import Feature
from coarsen.dispatch.tree import Leaf, Split, Tree
from coarsen.errors import InvalidInputError
from coarsen.stream import Actor, Map, SplitJoin, Stencil, Stream, interpret, pipeline

pytestmark = pytest.mark.compiled_devices
Stages = Sequence[Actor | SplitJoin]
GAIN = Map("gain", "k * u + i", arguments="float k")
PAIRS = Actor("pairs", pop=2, work="push(pop() - pop());")
NEAR = Actor("near", peek=3, work="push((peek(0) + 2 * peek(1) + peek(2)) / 4); pop();")
WEIGHTS = "const float *h, int taps"
FIR = Actor(
    "fir", peek="taps", arguments=WEIGHTS,
    work="float s = 0; for (int j = 0; j < taps; j++) s += h[j] * peek(j); pop(); push(s);",
)  # fmt: skip
# A matrix by a vector, row by row: the width is an argument, which no image has.
ROW = Actor(
    "row", pop="taps", arguments=WEIGHTS,
    work="float s = 0; for (int j = 0; j < taps; j++) s += h[j] * pop(); push(s);",
)  # fmt: skip
SPREAD = Actor("spread", pop=3, push=2, work="float a = pop(); push(a); push(pop() - pop());")
ROUND = Map("round", "(int)floor(u)", result="int")
EDGES = Stencil("edges", "u(-1, 0) + u(0, 0) + u(2, 0) - u(0, -1)", border="edge")
CROSS = Stencil(
    "cross", "(u(-1, 0) + u(1, 0) + u(0, -3) + u(0, 1)) / 4 + x - y + k", border="-k", arguments="float k"
)
BOTH = SplitJoin(Map("low", "u"), (Map("half", "u / 2"), Map("high", "3 - u")), name="both")
SIZES = (0, 1, 2, 7, 64, 131)

CASES: Mapping[str, tuple[Stages, Sequence[str]]] = {
    "maps": ((GAIN, Map("square", "u * u")), "k"),
    "rates": ((PAIRS, NEAR), ""),
    "convolution": ((GAIN, FIR), ("k", "h", "taps")),
    "matrix by vector": ((ROW, GAIN), ("k", "h", "taps")),
    "several out": ((SPREAD, PAIRS), ""),
    "types": ((ROUND, Map("odd", "u % 2 ? (uchar)u : 0", type="int", result="uchar")), ""),
    "stencils": ((EDGES, CROSS), "k"),
    "an image and no more": ((EDGES, PAIRS), ""),
    "joined": ((GAIN, BOTH), "k"),
    "joined and taken": ((BOTH, PAIRS), ""),
    "joined by more": ((SplitJoin(Map("all", "u"), PAIRS, join=(2, 1)), NEAR), ""),
    "an image joined": ((SplitJoin(EDGES, Map("own", "u")), PAIRS), ""),
}
GIVEN: Mapping[str, Any] = {"k": 1.5, "h": np.array([1, -2, 3], np.float32), "taps": 3}


def by_turns(stream: Stream, device: cl.Device) -> Any:  # noqa: ANN401 (a tuned file)
    """Return a tuned file that takes each version of a pipeline, by the number of its elements."""
    versions = stream.versions
    tree: Tree = Leaf(0)
    for number in range(1, len(versions)):
        tree = Split("turn", number - 0.5, tree, Leaf(number))
    features = (Feature("turn", f"n % {len(versions)}"),)
    return replace(stream.tuned_file(device), versions=versions, tree=tree, features=features)


def shaped(elements: NDArray[Any], has_image: bool) -> NDArray[Any]:
    """An image of two or three rows, or of one that is narrower than any neighbourhood."""
    height = 3 if elements.size % 3 == 0 else 2 if elements.size % 2 == 0 else 1
    return elements.reshape(height, -1) if has_image else elements


@pytest.mark.parametrize("case", CASES)
def test_every_version_at_every_size(case: str, queue: cl.CommandQueue) -> None:
    stages, names = CASES[case]
    plain = pipeline(*stages)
    stream = pipeline(*stages, tuned=by_turns(plain, queue.device))
    has_image = "height" in plain._pipeline.sizes
    given = {name: GIVEN[name] for name in names}
    passed = {**given, **({"h": cl.array.to_device(queue, given["h"])} if "h" in given else {})}
    for n in sorted({*SIZES, *range(60, 60 + len(plain.versions))}):
        elements = np.random.default_rng(n).integers(-8, 9, n).astype(np.float32)
        image = shaped(elements, has_image)
        size = {"height": image.shape[0], "width": image.shape[1]} if has_image else {}
        expected = interpret(stages, elements, **size, **given)
        source = cl.array.empty(queue, image.shape, np.float32) if not n else cl.array.to_device(queue, image)
        found = stream(queue, source, **passed)
        assert found.dtype == expected.dtype
        np.testing.assert_allclose(found.get().reshape(-1), expected, rtol=1e-5, err_msg=f"{n} elements")


def test_an_image_stays_one(queue: cl.CommandQueue) -> None:
    image = np.arange(35, dtype=np.float32).reshape(5, 7)
    own = cl.array.to_device(queue, image)
    out = cl.array.zeros(queue, (5, 7), np.float32)
    step = pipeline(Stencil("left", "u(-1, 0)", border="9"))
    assert step(queue, own, out=out) is out
    np.testing.assert_array_equal(out.get(), np.hstack([np.full((5, 1), 9), image[:, :-1]]))
    given = step(queue, own.base_data, width=5, height=7)
    assert given.shape == (7, 5)
    assert given.get()[1, 0] == 9


def test_calls_that_are_refused(queue: cl.CommandQueue) -> None:
    step, own = pipeline(GAIN, FIR), cl.array.zeros(queue, 8, np.float32)
    given = {"k": 1, "h": own, "taps": 3}
    for changed, words in (
        ({"k": None}, "k is no float32"),
        ({"taps": 2.5}, "taps is no int32"),
        ({"taps": 0}, "a rate between gain and fir is 0"),
        ({"h": cl.array.zeros(queue, 8, np.int32)}, "h is of int32, not float32"),
        ({"h": own[2:]}, "h is neither a buffer nor an array"),
        ({"b": 1}, "the argument b is none of the actors'; there are k, h, taps"),
        ({"out": cl.array.zeros(queue, 8, np.float32)}, "out has 8 elements, and (6,) come out"),
    ):
        with pytest.raises(InvalidInputError) as error:
            step(queue, own, **{**given, **changed})
        assert words in str(error.value)
    with pytest.raises(InvalidInputError, match="the output is the input's memory"):
        pipeline(GAIN)(queue, own, out=own, k=1)
    with pytest.raises(InvalidInputError, match="the argument h is missing"):
        step(queue, own, k=1, taps=3)
    with pytest.raises(InvalidInputError, match="elements is of float64, not float32"):
        step(queue, cl.array.zeros(queue, 8, np.float64), **given)
    with pytest.raises(InvalidInputError, match="is of another pipeline"):
        pipeline(GAIN, tuned=step.tuned_file(queue.device))
