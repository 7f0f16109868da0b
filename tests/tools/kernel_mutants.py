"""Mutants of the statements that the kernel proves: a condition dropped, a claim changed in one place, another system.

``mutants(statement)`` yields statements that say something else.  Each must be refused, or stand in :data:`STILL_TRUE` with the
reason why it holds.  A claim is changed at one place at a time: a sign of a comparison, a number, a letter, an index, a word, a
guard.  What is the same proposition after all (``a < b`` for ``b > a``) is no mutant.

    python -m tests.tools.kernel_mutants [IDs]   counts them, and names those that survive
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

import sympy as sp

from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.propositions import Conjunction, proposition, same
from eigentoken.theory.kernel.proved import Proved, Refused
from eigentoken.theory.language import claims, conditions, places
from eigentoken.theory.language.terms import d, ell, k, n, p, q
from eigentoken.theory.statements.statement import Statement
from eigentoken.theory.systems.catalogue import SYSTEMS

__all__ = ["STILL_TRUE", "Mutant", "mutants", "survivors"]

#: ``ID: what was changed`` of the mutants that hold, with the reason.
STILL_TRUE: dict[str, str] = {
    "AB-L4.1: for ellipsoid-map": "the layer has the same weights",
    "CT-3: without Nonsingular(term=V)": "no eigenvalue is divided by",
    "PM-L5: without Nonsingular(term=V)": "no eigenvalue is divided by",
    "PM-L14: without n >= 2": "a split has two tokens at least",
    "PH-T5: without Nonsingular(term=W*B**(-1))": "W is definite, so that A and B have inverses",
    "PH-T5: without AnyOf(parts=(PositiveDefinite(term=W), NegativeDefinite(term=W)))": "each claim says which sign it is about",
    "PH-C1: without Symmetric(term=W*B**(-1))": "the claims are about one instance, and say it of its matrix",
    "PH-C1: without NegativeDefinite(term=W*B**(-1))": "the same",
    "PH-C1: without PositiveDefinite(term=W)": "the same",
    "PH-C2: without NegativeDefinite(term=W*B**(-1))": "the same",
    "PH-C2: without PositiveDefinite(term=W)": "the same",
    "PH-T7: without Nonsingular(term=B)": "the claims are about instances, with B = -I",
    "PH-M: without Nonsingular(term=B)": "the claims are about every A with AB = W, and there may be none",
    "PH-T8: without Nonsingular(term=B)": "the same",
    "PH-T8: without Nonsingular(term=W)": "the same",
    "PH-T1: without Nonsingular(term=B)": "that W B^{-1} is symmetric says that B has an inverse",
    "PM-F: for multihead-flow": "a layer matrix is the sum of its heads in any system with heads",
    "PM-L1: without SimpleTop(term=V)": "which points are fixed is a question of heights and of the kernel of V",
    "PM-L1: without Eigenvalue(V, 1) > 0": "the same",
    "PM-N1: without n >= 2": "with one token the zero-sum class is empty, and lambda_1 > 0 makes it stable with more",
    "PM-R4: without n >= 2": "the same",
    "PM-L3: without n >= 2": "with one token the zero-sum class is empty, and the formulas hold",
    "PM-L3: for attention-map": "at consensus attention is uniform for any scores",
    "PM-L4: without n >= 2": "with one token the zero-sum class is empty, and the threshold is the same",
    "PM-L4: for attention-map": "at consensus attention is uniform for any scores: this is PM-L11",
    "PM-L8: without Nonsingular(term=V)": "whether a point is fixed is a question of heights alone",
    "PM-L8: without SimpleTop(term=V)": "the same",
    "PM-L8: without Eigenvalue(V, 1) > 0": "the same",
    "PM-L9: for attention-flow": "the flow has the same weights",
    "PM-L11: without n >= 2": "as in PM-L4",
    "PM-L11: for oja-map": "the Oja map is the attention map with the scores 0",
    "PM-L13: for oja-map": "the same",
    "PM-R7: for ellipsoid-map": "scores are even and pushes are odd, with any norm",
    "PM-R10: without SimpleTop(term=V)": "the direction v_1 expands, and lambda_k < 0 < lambda_1 makes it another than v_k",
    "PM-T1: without n >= 2": "as in PM-L4",
    "PM-T2: without Nonsingular(term=V)": "no eigenvalue is divided by: a state without push is a polygon, V singular or not",
    "PM-T2: without n >= 2": "as in PM-L4; with one token every fixed point is consensus",
    "PM-T3: without Nonsingular(term=V)": "no eigenvalue is divided by",
    "PM-T3: without n >= 2": "as in PM-L4",
    "PM-T3: for oja-map": "the Oja map is the attention map with the scores 0",
}

_OFF_THE_ELLIPSOID = ("oja-map", "oja-flow", "attention-map", "attention-flow", "multihead-map", "multihead-flow")
STILL_TRUE |= {
    f"{name}: for {about}": "an identity of vectors: it asks nothing of the system"
    for name in ("AB-E10", "AB-L3.2")
    for about in (*_OFF_THE_ELLIPSOID, "causal-flow", "token-flow")
}
STILL_TRUE |= {
    f"{name}: for {about}": "about unit vectors and any matrix F: it asks nothing of the system"
    for name in ("PM-E6", "PM-E7")
    for about in (*_OFF_THE_ELLIPSOID, "causal-flow")
    if about != "multihead-map"
}
STILL_TRUE |= {
    "PM-A1: without Nonsingular(term=V)": "the order and the norm of eigenvalues ask for no inverse",
    "PM-T1: for oja-map": "the layer matrix of one head is its value matrix",
    "PM-T1: for attention-map": "the same",
}
STILL_TRUE |= {
    f"PM-N6: condition {change} in Relation": "it asks more, and what PM-N3 needs follows from it"
    for change in (
        "4, >= -> >",
        "4, 2 -> 3 in d >= 2",
        "6, alpha -> 2*alpha in alpha*SpectralNorm(V) in alpha*SpectralNorm(V) < 1",
    )
}
STILL_TRUE |= {
    "AB-E3: for ellipsoid-map": "the layer has the same states",
    "AB-E25: without n >= 2": "with one token the function is zero",
    **{f"AB-E25: for {about}": "a statement about unit vectors" for about in _OFF_THE_ELLIPSOID},
    **{
        f"{name}: without {word}(term={letter})": "the metric of an ellipsoid is symmetric and positive definite"
        for name, letter in (("AB-E3", "W"), ("AB-E7", "W"), ("AB-E8", "P"))
        for word in ("Symmetric", "PositiveDefinite")
    },
    **{
        f"{name}: without PositiveDefinite(term=P)": "an identity of vectors: no sign is used"
        for name in ("AB-E10", "AB-L3.1", "AB-L3.2")
    },
}
STILL_TRUE |= {
    "AB-R5.1: without Nonsingular(term=U)": "the claims are about every inverse S, and there may be none",
}

STILL_TRUE |= {
    **{
        f"{statement}: for {about}": "about any vectors and weights at one state: no equation of motion is used"
        for statement in ("BD-J1", "BD-J2", "BD-J3", "BD-L1", "BD-N2", "BD-T1")
        for about in SYSTEMS
    },
    "BD-T1: without d >= n": "the claim is about equiangular states: where d < n there are fewer of them",
    "CL-9a: without d >= n": "the same",
    "CT-12: without SimpleTop(term=V)": "that lambda_1 is above every other modulus says it",
    "CT-12: condition 3, 0 -> 1 in Eigenvalue(V, 1) > 0 in Relation": "it asks more",
    "CT-12: for oja-flow": "the Oja flow is the attention flow with the scores 0",
    "CL-8: without IsIdentity(term=W)": "what it recalls is about any ellipsoid, the sphere among them",
    "CL-12: condition 3, >= -> > in Relation": "it asks more",
    "CL-12: condition 3, 2 -> 3 in d >= 2 in Relation": "it asks more",
}

#: What a mutant with another system is called.
FOR = "for "
_TURNED = {sp.Lt: sp.Le, sp.Le: sp.Lt, sp.Gt: sp.Ge, sp.Ge: sp.Gt, sp.Eq: sp.Le, sp.Ne: sp.Gt}
_LETTERS = {k: ell, ell: k, p: q, q: p, n: n + 1, d: d + 1}
#: A word, and words that say more or something else of the same fields.
_WORDS: dict[type, tuple[type, ...]] = {
    claims.Stable: (claims.LyapunovStable, claims.Unstable, claims.Equilibrium),
    claims.Unstable: (claims.Stable, claims.LyapunovStable, claims.TwoCycle),
    claims.Equilibrium: (claims.Stable, claims.TwoCycle),
    claims.TwoCycle: (claims.Equilibrium, claims.Unstable),
    claims.LyapunovStable: (claims.Stable,),
    claims.Converges: (claims.AlmostEveryConverges, claims.Stable),
    claims.AlmostEveryConverges: (claims.Converges,),
    claims.Decreases: (claims.Increases, claims.Vanishes),
    claims.Increases: (claims.Decreases, claims.Vanishes),
    claims.Nonnegative: (claims.Vanishes, claims.Decreases),
    claims.Vanishes: (claims.Nonnegative,),
    conditions.Symmetric: (conditions.PositiveDefinite,),
    conditions.PositiveDefinite: (conditions.PositiveSemidefinite,),
    places.ConsensusAt: (places.BipartiteAt,),
    places.BipartiteAt: (places.ConsensusAt,),
}


@dataclass(frozen=True)
class Mutant:
    """A changed statement, and what was changed."""

    of: str
    what: str
    statement: Statement

    @property
    def name(self) -> str:
        return f"{self.of}: {self.what}"

    def refused(self) -> str:
        """What the kernel answers, or nothing: then it survives."""
        try:
            _ = self.statement.proofs
        except Refused as answer:
            return str(answer)
        return ""

    def reason(self) -> str:
        """Why it is true, if that is known: by what else the kernel proves, or in words."""
        if self.name in STILL_TRUE or not self.what.startswith(FOR):
            return STILL_TRUE.get(self.name, "")
        try:
            alone = not Mutant(self.of, "", replace(self.statement, systems=())).refused()
        except (KeyError, AttributeError):  # the derivation looks up something by the system
            alone = False
        return "the kernel proves it for no system at all" if alone else ""


# -- one change in a formula or a word ---------------------------------------------------------------------------------


def _changed(term: Any) -> Iterator[tuple[str, Any]]:
    """Every sympy term or relation that differs from this one in one place."""
    if term.is_Integer:
        yield f"{term} -> {term + 1}", term + 1
        return
    if isinstance(term, sp.MatrixBase):
        entries = term.flat()
        for place, entry in enumerate(entries):
            for what, new in _changed(entry):
                yield f"{what} in {term}", term.func(*term.shape, [*entries[:place], new, *entries[place + 1 :]])
        return
    if isinstance(term, sp.MatrixSymbol):
        yield f"{term} -> {term}2", sp.MatrixSymbol(f"{term.name}2", *term.shape)
        return
    if term.is_Symbol:
        other = _LETTERS.get(term, 2 * term)
        yield f"{term} -> {other}", other
        return
    if type(term) in _TURNED and not getattr(term.lhs, "is_Matrix", False):
        other = _TURNED[type(term)]
        yield f"{term.rel_op} -> {other.rel_op}", other(*term.args, evaluate=False)
    if isinstance(term, sp.Abs):
        yield "no modulus", term.args[0]
    if isinstance(term, sp.And | sp.Or):
        for each in term.args:
            yield f"only {each}", each
    for place, part in enumerate(term.args):
        for what, new in _changed(part):
            arguments = (*term.args[:place], new, *term.args[place + 1 :])
            yield f"{what} in {term}", term.func(*arguments)


def variants(said: Any) -> Iterator[tuple[str, Any]]:
    """Every word (condition, claim, place, term) that differs from this one in one place, and the claims without a guard."""
    if isinstance(said, sp.Basic):
        yield from _changed(said)
    elif isinstance(said, bool):
        yield f"{said} -> {not said}", not said
    elif isinstance(said, int):
        yield f"{said} -> {said + 1}", said + 1
    elif isinstance(said, tuple):
        for place, part in enumerate(said):
            if len(said) > 1:
                yield f"part {place + 1} left out", (*said[:place], *said[place + 1 :])
            for what, new in variants(part):
                yield what, (*said[:place], new, *said[place + 1 :])
    elif is_dataclass(said) and not isinstance(said, type):
        yield from _of_word(said)


def _of_word(said: Any) -> Iterator[tuple[str, Any]]:
    name = type(said).__name__
    for other in _WORDS.get(type(said), ()):
        shared = {each.name for each in fields(other)}
        kept = {each.name: getattr(said, each.name) for each in fields(said) if each.name in shared}
        yield f"{name} -> {other.__name__}", other(**kept)
    if isinstance(said, claims.When):
        yield "without its guard", said.claim
        yield "with an equivalence", claims.Iff(said.claim, said.condition)
    if isinstance(said, claims.Iff):
        yield "without its condition", said.claim
        yield "with the opposite condition", claims.Iff(said.claim, conditions.Not(said.condition))
    for each in fields(said):
        if each.compare and each.name not in {"observable", "classes"}:
            for what, new in variants(getattr(said, each.name)):
                made = _made(said, each.name, new)
                if made is not None:
                    yield f"{what} in {name}", made
    for number, (value, times) in enumerate(getattr(said, "classes", ())):
        for what, new in variants((sp.sympify(value), sp.sympify(times))):
            if len(new) == 2:
                listed = (*said.classes[:number], new, *said.classes[number + 1 :])
                yield f"{what} in class {number + 1}", replace(said, classes=listed)
    if len(getattr(said, "classes", ())) > 1:
        yield "a class left out", replace(said, classes=said.classes[1:])


def _made(said: Any, name: str, new: Any) -> Any:
    try:
        return replace(said, **{name: new})
    except (TypeError, ValueError):  # decided when written, or of another kind: no statement
        return None


# -- mutants of a statement ----------------------------------------------------------------------------------------------


def _remembered(proof: Callable[[Kernel], Proved]) -> Callable[[Kernel], Proved]:
    """The derivation depends on the system and the conditions alone: with those it is run once, refused or not."""
    known: dict[Any, Proved | Refused] = {}

    def run(kernel: Kernel) -> Proved:
        key = (kernel.system, kernel.conditions)
        if key not in known:
            try:
                known[key] = proof(kernel)
            except Refused as answer:
                known[key] = answer
            except (AttributeError, IndexError, KeyError, StopIteration, TypeError, ValueError) as broken:
                known[key] = Refused(f"the derivation breaks: {broken}")
        found = known[key]
        if isinstance(found, Refused):
            raise found
        return found

    return run


def mutants(statement: Statement) -> Iterator[Mutant]:
    """Statements that differ from this one in one place, each once; the same change at a later place says which."""
    places: Counter[str] = Counter()
    for each in _mutants(statement):
        places[each.what] += 1
        number = places[each.what]
        yield each if number == 1 else replace(each, what=f"{each.what}, place {number}")


def _mutants(statement: Statement) -> Iterator[Mutant]:
    assert statement.proof is not None
    shared = replace(statement, proof=_remembered(statement.proof))
    yield from _of_conditions(shared)
    yield from _of_systems(shared)
    seen: list[Any] = [_whole(shared)]
    for number, claim in enumerate(statement.claims):
        for what, new in variants(claim):
            listed = (*statement.claims[:number], new, *statement.claims[number + 1 :])
            changed = replace(shared, claims=listed)
            if any(same(_whole(changed), each) for each in seen):
                continue
            seen.append(_whole(changed))
            yield Mutant(statement.id, f"claim {number + 1}, {what}", changed)


def _whole(statement: Statement) -> Conjunction:
    return Conjunction(tuple(map(proposition, statement.claims)))


def _of_conditions(statement: Statement) -> Iterator[Mutant]:
    """Each condition left out; and changed in one place, unless it can be left out."""
    given = statement.conditions
    for number, condition in enumerate(given):
        told = str(getattr(condition, "relation", condition))
        before, after = given[:number], given[number + 1 :]
        without = Mutant(statement.id, f"without {told}", replace(statement, conditions=(*before, *after)))
        yield without
        if without.refused():
            for what, new in variants(condition):
                if isinstance(new, conditions.Condition):
                    changed = replace(statement, conditions=(*before, new, *after))
                    yield Mutant(statement.id, f"condition {number + 1}, {what}", changed)


def _of_systems(statement: Statement) -> Iterator[Mutant]:
    for name in SYSTEMS:
        if statement.systems and name not in statement.systems:
            yield Mutant(statement.id, f"{FOR}{name}", replace(statement, systems=(name,)))


def survivors(statement: Statement) -> tuple[int, list[Mutant]]:
    """How many mutants there are, and those that the kernel proves."""
    made = list(mutants(statement))
    return len(made), [each for each in made if not each.refused()]


def main(wanted: list[str]) -> int:
    """Count the mutants of the statements with a proof in the kernel; 1 where one survives that is not known to be true."""
    from eigentoken.theory.statements.registry import statements

    total, unknown = 0, 0
    for statement in statements():
        if statement.proof is None or (wanted and statement.id not in wanted):
            continue
        count, alive = survivors(statement)
        total += count
        print(f"{statement.id:10} {count:5} mutants, {len(alive)} survive")
        for each in alive:
            reason = each.reason()
            unknown += not reason
            print(f"    {each.name}: {reason or 'NOT KNOWN TO BE TRUE'}")
    print(f"{total} mutants, {unknown} survive for no reason")
    return 1 if unknown else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
