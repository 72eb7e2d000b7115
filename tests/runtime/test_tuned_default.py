"""A default version whose macros aren't those that a program is built with: fallbacks run it, or are refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyopencl as cl
import pytest

import coarsen
from coarsen.dispatch.tree import Leaf
from coarsen.dispatch.tuned_file import TunedFile
from coarsen.dispatch.tuned_version import TunedLaunch, TunedVersion
from coarsen.errors import InvalidInputError
from coarsen.frontend.source_text import source_hash_of
from coarsen.policy.tuned_checks import are_left
from coarsen.runtime.code import options_without
from coarsen.variant.variant import Variant
from tests.runtime.tuned_files import SOURCE, Product, Seen, small_file, tuned

pytestmark = pytest.mark.compiled_devices
# Four rows for each work-item, as in this source; the programs are built with one.
FOUR_ROWS = SOURCE.replace("#define ROWS 1", "#define ROWS 4")
SIZES = "(height + ROWS * 16 - 1) // (ROWS * 16) * 16"
BY_FOUR = TunedVersion(Variant((16,), (), (("ROWS", "4"),)), (TunedLaunch("mv", (SIZES,)),))
BY_TWO = TunedVersion(Variant((16,), (), (("ROWS", "2"),)), (TunedLaunch("mv", (SIZES,)),))
TOO_LARGE = TunedVersion(Variant((2**20,), (), (("ROWS", "1"),)), (TunedLaunch("mv", ("1048576",)),))


def file_by_four(device: cl.Device, /, **changes: Any) -> TunedFile:  # noqa: ANN401 (any field)
    fields: dict[str, Any] = {
        "versions": (BY_FOUR, BY_TWO, TOO_LARGE),
        "tree": Leaf(1),
        "source_hash": source_hash_of(FOUR_ROWS),
    }
    return small_file(device, **(fields | changes))


def built(context: cl.Context, file: TunedFile) -> coarsen.Program:
    """A program of one row for each work-item."""
    return coarsen.Program(context, FOUR_ROWS, tuned=file).build("-DROWS=1")


def sizes_by_four(product: Product) -> tuple[tuple[int], tuple[int]]:
    return ((product.height + 63) // 64 * 16,), (16,)


@pytest.mark.parametrize("changes", [{"device": "another"}, {"driver": "0"}, {"tree": Leaf(2)}, {}], ids=str)
def test_a_call_with_the_defaults_sizes_runs_with_its_macros(
    changes: dict[str, Any], context: cl.Context, queue: cl.CommandQueue
) -> None:
    program = built(context, file_by_four(context.devices[0], **changes))
    for height in (1, 64, 200):
        product = Product(queue, height, 5)
        for _ in range(2):
            program.mv(queue, *sizes_by_four(product), *product.arguments)
            product.check()
            tuned(program).launch(queue, *product.arguments)
            product.check()
        program.mv(queue, *sizes_by_four(product), *product.arguments, global_offset=(0,))
        product.check()


def test_an_offset_has_the_defaults_macros(context: cl.Context, queue: cl.CommandQueue) -> None:
    program, product = built(context, file_by_four(context.devices[0])), Product(queue, 60, 3)
    program.mv(queue, (16,), (16,), *product.arguments, global_offset=(1,))
    product.expected[:4] = -7
    product.check()


@pytest.mark.parametrize("changes", [{}, {"device": "another"}, {"source_hash": "0" * 64}], ids=str)
def test_other_sizes_are_refused(changes: dict[str, Any], context: cl.Context, queue: cl.CommandQueue) -> None:
    program, product = built(context, file_by_four(context.devices[0], **changes)), Product(queue, 100, 3)
    for sizes in (((112,), (16,)), ((100,), None)):
        with pytest.raises(InvalidInputError, match="has -DROWS=4, and the source as it stands hasn't"):
            program.mv(queue, *sizes, *product.arguments)
    product.expected[:] = -7
    product.check()


def test_other_code_is_refused_with_any_sizes(context: cl.Context, queue: cl.CommandQueue) -> None:
    program = built(context, file_by_four(context.devices[0], source_hash="0" * 64))
    product = Product(queue, 100, 3)
    with pytest.raises(InvalidInputError, match="hasn't"):
        program.mv(queue, *sizes_by_four(product), *product.arguments)
    with pytest.raises(InvalidInputError, match="gives no sizes"):
        tuned(program).launch(queue, *product.arguments)


def test_an_argument_of_a_type_that_is_no_number_has_no_value(context: cl.Context, queue: cl.CommandQueue) -> None:
    """What PyOpenCL makes of it is passed; a size that is computed from it is not known."""
    program, product = built(context, file_by_four(context.devices[0])), Product(queue, 100, 3)
    kernel = tuned(program)
    kernel.set_arg_types((None, None, "V4", np.int32, None))
    kernel(queue, *sizes_by_four(product), *product.arguments)
    product.check()
    kernel.set_arg_types((None, None, np.int32, "V4", None))
    with pytest.raises(InvalidInputError, match="hasn't"):
        kernel(queue, *sizes_by_four(product), *product.arguments)


def test_a_default_that_isnt_built_is_refused(context: cl.Context, queue: cl.CommandQueue) -> None:
    source = FOUR_ROWS.replace("#define ROWS 4", "#define ROWS no_such_name")
    wrong = TunedVersion(Variant((16,), (), (("ROWS", "no_such_name"),)), (TunedLaunch("mv", ("height",)),))
    file = file_by_four(context.devices[0], versions=(wrong, TOO_LARGE), source_hash=source_hash_of(source))
    program = coarsen.Program(context, source, tuned=file).build("-DROWS=1")
    product = Product(queue, 48, 3)
    message = "with -DROWS=no_such_name, isn't built"
    with pytest.raises(InvalidInputError, match=message):
        program.mv(queue, (48,), (16,), *product.arguments)
    with pytest.raises(InvalidInputError, match=message):
        tuned(program).launch(queue, *product.arguments)


def test_versions_of_the_callers_sizes_with_other_macros_are_refused(context: cl.Context) -> None:
    versions = tuple(TunedVersion(Variant((), (), (("ROWS", rows),))) for rows in ("4", "1"))
    with pytest.raises(InvalidInputError, match="versions without launches have other macros"):
        built(context, file_by_four(context.devices[0], versions=versions))


def test_macros_that_the_build_options_set_are_the_files(context: cl.Context, queue: cl.CommandQueue) -> None:
    """What the options say as the file has it is the program's own kernel; then other sizes are right too."""
    seen = Seen()
    file = file_by_four(context.devices[0])
    program = coarsen.Program(context, FOUR_ROWS, tuned=file, observer=seen).build("-DROWS=4")
    product = Product(queue, 200, 3)
    program.mv(queue, *sizes_by_four(product), *product.arguments)
    product.check()
    program.mv(queue, (50,), None, *product.arguments)
    product.check()
    assert [divided.global_size for _, divided in seen.launches] == [(112,), (50,)]


@pytest.mark.parametrize(
    ("options", "is_left"),
    [
        ((), True),
        (("-DROWS=1",), True),
        (("-D", "ROWS=1"), True),
        (("-DROWS=7", "-DROWS"), True),
        (("-DROWSE=2", "-cl-std=CL1.2"), True),
        (("-DROWS=2",), False),
        (("-D", "ROWS=2"), False),
        (("-DROWS=1", "-UROWS"), False),
        (("-DROWS",), True),
    ],
)
def test_what_build_options_leave_of_macros(options: tuple[str, ...], is_left: bool) -> None:
    assert are_left((("ROWS", "1"),), options) == is_left
    assert are_left((), options)


def test_options_without_macros() -> None:
    assert options_without(("-DA=1", "-D", "B=2", "-cl-std=CL1.2", "-UA", "-DAB"), {"A", "B"}) == (
        "-cl-std=CL1.2",
        "-DAB",
    )
