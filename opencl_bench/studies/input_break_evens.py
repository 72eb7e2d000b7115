"""Break-even points that analytic models predict, against those of stored rows: H1 and H2.

python -m coarsen.opencl_bench.studies.input_break_evens STORE … --by model|anchors [--kernels NAME …]

model      seconds by the device's profile alone: nothing of the kernel is measured
anchors    the same, corrected by three inputs of each kernel, which are then no part of what is judged

H1    predicted against measured times, of all kernels: the mean error, and the order of an input's versions
H2    where along the size another shipped version becomes the fastest, of kernels with one size: octaves from the
      predicted point to the measured bracket, and what is lost between the two. Between inputs, times are drawn
      straight over the logarithms. Kernels with several sizes need sections measured for it, which no store has.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from coarsen.dispatch.tree import Tree, answer
from coarsen.errors import InvalidInputError
from coarsen.models.analytic.machine import DeviceProfile
from coarsen.models.analytic.profiles import find_profile
from coarsen.models.device_descriptors import known_descriptor
from coarsen.models.inputs.anchors import anchor_rows, anchored
from coarsen.models.inputs.break_even import BreakEven, break_evens
from coarsen.models.inputs.break_even_errors import BreakEvenErrors, compared, pooled, regret_between
from coarsen.models.inputs.model_errors import ModelErrors, model_errors
from coarsen.models.inputs.regret_tree import regret_tree
from coarsen.models.inputs.shipping import shipped
from coarsen.models.inputs.times import VersionTimes
from coarsen.models.trees.arrays import Array
from coarsen.opencl_bench.inputs.predicted_times import predicted_times
from coarsen.opencl_bench.studies.input_command import stores_parser
from coarsen.opencl_bench.studies.input_rows import StoredKernel, exit_code_of, stored_kernels
from coarsen.opencl_bench.studies.input_tables import table

MODEL, ANCHORS, TREE = "model", "anchors", "shipped tree"
# Octaves: median and 90th percentile; regret between; by kind of device.
H2 = {
    (MODEL, False): (1.0, 2.0),
    (ANCHORS, False): (0.5, 1.5),
    (MODEL, True): (0.7, 1.5),
    (ANCHORS, True): (0.35, 1.0),
}
REGRET = {False: 0.05, True: 0.03}
# Error and order.
H1 = {False: (0.5, 0.6), True: (0.3, 0.7)}


@dataclass(frozen=True, slots=True)
class ModelledKernel:
    """A kernel, its predicted times, and break-even points where it has one size.

    Attributes:
        kernel: its name.
        errors: of the predicted times.
        points: by who predicts them; empty for kernels of several sizes.
        regrets: mean ln of what is lost between the predicted and the measured point, for each matched one.
    """

    kernel: str
    errors: ModelErrors
    points: dict[str, BreakEvenErrors]
    regrets: dict[str, tuple[float, ...]]


def modelled(stored: StoredKernel, machine: DeviceProfile, by: str) -> ModelledKernel:
    """Return how good a model's times and break-even points are.

    Args:
        stored: the rows of a kernel.
        machine: the device in numbers.
        by: `model` or `anchors`.

    Raises:
        InvalidInputError: the rows aren't complete at any input, or the profile lacks what the model needs.
    """
    times = stored.times
    names = [point.name for point in times.inputs]
    found = predicted_times(stored.kernel.benchmark, names, times.versions, machine)
    predicted, judged = found.seconds, list(range(len(names)))
    if by == ANCHORS:
        rows = anchor_rows(times.seconds[:, times.default].tolist())
        predicted = anchored(predicted, found.bounds, times.seconds, rows)
        judged = [row for row in judged if row not in rows]
    errors = model_errors(predicted[judged], times.seconds[judged])
    if len(stored.kernel.inputs.ranges) > 1 or len(stored.kernel.inputs.contents) > 1:
        return ModelledKernel(stored.kernel.name, errors, {}, {})
    settings = stored.study().settings
    choice = regret_tree(times, settings.margin, settings.supplied, settings.most)
    versions = sorted(times.versions.index(each) for each in shipped(choice, times).versions)
    (size,) = stored.kernel.inputs.ranges
    sizes = [stored.kernel.listed[names[row]][size] for row in judged]
    ours = _Along(sizes, times.seconds[np.ix_(judged, versions)])
    measured = break_evens(ours.at, ours.sizes, settings.margin, math.inf) if ours.sizes else ()
    theirs = _Along(sizes, predicted[np.ix_(judged, versions)])
    points = {
        by: break_evens(theirs.at, theirs.sizes, 0.0) if theirs.sizes else (),
        TREE: _of_tree(choice.tree, times.of_inputs(judged), sizes, versions),
    }
    matched = {name: compared(own, measured) for name, own in points.items()}
    regrets = {name: tuple(regret_between(pair, ours.at) for pair in own.matched) for name, own in matched.items()}
    return ModelledKernel(stored.kernel.name, errors, matched, regrets)


class _Along:
    """Times of versions along a size, between inputs straight over the logarithms.

    Args:
        sizes: of the inputs, each once.
        seconds: (n, versions); inputs at which no version has one are left out.
    """

    def __init__(self, sizes: Sequence[int], seconds: Array) -> None:
        known = set(np.flatnonzero(np.isfinite(seconds).any(axis=1)).tolist())
        order = [place for place in np.argsort(np.asarray(sizes), kind="stable").tolist() if place in known]
        self.sizes = [sizes[place] for place in order]
        self._logarithms = np.log2(np.array(self.sizes, dtype=np.float64))
        self._seconds = np.log(seconds[order])

    def at(self, size: int) -> Array:
        """Return the seconds of each version at a size within the range of the inputs."""
        place = math.log2(size)
        return np.exp([np.interp(place, self._logarithms, column) for column in self._seconds.T])


def _of_tree(
    tree: Tree, times: VersionTimes, sizes: Sequence[int], versions: Sequence[int]
) -> tuple[BreakEven, ...]:
    """Return where a tree's answer changes between neighbouring inputs."""
    order = np.argsort(np.asarray(sizes), kind="stable").tolist()
    chosen = [versions.index(answer(tree, times.inputs[row].features)) for row in order]
    places = [place for place in range(1, len(order)) if chosen[place] != chosen[place - 1]]
    return tuple(
        BreakEven(chosen[place - 1], chosen[place], sizes[order[place - 1]], sizes[order[place]])
        for place in places
    )


