"""Structures of described kernels: what their bytes mean, and how they are given."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from coarsen.errors import InvalidInputError
from coarsen.frontend.lower import lower
from coarsen.opencl_bench.workloads.described.read import read_benchmark
from coarsen.tuning.workload.argument_use import fields_of, parameter_type, structure_of
from coarsen.tuning.workload.benchmark import ScalarArgument

SOURCE = """\
typedef struct { int count; float3 place; char used[2]; } Item;
struct node { double weight; struct { short low; float high; } range; Item items[2]; char tag; };
typedef union { int whole; float number; } Either;
typedef struct { Either either; uint tag; } Tagged;
kernel void f(global Item *items, global struct node *nodes, Tagged tagged, global void *any, float3 move)
{
    size_t item = get_global_id(0);
    items[item].used[1] = tagged.either.whole;
    nodes[item].weight = items[item].place.x + move.y;
}
"""
VECTOR = (np.float32, (3,))
ITEM = np.dtype(
    {
        "names": ["f0", "f1", "f2"],
        "formats": [np.int32, VECTOR, (np.int8, (2,))],
        "offsets": [0, 16, 32],
        "itemsize": 48,
    }
)
RANGE = np.dtype({"names": ["f0", "f1"], "formats": [np.int16, np.float32], "offsets": [0, 4], "itemsize": 8})
NODE = np.dtype(
    {
        "names": ["f0", "f1", "f2", "f3"],
        "formats": [np.float64, RANGE, (ITEM, (2,)), np.int8],
        "offsets": [0, 8, 16, 112],
        "itemsize": 128,
    }
)


def test_what_the_bytes_of_a_kernels_structures_mean() -> None:
    kernel = lower(SOURCE, "f", [])
    found = {parameter.name: structure_of(kernel, parameter) for parameter in kernel.arguments}
    assert [name for name, structure in found.items() if structure is None] == ["any", "move"]
    types = {name: fields_of(kernel, each) for name, each in found.items() if each is not None}
    assert types == {
        "items": ITEM,
        "nodes": NODE,
        "tagged": np.dtype([("f0", np.uint8, (4,)), ("f1", np.int32)]),
    }
    sizes = [parameter_type(kernel, parameter).byte_count for parameter in kernel.arguments]
    assert sizes == [48, 128, 8, 1, 16]


def test_a_last_byte_before_the_end_is_a_field_also_where_structures_are_only_copied() -> None:
    source = """\
typedef struct { ulong key; ushort group; uchar flag; } Record;
kernel void f(global Record *records, uint from) { records[get_global_id(0)] = records[from]; }
"""
    kernel = lower(source, "f", [])
    structure = structure_of(kernel, kernel.arguments[0])
    assert structure is not None
    kind = fields_of(kernel, structure)
    fields: Mapping[str, Any] = kind.fields or {}
    found = [(name, kind[name], fields[name][1]) for name in kind.names or ()]
    assert found == [("f0", np.dtype("i8"), 0), ("f1", np.dtype("i2"), 8), ("f2", np.dtype("i1"), 10)]
    assert kind.itemsize == 16


FILE = """\
file = "k.cl"
kernel = "k"
outputs = ["items"]
ndrange = {global_size = [4], local_size = [2]}
[sizes.test]

[[arguments]]
name = "items"
buffer = "bytes"
element_bytes = 48
elements = 4
values = 'file("items.npy")'

[[arguments]]
name = "first"
scalar = "bytes"
value = "0100 ff07"

[[arguments]]
name = "tile"
local = "bytes"
element_bytes = 3
elements = 5
"""


def written(folder: Path, *replacements: tuple[str, str]) -> Path:
    text = FILE
    for old, new in replacements:
        assert old in text
        text = text.replace(old, new)
    (folder / "k.cl").write_text("")
    path = folder / "k.toml"
    path.write_text(text)
    return path


@pytest.mark.parametrize("kind", [ITEM, np.dtype(np.uint8)])
def test_a_file_of_structures_or_of_their_bytes(kind: np.dtype[np.void], tmp_path: Path) -> None:
    contents = np.arange(4 * 48, dtype=np.uint8).view(kind)
    np.save(tmp_path / "items.npy", contents)
    workload = read_benchmark(written(tmp_path)).workload("test")
    assert workload.buffers["items"].dtype == kind
    assert workload.buffers["items"].shape == ((4,) if kind.names else (4, 48))
    assert workload.buffers["items"].tobytes() == contents.tobytes()
    _, first, tile = workload.launches[0].arguments
    assert isinstance(first, ScalarArgument)
    assert first.value.tobytes() == bytes([1, 0, 0xFF, 7])
    assert getattr(tile, "byte_count", None) == 15


def test_the_padding_of_a_file_is_kept(tmp_path: Path) -> None:
    contents = np.frombuffer(np.random.default_rng(0).bytes(4 * 48), ITEM)
    np.save(tmp_path / "items.npy", contents)
    read = read_benchmark(written(tmp_path)).workload("test").buffers["items"]
    assert all(np.array_equal(read[field], contents[field], equal_nan=field == "f1") for field in ITEM.names or ())
    assert read.dtype.itemsize == 48


@pytest.mark.parametrize(
    "kind",
    [
        np.dtype([("f0", "V8"), ("f1", np.int32, (10,))]),
        np.dtype([("f0", "S8"), ("f1", np.int32, (10,))]),
        np.dtype([("f0", np.dtype([("f0", "M8[s]")]), (2,)), ("f1", np.int32, (8,))]),
    ],
)
def test_a_file_whose_fields_are_no_numbers(kind: np.dtype[np.void], tmp_path: Path) -> None:
    np.save(tmp_path / "items.npy", np.zeros(4, kind))
    with pytest.raises(InvalidInputError, match=r"items\.npy holds structures whose fields aren't all numbers"):
        read_benchmark(written(tmp_path))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "element_bytes = 48",
            "element_bytes = 0",
            "arguments[0].element_bytes: it must be a whole number from 1",
        ),
        ("element_bytes = 48", "element_bytes = 24", "items.npy holds structures of 48 bytes, not of 24"),
        (
            '"bytes"\nelement_bytes = 48',
            '"int"\nelement_bytes = 4',
            'element_bytes: it goes with buffer = "bytes"',
        ),
        ("elements = 4\n", "elements = 5\n", "items.npy holds 4 structures, and 5 of bytes are 5"),
        ('"0100 ff07"', '"0100 ff0"', "arguments[1].value: it must be the bytes in hexadecimal digits"),
        ('"0100 ff07"', '" "', "arguments[1].value"),
        ('"0100 ff07"', "7", "arguments[1].value: it must be a text"),
    ],
)
def test_mistakes(old: str, new: str, message: str, tmp_path: Path) -> None:
    np.save(tmp_path / "items.npy", np.zeros(4, ITEM))
    with pytest.raises(InvalidInputError) as caught:
        read_benchmark(written(tmp_path, (old, new)))
    assert message in str(caught.value)
