"""Launches in a loop are one version: each turn after the one before, with its own numbers and sizes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyopencl as cl
import pytest

import coarsen
from coarsen.dispatch.launch_sizes import sequence_function
from coarsen.dispatch.loops import MOST_LAUNCHES
from coarsen.dispatch.tree import Leaf, Split
from coarsen.dispatch.tuned_file import TunedFile
from coarsen.dispatch.tuned_version import TunedLaunch, TunedVersion
from coarsen.errors import CoarsenError, InvalidInputError
from coarsen.runtime.advice import LaunchRefusedError
from coarsen.runtime.kernel import Kernel
from coarsen.variant.variant import Variant
from tests.runtime.time_loops import AT_ONCE, BACK, FORTH, IN_LOOP, SOURCE, Steps, loop_file

OUT_OF_ORDER = cl.command_queue_properties.OUT_OF_ORDER_EXEC_MODE_ENABLE
NAMES = ("n", "steps")


def kernel_of(context: cl.Context, file: TunedFile | None = None) -> Kernel:
    file = file or loop_file(context.devices[0])
    kernel = getattr(coarsen.Program(context, SOURCE, tuned=file).build(), file.kernel)
    assert isinstance(kernel, Kernel)
    return kernel


@pytest.mark.compiled_devices
@pytest.mark.parametrize("order", ["in order", "out of order"])
def test_turns_follow_each_other(order: str, context: cl.Context) -> None:
    in_order, out_of_order = cl.CommandQueue(context), cl.CommandQueue(context, properties=OUT_OF_ORDER)
    queue = in_order if order == "in order" else out_of_order
    kernel = kernel_of(context)
    for n, steps in ((1000, 8), (1000, 7), (17, 2), (1000, 1), (5, 0), (33, -4), (1000, 301)):
        each = Steps(context, n, steps)
        each.check(kernel.launch(queue, *each.arguments))


@pytest.mark.compiled_devices
def test_it_stands_beside_one_launch(context: cl.Context, queue: cl.CommandQueue) -> None:
    file = loop_file(
        context.devices[0],
        kernel="at_once",
        versions=(AT_ONCE, IN_LOOP),
        tree=Split("n", 100.0, Leaf(0), Leaf(1)),
    )
    kernel = kernel_of(context, file)
    for n, steps in ((50, 6), (200, 7), (200, 0)):
        each = Steps(context, n, steps)
        each.check(kernel(queue, (1,), (1,), *each.arguments))
        each = Steps(context, n, steps)
        kernel.set_args(*each.arguments)
        each.check(cl.enqueue_nd_range_kernel(queue, kernel, (1,), (1,)))


@pytest.mark.compiled_devices
def test_no_turn_waits_for_nothing_but_what_it_was_told(context: cl.Context, queue: cl.CommandQueue) -> None:
    each, gate = Steps(context, 64, 0), cl.UserEvent(context)
    event = kernel_of(context).launch(queue, *each.arguments, wait_for=[gate])
    queue.flush()
    assert event.command_execution_status > cl.command_execution_status.COMPLETE
    gate.set_status(cl.command_execution_status.COMPLETE)
    each.check(event)


@pytest.mark.compiled_devices
def test_sizes_that_differ_from_turn_to_turn(context: cl.Context, queue: cl.CommandQueue) -> None:
    """As in a factorisation, whose later steps have less to do; each element has its last turn's value."""
    passed = ("a", "b", "n", "steps", "int: turn")
    shrinking = TunedLaunch("forth", ("n - turn",), ("1",), (), passed, FORTH.repeat)
    file = loop_file(context.devices[0], versions=(TunedVersion(Variant(), (shrinking,)),))
    kernel, each, n, steps = kernel_of(context, file), Steps(context, 6, 5), 6, 5
    event = kernel.launch(queue, *each.arguments)
    found, expected = np.empty_like(each.values), each.values.copy()
    cl.enqueue_copy(cl.CommandQueue(context), found, each.b, wait_for=[event])
    for i in range(n - 1):
        turn = min(steps - 1, n - 1 - i)
        expected[i] = (3 * int(each.values[i]) + int(each.values[i + 1]) + turn) % 2**32
    assert (found == expected).all()
    with pytest.raises(InvalidInputError, match="gives no sizes for this launch"):
        kernel.launch(queue, *Steps(context, 6, 7).arguments)


def test_one_launch_of_a_loop_is_never_taken_for_all(context: cl.Context, queue: cl.CommandQueue) -> None:
    """A program that has the loop itself calls its kernels with their own sizes."""
    each, kernel = Steps(context, 64, 3), kernel_of(context)
    with pytest.raises(LaunchRefusedError, match=r"takes several launches.*without sizes"):
        kernel(queue, (64,), (16,), *each.arguments)
    with pytest.raises(LaunchRefusedError, match="takes several launches"):
        cl.enqueue_nd_range_kernel(queue, kernel_of(context), (1,), None)


