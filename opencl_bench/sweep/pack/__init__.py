"""Measuring where the compiler is not: packs of coarsened kernels."""
