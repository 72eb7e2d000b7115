"""LLVM IR as a graph that can be edited: operands are objects that know their uses."""
