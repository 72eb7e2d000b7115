"""C as text."""
