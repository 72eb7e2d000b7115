"""Chains of maps and pipelines of stencils, in all ways that there are: `streams.py` says which."""

from __future__ import annotations

import random
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial, reduce
from itertools import pairwise, product
from math import ceil
from typing import Any

import numpy as np
import pyopencl as cl
import pyopencl.array

from coarsen.api import coarsen
from coarsen.frontend.lower import compile_source
from coarsen.frontend.translation_unit import TranslationUnit
from coarsen.fused import FusedKernel, fuse
from coarsen.opencl_bench.studies.turns import COMPARED, Lines, Way, compared, correct, goes_on, of_each
from coarsen.opencl_bench.studies.yardsticks import Taps, halide_blur, installed, jax_compiled, torch_on_gpu
from coarsen.stream import Actor, Map, Reduce, Stencil, Stream, pipeline
from coarsen.stream.versions import LOCAL_SIZES, file_of
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
Chain = Sequence[tuple[str, float] | None]
Launches = Callable[[Sequence[cl.array.Array]], None]
_SCALE, _ADD, _SQUARE = ("u * {}f", 0.5), ("u + {}f", 0.25), ("u * u", 0.0)
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
# As of a pipeline that isn't tuned: with work-groups of 64, a GPU is busy with starting these.
_GROUP = int(*LOCAL_SIZES[1])
GROUPS, FACTORS = ((64, 4), (16, 4), (32, 8)), (1, 4)


def named_chains() -> dict[str, Chain]:
    """Return chains by name, named ones and random ones; None at the end stands for a sum."""
    found: dict[str, Chain] = {
        "2 maps": (_SCALE, _ADD),
        "3 maps": (_SCALE, _ADD, _SQUARE),
        "5 maps": (_SCALE, _ADD, _SQUARE, _ADD, ("fabs(u)", 0.0)),
        "map and sum": (_SQUARE, None),
    }
    draw = random.Random(1)
    for number in range(20):
        steps = [(draw.choice([*MAPS]), draw.choice((0.25, 0.5, 0.75))) for _ in range(draw.randint(2, 6))]
        found[f"random {number}"] = [*steps, *[None] * (number % 4 == 3)]
    return found


def fused_chain(whole: Stream, *, is_given_up: bool) -> FusedKernel:
    """Return the kernels of a pipeline of maps as one, by `coarsen.fuse`."""
    parts = whole._pipeline
    ends = ["input", *(f"between{k}" for k in range(1, len(parts.stages))), "output"]
    calls = [f"{parts.kernel(k)}({one}, {other}, n)" for k, (one, other) in enumerate(pairwise(ends))]
    options = [f"-D{macro}=0" for macro in parts.macros]
    given_up = ends[1:-1] if is_given_up else ()
    return fuse(whole.source, *calls, options=options, gives_up=given_up)


def computed(u: Any, steps: Chain, total: Callable[[Any], Any]) -> Any:  # noqa: ANN401 (arrays of anybody's)
    """Return what a chain makes of an array, by its own operations."""
    return reduce(lambda each, step: MAPS[step[0]](each, step[1]) if step else total(each), steps, u)


class ChainWays:
    """The ways of a chain on a queue, for any array."""

    def __init__(self, queue: cl.CommandQueue, steps: Chain) -> None:
        maps = [Map(f"m{number}", step[0].format(step[1])) for number, step in enumerate(steps) if step]
        ends = [Reduce("a + b", identity="0", arguments="const float *x", checks_laws=False)] * (None in steps)
        self._queue, self._steps, self._ends = queue, steps, ends
        self._whole, plain = pipeline(*maps, *ends), pipeline(*maps)
        versions = [*dict.fromkeys((plain.versions[0], plain.versions[-1]))]
        file = file_of(plain._pipeline, plain.source, versions, queue.device, len(versions) - 1)
        self._apart = pipeline(*maps, tuned=file)
        self._kernels = []
        for word, is_given_up in () if ends else (("fuse, kept", False), ("fuse, given up", True)):
            made = fused_chain(plain, is_given_up=is_given_up)
            (kernel,) = cl.Program(queue.context, made.opencl_c).build().all_kernels()
            self._kernels.append((word, kernel, made.kernel.argument_names))

    def ways(self, values: Array) -> Iterator[tuple[str, Way]]:
        """Yield the ways for an array, the kernels apart first."""
        queue, ends = self._queue, self._ends
        there = cl.array.to_device(queue, values)
        out = cl.array.empty_like(there)

        def parts() -> cl.array.Array:
            found = self._apart(queue, there, out=out)
            return ends[0](queue, found) if ends else found

        own = {} if ends else {"out": out}
        yield "apart", Way(parts, **own)
        yield "fused", Way(partial(self._whole, queue, there, **own), **own)
        given: dict[str, Any] = {"input": there.data, "output": out.data, "n": np.int32(values.size)}
        whole = ceil(values.size / _GROUP) * _GROUP
        for word, kernel, names in self._kernels:
            passed = [given.get(name) or cl.array.empty_like(there).data for name in names]
            yield word, Way(partial(kernel, queue, (whole,), (_GROUP,), *passed), **own)
        yield "pyopencl", Way(partial(computed, there, self._steps, partial(cl.array.sum, queue=queue)))
        compute = partial(computed, steps=self._steps, total=lambda each: each.sum())
        yield from installed(
            torch=partial(self._eager, values), jax=partial(jax_compiled, self._queue, compute, values)
        )

    def _eager(self, values: Array) -> Iterator[tuple[str, Way]]:
        torch = torch_on_gpu()
        run = partial(computed, torch.from_numpy(values).cuda(), self._steps, torch.sum)
        # The queue that is waited for is not PyTorch's.
        yield "torch", Way(lambda: (run(), torch.cuda.synchronize)[1], lambda _: run().cpu().numpy())


