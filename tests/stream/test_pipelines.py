"""All versions of a pipeline put out what the interpreter does, at every size."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from operator import le
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyopencl as cl
import pyopencl.array
import pytest
from numpy.typing import NDArray
from pyopencl.tools import ImmediateAllocator, MemoryPool

import coarsen
from coarsen.dispatch.features import Feature
from coarsen.dispatch.launch_sizes import sequence_function, size_inputs
from coarsen.dispatch.tree import Leaf, Split, Tree
from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.inputs.described import check_described, described_versions
from coarsen.opencl_bench.inputs.drawing import list_inputs
from coarsen.opencl_bench.workloads.described.read import read_description
from coarsen.stream import Actor, Map, Reduce, SplitJoin, Stencil, Stream, interpret, pipeline
from coarsen.stream.versions import file_of

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
LOOP = Actor("loop", pop=2, work="float s = 0; for (int j = 0; j < 2; j++) s = 2 * s + pop(); push(s);")
FURTHER = Actor("further", peek=3, work="int j = 0; float s = peek(j++); s += 3 * peek(j++); pop(); push(s);")
BOTH = SplitJoin(Map("low", "u"), (Map("half", "u / 2"), Map("high", "3 - u")), name="both")
# Names of its own hide functions that places are computed with.
HIDING = Actor(
    "hiding", peek=3, pop=2, push=2, work="float max = pop(); float min = pop(); push(max - peek(0)); push(min);"
)
SIZES = (0, 1, 2, 7, 64, 131)

CASES: Mapping[str, tuple[Stages, Sequence[str]]] = {
    "maps": ((GAIN, Map("square", "u * u")), "k"),
    "rates": ((PAIRS, NEAR), ""),
    "convolution": ((GAIN, FIR), ("k", "h", "taps")),
    "matrix by vector": ((ROW, GAIN), ("k", "h", "taps")),
    "several out": ((SPREAD, PAIRS), ""),
    "a vector after another": ((GAIN, ROW), ("k", "h", "taps")),
    "types": ((ROUND, Map("odd", "u % 2 ? (uchar)u : 0", type="int", result="uchar")), ""),
    "stencils": ((EDGES, CROSS), "k"),
    "an image and no more": ((EDGES, PAIRS), ""),
    "an image and a loop": ((EDGES, LOOP), ""),
    "an image joined by loops": ((EDGES, SplitJoin((Map("own", "u"), LOOP), (PAIRS, FURTHER), name="loops")), ""),
    "three branches": ((SplitJoin(Map("all", "u"), FURTHER, FIR),), ("h", "taps")),
    "joined": ((GAIN, BOTH), "k"),
    "joined and taken": ((BOTH, PAIRS), ""),
    "joined and taken by loops": ((BOTH, SplitJoin(LOOP, (FURTHER, PAIRS), name="loops")), ""),
    "joined by more": ((SplitJoin(Map("all", "u"), PAIRS, join=(2, 1)), NEAR), ""),
    "an image joined": ((SplitJoin(EDGES, Map("own", "u")), PAIRS), ""),
    "names of functions": ((HIDING, replace(HIDING, name="again")), ""),
    "images joined at the end": ((GAIN, SplitJoin(EDGES, (CROSS, Map("half", "u / 2")))), "k"),
}
NUMBERS = {"n": 210, "width": 14, "height": 15, "taps": 3}
GIVEN: Mapping[str, Any] = {"k": 1.5, "h": np.array([1, -2, 3], np.float32), "taps": 3}


def by_turns(stream: Stream, device: cl.Device) -> Any:  # noqa: ANN401 (a tuned file)
    """Return a tuned file that takes each version of a pipeline, by the number of its elements."""
    versions = stream.versions
    tree: Tree = Leaf(0)
    for number in range(1, len(versions)):
        tree = Split("turn", number - 0.5, tree, Leaf(number))
    features = (Feature("turn", f"n % {len(versions)}"),)
    return replace(file_of(stream._pipeline, stream.source, versions, device), tree=tree, features=features)


def test_maps_may_be_in_place(queue: cl.CommandQueue) -> None:
    stages = GAIN, Map("square", "u * u")
    plain = pipeline(*stages)
    stream = pipeline(*stages, tuned=by_turns(plain, queue.device))
    for n in range(1021, 1021 + len(plain.versions)):
        elements = np.random.default_rng(n).integers(-8, 9, n).astype(np.float32)
        own = cl.array.to_device(queue, elements)
        assert stream(queue, own, k=1.5, out=own) is own
        assert len(own.events) == 1
        np.testing.assert_allclose(own.get(), interpret(stages, elements, k=1.5), rtol=1e-5)


def shaped(elements: NDArray[Any], has_image: bool) -> NDArray[Any]:
    """An image of two or three rows, or of one that is narrower than any neighbourhood."""
    height = 3 if elements.size % 3 == 0 else 2 if elements.size % 2 == 0 else 1
    return elements.reshape(height, -1) if has_image else elements


@pytest.mark.parametrize("case", CASES)
def test_every_version_at_every_size(case: str, queue: cl.CommandQueue, caplog: pytest.LogCaptureFixture) -> None:
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
        # Numbers of few bits: nothing is rounded.
        np.testing.assert_array_equal(found.get().reshape(-1), expected, err_msg=f"{n} elements")
    # The default version would run in place of one that isn't built.
    assert caplog.messages == []


def test_a_channel_is_transposed(queue: cl.CommandQueue) -> None:
    step = pipeline(SPREAD, PAIRS)
    channel, n = cl.array.zeros(queue, 8, np.float32), 12
    source = cl.array.to_device(queue, np.arange(n, dtype=np.float32))
    for layout, expected in (0, [0, -1, 3, -1, 6, -1, 9, -1]), (1, [0, 3, 6, 9, -1, -1, -1, -1]):
        program = cl.Program(queue.context, step.source).build([f"-DLAYOUT_spread={layout}"])
        program.spread_pairs_spread(queue, (16,), None, source.data, channel.data, np.int32(n))
        assert channel.get().tolist() == expected
    told = step.explain().splitlines()
    assert [line.startswith("version") for line in told].count(True) == 2
    assert told[-1].endswith("; the channel between spread and pairs is transposed, as 2 rows")
    # What is fused has no layout.
    assert [dict(each.variant.definitions) for each in pipeline(GAIN, PAIRS).versions] == [
        {"FUSE_gain": fused, "LAYOUT_gain": layout} for fused, layout in (("1", "0"), ("0", "0"), ("0", "1"))
    ]


def test_options_choose_macros() -> None:
    step = pipeline(GAIN, Map("square", "u * u"))
    calls = "gain_square_gain(input, t, n, k)", "gain_square(t, output, n, k)"
    for value in (0, 1):
        chosen: dict[str, Any] = {"options": [f"-DFUSE_gain={value}"]}
        text = coarsen.coarsen(step.source, kernel="gain_square", **chosen).opencl_c
        assert ("k * " in text) == bool(value)
        assert coarsen.fuse(step.source, *calls, **chosen).opencl_c.count("k * ") == 1 + value
    total = Reduce("a + b", identity="0", arguments="const float *x")
    lanes = coarsen.coarsen(total.source, kernel="reduce", factor=1, options=["-DLANES=4"]).opencl_c
    assert re.search(r"lanes\[4\]", lanes)
    rows = Reduce("a + b", identity="0", arguments="const float *x", rows="rows")
    pinned = Reduce("a + b", identity="0", arguments="const float *x", reproducible=True)
    for each, options, words in (
        (total, ["-DFORM=1"], "FORM is not to be chosen here"),
        (total, ["-DLANES=3"], "LANES are powers of two"),
        (total, ["-DGROUPS=0"], "GROUPS, LOCAL and"),
        (rows, ["-DFORM=2"], "FORM is 0 or 1"),
        (rows, ["-DFORM=1", "-DGROUPS=4"], r"FORM \* GROUPS <= 1"),
        (pinned, ["-DLOCAL=16"], r"LOCAL \* LANES == 256"),
    ):
        with pytest.raises(InvalidInputError, match=words):
            coarsen.coarsen(each.source, kernel="reduce", options=options)


def test_an_interior_has_no_border(queue: cl.CommandQueue) -> None:
    wide = Stencil("wide", "u(5, 0) + 2 * u(-5, 0) - u(0, 5) - 2 * u(0, -5)", border="k", arguments="float k")
    stages = (wide, replace(wide, name="wider"))
    plain = pipeline(*stages)
    assert plain._pipeline.macros.keys() == {"FUSE_wide", "INTERIOR_wide", "INTERIOR_wider"}
    stream = pipeline(*stages, tuned=by_turns(plain, queue.device))
    # Each version has work-groups that just see the border, and some that just don't.
    for height in range(17, 25):
        image = np.random.default_rng(height).integers(-8, 9, (height, 49)).astype(np.float32)
        expected = interpret(stages, image, width=49, height=height, k=100)
        found = stream(queue, cl.array.to_device(queue, image), k=100).get()
        np.testing.assert_array_equal(found.reshape(-1), expected, err_msg=f"{height} rows")


@pytest.mark.parametrize("expression", ["u(x % 2, 0)", "u(k, 0)", "u(0, 0)", "u(1, 0) + u(k, 0)"])
def test_neighbours_that_numbers_do_not_tell_have_no_interior(expression: str) -> None:
    step = pipeline(Stencil("near", expression, border="0", arguments="int k"))
    assert step._pipeline.macros == {}


SUM = Reduce("a + b", identity="0", arguments="const float *x", checks_laws=False)
LARGEST = Reduce.argmax("const float *x")
ROWS = Reduce("a + b", identity="0", arguments="const float *x", rows="rows", checks_laws=False)
PRODUCTS = Map("product", "u * h[i % taps]", arguments=WEIGHTS)
REDUCED: Mapping[str, tuple[Stages, Reduce, Sequence[str], str]] = {
    "maps": ((GAIN, Map("square", "u * u")), SUM, "k", "None"),
    "a stencil": ((GAIN, CROSS, Map("square", "u * u")), SUM, "k", "gain_stream"),
    "a stencil and a loop": ((EDGES, LOOP), SUM, "", "None"),
    "several out": ((GAIN, SPREAD), SUM, "k", "gain_spread"),
    "the place of the largest": ((PAIRS,), LARGEST, "", "None"),
    "a matrix by a vector": ((PRODUCTS,), ROWS, ("h", "taps"), "None"),
    "branches": ((GAIN, BOTH), SUM, "k", "None"),
}


@pytest.mark.parametrize("case", REDUCED)
def test_a_reduction_computes_what_it_takes(case: str, queue: cl.CommandQueue) -> None:
    stages, end, names, front = REDUCED[case]
    step = pipeline(*stages, end)
    if step.front is not None:
        # The last of its versions, which transposes where there is what to.
        versions = step.front.versions
        last = file_of(step.front._pipeline, step.front.source, versions, queue.device, len(versions) - 1)
        step = pipeline(*stages, end, tuned=last)
    assert str(step.front and step.front._pipeline.name) == front
    given = {name: GIVEN[name] for name in names}
    passed = {**given, **({"h": cl.array.to_device(queue, given["h"])} if "h" in given else {})}
    for n in (0, 1, 6, 131, 1026) if end is not ROWS else (0, 3, 1026):
        elements = np.random.default_rng(n).integers(-8, 9, n).astype(np.float32)
        image = shaped(elements, "stencil" in case)
        size = {"height": image.shape[0], "width": image.shape[1]} if image.ndim > 1 else {}
        taken = interpret(stages, elements, **size, **given)
        rows: dict[str, Any] = {"rows": n // 3} if end is ROWS else {}
        expected = taken.sum()
        if end is LARGEST:
            expected = taken.argmax() if taken.size else -1
        elif end is ROWS:
            expected = taken.reshape(-1, 3).sum(1)
        source = cl.array.empty(queue, image.shape, np.float32) if not n else cl.array.to_device(queue, image)
        found = step(queue, source, **passed, **rows).get()
        np.testing.assert_allclose(found, expected, rtol=1e-4, err_msg=f"{n} elements")
    assert "computed where the reduction takes" in step.explain()


@pytest.mark.parametrize(("factor", "border"), [(1, "7"), (2, "7"), (2, "edge")])
def test_a_stencil_has_tiles_and_super_tiles(factor: int, border: str, queue: cl.CommandQueue) -> None:
    stencil = Stencil("cross", "u(-1, 0) + 3 * u(1, 0) - u(0, -2)", border=border)
    plan = coarsen.array_plan("input", place="local")
    demanded = ["-DWORK_GROUP=16,4,1"]
    tiled = coarsen.coarsen(pipeline(stencil).source, factor=factor, dim=1, options=demanded, arrays=[plan])
    assert "local float input_tile[" in tiled.opencl_c
    image = np.random.default_rng(1).integers(0, 9, (37, 50)).astype(np.float32)
    source, out = cl.array.to_device(queue, image), cl.array.zeros(queue, image.shape, np.float32)
    kernel = cl.Program(queue.context, tiled.opencl_c).build().cross_stream
    sizes = map(np.int32, (image.size, 50, 37))
    kernel(queue, (64, 40 // factor), (16, 4 // factor), source.data, out.data, *sizes)
    expected = interpret([stencil], image, width=50, height=37).reshape(image.shape)
    np.testing.assert_array_equal(out.get(), expected)


def test_a_reduction_with_a_map_of_its_own_is_refused() -> None:
    dot = Reduce("a + b", identity="0", map="x[i] * x[i]", arguments="const float *x")
    with pytest.raises(InvalidInputError, match="put its map before it, as a Map"):
        pipeline(GAIN, dot)
    with pytest.raises(InvalidInputError, match="by its parts, `front` and `reduction`"):
        pipeline(GAIN, SUM).describe("own.toml")


def test_what_a_reduction_cannot_take_is_refused(queue: cl.CommandQueue) -> None:
    with pytest.raises(InvalidInputError, match="a puts out elements of type double, and reduction takes int"):
        pipeline(Map("a", "u", type="double"), Reduce("a + b", identity="0", arguments="const int *x"))
    matrix = cl.array.zeros(queue, (6, 8), np.float32)
    with pytest.raises(InvalidInputError, match="out is in the memory"):
        pipeline(Map("a", "u"), ROWS)(
            queue, matrix, out=cl.array.Array(queue, 6, np.float32, data=matrix.base_data)
        )
    nothing = cl.array.empty(queue, 0, np.float32)
    assert pipeline(Map("a", "u", arguments="const float *h"), SUM)(queue, matrix, h=nothing).get() == 0


def test_memory_is_not_given_away_while_kernels_use_it(queue: cl.CommandQueue) -> None:
    """The channel before a reduction is dropped by the call, while its kernels still wait."""
    pool, gate = MemoryPool(ImmediateAllocator(queue)), cl.UserEvent(queue.context)
    image = cl.array.to_device(queue, np.ones((30, 40), np.float32), allocator=pool)
    step = pipeline(Map("twice", "2 * u"), EDGES, SUM)
    found = step(queue, image, wait_for=[gate])
    other = cl.array.zeros(cl.CommandQueue(queue.context), image.shape, np.float32, allocator=pool)
    other.finish()
    gate.set_status(cl.command_execution_status.COMPLETE)
    assert found.get() == 4 * image.size
    assert not other.get().any()
    assert step.front is not None
    assert found.allocator is pool


def test_long_pipelines(queue: cl.CommandQueue) -> None:
    maps = [Map(f"m{number}", "u + 1") for number in range(20)]
    step = pipeline(*maps)
    assert len(step.versions) == 2**8
    assert step(queue, cl.array.zeros(queue, 3, np.float32)).get().tolist() == [20] * 3
    near = [replace(NEAR, name=f"near{number}") for number in range(14)]
    assert pipeline(*near)._pipeline.counts[-1] == "max(n - 28, 0)"
    twice = [Actor(f"d{each}", pop=2, push=2, work="push(pop()); push(pop());") for each in range(17)]
    with pytest.raises(InvalidInputError, match="a pipeline of 17 kernels is too long"):
        pipeline(*twice)
    with pytest.raises(InvalidInputError, match="the pipeline is too long"):
        pipeline(*(replace(FIR, name=f"fir{number}") for number in range(14)))


def test_a_channel_that_takes_too_long_to_say_is_not_transposed(tmp_path: Path) -> None:
    triples, pairs = replace(SPREAD, push=1, work="push(pop() - pop() + pop());"), replace(PAIRS, name="last")
    step = pipeline(SplitJoin(EDGES, PAIRS, triples, NEAR, name="all"), pairs)
    assert step._pipeline.layouts == {}
    step.describe(tmp_path / "long.toml")
    assert read_description(tmp_path / "long.toml").kernel == "all_last"


def test_a_rate_of_the_only_actor_is_checked(queue: cl.CommandQueue) -> None:
    own, loop = cl.array.zeros(queue, 8, np.float32), "float s = pop(); for (int j = 0; j < k; j++) s += pop();"
    step = pipeline(Actor("own", pop="k + 1", arguments="int k", work=f"{loop} push(s);"))
    assert step(queue, own, k=1).size == 4
    for k, words in ((-1, "a rate between the one before and own is 0"), (0, "k is 0, and in a rate")):
        with pytest.raises(InvalidInputError, match=words):
            step(queue, own, k=k)


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
    given: dict[str, Any] = {"k": 1, "h": own, "taps": 3}
    changes: tuple[tuple[dict[str, Any], str], ...] = (
        ({"k": None}, "k is a number of the type float32"),
        ({"taps": 2.5}, "taps is a number of the type int32"),
        ({"taps": 0}, "a rate between gain and fir is 0"),
        ({"h": cl.array.zeros(queue, 8, np.int32)}, "h is of the type int32, not float32"),
        ({"h": own[2:]}, "h doesn't start where its buffer does"),
        ({"k": np.ones(2)}, "k is a number of the type float32, not array([1., 1.])"),
        ({"b": 1}, "the argument b is none of the actors'; there are k, h, taps"),
        ({"out": cl.array.zeros(queue, 8, np.float32)}, "out has 8 elements, and 6 come out"),
        ({"out": own.base_data}, "out is an array of PyOpenCL's, not <pyopencl"),
        ({"out": own[2:]}, "out doesn't start where its buffer does"),
    )
    for changed, words in changes:
        with pytest.raises(InvalidInputError) as error:
            step(queue, own, **{**given, **changed})
        assert words in str(error.value)
    with pytest.raises(InvalidInputError, match="the output is the memory of something"):
        pipeline(GAIN, NEAR)(queue, own, out=own, k=1)
    with pytest.raises(InvalidInputError, match="the output is the memory of something"):
        pipeline(Map("plus", "u + h[i]", arguments="const float *h"))(queue, 2 * own, out=own, h=own)
    with pytest.raises(InvalidInputError, match="the argument h is missing"):
        step(queue, own, k=1, taps=3)
    with pytest.raises(InvalidInputError, match="elements is of the type float64, not float32"):
        step(queue, cl.array.zeros(queue, 8, np.float64), **given)
    with pytest.raises(InvalidInputError, match="is of another pipeline"):
        pipeline(GAIN, tuned=file_of(step._pipeline, step.source, step.versions, queue.device))


ALIKE: Mapping[str, tuple[Stages, Sequence[str]]] = {
    "one kernel": CASES["maps"],
    "a rate by a number": CASES["convolution"],
    "several kernels": CASES["rates"],
    "images": CASES["stencils"],
}


@pytest.mark.parametrize("case", ALIKE)
def test_calls_alike_are_given_what_each_is_passed(case: str, queue: cl.CommandQueue) -> None:
    """Calls that repeat a launch have their own arrays, numbers, shapes, queue and result."""
    stages, names = ALIKE[case]
    step, has_image = pipeline(*stages), case == "images"
    other = cl.CommandQueue(queue.context, properties=cl.command_queue_properties.OUT_OF_ORDER_EXEC_MODE_ENABLE)
    outs: dict[Any, Any] = {}
    for turn in range(11):
        height, taps = (5, 8, 10)[turn // 2 % 3], 3 + (turn == 9)
        size = {"height": height, "width": 40 // height}
        elements = np.random.default_rng(turn).integers(-8, 9, (*size.values(),)).astype(np.float32)
        elements = elements if has_image else elements[0]
        given: dict[str, Any] = {"k": turn / 2, "taps": taps, "h": np.arange(turn, turn + taps, dtype=np.float32)}
        own, where = cl.array.to_device(queue, elements), other if turn % 5 == 4 else queue
        passed: dict[str, Any] = {
            name: given[name] if name != "h" else cl.array.to_device(queue, given["h"]) for name in names
        }
        queue.finish()
        out = outs.get((elements.shape, taps)) if turn % 3 else None
        found = step(where, own, out=out, **passed)
        assert out is None or found is out
        outs[elements.shape, taps] = found
        said = {name: given[name] for name in names} | (size if has_image else {})
        wanted = interpret(stages, elements, **said)
        np.testing.assert_allclose(found.get().reshape(-1), wanted, rtol=1e-4, atol=1e-4)
        if has_image:
            assert found.shape == elements.shape and found.flags.c_contiguous


def test_calls_alike_are_refused_alike(queue: cl.CommandQueue) -> None:
    """What is wrong with a call is said in the same words after others that repeated a launch."""
    whole = cl.array.zeros(queue, 72, np.float32)
    plus, blur = pipeline(Map("plus", "k * u + h[i]", arguments="const float *h, int k")), pipeline(NEAR)
    own, h, out = (cl.array.zeros(queue, 8, np.float32) for _ in range(3))
    wrong: Sequence[tuple[Stream, Any, dict[str, Any]]] = (
        (plus, own, {"h": h, "k": 1, "out": h}),
        (plus, own, {"h": own, "k": 1, "out": own}),
        (plus, own, {"h": h, "k": 1.5, "out": out}),
        (plus, own, {"h": h[1:], "k": 1, "out": out}),
        (plus, own, {"h": h, "k": 1, "out": whole[8:16]}),
        (plus, own, {"h": h, "k": 1, "out": np.zeros(8, np.float32)}),
        (plus, own, {"h": h, "k": 1, "out": out.astype(np.int32)}),
        (plus, own.get(), {"h": h, "k": 1}),
        (plus, own, {"k": 1}),
        (blur, out, {"out": out[:6]}),
    )

    def said() -> list[str]:
        found = []
        for stream, elements, given in wrong:
            with pytest.raises(InvalidInputError) as error:
                stream(queue, elements, **given)
            found.append(str(error.value))
        return found

    first = said()
    for k in range(3):
        np.testing.assert_array_equal(plus(queue, own + 1, h=h, k=k, out=out).get(), np.full(8, k, np.float32))
        # In place, and not.
        assert plus(queue, out, h=h, k=2, out=out).get()[3] == 2 * k
        assert blur(queue, out, out=cl.array.zeros(queue, 6, np.float32)).get()[0] == 2 * k
        assert said() == first


def test_a_reduction_at_the_end_is_given_what_each_call_is_passed(queue: cl.CommandQueue) -> None:
    end = Reduce("a + b", identity="0", arguments="const float *x", rows="rows", checks_laws=False)
    total = pipeline(GAIN, NEAR, end)
    for turn in range(8):
        elements = np.arange(turn, turn + (26, 14)[turn // 3 % 2], dtype=np.float32)
        wanted = interpret((GAIN, NEAR), elements, k=turn).reshape(1 + turn % 2, -1).sum(1)
        found = total(queue, cl.array.to_device(queue, elements), k=turn, rows=1 + turn % 2)
        np.testing.assert_allclose(found.get(), wanted, rtol=1e-5)


@pytest.mark.parametrize(
    ("given", "count"),
    [({"n": 1000, "taps": 3}, 1), ({"n": (256, 258), "taps": [2, np.int32(3)], "h": "2 * taps"}, 6), ({}, 24)],
)
def test_what_is_described_has_inputs(given: dict[str, Any], count: int, tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    pipeline(GAIN, FIR).describe(path, **given)
    list_inputs(path)
    assert len(read_description(path).sizes) == count + 1


@pytest.mark.parametrize(
    "given",
    [{"n": each} for each in ("5", (5,), (5, 2), (1, 2, 3), 2.5)] + [{"taps": (0, 4)}, {"h": 3.5}, {"h": "2 * m"}],
)
def test_sizes_that_are_none_are_not_described(given: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match=r"whole number|no size is m"):
        pipeline(GAIN, FIR).describe(tmp_path / "own.toml", **given)
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize("case", ["rates", "convolution", "several out", "types", "stencils", "an image joined"])
def test_the_description_has_the_same_versions(case: str, tmp_path: Path) -> None:
    stages, _ = CASES[case]
    plain, path = pipeline(*stages), tmp_path / "own.toml"
    plain.describe(path)
    assert check_described(path) == ()
    assert path.with_suffix(".cl").read_text() == plain.source
    description = read_description(path)
    own = [argument.name for argument in description.arguments_of(description.kernel)]
    described = described_versions(description, [each.variant for each in plain.versions])
    device = SimpleNamespace(name="a", driver_version="1")
    for versions in zip(plain.versions, described, strict=True):
        told, memory = [], []
        for version in versions:
            file = file_of(plain._pipeline, plain.source, [version], device)  # type: ignore[arg-type]
            inputs = size_inputs(file)
            sizes = sequence_function(file, version, inputs)(*(NUMBERS[name] for name in inputs))
            passed = [launch.arguments or (*own,) for launch in version.launches]
            assert sizes is not None
            memory.append(sizes.scratch)
            told.append((sizes._replace(scratch=()), passed, [launch.kernel for launch in version.launches]))
        assert told[0] == told[1]
        # The description has memory for all versions, also for those that transpose.
        is_transposed = [value for name, value in versions[0].variant.definitions if name.startswith("LAYOUT")]
        least, most = memory
        assert least == most if "0" not in is_transposed else all(map(le, least, most))


def test_names_that_opencl_has() -> None:
    for name in ("half", "global", "float4", "NAN", "max", "while"):
        with pytest.raises(InvalidInputError, match="can't be called"):
            Map("own", f"u * {name}", arguments=f"float {name}")
    for name, second in (("get", "global_id"), ("convert", "int")):
        with pytest.raises(InvalidInputError, match=f"a kernel can't be called {name}_{second}"):
            pipeline(Map(name, "u"), Map(second, "u"))
        assert pipeline(Map(name, "u"), Map(second, "u"), name="own").source
        # The kernels of a reduction have its own names.
        assert pipeline(Map(name, "u"), Map(second, "u"), SUM, name="own").reduction
    for stages in ((GAIN,), (GAIN, SUM)):
        with pytest.raises(InvalidInputError, match="a pipeline can't be called"):
            pipeline(*stages, name="a b")


def test_a_reduction_is_given_buffers_of_other_sizes(queue: cl.CommandQueue) -> None:
    """What was found for a call is found again for arrays alone, whose sizes are known."""
    total = pipeline(Map("gain", "k * u", arguments="float k"), SUM)
    for turn in range(3):
        for n in (8, 20):
            own = cl.array.to_device(queue, np.arange(n, dtype=np.float32))
            for elements in (own, own.base_data, own):
                assert total(queue, elements, k=turn).get() == turn * n * (n - 1) / 2
    pooled = cl.array.zeros(queue, 1000, np.float32, allocator=MemoryPool(ImmediateAllocator(queue)))
    calls = partial(SUM, queue), partial(total, queue, k=1), partial(pipeline(GAIN), queue, k=1)
    for call in calls:
        with pytest.raises(InvalidInputError, match=r"array of PyOpenCL's, not .*PooledBuffer.*; of a buffer"):
            call(pooled.base_data)
