"""Trees as flat arrays: they answer by NumPy alone, whatever grew them."""
