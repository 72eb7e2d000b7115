"""The description of a pipeline's kernels, as `coarsen tune` takes it: the tuner is the one of all kernels.

    step.describe("step.toml")  ─▶ step.cl, step.toml        FUSE_… are its parameters
    coarsen tune step.toml      ─▶ step.tuned.json           pipeline(…, tuned="step.tuned.json")

What the pipeline can't tell is marked CHECK: sizes worth tuning for, and what is in arrays.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pyopencl.tools import dtype_to_ctype

from coarsen.dispatch.expressions import parse_expression
from coarsen.opencl_bench.workloads.described.table import toml
from coarsen.stream.actor import is_array
from coarsen.stream.kernels import Pipeline, StreamLaunch
from coarsen.stream.versions import LOCAL_SIZES, rounded, scratch_of, tuned_launch

_N = re.compile(r"\bn\b")
_RANGES = {"n": [256, 4194304], "width": [16, 2048], "height": [16, 2048]}
_MORE_LOCAL_SIZES = {1: [[64], [16], [32], [128], [256]], 2: [[16, 4], [32, 4], [64, 1], [128, 1], [8, 8]]}


def description_of(pipeline: Pipeline, file: str) -> str:
    """Return the text of the TOML file.

    Args:
        pipeline: whose kernels are described.
        file: the name of their file.
    """
    return "\n".join((*_lines(pipeline, file), ""))


def _lines(pipeline: Pipeline, file: str) -> Iterator[str]:
    actors, has_image = pipeline.actors, len(pipeline.sizes) > 1
    rates = {name for each in actors for rate in (each.pop, each.push, each.peek) for name in _names(rate)}
    named = [*(pipeline.sizes[1:] or ("n",)), *sorted(rates - {*pipeline.sizes})]
    last = len(pipeline.stages) - 1
    main = [each for each in pipeline.launches if each.stage == last]
    size = pipeline.global_size(last)
    dimensions = len(size)
    local = [f"local_size_{each}" for each in range(dimensions)]

    def sized(text: str) -> str:
        return _N.sub("(width * height)", text) if has_image else text

    yield "# A pipeline of coarsen.stream. What it can't tell is marked CHECK."
    yield f'file = {toml(file)}\nkernel = {toml(pipeline.name)}\noutputs = ["output"]'
    yield "roundings = 100  # CHECK: one after the other, on the way to an element"
    yield f"\n[ndrange]\nglobal_size = {toml([*map(sized, rounded(size, local))])}"
    first, *more = _MORE_LOCAL_SIZES[dimensions]
    yield f"local_size = {toml(first)}\nlocal_sizes = {toml([first, *more])}"
    ranges = ", ".join(f"{name} = {toml(_RANGES.get(name, [2, 64]))}" for name in named)
    yield f"\n[inputs]\nranges = {{ {ranges} }}  # CHECK\ncount = 24"
    yield "\n[sizes.test]\n" + "\n".join(f"{name} = {1000 if name == 'n' else 30}  # CHECK" for name in named)
    yield "\n[features]\n" + "\n".join(f"{name} = {toml(name)}" for name in named)
    # The kernel's own arguments are those of its first launch here.
    main.sort(key=lambda each: each.source)
    if main[0].source:
        main.insert(0, StreamLaunch(last, 0, {"0": 1}))
    for each in (*(each for each in pipeline.launches if each.stage < last), *main):
        launch = tuned_launch(pipeline, each, dimensions)
        yield f"\n[[launches]]\nkernel = {toml(launch.kernel)}\narguments = {toml(launch.arguments)}"
        yield f"when = {toml([f'{name} == {value}' for name, value in each.when.items()])}"
        yield f"global_size = {toml([*map(sized, launch.global_size)])}"
        if launch.local_size:
            yield f"local_size = {toml(LOCAL_SIZES[len(launch.local_size)])}"
        elif launch.kernel != pipeline.name:
            yield "coarsen = true"
    yield from _buffer("input", actors[0].type, sized("n"), "uniform(-1, 1)")
    yield from _buffer("output", pipeline.stages[-1].result, sized(pipeline.counts[-1]), "")
    for name in pipeline.sizes:
        yield from _argument(name, 'scalar = "int"', f"value = {toml(sized(name))}")
    for name, argument in pipeline.arguments.items():
        type_ = dtype_to_ctype(argument.dtype)
        if is_array(argument):
            own = next(each for each in actors if name in {one.name for one in each.given})
            count = own.peek if isinstance(own.peek, str) and not own.border else sized("n")
            yield from _buffer(name, type_, f"{count}", "uniform(-1, 1)")
        else:
            value = toml(name) if name in rates else "1  # CHECK"
            yield from _argument(name, f"scalar = {toml(type_)}", f"value = {value}")
    for name, channel, _ in scratch_of(pipeline, pipeline.launches):
        type_, elements = pipeline.stages[channel - 1].result, f"max({sized(pipeline.counts[channel])}, 1)"
        yield from _argument(name, f"buffer = {toml(type_)}", f"elements = {toml(elements)}")
        yield "scratch = true"


def _names(rate: int | str | None) -> frozenset[str]:
    return parse_expression(str(rate)).names


def _buffer(name: str, type_: str, elements: str, values: str) -> Iterator[str]:
    yield from _argument(name, f"buffer = {toml(type_)}", f"elements = {toml(elements)}")
    if values:
        yield f"values = {toml(values if type_ in ('float', 'double') else 'integers(0, 100)')}  # CHECK"


def _argument(name: str, *lines: str) -> Iterator[str]:
    yield f"\n[[arguments]]\nname = {toml(name)}"
    yield from lines
