"""Launches of a tuned kernel for which nothing is chosen run its default version, or are refused."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pyopencl as cl
import pytest

from coarsen.dispatch.tree import Leaf
from coarsen.dispatch.tuned_version import TunedLaunch, TunedVersion
from coarsen.errors import InvalidInputError
from coarsen.frontend.source_text import hash_with_headers
from coarsen.policy.tuned_checks import problem_of_program
from coarsen.variant.variant import Variant
from tests.runtime.tuned_files import SOURCE, VERSIONS, Product, Seen, built, small_file, tuned

pytestmark = pytest.mark.compiled_devices
# By shape: wide, tall and small, tall, large; odd sizes among them.
OTHERS: dict[str, tuple[dict[str, Any], str]] = {
    "device": ({"device": "another"}, "tuned on 'another'"),
    "driver": ({"driver": "0.1"}, "tuned with the driver 0.1"),
    "source": ({"source_hash": "0" * 64}, "isn't the one that was tuned"),
    "options": ({"build_options": ("-DA",)}, "build options aren't those that were tuned with: -DA, and here "),
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
        program = built(context, small_file(context.devices[0], versions=wrong, tree=Leaf(number)))
        product = Product(queue, 40, 3)
        program.mv(queue, *product.sizes, *product.arguments)
        product.check()
        tuned(program).launch(queue, *product.arguments)
        product.check()
        assert f"the version {number}, which can't be launched so" in caplog.text
    assert "version 2 isn't used" in caplog.text


def test_logging_is_quiet_where_all_is_well(
    context: cl.Context, queue: cl.CommandQueue, caplog: pytest.LogCaptureFixture
) -> None:
    program = built(context, small_file(context.devices[0]))
    product = Product(queue, 64, 64)
    tuned(program).launch(queue, *product.arguments)
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]
