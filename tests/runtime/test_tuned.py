"""Programs with tuned files: right results whatever is chosen, and nothing built at a launch."""

from __future__ import annotations

import functools
import random
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pyopencl as cl
import pytest

import coarsen
from coarsen.devices.discovery import DeviceDescription
from coarsen.dispatch.features import Feature
from coarsen.dispatch.tree import Leaf, Split
from coarsen.dispatch.tuned_version import TunedVersion
from coarsen.errors import InvalidInputError
from coarsen.variant.coarsening import Coarsening
from coarsen.variant.variant import Variant
from tests.runtime.tuned_files import SOURCE, Product, Seen, built, mv_file, small_file, tuned

pytestmark = pytest.mark.compiled_devices
# By shape: wide, tall and small, tall, large; odd sizes among them.
SHAPES = ((7, 64), (64, 64), (33, 5), (500, 7), (501, 3), (5001, 3), (4999, 2), (1, 1))


@functools.cache
def whole_program(context: cl.Context) -> tuple[coarsen.Program, Seen]:
    """A program with all kinds of versions, and what is seen of its launches."""
    seen = Seen()
    return built(context, mv_file(context.devices[0]), observer=seen), seen


def test_every_version_is_right_and_none_is_built_at_a_launch(
    context: cl.Context, queue: cl.CommandQueue, no_builds: Callable[[], None]
) -> None:
    program, seen = whole_program(context)
    no_builds()
    for height, width in SHAPES:
        product = Product(queue, height, width)
        for _ in range(2):
            program.mv(queue, *product.sizes, *product.arguments)
            product.check()
            tuned(program).launch(queue, *product.arguments)
            product.check()
    factors = {str(divided.coarsenings) for _, divided in seen.launches}
    assert len(factors) == 3
    assert any(divided.guarded for _, divided in seen.launches)
    assert any(divided.transforms and divided.transforms.wide_accesses for _, divided in seen.launches)


def test_random_launches(context: cl.Context, queue: cl.CommandQueue, no_builds: Callable[[], None]) -> None:
    """Unseen and odd sizes, by each route; every fifth with sizes that aren't the default's."""
    generator = random.Random(3)
    program, _ = whole_program(context)
    no_builds()
    products = [Product(queue, generator.randrange(1, 300), generator.randrange(1, 40)) for _ in range(100)]
    for number in range(500):
        product = generator.choice(products)
        global_size, local_size = product.sizes
        match number % 5:
            case 0:
                program.mv(
                    queue, (global_size[0] + 32,), (32,) if global_size[0] % 32 == 0 else None, *product.arguments
                )
            case 1 | 2:
                program.mv(queue, global_size, local_size, *product.arguments)
            case _:
                tuned(program).launch(queue, *product.arguments)
        product.check()


