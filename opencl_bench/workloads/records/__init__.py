"""Kernels whose arrays hold records, for layouts of data: one host driver per kernel; each defines `KERNEL`."""
