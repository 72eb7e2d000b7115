"""Inputs that kernels are tuned for: drawn from a space, listed, and versions measured at them as a matrix."""
