"""`coarsen bench`: sweeps over spaces of configurations, searches of them, and packs."""

from coarsen.cli.bench.command import bench as bench
