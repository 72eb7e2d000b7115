"""A model for devices of which few kernels were measured: a Gaussian process over their curves."""
