"""Pipelines beside their parts, and break-evens: `python -m coarsen.opencl_bench.studies.chains KIND -d DEVICE`.

`chains`: maps one after the other, named ones and random ones, at powers of two and between: as kernels apart, as
one kernel of a pipeline, by `coarsen.fuse` with the buffers in between kept and given up; PyOpenCL's arrays, and
PyTorch's (eager) where it finds a GPU. A chain that ends in a sum has no kernel by `fuse`.
`stencils`: pipelines of two stages on images, as they come (`untuned`), then every version with work-groups,
factors along the image and tiles in local memory; two stencils of Halide's.
`breaks`: the sizes at which one version of a reduction takes over from another, as the tree says, and between
which neighbours of a grid of half powers of two it is so measured (where one step from one to the other costs the
least); the distance is in powers of two, 0 between these. `--tune 12` tunes for 12 sizes first.

Lines of CSV on standard output; microseconds of a call, medians of 15 rounds, the host's part included. Results
are compared with NumPy's. What is refused or fails is said on standard error. S3, S4, S6 of
`docs/explanation/streams.md`, after Samadi et al., "Adaptic" (PLDI 2012).
"""

from __future__ import annotations

import random
from argparse import Namespace
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial, reduce
from itertools import pairwise, product
from math import ceil, inf, log2
from typing import Any

import numpy as np
import pyopencl as cl
import pyopencl.array

from coarsen.api import coarsen
from coarsen.frontend.annotations import source_without_pragmas
from coarsen.frontend.lower import compile_source
from coarsen.frontend.translation_unit import TranslationUnit
from coarsen.fused import FusedKernel, fuse
from coarsen.opencl_bench.studies import shapes
from coarsen.opencl_bench.studies.reductions import arrays_of, fixed, ours
from coarsen.opencl_bench.studies.turns import COMPARED, Way, compared, correct, goes_on, in_turns, study
from coarsen.opencl_bench.studies.yardsticks import Taps, halide_blur, torch_on_gpu
from coarsen.policy.tuned_tree import TunedExplanation
from coarsen.stream import Actor, Map, Reduce, Stencil, Stream, pipeline
from coarsen.stream.versions import file_of
from coarsen.tuning.workload.element_types import Array
from coarsen.variant.data_plan import array_plan

# A map in OpenCL C, and of arrays of NumPy's, PyOpenCL's and PyTorch's.
MAPS: Mapping[str, Callable[[Any, float], Any]] = {
    "u * {}f": lambda u, c: u * c,
    "u + {}f": lambda u, c: u + c,
    "{}f - u": lambda u, c: c - u,
    "u * u": lambda u, c: u * u,
    "fabs(u)": lambda u, c: abs(u),
}
Chain = Sequence[tuple[str, float]]
Lines = Iterator[tuple[Any, ...]]
Launches = Callable[[Sequence[cl.array.Array]], cl.array.Array]
_SCALE, _ADD, _SQUARE = ("u * {}f", 0.5), ("u + {}f", 0.25), ("u * u", 0.0)
_RANDOM = 20
_CROSS = {(-1, 0): 0.125, (1, 0): 0.125, (0, 0): 0.5, (0, -1): 0.125, (0, 1): 0.125}
# Of a lattice of triangles.
_SEVEN = {**_CROSS, (-1, -1): 0.0625, (1, 1): 0.0625}
_WEIGHTS = (0.0625, 0.25, 0.375, 0.25, 0.0625)
_ACROSS = {(at - 2, 0): weight for at, weight in enumerate(_WEIGHTS)}
STENCILS: Mapping[str, tuple[Taps, Taps]] = {
    "separable": (_ACROSS, {(0, dx): weight for (dx, _), weight in _ACROSS.items()}),
    "5-point": ({(0, 0): 0.75}, _CROSS),
    "7-point": (_SEVEN, _SEVEN),
}
IMAGES = (*((side, side) for side in (64, 128, 256, 512, 1024, 2048, 4096)), (333, 517), (1531, 2111))
GROUPS, FACTORS = ((64, 1), (16, 4), (32, 8)), (1, 2, 4)


