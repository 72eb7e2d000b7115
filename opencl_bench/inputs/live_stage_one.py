"""The first stage on a device: searches on a few inputs, whose rows the store keeps like all others.

Every trial is a version against the default one at that input. A search that was killed goes on where it was, and
what it measured isn't measured again when all inputs have their turn.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cached_property

from coarsen.devices.selection import find_device
from coarsen.errors import InvalidInputError
from coarsen.models.inputs.times import InputPoint
from coarsen.opencl_bench.inputs.measuring import OpenedInputs, VersionsPlan, opened_inputs, sweep_plan
from coarsen.opencl_bench.inputs.stage_one import StageOne, StageOneSettings, stage_one
from coarsen.opencl_bench.records.measurement import Invalidity
from coarsen.opencl_bench.results.store.database import Store
from coarsen.opencl_bench.search.evaluator import Evaluator, FunctionEvaluator
from coarsen.opencl_bench.search.spaces import Choice, VariantSearchSpace, listed
from coarsen.opencl_bench.sweep.compiler import CompilePool
from coarsen.opencl_bench.sweep.engine import name_of
from coarsen.opencl_bench.sweep.live_evaluator import LiveEvaluator
from coarsen.opencl_bench.sweep.observer import CollectingObserver, SweepObserver
from coarsen.opencl_bench.sweep.plan import Space, limits_of, variant_space
from coarsen.opencl_bench.sweep.row_measurer import RowMeasurer
from coarsen.opencl_bench.workloads.lookup import find_benchmark
from coarsen.variant.space import VariantSpace
from coarsen.variant.transforms import device_kind_of
from coarsen.variant.variant import Variant


@dataclass(frozen=True, slots=True)
class SearchedVersions:
    """What the first stage left.

    Attributes:
        versions: to measure at all inputs, the default first.
        result: of the searches.
        measured: the number of rows measured now.
    """

    versions: tuple[Variant, ...]
    result: StageOne
    measured: int


def search_versions(
    plan: VersionsPlan,
    inputs: Sequence[InputPoint],
    space: Space,
    store: Store,
    settings: StageOneSettings | None = None,
    observer: SweepObserver | None = None,
    pool: CompilePool | None = None,
) -> SearchedVersions:
    """Search on some inputs for the versions that are worth measuring at all of them.

    Args:
        plan: where and how; `presets` and `versions` are not looked at.
        inputs: all that there are; the name of each is its preset.
        space: what to search.
        store: where the rows go, one committed transaction each.
        settings: how to search.
        observer: sees rows as they come.
        pool: the processes that compile and measure; some of its own if None.

    Raises:
        InvalidInputError: no such benchmark or preset, no inputs, a space that is sampled, a package is missing.
        DeviceError: no such device; it can't be opened (any more).
    """
    if space.sample is not None:
        raise InvalidInputError("a search draws from the whole space: leave the sample out")
    if not inputs:
        raise InvalidInputError("there are no inputs to search on")
    collector = CollectingObserver(observer or SweepObserver())
    with opened_inputs(replace(plan, presets=tuple(point.name for point in inputs)), store, pool) as opened:
        spaces = _Spaces(plan, space, inputs[0].name)
        with ExitStack() as stack:
            evaluators = _Evaluators(plan, opened, spaces, collector, stack)
            result = stage_one(inputs, lambda number: evaluators.at(inputs[number].name), spaces.default, settings)
    found = dict.fromkeys((plan.default, *map(spaces.first.variant, result.choices)))
    return SearchedVersions(tuple(found), result, collector.measured)


@dataclass(frozen=True)
class _Spaces:
    """One space for all inputs, with what can't run at each of them ruled out.

    Its axes are those of the first input: presets differ in which local size comes first.
    """

    plan: VersionsPlan
    space: Space
    preset: str

    @cached_property
    def first(self) -> VariantSearchSpace:
        return VariantSearchSpace(self._of(self.preset))

    @property
    def default(self) -> Choice | None:
        """The choice of the default version; None where it is not in the space."""
        try:
            return self.first.choice_of(self.plan.default)
        except InvalidInputError:
            return None

    def at(self, preset: str) -> VariantSearchSpace:
        return listed(VariantSearchSpace(replace(self._of(preset), dimensions=self.first.space.dimensions)))

    def _of(self, preset: str) -> VariantSpace:
        benchmark = find_benchmark(name_of(sweep_plan(self.plan, preset)))
        device = find_device(self.plan.device)
        return variant_space(benchmark, preset, self.space, limits_of(device), device_kind_of(device.device_types))


class _Evaluators:
    """Opens what an input is measured with, and closes that of the input before."""

    def __init__(
        self,
        plan: VersionsPlan,
        opened: OpenedInputs,
        spaces: _Spaces,
        observer: SweepObserver,
        stack: ExitStack,
    ) -> None:
        self._default = plan.default
        self._opened = opened
        self._spaces = spaces
        self._observer = observer
        self._stack = stack

    def at(self, preset: str) -> Evaluator:
        """Return what tries versions at an input; where the default one doesn't run, nothing does."""
        self._stack.close()
        measurer = RowMeasurer(self._stack.enter_context(self._opened.context(preset, self._observer)))
        space = self._spaces.at(preset)
        if measurer.compared(self._default, self._default).invalidity is not Invalidity.CORRECT:
            return FunctionEvaluator(space, lambda _: None)
        return LiveEvaluator(measurer, self._default, space)
