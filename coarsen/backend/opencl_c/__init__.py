"""Writes a kernel as OpenCL C that builds on every device."""

from coarsen.backend.opencl_c.standard import standard_of
from coarsen.backend.opencl_c.writer import OpenClC, write_opencl_c

__all__ = ["OpenClC", "standard_of", "write_opencl_c"]
