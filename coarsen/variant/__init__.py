"""Variants: by what a kernel is coarsened, how, and the launch that it is for."""
