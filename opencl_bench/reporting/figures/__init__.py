"""Drawing of figures with Matplotlib, and what they have in common."""
