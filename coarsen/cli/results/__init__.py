"""`coarsen results`: measured rows and remembered choices."""

from coarsen.cli.results.command import results as results
