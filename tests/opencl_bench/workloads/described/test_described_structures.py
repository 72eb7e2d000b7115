"""`[structures]` of a description: where fields lie, what fills them, the shape of buffers, and mistakes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyopencl as cl
import pytest

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.workloads.described.check_signature import check_kernel_of
from coarsen.opencl_bench.workloads.described.read import read_benchmark
from coarsen.tuning.measure.comparison import compare
from coarsen.tuning.workload.benchmark import LocalArgument
from coarsen.variant.data_layout import SOA, ArrayLayout, Order
from coarsen.variant.pads import XOR, Pad
from coarsen.variant.placement import Place
from coarsen.variant.space import ArrayChoices
from tests.opencl_bench.workloads.described.conftest import Write
from tests.workload_runs import build_program, kernels_of, run_workload

KERNEL = """\
typedef struct { float mass; float3 place; double weight; ushort tags[3]; uchar kind; } Body;
typedef struct { float sum; uint number; } Found;
kernel void found(global const Body *bodies, global Found *results, uint width, local Body *scratch)
{
    uint item = get_global_id(1) * width + get_global_id(0);
    if (get_global_id(0) >= width)
        return;
    results[item].sum = bodies[item].mass + bodies[item].place.z + bodies[item].weight;
    results[item].number = bodies[item].tags[2] + bodies[item].kind;
}
"""
FILE = """\
file = "found.cl"
kernel = "found"
outputs = ["results"]
relative_tolerance = 1e-6
ndrange = {global_size = ["(width + 15) // 16 * 16", "height"], local_size = [16, 1]}
sizes = {test = {width = 13, height = 5}}

[structures.Body]
mass = "float"
place = "float3"
weight = "double"
tags = "ushort[3]"
kind = "uchar"

[structures.Found]
sum = "float"
number = "uint"

[[arguments]]
name = "bodies"
buffer = "Body"
shape = ["height", "width"]
values = { mass = "uniform(1, 2)", place = "uniform(-9, -8)", weight = "constant(4)", tags = "integers(500, 600)", kind = "integers(0, 9)" }

[[arguments]]
name = "results"
buffer = "Found"
shape = ["height", "width"]

[[arguments]]
name = "width"
scalar = "uint"
value = "width"

[[arguments]]
name = "scratch"
local = "Body"
elements = 2
"""  # noqa: E501
OFFSETS = """\
typedef struct { float mass; float3 place; double weight; ushort tags[3]; uchar kind; } Body;
#define PLACE(FIELD) (uint)((global char *)&body->FIELD - (global char *)body)
kernel void offsets(global Body *body, global uint *found)
{
    found[0] = PLACE(mass); found[1] = PLACE(place); found[2] = PLACE(weight); found[3] = PLACE(tags);
    found[4] = PLACE(kind); found[5] = sizeof(Body);
}
"""


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """`write(("n = 1000", "n = 7"))` writes kernel and file with parts replaced and gives the file's path."""

    def write_here(*replacements: tuple[str, str]) -> Path:
        text = FILE
        for old, new in replacements:
            assert old in text
            text = text.replace(old, new)
        (tmp_path / "found.cl").write_text(KERNEL)
        path = tmp_path / "found.toml"
        path.write_text(text)
        return path

    return write_here


def test_fields_lie_where_a_device_has_them(write: Write, queue: cl.CommandQueue) -> None:
    kind = read_benchmark(write()).workload("test").buffers["bodies"].dtype
    fields: Mapping[str, Any] = kind.fields or {}
    wanted = [*(fields[name][1] for name in kind.names or ()), kind.itemsize]
    found = np.zeros(6, np.uint32)
    buffer = cl.Buffer(queue.context, cl.mem_flags.READ_WRITE, 256)
    cl.Program(queue.context, OFFSETS).build().offsets(queue, (1,), None, buffer, buffer)
    cl.enqueue_copy(queue, found, buffer)
    assert found.tolist() == wanted == [0, 16, 32, 40, 46, 48]


def test_buffers_have_their_shape_and_every_field_its_values(write: Write) -> None:
    workload = read_benchmark(write()).workload("test")
    bodies, results = workload.buffers["bodies"], workload.buffers["results"]
    assert bodies.shape == results.shape == (5, 13)
    assert (bodies["place"].shape, bodies["tags"].shape) == ((5, 13, 3), (5, 13, 3))
    assert ((bodies["place"] >= -9) & (bodies["place"] < -8)).all()
    assert ((bodies["tags"] >= 500) & (bodies["tags"] < 600)).all() and (bodies["weight"] == 4).all()
    assert np.isnan(results["sum"]).all() and (results["number"] == 0xA5A5A5A5).all()
    # What no field has isn't 0, so that a kernel which reads it shows.
    assert (bodies.view(np.uint8).reshape(5, 13, 48)[..., [4, 15, 28, 31, 47]] == 0xA5).all()
    assert workload.launches[0].arguments[-1] == LocalArgument(96)


