"""Rows of a whole space of layouts with times of a made-up law."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from coarsen.frontend.lower import lower
from coarsen.opencl_bench.records.measurement import Invalidity, Measurement, Role
from coarsen.opencl_bench.studies.layouts.sizes import Size, sizes_for
from coarsen.opencl_bench.studies.layouts.spaces import RecordSpace
from coarsen.opencl_bench.studies.layouts.times import SpaceTimes, times_by_device
from coarsen.opencl_bench.sweep.compile_service import build_options, ir_hash_of
from coarsen.opencl_bench.sweep.subjects import CompiledSubjects
from coarsen.opencl_bench.workloads.benchmark import Definitions
from coarsen.variant.data_layout import Kind
from coarsen.variant.transforms import DeviceKind
from coarsen.variant.variant import Variant
from tests.opencl_bench.measurements import some_measurement

# Nanoseconds of a variant; None for one that fails.
Law = Callable[[Variant], int | None]
LAUNCHED = 2_000_000


def additive(variant: Variant) -> int:
    """Return a time from which each array's layout takes away, and to which its order adds."""
    launch = 1_000_000 if variant.is_coarsened else LAUNCHED
    launch += 1_000 * variant.local_size[0]
    for plan in variant.arrays:
        launch -= {Kind.SOA: 200_000, Kind.AOSOA: 100_000, Kind.AOS: 0}[plan.layout.kind]
        launch += 1_000_000 if plan.order is not None else 0
    return launch


def rows_of(
    space: RecordSpace,
    law: Law = additive,
    role: Role = Role.COMPARISON,
    invocation: int = 0,
    size: Size = Size.SEARCHED,
    kind: DeviceKind = DeviceKind.CPU,
) -> Iterator[Measurement]:
    """Yield a row for each variant of a space; confirmations of those that have a time alone.

    Args:
        space: which.
        law: the times.
        role: of the rows.
        invocation: of confirmations.
        size: the part of the study.
        kind: of the device.
    """
    benchmark = space.benchmark
    hashes: dict[Definitions, str] = {}

    def ir_hash(definitions: Definitions) -> str:
        if definitions not in hashes:
            options = build_options(benchmark, definitions)
            kernel, *others = (
                lower(benchmark.code, name, options) for name in (benchmark.kernel, *benchmark.other_kernels)
            )
            hashes[definitions] = ir_hash_of(kernel, benchmark, others)
        return hashes[definitions]

    subjects = CompiledSubjects(benchmark, sizes_for(kind).preset(size), 0, ir_hash)
    launched = law(space.default) or LAUNCHED
    for variant in space.variants(kind):
        time = law(variant)
        if time is None and role is Role.CONFIRMATION:
            continue
        yield some_measurement(
            subject=subjects.of(variant.definitions),
            device=f"a {kind}",
            device_types=(kind.value,),
            candidate=variant,
            baseline=space.default,
            role=role,
            invocation=invocation,
            invalidity=Invalidity.TIMEOUT if time is None else Invalidity.CORRECT,
            nanoseconds=(time or 1,) * 3,
            baseline_nanoseconds=(launched,) * 3,
        )


def times_of(space: RecordSpace, law: Law = additive, again: Law | None = None) -> SpaceTimes:
    """Return the times of a space by a law, those of three new processes by another one if that is given."""
    rows = list(rows_of(space, law))
    if again is not None:
        for invocation in range(3):
            rows += rows_of(space, again, Role.CONFIRMATION, invocation)
    (found,) = times_by_device(space, rows)
    return found
