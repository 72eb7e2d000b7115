"""The facts of a compilation: what a device's own compiler made of a kernel, and what a model takes of them."""
