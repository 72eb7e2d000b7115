"""A source finds the same macros when it is coarsened as when the device's own compiler builds it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pyopencl as cl
import pytest

from coarsen.cli.apply.options import ApplyOptions
from coarsen.cli.apply.request import Request
from coarsen.devices.discovery import DeviceDescription, common_macros_of
from coarsen.drop_in.program import Program
from coarsen.frontend.device_macros import PORTABLE, DeviceMacros, common_macros, device_macros
from coarsen.tuning.processes.compile_service import macros_for
from coarsen.tuning.processes.measuring_process import machine_to_json

EXTENSIONS = (
    *("cl_amd_media_ops", "cl_khr_3d_image_writes", "cl_khr_byte_addressable_store", "cl_khr_fp16", "cl_khr_fp64"),
    *("cl_khr_global_int32_base_atomics", "cl_khr_int64_base_atomics", "cl_khr_int64_extended_atomics"),
)
TESTS = "".join(f"#ifdef {name}\nbits |= {1 << bit};\n#endif\n" for bit, name in enumerate(EXTENSIONS))
SOURCE = f"""
kernel void ask(global int *answers) {{
    int bits = 0;
    {TESTS}
    answers[get_global_id(0)] = bits * 1000 + __OPENCL_VERSION__;
}}
"""


def asked_for(device: str | None) -> DeviceMacros:
    """The macros that `coarsen apply --device` compiles with."""
    return Request(ApplyOptions(file=Path("kernel.cl"), chosen={}, device=device), None).macros


def runs_on(parameters: Mapping[str, Any]) -> bool:
    """Oclgrind defines the macro of every extension that its clang knows, reported or not."""
    device: DeviceDescription = parameters["device"]
    return not device.is_called("oclgrind")


def test_a_coarsened_program_takes_the_branches_of_the_original(
    context: cl.Context, queue: cl.CommandQueue
) -> None:
    answers = [np.zeros(8, np.int32) for _ in range(2)]
    original, coarsened = cl.Program(context, SOURCE).build(), Program(context, SOURCE, factor=2).build()
    for kernel, answer in zip((original.ask, coarsened.ask), answers, strict=True):
        buffer = cl.Buffer(context, cl.mem_flags.READ_WRITE, answer.nbytes)
        kernel(queue, (8,), (4,), buffer)
        cl.enqueue_copy(queue, answer, buffer)
    assert answers[0].tolist() == answers[1].tolist()


def test_a_device_reports_the_same_to_all_who_ask(device: DeviceDescription, context: cl.Context) -> None:
    assert "cl_khr_byte_addressable_store" in device.extensions
    assert device.macros == common_macros_of(context.devices) == common_macros([device.macros])
    assert asked_for(device.index) == device.macros
    machine = json.loads(json.dumps(machine_to_json(device)))
    assert macros_for(machine) == device.macros


@pytest.mark.parametrize("machine", [None, {"device": {}}])
def test_machines_of_unknown_extensions_have_what_is_portable(machine: dict[str, object] | None) -> None:
    assert macros_for(machine) == PORTABLE


def test_a_device_that_is_not_here_has_what_is_portable() -> None:
    assert asked_for(None) == asked_for("tahiti") == PORTABLE


def test_a_description_of_before_extensions_were_asked_for_still_counts(device: DeviceDescription) -> None:
    fields = asdict(device)
    del fields["extensions"], fields["version"]
    assert DeviceDescription(**fields).macros == PORTABLE != device_macros("cl_khr_fp16", "OpenCL 1.2")
