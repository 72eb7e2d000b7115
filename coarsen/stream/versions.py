"""The versions of a pipeline, which differ in what is fused, as tuned files have them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product

import pyopencl

from coarsen.base.version import __version__
from coarsen.dispatch.features import ArgumentKind, Feature, KernelArgument
from coarsen.dispatch.tree import Leaf
from coarsen.dispatch.tuned_file import TunedFile
from coarsen.dispatch.tuned_version import TunedLaunch, TunedVersion
from coarsen.frontend.source_text import hash_with_headers
from coarsen.stream.actor import HIDDEN, is_array
from coarsen.stream.kernels import Pipeline, StreamLaunch
from coarsen.variant.variant import Variant

OPTIONS = ("-cl-std=CL1.2",)
# By the number of dimensions, before anything is tuned.
LOCAL_SIZES = {1: ("64",), 2: ("16", "4")}


def versions_of(pipeline: Pipeline) -> Iterator[TunedVersion]:
    """Yield all versions, the default one first."""
    for values in product(*pipeline.macros.values()):
        yield _version(pipeline, dict(zip(pipeline.macros, values, strict=True)))


def _version(pipeline: Pipeline, macros: Mapping[str, int]) -> TunedVersion:
    chosen = [each for each in pipeline.launches if each.when.items() <= macros.items()]
    dimensions = len(pipeline.global_size(chosen[-1].stage))
    scratch = scratch_of(pipeline, chosen)
    return TunedVersion(
        Variant(
            tuple(map(int, LOCAL_SIZES[dimensions])),
            definitions=tuple((name, str(value)) for name, value in macros.items()),
        ),
        tuple(tuned_launch(pipeline, each, dimensions) for each in chosen),
        tuple((name, f"max({pipeline.counts[channel]}, 1) * {size}") for name, channel, size in scratch),
    )


def scratch_of(pipeline: Pipeline, launches: Sequence[StreamLaunch]) -> Iterator[tuple[str, int, int]]:
    """Yield the channels that launches have in memory: names, numbers, and the bytes of an element."""
    for channel in sorted({each.stage + 1 for each in launches} - {len(pipeline.stages)}):
        yield _channel(pipeline, channel), channel, pipeline.dtypes[channel].itemsize


def tuned_launch(pipeline: Pipeline, launch: StreamLaunch, dimensions: int) -> TunedLaunch:
    """Return a launch as a tuned file has it.

    Args:
        pipeline: that it is of.
        launch: one of its launches.
        dimensions: of the local size that the version has; another launch has one of its own.
    """
    size = pipeline.global_size(launch.stage)
    own = len(size)
    is_other = own != dimensions
    local = LOCAL_SIZES[own] if is_other else tuple(f"local_size_{each}" for each in range(own))
    ends = (_channel(pipeline, each) for each in (launch.source, launch.stage + 1))
    return TunedLaunch(
        pipeline.kernel(launch.stage),
        tuple(rounded(size, local)),
        local if is_other else (),
        (),
        (*ends, *pipeline.sizes, *pipeline.arguments),
    )


def rounded(counts: Sequence[str], local_size: Sequence[str]) -> Iterator[str]:
    """Yield a global size of whole work-groups, of one at least."""
    for count, own in zip(counts, local_size, strict=True):
        yield f"(max({count}, 1) + {own} - 1) // {own} * {own}"


def _channel(pipeline: Pipeline, number: int) -> str:
    return {0: "input", len(pipeline.stages): "output"}.get(number, f"{HIDDEN}{number}")


def file_of(
    pipeline: Pipeline, source: str, versions: Sequence[TunedVersion], device: pyopencl.Device, chosen: int = 0
) -> TunedFile:
    """Return a tuned file that always takes one version.

    Args:
        pipeline: whose kernels they are.
        source: their text.
        versions: those in the file, the default one first.
        device: that it is for.
        chosen: which of them is taken.
    """
    return TunedFile(
        kernel=pipeline.name,
        arguments=tuple(_arguments(pipeline)),
        source_hash=hash_with_headers(source, OPTIONS),
        device=device.name.strip(),
        driver=device.driver_version.strip(),
        build_options=OPTIONS,
        coarsen_version=__version__,
        features=tuple(Feature(each, each) for each in pipeline.sizes),
        versions=tuple(versions),
        default=0,
        tree=Leaf(chosen),
    )


def _arguments(pipeline: Pipeline) -> Iterator[KernelArgument]:
    for name in ("input", "output"):
        yield KernelArgument(name, ArgumentKind.BUFFER)
    for name in pipeline.sizes:
        yield KernelArgument(name, ArgumentKind.WHOLE)
    for name, each in pipeline.arguments.items():
        kind = ArgumentKind.WHOLE if each.dtype.kind in "iu" else ArgumentKind.REAL
        yield KernelArgument(name, ArgumentKind.BUFFER if is_array(each) else kind)
