"""Programs that tune: what they compute, what they remember, and that nothing that goes wrong stops a launch."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyopencl as cl
import pytest

from coarsen.devices.discovery import DeviceDescription
from coarsen.drop_in import ahead, measured_launch
from coarsen.drop_in.program import Program
from coarsen.errors import DeviceError, InvalidInputError
from coarsen.opencl_bench.measure.speedup import Speedup
from coarsen.opencl_bench.results.remembered.choice import RememberedChoice
from coarsen.opencl_bench.results.store.database import open_existing_store, open_store
from coarsen.opencl_bench.sweep import compiler, measuring_process
from coarsen.opencl_bench.tuning import captured_tuning
from coarsen.opencl_bench.tuning.finalists import Decision
from coarsen.opencl_bench.tuning.settings import Tune
from coarsen.opencl_bench.tuning.tuned import Tuned
from coarsen.runtime.advice import AdviceRequest
from coarsen.runtime.launch import DividedLaunch
from coarsen.runtime.original_launch import OriginalLaunch
from coarsen.variant.coarsening import Coarsening
from coarsen.variant.variant import Variant

pytestmark = pytest.mark.compiled_devices

ROOT = Path(__file__).parents[2]
COUNT = 4096
FLAGS = cl.mem_flags
SOURCE = """\
kernel void add(global float *sum, global const float *terms, float factor, global float *last)
{
    size_t item = get_global_id(0);
    sum[item] += factor * terms[item];
    last[item] = terms[item];
}
"""
# Time enough for any machine: the trials end a search.
SECONDS = 200.0


class Recorder:
    """Keeps how launches were carried out."""

    def __init__(self) -> None:
        self.seen: list[DividedLaunch] = []

    def launched(self, kernel: str, original: OriginalLaunch, divided: DividedLaunch) -> None:
        assert kernel and original.global_size
        self.seen.append(divided)


class Buffers:
    """The buffers of the kernel `add`, and what they should hold."""

    def __init__(self, context: cl.Context, count: int = COUNT) -> None:
        generator = np.random.default_rng(count)
        self.count = count
        self.terms = generator.random(count, np.float32)
        self.wanted = generator.random(count, np.float32)
        flags = FLAGS.READ_WRITE | FLAGS.COPY_HOST_PTR
        self.sum_, self.terms_, self.last_ = (
            cl.Buffer(context, flags, hostbuf=content)
            for content in (self.wanted, self.terms, np.zeros(count, np.float32))
        )

    def launch(
        self, queue: cl.CommandQueue, program: Program, local_size: tuple[int, ...] | None = (64,), times: int = 1
    ) -> None:
        """Launch, and check that all buffers hold what so many launches make of them, no more."""
        for _ in range(times):
            program.add(queue, (self.count,), local_size, self.sum_, self.terms_, np.float32(2), self.last_)
            self.wanted = self.wanted + np.float32(2) * self.terms
        self.check(queue)

    def check(self, queue: cl.CommandQueue) -> None:
        for buffer, wanted in ((self.sum_, self.wanted), (self.terms_, self.terms), (self.last_, self.terms)):
            found = np.empty(self.count, np.float32)
            cl.enqueue_copy(queue, found, buffer)
            assert np.allclose(found, wanted, rtol=1e-6)


@pytest.fixture
def buffers(context: cl.Context) -> Buffers:
    return Buffers(context)


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The file of a store that is not there yet; the user's own, as far as a program knows."""
    path = str(tmp_path / "store.sqlite")
    monkeypatch.setenv("COARSEN_STORE", path)
    return path


@pytest.fixture
def said(caplog: pytest.LogCaptureFixture) -> Callable[[], list[str]]:
    """The warnings until now."""
    caplog.set_level(logging.INFO, "coarsen")

    def warnings() -> list[str]:
        return [entry.getMessage() for entry in caplog.records if entry.levelno >= logging.WARNING]

    return warnings


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[AdviceRequest]]:
    """The requests that were tuned, for real."""
    requests: list[AdviceRequest] = []
    tune_request = measured_launch.tune_request

    def counting(request: AdviceRequest, *rest: Any) -> Tuned:  # noqa: ANN401 (as they are)
        requests.append(request)
        return tune_request(request, *rest)

    monkeypatch.setattr(measured_launch, "tune_request", counting)
    yield requests


def found(request: AdviceRequest, factor: int = 4, local_size: tuple[int, ...] = ()) -> Tuned:
    """What a search may find."""
    gain = Speedup(2.0, 1.9, 2.1)
    own = request.launch.local_size
    choice = Variant(local_size or own or (), (Coarsening(factor),))
    decision = Decision(choice, gain, gain, 3, (2.0, 1.0))
    return Tuned(request.kernel, "made up", request.launch.global_size, own, decision, 9, 0, None, 1.0, "over")