def test_a_loop_that_can_not_be_launched_is_refused(context: cl.Context, queue: cl.CommandQueue) -> None:
    """100 work-items in groups of 16: there is nothing that could run in its place."""
    file = loop_file(
        context.devices[0], versions=(replace(IN_LOOP, launches=(replace(FORTH, global_size=("n",)),)),)
    )
    kernel = kernel_of(context, file)
    with pytest.raises(LaunchRefusedError, match="its local size doesn't divide its global size"):
        kernel.launch(queue, *Steps(context, 100, 3).arguments)
    kernel.launch(queue, *Steps(context, 96, 3).arguments).wait()


@pytest.mark.parametrize("change", [{"device": "another"}, {"driver": "0"}], ids=str)
def test_on_another_device_it_is_still_the_loop(
    change: dict[str, str], context: cl.Context, queue: cl.CommandQueue
) -> None:
    each = Steps(context, 100, 5)
    each.check(kernel_of(context, loop_file(context.devices[0], **change)).launch(queue, *each.arguments))


def test_of_another_source_nothing_is_launched(context: cl.Context, queue: cl.CommandQueue) -> None:
    kernel = kernel_of(context, loop_file(context.devices[0], source_hash="0" * 64))
    with pytest.raises(CoarsenError, match=r"isn't the one that was tuned"):
        kernel.launch(queue, *Steps(context, 100, 5).arguments)


def test_it_explains_how_often_each_runs(context: cl.Context) -> None:
    text = str(kernel_of(context).explain(n=100, steps=9))
    assert "forth: global size (112,), local size (16,), 8 times: turn in range(1, steps)" in text
    assert "never launched, 0 times" in str(kernel_of(context).explain(n=100, steps=1))


def test_loops_of_their_own_follow_each_other(context: cl.Context) -> None:
    """Neighbours take turns where they have the same loop, and only there."""
    other = replace(BACK, repeat="s in range(1, steps)", arguments=("b", "a", "n", "ulong: s"))
    between = replace(FORTH, repeat="", arguments=("a", "b", "n", "steps", "int: n"))
    file = loop_file(
        context.devices[0], versions=(replace(IN_LOOP, launches=(FORTH, other, between, FORTH, BACK)),)
    )
    found = sequence_function(file, file.versions[0], NAMES)(10, 3)
    assert found is not None
    assert found.order == (0, 0, 1, 1, 2, 3, 4, 3, 4)
    assert found.numbers == ((1,), (2,), (1,), (2,), (10,), (1,), (2,), (2,), (4,))


def test_more_launches_than_there_may_be_have_no_sizes(context: cl.Context) -> None:
    file = loop_file(context.devices[0])
    sizes = sequence_function(file, IN_LOOP, NAMES)
    most = MOST_LAUNCHES // 2
    found = sizes(10, most + 1)
    assert found is not None and len(found.order) == MOST_LAUNCHES
    assert sizes(10, most + 2) is None
    assert sizes(0, 5) is None and sizes(0, 1) is not None


@pytest.mark.compiled_devices
def test_long_loops_are_not_kept_for_ever(
    context: cl.Context, queue: cl.CommandQueue, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is known of their launches is forgotten before it takes much memory, and found again."""
    monkeypatch.setattr("coarsen.runtime.launches._MOST_LONG", 50)
    kernel = kernel_of(context)
    for steps in (9, 8, 7, 6, 9, 8):
        each = Steps(context, 64, steps)
        each.check(kernel.launch(queue, *each.arguments))
        own = [launch.own for launch in kernel._launches._chosen.values() if launch.own is not None]
        assert sum(len(each.sizes.order) for each in own if each.sizes is not None) <= 50


@pytest.mark.parametrize(
    ("repeat", "message"),
    [
        ("turn in doubling(1, steps)", "are repeated by range(…) alone"),
        ("turn in range(1, stops)", "needs 'stops'"),
        ("turn in range(1, turn)", "needs 'turn'"),
        ("steps in range(1, n)", "counts by the name of an argument"),
        ("range(1, n)", "must have the form NAME in"),
        ("t in range(1, n // 1.5)", "may only have whole numbers"),
    ],
)
def test_other_loops_are_refused(repeat: str, message: str, context: cl.Context) -> None:
    file = loop_file(context.devices[0])
    value = file.to_json()
    for launch in value["versions"][0]["launches"]:
        launch["repeat"] = repeat
    with pytest.raises(InvalidInputError) as raised:
        TunedFile.from_json(value)
    assert message in str(raised.value) and "\n" not in str(raised.value)


def test_a_file_has_it_and_former_files_have_not(context: cl.Context) -> None:
    file = loop_file(context.devices[0])
    assert TunedFile.from_bytes(file.to_bytes()) == file
    assert file.to_json()["versions"][0]["launches"][0]["repeat"] == "turn in range(1, steps)"
    plain = loop_file(context.devices[0], kernel="at_once", versions=(AT_ONCE,))
    assert "repeat" not in plain.to_bytes().decode()


def test_scratch_and_features_know_no_turn(context: cl.Context) -> None:
    with pytest.raises(InvalidInputError, match="needs 'turn'"):
        loop_file(context.devices[0], versions=(replace(IN_LOOP, scratch=(("c", "4 * turn"),)),))
    sized = loop_file(context.devices[0]).to_json() | {"features": [["size", "global_size_0"]]}
    with pytest.raises(InvalidInputError, match="global_size_0, and the default version takes several"):
        TunedFile.from_json(sized)
