"""``eigentoken compare``: models of one shape beside each other, as the saved steps of a training are.

For: what changed in which layer and head, and which of it is certified.
Enters: two or more models.  Leaves: one table, one document, one page with lines.
Below it: checking, which finds every number.
"""
