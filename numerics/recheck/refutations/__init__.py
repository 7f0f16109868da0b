"""Re-check of counterexamples: every condition and claim decided again on the instance by interval arithmetic.

For: reports of ``refute``.
Enters: a report.  Leaves: a line for each certificate, and every leaf that no arithmetic covers.
Below it: recheck.points, recheck.matrices, recheck.documents, and the language in which conjectures are written.
"""
