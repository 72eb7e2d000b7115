"""Kernels and programs that others wrote, run by a command of their own."""
