"""The compile service's answers for candidates on which a device's compiler would take minutes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from coarsen.tuning.processes.compile_service import CompileService
from coarsen.variant.coarsening import Coarsening, Level
from coarsen.variant.variant import Variant
from coarsen.variant.variant_json import variant_to_json

# Two conditions in a row around barriers: with four work-groups merged, 256 ways.
SOURCE = """
kernel void pick(global int *values) {
    local int cell;
    size_t group = get_group_id(0), item = get_local_id(0);
    if (item == 0) cell = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    int value = values[group];
    if (value > 1) {
        if (item == 1) cell += value;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (value > 4) {
        if (item == 3) cell += 10;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (item == 0) values[group] = cell;
}
"""
FILE = """\
file = "pick.cl"
kernel = "pick"
outputs = ["values"]
[ndrange]
global_size = ["n"]
local_size = [8]
[sizes.test]
n = 64
[[arguments]]
name = "values"
buffer = "int"
elements = "n"
values = "integers(0, 9)"
"""


def answer(folder: Path, factor: int, platform_version: str | None) -> Mapping[str, Any]:
    (folder / "pick.cl").write_text(SOURCE)
    (folder / "pick.toml").write_text(FILE)
    machine = (
        None if platform_version is None else {"device": {"platform_version": platform_version, "index": "0:0"}}
    )
    request = {
        "benchmark": str(folder / "pick.toml"),
        "candidate": variant_to_json(Variant((8,), (Coarsening(factor, level=Level.GROUP),))),
        "form": "opencl_c",
        "ir_hash": None,
        "machine": machine,
    }
    return CompileService().compile(request)


def test_too_many_ways_are_refused_for_pocl(tmp_path: Path) -> None:
    assert "[slow-to-compile]" in answer(tmp_path, 4, "OpenCL 3.0 PoCL 3.1")["failed"]


def test_any_number_of_ways_is_compiled_for_nobody_in_particular(tmp_path: Path) -> None:
    assert answer(tmp_path, 4, None)["ok"]
