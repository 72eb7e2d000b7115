"""Programs with tuned files: right results whatever is chosen, nothing built at a launch, and every fallback."""

from __future__ import annotations

import functools
import logging
import random
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import pyopencl as cl
import pytest

import coarsen
from coarsen.devices.discovery import DeviceDescription
from coarsen.dispatch.features import Feature
from coarsen.dispatch.tree import Leaf, Split
from coarsen.dispatch.tuned_file import TunedFile
from coarsen.dispatch.tuned_version import TunedLaunch, TunedVersion
from coarsen.errors import InvalidInputError
from coarsen.frontend.source_hash import hash_with_headers
from coarsen.runtime.launch import DividedLaunch
from coarsen.runtime.original_launch import OriginalLaunch
from coarsen.runtime.tuned_checks import problem_of_program
from coarsen.variant.coarsening import Coarsening
from coarsen.variant.variant import Variant
from tests.runtime.tuned_files import SOURCE, VERSIONS, Product, mv_file, small_file, tuned

pytestmark = pytest.mark.compiled_devices
# By shape: wide, tall and small, tall, large; odd sizes among them.
SHAPES = ((7, 64), (64, 64), (33, 5), (500, 7), (501, 3), (5001, 3), (4999, 2), (1, 1))


@dataclass
class Seen:
    """Observes launches."""

    launches: list[tuple[OriginalLaunch, DividedLaunch]] = field(default_factory=list)

    def launched(self, kernel: str, original: OriginalLaunch, divided: DividedLaunch) -> None:
        assert kernel == "mv"
        self.launches.append((original, divided))


def built(context: cl.Context, file: TunedFile, **options: Any) -> coarsen.Program:  # noqa: ANN401
    return coarsen.Program(context, SOURCE, tuned=file, **options).build()


@functools.cache
def whole_program(context: cl.Context) -> tuple[coarsen.Program, Seen]:
    """A program with all kinds of versions, and what is seen of its launches."""
    seen = Seen()
    return built(context, mv_file(context.devices[0]), observer=seen), seen


@pytest.fixture
def no_builds(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], None]]:
    """Forbids builds and lowering from then on."""

    def forbid() -> None:
        def refuse(*_: object, **__: object) -> None:
            raise AssertionError("built at a launch")

        monkeypatch.setattr(cl.Program, "build", refuse)
        monkeypatch.setattr("coarsen.runtime.plan.build_for_launches", refuse)
        monkeypatch.setattr("coarsen.runtime.code.Codes._coarsened", refuse)

    yield forbid


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
            tuned(program).launch(queue, *product.arguments, features={"skew": 0.75})
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
            case 3:
                tuned(program).launch(queue, *product.arguments, features={"skew": generator.random()})
            case _:
                tuned(program).launch(queue, *product.arguments)
        product.check()


