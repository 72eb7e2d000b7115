"""What programs that tune remember, and that nothing that goes wrong with it stops a launch."""

from __future__ import annotations

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
from coarsen.runtime.advice import LaunchRequest
from coarsen.tuning import captured_tuning
from coarsen.tuning.settings import Tune
from coarsen.tuning.store.database import open_existing_store, open_store
from coarsen.tuning.tuned import Tuned
from coarsen.variant.coarsening import Coarsening
from coarsen.variant.transforms import Transforms
from coarsen.variant.variant import Variant
from tests.drop_in.tuned_programs import (
    COUNT,
    FLAGS,
    SECONDS,
    Buffers,
    found,
    program_of,
    remember,
)

pytestmark = pytest.mark.compiled_devices


def test_what_was_found_is_used_without_measuring(
    context: cl.Context, queue: cl.CommandQueue, buffers: Buffers, store: str, searched: list[LaunchRequest]
) -> None:
    modes: tuple[Any, ...] = (Tune(), "remembered", None, True)
    for number, mode in enumerate(modes):
        program, recorder = program_of(context, mode)
        buffers.launch(queue, program, times=2)
        assert [divided.coarsenings for divided in recorder.seen] == 2 * [(Coarsening(4),)], number
    assert len(searched) == 1
    assert Path(store).exists()


def test_a_variant_for_distinct_arguments_runs_where_they_are(
    context: cl.Context, queue: cl.CommandQueue, buffers: Buffers, store: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def for_distinct(request: LaunchRequest, *_rest: object) -> Tuned:
        tuned = found(request)
        choice = replace(tuned.choice, transforms=Transforms(distinct=True))
        return replace(tuned, decision=replace(tuned.decision, choice=choice))

    monkeypatch.setattr(measured_launch, "tune_request", for_distinct)
    buffers.launch(queue, program_of(context, Tune(store=store))[0])
    # Whatever the program itself allows where nothing is remembered.
    program, recorder = program_of(context, "remembered")
    buffers.launch(queue, program)
    # One buffer for two arguments: the general variant, whose result is the original's.
    both = cl.Buffer(context, FLAGS.READ_WRITE | FLAGS.COPY_HOST_PTR, hostbuf=np.ones(COUNT, np.float32))
    program.add(queue, (COUNT,), (64,), buffers.sum_, both, np.float32(0), both)
    forbidding, later = program_of(context, Tune(store=store, distinct=False))
    monkeypatch.setattr(measured_launch, "tune_request", lambda request, *_rest: found(request))
    buffers.launch(queue, forbidding)
    seen = [divided.transforms for divided in (*recorder.seen, *later.seen)]
    assert [each is not None and each.distinct for each in seen] == [True, False, False]
    buffers.check(queue)


def test_remembered_alone_never_measures(
    context: cl.Context, queue: cl.CommandQueue, buffers: Buffers, store: str, searched: list[LaunchRequest]
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
    searched: list[LaunchRequest],
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


def test_another_driver_makes_a_choice_worthless(
    context: cl.Context,
    queue: cl.CommandQueue,
    buffers: Buffers,
    store: str,
    searched: list[LaunchRequest],
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
    searched: list[LaunchRequest],
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


def test_other_sizes_begin_with_what_was_found_and_take_less_time(
    context: cl.Context, queue: cl.CommandQueue, buffers: Buffers, store: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[Any, ...]] = []

    def tune_request(request: LaunchRequest, *rest: Any) -> Tuned:  # noqa: ANN401 (as they are)
        asked.append(rest)
        return found(request, 4)

    monkeypatch.setattr(measured_launch, "tune_request", tune_request)
    program, _ = program_of(context, Tune(seconds=SECONDS, store=store))
    for local_size in ((64,), (32,), (64,)):
        buffers.launch(queue, program, local_size)
    seconds, first = zip(*((settings.seconds, first) for _, _, settings, first, *_ in asked), strict=True)
    assert seconds == (SECONDS, SECONDS / 2)
    assert first == (None, Variant((), (Coarsening(4),)))
    buffers.check(queue)


def test_two_threads_tune_once(
    context: cl.Context, store: str, searched: list[LaunchRequest], device: DeviceDescription
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
    context: cl.Context, queue: cl.CommandQueue, buffers: Buffers, store: str, searched: list[LaunchRequest]
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
    context: cl.Context, queue: cl.CommandQueue, store: str, searched: list[LaunchRequest]
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


def test_of_one_work_item_is_said_that_there_is_nothing_to_search(
    context: cl.Context, queue: cl.CommandQueue, searched: list[LaunchRequest], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "coarsen")
    program, _ = program_of(context, True)
    Buffers(context, 1).launch(queue, program, (1,))
    (said,) = [each for each in caplog.messages if "runs with" in each]
    assert said.endswith("it has no more than one work-item, so there is nothing to merge and nothing to search")
    assert not searched
    # Of larger launches something else is said.
    Buffers(context).launch(queue, program)
    assert len([each for each in caplog.messages if "runs with" in each]) == 2
