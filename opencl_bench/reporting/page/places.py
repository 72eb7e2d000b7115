"""What is told of each device: what ran there, when and how, what came of it, and what to make of the numbers."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from coarsen.opencl_bench.records.measurement import TRANSFORM, CheckedAgainst, Invalidity, Measurement
from coarsen.opencl_bench.reporting.page.charts import Sweep
from coarsen.opencl_bench.reporting.page.content import Place
from coarsen.opencl_bench.reporting.page.slugs import slugs
from coarsen.opencl_bench.results.best import best_row
from coarsen.opencl_bench.results.frames import FORMS
from coarsen.opencl_bench.results.rows import geometric_means
from coarsen.variant.transforms import REPLICATION_ALONE

# More names are of no use in a remark.
_NAMED = 8


def places_of(sweeps: Sequence[Sweep]) -> tuple[Place, ...]:
    """A place for each sweep, in their order; a preset is part of a name that two would share without it."""
    labels = Counter(sweep.label for sweep in sweeps)
    names = [
        sweep.label if labels[sweep.label] == 1 else f"{sweep.label}, preset {sweep.preset}" for sweep in sweeps
    ]
    known = slugs(names)
    return tuple(_place(sweep, name, known[name]) for sweep, name in zip(sweeps, names, strict=True))


def _place(sweep: Sweep, name: str, slug: str) -> Place:
    mean = geometric_means(sweep.best).iloc[0]
    rows = sweep.measurements
    return Place(
        slug=slug,
        name=name,
        preset=sweep.preset,
        facts=tuple(_facts(rows, sweep.preset)),
        rows=len(rows),
        endings={ending.value: count for ending, count in _endings(rows).items()},
        speedup=None if math.isnan(mean.speedup) else float(mean.speedup),
        kernels=int(mean.kernels),
        measured=int(mean.measured),
        helped=int(mean.helped),
        remarks=tuple(_remarks(sweep)),
    )


def _endings(rows: Iterable[Measurement]) -> dict[Invalidity, int]:
    counts = Counter(row.invalidity for row in rows)
    return {ending: counts[ending] for ending in Invalidity if ending in counts}


def _facts(rows: Sequence[Measurement], preset: str) -> Iterator[tuple[str, str]]:
    place = max(rows, key=lambda row: row.started_at).environment
    yield "device", place.device
    yield "platform", f"{place.platform}, {place.platform_version}"
    yield "driver", _distinct(row.environment.driver_version for row in rows)
    yield "compute units", str(place.compute_units)
    yield "given as", FORMS.get(place.form, place.form)
    yield "preset of sizes", preset
    yield (
        "repetitions",
        _distinct(
            f"{row.method.minimum_repetitions} to {row.method.repetitions}"
            + (", cold caches" if row.method.cold_cache else "")
            for row in rows
        ),
    )
    yield "measured", _days(rows)
    yield "made by", ", ".join(f"{name} {version}" for name, version in place.versions if name != TRANSFORM)


def _days(rows: Iterable[Measurement]) -> str:
    days = sorted({row.started_at[:10] for row in rows})
    return days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"


def _distinct(texts: Iterable[str]) -> str:
    return " and ".join(dict.fromkeys(texts))


def _remarks(sweep: Sweep) -> Iterator[str]:
    yield from _on_transforms(sweep.measurements)
    yield from _on_oracles(sweep)
    yield from _on_baselines(sweep)
    unconfirmed = _unconfirmed(sweep)
    if unconfirmed:
        yield f"Picked and not timed again in new processes, so somewhat too large: the best of {unconfirmed}"
    ties = sorted(sweep.best.loc[sweep.best["tie"].astype(bool), "benchmark"], key=str.casefold)
    if ties:
        yield f"Nothing beats the baseline, so they are best left as they are: {_listed(ties)}"


def _on_transforms(rows: Sequence[Measurement]) -> Iterator[str]:
    coarsened = [row.candidate.transforms for row in rows if row.candidate.is_coarsened]
    older = sum(transforms == REPLICATION_ALONE for transforms in coarsened)
    if older:
        which = "Measured" if older == len(coarsened) else f"{older} of {len(coarsened)} rows were measured"
        yield f"{which} with replication alone: no fast path, no lock-step and no clean-up"


def _on_oracles(sweep: Sweep) -> Iterator[str]:
    words = {
        CheckedAgainst.UNCOARSENED: "Verified against the uncoarsened kernel, not an independent reference",
        CheckedAgainst.DEFAULT: "Verified against the default version, not an independent reference",
        CheckedAgainst.NOTHING: "Not verified",
    }
    for oracle, sentence in words.items():
        of_it = {
            name
            for name, rows in sweep.kernels.items()
            if any(row.oracle is oracle and not row.candidate.is_original and row.nanoseconds for row in rows)
        }
        if of_it:
            yield f"{sentence}: {_listed(sorted(of_it, key=str.casefold))}"


def _on_baselines(sweep: Sweep) -> Iterator[str]:
    """Yield what of the rows does not compare with the rest, or was made comparable."""
    for name, rows in sweep.kernels.items():
        best = best_row(rows)
        for sentence in best.baseline_notes if best else ():
            yield f"{name}: {sentence}"


def _unconfirmed(sweep: Sweep) -> str:
    known = sweep.best[sweep.best["factor"] > 1]
    others = known.loc[~known["confirmed"], "benchmark"].tolist()
    return "all kernels" if len(others) == len(known) > 1 else _listed(others)


def _listed(names: Sequence[str]) -> str:
    rest = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + rest
