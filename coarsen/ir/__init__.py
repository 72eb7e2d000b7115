"""Kernels in LLVM IR: a graph that transforms edit, sealed where a kernel is read."""
