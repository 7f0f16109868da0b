"""Find the scripts with which Coq proves the scalar lemmas of whole derivations, and store them beside the exporter.

For maintainers: a derivation that changed has lemmas without a script, and `eigentoken verify --coq` says so.  Needs coqc.
"""

from __future__ import annotations

import sys

from eigentoken.proofs.coq.formal import FORMAL, find_scripts
from eigentoken.theory.statements.registry import statements


def main(names: list[str]) -> int:
    missing = find_scripts(statements().get(name) for name in names or FORMAL)
    for each in missing:
        print(f"no script for {each}")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
