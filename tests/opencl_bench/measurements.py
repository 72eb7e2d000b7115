"""Measurements to test with: one that can be changed at will, and a hypothesis strategy for any."""

from __future__ import annotations

import dataclasses
from datetime import UTC, datetime
from typing import Any

from hypothesis import strategies as st

from coarsen.tuning.records.code import FORMS
from coarsen.tuning.records.measurement import (
    CheckedAgainst,
    Environment,
    Invalidity,
    Measurement,
    Method,
    Role,
    Subject,
)
from coarsen.tuning.records.measurement_json import BESIDE
from coarsen.tuning.workload.benchmark import Clock
from coarsen.variant.coarsening import Coarsening, Level, configuration
from coarsen.variant.data_layout import AOS, SOA, ArrayLayout, Kind, Order
from coarsen.variant.data_plan import ArrayPlan
from coarsen.variant.pads import NO_PAD, XOR, Pad
from coarsen.variant.placement import Place
from coarsen.variant.transforms import DeviceKind, Transforms, Use
from coarsen.variant.variant import Variant

SUBJECT = Subject(
    benchmark="sgemm",
    kernel="mysgemmNT",
    ir_hash="3f" * 32,
    build_options=("-cl-std=CL1.2",),
    preset="cpu",
    size=(("m", 512), ("n", 256), ("k", 128)),
    seed=0,
)
ENVIRONMENT = Environment(
    vendor="GenuineIntel",
    device="Intel(R) Xeon(R) Processor @ 2.10GHz",
    driver_version="2024.18.10.0.08_160000",
    platform="Intel(R) OpenCL",
    platform_version="OpenCL 3.0 LINUX",
    compute_units=2,
    device_types=("cpu",),
    form="opencl_c",
    versions=(("coarsen", "0.1.0"), ("llvm", "22.1.0"), ("pyopencl", "2024.3")),
)
MEASUREMENT = Measurement(
    subject=SUBJECT,
    environment=ENVIRONMENT,
    method=Method(repetitions=5, minimum_repetitions=3),
    role=Role.COMPARISON,
    candidate=Variant((16, 16), (Coarsening(2, 0, 8),), (("TILE", "16"),)),
    baseline=Variant((32, 8), (), (("TILE", "16"),)),
    invalidity=Invalidity.CORRECT,
    started_at="2026-11-20T12:00:00.123456+00:00",
    oracle=CheckedAgainst.REFERENCE,
    nanoseconds=(1_000_100, 1_000_300, 1_000_200, 1_000_000, 1_000_400),
    baseline_nanoseconds=(2_000_200, 2_000_600, 2_000_400, 2_000_000, 2_000_800),
    compile_seconds=0.25,
    measure_seconds=0.125,
    timed_seconds=0.0150031,
    code_hash="c0" * 32,
)


def some_measurement(**changes: Any) -> Measurement:  # noqa: ANN401 (fields of several types)
    """A plausible measurement (sgemm, factor 2, twice as fast) with fields changed.

    The fields of Subject, Environment and Method can be named directly: `some_measurement(benchmark="nbody",
    device="Tahiti", repetitions=7, started_at="2026-11-21T00:00:00+00:00")`; of two fields of a name, that is
    Measurement's own. One that isn't correct gets no times.
    """
    if changes.get("invalidity", Invalidity.CORRECT) is not Invalidity.CORRECT:
        changes = {"nanoseconds": (), "baseline_nanoseconds": (), "timed_seconds": 0.0, **changes}
    measurement = MEASUREMENT
    own = {field.name for field in dataclasses.fields(measurement)}
    parts = {part: getattr(measurement, part) for part in ("subject", "environment", "method")}
    for part, value in parts.items():
        names = {field.name for field in dataclasses.fields(value)} & changes.keys() - own
        changes.setdefault(part, dataclasses.replace(value, **{name: changes.pop(name) for name in names}))
    return dataclasses.replace(measurement, **changes)


def several_measurements(count: int, **changes: Any) -> list[Measurement]:  # noqa: ANN401
    """Measurements that differ in their seed, each a second after the one before."""
    return [
        some_measurement(seed=seed, started_at=datetime.fromtimestamp(1.8e9 + seed, UTC).isoformat(), **changes)
        for seed in range(count)
    ]


TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8)
NAMES = st.from_regex("[A-Za-z_][A-Za-z_0-9]{0,6}", fullmatch=True)
WHOLES = st.integers(-(2**63), 2**63 - 1)
SECONDS = st.floats(0, 1e12)
DURATIONS = st.integers(0, 2**62)


