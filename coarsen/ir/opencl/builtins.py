"""The table of OpenCL's builtin functions and LLVM's intrinsics: what a call does to work-items and to memory.

A function that the table does not know is judged by its declaration; one that says nothing may do anything.
"""

from __future__ import annotations

import enum
import re
from dataclasses import dataclass
from functools import lru_cache

from coarsen.ir.graph.instruction import Instruction
from coarsen.ir.opencl.queries import Query, builtin_name


@dataclass(frozen=True, slots=True)
class Refused:
    """Why a function is refused: the refusal's code, and what the function is, with its article."""

    code: str = "unsupported-call"
    description: str = ""


_REFUSED: tuple[tuple[Refused, tuple[str, ...]], ...] = (
    (
        Refused("sub-group", "a sub-group operation"),
        (
            *("sub_group", "_sub_group", "intel_sub_group", "__spirv_Group", "get_sub_group_"),
            *("get_max_sub_group_size", "get_num_sub_groups", "get_enqueued_num_sub_groups", "qcom_sub_group_"),
            *("__builtin_amdgcn_readfirstlane", "__builtin_amdgcn_readlane", "__builtin_amdgcn_ds_"),
            *("__builtin_amdgcn_mov_dpp", "__builtin_amdgcn_update_dpp", "__builtin_amdgcn_mbcnt_"),
            *("__builtin_amdgcn_wave",),
        ),
    ),
    (
        Refused("pipe", "a pipe"),
        (
            *("reserve_read_pipe", "reserve_write_pipe", "commit_", "read_pipe", "write_pipe"),
            *("get_pipe_", "__read_pipe", "__write_pipe", "clk_null_reserve_id"),
        ),
    ),
    (Refused("collective", "an operation of the whole work-group"), ("work_group_", "is_valid_reserve_id")),
    (
        Refused("device-enqueue", "a device-side enqueue"),
        (
            *("enqueue_", "__enqueue_kernel", "ndrange_", "get_kernel_", "__get_kernel_", "get_default_queue"),
            "clk_null_event",
        ),
    ),
    (
        Refused(),
        (
            *("create_user_event", "retain_event", "release_event", "set_user_event_status"),
            *("is_valid_event", "capture_event_profiling_info"),
            # SPIR-V's own and AMD's, among them ids and barriers.
            *("__spirv_", "__builtin_amdgcn_"),
        ),
    ),
)


def refused_builtin(name: str) -> Refused | None:
    """Return why a function is refused, by its name in OpenCL C (none for an indirect call); None if it is not."""
    if not name:
        return Refused()
    return next((refused for refused, prefixes in _REFUSED if name.startswith(prefixes)), None)


class Role(enum.Enum):
    """What a call means to the work-items that execute it."""

    QUERY = "asks for an id or a size of the NDRange"
    VALUE = "computes a value, or stores one through an argument: once where all operands are the same"
    GROUP_WIDE = "executed once by the whole work-group"
    FENCE = "orders memory: once is enough"
    PER_ITEM = "has an effect for each work-item, even where all operands are the same"
    IGNORED = "no effect at run time"
    REFUSED = "can't be coarsened faithfully"


class Reach(enum.Enum):
    """The memory that a call reads, or that it writes."""

    NOTHING = "none"
    FIRST = "what the first argument points to"
    SECOND = "what the second argument points to"
    ARGUMENTS = "what any of the arguments points to"
    EVERYTHING = "any memory"


@dataclass(frozen=True, slots=True)
class Builtin:
    """What is known of a function.

    Attributes:
        role: what a call means to the work-items that execute it.
        reads: the memory that it may read.
        writes: the memory that it may write.
        orders: whether memory accesses before and after it must stay there, since other work-items may see them.
        is_convergent: whether all work-items of a work-group must reach a call together.
        is_atomic: whether it accesses memory atomically.
        is_copy: whether it copies for the whole work-group, or waits for such copies.
        is_known: whether the table has it.
        query: what it asks for.
        refused: why it can't be coarsened.
    """

    role: Role
    reads: Reach = Reach.NOTHING
    writes: Reach = Reach.NOTHING
    orders: bool = False
    is_convergent: bool = False
    is_atomic: bool = False
    is_copy: bool = False
    is_known: bool = True
    query: Query | None = None
    refused: Refused | None = None

    @property
    def is_fence(self) -> bool:
        """Return True for a fence or a barrier, whose first argument says for which memory."""
        return self.role is Role.FENCE or (self.is_convergent and not self.is_copy)


