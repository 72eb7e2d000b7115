"""Tunings that found nothing out: what is remembered of them, what isn't, and that the launch stays as it is."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pyopencl as cl
import pytest

from coarsen.drop_in import ahead, measured_launch
from coarsen.drop_in.measured_launch import Kept
from coarsen.errors import DeviceError, VerificationError
from coarsen.runtime.advice import LaunchRequest
from coarsen.tuning.measure.speedup import Speedup
from coarsen.tuning.progress import TimeOverError
from coarsen.tuning.remembered.choice import RememberedChoice
from coarsen.tuning.settings import Tune
from coarsen.tuning.store.database import open_store
from coarsen.tuning.tuned import Tuned
from coarsen.variant.coarsening import Coarsening
from tests.drop_in.scripts import HEAD
from tests.drop_in.tuned_programs import Buffers, found, program_of, remember

pytestmark = pytest.mark.compiled_devices

Outcome = Exception | Callable[[LaunchRequest], Tuned]
Tunings = list[Outcome]


@pytest.fixture
def tunings(monkeypatch: pytest.MonkeyPatch) -> Tunings:
    """The outcomes of the tunings that come, the next one first; those that are left were not asked for."""
    outcomes: Tunings = []

    def tune_request(request: LaunchRequest, *_rest: Any) -> Tuned:  # noqa: ANN401 (as they are)
        outcome = outcomes.pop(0)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome(request)

    monkeypatch.setattr(measured_launch, "tune_request", tune_request)
    monkeypatch.setattr(ahead, "tune_request", tune_request)
    return outcomes


def remembered(store: str) -> list[RememberedChoice]:
    with open_store(store) as opened:
        return opened.remembered.choices()


def busy(request: LaunchRequest) -> Tuned:
    """What is found where nothing is certain."""
    tuned = found(request, 1)
    doubtful = Speedup(3.08, 1.61, 22.35)
    return replace(tuned, decision=replace(tuned.decision, choice=tuned.choice, processes=0, doubtful=doubtful))


def test_a_tuning_whose_time_was_over_is_paid_once_for_so_many_seconds(
    context: cl.Context,
    queue: cl.CommandQueue,
    buffers: Buffers,
    store: str,
    tunings: Tunings,
    said: Callable[[], list[str]],
) -> None:
    def launched(tune: Tune | str) -> tuple[Coarsening, ...]:
        program, recorder = program_of(context, tune)
        buffers.launch(queue, program, times=2)
        return recorder.seen[-1].coarsenings

    tunings += [TimeOverError("the time was over"), TimeOverError("the time was over"), found]
    assert launched(Tune(seconds=20)) == () and len(tunings) == 2
    assert launched(Tune(seconds=20)) == launched(Tune(seconds=5)) == launched("remembered") == ()
    assert len(tunings) == 2, "the same seconds, or fewer, are not paid again"
    assert any("its tuning had no result in 20 s" in message for message in said())
    assert launched(Tune(seconds=40)) == () and len(tunings) == 1
    [choice] = remembered(store)
    assert (choice.has_result, choice.seconds, choice.leaves_as_is) == (False, 40.0, True)
    assert launched(Tune(seconds=80)) == (Coarsening(4),) and not tunings
    [choice] = remembered(store)
    assert choice.has_result and launched("remembered") == (Coarsening(4),)


def test_what_is_remembered_is_how_long_was_tried(
    context: cl.Context, queue: cl.CommandQueue, buffers: Buffers, store: str, tunings: Tunings
) -> None:
    larger = Buffers(context, 16 * buffers.count)
    tunings += [found, TimeOverError("the time was over"), found]
    program, _ = program_of(context, Tune(seconds=20))
    buffers.launch(queue, program)
    larger.launch(queue, program)
    assert sorted(choice.seconds for choice in remembered(store) if not choice.has_result) == [10.0]
    again, _ = program_of(context, Tune(seconds=20))
    buffers.launch(queue, again)
    larger.launch(queue, again)
    assert len(tunings) == 1, "beside what is known of other sizes it would have no more time"
    larger.launch(queue, program_of(context, Tune(seconds=20))[0])
    assert not tunings and all(choice.has_result for choice in remembered(store))


def test_that_no_result_can_not_be_remembered_is_said(
    context: cl.Context,
    queue: cl.CommandQueue,
    buffers: Buffers,
    store: str,
    tunings: Tunings,
    said: Callable[[], list[str]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    full = Kept("", "the disk is full")
    monkeypatch.setattr("coarsen.drop_in.measured_launch.remember", lambda *_: full)
    tunings += [TimeOverError("the time was over")]
    buffers.launch(queue, program_of(context, True)[0])
    assert "what was found can't be remembered: the disk is full" in said() and remembered(store) == []


def test_no_result_takes_the_place_of_no_choice_that_holds(
    context: cl.Context, queue: cl.CommandQueue, buffers: Buffers, store: str, tunings: Tunings
) -> None:
    tunings += [found, TimeOverError("the time was over")]
    program, _ = program_of(context, Tune())
    arguments = buffers.sum_, buffers.terms_, np.float32(2), buffers.last_
    ahead.tune(program.add, queue, (buffers.count,), (64,), *arguments)
    with pytest.raises(TimeOverError):
        ahead.tune(program.add, queue, (buffers.count,), (64,), *arguments)
    assert [choice.has_result for choice in remembered(store)] == [True]


def test_threads_that_launch_at_once_are_tuned_one_after_the_other(
    context: cl.Context, buffers: Buffers, store: str, tunings: Tunings, said: Callable[[], list[str]]
) -> None:
    begun = threading.Event()

    def slow(request: LaunchRequest) -> Tuned:
        begun.set()
        time.sleep(1.0)
        return found(request)

    tunings += [slow, found]
    # Much less than the first one takes.
    program, recorder = program_of(context, Tune(seconds=0.1))
    first = threading.Thread(target=buffers.launch, args=(cl.CommandQueue(context), program))
    first.start()
    assert begun.wait(60)
    Buffers(context, 16 * buffers.count).launch(cl.CommandQueue(context), program)
    first.join()
    assert [divided.coarsenings for divided in recorder.seen] == [(Coarsening(4),)] * 2
    assert len(remembered(store)) == 2 and said() == []


def test_nothing_is_kept_of_a_busy_machine_and_the_next_start_tries_again(
    context: cl.Context,
    queue: cl.CommandQueue,
    buffers: Buffers,
    store: str,
    tunings: Tunings,
    said: Callable[[], list[str]],
) -> None:
    tunings += [busy, busy, found]
    program, recorder = program_of(context, True)
    buffers.launch(queue, program, times=3)
    assert {divided.coarsenings for divided in recorder.seen} == {()} and len(tunings) == 2
    (message,) = said()
    assert message.startswith("kernel add is not tuned: the machine is busy: the interval of 3.08 (1.61 to 22.35)")
    arguments = buffers.sum_, buffers.terms_, np.float32(2), buffers.last_
    tuned = ahead.tune(program.add, queue, (buffers.count,), (64,), *arguments)
    assert "as it is, since the machine is busy" in str(tuned)
    assert remembered(store) == []
    buffers.launch(queue, program_of(context, True)[0])
    assert len(remembered(store)) == 1


def test_an_uncertain_choice_of_before_is_not_used(
    context: cl.Context,
    queue: cl.CommandQueue,
    buffers: Buffers,
    store: str,
    tunings: Tunings,
    said: Callable[[], list[str]],
) -> None:
    tunings += [found]
    buffers.launch(queue, program_of(context, True)[0])
    [choice] = remembered(store)
    remember(store, replace(choice, speedup=Speedup(3.08, 1.61, 22.35)))
    program, recorder = program_of(context, None)
    buffers.launch(queue, program)
    assert recorder.seen[0].coarsenings == ()
    assert any("the machine was busy: the interval of 3.08 (1.61 to 22.35)" in message for message in said())


START = f"""
{HEAD}
import coarsen