def named_chains() -> dict[str, tuple[Chain, bool]]:
    """Return chains by name, each with whether its elements are summed."""
    found: dict[str, tuple[Chain, bool]] = {
        "2 maps": ((_SCALE, _ADD), False),
        "3 maps": ((_SCALE, _ADD, _SQUARE), False),
        "5 maps": ((_SCALE, _ADD, _SQUARE, _ADD, ("fabs(u)", 0.0)), False),
        "map and sum": ((_SQUARE,), True),
    }
    draw = random.Random(1)
    for number in range(_RANDOM):
        steps = [(draw.choice([*MAPS]), draw.choice((0.25, 0.5, 0.75))) for _ in range(draw.randint(2, 6))]
        found[f"random {number}"] = steps, number % 4 == 3
    return found


def fused_chain(whole: Stream, *, is_given_up: bool) -> FusedKernel:
    """Return the kernels of a pipeline of maps as one, by `coarsen.fuse`."""
    parts = whole._pipeline
    ends = ["input", *(f"between{k}" for k in range(1, len(parts.stages))), "output"]
    calls = [f"{parts.kernel(k)}({one}, {other}, n)" for k, (one, other) in enumerate(pairwise(ends))]
    options = [f"-D{macro}=0" for macro in parts.macros]
    # Without pragmas, `-D` chooses the values of macros.
    return fuse(
        source_without_pragmas(whole.source), *calls, options=options, gives_up=ends[1:-1] if is_given_up else ()
    )


def chain(queue: cl.CommandQueue, steps: Chain, is_summed: bool) -> Callable[[Array], dict[str, Way]]:
    """Return what makes the ways of a chain for an array."""
    maps = [Map(f"m{number}", text.format(c)) for number, (text, c) in enumerate(steps)]
    ends = [Reduce("a + b", identity="0", arguments="const float *x", checks_laws=False)] * is_summed
    whole, plain = pipeline(*maps, *ends), pipeline(*maps)
    versions = [*dict.fromkeys((plain.versions[0], plain.versions[-1]))]
    file = file_of(plain._pipeline, plain.source, versions, queue.device, len(versions) - 1)
    apart = pipeline(*maps, tuned=file)
    kernels = []
    for word, is_given_up in () if is_summed else (("fuse, kept", False), ("fuse, given up", True)):
        made = fused_chain(plain, is_given_up=is_given_up)
        (kernel,) = cl.Program(queue.context, made.opencl_c).build().all_kernels()
        kernels.append((word, kernel, made.kernel.argument_names))

    def of(u: Any, total: Callable[[Any], Any]) -> Any:  # noqa: ANN401 (arrays of anybody's)
        found = reduce(lambda each, step: MAPS[step[0]](each, step[1]), steps, u)
        return total(found) if is_summed else found

    def ways(values: Array) -> dict[str, Way]:
        there = cl.array.to_device(queue, values)
        out, *between = (cl.array.empty_like(there) for _ in maps)

        def parts() -> cl.array.Array:
            found = apart(queue, there, out=out)
            return ends[0](queue, found) if ends else found

        found = {"apart": Way(parts)}
        found["fused"] = Way(partial(whole, queue, there, **({} if ends else {"out": out})))
        given = {"input": there, "output": out, "n": np.int32(values.size)}
        given |= {f"between{k}": each for k, each in enumerate(between, 1)}
        for word, kernel, names in kernels:
            passed = (getattr(given[name], "data", given[name]) if name != "n" else given[name] for name in names)
            run = partial(kernel, queue, (ceil(values.size / 64) * 64,), (64,), *passed)
            found[word] = Way(run, lambda _: out.get())
        found["pyopencl"] = Way(partial(of, there, lambda each: cl.array.sum(each, queue=queue)))
        if (torch := torch_on_gpu()) is not None:
            on_gpu = torch.from_numpy(values).cuda()

            def eager() -> object:
                of(on_gpu, torch.sum)
                return torch.cuda.synchronize

            found["torch"] = Way(eager, lambda _: of(on_gpu, torch.sum).cpu().numpy())
        return found

    return ways


def chain_lines(queue: cl.CommandQueue, what: str, sizes: Sequence[int]) -> Lines:
    """Yield the lines of a chain."""
    steps, is_summed = named_chains()[what]
    made = chain(queue, steps, is_summed)
    for n in sizes:
        values = np.random.default_rng(n).uniform(-1, 1, n).astype(np.float32)
        wanted = reduce(lambda each, step: MAPS[step[0]](each, step[1]), steps, values)
        wanted = wanted.sum(dtype=np.float64) if is_summed else wanted
        runs = correct(f"{what} of {n}", made(values), wanted, 2e-3 * n**0.5 if is_summed else 1e-6)
        yield from ((n, *line) for line in compared(queue, runs))


