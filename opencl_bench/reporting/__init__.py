"""Reporting: the numbers of figures, their drawing, and the page for a browser."""