def test_a_large_buffer_takes_no_wide_accesses(
    context: cl.Context, queue: cl.CommandQueue, no_builds: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    program, seen = whole_program(context)
    no_builds()
    product, first = Product(queue, 60, 72), len(seen.launches)
    tuned(program).launch(queue, *product.arguments, features={"skew": 0.9})
    product.check()
    monkeypatch.setattr("coarsen.runtime.tuned_launches.are_below", lambda arguments, limit: False)
    larger = Product(queue, 60, 72, guard=256)
    tuned(program).launch(queue, *larger.arguments, features={"skew": 0.9})
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


def test_a_call_enqueues_once_and_reads_nothing(
    context: cl.Context, queue: cl.CommandQueue, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = built(context, small_file(context.devices[0]))
    product = Product(queue, 500, 7)
    counted: list[str] = []
    enqueue = coarsen.runtime.tuned_kernel.ENQUEUE

    def count(*args: Any) -> Any:  # noqa: ANN401
        counted.append("launch")
        return enqueue(*args)

    def read(*_: object, **__: object) -> None:
        raise AssertionError("a buffer is read")

    monkeypatch.setattr("coarsen.runtime.tuned_kernel.ENQUEUE", count)
    for name in ("enqueue_copy", "enqueue_map_buffer", "enqueue_nd_range_kernel", "enqueue_marker"):
        monkeypatch.setattr(cl, name, read)
    program.mv(queue, *product.sizes, *product.arguments)
    program.mv(queue, *product.sizes, *product.arguments)
    tuned(program).launch(queue, *product.arguments)
    monkeypatch.undo()
    assert counted == ["launch"] * 3
    product.check()


def test_a_thread_has_a_kernel_of_its_own(context: cl.Context) -> None:
    program = built(context, small_file(context.devices[0]))
    kernels, failures = [], []

    def work(first: int) -> None:
        try:
            queue = cl.CommandQueue(context)
            kernels.append(program.mv)
            for number in range(30):
                product = Product(queue, first + 7 * number, 1 + number % 9)
                program.mv(queue, *product.sizes, *product.arguments)
                product.check()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(first,)) for first in (1, 40)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert kernels[0] is not kernels[1]
    assert program.mv is program.mv


OTHERS: dict[str, tuple[dict[str, Any], str]] = {
    "device": ({"device": "another"}, "tuned on 'another'"),
    "driver": ({"driver": "0.1"}, "tuned with the driver 0.1"),
    "source": ({"source_hash": "0" * 64}, "isn't the one that was tuned"),
    "options": ({"build_options": ("-DA",)}, "build options aren't those"),
    "coarsen": ({"coarsen_version": "0.0"}, "written by coarsen 0.0"),
}


@pytest.mark.parametrize("other", OTHERS)
def test_a_file_for_something_else_is_left_alone(
    other: str, context: cl.Context, queue: cl.CommandQueue, caplog: pytest.LogCaptureFixture
) -> None:
    changes, message = OTHERS[other]
    seen = Seen()
    program = built(context, small_file(context.devices[0], **changes), observer=seen)
    product = Product(queue, 64, 64)
    for _ in range(2):
        program.mv(queue, *product.sizes, *product.arguments)
        product.check()
    assert [divided.local_size for _, divided in seen.launches] == [(16,), (16,)]
    said = [record.message for record in caplog.records if message in record.message]
    assert len(said) >= 1
    if other in ("source", "options"):
        with pytest.raises(InvalidInputError, match="gives no sizes"):
            tuned(program).launch(queue, *product.arguments)
    else:
        tuned(program).launch(queue, *product.arguments)
        product.check()


def test_a_file_for_another_header_is_left_alone(context: cl.Context, tmp_path: Path) -> None:
    header = tmp_path / "rows.h"
    header.write_text("#define MANY 1\n")
    source, options = f"#include <rows.h>\n{SOURCE}", (f"-I{tmp_path}",)
    told = hash_with_headers(source, options)
    file = small_file(context.devices[0], source_hash=told, build_options=options)
    assert problem_of_program(file, source, options, len(file.arguments)) is None
    header.write_text("#define MANY 2\n")
    problem = problem_of_program(file, source, options, len(file.arguments))
    assert problem is not None and problem.is_other_code and "a file that it includes" in problem.reason


def test_sizes_that_arent_the_defaults_run_as_it_is_written(
    context: cl.Context, queue: cl.CommandQueue, caplog: pytest.LogCaptureFixture
) -> None:
    seen = Seen()
    program = built(context, small_file(context.devices[0]), observer=seen)
    product = Product(queue, 64, 64)
    for _ in range(3):
        program.mv(queue, (128,), (64,), *product.arguments)
        product.check()
        program.mv(queue, (64,), (16,), *product.arguments, global_offset=(0,))
        product.check()
    assert [divided.local_size for _, divided in seen.launches] == [(64,), (32,)] * 3
    said = [record for record in caplog.records if "sizes that aren't the default version's" in record.message]
    assert len(said) == 1


def test_an_offset_runs_as_it_is_written(context: cl.Context, queue: cl.CommandQueue) -> None:
    program = built(context, small_file(context.devices[0]))
    product = Product(queue, 64, 64)
    program.mv(queue, (32,), (16,), *product.arguments)
    program.mv(queue, (32,), (16,), *product.arguments, global_offset=(32,))
    product.check()


def test_a_group_that_is_too_large_and_a_version_that_isnt_built(
    context: cl.Context, queue: cl.CommandQueue, caplog: pytest.LogCaptureFixture
) -> None:
    wrong = (
        VERSIONS[0],
        TunedVersion(Variant((2**20,)), (TunedLaunch("mv", ("1048576",)),)),
        TunedVersion(Variant((16,), (), (("ROWS", "no_such_name"),)), (TunedLaunch("mv", ("height",)),)),
    )
    for number in (1, 2):
        program = built(
            context, small_file(context.devices[0], versions=wrong, tree=Leaf(number), tree_without_supplied=None)
        )
        product = Product(queue, 40, 3)
        program.mv(queue, *product.sizes, *product.arguments)
        product.check()
        tuned(program).launch(queue, *product.arguments)
        product.check()
        assert f"the version {number}, which can't be launched so" in caplog.text
    assert "version 2 isn't used" in caplog.text


def test_a_supplied_feature_that_is_missing(
    context: cl.Context, queue: cl.CommandQueue, caplog: pytest.LogCaptureFixture
) -> None:
    seen = Seen()
    file = small_file(
        context.devices[0],
        versions=VERSIONS[:3],
        tree=Split("skew", 0.5, Leaf(0), Leaf(1)),
        tree_without_supplied=Leaf(2),
    )
    product = Product(queue, 64, 64)
    program = built(context, file, observer=seen)
    for skew in (0.25, 0.75, float("nan")):
        tuned(program).launch(queue, *product.arguments, features={"skew": skew})
        product.check()
    tuned(program).launch(queue, *product.arguments)
    product.check()
    program = built(context, replace(file, tree_without_supplied=None), observer=seen)
    tuned(program).launch(queue, *product.arguments)
    product.check()
    found = [(divided.local_size, len(divided.coarsenings)) for _, divided in seen.launches]
    assert found == [((16,), 0), ((32,), 0), ((16,), 0), ((32,), 1), ((16,), 0)]
    assert "launched without the feature skew" in caplog.text
    with pytest.raises(InvalidInputError, match=r"no supplied feature 'skwe' \(did you mean skew"):
        tuned(program).launch(queue, *product.arguments, features={"skwe": 1.0})
    text: Any = {"skew": "1"}
    with pytest.raises(InvalidInputError, match="must be a number"):
        tuned(program).launch(queue, *product.arguments, features=text)


def test_the_older_route_runs_as_it_is_written(context: cl.Context, queue: cl.CommandQueue) -> None:
    program = built(context, small_file(context.devices[0]))
    product, kernel = Product(queue, 64, 64), program.mv
    kernel.set_args(*product.arguments)
    cl.enqueue_nd_range_kernel(queue, kernel, *product.sizes)
    product.check()
    kernel(queue, *product.sizes, *product.arguments)
    product.check()
    with pytest.raises(InvalidInputError, match="set_args before"):
        cl.enqueue_nd_range_kernel(queue, kernel, *product.sizes)
    kernel.set_arg(0, product.matrix)
    with pytest.raises(InvalidInputError, match="set_args before"):
        cl.enqueue_nd_range_kernel(queue, kernel, *product.sizes)
    kernel.set_args(*product.arguments)
    cl.enqueue_nd_range_kernel(queue, kernel, *product.sizes)
    product.check()


def test_what_was_set_is_of_one_object(context: cl.Context, queue: cl.CommandQueue) -> None:
    program = built(context, small_file(context.devices[0]))
    first, second = Product(queue, 64, 64), Product(queue, 64, 32)
    one = program.mv
    one.set_args(*first.arguments)
    other = program.mv
    other.set_args(*second.arguments)
    cl.enqueue_nd_range_kernel(queue, one, *first.sizes)
    cl.enqueue_nd_range_kernel(queue, other, *second.sizes)
    first.check()
    second.check()


def test_after_a_call_that_failed_nothing_older_is_launched(context: cl.Context, queue: cl.CommandQueue) -> None:
    kernel = built(context, small_file(context.devices[0])).mv
    first, second = Product(queue, 64, 64), Product(queue, 64, 32)
    kernel.set_args(*first.arguments)
    kernel(queue, *second.sizes, *second.arguments)
    with pytest.raises((cl.Error, TypeError, ValueError)):
        kernel(queue, *second.sizes, *second.arguments[:3])
    with pytest.raises(InvalidInputError, match="set_args before"):
        cl.enqueue_nd_range_kernel(queue, kernel, *first.sizes)


def test_every_form_of_a_call(context: cl.Context, queue: cl.CommandQueue) -> None:
    program = built(context, small_file(context.devices[0]))
    product, kernel = Product(queue, 64, 64), tuned(program)
    event = cl.enqueue_marker(queue)
    kernel(queue, [64], [16], *product.arguments)
    product.check()
    kernel(queue, (4,), (16,), *product.arguments, g_times_l=True)
    product.check()
    kernel(queue, (64,), (16,), *product.arguments, wait_for=[event])
    product.check()
    kernel(queue, (64,), (16,), *product.arguments, None, False, False, [event])
    product.check()
    kernel(queue, (64,), (16,), *product.arguments[:4], arg4=product.result)
    product.check()
    kernel.set_arg_types((None, None, np.int32, np.int32, None))
    kernel(queue, (64,), (16,), product.matrix, product.vector, 64, 64, product.result)
    product.check()
    kernel.launch(queue, product.matrix, product.vector, 64, 64, product.result)
    product.check()


def test_what_pyopencl_refuses_is_refused(context: cl.Context, queue: cl.CommandQueue) -> None:
    program = built(context, small_file(context.devices[0]))
    product, kernel = Product(queue, 64, 64), tuned(program)
    with pytest.raises((cl.Error, TypeError, ValueError)):
        kernel(queue, (64,), (16,), *product.arguments[:3])
    with pytest.raises((cl.Error, TypeError, ValueError)):
        kernel(queue, (64,), (16,), product.matrix, product.vector, "64", np.int32(64), product.result)
    with pytest.raises((cl.Error, TypeError, ValueError)):
        kernel(queue, (64,), cast("Any", 0), *product.arguments)
    with pytest.raises(InvalidInputError, match="takes 5 arguments, 4 were given"):
        kernel.launch(queue, *product.arguments[:4])
    kernel(queue, *product.sizes, *product.arguments)
    product.check()


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
        tree_without_supplied=None,
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
    found = mv.explain(width=64, height=1 << 12, bytes_a=1 << 20, skew=0.1)
    assert found.number == 3
    assert [is_at_most for _, is_at_most in found.path] == [False, False, False]
    assert "version 3: factor 4" in str(found)
    assert "1.25 times as fast" in str(found)
    assert mv.explain(width=1, height=0, bytes_a=0).is_default
    with pytest.raises(InvalidInputError, match="the choice needs"):
        mv.explain(width=64)
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


def test_a_version_of_several_launches_isnt_used(
    context: cl.Context, queue: cl.CommandQueue, caplog: pytest.LogCaptureFixture
) -> None:
    launches = (
        TunedLaunch("mv", ("height",), arguments=("a", "x", "int: width", "int: height", "y")),
        TunedLaunch("twice", ("height",), arguments=("y",)),
    )
    versions = (VERSIONS[0], TunedVersion(Variant(), launches))
    file = small_file(context.devices[0], versions=versions, tree=Leaf(1), tree_without_supplied=None)
    program, product = built(context, file), Product(queue, 64, 64)
    program.mv(queue, *product.sizes, *product.arguments)
    product.check()
    assert "version 1 isn't used: it takes several launches" in caplog.text


def test_a_program_is_let_go_of(context: cl.Context) -> None:
    program = built(context, small_file(context.devices[0]))
    kernel = program.mv
    assert kernel.program is program
    del program
    assert kernel.program is None


HEAVY = ("sklearn", "sqlalchemy", "scipy", "pandas", "alembic")


def test_building_and_launching_is_light(device: DeviceDescription) -> None:
    code = f"""
import logging, sys
import pyopencl as cl
from coarsen.devices.discovery import open_device
from coarsen.devices.selection import find_device
import coarsen
from tests.runtime.tuned_files import SOURCE, Product, small_file
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


def test_logging_is_quiet_where_all_is_well(
    context: cl.Context, queue: cl.CommandQueue, caplog: pytest.LogCaptureFixture
) -> None:
    program = built(context, small_file(context.devices[0]))
    product = Product(queue, 64, 64)
    tuned(program).launch(queue, *product.arguments, features={"skew": 0.1})
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]
