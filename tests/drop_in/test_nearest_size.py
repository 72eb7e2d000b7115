"""What tuning has remembered of a kernel at several sizes, of which the nearest counts, from `build()` on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyopencl as cl
import pytest

import coarsen
from coarsen.drop_in import measured_launch
from coarsen.drop_in.program import Program
from coarsen.errors import InvalidInputError
from coarsen.policy.nearest import Nearest, nearest_choice
from coarsen.runtime.advice import LaunchRequest
from coarsen.tuning.measure.speedup import Speedup
from coarsen.tuning.remembered.choice import RememberedChoice, RememberedKey, SizeClass
from coarsen.tuning.settings import Tune
from coarsen.tuning.store.database import open_store
from coarsen.tuning.tuned import Tuned
from coarsen.variant.coarsening import Coarsening
from coarsen.variant.variant import Variant
from tests.drop_in.tuned_programs import SOURCE, Buffers, Recorder, found, program_of

pytestmark = [pytest.mark.compiled_devices, pytest.mark.usefixtures("certain")]
# What the search is made to find, by the number of work-items.
OTHER = SOURCE.replace("factor * terms[item]", "0.5f * factor * terms[item] + 0.5f * factor * terms[item]")
FACTORS = {1024: 2, 8192: 4, 65536: 4, 262144: 8}


@pytest.fixture
def remembered(context: cl.Context, queue: cl.CommandQueue, store: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """A store with what a program with `tune=True` remembers at four sizes."""

    def tune_request(request: LaunchRequest, *_rest: Any) -> Tuned:  # noqa: ANN401 (as they are)
        return found(request, FACTORS[request.launch.global_size[0]])

    monkeypatch.setattr(measured_launch, "tune_request", tune_request)
    program, _ = program_of(context, True)
    for count in FACTORS:
        Buffers(context, count).launch(queue, program)
    return store


def table_program(context: cl.Context, **options: Any) -> tuple[Program, Recorder]:  # noqa: ANN401
    recorder = Recorder()
    return Program(context, SOURCE, tuned="remembered", observer=recorder, **options).build(), recorder


def test_the_nearest_size_counts(context: cl.Context, queue: cl.CommandQueue, remembered: str) -> None:
    assert Path(remembered).exists()
    program, recorder = table_program(context, tune=False)
    # Beside those that were tuned, sizes between and beyond them, and some that no factor divides.
    wanted = {1024: 2, 512: 2, 2048: 2, 4096: 4, 32768: 4, 131072: 4, 196608: 8, 524288: 8, 64: 1, 4194304: 1}
    for count, factor in wanted.items():
        Buffers(context, count).launch(queue, program)
        divided = recorder.seen[-1]
        assert divided.coarsenings == ((Coarsening(factor),) if factor > 1 else ()), count
    Buffers(context, 1000).launch(queue, program, (8,))
    assert recorder.seen[-1].coarsenings == ()


def test_nothing_is_built_or_looked_up_at_a_launch(
    context: cl.Context, queue: cl.CommandQueue, remembered: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    program, recorder = table_program(context)
    Path(remembered).unlink()

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("at a launch")

    for name in (
        "pyopencl.Program.build",
        "coarsen.runtime.plan.build_for_launches",
        "coarsen.runtime.code.Codes._coarsened",
        "coarsen.policy.remembered.remembered_choices",
    ):
        monkeypatch.setattr(name, refuse)
    for count in (1024, 8192, 1016, 300_000, 524288):
        Buffers(context, count).launch(
            queue, program, (8,) if count == 1016 else (64,) if count % 64 == 0 else None
        )
    assert [bool(divided.coarsenings) for divided in recorder.seen] == [True, True, False, False, True]


def test_kernels_of_which_nothing_is_remembered_are_tuned(
    context: cl.Context, queue: cl.CommandQueue, buffers: Buffers, store: str, searched: list[LaunchRequest]
) -> None:
    program, recorder = table_program(context, tune=True)
    buffers.launch(queue, program)
    assert len(searched) == 1
    assert Path(store).exists()
    program, recorder = table_program(context, tune=True)
    buffers.launch(queue, program, times=2)
    assert len(searched) == 1
    assert [divided.coarsenings for divided in recorder.seen] == 2 * [(Coarsening(4),)]


def test_other_kernels_have_none(context: cl.Context, queue: cl.CommandQueue, remembered: str) -> None:
    assert Path(remembered).exists()
    for source, options in (
        (OTHER, ""),
        (SOURCE, "-cl-mad-enable"),
    ):
        recorder = Recorder()
        program = Program(context, source, tuned="remembered", tune=False, observer=recorder).build(options)
        Buffers(context, 1024).launch(queue, program)
        assert recorder.seen[-1].coarsenings == ()


def test_what_no_longer_holds_or_isnt_allowed_is_left_out(
    context: cl.Context, queue: cl.CommandQueue, remembered: str
) -> None:
    with open_store(remembered) as opened:
        choices = {choice.global_size: choice for choice in opened.remembered.choices()}
        opened.remembered.put(replace(choices[(1024,)], driver_version="0"))
        opened.remembered.put(replace(choices[(8192,)], versions=(("coarsen", "0.0.1"),)))
        opened.remembered.put(replace(choices[(65536,)], variant=Variant()))
    program, recorder = table_program(context, tune=False)
    wanted = {1024: 1, 8192: 1, 65536: 1, 262144: 8}
    for count, factor in wanted.items():
        Buffers(context, count).launch(queue, program)
        assert recorder.seen[-1].coarsenings == ((Coarsening(factor),) if factor > 1 else ()), count
    recorder = Recorder()
    policy = Nearest(Tune(levels=("group",)))
    program = Program(context, SOURCE, tune=policy, observer=recorder).build()
    Buffers(context, 262144).launch(queue, program)
    assert recorder.seen[-1].coarsenings == ()


def test_places_of_arrays_go_with_what_is_remembered(
    context: cl.Context, queue: cl.CommandQueue, remembered: str
) -> None:
    """Arrays by kernel's name were refused: "add" was not among the kernels to coarsen."""
    assert Path(remembered).exists()
    plan = coarsen.array_plan("terms", place="constant")
    program, recorder = table_program(context, tune=False, arrays={"add": [plan]})
    Buffers(context, 1024).launch(queue, program)
    assert recorder.seen[-1].coarsenings == (Coarsening(2),)


