"""Versions of several launches that can't be launched: the default version runs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pyopencl as cl
import pytest

from coarsen.dispatch.tree import Leaf
from coarsen.dispatch.tuned_version import TunedVersion
from coarsen.runtime.sequence import Scratch
from coarsen.variant.variant import Variant
from tests.runtime.sums import FINISH, PARTS, SIZES, VERSIONS, Sum, in_two, summing, summing_program

pytestmark = pytest.mark.compiled_devices


def test_no_memory_for_scratch(
    context: cl.Context,
    queue: cl.CommandQueue,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    def refuse(*_: object) -> None:
        raise cl.MemoryError("no memory")

    program, each = summing_program(context), Sum(context, 500)
    monkeypatch.setattr(Scratch, "grow", refuse)
    each.check(program.total(queue, *SIZES, *each.arguments))
    each.check(summing(program).launch(queue, *each.arguments))
    assert "the version 1, which can't be launched so: no memory" in caplog.text
    monkeypatch.undo()
    each.check(program.total(queue, *SIZES, *each.arguments))


def finishing(**changes: Any) -> TunedVersion:  # noqa: ANN401 (fields of the launch)
    return in_two(8, replace(FINISH, **changes))


# Versions that can't be launched, each with why it isn't.
WRONG: dict[str, tuple[TunedVersion, str]] = {
    "a group too large": (
        finishing(global_size=("1048576",), local_size=("1048576",)),
        "which can't be launched so",
    ),
    "local memory": (finishing(local_memory=(("tile", "1073741824"),)), "which can't be launched so"),
    "no group divides": (finishing(global_size=("17",)), "which can't be launched so"),
    "a number of another type": (
        finishing(arguments=("sums", "ulong: (n + 7) // 8", "y", "tile")),
        "which can't be launched so: ",
    ),
    "a number beyond its type": (
        finishing(arguments=("sums", "uint: (n + 7) // 8 - n", "y", "tile")),
        "which can't be launched so",
    ),
    "too few arguments": (finishing(arguments=("sums", "y", "tile")), "takes 4 arguments, and is passed 3"),
    "no such kernel": (finishing(kernel="end"), "version 1 isn't used"),
    "no such macro": (
        replace(VERSIONS[1], variant=Variant((), (), (("CHUNK", "no_such_name"), ("SIZE", "8")))),
        "version 1 isn't used",
    ),
    "scratch too large": (
        replace(VERSIONS[1], scratch=(("sums", "4611686018427387904"),)),
        "can't be launched so",
    ),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_what_cant_be_launched_runs_the_default(
    wrong: str, context: cl.Context, queue: cl.CommandQueue, caplog: pytest.LogCaptureFixture
) -> None:
    version, message = WRONG[wrong]
    if wrong == "no such macro":
        size = "(n + SIZE - 1) // SIZE"
        parts = replace(PARTS, global_size=(size,), local_size=(), arguments=("x", "n", "sums", f"uint: {size}"))
        finish = replace(FINISH, arguments=("sums", f"uint: {size}", "y", "tile"))
        version = replace(version, launches=(parts, finish), scratch=(("sums", "bytes_x"),))
    program, each = summing_program(context, versions=(VERSIONS[0], version), tree=Leaf(1)), Sum(context, 500)
    for _ in range(2):
        each.check(program.total(queue, *SIZES, *each.arguments))
        each.check(summing(program).launch(queue, *each.arguments))
    assert message in caplog.text


@pytest.mark.parametrize("changes", [{"device": "another"}, {"driver": "0"}, {"source_hash": "0" * 64}], ids=str)
def test_a_file_for_something_else(changes: dict[str, Any], context: cl.Context, queue: cl.CommandQueue) -> None:
    program = summing_program(context, **changes)
    for n in (10, 500):
        each = Sum(context, n)
        each.check(program.total(queue, *SIZES, *each.arguments))
