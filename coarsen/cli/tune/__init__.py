"""`coarsen tune`: the fastest variant at one size, over inputs, with other layouts."""

from coarsen.cli.tune.command import tune as tune
