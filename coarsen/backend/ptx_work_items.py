"""OpenCL's work-item functions and synchronisation for PTX (see `work_items.py`)."""

from __future__ import annotations

from coarsen.backend import work_items
from coarsen.backend.body import Body

_REGISTERS = work_items.Registers(
    local_id="nvvm.read.ptx.sreg.tid",
    group_id="nvvm.read.ptx.sreg.ctaid",
    local_size="nvvm.read.ptx.sreg.ntid",
    group_count="nvvm.read.ptx.sreg.nctaid",
    barrier=("call void @llvm.nvvm.barrier0()",),
    fence="call void @llvm.nvvm.membar.gl()",
)


def work_item_body(body: Body) -> list[str] | None:
    """Return the body of a work-item function, a barrier, a fence or a copy by the work-group; None for others."""
    return work_items.work_item_body(body, _REGISTERS)