program = coarsen.Program(context, "kernel void k(global int *x) {{ x[get_global_id(0)] = 1; }}").build()
program.k(queue, (COUNT,), (64,), cl.Buffer(context, cl.mem_flags.READ_WRITE, 4 * COUNT))
parts = ("models", "features", "transform", "backend", "prediction")
loaded = [name for name in sys.modules if name.partition(".")[0] in ("torch", "llvmlite", "sqlalchemy", "rich")]
print(loaded + [part for part in parts if f"coarsen.{{part}}" in sys.modules])
"""


def test_a_kernel_of_which_nothing_is_remembered_costs_no_model_and_no_compiler(index: str, store: str) -> None:
    done = subprocess.run([sys.executable, "-c", START, index], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.parametrize(
    "error",
    [
        VerificationError("the kernel as it is does not give the same results twice: sum differs"),
        DeviceError("the device can't be opened"),
    ],
)
def test_what_can_not_be_tuned_stays_as_it_is_with_the_reason_once(
    context: cl.Context,
    queue: cl.CommandQueue,
    buffers: Buffers,
    store: str,
    tunings: Tunings,
    said: Callable[[], list[str]],
    monkeypatch: pytest.MonkeyPatch,
    error: Exception,
) -> None:
    monkeypatch.setattr("coarsen.prediction.predict_by_launch_model", None)
    tunings += [error]
    program, recorder = program_of(context, True)
    buffers.launch(queue, program, times=3)
    assert {divided.coarsenings for divided in recorder.seen} == {()}
    assert said() == [f"kernel add is not tuned: {error}"]
    assert remembered(store) == []
