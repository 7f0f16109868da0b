"""Re-check of what a report says of a layer at given tokens.

For: the bounds of a check report.
Enters: stored weights and tokens as floats.  Leaves: confirmed, refused or open.
Below it: recheck.matrices (the float verifier).
"""
