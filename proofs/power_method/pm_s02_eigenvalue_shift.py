"""PM-S2: a rank-one edit along an eigenvector shifts its eigenvalue, and which other eigenvectors it keeps.

Reference: Li-Altafini, section 2.3.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sympy as sp

from eigentoken.proofs.bibliography import LI_ALTAFINI
from eigentoken.proofs.power_method.rank_one_edits import EDITED, MU, eigenvector
from eigentoken.proofs.properties.checks import OnInstances
from eigentoken.proofs.properties.first_failures import FirstFailure
from eigentoken.proofs.properties.matrices import edit_not_normalised, edit_without_eigenvector
from eigentoken.proofs.properties.steering_checks import shifted_spectrum
from eigentoken.proofs.steps.equations import for_every
from eigentoken.theory.calculus import dot, vector
from eigentoken.theory.kernel.formulas import Formula
from eigentoken.theory.kernel.kernel import Kernel
from eigentoken.theory.kernel.propositions import (
    AnyLetter,
    Conjunction,
    Equivalence,
    Implication,
    Proposition,
    proposition,
)
from eigentoken.theory.kernel.proved import Proved
from eigentoken.theory.kernel.tensors import Tensor, VectorLetter
from eigentoken.theory.language.terms import matrix
from eigentoken.theory.language.verdicts import Verdict, fails, holds
from eigentoken.theory.statements.registry import register
from eigentoken.theory.statements.statement import (
    Counterexample,
    Kind,
    Printed,
    Remark,
    RemarkKind,
    Source,
    Statement,
    Variant,
    Vector,
)

SHIFTED, OTHER = sp.symbols("lambda nu", real=True)
_A, _W, _Z, _E = (VectorLetter(name) for name in "awzf")
_w, _z, _e = vector("w"), vector("z"), vector("f")
_NORMALISED = proposition(sp.Eq(Tensor(dot(_z, _w)), 1, evaluate=False))
_EDIT = Conjunction((EDITED, proposition(sp.Ne(MU, 0)), proposition(sp.Gt(Tensor(dot(_w, _w)), 0, evaluate=False))))
_RIGHT, _LEFT = eigenvector("w", "F", SHIFTED), eigenvector("z", "F", SHIFTED, left=True)
_LEVEL = proposition(sp.Eq(Tensor(dot(_z, _e)), 0, evaluate=False))
_ACROSS = proposition(sp.Eq(Tensor(dot(_e, _w)), 0, evaluate=False))
_DIFFERENT = proposition(sp.Ne(OTHER, SHIFTED))


def _of(said: Proposition, *letters: AnyLetter) -> Proposition:
    return for_every(said, matrix("G"), _W, _Z, MU, *letters)


#: ``G w = (lambda + mu) w`` where w is a right eigenvector; the same from the left.
SHIFTS = (
    Implication(Conjunction((EDITED, _NORMALISED, _RIGHT)), eigenvector("w", "G", SHIFTED + MU)),
    Implication(Conjunction((EDITED, _NORMALISED, _LEFT)), eigenvector("z", "G", SHIFTED + MU, left=True)),
)
#: Another right eigenvector f stays one, with its eigenvalue, iff ``z^T f = 0``.
KEPT = Implication(
    Conjunction((_EDIT, eigenvector("f", "F", OTHER))), Equivalence(eigenvector("f", "G", OTHER), _LEVEL)
)
#: The left condition keeps the right eigenvectors for other eigenvalues; the right condition keeps the left ones.
KEEPS = (
    Implication(Conjunction((EDITED, _LEFT, eigenvector("f", "F", OTHER), _DIFFERENT)), eigenvector("f", "G", OTHER)),
    Implication(
        Conjunction((EDITED, _RIGHT, eigenvector("f", "F", OTHER, left=True), _DIFFERENT)),
        eigenvector("f", "G", OTHER, left=True),
    ),
)
CLAIMS = (
    *(_of(each, SHIFTED) for each in SHIFTS),
    _of(KEPT, OTHER, _E),
    *(_of(each, SHIFTED, OTHER, _E) for each in KEEPS),
)


def _everywhere(k: Kernel, found: Proved, *letters: AnyLetter) -> Proved:
    """For every G, w, z, mu and the further letters."""
    for letter in reversed((matrix("G"), _W, _Z, MU, *letters)):
        found = k.generalise(letter, found)
    return found


def _form(k: Kernel, left: object, right: object) -> Proved:
    """``a^T G b`` at these two vectors."""
    return k.instantiate(k.instantiate(k.assume(EDITED), left), right)


def _shift(k: Kernel, claim: Implication, *, left: bool) -> Proved:
    whole = k.assume(claim.left)
    known = k.part(whole, claim.left.parts[2])
    form = _form(k, _Z, _A) if left else _form(k, _A, _W)
    form = k.supply(form, k.part(whole, EDITED))
    found = k.arithmetic([form, k.instantiate(known, _A), k.part(whole, _NORMALISED)], claim.right.body)
    return k.discharge(claim.left, k.generalise(_A, found))


def _kept(k: Kernel) -> Proved:
    """``G f = nu f + mu (z^T f) w``."""
    whole = k.assume(KEPT.left)
    eigen = k.part(whole, KEPT.left.parts[1])
    edit = k.part(whole, EDITED)
    stays, level = k.assume(KEPT.right.left), k.assume(_LEVEL)
    there = k.supply(_form(k, _W, _E), edit)
    sizes = [k.part(whole, each) for each in _EDIT.parts[1:]]
    needed = k.arithmetic([there, k.instantiate(eigen, _W), k.instantiate(stays, _W), *sizes], _LEVEL)
    form = k.supply(_form(k, _A, _E), edit)
    enough = k.generalise(_A, k.arithmetic([form, k.instantiate(eigen, _A), level], stays.proposition.body))
    both = k.iff(k.discharge(stays.proposition, needed), k.discharge(_LEVEL, enough))
    return k.discharge(KEPT.left, both)


def _keeps(k: Kernel, claim: Implication, *, left: bool) -> Proved:
    """``lambda z^T f = z^T F f = nu z^T f``, so that ``z^T f = 0``; or the same with w."""
    whole = k.assume(claim.left)
    edit, own, eigen, different = (k.part(whole, each) for each in claim.left.parts)
    mixed = (k.instantiate(own, _E), k.instantiate(eigen, _W if left else _Z))
    flat = k.arithmetic([*mixed, different], _ACROSS if left else _LEVEL)
    form = k.supply(_form(k, _E, _A) if left else _form(k, _A, _E), edit)
    found = k.arithmetic([form, k.instantiate(eigen, _A), flat], claim.right.body)
    return k.discharge(claim.left, k.generalise(_A, found))


def proof(k: Kernel) -> Proved:
    """The forms of the edited matrix at the eigenvectors."""
    shown = (
        (_shift(k, SHIFTS[0], left=False), (SHIFTED,)),
        (_shift(k, SHIFTS[1], left=True), (SHIFTED,)),
        (_kept(k), (OTHER, _E)),
        (_keeps(k, KEEPS[0], left=False), (SHIFTED, OTHER, _E)),
        (_keeps(k, KEEPS[1], left=True), (SHIFTED, OTHER, _E)),
    )
    return k.conjunction(*(_everywhere(k, found, *letters) for found, letters in shown))


def kept_by_the_left_condition() -> Sequence[Any]:
    """F = [[1, 1], [0, 2]], z = (1, -1), a left eigenvector, w = (2, 1), no eigenvector, mu = 5: spectrum and image of (1, 1)."""
    f, w, z = sp.Matrix([[1, 1], [0, 2]]), sp.Matrix([2, 1]), sp.Matrix([1, -1])
    edited = f + 5 * w * z.T
    return [*sorted(edited.eigenvals(), reverse=True), *(edited * sp.Matrix([1, 1]))]


def not_kept() -> Sequence[Any]:
    """The right condition only, w = z = e_1: the image of the eigenvector (1, 1)."""
    f, e = sp.Matrix([[1, 1], [0, 2]]), sp.Matrix([1, 0])
    return list((f + 5 * e * e.T) * sp.Matrix([1, 1]))


def right_condition_moves_it() -> Verdict:
    """Without the left condition the eigenvector (1, 1) of eigenvalue 2 is moved, although w is a right eigenvector."""
    first, second = not_kept()
    return holds(f"(1, 1) is sent to ({first}, {second})") if first != second else fails("(1, 1) is kept")


def one_suffices() -> Verdict:
    """F = [[1, 1], [0, 2]], w = e_1 (right eigenvector), z = (1, 0), not a left one: spectrum {1 + 5, 2}."""
    f, w, z = sp.Matrix([[1, 1], [0, 2]]), sp.Matrix([1, 0]), sp.Matrix([1, 0])
    left = (z.T * f).T
    is_left = left[0] * z[1] - left[1] * z[0] == 0
    found = (f + 5 * w * z.T).eigenvals()
    if found == {sp.Integer(6): 1, sp.Integer(2): 1} and not is_left:
        return holds("z is no left eigenvector, and the spectrum is {6, 2}")
    return fails(f"spectrum {found}")


PM_S2 = register(
    Statement(
        id="PM-S2",
        kind=Kind.REMARK,
        source=Source(LI_ALTAFINI, "section 2.3"),
        title="Shifting one eigenvalue",
        systems=("multihead-map",),
        claims=tuple(map(Formula, CLAIMS)),
        proof=proof,
        notes=(
            Remark(
                RemarkKind.OPEN,
                r"Under either condition all other eigenvalues stay, with their multiplicities: that is a theorem of Brauer on "
                r"$\det(\zeta I - G)$, and there is no word for it here.",
            ),
        ),
        printed=Printed(
            text=r"If $w$ and $z$ are the right and left eigenvector of $\lambda_k$, the spectrum is unchanged except "
            r"$\lambda_k \to \lambda_k + \mu$.",
            wrong=r"True, but one of the two eigenvector conditions is enough.",
            counterexamples=(
                Counterexample(
                    "right eigenvector only",
                    r"$F = \big(\begin{smallmatrix}1&1\\0&2\end{smallmatrix}\big)$, $w = z = e_1$, $\mu = 5$: $z$ is "
                    r"no left eigenvector, and the spectrum is $\{6, 2\}$.",
                    {"F": [["1", "1"], ["0", "2"]], "w": ["1", "0"], "z": ["1", "0"], "mu": "5"},
                    one_suffices,
                ),
            ),
            false=False,
        ),
        property_tests=(OnInstances(shifted_spectrum),),
        vectors=(
            Vector("left condition only: spectrum, image of (1, 1)", kept_by_the_left_condition, ("6", "2", "2", "2")),
            Vector("right condition only: image of (1, 1)", not_kept, ("7", "2")),
        ),
        variants=(
            Variant(
                "z^T F = lambda_k z^T",
                "F = (1 1; 0 2), w = z = e_1, a right eigenvector, mu = 5: the eigenvector (1, 1) is sent to (7, 2)",
                right_condition_moves_it,
            ),
            Variant(
                "w or z an eigenvector",
                "with neither, other eigenvalues change too",
                FirstFailure(edit_without_eigenvector),
            ),
            Variant("z^T w = 1", "the shift is mu z^T w", FirstFailure(edit_not_normalised)),
        ),
    )
)