def test_a_large_buffer_takes_no_wide_accesses(
    context: cl.Context, queue: cl.CommandQueue, no_builds: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    program, seen = whole_program(context)
    no_builds()
    product, first = Product(queue, 61, 72), len(seen.launches)
    tuned(program).launch(queue, *product.arguments)
    product.check()
    monkeypatch.setattr("coarsen.runtime.kernel.are_plain", lambda buffers, limit, is_distinct: False)
    monkeypatch.setattr("coarsen.runtime.arguments.SetArguments.are_below", lambda arguments, limit: False)
    larger = Product(queue, 61, 72, guard=256)
    tuned(program).launch(queue, *larger.arguments)
    larger.check()
    wide = [divided.transforms.wide_accesses for _, divided in seen.launches[first:] if divided.transforms]
    assert wide == [True, False]


def test_the_same_sizes_with_other_numbers_are_another_launch(context: cl.Context, queue: cl.CommandQueue) -> None:
    seen = Seen()
    program = built(context, small_file(context.devices[0]), observer=seen)
    for height, width in ((61, 70), (62, 3), (63, 80)):
        product = Product(queue, height, width)
        program.mv(queue, *product.sizes, *product.arguments)
        product.check()
    chosen = [divided.local_size for _, divided in seen.launches]
    assert chosen == [(32,), (16,), (32,)]
    assert {original.global_size for original, _ in seen.launches} == {(64,)}


def test_versions_of_the_callers_sizes(
    context: cl.Context, queue: cl.CommandQueue, no_builds: Callable[[], None]
) -> None:
    seen = Seen()
    versions = (
        TunedVersion(Variant()),
        TunedVersion(Variant((8,), (Coarsening(4, 0),))),
        TunedVersion(Variant((32,))),
    )
    tree = Split("wide", 5.0, Leaf(1), Leaf(2))
    features = (Feature("wide", "width * local_size_0 // local_size_0 + 0 * global_size_0"),)
    file = mv_file(
        context.devices[0],
        versions=versions,
        features=features,
        tree=tree,
        evidence={},
    )
    program = built(context, file, observer=seen)
    no_builds()
    for height in (64, 70, 128, 1):
        for width in (3, 9):
            product = Product(queue, height, width)
            for sizes in (product.sizes, ((height,), None), ((height,), (1,))):
                if sizes[1] is not None:
                    program.mv(queue, *sizes, *product.arguments)
                    product.check()
    assert any(divided.coarsenings for _, divided in seen.launches)
    assert any(divided.local_size == (32,) for _, divided in seen.launches)
    with pytest.raises(InvalidInputError, match="has no sizes of launches"):
        tuned(program).launch(queue, *product.arguments)


def test_explain(context: cl.Context) -> None:
    mv = tuned(whole_program(context)[0])
    found = mv.explain(width=64, height=1 << 12, bytes_a=1 << 20)
    assert found.number == 3
    assert [is_at_most for _, is_at_most in found.path] == [False, False, False]
    assert "version 3: factor 4" in str(found)
    assert "1.25 times as fast" in str(found)
    assert mv.explain(width=1, height=0, bytes_a=0).is_default
    for missing in ({"height": 9}, {"bytes_a": 0}):
        with pytest.raises(InvalidInputError, match="the choice needs"):
            mv.explain(width=64, **missing)
    with pytest.raises(InvalidInputError, match=r"doesn't ask for 'heigth' \(did you mean height"):
        mv.explain(width=64, heigth=3)


def test_files_are_read_and_others_kernels_are_as_ever(
    context: cl.Context, queue: cl.CommandQueue, tmp_path: Path
) -> None:
    path = tmp_path / "mv.tuned.json"
    small_file(context.devices[0]).write(path)
    program = coarsen.Program(context, SOURCE, tuned=str(path), factor={"twice": 2}).build()
    product = Product(queue, 64, 64)
    program.mv(queue, *product.sizes, *product.arguments)
    program.twice(queue, (64,), (16,), product.result)
    product.expected = product.expected * 2
    product.check()


def test_of_several_files_the_devices_own_is_taken(context: cl.Context, queue: cl.CommandQueue) -> None:
    files = [small_file(context.devices[0], device="another"), small_file(context.devices[0])]
    seen = Seen()
    program = coarsen.Program(context, SOURCE, tuned=files, observer=seen).build()
    product = Product(queue, 64, 64)
    program.mv(queue, *product.sizes, *product.arguments)
    assert seen.launches[0][1].local_size == (32,)


def test_what_cant_be_asked_for_together(context: cl.Context) -> None:
    file = small_file(context.devices[0])
    with pytest.raises(InvalidInputError, match="leave out form or tuned"):
        coarsen.Program(context, SOURCE, tuned=file, form="spirv")
    with pytest.raises(InvalidInputError, match="leave out factor or tuned"):
        coarsen.Program(context, SOURCE, tuned=file, factor=4)
    with pytest.raises(InvalidInputError, match="has a factor and a tuned file"):
        coarsen.Program(context, SOURCE, tuned=file, factor={"mv": 4})
    with pytest.raises(InvalidInputError, match=r"no\.tuned\.json: can't be read"):
        coarsen.Program(context, SOURCE, tuned="no.tuned.json")
    with pytest.raises(InvalidInputError, match="of the kernel 'mw', which the program doesn't have"):
        unknown = tuple(
            replace(version, launches=tuple(replace(launch, kernel="mw") for launch in version.launches))
            for version in file.versions
        )
        coarsen.Program(context, SOURCE, tuned=replace(file, kernel="mw", versions=unknown)).build()
    with pytest.raises(InvalidInputError, match="must launch mw, the file's kernel, not mv"):
        replace(file, kernel="mw")


HEAVY = ("sklearn", "sqlalchemy", "scipy", "pandas")


def test_building_and_launching_is_light(device: DeviceDescription) -> None:
    code = f"""
import logging, sys
import pyopencl as cl
from coarsen.devices.discovery import open_device
from coarsen.devices.selection import find_device
import coarsen
from tests.runtime.tuned_files import SOURCE, VERSIONS, Product, Seen, built, mv_file, small_file, tuned
context = cl.Context([open_device(find_device({device.index!r}))])
queue = cl.CommandQueue(context)
program = coarsen.Program(context, SOURCE, tuned=small_file(context.devices[0])).build()
product = Product(queue, 64, 64)
program.mv(queue, *product.sizes, *product.arguments)
program.mv.launch(queue, *product.arguments)
print(*(name for name in {HEAVY!r} if name in sys.modules))
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not result.stdout.split()
