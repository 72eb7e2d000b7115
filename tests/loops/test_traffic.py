"""Accesses to global memory are as many as the nest says: counted by isl, and by Oclgrind while kernels run."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import islpy as isl
import numpy as np
import pytest

from coarsen.devices.discovery import DeviceDescription
from coarsen.frontend.lower import lower
from coarsen.loops.kernel_text import opencl_text
from coarsen.loops.kernels import NestKernel
from coarsen.loops.nest import Access, Nest, Statement, affine_text
from coarsen.pipeline import run_pipeline
from coarsen.variant.transforms import Tile, Transforms
from coarsen.variant.variant import Variant
from tests.loops.nests import NESTS
from tests.loops.ran import Made, make, run_on
from tests.loops.test_kernels import inputs, made
from tests.oclgrind.watch import watching

SIZE, TILE = 5, 16
# A product whose sizes leave parts of tiles in every direction: in one group of four all work-items are inside.
PRODUCT = """void mm(int n, int m, int l, float a[n][l], float b[l][m], float c[n][m])
{ for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) {
    float s = 0; for (int k = 0; k < l; k++) s += a[i][k] * b[k][j]; c[i][j] = s; } }"""
SIZES = {"n": 17, "m": 18, "l": 35}


def runs_on(parameters: Mapping[str, object]) -> bool:
    """Oclgrind alone counts."""
    device = parameters.get("device")
    return isinstance(device, DeviceDescription) and device.is_called("oclgrind")


def count(relation: isl.Map | isl.Set, nest: Nest, sizes: Mapping[str, float]) -> int:
    """The number of pairs of a relation, or of points of a set, at some sizes."""
    fixed = " and ".join(f"{name} = {int(sizes[name])}" for name in nest.parameters) or "0 = 0"
    pairs = relation.wrap() if isinstance(relation, isl.Map) else relation
    return int(pairs.intersect_params(isl.Set(nest.set_text(f": {fixed}"))).count_val().to_python())


def union(parts: list[isl.Map]) -> isl.Map:
    whole = parts[0]
    for each in parts[1:]:
        whole = whole.union(each)
    return whole


def reached(nest: Nest, statement: Statement, access: Access) -> isl.Map:
    return isl.Map(nest.access(statement, access)).intersect_domain(isl.Set(nest.domain(statement)))


def of_kernel(found: Made, kernel: NestKernel, sizes: Mapping[str, float]) -> Counter[str]:
    """What a kernel's work-items load and store: what one has already, or sets again, it keeps."""
    nest, result = found.nest, Counter[str]()
    items = {each.name: kernel.spread(each) for each in kernel.statements}
    written = {access.array for each in kernel.statements for access in each.writes}
    for array in (each.name for each in nest.arrays.values() if not each.is_private):
        own = [(each, access) for each in kernel.statements for access in each.reads if access.array == array]
        for each, _ in own if array in written else ():
            missing = isl.Set(nest.domain(each))
            for one in found.found:
                if (one.kind, one.array, one.sink) == ("flow", array, each.name) and one.source in items:
                    same = items[one.source].apply_range(items[each.name].reverse())
                    missing = missing.subtract(isl.Map(one.relation).intersect(same).range())
            result["load"] += count(missing, nest, sizes)
        if array in written:
            stores = [
                items[each.name].reverse().apply_range(reached(nest, each, access))
                for each in kernel.statements
                for access in each.writes
                if access.array == array
            ]
            result["store"] += count(union(stores), nest, sizes)
        elif own:
            # Statements in the same loops share what they load by the same subscripts.
            shared: dict[object, list[isl.Map]] = {}
            for each, access in own:
                key = (*(loop.number for loop in each.loops), *map(affine_text, access.subscripts))
                shared.setdefault(key, []).append(reached(nest, each, access).reset_tuple_id(isl.dim_type.in_))
            result["load"] += sum(count(union(parts), nest, sizes) for parts in shared.values())
    return result


def told(text: str) -> Counter[str]:
    """What Oclgrind says: how often global memory was loaded and stored."""
    result = Counter[str]()
    for number, kind in re.findall(r"(\d+) - (load|store) global \(", text):
        result[kind] += int(number)
    return result


@pytest.mark.parametrize("name", NESTS)
def test_kernels_access_what_the_nest_says(
    name: str, device: DeviceDescription, capfd: pytest.CaptureFixture[str]
) -> None:
    found = made(name, "vla")
    numbers, arrays = inputs(found, name, SIZE)
    expected = Counter[str]()
    with watching(device, OCLGRIND_INST_COUNTS="1") as watched:
        for text in found.kernels:
            expected += of_kernel(found, text.kernel, numbers)
        run_on(watched.queue, found.build(watched.context), found, numbers, arrays, is_guarded=False)
    assert told(capfd.readouterr().out) == expected


@pytest.mark.parametrize("tile", [None, Tile(str(TILE))], ids=["plain", "tiles"])
def test_copies_are_of_what_whole_tiles_read(
    tile: Tile | None, device: DeviceDescription, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    found = make(PRODUCT, tmp_path)
    nest, (text,) = found.nest, found.kernels
    adding = next(each for each in nest.statements if each.accumulates)
    i, j, k = adding.iterators
    group = f"{i} - {i} mod {TILE} + {TILE} <= n and {j} - {j} mod {TILE} + {TILE} <= m"
    in_tile = isl.Set(nest.set_text(f"{adding.instance} : {group} and {k} - {k} mod {TILE} + {TILE} <= l"))
    tiles = isl.Map(f"{{ {adding.instance} -> [{', '.join(f'floor({each}/{TILE})' for each in (i, j, k))}] }}")
    loads = 0
    for access in adding.reads:
        if not nest.arrays[access.array].is_private:
            relation = reached(nest, adding, access)
            if tile is not None:
                copied = tiles.intersect_domain(in_tile).reverse().apply_range(relation)
                loads += count(copied, nest, SIZES)
                relation = relation.subtract(relation.intersect_domain(in_tile))
            loads += count(relation, nest, SIZES)
    transforms = Transforms() if tile is None else Transforms(tile=tile)
    made_of = run_pipeline(lower(opencl_text([text], {}), "mm"), Variant((TILE, TILE), transforms=transforms))
    # Where there are macros, launches are in whole groups.
    tiled = replace(found, kernels=(replace(text, text=made_of.opencl_c),), macros={"SPLIT": 1})
    random = np.random.default_rng(0)
    extents = {"a": "nl", "b": "lm", "c": "nm"}
    arrays = {name: random.random([SIZES[each] for each in own], np.float32) for name, own in extents.items()}
    with watching(device, OCLGRIND_INST_COUNTS="1") as watched:
        kernels = tiled.build(watched.context)
        after = run_on(watched.queue, kernels, tiled, SIZES, arrays, is_guarded=False)
    assert told(capfd.readouterr().out) == {"load": loads, "store": SIZES["n"] * SIZES["m"]}
    np.testing.assert_allclose(after["c"], arrays["a"] @ arrays["b"], rtol=1e-5)
