"""A program of which everything is remembered: what it loads, and that its launches build nothing."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
from pathlib import Path

import pyopencl as cl
import pytest

from coarsen.drop_in.program import Program
from coarsen.errors import InternalError
from coarsen.runtime.advice import LaunchRequest
from coarsen.variant.coarsening import Coarsening
from tests.drop_in.tuned_programs import COUNT, ROOT, SOURCE, Buffers, program_of

pytestmark = [pytest.mark.compiled_devices, pytest.mark.usefixtures("store", "searched")]
# Of this package: 40 ms of processor time (python -m tests.layer.overhead --program); 50 are the most.
MOST_MODULES = 57
MOST_LINES = 8_700
HEAVY = (
    *("llvmlite", "pandas", "sqlalchemy", "scipy", "networkx", "typer", "rich", "numpy.testing"),
    # Of this package, what only others need.
    *("coarsen.base.bug_report", "coarsen.base.files", "coarsen.frontend.compile", "coarsen.frontend.options"),
    *("coarsen.runtime.guarded_launch", "coarsen.runtime.layout", "coarsen.tuning.progress"),
    *("coarsen.variant.data_layout", "coarsen.variant.data_plan", "coarsen.variant.pads"),
)
# A program in a process of its own: says what it loaded, and how its launch was carried out.
PROGRAM = f"""
import json, sys
import coarsen
import pyopencl as cl
import numpy as np

device = next(d for p in cl.get_platforms() for d in p.get_devices() if [d.name, p.name] == sys.argv[1:])
context = cl.Context([device])
queue = cl.CommandQueue(context)
program = coarsen.Program(context, {SOURCE!r}).build()
buffers = [cl.Buffer(context, cl.mem_flags.READ_WRITE, 4 * {COUNT}) for _ in range(3)]
kernel = program.add
kernel(queue, ({COUNT},), (64,), buffers[0], buffers[1], np.float32(2), buffers[2])
queue.finish()
loaded = {{name: module.__file__ for name, module in sys.modules.items() if getattr(module, "__file__", None)}}
divided = kernel.divided(device, ({COUNT},), (64,))
print(json.dumps([loaded, [each.factor for each in divided.coarsenings]]))
"""


def test_a_start_is_light(context: cl.Context, queue: cl.CommandQueue, buffers: Buffers, tmp_path: Path) -> None:
    program, _ = program_of(context, True)
    buffers.launch(queue, program)
    device = context.devices[0]
    environment = {name: value for name, value in os.environ.items() if name != "COARSEN_NO_CACHE"}
    environment |= {"COARSEN_CACHE_DIR": str(tmp_path / "cache")}
    names = [device.name, device.platform.name]
    for _ in range(2):
        # The first one fills the cache.
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, *names],
            env=environment,
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        )
    loaded, factors = json.loads(done.stdout.splitlines()[-1])
    own = {name: Path(file) for name, file in loaded.items() if name.partition(".")[0] == "coarsen"}
    lines = sum(len(file.read_text().splitlines()) for file in own.values())
    assert factors == [4]
    assert len(own) <= MOST_MODULES and lines <= MOST_LINES, (len(own), lines)
    assert not {name for name in HEAVY if name in loaded}


def test_what_is_remembered_is_built_with_the_program(
    context: cl.Context,
    queue: cl.CommandQueue,
    buffers: Buffers,
    searched: list[LaunchRequest],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    program, _ = program_of(context, True)
    buffers.launch(queue, program)
    assert len(searched) == 1
    program = Program(context, SOURCE).build()

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("at a launch")

    monkeypatch.setattr("coarsen.runtime.plan.build_for_launches", refuse)
    monkeypatch.setattr("coarsen.runtime.code.Codes._coarsened", refuse)
    buffers.launch(queue, program, times=2)
    divided = program.add.divided(queue.device, (COUNT,), (64,))
    assert divided.coarsenings == (Coarsening(4),)


def test_what_goes_wrong_is_said_by_the_first_launch(
    context: cl.Context,
    queue: cl.CommandQueue,
    buffers: Buffers,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    # Notes of the tuning are no warnings.
    caplog.set_level(logging.WARNING, "coarsen")
    program, _ = program_of(context, True)
    buffers.launch(queue, program)

    def fail(*_: object) -> None:
        raise InternalError("no verse")

    monkeypatch.setattr("coarsen.runtime.code.Codes.coarsen", fail)
    program = Program(context, SOURCE).build()
    assert not caplog.messages
    buffers.launch(queue, program, times=2)
    (message,) = caplog.messages
    assert message.startswith("kernel add stays as it is: this is a bug in coarsen")
