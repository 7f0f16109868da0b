"""Documents as the re-check reads them: strictly, leaf by leaf, with what was not covered.

For: every kind of certificate and report.
Enters: JSON.  Leaves: exact numbers, and a list of what each leaf was compared with.
Below it: language (the verdicts), files.
"""
