"""``eigentoken recheck``: documents confirmed again, by the arithmetic behind the wall and by the issuer's code made anew.

For: whether to believe a document that somebody hands over.
Enters: what a command wrote, and the weights or matrices it is about.  Leaves: a line for each part, and what is not covered.
Below it: numerics (the second arithmetic), checking and comparing, which make a document again.
"""
