"""The inputs that kernels are tuned for: drawn from a space of sizes and contents, listed, and what they cover."""
