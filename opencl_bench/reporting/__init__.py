"""Reporting: the numbers behind figures, their drawing, and the page for a browser."""
