"""What the process that tunes hands back: errors as they were, and the text of what was found."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from coarsen.base.codec import decoded, encoded
from coarsen.devices.discovery import DeviceDescription
from coarsen.errors import (
    CoarsenError,
    DeviceError,
    InvalidInputError,
    RefusalError,
    SourcePosition,
    VerificationError,
)
from coarsen.runtime.code import Codes
from coarsen.runtime.text_cache.store import Store
from coarsen.runtime.toolchain import Toolchain
from coarsen.tuning.captured_tuning import DECODERS, _error
from coarsen.tuning.measure.speedup import Speedup
from coarsen.tuning.progress import TimeOverError
from coarsen.tuning.tuned import Conversion, Decision, LaidOutChoice, Tuned
from coarsen.tuning.tuning_processes import LaunchToTune
from coarsen.tuning.tuning_service import ENCODERS, _failed, _keep_text
from coarsen.tuning.workload.captured_benchmark import PRESET, read_launch
from coarsen.tuning.workload.captured_launch import CapturedLaunch, write_launch
from coarsen.tuning.workload.launch_list import PassedBuffer
from coarsen.variant.coarsening import Coarsening
from coarsen.variant.data_layout import ArrayLayout
from coarsen.variant.data_plan import ArrayPlan
from coarsen.variant.transforms import DEFAULT
from coarsen.variant.variant import Variant

SOURCE = "kernel void twice(global float *all) { all[get_global_id(0)] = 2.0f * get_global_id(0); }"


@pytest.mark.parametrize(
    "error",
    [
        DeviceError("it is gone"),
        InvalidInputError("it does not compile"),
        TimeOverError("the time was over"),
        VerificationError("it is wrong"),
        RefusalError("collective", "it calls a reduction", SourcePosition(3, 7, "a.h")),
        RefusalError("collective", "it calls a reduction"),
    ],
)
def test_errors_come_back_as_they_were(error: CoarsenError) -> None:
    back = _error(json.loads(json.dumps(_failed(error))))
    assert (type(back), str(back)) == (type(error), str(error))
    assert vars(back) == vars(error)


def test_what_was_found_comes_back_as_it_was() -> None:
    gain = Speedup(2.0, 1.9, 2.1)
    plain = Variant((64,), (Coarsening(4),), any_size=True)
    laid_out = Variant((64,), arrays=(ArrayPlan("bodies", ArrayLayout.parse("soa")),))
    decision = Decision(plain, gain, None, 3, (2.0, 1.0), gain)
    choice = LaidOutChoice(laid_out, gain, 0.5, 1.5, Conversion(0.1, None))
    found = Tuned("k", "a device", (64, 2), None, decision, 9, 1, 0.5, 1.5, "over", ("x: y",), choice, 2)
    assert decoded(Tuned, json.loads(json.dumps(encoded(found, ENCODERS))), "what was found", DECODERS) == found


def test_the_text_of_what_was_found_is_where_the_program_looks(
    working_devices: tuple[DeviceDescription, ...], tmp_path: Path
) -> None:
    device, file = working_devices[0], tmp_path / "launch.npz"
    write_launch(CapturedLaunch(SOURCE, (), "twice", (64,), (64,), (PassedBuffer(256),)), file)
    launch = LaunchToTune(read_launch(file), str(file), "the kernel", PRESET, device, DEFAULT)
    texts = tmp_path / "texts"
    _keep_text(Variant((64,), (Coarsening(4),)), launch, {"source": SOURCE, "options": [], "folder": str(texts)})

    def never(*_: Any, **__: Any) -> Any:  # noqa: ANN401 (as they are)
        raise AssertionError("the program compiles it once more")

    toolchain = Toolchain(device.macros, Store(texts))
    toolchain.coarsen_anew = never  # type: ignore[method-assign]
    code = Codes(SOURCE, (), "opencl_c", toolchain).coarsen("twice", Variant((), (Coarsening(4),)))
    assert "twice" in str(code.text)
