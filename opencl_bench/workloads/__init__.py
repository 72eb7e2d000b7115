"""Workloads: kernels with their inputs, launches and references, from the suite, descriptions or a generator."""
