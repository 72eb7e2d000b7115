"""OpenCL's builtins for AMD's GCN, to count a kernel's registers: what is close does for what is exact.

Ids come in registers; sizes are read from the place that Mesa's launches put them, scalar loads as elsewhere, and
there is no global offset. Elementary functions on floats are the hardware's own instructions, also where OpenCL
demands more precision: AMD's library takes a few registers more, and scratch memory for large arguments of sine.

By hand since nothing runs: registers alone are counted, for which libclc's 8 MB need not be read
(`docs/explanation/own-builtins.md`).
"""

from __future__ import annotations

from collections.abc import Iterable

from coarsen.backend.approximations import Hardware, approximation_body, intrinsic
from coarsen.backend.atomic_builtins import atomic_body
from coarsen.backend.body import FLOAT, Body, Item
from coarsen.backend.builtin_library import Declaration
from coarsen.backend.ptx_conversions import conversion_body
from coarsen.backend.ptx_copies import copy_body
from coarsen.backend.ptx_floats import float_body
from coarsen.backend.ptx_integers import integer_body
from coarsen.backend.ptx_parts import parts_body
from coarsen.backend.ptx_vectors import vector_body
from coarsen.backend.work_items import Registers, work_item_body

_REGISTERS = Registers(
    local_id="amdgcn.workitem.id",
    group_id="amdgcn.workgroup.id",
    local_size="r600.read.local.size",
    group_count="r600.read.ngroups",
    barrier=(
        'fence syncscope("workgroup") release',
        "call void @llvm.amdgcn.s.barrier()",
        'fence syncscope("workgroup") acquire',
    ),
    fence='fence syncscope("workgroup") acq_rel',
)


def _quotient(body: Body, x: Item, y: Item) -> Item:
    return body.binary("fmul", x, body.call(FLOAT, "llvm.amdgcn.rcp.f32", y))


_HARDWARE = Hardware(
    sine=intrinsic("sin.f32"),  # a multiplication, and the instruction, which takes turns
    cosine=intrinsic("cos.f32"),
    power_of_two=intrinsic("amdgcn.exp2.f32"),
    logarithm=intrinsic("amdgcn.log.f32"),
    quotient=_quotient,
    root=intrinsic("amdgcn.sqrt.f32"),
    reciprocal_root=intrinsic("amdgcn.rsq.f32"),
)
_BODIES = (integer_body, float_body, parts_body, conversion_body, vector_body, copy_body)


def amdgpu_library(declaration: Declaration) -> Iterable[str] | None:
    """Return the body of a builtin; None for one that has no form here."""
    approximated = approximation_body(Body(declaration), _HARDWARE, relaxed=True)
    if approximated is not None:
        return approximated
    work_item = work_item_body(Body(declaration), _REGISTERS)
    if work_item is not None:
        return work_item
    for write in _BODIES:
        body = write(Body(declaration))
        if body is not None:
            return body
    return atomic_body(declaration)
