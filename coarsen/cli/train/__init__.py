"""`coarsen train`: a device's cascade, or the launch model."""

from coarsen.cli.train.command import train as train