def test_kernels_whose_arrays_lie_otherwise_go_by_it(
    context: cl.Context, queue: cl.CommandQueue, store: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measured_launch, "tune_request", lambda request, *_: found(request, 4))
    body = np.dtype([("x", "f4"), ("mass", "f4")])
    source = """typedef struct { float x; float mass; } Body;
    kernel void grow(global Body *bodies) { bodies[get_global_id(0)].mass += bodies[get_global_id(0)].x; }"""
    options: tuple[dict[str, Any], ...] = ({"tune": True}, {"tune": False, "tuned": "remembered"})
    layout = coarsen.Layout.soa(body)
    for count, own in zip((1024, 2048), options, strict=True):
        recorder, host = Recorder(), np.ones(count, body)
        program = Program(context, source, arrays={"bodies": layout}, observer=recorder, **own).build()
        array = coarsen.LaidOutArray(queue, layout, host)
        program.grow(queue, (count,), (64,), array)
        assert (array.get(queue)["mass"] == 2).all()
        assert recorder.seen[-1].coarsenings == (Coarsening(4),)
    assert Path(store).exists()


def test_a_store_that_cant_be_read_is_given_up(
    context: cl.Context, queue: cl.CommandQueue, store: str, said: Callable[[], list[str]]
) -> None:
    Path(store).write_text("no store")
    program, recorder = table_program(context, tune=False)
    for count in (1024, 8192):
        Buffers(context, count).launch(queue, program)
    assert [divided.coarsenings for divided in recorder.seen] == [(), ()]
    assert len([each for each in said() if "what is remembered can't be read" in each]) == 1


def test_what_cant_be_asked_for_together(context: cl.Context, store: str, said: Callable[[], list[str]]) -> None:
    assert not Path(store).exists()
    options: tuple[dict[str, Any], ...] = ({"factor": 2}, {"factor": {"add": 2}}, {"form": "spirv"})
    for each in options:
        with pytest.raises(InvalidInputError, match="leave out factor and form"):
            Program(context, SOURCE, tuned="remembered", **each)
    table_program(context)
    assert not said()


def choice(number: int, global_size: tuple[int, ...], local_size: tuple[int, ...] | None) -> RememberedChoice:
    """A choice for launches of a size, told by its number of trials."""
    key = RememberedKey(
        "0" * 64, "add", "vendor", "device", "platform", "{}", SizeClass.of(global_size, local_size)
    )
    gain = Speedup(2.0, 1.9, 2.1)
    own = (global_size, local_size)
    return RememberedChoice(key, Variant(), gain, None, *own, "1", "1", (), number, 1.0, 3, "2026-11-28")


def chosen(choices: list[RememberedChoice], launch: tuple[tuple[int, ...], tuple[int, ...] | None]) -> int:
    """The number of the choice for a launch; 0 for none."""
    found = nearest_choice(choices, *launch)
    return 0 if found is None else found.trials


def test_every_size_is_its_own_nearest_and_no_other_local_size_is() -> None:
    """Sizes of one to three dimensions, and several local sizes."""
    launches: list[tuple[tuple[int, ...], tuple[int, ...] | None]] = [
        ((1024,), (64,)),
        ((1 << 20,), (64,)),
        ((1024,), None),
        ((1024,), (32,)),
        ((1024, 64), (16, 16)),
        ((64, 1024), (16, 16)),
        ((4096, 4096), (16, 16)),
        ((1024, 64), (16, 8)),
        ((64, 64, 64), (8, 8, 4)),
        ((512, 64, 64), (8, 8, 4)),
    ]
    choices = [choice(number, *launch) for number, launch in enumerate(launches, 1)]
    assert [chosen(choices, launch) for launch in launches] == list(range(1, 11))
    assert [chosen(choices[::-1], launch) for launch in launches] == list(range(1, 11))
    for other in ((128,), (1,), (64, 2)):
        assert chosen(choices, ((1024, 2)[: len(other)], other)) == 0
    assert chosen(choices, ((1024 * 31,), (64,))) == 1
    assert chosen(choices, ((1024 * 33,), (64,))) == 2
    assert [chosen(choices, ((size,), (64,))) for size in (256, 255, 1 << 22, (1 << 22) + 1)] == [1, 0, 2, 0]
    assert chosen([], ((64,), None)) == 0


def test_of_equal_extents_the_first_counts() -> None:
    choices = [choice(1, (64,), None), choice(2, (64, 1), None)]
    assert chosen(choices, ((64, 1, 1), None)) == 1


def test_further_dimensions_are_far_from_launches_that_have_none() -> None:
    choices = [choice(1, (4096,), None)]
    assert chosen(choices, ((4096, 1, 1), None)) == 1
    assert chosen(choices, ((4096, 4096, 64), None)) == 0
    assert chosen(choices, ((4 * 4096 + 1, 1, 1), None)) == 0