def chains(queue: cl.CommandQueue, asked: Namespace) -> Lines:
    """Yield the lines of chains; of random ones at every third size, unless sizes are told."""
    least, most = asked.powers or (10, 24)
    sizes = [*(2**k for k in range(least, most + 1, 2)), *(int(2 ** (k + 0.6)) for k in range(least, most, 3))]
    yield "device", "what", "size", *COMPARED

    def of(what: str) -> Lines:
        return chain_lines(queue, what, asked.sizes or sorted(sizes)[:: 3 if what.startswith("random") else 1])

    yield from of_each(queue, asked.what or named_chains(), of)


def chain_lines(queue: cl.CommandQueue, what: str, sizes: Sequence[int]) -> Lines:
    """Yield the lines of a chain."""
    steps = named_chains()[what]
    made = ChainWays(queue, steps)
    for n in sizes:
        with goes_on(f"{what} of {n}"):
            values = np.random.default_rng(n).uniform(-1, 1, n).astype(np.float32)
            wanted = computed(values, steps, partial(np.sum, dtype=np.float64))
            atol = 2e-3 * n**0.5 if None in steps else 1e-6
            runs = correct(f"{what} of {n}", dict(made.ways(values)), wanted, atol)
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
    return compile_source(source, options=options)


@cache
def _built(context: cl.Context, text: str) -> cl.Kernel:
    """The kernel of a text, once: versions have kernels in common."""
    kernel: cl.Kernel = cl.Program(context, text).build().all_kernels()[0]
    return kernel


def stencil_versions(queue: cl.CommandQueue, what: str, stream: Stream) -> Iterator[tuple[str, Launches]]:
    """Yield how a pipeline may run, in words and as what makes its launches."""
    parts, seen = stream._pipeline, set[tuple[str, ...]]()
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
            made = [
                each
                for each in parts.launches
                if all(version[name] == str(value) for name, value in each.when.items())
            ]
            names = [parts.kernel(each.stage) for each in made]
            texts = (*(coarsen(unit, kernel=name, factor=factor, dim=1, arrays=plans).opencl_c for name in names),)
            # A macro may mean nothing beside others.
            if texts not in seen:
                seen.add(texts)
                ends = ((each.source, each.stage + 1) for each in made)
                kernels = [(_built(queue.context, text), *own) for text, own in zip(texts, ends, strict=True)]
                yield words, partial(_launch, queue, kernels, group, factor)


def _launch(
    queue: cl.CommandQueue, kernels: Sequence[Any], group: Sequence[int], factor: int, channels: Sequence[Any]
) -> None:
    """Launch kernels, each of a channel into another."""
    height, width = channels[0].shape
    whole = (ceil(width / group[0]) * group[0], ceil(height / group[1]) * group[1] // factor)
    sizes = [*map(np.int32, (width * height, width, height))]
    for kernel, source, to in kernels:
        memory = channels[source].data, channels[to].data
        kernel(queue, whole, (group[0], group[1] // factor), *memory, *sizes)


def stencils(queue: cl.CommandQueue, asked: Namespace) -> Lines:
    """Yield the lines of pipelines of stencils."""
    most = 2 ** (asked.powers or (10, 24))[1]
    images = [(side, side) for side in asked.sizes or ()]
    images = images or [each for each in IMAGES if each[0] * each[1] <= most]
    yield "device", "what", "size", *COMPARED
    yield from of_each(queue, asked.what or STENCILS, lambda what: stencil_lines(queue, what, images))


def stencil_lines(queue: cl.CommandQueue, what: str, images: Sequence[tuple[int, int]]) -> Lines:
    """Yield the lines of a pipeline of stencils."""
    taps = STENCILS[what]
    stream = pipeline(stage_of("first_stage", taps[0]), stage_of("second_stage", taps[1]))
    versions = [*stencil_versions(queue, what, stream)]
    for shape in images:
        size = f"{shape[0]}×{shape[1]}"
        image = np.random.default_rng(shape).uniform(-1, 1, shape).astype(np.float32)
        channels = [cl.array.to_device(queue, image), *(cl.array.empty(queue, shape, np.float32) for _ in taps)]
        out = channels[-1]
        ways = {"untuned": Way(partial(stream, queue, channels[0], out=out), out=out)}
        ways |= {words: Way(partial(launch, channels), out=out) for words, launch in versions}
        if what == "separable":
            ways |= dict(installed(halide=partial(halide_blur, queue, image, *taps)))
        runs = correct(f"{what} {size}", ways, reduce(weighed, taps, image), 1e-5, ["untuned"], most=3)
        yield from ((size, *line) for line in compared(queue, runs))