def stage_of(name: str, taps: Taps) -> Actor:
    """Return an actor that weighs neighbours; outside of the image is 0."""
    if taps.keys() == {(0, 0)}:
        return Map(name, f"u * {taps[0, 0]}f")
    return Stencil(name, " + ".join(f"{weight}f * u({dx}, {dy})" for (dx, dy), weight in taps.items()), border="0")


def weighed(image: Array, taps: Taps) -> Array:
    """Return what the actor makes of an image."""
    (height, width), padded, found = image.shape, np.pad(image, 2), np.zeros_like(image)
    for (dx, dy), weight in taps.items():
        found += weight * padded[2 + dy : 2 + dy + height, 2 + dx : 2 + dx + width]
    return found


@cache
def _compiled(source: str, *options: str) -> TranslationUnit:
    return compile_source(source_without_pragmas(source), options=options)


def stencil_versions(queue: cl.CommandQueue, what: str, stream: Stream) -> Iterator[tuple[str, Launches]]:
    """Yield how a pipeline may run, in words and as what makes its launches."""
    parts = stream._pipeline
    macros = [dict(version.variant.definitions) for version in stream.versions]
    for version, group, factor, place in product(macros, GROUPS, FACTORS, ("", "local")):
        if group[1] % factor:
            continue
        defined = {**version, "WORK_GROUP": f"{group[0]},{group[1]},1"}
        unit = _compiled(stream.source, *(f"-D{name}={value}" for name, value in defined.items()))
        plans = [array_plan("input", place=place)] if place else []
        fused = " ".join(f"{name}={value}" for name, value in version.items())
        words = f"{fused} {group[0]}×{group[1]} by {factor}{' tile' * bool(place)}"
        with goes_on(f"{what}: {words}"):
            kernels = []
            for each in parts.launches:
                if all(version[name] == str(value) for name, value in each.when.items()):
                    name = parts.kernel(each.stage)
                    text = coarsen(unit, kernel=name, factor=factor, dim=1, arrays=plans).opencl_c
                    kernel = getattr(cl.Program(queue.context, text).build(), name)
                    kernels.append((kernel, each.source, each.stage + 1))
            yield words, partial(_launch, queue, kernels, group, factor)