def test_the_kernel_computes_with_the_fields(write: Write, queue: cl.CommandQueue) -> None:
    benchmark = read_benchmark(write())
    workload = benchmark.workload("test")
    result = run_workload(queue, workload, kernels_of(build_program(queue.context, benchmark)))
    bodies, wanted = workload.buffers["bodies"], workload.buffers["results"].copy()
    wanted["sum"] = bodies["mass"] + bodies["place"][..., 2] + bodies["weight"]
    wanted["number"] = bodies["tags"][..., 2].astype(np.uint32) + bodies["kind"]
    assert compare(result.outputs, {"results": wanted}, workload) == []
    assert not result.violated


def test_the_kernel_has_such_structures(write: Write) -> None:
    check_kernel_of(write())


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            'mass = "float"',
            'mass = "int"',
            "Body has an integer of 4 bytes at byte 0, and the kernel a floating-poi",
        ),
        (
            'weight = "double"',
            'weight = "float2"',
            "4 bytes at byte 32, and the kernel a floating-point number of 8",
        ),
        ('kind = "uchar"', 'kind = "uchar[17]"', "Body has 64 bytes, and 48 in the kernel"),
        (
            'sum = "float"\nnumber = "uint"',
            'sum = "float"\nnumber = "ushort[2]"',
            "at byte 4, and the kernel an int",
        ),
        ('place = "float3"', 'place = "float4"', "at byte 28, and the kernel no number that begins there"),
    ],
)
def test_other_structures_than_the_kernels(write: Write, old: str, new: str, message: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        check_kernel_of(write((old, new)))
    assert message in str(caught.value)


def test_a_file_of_such_structures_or_of_their_bytes(write: Write, tmp_path: Path) -> None:
    made = read_benchmark(write()).workload("test").buffers["bodies"]
    content = made.view(np.uint8).reshape(65, 48)
    start, end = FILE.index("values = { mass"), FILE.index('[[arguments]]\nname = "results"')
    for stored in (made, content):
        np.save(tmp_path / "bodies.npy", stored)
        read = read_benchmark(write((FILE[start:end], "values = 'file(\"bodies.npy\")'\n"))).workload("test")
        assert read.buffers["bodies"].dtype == made.dtype
        assert all(np.array_equal(read.buffers["bodies"][name], made[name]) for name in made.dtype.names or ())
    np.save(tmp_path / "bodies.npy", np.zeros(65, [("f0", np.int64, (6,))]))
    with pytest.raises(InvalidInputError, match=r"bodies\.npy holds structures of other fields than Body"):
        read_benchmark(write((FILE[start:end], "values = 'file(\"bodies.npy\")'\n")))


def test_fields_and_shape_decide_about_the_inputs(write: Write) -> None:
    hashes = [
        read_benchmark(write(*changes)).inputs_hash
        for changes in (
            (),
            (('shape = ["height", "width"]\n\n', 'elements = "height * width"\n\n'),),
            (("integers(0, 9)", "integers(0, 8)"),),
            (('kind = "uchar"', 'kind = "char"'),),
        )
    ]
    assert len(set(hashes)) == len(hashes)


BODIES = 'buffer = "Body"\nshape = ["height", "width"]'


def test_layouts_and_orders_are_choices_and_no_part_of_the_inputs(write: Write) -> None:
    without = read_benchmark(write())
    chosen = read_benchmark(write((BODIES, f'{BODIES}\nlayouts = ["soa", "aosoa:32"]\norders = ["1,0"]')))
    assert without.arrays == () and chosen.inputs_hash == without.inputs_hash
    assert chosen.arrays == (
        ArrayChoices("bodies", (SOA, ArrayLayout.parse("aosoa:32")), (Order((1, 0)),)),
    )  # fmt: skip


def test_places_and_pads_are_choices_and_no_part_of_the_inputs(write: Write) -> None:
    chosen = read_benchmark(
        write(
            (BODIES, f'{BODIES}\nplaces = ["constant", "local"]'),
            ("sizes = {", 'pads = {tile = ["1", "xor"]}\nsizes = {'),
        )
    )
    assert chosen.inputs_hash == read_benchmark(write()).inputs_hash
    assert chosen.arrays == (
        ArrayChoices("bodies", places=(Place.CONSTANT, Place.LOCAL)),
        ArrayChoices("tile", pads=(Pad(elements=1), XOR)),
    )  # fmt: skip


def test_extents_that_are_numbers_are_the_shape_of_a_copy(write: Write) -> None:
    fixed = 'buffer = "Body"\nshape = ["2", "3 * 2"]\nplaces = ["local"]'
    assert read_benchmark(write((BODIES, fixed))).arrays == (
        ArrayChoices("bodies", places=(Place.LOCAL,), shape=(2, 6)),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (BODIES, BODIES + '\nplaces = ["image"]', "arguments[0].places: image is not offered"),
        ("sizes = {", 'pads = {tile = ["auto"]}\nsizes = {', "pads.tile: auto is for `coarsen apply`"),
        ("sizes = {", "pads = {tile = [1]}\nsizes = {", "pads.tile: it must be an array of texts"),
        (BODIES, BODIES + '\nlayouts = ["rows"]', "arguments[0].layouts: a layout is aos, soa, aosoa:WIDTH, "),
        (BODIES, BODIES + '\norders = ["0"]', "arguments[0].orders: an order names each of the 2 extents of sh"),
        ('buffer = "Found"', 'buffer = "float"\nlayouts = ["soa"]', "arguments[1].layouts: float has no fields"),
        ('mass = "float"\n', 'mass = "flot"\n', "structures.Body.mass: 'flot' is no type (did you mean float"),
        ('mass = "float"\n', "mass = 4\n", "structures.Body.mass: it must be a text, not 4"),
        ('mass = "float"\n', '"a b" = "float"\n', "structures.Body.a b: a field's name has letters, digits and _"),
        ('mass = "float"\n', 'mass = "Found"\n', "structures.Body.mass: 'Found' is no type"),
        ('mass = "float"\n', 'mass = "bytes"\n', 'structures.Body.mass: bytes of a field are "uchar[8]"'),
        ('mass = "float"\n', 'mass = "float[0]"\n', "mass: an array must have at least one element"),
        ('mass = "float"\n', 'mass = "float3[2]"\n', "mass: float3[2] can't be described; an element of it lies"),
        ('tags = "ushort[3]"', 'tags = "ushort[999999]"', "structures.Body: it has 2000048 bytes; 1048576 are th"),
        ("[structures.Found]\nsum", "[structures.uint]\nsum", "structures.uint: that is a type of OpenCL C"),
        ("[structures.Found]\nsum", "[structures.Empty]\n[structures.Found]\nsum", "structures.Empty: it must ha"),
        ("[structures.Found]\nsum", "[structures.'a b']\nsum", "structures.a b: a structure's name has letters"),
        ('buffer = "Found"', 'buffer = "Foumd"', "arguments[1].buffer: 'Foumd' is no type (did you mean Found?)"),
        ('scalar = "uint"', 'scalar = "Body"', "arguments[2].scalar: a structure that is passed by value is"),
        ('mass = "uniform(1, 2)"', 'moss = "zeros"', "values.moss: Body has no such field (did you mean mass?);"),
        (', kind = "integers(0, 9)"', "", "arguments[0].values.kind: it is missing; Body has this field"),
        ("integers(0, 9)", "integers(0, 999)", "arguments[0].values: kind: 'integers(0, 999)' goes beyond what u"),
        ("integers(0, 9)", "integers(0, m)", "arguments[0].values: there is no 'm'"),
        ("integers(500, 600)", "uniform(0, 1)", "values: tags: 'uniform(0, 1)' is for floating-point types"),
        ("values = {", 'values = "uniform(0, 1)" #', "arguments[0].values: Body is a structure: a table of its f"),
        (BODIES, BODIES + '\nelements = "width"', "arguments[0].elements: it follows from shape; leave out one"),
        (BODIES, 'buffer = "Body"\nshape = []', "arguments[0].shape: it must have an entry for each of 1 to"),
        (BODIES, 'buffer = "Body"\nshape = ["height", 1.5]', "arguments[0].shape: it must hold whole nu"),
        (BODIES, 'buffer = "Body"\nshape = ["-height", "-width"]', "arguments[0].shape: '-height' must be at lea"),
        (BODIES, 'buffer = "Body"\nshape = ["hight", "width"]', "arguments[0].shape: there is no 'hight' (did yo"),
        (BODIES, BODIES + '\nelement_bytes = 48', 'element_bytes: it goes with buffer = "bytes" alone'),
        ("outputs =", 'order_free = ["results"]\noutputs =', "order_free: 'results' has a shape, whose elements"),
    ],
)  # fmt: skip
def test_mistakes(write: Write, old: str, new: str, message: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        read_benchmark(write((old, new)))
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
