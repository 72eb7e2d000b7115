"""A typed, read-only view of a kernel in LLVM IR."""
