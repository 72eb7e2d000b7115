"""From OpenCL C, LLVM assembly or bitcode to a kernel in normal form."""
