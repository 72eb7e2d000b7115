"""Tuned files with versions for layouts: who runs them, and that nobody else gets arrays that lie otherwise."""

from __future__ import annotations

import logging
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyopencl as cl
import pytest

import coarsen
from coarsen.base.version import __version__
from coarsen.dispatch.features import ArgumentKind, KernelArgument
from coarsen.dispatch.tree import Leaf
from coarsen.dispatch.tuned_file import LaidOutVersion, TunedFile
from coarsen.dispatch.tuned_version import TunedVersion
from coarsen.errors import InvalidInputError
from coarsen.frontend.source_text import hash_with_headers
from coarsen.policy.tuned_checks import own_options
from coarsen.runtime.code import device_options
from coarsen.runtime.launch import DividedLaunch, OriginalLaunch
from coarsen.variant.coarsening import Coarsening
from coarsen.variant.data_layout import SOA
from coarsen.variant.data_plan import ArrayPlan
from coarsen.variant.variant import Variant

SOURCE = """
typedef struct { float x; uchar tag; double mass; short kind; } Body;

kernel void grow(global Body *bodies, int n)
{
    int i = get_global_id(0);
    if (i < n) bodies[i].mass = bodies[i].mass * 2 + bodies[i].tag;
}
kernel void add(global float *to, float value)
{
    to[get_global_id(0)] += value;
}
"""
BODY = np.dtype([("x", "f4"), ("tag", "u1"), ("mass", "f8"), ("kind", "i2")], align=True)
COUNT = 64
ARGUMENTS = (KernelArgument("bodies", ArgumentKind.BUFFER), KernelArgument("n", ArgumentKind.WHOLE))
PLAN = ArrayPlan("bodies", SOA)
LAID_OUT = LaidOutVersion(Variant((), (Coarsening(4),), arrays=(PLAN,)), 3.0, 0.002, 7)


class Recorder:
    """Keeps by what launches were coarsened."""

    def __init__(self) -> None:
        self.seen: list[tuple[Coarsening, ...]] = []

    def launched(self, kernel: str, original: OriginalLaunch, divided: DividedLaunch) -> None:
        assert kernel == "grow" and original.global_size == (COUNT,)
        self.seen.append(divided.coarsenings)


def tuned_file(device: cl.Device | None = None, layouts: tuple[LaidOutVersion, ...] = (LAID_OUT,)) -> TunedFile:
    """A file whose best version without a layout merges two work-items, and that with one four."""
    return TunedFile(
        kernel="grow",
        arguments=ARGUMENTS,
        source_hash=hash_with_headers(SOURCE, device_options(None)),
        device="a device" if device is None else device.name.strip(),
        driver="1.0" if device is None else device.driver_version.strip(),
        build_options=own_options(None),
        coarsen_version=__version__,
        features=(),
        versions=(TunedVersion(Variant()), TunedVersion(Variant((), (Coarsening(2),)))),
        default=0,
        tree=Leaf(1),
        layouts=layouts,
    )


def bodies() -> np.ndarray:
    made = np.zeros(COUNT, BODY)
    made["tag"], made["mass"] = np.arange(COUNT) % 7, np.arange(COUNT) * 3
    return made


def grown() -> np.ndarray:
    made = bodies()
    made["mass"] = made["mass"] * 2 + made["tag"]
    return made


@pytest.mark.compiled_devices
def test_a_program_that_converts_runs_the_version_for_its_layout(queue: cl.CommandQueue) -> None:
    recorder, layout = Recorder(), coarsen.Layout.soa(BODY)
    program = coarsen.Program(
        queue.context,
        SOURCE,
        arrays={"bodies": layout},
        tuned=tuned_file(queue.device),
        observer=recorder,
        tune="remembered",
    ).build()
    array = coarsen.LaidOutArray(queue, layout, bodies())
    program.grow(queue, (COUNT,), (16,), array, np.int32(COUNT))
    np.testing.assert_array_equal(array.get(queue), grown())
    assert recorder.seen == [(Coarsening(4),)]


@pytest.mark.compiled_devices
def test_a_program_that_converts_nothing_has_the_best_version_without(queue: cl.CommandQueue) -> None:
    recorder = Recorder()
    program = coarsen.Program(
        queue.context, SOURCE, tuned=tuned_file(queue.device), observer=recorder, tune=False
    ).build()
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    buffer, found = cl.Buffer(queue.context, flags, hostbuf=bodies()), np.empty(COUNT, BODY)
    program.grow(queue, (COUNT,), (16,), buffer, np.int32(COUNT))
    cl.enqueue_copy(queue, found, buffer)
    np.testing.assert_array_equal(found["mass"], grown()["mass"])
    assert recorder.seen == [(Coarsening(2),)]


@pytest.mark.compiled_devices
@pytest.mark.parametrize("is_other_device", [False, True])
def test_without_a_version_that_fits_it_runs_as_without_the_file(
    queue: cl.CommandQueue, caplog: pytest.LogCaptureFixture, is_other_device: bool
) -> None:
    file, layout = tuned_file(queue.device), coarsen.Layout.aosoa(BODY, 4)
    if is_other_device:
        file, layout = replace(file, driver="another"), coarsen.Layout.soa(BODY)
    recorder = Recorder()
    with caplog.at_level(logging.WARNING, "coarsen"):
        program = coarsen.Program(
            queue.context, SOURCE, arrays={"bodies": layout}, tuned=file, tune="remembered", observer=recorder
        ).build()
    expected = "it was tuned with the driver another" if is_other_device else "no version for arrays that lie so"
    assert [expected in record.getMessage() for record in caplog.records] == [True]
    array = coarsen.LaidOutArray(queue, layout, bodies())
    program.grow(queue, (COUNT,), (16,), array, np.int32(COUNT))
    np.testing.assert_array_equal(array.get(queue), grown())
    assert recorder.seen == [()]


def test_it_is_written_and_read(tmp_path: Path) -> None:
    file = tuned_file()
    file.write(tmp_path / "grow.tuned.json")
    assert TunedFile.read(tmp_path / "grow.tuned.json") == file
    assert "layouts" not in replace(file, layouts=()).to_json()


@pytest.mark.parametrize(
    ("layouts", "message"),
    [
        ((LAID_OUT, replace(LAID_OUT, speedup=2.0)), "two versions for arrays that lie alike"),
        ((replace(LAID_OUT, variant=Variant((), (Coarsening(4),))),), "no array that lies otherwise"),
        ((replace(LAID_OUT, variant=Variant(arrays=(replace(PLAN, shape=(3,)),))),), "of a fixed shape"),
        (
            (replace(LAID_OUT, variant=Variant(arrays=(replace(PLAN, argument="n"),))),),
            "no argument with a buffer",
        ),
        ((replace(LAID_OUT, variant=replace(LAID_OUT.variant, definitions=(("A", "1"),))),), "defines macros"),
        ((replace(LAID_OUT, speedup=float("inf")),), "a gain or a time that is none"),
        ((replace(LAID_OUT, runs_until_it_pays=0),), "after a number of runs, or never"),
    ],
)
def test_what_makes_no_sense_is_refused(layouts: tuple[LaidOutVersion, ...], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        tuned_file(layouts=layouts)


@pytest.mark.compiled_devices
def test_a_file_of_another_kernel_is_refused(queue: cl.CommandQueue) -> None:
    file = replace(tuned_file(queue.device), kernel="grown")
    with pytest.raises(InvalidInputError, match="of the kernel 'grown', which the program doesn't have"):
        coarsen.Program(queue.context, SOURCE, arrays={"bodies": coarsen.Layout.soa(BODY)}, tuned=file).build()
