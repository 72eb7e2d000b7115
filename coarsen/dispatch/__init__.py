"""The choice of a kernel's version by what a launch passes: expressions, features, trees, tuned files.

Everything here is data and arithmetic: no device, no NumPy, nothing that a launch would have to wait for.
"""
