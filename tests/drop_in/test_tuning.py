"""Programs that tune: what they compute, and that nothing that goes wrong stops a launch."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyopencl as cl
import pytest

from coarsen.devices.discovery import DeviceDescription
from coarsen.drop_in import ahead, measured_launch
from coarsen.errors import CoarsenError, DeviceError, InternalError, InvalidInputError
from coarsen.runtime.advice import LaunchRequest
from coarsen.tuning import captured_tuning
from coarsen.tuning.captured_tuning import PREFIX
from coarsen.tuning.progress import TuningProgress
from coarsen.tuning.settings import Tune
from coarsen.tuning.store.database import open_existing_store, open_store
from coarsen.tuning.tuned import Tuned
from coarsen.variant.variant import Variant
from tests.drop_in.tuned_programs import (
    COUNT,
    FLAGS,
    ROOT,
    SECONDS,
    Buffers,
    program_of,
)

pytestmark = [pytest.mark.compiled_devices, pytest.mark.usefixtures("certain")]


@pytest.mark.parametrize("local_size", [(64,), None], ids=["given", "open"])
def test_a_launch_is_tuned_once_and_made_once(
    context: cl.Context,
    queue: cl.CommandQueue,
    buffers: Buffers,
    store: str,
    asked: list[LaunchRequest],
    local_size: tuple[int, ...] | None,
    said: Callable[[], list[str]],
) -> None:
    told: list[TuningProgress] = []
    settings = Tune(seconds=SECONDS, trials=3, progress=told.append)
    program, _ = program_of(context, settings)
    buffers.launch(queue, program, local_size)
    assert [(each.kernel, each.tried, each.variants) for each in told[:3]] == [
        ("add", count, 3) for count in (0, 1, 2)
    ]
    assert told[-1].is_confirming and all(0 < each.seconds_left < SECONDS for each in told)
    buffers.launch(queue, program, local_size, times=2)
    another, _ = program_of(context, settings)
    buffers.launch(queue, another, local_size)
    assert len(asked) == 1
    assert said() == []
    with open_existing_store(store) as opened:
        (choice,) = opened.remembered.choices()
    assert (choice.local_size, choice.global_size, choice.trials) == (local_size, (COUNT,), 3)


def test_a_compiler_that_crashes_or_hangs_fails_trials_only(
    context: cl.Context,
    queue: cl.CommandQueue,
    buffers: Buffers,
    store: str,
    monkeypatch: pytest.MonkeyPatch,
    said: Callable[[], list[str]],
) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(captured_tuning, "SERVICE", "tests.tuning_services.crashing")
    results: list[Tuned] = []
    tune_captured = captured_tuning.tune_captured

    def keeping(*arguments: Any) -> Tuned:  # noqa: ANN401 (as they are)
        results.append(tune_captured(*arguments))
        return results[-1]

    monkeypatch.setattr(measured_launch, "tune_captured", keeping)
    program, recorder = program_of(context, Tune(seconds=SECONDS, trials=4, local_sizes=False, store=store))
    buffers.launch(queue, program)
    assert (results[0].trials, results[0].failed, results[0].choice) == (4, 3, Variant((64,)))
    assert recorder.seen[0].coarsenings == ()
    assert said() == []


RACING = """\
kernel void race(global uint *counter, global uint *order)
{
    order[atomic_inc(counter)] = get_global_id(0);
}
"""


def test_results_that_differ_from_run_to_run_are_not_tuned(
    context: cl.Context,
    queue: cl.CommandQueue,
    store: str,
    monkeypatch: pytest.MonkeyPatch,
    said: Callable[[], list[str]],
) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(captured_tuning, "SERVICE", "tests.tuning_services.restless")
    program, recorder = program_of(context, Tune(seconds=SECONDS, trials=3, store=store), RACING)
    counter = cl.Buffer(context, FLAGS.READ_WRITE | FLAGS.COPY_HOST_PTR, hostbuf=np.zeros(1, np.uint32))
    order = cl.Buffer(context, FLAGS.READ_WRITE, 4 * COUNT)
    program.race(queue, (COUNT,), (16,), counter, order)
    made = np.empty(1, np.uint32)
    cl.enqueue_copy(queue, made, counter)
    assert made[0] == COUNT
    assert len(recorder.seen) == 1
    (message,) = said()
    assert "kernel race is not tuned: the kernel as it is does not give the same results twice" in message
    assert not Path(store).exists()


def test_a_launch_that_changes_nothing_can_not_be_verified(
    context: cl.Context, queue: cl.CommandQueue, store: str, said: Callable[[], list[str]]
) -> None:
    source = "kernel void clip(global float *all) { all[get_global_id(0)] = fmax(all[get_global_id(0)], 0.0f); }"
    program, _ = program_of(context, Tune(seconds=SECONDS, trials=3, store=store), source)
    steady = np.arange(COUNT, dtype=np.float32)
    buffer = cl.Buffer(context, FLAGS.READ_WRITE | FLAGS.COPY_HOST_PTR, hostbuf=steady)
    program.clip(queue, (COUNT,), (64,), buffer)
    now = np.empty_like(steady)
    cl.enqueue_copy(queue, now, buffer)
    assert np.array_equal(now, steady)
    (message,) = said()
    assert "leaves all outputs as they were (all): nothing could be verified" in message
    assert not Path(store).exists()


def test_results_that_are_there_already_hide_no_mistake(
    context: cl.Context, queue: cl.CommandQueue, store: str, said: Callable[[], list[str]]
) -> None:
    source = "kernel void fill(global float *all) { all[get_global_id(0)] = get_global_id(0); }"
    filled = np.arange(COUNT, dtype=np.float32)
    program, _ = program_of(context, Tune(seconds=SECONDS, trials=2, store=store), source)
    buffer = cl.Buffer(context, FLAGS.READ_WRITE | FLAGS.COPY_HOST_PTR, hostbuf=filled)
    program.fill(queue, (COUNT,), (64,), buffer)
    now = np.empty_like(filled)
    cl.enqueue_copy(queue, now, buffer)
    assert np.array_equal(now, filled)
    assert said() == []
    assert Path(store).exists()


def test_too_much_is_not_copied(
    context: cl.Context, queue: cl.CommandQueue, buffers: Buffers, store: str, said: Callable[[], list[str]]
) -> None:
    program, _ = program_of(context, Tune(seconds=SECONDS, most_bytes=3 * 4 * COUNT - 1, store=store))
    buffers.launch(queue, program, times=3)
    (message,) = said()
    assert "kernel add is not tuned" in message
    assert "may be captured" in message


def test_a_launch_whose_groups_matter_needs_a_local_size(
    context: cl.Context, queue: cl.CommandQueue, store: str, said: Callable[[], list[str]]
) -> None:
    source = "kernel void who(global uint *group) { group[get_global_id(0)] = get_local_id(0) != 77777; }"
    program, _ = program_of(context, Tune(seconds=SECONDS, store=store), source)
    groups = cl.Buffer(context, FLAGS.READ_WRITE, 4 * COUNT)
    program.who(queue, (COUNT,), None, groups)
    made = np.empty(COUNT, np.uint32)
    cl.enqueue_copy(queue, made, groups)
    assert set(made.tolist()) == {1}
    (message,) = said()
    assert "its local size is left to the driver, and its work-items must be grouped as they are" in message


def test_a_folder_that_can_not_be_written_is_said_once(
    context: cl.Context,
    queue: cl.CommandQueue,
    buffers: Buffers,
    store: str,
    monkeypatch: pytest.MonkeyPatch,
    said: Callable[[], list[str]],
) -> None:
    def full(*_arguments: Any, **_options: Any) -> None:  # noqa: ANN401 (as they are)
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr("tempfile.TemporaryDirectory", full)
    program, _ = program_of(context, Tune(seconds=SECONDS, store=store))
    buffers.launch(queue, program, times=2)
    (message,) = said()
    assert message.startswith("kernel add is not tuned: ")
    assert os.strerror(28) in message


def test_too_little_time_is_no_finding(
    context: cl.Context, queue: cl.CommandQueue, buffers: Buffers, store: str
) -> None:
    program, _ = program_of(context, False)
    arguments = buffers.sum_, buffers.terms_, np.float32(2), buffers.last_
    for seconds in (0.1, 0.5, 1.0):
        settings = Tune(seconds=seconds, store=store)
        with pytest.raises(DeviceError, match=rf"^the time was over before .*: give it more than {seconds:g} s$"):
            ahead.tune(program.add, queue, (COUNT,), (64,), *arguments, settings=settings)
        with open_store(store) as opened:
            [choice] = opened.remembered.choices()
        assert (choice.has_result, choice.seconds) == (False, seconds)


def test_who_measures_at_the_same_time_is_named(device: DeviceDescription) -> None:
    expected = r"^another thread of this program measures on .* within 0\.05 s$"
    alone, refused = captured_tuning.alone_on(device, 1.0), pytest.raises(DeviceError, match=expected)
    with alone, refused, captured_tuning.alone_on(device, 0.05):
        raise AssertionError("two measure at once")


@pytest.mark.parametrize(
    ("service", "seed", "error", "message"),
    [
        ("without_compiler", 0, InvalidInputError, r"the kernel 'add' can't be compiled: .*no_such_compiler.*"),
        ("buggy", 0, InternalError, r"Traceback.*nobody thought of it.*"),
        ("buggy", 1, DeviceError, r"while it was tuned, the process died of signal SIGKILL"),
    ],
)
def test_no_message_names_a_temporary_file(
    context: cl.Context,
    queue: cl.CommandQueue,
    buffers: Buffers,
    store: str,
    monkeypatch: pytest.MonkeyPatch,
    service: str,
    seed: int,
    error: type[CoarsenError],
    message: str,
) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(captured_tuning, "SERVICE", f"tests.tuning_services.{service}")
    program, _ = program_of(context, False)
    arguments = buffers.sum_, buffers.terms_, np.float32(2), buffers.last_
    settings = Tune(seconds=SECONDS, store=store, seed=seed)
    with pytest.raises(error) as caught:
        ahead.tune(program.add, queue, (COUNT,), (64,), *arguments, settings=settings)
    assert re.fullmatch(message, str(caught.value), re.DOTALL)
    assert PREFIX not in str(caught.value)
    assert not Path(store).exists()


SCALE = "kernel void scale(global float *values) { values[get_global_id(0)] *= 2.0f; }"


@pytest.mark.parametrize("by", ["kernel", "attribute", "program"])
def test_kernels_of_pyopencls_own_programs_are_tuned_when_its_cache_is_warm(
    context: cl.Context, queue: cl.CommandQueue, store: str, tmp_path: Path, by: str
) -> None:
    for _ in range(2):
        program = cl.Program(context, SCALE).build(cache_dir=str(tmp_path))
    values = cl.Buffer(context, FLAGS.READ_WRITE | FLAGS.COPY_HOST_PTR, hostbuf=np.ones(COUNT, np.float32))
    given = {"kernel": cl.Kernel(program, "scale"), "attribute": program.scale, "program": program}[by]
    settings = Tune(seconds=SECONDS, trials=2, store=store)
    found = ahead.tune(given, queue, (COUNT,), (64,), values, settings=settings)
    assert (found.kernel, found.trials, found.wrong) == ("scale", 2, ())


def test_a_kernel_of_unknown_source_is_told_how_to_be_made(context: cl.Context, queue: cl.CommandQueue) -> None:
    program = cl.Program(context, SCALE).build()
    binaries: Any = program.get_info(cl.program_info.BINARIES)
    of_binary = cl.Program(context, context.devices, binaries).build()
    for kernel in (program.all_kernels()[0], cl.Kernel(of_binary, "scale")):
        with pytest.raises(InvalidInputError, match=r"the kernel by pyopencl\.Kernel\(program, name\)"):
            ahead.tune(kernel, queue, (COUNT,), (64,), None)
