"""eigentoken: state a result about tokens once, derive it, attack it, and check it on real weights.

>>> import eigentoken as et
>>> et.statement("PM-L4").title
'Stability of consensus for the Oja map'
>>> et.certify([[2, 1], [1, 2]], "positive-definite") == "holds"
True
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from eigentoken.version import __version__

if TYPE_CHECKING:
    from eigentoken.api.basins import basin
    from eigentoken.api.certifying import certify
    from eigentoken.api.derivations import CheckedDerivation, derive
    from eigentoken.api.points import classify
    from eigentoken.api.rechecking import recheck
    from eigentoken.api.reproduction import Reproduction, reproduce
    from eigentoken.api.verifying import verify
    from eigentoken.checking.nearest import NearestReport, nearest
    from eigentoken.checking.report import Report
    from eigentoken.checking.run import check
    from eigentoken.checking.steer import SteerReport, steer
    from eigentoken.comparing.compare import Comparison, compare
    from eigentoken.models.convention.head_and_layer import Head, Layer
    from eigentoken.models.loading.model import Model
    from eigentoken.models.loading.sources import load
    from eigentoken.nulls.against_chance import AgainstChance, against_chance
    from eigentoken.numerics.basins.regions import Basin
    from eigentoken.numerics.certified.certify import conditions
    from eigentoken.numerics.dynamics.simulate import Simulation, simulate
    from eigentoken.numerics.lab.conjectures import Conjecture
    from eigentoken.numerics.lab.explore import ExploreReport, explore
    from eigentoken.numerics.lab.refutation import refute
    from eigentoken.numerics.lab.report import RefutationReport
    from eigentoken.numerics.lab.strengthen import strengthen
    from eigentoken.numerics.lab.strengthen_report import StrengthenReport
    from eigentoken.proofs.attempts.attempt import AttemptReport, attempt
    from eigentoken.proofs.verify import Verified
    from eigentoken.rechecking.recheck import Recheck
    from eigentoken.theory.classification.classification import Classification
    from eigentoken.theory.classification.equilibria import Equilibria, equilibria
    from eigentoken.theory.classification.instances import Instance
    from eigentoken.theory.language.verdicts import Certificate, Verdict
    from eigentoken.theory.linearization.at_points import spectrum
    from eigentoken.theory.linearization.linearize import Linearization, linearize
    from eigentoken.theory.linearization.spectrum import Spectrum
    from eigentoken.theory.statements.registry import register, statement, statements
    from eigentoken.theory.statements.statement import Statement
    from eigentoken.theory.systems.catalogue import register_system, system, systems
    from eigentoken.theory.systems.system import Normalisation, Parameter, Space, System, Time

#: public name -> where it lives: the imports above, made when a name is first asked for, so that ``import eigentoken`` is
#: quick (a test holds that the two agree)
_HOMES = {
    "AgainstChance": "nulls.against_chance",
    "AttemptReport": "proofs.attempts.attempt",
    "Basin": "numerics.basins.regions",
    "Certificate": "theory.language.verdicts",
    "CheckedDerivation": "api.derivations",
    "Classification": "theory.classification.classification",
    "Comparison": "comparing.compare",
    "Conjecture": "numerics.lab.conjectures",
    "Equilibria": "theory.classification.equilibria",
    "ExploreReport": "numerics.lab.explore",
    "Head": "models.convention.head_and_layer",
    "Instance": "theory.classification.instances",
    "Layer": "models.convention.head_and_layer",
    "Linearization": "theory.linearization.linearize",
    "Model": "models.loading.model",
    "NearestReport": "checking.nearest",
    "Normalisation": "theory.systems.system",
    "Parameter": "theory.systems.system",
    "Recheck": "rechecking.recheck",
    "RefutationReport": "numerics.lab.report",
    "Report": "checking.report",
    "Reproduction": "api.reproduction",
    "Simulation": "numerics.dynamics.simulate",
    "Space": "theory.systems.system",
    "Spectrum": "theory.linearization.spectrum",
    "Statement": "theory.statements.statement",
    "SteerReport": "checking.steer",
    "StrengthenReport": "numerics.lab.strengthen_report",
    "System": "theory.systems.system",
    "Time": "theory.systems.system",
    "Verdict": "theory.language.verdicts",
    "Verified": "proofs.verify",
    "against_chance": "nulls.against_chance",
    "attempt": "proofs.attempts.attempt",
    "basin": "api.basins",
    "certify": "api.certifying",
    "check": "checking.run",
    "classify": "api.points",
    "compare": "comparing.compare",
    "conditions": "numerics.certified.certify",
    "derive": "api.derivations",
    "equilibria": "theory.classification.equilibria",
    "explore": "numerics.lab.explore",
    "linearize": "theory.linearization.linearize",
    "load": "models.loading.sources",
    "nearest": "checking.nearest",
    "recheck": "api.rechecking",
    "refute": "numerics.lab.refutation",
    "register": "theory.statements.registry",
    "register_system": "theory.systems.catalogue",
    "reproduce": "api.reproduction",
    "simulate": "numerics.dynamics.simulate",
    "spectrum": "theory.linearization.at_points",
    "statement": "theory.statements.registry",
    "statements": "theory.statements.registry",
    "steer": "checking.steer",
    "strengthen": "numerics.lab.strengthen",
    "system": "theory.systems.catalogue",
    "systems": "theory.systems.catalogue",
    "verify": "api.verifying",
}

__all__ = [
    "AgainstChance",
    "AttemptReport",
    "Basin",
    "Certificate",
    "CheckedDerivation",
    "Classification",
    "Comparison",
    "Conjecture",
    "Equilibria",
    "ExploreReport",
    "Head",
    "Instance",
    "Layer",
    "Linearization",
    "Model",
    "NearestReport",
    "Normalisation",
    "Parameter",
    "Recheck",
    "RefutationReport",
    "Report",
    "Reproduction",
    "Simulation",
    "Space",
    "Spectrum",
    "Statement",
    "SteerReport",
    "StrengthenReport",
    "System",
    "Time",
    "Verdict",
    "Verified",
    "__version__",
    "against_chance",
    "attempt",
    "basin",
    "certify",
    "check",
    "classify",
    "compare",
    "conditions",
    "derive",
    "equilibria",
    "explore",
    "linearize",
    "load",
    "nearest",
    "recheck",
    "refute",
    "register",
    "register_system",
    "reproduce",
    "simulate",
    "spectrum",
    "statement",
    "statements",
    "steer",
    "strengthen",
    "system",
    "systems",
    "verify",
]


def __dir__() -> list[str]:
    return sorted(__all__)


if not TYPE_CHECKING:  # for a type checker a name that is not listed above does not exist

    def __getattr__(name: str) -> object:
        """A public name, imported now and kept."""
        if name not in _HOMES:
            from difflib import get_close_matches

            near = get_close_matches(name, __all__, 1)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise AttributeError(f"module 'eigentoken' has no attribute {name!r}{hint}")
        found = globals()[name] = getattr(importlib.import_module(f"eigentoken.{_HOMES[name]}"), name)
        return found