def lines(found: Sequence[ModelledKernel], by: str, is_gpu: bool) -> Iterator[str]:
    """Yield the tables H1 and H2 of one device.

    Args:
        found: its kernels, at least one.
        by: how times were predicted.
        is_gpu: what kind of device it is.
    """
    most_error, least_order = H1[is_gpu]
    rows = [
        [e.kernel, f"{e.errors.absolute:.0%}", f"{e.errors.order:.2f}", f"{e.errors.predicted:.0%}"] for e in found
    ]
    mean, order = (_mean([getattr(each.errors, name) for each in found]) for name in ("absolute", "order"))
    share = _mean([each.errors.predicted for each in found])
    rows.append(
        [f"all (must: ≤ {most_error:.0%}, ≥ {least_order})", f"{mean:.0%}", f"{order:.2f}", f"{share:.0%}"]
    )
    yield from table([f"H1, by {by}", "mean error of the time", "Kendall's τ", "predicted"], rows)
    yield ""
    head = ["H2, along one size", "by", "matched", "missed", "invented", "ill-defined"]
    yield from table([*head, "median, octaves", "90th percentile", "regret between"], _points(found, by, is_gpu))


def _points(found: Sequence[ModelledKernel], by: str, is_gpu: bool) -> Iterator[list[str]]:
    one_size = [each for each in found if each.points]
    for name in (by, TREE):
        for each in one_size:
            yield [each.kernel, name, *_cells(each.points[name], each.regrets[name])]
        together = pooled([each.points[name] for each in one_size])
        regrets = tuple(regret for each in one_size for regret in each.regrets[name])
        median, most = H2[by, is_gpu]
        yield [f"all (must: {median}, {most}, {REGRET[is_gpu]:.0%})", name, *_cells(together, regrets)]


def _cells(errors: BreakEvenErrors, regrets: Sequence[float]) -> list[str]:
    counts = [len(errors.matched), errors.missed, errors.invented, errors.ill_defined]
    if not errors.matched:
        return [*map(str, counts), *["–"] * 3]
    lost = math.expm1(_mean(regrets))
    return [*map(str, counts), f"{errors.quantile(0.5):.2f}", f"{errors.quantile(0.9):.2f}", f"{lost:.1%}"]


def _mean(values: Sequence[float]) -> float:
    known = [value for value in values if math.isfinite(value)]
    return float(np.mean(known)) if known else math.nan


def profile_of(stored: StoredKernel, name: str | None) -> DeviceProfile:
    """Return the profile of this name, else that of the rows' device. Raises InvalidInputError."""
    if name is not None:
        return find_profile(name)
    descriptor = known_descriptor(stored.environment.device, stored.environment.platform)
    if descriptor is None:
        raise InvalidInputError(f"no profile is known for {stored.device}: name one with --profile")
    return find_profile(descriptor.name)


def main(words: Sequence[str] | None = None) -> int:
    """Print the tables of each device of some stores."""
    parser = stores_parser(__doc__)
    parser.add_argument("--by", choices=(MODEL, ANCHORS), default=ANCHORS)
    parser.add_argument("--profile", metavar="NAME", help="of the device; else the one that it is known by")
    asked = parser.parse_args(words)
    by_device: dict[tuple[str, bool], list[ModelledKernel]] = {}
    for stored in stored_kernels(asked.stores, asked.kernels):
        try:
            found = modelled(stored, profile_of(stored, asked.profile), asked.by)
        except InvalidInputError as error:
            print(error, file=sys.stderr)
            continue
        by_device.setdefault((stored.device, stored.is_gpu), []).append(found)
    for (device, is_gpu), own in by_device.items():
        print(f"\n{device}\n")
        print("\n".join(lines(own, asked.by, is_gpu)))
    return 0 if by_device else 1


if __name__ == "__main__":
    sys.exit(exit_code_of(main))
