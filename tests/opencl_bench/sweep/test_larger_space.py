"""Sweeps of what the compiler can do beyond one factor: levels, several dimensions, wide accesses, any size."""

from __future__ import annotations

from pathlib import Path

import pytest

from coarsen.opencl_bench.sweep.several import sweep
from coarsen.tuning.engine.plan import Space
from coarsen.tuning.processes.compiler import CompilePool
from coarsen.tuning.records.measurement import Invalidity, Measurement, Role
from coarsen.tuning.store.database import open_store
from coarsen.variant.coarsening import Level
from coarsen.variant.space import TransformChoices
from tests.opencl_bench.sweep.small_sweep import small_plan

BOTH = (Level.ITEM, Level.GROUP)


def compared(tmp_path: Path, pool: CompilePool, benchmark: str, space: Space) -> list[Measurement]:
    """The comparisons of a small sweep on Intel's runtime."""
    with open_store(str(tmp_path / "store")) as store:
        rows = sweep(small_plan("intel", benchmark, space), store, pool=pool).rows
    return [row for row in rows if row.role is Role.COMPARISON]


def test_levels_dimensions_and_wide_accesses_together(tmp_path: Path, pool: CompilePool) -> None:
    wide = TransformChoices(wide_accesses=(False, True))
    space = Space((2,), (1,), (0, 1), ((16, 16),), levels=BOTH, at_once=2, transforms=wide)
    rows = compared(tmp_path, pool, "sgemm", space)
    assert len(rows) == 1 + (4 + 6) * 2
    assert {row.invalidity for row in rows} == {Invalidity.CORRECT}
    both = [row for row in rows if {entry.level for entry in row.candidate.coarsenings} == {*BOTH}]
    assert len({row.code_hash for row in rows}) > len(both) > 0


def test_merged_groups_bring_their_local_memory(tmp_path: Path, pool: CompilePool) -> None:
    """`reduce` is passed local memory, of which the merged group needs as much for each of its groups."""
    space = Space((5, 3), (1,), (0,), ((128,),), levels=(Level.GROUP,))
    rows = {row.candidate.factor: row for row in compared(tmp_path, pool, "reduce", space)}
    assert rows[5].invalidity is Invalidity.CORRECT
    # How many groups there are shows when the workload is made.
    assert rows[3].invalidity is Invalidity.CONSTRAINTS
    assert "does not divide the" in rows[3].reason and "work-groups along 0" in rows[3].reason


@pytest.mark.parametrize("level", Level)
def test_guarded_kernels_take_what_does_not_divide(tmp_path: Path, pool: CompilePool, level: Level) -> None:
    space = Space((3,), (1,), (0,), ((64,),), levels=(level,), transforms=TransformChoices(any_size=(True,)))
    rows = {row.candidate.factor: row for row in compared(tmp_path, pool, "mvUncoal", space)}
    assert rows[3].candidate.any_size
    assert rows[3].invalidity is Invalidity.CORRECT, rows[3].reason
