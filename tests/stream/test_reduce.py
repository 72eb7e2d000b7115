"""What a reduction takes, gives and refuses; how a version of it is chosen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pyopencl as cl
import pyopencl.array
import pytest

from coarsen.devices.discovery import DeviceDescription
from coarsen.dispatch.tree import Leaf, versions_of
from coarsen.errors import InvalidInputError
from coarsen.stream import Reduce
from coarsen.stream.reduction_choice import default_file
from tests.conftest import context_of
from tests.stream.forms import FORMS, summed, take, whole

pytestmark = pytest.mark.compiled_devices
DOT: dict[str, Any] = {"map": "x[i] * y[i]", "arguments": "const float *x, const float *y"}
TYPES: Mapping[str, Any] = {
    "char": np.int8, "short": np.int16, "int": np.int32, "ulong": np.uint64, "long": np.int64,
    "float": np.float32, "double": np.float64,
}  # fmt: skip


@pytest.mark.parametrize("kind", ["char", "int", "ulong", "double"])
def test_types(kind: str, queue: cl.CommandQueue) -> None:
    x = whole(1021, TYPES[kind], 100)
    total = take(summed(kind, checks_laws=False), {}, queue.device)
    result = total(queue, cl.array.to_device(queue, x))
    assert (result.get(), result.dtype, result.shape) == (x.sum(dtype=x.dtype), x.dtype, ())


@pytest.mark.parametrize("version", ["lanes", "blocked", "64 groups"])
def test_vectors(version: str, queue: cl.CommandQueue) -> None:
    x = np.random.default_rng(0).integers(-9, 9, (3, 1021)).astype(np.float32)
    operator, identity = "(float2)(a.x + b.x, fmax(a.y, b.y))", "(float2)(0, -INFINITY)"
    given: dict[str, Any] = {"arguments": "const float *x", "dtype": cl.cltypes.float2, "rows": "rows"}
    both = Reduce(operator, identity=identity, map="(float2)(x[row][i])", **given)
    found = take(both, FORMS[version], queue.device)(queue, cl.array.to_device(queue, x)).get()
    assert (found.shape, found.dtype) == ((3,), cl.cltypes.float2)
    np.testing.assert_array_equal(found["x"], x.sum(axis=1))
    np.testing.assert_array_equal(found["y"], x.max(axis=1))


@pytest.mark.parametrize("kind", ["short", "ulong"])
def test_places_of_extremes_of_whole_numbers(kind: str, queue: cl.CommandQueue) -> None:
    limits = np.iinfo(TYPES[kind])
    x = np.array([[limits.max] * 3, [limits.min] * 3, [1, limits.min, limits.max]], TYPES[kind])
    given = cl.array.to_device(queue, x)
    for make, places in ((Reduce.argmin, [0, 0, 1]), (Reduce.argmax, [0, 0, 2])):
        found = take(make(f"{kind} *x", rows="rows"), {}, queue.device)
        assert found(queue, given).get().tolist() == places


def in_pinned_order(values: np.ndarray[Any, np.dtype[np.float32]]) -> np.float32:
    """The sum of 256 parts, each of 256 lanes, in trees."""

    def tree(lanes: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        half = len(lanes) // 2
        return lanes if half == 0 else tree(lanes[:half] + lanes[half:])

    width = groups = 256
    chunks = len(values) // width
    share = -(-chunks // groups)
    parts = np.zeros(groups, np.float32)
    for group in range(groups):
        lanes = np.zeros(width, np.float32)
        for chunk in range(min(group * share, chunks), min((group + 1) * share, chunks)):
            lanes += values[chunk * width : (chunk + 1) * width]
        if group == groups - 1:
            lanes[: len(values) - chunks * width] += values[chunks * width :]
        parts[group] = tree(lanes)[0]
    found: np.float32 = tree(parts)[0]
    return found


def test_reproducible_sums_are_equal_to_the_last_bit(working_devices: tuple[DeviceDescription, ...]) -> None:
    values = np.random.default_rng(0).standard_normal(300_001).astype(np.float32)
    devices = [each for each in working_devices if not each.is_called("oclgrind")]
    for queue in [cl.CommandQueue(context_of(device)) for device in devices]:
        for version in (0, 1):  # for CPUs and for GPUs
            total = Reduce("a + b", identity="0", arguments="const float *x", reproducible=True)
            file = default_file(total._operation, total.source, queue.device, is_pinned=True)
            total._files = (replace(file, tree=Leaf(version)),)
            for n in (0, 5, 1021, 70_001, 300_001):
                found = total(queue, cl.array.to_device(queue, values[:n])).get()
                assert found.tobytes() == in_pinned_order(values[:n]).tobytes(), (queue.device, version, n)
            assert total.explain(queue, n=5).number == version
    with pytest.raises(InvalidInputError, match="leave it out"):
        Reduce("a + b", identity="0", **DOT, reproducible=True, tuned="x.json")


@pytest.mark.parametrize("kind", [cl.device_type.CPU, cl.device_type.GPU])
@pytest.mark.parametrize("rows", ["", "rows"])
def test_before_tuning_each_version_is_chosen_somewhere(kind: int, rows: str, queue: cl.CommandQueue) -> None:
    class Device:
        """As the queue's, of a kind."""

        type = kind

        def __getattr__(self, name: str) -> Any:  # noqa: ANN401 (as the device has it)
            return getattr(queue.device, name)

    reduction = summed("float", rows=rows, checks_laws=False)
    device: Any = Device()
    file = default_file(reduction._operation, reduction.source, device, is_pinned=False)
    used = versions_of(file.tree)
    assert used | {file.default} == {*range(len(file.versions))}
    # As many kernels as each program of the paper has at most.
    assert len(used) <= 5
    # Whatever the kind of device, any version is right on any device.
    reduction._files = (file,)
    for count, width in ((1, 140_000), (1, 100), (1000, 3), (300, 300), (1, 2_200_000)):
        x = whole(count * width).reshape(count, width)
        expected = x.sum(axis=1) if rows else x.sum()
        assert np.array_equal(reduction(queue, cl.array.to_device(queue, x)).get(), expected)


