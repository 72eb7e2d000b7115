"""The drivers of the kernels of which the best version depends on the input.

One module per kernel; each defines `KERNELS`, which the table of benchmarks in `lookup` collects. The lists of
their inputs are in `data`.
"""
