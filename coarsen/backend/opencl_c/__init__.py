"""Writes a kernel as OpenCL C that builds on every device."""