def _launch(
    queue: cl.CommandQueue,
    kernels: Sequence[tuple[Any, int, int]],
    group: Sequence[int],
    factor: int,
    channels: Sequence[cl.array.Array],
) -> cl.array.Array:
    """Launch kernels, each of a channel into another, and return the last channel."""
    height, width = channels[0].shape
    whole = (ceil(width / group[0]) * group[0], ceil(height / group[1]) * group[1] // factor)
    sizes = [*map(np.int32, (width * height, width, height))]
    for kernel, source, to in kernels:
        memory = channels[source].data, channels[to].data
        kernel(queue, whole, (group[0], group[1] // factor), *memory, *sizes)
    return channels[-1]


def stencil_lines(queue: cl.CommandQueue, what: str, images: Sequence[tuple[int, int]]) -> Lines:
    """Yield the lines of a pipeline of stencils."""
    taps = STENCILS[what]
    stream = pipeline(
        *(stage_of(f"{word}_stage", each) for word, each in zip(("first", "second"), taps, strict=True))
    )
    versions = [*stencil_versions(queue, what, stream)]
    for shape in images:
        size = f"{shape[0]}×{shape[1]}"
        image = np.random.default_rng(shape).uniform(-1, 1, shape).astype(np.float32)
        channels = [cl.array.to_device(queue, image), *(cl.array.empty(queue, shape, np.float32) for _ in taps)]
        ways = {"untuned": Way(partial(stream, queue, channels[0], out=channels[-1]))}
        ways |= {words: Way(partial(launch, channels)) for words, launch in versions}
        with goes_on(f"{what} {size}: Halide"):
            ways |= dict(halide_blur(queue, image, *taps)) if what == "separable" else {}
        runs = correct(f"{what} {size}", ways, reduce(weighed, taps, image), 1e-5, ["untuned"])
        yield from ((size, *line) for line in compared(queue, runs))


def break_lines(queue: cl.CommandQueue, what: str, powers: Sequence[int], inputs: int | None) -> Lines:
    """Yield where one version takes over from another, and at the end the median distance.

    Args:
        queue: where.
        what: a reduction; or `tmv`, of matrices of one size, by their rows.
        powers: of two, the least number of elements and the largest.
        inputs: how many sizes to tune for before; None for none.
    """
    make = shapes.product if what == "tmv" else partial(ours, what)
    (least, most), total, tuned = powers, 2 ** min(powers[1], 22), make()
    if inputs:
        tuned.tune(queue.device.name, largest=2**most, inputs=inputs)
    rows = range(4, int(log2(total)) * 2 - 3)
    grid = [round(2 ** (k / 2)) for k in (rows if what == "tmv" else range(2 * least, 2 * most + 1))]

    def chosen(x: int) -> TunedExplanation:
        sizes = {"rows": x, "width": total // x} if what == "tmv" else {"n": x}
        return tuned.explain(queue, **sizes)

    versions = {each.number: each.version for each in map(chosen, grid)}
    ways = {str(number): fixed(make(), each, queue.device) for number, each in versions.items()}
    times: dict[int, dict[str, Any]] = {}
    for x in grid if len(ways) > 1 else ():
        arrays, wanted = shapes.arrays_of(queue, x, total // x) if what == "tmv" else arrays_of(queue, what, x)
        calls = {name: Way(partial(each, queue, *arrays), rtol=1e-2) for name, each in ways.items()}
        runs = correct(f"{what} at {x}", calls, wanted, 2e-3 * (total // x if what == "tmv" else x) ** 0.5)
        if len(runs) == len(ways):
            times[x] = {name: log2(np.median(each)) for name, each in in_turns(queue, runs).items()}
    found = []
    for low, high in pairwise(times):
        one, other = (chosen(x).number for x in (low, high))
        if one != other:
            predicted = low + bisect_left(range(low, high), True, key=lambda x: chosen(x).number != one)
            costs = [times[x][str(one)] - times[x][str(other)] for x in times]
            step = min(range(len(costs) + 1), key=lambda at: sum(costs[:at]))
            bracket = [0, *times, inf][step : step + 2]
            found.append(max(0.0, log2(max(bracket[0], 1) / predicted), log2(predicted / min(bracket[1], 2**62))))
            words = (str(versions[number].variant) for number in (one, other))
            yield (*words, predicted, *bracket, f"{found[-1]:.2f}")
    yield "", "", "median", "", "", f"{np.median(found):.2f}" if found else ""


def lines(queue: cl.CommandQueue, asked: Namespace) -> Lines:
    """Yield all lines of what is asked for."""
    least, most = asked.powers
    sizes = sorted(
        [2**k for k in range(least, most + 1, 2)] + [int(2 ** (k + 0.6)) for k in range(least, most, 3)]
    )
    images = [each for each in IMAGES if each[0] * each[1] <= 2**most]
    kinds: Mapping[str, Mapping[str, Callable[[], Lines]]] = {
        "chains": {
            each: partial(chain_lines, queue, each, sizes[:: 3 if each[:6] == "random" else 1])
            for each in named_chains()
        },
        "stencils": {each: partial(stencil_lines, queue, each, images) for each in STENCILS},
        "breaks": {
            each: partial(break_lines, queue, each, asked.powers, asked.tune) for each in ("sum", "dot", "tmv")
        },
    }
    columns = (
        ("from", "to", "predicted", "low", "high", "distance") if asked.kind == "breaks" else ("size", *COMPARED)
    )
    yield "device", "what", *columns
    for what, made in kinds[asked.kind].items():
        with goes_on(what):
            yield from ((queue.device.name.strip(), what, *line) for line in made())


if __name__ == "__main__":
    study(
        __doc__,
        lines,
        {
            "kind": {"choices": ("chains", "stencils", "breaks")},
            "--powers": {
                "nargs": 2,
                "type": int,
                "default": (10, 24),
                "help": "of 2: the least size, the largest",
            },
            "--tune": {"type": int, "help": "of breaks: how many sizes to tune for before; none if left out"},
        },
    )
