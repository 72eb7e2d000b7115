"""`coarsen evaluate`: predictors on kernels that they have not seen."""

from coarsen.cli.evaluate.command import evaluate as evaluate
