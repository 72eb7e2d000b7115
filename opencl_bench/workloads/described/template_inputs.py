"""What a written description says beside a kernel's parameters, for tuning over inputs: features and inputs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from coarsen.frontend.annotations import Annotations
from coarsen.ir.kernel import Kernel
from coarsen.opencl_bench.workloads.described.guess import guess_launch
from coarsen.opencl_bench.workloads.described.inputs import DEFAULT_COUNT
from coarsen.opencl_bench.workloads.described.parameter_types import declared_type, kind_of
from coarsen.opencl_bench.workloads.described.toml_text import quoted

_INPUTS = """
# What `coarsen tune` may choose a version by, of a launch's arguments: numbers by their names, bytes_NAME of
# buffers, global_size_0 and so on: + - * / // % min max log2. What only the contents of buffers tell is supplied
# by the caller, and here it is computed: row_cv = {{ supplied = "variation_of_lengths(row_starts)" }}
[features]
{features}
# The inputs that it tunes for: sizes from the least to the largest, within limits.
[inputs]
ranges = {{ n = [{low}, {high}] }}  # CHECK: all sizes of [sizes.test]
# The local sizes divide these. Leave it out where global_size is rounded up, so that odd sizes are tuned for, too.
multiples = {{ n = {multiple} }}  # CHECK
# limit = "height * width <= 33554432"
count = {count}
"""
# The largest extent, by how many of them the largest buffer is the product of: tens of milliseconds on few cores.
_LARGEST = (1 << 20, 2048, 256)


def parameters_comment(annotations: Annotations) -> str:
    """Return lines that say which parameters the source declares; empty where it declares none."""
    if not annotations.parameters:
        return ""
    lines = [f"#     {each.name}: {', '.join(map(each.value_of, each.values))}" for each in annotations.parameters]
    return "\n".join(
        (
            "# The source's pragmas declare these parameters, the default first; local_size may name them: "
            f'["{annotations.parameters[0].name}"].',
            *lines,
            "# [parameters] in this file takes their place:",
            '# BLKSZ = "erange 64,512,2"',
            "",
        )
    )


def inputs_text(kernel: Kernel, annotations: Annotations) -> str:
    """Return the tables `features` and `inputs` for a kernel, to be completed."""
    declared = [each.name for each in annotations.features]
    launch = guess_launch(kernel)
    multiple = math.lcm(*(extent for local_size in launch.local_sizes for extent in local_size))
    low = launch.extents["test"]
    high = max(_LARGEST[min(launch.sizes, len(_LARGEST)) - 1] // multiple * multiple, low)
    return _INPUTS.format(
        features="\n".join(_features(kernel, declared)) + "\n",
        low=low,
        high=high,
        multiple=multiple,
        count=min(DEFAULT_COUNT, (high - low) // multiple + 1),
    )


def _features(kernel: Kernel, declared: Sequence[str]) -> Iterator[str]:
    if declared:
        yield f"# The source declares {', '.join(declared)}."
        return
    wholes = [
        parameter.name
        for parameter in kernel.arguments
        if kind_of(parameter) == "scalar"
        and (found := declared_type(parameter)) is not None
        and found.is_integer
        and found.components == 1
    ]
    for name in wholes:
        yield f"{name} = {quoted(name)}  # CHECK"
    if not wholes:
        yield 'items = "global_size_0"  # CHECK'