_MEMORY = re.compile(r"\bmemory\(([^)]*)\)")
_ANY = Reach.EVERYTHING
_VALUE = Builtin(Role.VALUE)
_STORING = Builtin(Role.VALUE, writes=Reach.ARGUMENTS)
_UNKNOWN = Builtin(Role.PER_ITEM, _ANY, _ANY, orders=True, is_known=False)
_BARRIER = Builtin(Role.GROUP_WIDE, _ANY, _ANY, orders=True, is_convergent=True)
_WAIT = Builtin(Role.GROUP_WIDE, _ANY, _ANY, orders=True, is_convergent=True, is_copy=True)
_COPY = Builtin(Role.GROUP_WIDE, Reach.SECOND, Reach.FIRST, orders=True, is_convergent=True, is_copy=True)
_FENCE = Builtin(Role.FENCE, _ANY, _ANY, orders=True)
_NAMED: dict[str, Builtin] = {
    **{query.value: Builtin(Role.QUERY, query=query) for query in Query},
    **dict.fromkeys(("barrier", "work_group_barrier"), _BARRIER),
    **dict.fromkeys(("async_work_group_copy", "async_work_group_strided_copy", "async_copy"), _COPY),
    "wait_group_events": _WAIT,
    "prefetch": Builtin(Role.GROUP_WIDE, reads=Reach.FIRST),
    **dict.fromkeys(("mem_fence", "read_mem_fence", "write_mem_fence", "atomic_work_item_fence"), _FENCE),
    **dict.fromkeys(("fract", "frexp", "lgamma_r", "modf", "remquo", "sincos"), _STORING),
    "__translate_sampler_initializer": _VALUE,
    "printf": Builtin(Role.PER_ITEM, reads=Reach.ARGUMENTS),
}
_ATOMIC_LOAD = Builtin(Role.PER_ITEM, reads=Reach.ARGUMENTS, orders=True, is_atomic=True)
_ATOMIC_STORE = Builtin(Role.PER_ITEM, writes=Reach.ARGUMENTS, orders=True, is_atomic=True)
_ATOMIC = Builtin(Role.PER_ITEM, Reach.ARGUMENTS, Reach.ARGUMENTS, orders=True, is_atomic=True)
# OpenCL 1.2's, each of the number that its first argument points to.
_ATOMIC_UPDATES = r"atom(ic)?_(add|sub|xchg|inc|dec|cmpxchg|min|max|and|or|xor)"
# By whole names: a vendor's function whose name only begins like one of these is judged by its declaration.
_BY_PATTERN: tuple[tuple[re.Pattern[str], Builtin], ...] = tuple(
    (re.compile(pattern), builtin)
    for pattern, builtin in (
        (r"vload(\d+|a?_half\d*)", Builtin(Role.VALUE, reads=Reach.ARGUMENTS)),
        (r"vstore(\d+|a?_half\d*(_rt[ezpn])?)", Builtin(Role.PER_ITEM, writes=Reach.ARGUMENTS)),
        (r"write_image(f|h|i|ui)", Builtin(Role.PER_ITEM, writes=_ANY)),
        (r"atomic_init", Builtin(Role.PER_ITEM, writes=Reach.ARGUMENTS)),
        (r"atomic_load(_explicit)?", _ATOMIC_LOAD),
        (r"atomic_(store|flag_clear)(_explicit)?", _ATOMIC_STORE),
        (_ATOMIC_UPDATES, _ATOMIC),
        (r"atomic_fetch_(add|sub|or|xor|and|min|max)(_explicit)?", _ATOMIC),
        (r"atomic_(exchange|compare_exchange_(strong|weak)|flag_test_and_set)(_explicit)?", _ATOMIC),
        (r"llvm\.(assume|donothing|experimental\.noalias\.scope\.decl)", Builtin(Role.IGNORED)),
        (r"llvm\.(lifetime|dbg)\..*", Builtin(Role.IGNORED)),
        (r"llvm\.mem(cpy|move)\..*", Builtin(Role.VALUE, Reach.SECOND, Reach.FIRST)),
        (r"llvm\.memset\..*", Builtin(Role.VALUE, writes=Reach.FIRST)),
    )
)
# Between `llvm.` and the types.
_PURE_INTRINSICS = frozenset(
    {
        *("fmuladd", "fma", "smin", "smax", "umin", "umax", "abs", "fabs", "sqrt", "floor", "ceil", "trunc"),
        *("rint", "round", "roundeven", "copysign", "minnum", "maxnum", "minimum", "maximum"),
        *("ctpop", "ctlz", "cttz", "bswap", "bitreverse", "fshl", "fshr", "sshl", "ushl"),
        *("sadd", "uadd", "ssub", "usub", "smul", "umul", "is.fpclass", "vector.reduce", "arithmetic.fence"),
        *("exp", "exp2", "log", "log2", "log10", "pow", "powi", "sin", "cos", "ldexp", "expect", "canonicalize"),
    }
)


