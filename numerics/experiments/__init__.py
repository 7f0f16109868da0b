"""The papers' figures and tables as recipes that run again.

For: ``reproduce``: each recipe says what the paper shows, what came out, and whether they agree.
Enters: sizes and seeds.  Leaves: arrays and rows; nothing is drawn here.
Below it: dynamics, certified.
"""
