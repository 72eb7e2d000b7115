"""OpenCL's builtin functions, by what they mean for merging work-items.

In IR a builtin is a function with an Itanium-mangled name (`_Z13get_global_idj`); LLVM's intrinsics keep theirs.
"""

from __future__ import annotations

import enum
import re
from functools import lru_cache

from coarsen.ir.kernel import Instruction

_MANGLED = re.compile(r"_Z(\d+)(.*)", re.DOTALL)


class Effect(enum.Enum):
    """What a call means to the work-items that are merged."""

    WORK_ITEM_ID = "identifies the work-item: rewritten for each replica"
    GEOMETRY = "sizes of the NDRange: the same for all, rescaled where coarsened"
    UNCHANGED = "the same for all work-items of a group, and not touched by coarsening"
    PURE = "a function of its operands"
    READS = "a function of its operands and of memory"
    WRITES_ARGUMENT = "a function of its operands that also stores through a pointer"
    GROUP_WIDE = "executed once by the whole work-group: stands once, and must be reached by all"
    FENCE = "orders memory: stands once"
    PER_ITEM = "has an effect for each work-item: replicated even if uniform"
    IGNORED = "no effect at run time"
    REFUSED = "can't be coarsened faithfully"


# The ids in which work-items of one work-group differ, and those in which work-items of several groups always do.
IDS_OF_ITEMS = frozenset({"get_global_id", "get_local_id", "get_global_linear_id", "get_local_linear_id"})
IDS_OF_GROUPS = frozenset({"get_global_id", "get_group_id", "get_global_linear_id"})
_GEOMETRY = {"get_global_size", "get_local_size", "get_enqueued_local_size"}
_UNCHANGED = {"get_group_id", "get_num_groups", "get_global_offset", "get_work_dim"}
_BARRIERS = {"barrier", "work_group_barrier"}
_GROUP_COPIES = {
    "async_work_group_copy",
    "async_work_group_strided_copy",
    "wait_group_events",
    "async_copy",
}
_FENCES = {"mem_fence", "read_mem_fence", "write_mem_fence", "atomic_work_item_fence"}
_WRITES_ARGUMENT = {"fract", "frexp", "lgamma_r", "modf", "remquo", "sincos"}
_REFUSED_PREFIXES = (
    *("sub_group", "get_sub_group_", "get_max_sub_group_size", "get_num_sub_groups"),
    *(
        "get_enqueued_num_sub_groups",
        "intel_sub_group",
        "work_group_",
        "enqueue_",
        "get_kernel_",
        "get_default_queue",
        "ndrange_",
    ),
    *("reserve_read_pipe", "reserve_write_pipe", "commit_", "read_pipe", "write_pipe", "get_pipe_"),
    *("create_user_event", "retain_event", "release_event", "set_user_event_status", "is_valid_event"),
    *("capture_event_profiling_info", "__enqueue_kernel", "__get_kernel_", "__read_pipe", "__write_pipe"),
    *("__spirv_Group", "_sub_group", "is_valid_reserve_id"),
)
_PURE_INTRINSICS = re.compile(
    r"llvm\.(?:fmuladd|fma|[su](?:min|max)|abs|fabs|sqrt|floor|ceil|trunc|rint|round|roundeven|copysign|minnum|maxnum"
    r"|minimum|maximum|ctpop|ctlz|cttz|bswap|bitreverse|fsh[lr]|[su]add|[su]sub|[su]mul|[us]shl|is\.fpclass"
    r"|exp|exp2|log|log2|log10|pow|powi|sin|cos|ldexp|vector\.reduce|expect|canonicalize|arithmetic\.fence)\b"
)
_MEMORY_INTRINSICS = re.compile(r"llvm\.mem(?:cpy|move|set)\b")
_IGNORED_INTRINSICS = ("llvm.assume", "llvm.experimental.noalias", "llvm.lifetime", "llvm.dbg")


def builtin_name(callee: str) -> str:
    """The OpenCL name of a mangled function: `_Z13get_global_idj` gives `get_global_id`; others come back."""
    match = _MANGLED.match(callee)
    return match[2][: int(match[1])] if match else callee


def effect_of(instruction: Instruction, declaration: str = "") -> Effect:
    """What a call does.

    Args:
        instruction: the call.
        declaration: the attributes of the called function as LLVM prints them above its declaration; a function
            that this table does not know is judged by whether it may touch memory.
    """
    return _effect_of_callee(instruction.callee, declaration)


@lru_cache(maxsize=4096)
def _effect_of_callee(callee: str, declaration: str) -> Effect:
    name = builtin_name(callee)
    if not name or name.startswith(_REFUSED_PREFIXES):
        return _group_barrier_or_refused(name)
    if name.startswith("llvm."):
        return _effect_of_intrinsic(name)
    for effect, names in _NAMED.items():
        if name in names:
            return effect
    if "memory(none)" in declaration:
        return Effect.PURE
    if "memory(read" in declaration and "memory(readwrite" not in declaration:
        return Effect.READS
    return Effect.PER_ITEM


def is_barrier(instruction: Instruction) -> bool:
    """Whether all work-items of a group must reach this call together."""
    return (
        bool(instruction.callee)
        and effect_of(instruction) is Effect.GROUP_WIDE
        and (builtin_name(instruction.callee) != "prefetch")
    )


def is_group_copy(instruction: Instruction) -> bool:
    """Whether a call copies for the whole work-group, or waits for such copies."""
    return bool(instruction.callee) and builtin_name(instruction.callee) in _GROUP_COPIES


def _group_barrier_or_refused(name: str) -> Effect:
    return Effect.GROUP_WIDE if name == "work_group_barrier" else Effect.REFUSED


def _effect_of_intrinsic(name: str) -> Effect:
    if name.startswith(_IGNORED_INTRINSICS):
        return Effect.IGNORED
    if _MEMORY_INTRINSICS.match(name):
        return Effect.WRITES_ARGUMENT
    return Effect.PURE if _PURE_INTRINSICS.match(name) else Effect.REFUSED


_NAMED = {
    Effect.PURE: {"__translate_sampler_initializer"},
    Effect.WORK_ITEM_ID: IDS_OF_ITEMS,
    Effect.GEOMETRY: _GEOMETRY,
    Effect.UNCHANGED: _UNCHANGED,
    Effect.GROUP_WIDE: _BARRIERS | _GROUP_COPIES | {"prefetch"},
    Effect.FENCE: _FENCES,
    Effect.WRITES_ARGUMENT: _WRITES_ARGUMENT,
}
