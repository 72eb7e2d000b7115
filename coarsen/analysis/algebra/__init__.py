"""What integers and addresses are, as polynomials: one walk (`walk.py`), and a table of rules for each promise.

bit-exact    a form equals its value modulo 2^n, always: `combined`, which value numbering asks
prove        likewise, or it is wrong by whole multiples of a number that it says: `exact_forms.py`
predict      a form equals its value as whole numbers where nothing wraps, else nothing: `index_forms.py`
"""
