"""What replication builds: links that fit together, and origins that say what each part is for."""

from __future__ import annotations

import pytest

from coarsen.frontend.lower import lower
from coarsen.ir.graph.function import Function
from coarsen.ir.graph.instruction import Block, Instruction
from coarsen.ir.graph.origin import Role
from coarsen.transform.coarsen import analyse, coarsened_module
from coarsen.transform.regions.plan_regions import plan_regions
from coarsen.variant.coarsening import Coarsening, Level
from coarsen.variant.transforms import REPLICATION_ALONE, DeviceKind, Transforms, Use
from tests.ir.graph.check import check_function

ALWAYS = Transforms(Use.ALWAYS, Use.ALWAYS, device_kind=DeviceKind.GPU)
IF = "if (x < n) { float s = 0; for (int i = 0; i < n; ++i) s += in[i] * x; out[x] = s; }"
LOOP = "float s = 0; for (int i = 0; i < x; ++i) s += in[i]; out[x] = s;"
LONG = (
    "if (x < n) { float v = in[x]; out[x] = v * v + in[n] * v - in[n + 1] / (v + 1) + sqrt(v) * fabs(in[n - 1]); }"
)
NESTED = "for (int i = 0; i < x; ++i) { if (in[i] > x) out[x] = i; else out[i] += x; }"
TILE = "tile[get_local_id(0)] = in[x]; barrier(CLK_LOCAL_MEM_FENCE); out[x] = tile[0] + get_global_id(n);"


def replicated(body: str, coarsening: Coarsening, transforms: Transforms = ALWAYS) -> Function:
    arguments = "global const float *in, global float *out, int n, local float *tile"
    kernel = lower(f"kernel void k({arguments}) {{\n const int x = get_global_id(0);\n {body} }}")
    analysed = analyse(kernel, coarsening.dimension, coarsening.level)
    plan = plan_regions(analysed.divergence, analysed.regions, transforms)
    return coarsened_module(analysed, coarsening, plan).function("k")


def called(function: Function, name: str) -> Instruction:
    return next(instruction for instruction in function.instructions() if instruction.name == name)


def ending(function: Function, name: str) -> list[Block]:
    return [block for block in function.blocks if block.name.endswith(name)]


@pytest.mark.parametrize("level", Level)
@pytest.mark.parametrize("transforms", [REPLICATION_ALONE, ALWAYS], ids=["copies", "together"])
@pytest.mark.parametrize("body", [IF, LOOP, LONG, NESTED, TILE], ids=["if", "loop", "long", "nested", "tile"])
def test_links_fit(body: str, transforms: Transforms, level: Level) -> None:
    check_function(replicated(body, Coarsening(3, level=level), transforms))


def test_copies_are_their_replicas_and_stand_where_the_original_does() -> None:
    function = replicated(LOOP, Coarsening(2), REPLICATION_ALONE)
    first, second = (call for call in function.instructions() if call.opcode == "load")
    assert (first.origin.replica, second.origin.replica) == (0, 1)
    assert first.position is not None and first.position == second.position
    assert first.origin.role is second.origin.role is Role.SOURCE


def test_what_all_share_is_nobodys() -> None:
    function = replicated("out[x] = in[n];", Coarsening(2))
    (load,) = (instruction for instruction in function.instructions() if instruction.opcode == "load")
    assert load.origin.replica is None


def test_ids_know_their_role_and_the_query_they_are_for() -> None:
    function = replicated("out[x] = n;", Coarsening(2))
    ids = [i for i in function.instructions() if i.origin.role is Role.ID]
    assert {"x", "x.1", "global_id.x"} <= {instruction.name for instruction in ids}
    assert {instruction.position.line for instruction in ids if instruction.position} == {2}
    assert [called(function, name).origin.replica for name in ("x", "x.1")] == [0, 1]


def test_votes_and_what_follows_a_disagreement() -> None:
    function = replicated(IF, Coarsening(2))
    (differ,) = ending(function, ".differ")
    assert differ.origin.role is Role.DIVERGED
    votes = [i for i in function.instructions() if i.origin.role is Role.VOTE and i.name]
    assert [vote.name.rpartition(".")[2] for vote in votes] == ["all", "any"]
    (parted,) = ending(function, ".parted")
    assert parted.origin.role is Role.DIVERGED


def test_slow_paths_are_one_replicas_or_a_loop_over_all() -> None:
    copied = replicated(LONG, Coarsening(2), Transforms(Use.ALWAYS, device_kind=DeviceKind.CPU))
    alone = [block.origin for block in copied.blocks if ".alone" in block.name]
    assert {origin.role for origin in alone} == {Role.SLOW_PATH}
    assert {origin.replica for origin in alone} == {0, 1}
    in_turns = replicated(IF, Coarsening(8))
    assert called(in_turns, "replica").origin.role is Role.REPLICA_LOOP
    alone = [block.origin for block in in_turns.blocks if ".alone" in block.name]
    assert {origin.replica for origin in alone} == {None}
