"""Re-check of facts about matrices: signs, leaders, gaps, covers, in rationals, balls or error-free floats.

For: certificates of ``certify`` and ``check``.
Enters: an exact matrix and the facts that a certificate states.  Leaves: confirmed, refused or open.
Below it: recheck.documents.
"""
