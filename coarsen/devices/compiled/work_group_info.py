"""The facts that OpenCL itself reports of a kernel on a device."""

from __future__ import annotations

import pyopencl

from coarsen.models.compiled.facts import CompiledFacts

_FACTS = {
    "private_bytes": "PRIVATE_MEM_SIZE",
    "local_bytes": "LOCAL_MEM_SIZE",
    "group_multiple": "PREFERRED_WORK_GROUP_SIZE_MULTIPLE",
    "largest_group": "WORK_GROUP_SIZE",
}


def work_group_facts(kernel: pyopencl.Kernel, device: pyopencl.Device) -> CompiledFacts:
    """Return what OpenCL reports; what a driver can't tell is None."""
    return CompiledFacts(**{fact: _reported(kernel, device, name) for fact, name in _FACTS.items()})


def _reported(kernel: pyopencl.Kernel, device: pyopencl.Device, name: str) -> int | None:
    try:
        return int(kernel.get_work_group_info(getattr(pyopencl.kernel_work_group_info, name), device))
    except pyopencl.Error:
        return None
