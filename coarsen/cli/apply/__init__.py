"""`coarsen apply`: a kernel, coarsened; what that does to it; its static features."""

from coarsen.cli.apply.command import apply as apply
