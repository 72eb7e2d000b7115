"""How rows ended, as a choice between versions sees it: what a dispatcher knows before the launch."""

from __future__ import annotations

import re

from coarsen.models.inputs.times import Ending
from coarsen.opencl_bench.records.measurement import Invalidity, Measurement

# Device limits that a dispatcher has asked for when it built the versions; in OpenCL's words and in CUDA's.
_REFUSED_LAUNCH = re.compile(r"INVALID_WORK_(GROUP|ITEM)_SIZE|LAUNCH_OUT_OF_RESOURCES")
# A compiler that is killed takes the process with it, which is no refusal.
_DIED = re.compile(r"^while compiling, |^the process ")


def ending_of(row: Measurement) -> Ending:
    """Return the ending of a row.

    What breaks a constraint, is not compiled, or has a work-group that the device refuses falls back. What took
    too long, also to compile, failed: nothing says so before it is done.
    """
    if row.invalidity is Invalidity.CORRECT:
        return Ending.RAN
    if row.invalidity is Invalidity.CORRECTNESS:
        return Ending.WRONG
    if row.invalidity is Invalidity.CONSTRAINTS:
        return Ending.FELL_BACK
    if row.invalidity is Invalidity.COMPILE:
        return Ending.FAILED if _DIED.search(row.reason) else Ending.FELL_BACK
    if row.invalidity is Invalidity.RUNTIME and _REFUSED_LAUNCH.search(row.reason):
        return Ending.FELL_BACK
    return Ending.FAILED