def named(values: st.SearchStrategy[Any]) -> st.SearchStrategy[tuple[tuple[str, Any], ...]]:
    """Pairs of a name and a value."""
    return st.lists(st.tuples(NAMES, values), max_size=3, unique_by=lambda pair: pair[0]).map(tuple)


def subjects() -> st.SearchStrategy[Subject]:
    options = st.lists(TEXTS, max_size=3).map(tuple)
    return st.builds(Subject, TEXTS, TEXTS, TEXTS, options, TEXTS, named(WHOLES), WHOLES)


def environments() -> st.SearchStrategy[Environment]:
    types, forms = st.lists(TEXTS, max_size=2).map(tuple), st.sampled_from(FORMS)
    return st.builds(Environment, TEXTS, TEXTS, TEXTS, TEXTS, TEXTS, WHOLES, types, forms, named(TEXTS))


def methods() -> st.SearchStrategy[Method]:
    types: dict[str, st.SearchStrategy[Any]] = {"int": WHOLES, "float": SECONDS, "bool": st.booleans()}
    return st.builds(Method, **{field.name: types[str(field.type)] for field in dataclasses.fields(Method)})


def candidates() -> st.SearchStrategy[Variant]:
    extents = st.integers(1, 1024)
    items = st.builds(Coarsening, st.integers(1, 16), st.integers(0, 2), st.integers(1, 64))
    groups = st.builds(Coarsening, st.integers(1, 8), st.integers(0, 2), level=st.just(Level.GROUP))
    coarsenings = st.lists(
        items | groups, max_size=3, unique_by=lambda coarsening: (coarsening.level, coarsening.dimension)
    )
    transforms = st.builds(
        Transforms,
        st.sampled_from(Use),
        st.sampled_from(Use),
        st.booleans(),
        st.booleans(),
        st.sampled_from(DeviceKind),
    )
    definitions = named(TEXTS).map(lambda pairs: tuple(sorted(pairs)))
    sizes = st.lists(extents, min_size=1, max_size=3).map(tuple)
    orders = st.sampled_from([None, Order((1, 0))])
    layouts = st.sampled_from([AOS, SOA, ArrayLayout(Kind.AOSOA, 32)])
    shapes, pads = st.sampled_from([None, (2, 3)]), st.sampled_from([NO_PAD, Pad(elements=3), XOR])
    plans = st.builds(ArrayPlan, NAMES, layouts, orders, shapes, place=st.sampled_from(Place), pad=pads)
    arrays = st.lists(plans, max_size=2, unique_by=lambda plan: plan.argument).map(tuple)
    coarsened = st.builds(
        Variant, sizes, coarsenings.map(configuration), definitions, transforms, st.booleans(), arrays
    )
    return coarsened | st.builds(Variant, st.just(()), definitions=definitions, arrays=arrays)


@st.composite
def measurements(draw: st.DrawFn) -> Measurement:
    """Any measurement that keeps the rules of `measurement_from_json`."""
    invalidity = draw(st.sampled_from(Invalidity))
    correct = invalidity is Invalidity.CORRECT
    pairs = draw(st.lists(st.tuples(DURATIONS, DURATIONS), min_size=1, max_size=5)) if correct else []
    clock = draw(st.sampled_from(Clock))
    times = st.just(()) | st.lists(DURATIONS, min_size=len(pairs), max_size=len(pairs)).map(tuple)
    beside: dict[str, Any] = {name: draw(times) for name in (BESIDE if clock is Clock.SPAN else ())}
    return Measurement(
        subject=draw(subjects()),
        environment=draw(environments()),
        method=draw(methods()),
        role=draw(st.sampled_from(Role)),
        candidate=draw(candidates()),
        baseline=draw(st.none() | candidates()),
        invalidity=invalidity,
        started_at=draw(st.datetimes(timezones=st.just(UTC))).isoformat(),
        reason=draw(TEXTS),
        oracle=draw(st.sampled_from(CheckedAgainst)),
        nanoseconds=tuple(own for own, _ in pairs),
        baseline_nanoseconds=tuple(baseline for _, baseline in pairs),
        compile_seconds=draw(SECONDS),
        measure_seconds=draw(SECONDS),
        timed_seconds=draw(SECONDS),
        code_hash=draw(st.just("") | st.from_regex("[0-9a-f]{64}", fullmatch=True)),
        clock=clock,
        **beside,
    )
