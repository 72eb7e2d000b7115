"""From LLVM's instructions and constants to C expressions and statements."""
