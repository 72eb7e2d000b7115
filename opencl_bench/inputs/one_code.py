"""Versions that are another one once more: other values of macros, the same code and the same launches.

version A, UNROLL=1 ─▶ text, launches ┐
version B, UNROLL=2 ─▶ text, launches ┴─ alike at every input ─▶ A alone: what the clock says of both is noise

A macro may have an effect in the source as it is, and none once work-items are merged.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.records.measurement import Measurement, Role
from coarsen.opencl_bench.workloads.benchmark import Benchmark
from coarsen.variant.variant import Variant


def without_repeated(
    versions: Sequence[Variant], rows: Iterable[Measurement], benchmark: Benchmark
) -> tuple[Variant, ...]:
    """Return versions without those that repeat an earlier one.

    Args:
        versions: in the order of preference.
        rows: of the versions at inputs, which have the hashes of their codes.
        benchmark: what was measured.
    """
    codes: dict[Variant, dict[str, str]] = {version: {} for version in versions}
    for row in rows:
        if row.role is Role.COMPARISON and row.candidate in codes:
            codes[row.candidate][row.subject.preset] = row.code_hash
    groups: dict[object, list[Variant]] = {}
    for version in versions:
        key = (replace(version, definitions=()), tuple(sorted(codes[version].items())))
        known = groups.setdefault(key, [])
        if not any(_is_repeated(codes[version], version, other, benchmark) for other in known):
            known.append(version)
    kept = {version for group in groups.values() for version in group}
    return tuple(version for version in versions if version in kept)


def _is_repeated(codes: Mapping[str, str], version: Variant, other: Variant, benchmark: Benchmark) -> bool:
    """Return True if two versions of the same codes have the same launches at all inputs."""
    if not codes or not all(codes.values()):
        return False
    try:
        return all(
            repr(_launches(benchmark, preset, version)) == repr(_launches(benchmark, preset, other))
            for preset in codes
        )
    except InvalidInputError:
        return False


def _launches(benchmark: Benchmark, preset: str, version: Variant) -> object:
    return benchmark.launches(preset, version.local_size, version.definitions)
