"""Devices, the drop-in PyOpenCL program, and launches of coarsened kernels."""
