"""OpenCL C itself: its types, expressions and statements as data."""
