"""Programs whose arrays lie otherwise: what they compute, and what their launches refuse."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyopencl as cl
import pytest

import coarsen

pytestmark = pytest.mark.compiled_devices

SOURCE = """
typedef struct { float x; uchar tag; double mass; short kind; } Body;

kernel void grow(global Body *bodies, global const float *image, int n)
{
    int i = get_global_id(0);
    if (i < n) bodies[i].mass = bodies[i].mass * 2 + image[i] + bodies[i].tag;
}

kernel void swap(global Body *bodies, global Body *others)
{
    int i = get_global_id(0);
    short kind = bodies[i].kind;
    bodies[i].kind = others[i].kind;
    others[i].kind = kind;
}

kernel void add(global float *to, float value)
{
    to[get_global_id(0)] += value;
}
"""
BODY = np.dtype([("x", "f4"), ("tag", "u1"), ("mass", "f8"), ("kind", "i2")], align=True)
SOA, TILES = coarsen.Layout.soa(BODY), coarsen.Layout.aosoa(BODY, 4)
IMAGE = coarsen.Layout.aos("f4", order=(1, 0))
ROWS, WIDTH = 3, 20
COUNT = ROWS * WIDTH


def some_bodies() -> np.ndarray:
    bodies = np.zeros(COUNT, BODY)
    bodies["tag"], bodies["mass"] = np.arange(COUNT) % 7, np.arange(COUNT) * 3
    bodies["kind"] = -np.arange(COUNT)
    return bodies


def some_image() -> np.ndarray:
    return np.arange(COUNT, dtype=np.float32).reshape(ROWS, WIDTH)


def built(queue: cl.CommandQueue, **options: Any) -> coarsen.Program:  # noqa: ANN401 (a program's own)
    return coarsen.Program(queue.context, SOURCE, arrays={"bodies": SOA, "image": IMAGE}, **options).build()


def test_kernels_work_on_packed_arrays(queue: cl.CommandQueue) -> None:
    program = built(queue, factor=4)
    bodies = coarsen.LaidOutArray(queue, SOA, some_bodies())
    image = coarsen.LaidOutArray(queue, IMAGE, some_image())
    wanted = some_bodies()
    for _ in range(2):
        program.grow(queue, (64,), (32,), bodies, image, np.int32(COUNT))
        wanted["mass"] = wanted["mass"] * 2 + some_image().reshape(-1) + wanted["tag"]
    np.testing.assert_array_equal(bodies.get(queue), wanted)
    np.testing.assert_array_equal(image.get(queue), some_image())
    bodies.set(queue, some_bodies())
    np.testing.assert_array_equal(bodies.get(queue), some_bodies())


def test_other_kernels_and_arguments_stay_as_they_are(queue: cl.CommandQueue) -> None:
    program = built(queue, factor=2)
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    values = cl.Buffer(queue.context, flags, hostbuf=np.zeros(64, np.float32))
    program.add(queue, (64,), (32,), values, np.float32(1.5))
    found = np.empty(64, np.float32)
    cl.enqueue_copy(queue, found, values)
    assert (found == 1.5).all()
    others = some_bodies()
    others["kind"] = 5
    plain = cl.Buffer(queue.context, flags, hostbuf=others)
    # The bytes of a packed buffer say how many elements a structure of arrays has.
    packed = cl.Buffer(queue.context, flags, hostbuf=SOA.pack(some_bodies()))
    program.swap(queue, (COUNT,), (20,), packed, plain)
    cl.enqueue_copy(queue, others, plain)
    np.testing.assert_array_equal(others["kind"], some_bodies()["kind"])
    after = np.empty(packed.size, np.uint8)
    cl.enqueue_copy(queue, after, packed)
    assert (SOA.unpack(after)["kind"] == 5).all()


def test_launches_that_would_find_other_data_are_refused(queue: cl.CommandQueue) -> None:
    program = built(queue, factor=1)
    bodies = coarsen.LaidOutArray(queue, SOA, some_bodies())
    tiles = coarsen.LaidOutArray(queue, TILES, some_bodies())
    image = coarsen.LaidOutArray(queue, IMAGE, some_image())
    plain = cl.Buffer(queue.context, cl.mem_flags.READ_WRITE, bodies.data.size)
    size, count = ((COUNT,), (20,)), np.int32(COUNT)
    with pytest.raises(
        coarsen.InvalidInputError, match=r"the array for bodies lies as aosoa:4 of .*, and grow wants"
    ):
        program.grow(queue, *size, tiles, image, count)
    with pytest.raises(
        coarsen.InvalidInputError, match=r"the array for others lies as soa .* wants it as written"
    ):
        program.swap(queue, *size, bodies, bodies)
    with pytest.raises(coarsen.RefusalError, match=r"the buffer for bodies lies otherwise .*layout-same-buffer"):
        program.swap(queue, *size, bodies, bodies.data)
    with pytest.raises(coarsen.RefusalError, match=r"layout-same-buffer"):
        program.swap(queue, *size, bodies, bodies.data.get_sub_region(0, 4))
    with pytest.raises(
        coarsen.RefusalError, match=r"the bytes .* for image do not say its shape.*layout-shape-unkno"
    ):
        program.grow(queue, *size, bodies, plain, count)
    with pytest.raises(
        coarsen.InvalidInputError, match=r"the 901 bytes for bodies are no whole number of elements"
    ):
        program.grow(queue, *size, cl.Buffer(queue.context, cl.mem_flags.READ_WRITE, 901), image, count)
    with pytest.raises(coarsen.InvalidInputError, match=r"grow takes 3 arguments, not 2"):
        program.grow(queue, *size, bodies, image)
    with pytest.raises(
        coarsen.InvalidInputError, match=r"bodies lies as soa .*pass a coarsen.LaidOutArray, not None"
    ):
        program.grow(queue, *size, None, image, count)


def test_they_are_kernels_like_others_that_are_called_with_their_arguments(queue: cl.CommandQueue) -> None:
    program = built(queue, factor=4)
    assert [kernel.function_name for kernel in program.all_kernels()] == ["grow", "swap", "add"]
    bodies = coarsen.LaidOutArray(queue, SOA, some_bodies())
    image = coarsen.LaidOutArray(queue, IMAGE, some_image())
    kernel: Any = cl.Kernel(program, "grow").clone()
    with pytest.raises(coarsen.InvalidInputError, match=r"kernel grow: its arrays lie otherwise: call it"):
        kernel.set_arg(0, bodies.data)
    with pytest.raises(coarsen.InvalidInputError, match=r"call it"):
        kernel.set_arg_types([None, None, np.int32])
    kernel(queue, (64,), (32,), arg0=bodies, arg1=image, arg2=np.int32(COUNT))
    assert kernel.divided(queue.device, (64,), (32,)).global_size == (16,)
    np.testing.assert_array_equal(
        bodies.get(queue)["mass"], some_bodies()["mass"] * 2 + some_image().reshape(-1) + some_bodies()["tag"]
    )


def test_names_that_are_none(queue: cl.CommandQueue) -> None:
    program = coarsen.Program(queue.context, SOURCE, arrays={"body": SOA})
    with pytest.raises(coarsen.InvalidInputError, match=r"no kernel has an argument body"):
        program.build()
    with pytest.raises(AttributeError, match=r"'grown' was not found"):
        _ = built(queue, factor=1).grown
    with pytest.raises(coarsen.InvalidInputError, match=r"elements of bodies are"):
        coarsen.Program(queue.context, SOURCE, arrays={"bodies": coarsen.Layout.soa("f4")}).build()
