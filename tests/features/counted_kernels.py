"""Small kernels whose features are counted by hand."""

from __future__ import annotations

from coarsen.features import Features, feature_table
from coarsen.frontend.lower import lower
from coarsen.ir.kernel import Kernel

# entry: call, trunc, icmp, br
# then: sext, gep, load, sext, gep, load, sqrt, fmuladd, sext, gep, store, br
# end: ret
GUARDED = """
kernel void guarded(global float *output, global const float *input, int count, float scale)
{
    int x = get_global_id(0);
    if (x < count) {
        float own = input[x];
        float shared = input[count];
        output[x] = sqrt(own) * scale + shared;
    }
}
"""

# call, gep, load, gep, store, barrier, add, gep, load, gep, store, ret
NEIGHBOUR = """
kernel void neighbour(global int *output, global const int *input, local int *tile)
{
    size_t x = get_local_id(0);
    tile[x] = input[0];
    barrier(CLK_LOCAL_MEM_FENCE);
    output[x] = tile[x + 1];
}
"""


def lowered(source: str) -> Kernel:
    """The only kernel of a source, in normal form."""
    return lower(source, None, "-cl-std=CL1.2")


def extract(kernel: Kernel, dimension: int = 0, factor: int = 1) -> Features:
    """The features of a kernel at one factor."""
    return feature_table(kernel, dimension, (factor,)).at(factor)


def lowered_body(body: str, parameters: str = "global float *data, global int *numbers") -> Kernel:
    """A kernel with this body."""
    return lowered(f"kernel void body({parameters})\n{{\n{body}\n}}\n")