def test_what_is_reduced_may_lie_anywhere(queue: cl.CommandQueue) -> None:
    scaled = Reduce("a + b", identity="0", map="k * x[2 * i]", arguments="const int *x, int k")
    x = whole(1000, np.int32)
    array = cl.array.to_device(queue, x)
    out = cl.array.zeros(queue, 4, np.int32)
    scaled(queue, array[100:900], 3, n=400, out=out[2])
    scaled(queue, array.data, 1, n=10, out=out[3])
    assert out.get().tolist() == [0, 0, 3 * x[100:900:2].sum(), x[:20:2].sum()]


def test_launches_in_flight_share_no_scratch(context: cl.Context) -> None:
    queues = [cl.CommandQueue(context), cl.CommandQueue(context)]
    out_of_order = cl.command_queue_properties.OUT_OF_ORDER_EXEC_MODE_ENABLE
    queues.append(cl.CommandQueue(context, properties=out_of_order))
    total = take(summed("int"), FORMS["groups of lanes"], context.devices[0])
    arrays = [cl.array.to_device(queues[0], np.full(3001 + k, k + 1, np.int32)) for k in range(9)]
    queues[0].finish()
    results = [total(queues[k % 3], each) for k, each in enumerate(arrays)]
    for queue in queues:
        queue.finish()
    assert [int(each.get()) for each in results] == [(3001 + k) * (k + 1) for k in range(9)]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"operator": "a + reduce_x"}, "the kernel's own"),
        ({"operator": "a + b; // c"}, "no expression"),
        ({"arguments": "const float *x, int LANES"}, "can't be called"),
        ({"arguments": "const float *x, int n"}, "there twice"),
        ({"length": "min"}, "can't be called 'min'"),
        ({"arguments": "const float *kernel"}, "can't be called 'kernel'"),
        ({"arguments": "const float4 *x"}, "none of char to"),
        ({"arguments": "const thing *x"}, "can't be read"),
        ({"arguments": "int x"}, "have no array"),
        ({"map": "x[row]"}, "there are no rows"),
        ({"dtype": np.complex64}, "of the type complex64"),
        ({"dtype": cl.cltypes.float3}, "a vector of 3"),
    ],
)
def test_what_is_no_reduction_is_refused(change: dict[str, Any], message: str) -> None:
    good = {"operator": "a + b", "identity": "0", "arguments": "const float *x"}
    with pytest.raises(InvalidInputError, match=message):
        Reduce(**{**good, **change})


