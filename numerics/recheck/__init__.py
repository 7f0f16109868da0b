"""Re-check: a second arithmetic that shares no code with the issuer of a certificate.

``recheck(certificate, inputs)`` reads the inputs to exact numbers, compares their content hashes, asks whether the
facts imply the answer and the margin (:mod:`.matrices.meaning`), and then confirms the facts: by exact rational
arithmetic for small matrices (:mod:`.matrices.rational`), by FLINT balls for medium ones (:mod:`.matrices.balls`), by a
minimal float verifier that trusts matrix products only for large ones (:mod:`.matrices.floats`, :mod:`.matrices.bases`).
The answer is ``holds`` (it agrees), ``fails`` (it does not agree: the certificate was changed, is about something else, or
its facts are shown false) or ``undecided`` (neither, with what was tried).  Nothing here imports the rest of
`numerics`; a test reads the imports.

For: ``recheck``; one wall around it, held by one test of the imports.
Enters: a document and, for large inputs, the arrays it names.  Leaves: a verdict on each of its leaves.
Below it: theory.language (words and sentences).
"""

from eigentoken.numerics.recheck.dispatch import recheck, recheck_verdict
from eigentoken.numerics.recheck.documents.reading import RecheckError

__all__ = ["RecheckError", "recheck", "recheck_verdict"]
