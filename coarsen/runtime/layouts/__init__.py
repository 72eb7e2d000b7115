"""The host's side of layouts: NumPy arrays to and from the bytes that a kernel with another layout works on."""