def test_arguments_are_checked(queue: cl.CommandQueue) -> None:
    dot = Reduce("a + b", identity="0", **DOT)
    x = cl.array.zeros(queue, 8, np.float32)
    cases: tuple[tuple[tuple[Any, ...], dict[str, Any], str], ...] = (
        ((x,), {}, "takes 2 arguments, not 1"),
        ((x, x[:7]), {}, "y has 7 elements, and 8 are needed"),
        ((x, x.astype(np.int32)), {}, "y is of the type int32"),
        ((x[::2], x), {}, "in C's order"),
        ((x, 3), {}, "y is an array"),
        ((x, x), {"m": 3}, "there is no size m"),
        ((x, x), {"n": -1}, "are not known"),
        ((x, x), {"n": 2.9}, "n is a number of the type int64"),
        ((x, x), {"out": x}, "out has 8 elements"),
        ((x, x), {"out": x.base_data}, "out is an array of PyOpenCL's, not <pyopencl"),
    )
    scaled = Reduce("a + b", identity="0", map="k * x[i]", arguments="float *x, int k", checks_laws=False)
    for wrong in (1.5, "k", b"1", 2**40, None, [1], np.ones(2)):
        with pytest.raises(InvalidInputError, match="k is a number of the type int32"):
            scaled(queue, x, wrong)
    for values, sizes, message in cases:
        with pytest.raises(InvalidInputError, match=message):
            dot(queue, *values, **sizes)
    with pytest.raises(InvalidInputError, match=r"error: .*'q'[^\n]*\Z"):
        Reduce("a + b", identity="0", map="q + x[i]", arguments="const float *x", checks_laws=False)(queue, x)
    norms = Reduce("a + b", identity="0", arguments="const float *x", rows="rows", checks_laws=False)
    whole = cl.array.arange(queue, 64, dtype=np.float32)
    memory = whole.base_data
    assert isinstance(memory, cl.Buffer)
    inner = cl.array.Array(queue, 8, np.float32, data=memory.get_sub_region(128, 32))
    for out, read in ((whole[28:36], whole[:32].reshape(8, 4)), (whole[28:36], memory), (inner, memory)):
        with pytest.raises(InvalidInputError, match="out is in the memory"):
            norms(queue, read, rows=8, n=4, out=out)
    assert norms(queue, whole[:32].reshape(8, 4), out=whole[32:40]).get()[1] == 22
    with pytest.raises(TypeError, match="lengths"):
        Reduce("a + b", identity="0", **{**DOT, "lengths": "m"})


def test_calls_alike_are_given_what_each_is_passed(queue: cl.CommandQueue) -> None:
    """The third call of a kind launches what the second did, with its own arrays, offsets, numbers and result."""
    scaled = Reduce(
        "a + b", identity="0", map="k * x[i] + y[i]", arguments="int *x, int k, int *y", checks_laws=False
    )
    whole_x, whole_y = (cl.array.to_device(queue, whole(900, np.int32, high)) for high in (5, 7))
    out = cl.array.zeros(queue, 30, np.int32)
    for take_it in (lambda k: None, lambda k: out[k]):
        for k in range(20):
            x, y = whole_x[k : k + 800], whole_y[2 * k : 2 * k + 800]
            found = scaled(queue, x, k, y, out=take_it(k))
            assert found.get() == (k * x.get() + y.get()).sum(), k
    with pytest.raises(InvalidInputError, match="k is a number"):
        scaled(queue, x, 1.5, y)
    with pytest.raises(InvalidInputError, match="takes 3 arguments, not 4"):
        scaled(queue, x, 2, y, out[0])
    for _ in range(3):
        assert scaled(queue, x, 1, y, n=10).get() == (x.get() + y.get())[:10].sum()
        assert scaled(queue, x, 1, y.base_data).get() == (x.get() + whole_y.get()[:800]).sum()
    weighted = Reduce(
        "a + b", identity="0", map="k * x[row][i]", arguments="int *x, int k", rows="rows", checks_laws=False
    )
    matrix = whole_x[:80].reshape(8, 10)
    for k in range(4):
        assert weighted(queue, matrix, k, out=out[8:16]).get().sum() == k * matrix.get().sum()
    with pytest.raises(InvalidInputError, match="out is in the memory"):
        weighted(queue, matrix, 1, out=whole_x[8:16])
    # PyOpenCL's arrays of other classes are taken as often as one likes, with their offsets.
    own = type("Own", (cl.array.Array,), {})(queue, 800, np.int32, data=whole_x.base_data, offset=40)
    for k in range(4):
        assert scaled(queue, own, k, y).get() == (k * own.get() + y.get()).sum()


def test_a_result_that_is_used_again_waits_for_nobody(queue: cl.CommandQueue) -> None:
    """As many launches as one likes may be ahead of the device: each comes after those before."""
    total, gate = summed("int", checks_laws=False), cl.UserEvent(queue.context)
    x, out = cl.array.to_device(queue, whole(99, np.int32)), cl.array.zeros(queue, (), np.int32)
    total(queue, x, out=out)
    for _ in range(40):
        total(queue, x, out=out, wait_for=[gate])
    gate.set_status(cl.command_execution_status.COMPLETE)
    assert out.get() == x.get().sum()
