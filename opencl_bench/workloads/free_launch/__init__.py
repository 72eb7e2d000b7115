"""Kernels of free launch: drawn from a seed, with several legal local sizes each and three sizes, to learn from.

A name, `launch-<seed>-<index>`, determines source, sizes, inputs and mechanism, on every machine alike.
"""
