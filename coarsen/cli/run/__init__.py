"""`coarsen run`: a PyOpenCL program with its kernels coarsened."""

from coarsen.cli.run.command import run as run
