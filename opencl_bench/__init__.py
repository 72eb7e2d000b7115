"""The benchmark suite: OpenCL kernels, host drivers with references, running, comparing and timing them."""
