"""What OpenCL C says of its builtin functions: their names in IR, the queries of the NDRange, their effects."""