@pytest.fixture
def searched(monkeypatch: pytest.MonkeyPatch) -> list[AdviceRequest]:
    """The requests that were tuned, each time with the same finding, and no search."""
    requests: list[AdviceRequest] = []

    def tune_request(request: AdviceRequest, *_rest: Any) -> Tuned:  # noqa: ANN401 (as they are)
        requests.append(request)
        return found(request)

    monkeypatch.setattr(measured_launch, "tune_request", tune_request)
    monkeypatch.setattr(ahead, "tune_request", tune_request)
    return requests


def program_of(
    context: cl.Context, tune: Tune | bool | str | None, source: str = SOURCE
) -> tuple[Program, Recorder]:
    recorder = Recorder()
    return Program(context, source, tune=tune, observer=recorder).build(), recorder


@pytest.mark.parametrize("local_size", [(64,), None], ids=["given", "open"])
def test_a_launch_is_tuned_once_and_made_once(
    context: cl.Context,
    queue: cl.CommandQueue,
    buffers: Buffers,
    store: str,
    asked: list[AdviceRequest],
    local_size: tuple[int, ...] | None,
    said: Callable[[], list[str]],
) -> None:
    settings = Tune(seconds=SECONDS, trials=3)
    program, _ = program_of(context, settings)
    buffers.launch(queue, program, local_size)
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
    monkeypatch.setattr(compiler, "SERVICE", "tests.drop_in.crashing_compiler")
    monkeypatch.setattr("coarsen.opencl_bench.tuning.methods._COMPILE_SECONDS", 10.0)
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
    monkeypatch.setattr(measuring_process, "SERVICE", "tests.drop_in.restless_device")
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


def test_what_was_found_is_used_without_measuring(
    context: cl.Context, queue: cl.CommandQueue, buffers: Buffers, store: str, searched: list[AdviceRequest]
) -> None:
    modes: tuple[Any, ...] = (Tune(), "remembered", None, True)
    for number, mode in enumerate(modes):
        program, recorder = program_of(context, mode)
        buffers.launch(queue, program, times=2)
        assert [divided.coarsenings for divided in recorder.seen] == 2 * [(Coarsening(4),)], number
    assert len(searched) == 1
    assert Path(store).exists()


def test_remembered_alone_never_measures(
    context: cl.Context, queue: cl.CommandQueue, buffers: Buffers, store: str, searched: list[AdviceRequest]
) -> None:
    program, recorder = program_of(context, "remembered")
    buffers.launch(queue, program)
    with open_store(store):
        pass
    buffers.launch(queue, program, (32,))
    assert [divided.coarsenings for divided in recorder.seen] == [(), ()]
    assert searched == []


