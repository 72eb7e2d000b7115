"""What decides how launches run: policies, each a value of `coarsen.runtime.advice.Policy`.

requested: `Program(factor=…)`     remembered: `remembered.py`     search now: `coarsen/drop_in/search.py`
tuned file: `tuned.py`
"""