def builtin_of(call: Instruction) -> Builtin:
    """Return what is known of the function that a call calls, by its name alone."""
    return builtin_named(call.callee)


@lru_cache(maxsize=4096)
def builtin_named(callee: str, declaration: str = "") -> Builtin:
    """Return what is known of a function by its name in IR; empty for an indirect call."""
    name = builtin_name(callee)
    known = _NAMED.get(name)
    if known is not None:
        return known
    refused = refused_builtin(name)
    if refused is not None:
        return Builtin(Role.REFUSED, _ANY, _ANY, orders=True, is_known=False, refused=refused)
    found = next((builtin for pattern, builtin in _BY_PATTERN if pattern.fullmatch(name)), None)
    if found is not None:
        return found
    return _intrinsic(name) if name.startswith("llvm.") else _declared(declaration)


def is_atomic_update(callee: str) -> bool:
    """Return True for a function by which OpenCL 1.2 updates a number atomically, by its name in IR."""
    return re.fullmatch(_ATOMIC_UPDATES, builtin_name(callee)) is not None


def _intrinsic(name: str) -> Builtin:
    """Return what is known of one of LLVM's intrinsics: those that are no functions of numbers are refused."""
    _, *parts = name.split(".")
    if not _PURE_INTRINSICS.isdisjoint((parts[0], ".".join(parts[:2]))):
        return _VALUE
    return Builtin(Role.REFUSED, _ANY, _ANY, orders=True, is_known=False, refused=Refused())


def is_barrier(instruction: Instruction) -> bool:
    """Return True if all work-items of a group must reach an instruction together."""
    return instruction.opcode == "call" and builtin_of(instruction).is_convergent


def is_group_copy(instruction: Instruction) -> bool:
    """Return True if a call copies for the whole work-group, or waits for such copies."""
    return instruction.opcode == "call" and builtin_of(instruction).is_copy


def _declared(declaration: str) -> Builtin:
    """Return what a declaration, with `memory(argmem: read)`, says of a function that the table does not know."""
    match = _MEMORY.search(declaration)
    if match is None or "write" in match[1]:
        return _UNKNOWN
    reading = {entry.rpartition(":")[0].strip() for entry in match[1].split(",") if "read" in entry}
    if reading <= {"argmem"}:
        return Builtin(Role.VALUE, Reach.ARGUMENTS if reading else Reach.NOTHING, is_known=False)
    return Builtin(Role.VALUE, _ANY, is_known=False)