def test_an_open_launch_takes_the_local_size_that_was_found(
    context: cl.Context, queue: cl.CommandQueue, buffers: Buffers, store: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measured_launch, "tune_request", lambda request, *_rest: found(request, local_size=(128,)))
    program, recorder = program_of(context, Tune(store=store))
    buffers.launch(queue, program, None)
    another, later = program_of(context, "remembered")
    buffers.launch(queue, another, None)
    for divided in (*recorder.seen, *later.seen):
        assert (divided.coarsenings, divided.local_size) == ((Coarsening(4),), (32,))
        assert divided.global_size == (COUNT // 4,)


def test_a_store_that_can_not_be_written_is_said_once(
    context: cl.Context,
    queue: cl.CommandQueue,
    buffers: Buffers,
    tmp_path: Path,
    searched: list[AdviceRequest],
    said: Callable[[], list[str]],
) -> None:
    (tmp_path / "file").write_text("no folder")
    program, recorder = program_of(context, Tune(store=str(tmp_path / "file" / "store.sqlite")))
    buffers.launch(queue, program, times=2)
    assert [divided.coarsenings for divided in recorder.seen] == 2 * [(Coarsening(4),)]
    (message,) = said()
    assert "can't be remembered" in message
    # Ahead of time, what was found is the answer all the same.
    settings = Tune(store=str(tmp_path / "file" / "store.sqlite"))
    arguments = buffers.sum_, buffers.terms_, np.float32(2), buffers.last_
    tuned = ahead.tune(program.add, queue, (COUNT,), (64,), *arguments, settings=settings)
    assert tuned.is_faster
    assert len(said()) == 2
    buffers.check(queue)
    assert len(searched) == 2


def test_a_store_that_can_not_be_read_stops_no_launch(
    context: cl.Context, queue: cl.CommandQueue, buffers: Buffers, tmp_path: Path, said: Callable[[], list[str]]
) -> None:
    path = tmp_path / "store.sqlite"
    path.write_text("this is no database" * 100)
    program, _ = program_of(context, Tune(store=str(path), seconds=SECONDS))
    buffers.launch(queue, program, times=2)
    (message,) = said()
    assert message.startswith("what is remembered can't be read, so nothing is tuned: the store ")


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


def test_another_driver_makes_a_choice_worthless(
    context: cl.Context,
    queue: cl.CommandQueue,
    buffers: Buffers,
    store: str,
    searched: list[AdviceRequest],
    said: Callable[[], list[str]],
) -> None:
    program, _ = program_of(context, True)
    buffers.launch(queue, program)
    with open_existing_store(store) as opened:
        (choice,) = opened.remembered.choices()
        opened.remembered.put(replace(choice, driver_version="an older one"))
    another, recorder = program_of(context, "remembered")
    buffers.launch(queue, another, times=2)
    assert [divided.coarsenings for divided in recorder.seen] == [(), ()]
    (message,) = said()
    assert "what is remembered of kernel add is not used" in message
    assert "an older one" in message
    assert len(searched) == 1


def test_what_another_process_found_meanwhile_is_used(
    context: cl.Context,
    queue: cl.CommandQueue,
    buffers: Buffers,
    store: str,
    searched: list[AdviceRequest],
    monkeypatch: pytest.MonkeyPatch,
    said: Callable[[], list[str]],
) -> None:
    program, _ = program_of(context, True)
    buffers.launch(queue, program)
    with open_existing_store(store) as opened:
        (choice,) = opened.remembered.choices()
    Path(store).unlink()

    @contextmanager
    def waited(*_arguments: object) -> Iterator[None]:
        remember(store, choice)
        yield

    monkeypatch.setattr(captured_tuning, "alone_on", waited)
    another, recorder = program_of(context, True)
    buffers.launch(queue, another)
    assert recorder.seen[0].coarsenings == (Coarsening(4),)
    assert said() == []


def remember(store: str, choice: RememberedChoice) -> None:
    with open_store(store) as opened:
        opened.remembered.put(choice)


def test_other_sizes_begin_with_what_was_found_and_take_less_time(
    context: cl.Context, queue: cl.CommandQueue, buffers: Buffers, store: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[Any, ...]] = []

    def tune_request(request: AdviceRequest, *rest: Any) -> Tuned:  # noqa: ANN401 (as they are)
        asked.append(rest)
        return found(request, 4)

    monkeypatch.setattr(measured_launch, "tune_request", tune_request)
    program, _ = program_of(context, Tune(seconds=SECONDS, store=store))
    for local_size in ((64,), (32,), (64,)):
        buffers.launch(queue, program, local_size)
    seconds, first = zip(*((settings.seconds, first) for _, _, settings, first in asked), strict=True)
    assert seconds == (SECONDS, SECONDS / 2)
    assert first == (None, Variant((), (Coarsening(4),)))
    buffers.check(queue)


def test_two_threads_tune_once(
    context: cl.Context, store: str, searched: list[AdviceRequest], device: DeviceDescription
) -> None:
    program, recorder = program_of(context, Tune(store=store))

    def launch(number: int) -> None:
        queue = cl.CommandQueue(context)
        own = Buffers(context)
        kernel = cl.Kernel(program, "add")
        for _ in range(1 + number % 2):
            kernel(queue, (COUNT,), (64,), own.sum_, own.terms_, np.float32(2), own.last_)
            own.wanted = own.wanted + np.float32(2) * own.terms
        own.check(queue)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(launch, range(4)))
    assert len(searched) == 1
    assert {divided.coarsenings for divided in recorder.seen} == {(Coarsening(4),)}
    assert device


def test_plain_numbers_are_captured_by_their_types(
    context: cl.Context, queue: cl.CommandQueue, buffers: Buffers, store: str, searched: list[AdviceRequest]
) -> None:
    program, recorder = program_of(context, Tune(store=store))
    kernel = program.add
    kernel.set_scalar_arg_dtypes([None, None, np.float32, None])
    for _ in range(2):
        kernel(queue, (COUNT,), (64,), buffers.sum_, buffers.terms_, 2, buffers.last_)
        buffers.wanted = buffers.wanted + np.float32(2) * buffers.terms
    buffers.check(queue)
    assert recorder.seen[-1].coarsenings == (Coarsening(4),)
    (request,) = searched
    assert request.arguments is not None
    assert bytes(request.arguments[2]) == np.float32(2).tobytes()


def test_a_kernel_that_demands_its_local_size_is_tuned_ahead_at_that(
    context: cl.Context, queue: cl.CommandQueue, store: str, searched: list[AdviceRequest]
) -> None:
    source = """\
kernel __attribute__((reqd_work_group_size(16, 1, 1))) void fill(global uint *all)
{
    all[get_global_id(0)] = get_global_id(0);
}
"""
    program, recorder = program_of(context, "remembered", source)
    filled = cl.Buffer(context, FLAGS.READ_WRITE, 4 * COUNT)
    ahead.tune(program.fill, queue, (COUNT,), None, filled, settings=Tune(store=store))
    assert searched[0].launch.local_size == (16,)
    program.fill(queue, (COUNT,), (16,), filled)
    assert "remembered from" in (recorder.seen[-1].reason or "")


def test_too_little_time_is_no_finding(
    context: cl.Context, queue: cl.CommandQueue, buffers: Buffers, store: str
) -> None:
    program, _ = program_of(context, False)
    arguments = buffers.sum_, buffers.terms_, np.float32(2), buffers.last_
    with pytest.raises((InvalidInputError, DeviceError)):
        ahead.tune(program.add, queue, (COUNT,), (64,), *arguments, settings=Tune(seconds=0.5, store=store))
    assert not Path(store).exists()
