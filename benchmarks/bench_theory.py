"""Times of the symbolic room: deriving everything from scratch (at most 60 s), one consensus spectrum (2 s), ``classify`` (3 s).

Each measurement is a fresh process, so that nothing is cached and start-up counts.  Process time is what is compared (the wall
clock is printed beside it: on a busy machine it says more about the neighbours).  Exit code 1 where a limit is missed.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

EVERYTHING = """
from eigentoken.theory.linearization.attention_polygons import never_stable, uniform_polygon_spectrum
from eigentoken.theory.linearization.circle_spectra import circle_spectrum
from eigentoken.theory.linearization.linearize import linearize
from eigentoken.theory.linearization.masked_spectra import complete_part_spectrum, masked_bipartite_spectrum
from eigentoken.theory.linearization.polygonal_spectra import antipodal_spectrum, polygonal_spectrum
from eigentoken.theory.linearization.latex import criterion_latex, proof_latex, spectrum_latex
from eigentoken.theory.printing.formulas import system_latex
from eigentoken.theory.linearization.latex import jacobian_latex
from eigentoken.theory.linearization.consensus_spectra import bipartite_spectrum, consensus_spectrum, zero_spectrum
from eigentoken.theory.linearization.stability import (
    consensus_criterion, instability_of_other_consensus, nonsymmetric_criterion, two_cycle_criterion)
from eigentoken.theory.linearization.bipartite_stability import (
    bipartite_criterion, bipartite_last, bipartite_other, oja_bipartite)
from eigentoken.theory.linearization.masked_stability import masked_bipartite_criterion, masked_consensus_criterion
from eigentoken.theory.systems.catalogue import SYSTEMS, system

spectra = [consensus_spectrum(each) for each in SYSTEMS.values()]
for each in SYSTEMS.values():
    system_latex(each), jacobian_latex(linearize(each, tangent=False))
plain = [system(f"{kind}-{time}") for kind in ("oja", "attention") for time in ("map", "flow")]
for each in plain:
    spectra += [consensus_spectrum(each, mask=mask) for mask in ("causal", "any")]
    spectra += [bipartite_spectrum(each), complete_part_spectrum(each), polygonal_spectrum(each)]
    spectra += [masked_bipartite_spectrum(each, mask) for mask in ("causal", "any")]
for each in (system("multihead-map"), system("multihead-flow")):
    spectra += [bipartite_spectrum(each, heads=2), masked_bipartite_spectrum(each, "any", 2)]
spectra += [zero_spectrum(system("token-flow")), uniform_polygon_spectrum(system("token-flow"))]
spectra += [antipodal_spectrum(system("attention-map")), circle_spectrum(system("multihead-map"))]
assert all(each.count_check().is_holds for each in spectra)
for each in spectra:
    spectrum_latex(each)
criteria = [build(each) for each in plain for build in (
    consensus_criterion, instability_of_other_consensus, masked_consensus_criterion, masked_bipartite_criterion)]
criteria += [two_cycle_criterion(system("attention-map")), consensus_criterion(system("attention-map"), mask="causal")]
criteria += [nonsymmetric_criterion(system("multihead-map")), nonsymmetric_criterion(system("multihead-flow"))]
criteria += [bipartite_criterion(), bipartite_last(), bipartite_other(), oja_bipartite()]
for each in criteria:
    assert each.check().is_holds, each.name
    criterion_latex(each), proof_latex(each)
assert all(lemma.check().is_holds for lemma in never_stable())
print(len(spectra), "spectra,", len(criteria), "criteria")
"""
ONE = """
from eigentoken.theory.linearization.consensus_spectra import consensus_spectrum
from eigentoken.theory.systems.catalogue import system
consensus_spectrum(system("attention-map"))
"""
VECTOR = {
    "system": "attention-map",
    "V": [["1", "0", "0"], ["0", "1/4", "0"], ["0", "0", "1/8"]],
    "M": [["ln(3)", "0", "0"], ["0", "ln(3)", "0"], ["0", "0", "ln(3)"]],
    "alpha": "1/2",
    "tokens": [["1", "0", "0"]] * 8 + [["-1", "0", "0"]] * 2,
}


def measured(arguments: list[str]) -> tuple[float, float]:
    """Process and wall-clock seconds of one run."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    subprocess.run(arguments, check=True, env=environment, stdout=subprocess.DEVNULL)
    after, wall = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter() - start
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, wall


def main() -> int:
    missed = 0
    with tempfile.TemporaryDirectory() as folder:
        point = Path(folder) / "tv4.json"
        point.write_text(json.dumps(VECTOR))
        command = [sys.executable, "-m", "eigentoken", "classify", str(point), "--json"]
        for name, limit, arguments in (
            ("derive everything from scratch", 60.0, [sys.executable, "-c", EVERYTHING]),
            ("one consensus spectrum, with start-up", 2.0, [sys.executable, "-c", ONE]),
            ("classify TV4 (n = 10), with start-up", 3.0, command),
        ):
            seconds, wall = measured(arguments)
            missed |= seconds > limit
            print(f"{name}: {seconds:.2f} s of process time ({wall:.2f} s by the clock), limit {limit:.0f} s")
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
