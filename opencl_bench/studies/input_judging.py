"""The kernels that adapt, judged from stored rows: choices, second times, what tuning would have cost."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from coarsen.errors import InvalidInputError
from coarsen.models.inputs.acceptance import KernelResult
from coarsen.models.inputs.judging import Plan, judged
from coarsen.opencl_bench.inputs.kept_plans import planned
from coarsen.opencl_bench.inputs.kept_searches import KeptSearches
from coarsen.opencl_bench.inputs.second_times import cells_to_confirm
from coarsen.opencl_bench.inputs.stage_one import StageOne, StageOneSettings
from coarsen.opencl_bench.inputs.stage_one_replay import ReplayedStageOne, replayed_versions
from coarsen.opencl_bench.records.measurement import Role
from coarsen.opencl_bench.search.staircase import StaircaseSearcher
from coarsen.opencl_bench.studies.input_rows import StoredKernel
from coarsen.variant.variant import Variant


@dataclass(frozen=True, slots=True)
class JudgedKernel:
    """One kernel on one device.

    Attributes:
        stored: its rows.
        plan: the choices; None where they can't be made.
        result: what came of them; None where something isn't timed again.
        problem: why there is no result, in one line; empty where there is one.
        tuning_seconds: what the rows took that `coarsen tune` would have measured.
        staircase: the paper's search, replayed on the inputs that the first stage searches on.
    """

    stored: StoredKernel
    plan: Plan | None
    result: KernelResult | None
    problem: str = ""
    tuning_seconds: float = 0.0
    staircase: StageOne | None = None


def judged_kernels(
    found: Iterable[StoredKernel],
    settings: StageOneSettings | None = None,
    kept: KeptSearches | None = None,
) -> Iterator[JudgedKernel]:
    """Judge kernels, one after the other: searches are replayed in each fold, which takes a while.

    Args:
        found: their rows.
        settings: of the first stage.
        kept: searches and plans that were made before, and where others are kept.
    """
    for stored in found:
        yield _judged(stored, settings or StageOneSettings(), kept)


def _judged(stored: StoredKernel, settings: StageOneSettings, kept: KeptSearches | None) -> JudgedKernel:
    made = None
    try:
        made = planned(stored.study(settings, kept), kept)
        cells = cells_to_confirm(made)
        known = {(r.subject.preset, r.candidate) for r in stored.rows if r.role is Role.CONFIRMATION}
        lacking = [cell for cell in cells if cell not in known]
        if lacking:
            problem = f"{len(lacking)} of {len(cells)} choices are not timed again: run input_confirmations first"
            return JudgedKernel(stored, made, None, problem)
        result = judged(made, stored.again)
    except InvalidInputError as error:
        return JudgedKernel(stored, made, None, str(error))
    stairs = StageOneSettings(StaircaseSearcher(), settings.inputs, share=1.0, is_warm=False)
    staircase = ReplayedStageOne(stairs).run(stored.times)
    return JudgedKernel(stored, made, result, "", _tuning_seconds(stored, settings, kept), staircase)


def _tuning_seconds(stored: StoredKernel, settings: StageOneSettings, kept: KeptSearches | None) -> float:
    """The seconds of the rows that the first stage tries or leaves for all inputs; each code is compiled once."""
    replayed = ReplayedStageOne(settings, {} if kept is None else kept).run(stored.times)
    tried = replayed_versions(stored.times, replayed)
    wanted = {(name, stored.times.versions[column]) for name, column in tried}
    compiled: dict[Variant, float] = {}
    seconds = 0.0
    for row in stored.rows:
        if row.role is Role.COMPARISON and (row.subject.preset, row.candidate) in wanted:
            seconds += row.measure_seconds
            compiled[row.candidate] = row.compile_seconds
    return seconds + sum(compiled.values())
