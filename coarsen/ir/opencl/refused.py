"""The builtin functions that can't be coarsened faithfully, by the starts of their names, and why."""

from __future__ import annotations

from dataclasses import dataclass


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
