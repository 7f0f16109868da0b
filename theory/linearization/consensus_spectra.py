"""Spectra at consensus, bipartite consensus and zero, derived from the linearization by the symmetry of the point.

Let the tokens sit at an eigenvector v of the value matrix (or at +v and -v), and let u be a left eigenvector of another
eigenvalue: ``u^T V = lambda_ell u^T``, ``u^T v = 0`` (u = v_l when V is symmetric).  Tested with u, the derivative maps
``eta_i = u^T w_i`` of a token in group g to ``a_g eta_i + sum_h b_gh mean_h(eta)``
(:mod:`eigentoken.theory.linearization.linearize`).  So the zero-sum parts of a group have the eigenvalue ``a_g``
(multiplicity: size - 1), and the means follow the small matrix ``a_g delta_gh + b_gh``.  All numbers are read off the
normal form; none is typed in.  The d - 1 covectors u span the dual of the tangent space; eigenvalues count with algebraic
multiplicity, and for value matrices that are not diagonalizable the formulas follow by continuity of the spectrum.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import sympy as sp

from eigentoken.documents.spectrum_document import Extension
from eigentoken.theory.calculus import DIMENSION, TOKENS, Assumptions, Base
from eigentoken.theory.calculus.derivative import Group, GroupPoint
from eigentoken.theory.linearization.linearize import (
    MEAN,
    PERTURBATION,
    Linearization,
    Response,
    height,
    linearize,
    norm_symbol,
    raw_symbol,
    read_response,
)
from eigentoken.theory.linearization.spectrum import EigenvalueFamily, Entry, Spectrum
from eigentoken.theory.systems.system import Space, System, Time

__all__ = [
    "LAMBDA_K",
    "LAMBDA_L",
    "P",
    "Q",
    "S",
    "bipartite_spectrum",
    "consensus_spectrum",
    "tidy",
    "zero_spectrum",
]

#: The eigenvalue of the point, another eigenvalue, ``s = v^T M v``, and the sizes of the two groups.
LAMBDA_K = sp.Symbol("lambda_k", real=True)
LAMBDA_L = sp.Symbol("lambda_ell", real=True)
S = sp.Symbol("s", real=True)
P = sp.Symbol("p", integer=True, positive=True)
Q = sp.Symbol("q", integer=True, positive=True)
TOKEN = sp.Symbol("i", integer=True, positive=True)
KAPPA = sp.Symbol("kappa")


@cache
def consensus_spectrum(
    system: System,
    *,
    mask: str | None = None,
    heads: int | None = None,
    extension: Extension = "homogeneous",
    fixed_point: bool = True,
) -> Spectrum:
    """The spectrum where all tokens sit at an eigenvector v of the value matrix (for several heads, of their sum).

    Symmetry is not assumed.  ``mask``: ``None`` (full), ``"causal"``, or the name of any other mask.  With
    ``fixed_point`` a map has ``m = 1 + alpha lambda_k > 0``; without it ``|m|`` stays in the formulas, which then are
    multipliers up to sign where ``m < 0`` (a 2-cycle).  In the Euclidean token flow the common value is arbitrary.

    >>> from eigentoken.theory.systems.catalogue import system
    >>> [(entry.value, entry.multiplicity) for entry in consensus_spectrum(system("oja-flow")).tangent]
    [(lambda_ell - lambda_k, 1), (-lambda_k, (d - 1)*(n - 1))]
    """
    found = linearize(system, mask=mask, heads=heads, tangent=False, extension=extension)
    point = GroupPoint((Group("token", TOKENS, 1),), _relations_at(found, heads, each_head=False))
    return _assemble(found, point, fixed_point, "consensus")


@cache
def bipartite_spectrum(
    system: System, *, heads: int | None = None, extension: Extension = "homogeneous", fixed_point: bool = True
) -> Spectrum:
    """The spectrum where p tokens sit at v and q at -v, ``n = p + q``, full attention.

    ``s = v^T M v``.  With several heads (their number must be given) v and u are eigenvectors of each of them, with
    eigenvalues ``lambda_k__h``, ``lambda_ell__h`` and ``s__h = v^T M_h v``.  For masks see
    :func:`eigentoken.theory.linearization.masked_spectra.masked_bipartite_spectrum`.

    >>> from eigentoken.theory.systems.catalogue import system
    >>> bipartite_spectrum(system("oja-flow")).tangent[0].value
    -b_1*lambda_k
    """
    if system.mask != "full":
        raise ValueError(f"{system.name} is masked: use masked_bipartite_spectrum")
    if system.multihead and heads is None:
        raise ValueError(f"{system.name}: heads must be a number for a bipartite point, got None")
    found = linearize(system, heads=heads, tangent=False, extension=extension)
    groups = (Group("plus", P, 1), Group("minus", Q, -1))
    rules = _relations_at(found, heads, each_head=True).extended(sizes={"plus": P, "minus": Q})
    balances: dict[tuple[str, str], sp.Expr] = {}
    for h, score in enumerate(_score_names(system, heads), start=1):
        number = "" if heads is None else str(h)
        balances |= {("plus", score): balance_symbol("1", number), ("minus", score): balance_symbol("2", number)}
    return _assemble(found, GroupPoint(groups, rules, balances=balances), fixed_point, "bipartite")


def _score_names(system: System, heads: int | None) -> list[str]:
    if system.score is None:
        return []
    return [system.score] if heads is None else [f"{system.score}_{h}" for h in range(1, heads + 1)]


def of_head(name: str, head: str = "") -> sp.Symbol:
    """The letter, or that of one of several heads: ``lambda_k__2`` is ``lambda_k`` of head 2."""
    return sp.Symbol(f"{name}__{head}" if head else name, real=True)


def balance_symbol(group: str, head: str = "") -> sp.Symbol:
    """``b_1`` or ``b_2``: how much more weight a token of the group puts on its own group than on the other."""
    return of_head(f"b_{group}", head)


def score_symbol(head: str = "") -> sp.Symbol:
    """``s = v^T M v``, or ``s_h`` for one of several heads."""
    return of_head("s", head)


def zero_spectrum(system: System) -> Spectrum:
    """The spectrum of a Euclidean flow at ``x_i = 0``.

    >>> from eigentoken.theory.systems.catalogue import system
    >>> [(entry.value, entry.multiplicity) for entry in zero_spectrum(system("token-flow")).tangent]
    [(lambda_ell, 1), (0, d*(n - 1))]
    """
    if system.space is not Space.EUCLIDEAN:
        raise ValueError(f"{system.name} lives on a {system.space}, which does not contain 0: use consensus_spectrum")
    found = linearize(system)
    point = GroupPoint((Group("token", TOKENS, 0),), _relations_at(found, None, each_head=False))
    return _assemble(found, point, True, "zero")


# -- what is known at the point ---------------------------------------------------------------------------------------


def _relations_at(found: Linearization, heads: int | None, each_head: bool) -> Assumptions:
    """v is a unit right eigenvector, u a left one of another eigenvalue, and ``s = v^T M v``."""
    system, rules = found.system, found.assumptions
    v, u = Base("v"), Base("u")
    gram: dict[Any, sp.Expr] = {}
    if system.space is not Space.EUCLIDEAN:
        gram = {(v, rules.unit["x"], v): sp.Integer(1), (u, (), v): sp.Integer(0)}
    eigen: dict[Any, sp.Expr] = {}
    for name, at_v, at_u in _eigenvalues(system, heads, each_head):
        eigen[name, True, "u"] = at_u
        if system.space is not Space.EUCLIDEAN:
            eigen[name, False, "v"] = at_v
    return rules.extended(eigen=eigen, gram=gram, means={PERTURBATION: MEAN})


def _eigenvalues(system: System, heads: int | None, each_head: bool) -> list[tuple[str, sp.Symbol, sp.Symbol]]:
    if system.value is None:
        return []
    if heads is None:
        return [(system.value, LAMBDA_K, LAMBDA_L)]
    if not each_head:
        raise ValueError("at consensus only the sum of the heads matters: leave heads out (a symbolic number)")
    return [
        (f"{system.value}_{h}", of_head("lambda_k", str(h)), of_head("lambda_ell", str(h))) for h in range(1, heads + 1)
    ]


# -- putting the spectrum together ------------------------------------------------------------------------------------


def _assemble(found: Linearization, point: GroupPoint, fixed_point: bool, title: str) -> Spectrum:
    system, rules = found.system, point.assumptions
    metric = rules.unit.get("x", ())
    tangent = rules.extended(orthogonal={("v", PERTURBATION): metric, ("v", MEAN): metric})
    if system.space is Space.EUCLIDEAN:
        tangent = rules
    if system.time is Time.FLOW and system.space is not Space.EUCLIDEAN:
        _check_rest(found, point)
    responses = {group.kind: read_response(found, point, group, "u", (), tangent) for group in point.groups}
    heights = {group.kind: height(found, point, group) for group in point.groups} if system.time is Time.MAP else {}
    letters = _Letters(found, point, heights, fixed_point)
    one_group = len(point.groups) == 1
    entries = _one_group(found, responses["token"], letters) if one_group else _two_groups(found, responses, letters)
    for group in point.groups if heights else ():
        entries.append(_extrinsic(found, group, read_response(found, point, group, "v", metric, rules), letters))
    return Spectrum(
        system=system.name,
        point=title if found.mask is None else f"{title}, {found.mask} mask",
        entries=tuple(entries),
        dimension=TOKENS * (DIMENSION if system.space is Space.EUCLIDEAN else DIMENSION - 1),
        flow=system.time is Time.FLOW,
        conditions=tuple(dict.fromkeys(letters.conditions())),
        relations=() if one_group else ((TOKENS, P + Q),),
        abbreviations=letters.abbreviations(),
    )


def _check_rest(found: Linearization, point: GroupPoint) -> None:
    """A flow does not move the tokens of the point; a map is checked by its heights."""
    for group in point.groups:
        velocity = point.value(found.step, group)
        if any(tidy(value) != 0 for value in velocity.terms.values()):
            raise ValueError(f"the point is not an equilibrium: the velocity of group {group.kind} is {velocity!r}")


@dataclass(frozen=True)
class _Letters:
    """The papers' letters: ``m_i`` for the raw step of a group (``y = m x``), ``b_i`` for its attention balance."""

    found: Linearization
    point: GroupPoint
    heights: dict[str, sp.Expr]
    fixed_point: bool

    def clean(self, value: sp.Expr, kind: str) -> sp.Expr:
        """The value with the norm put in (consensus), or in the letters b and m (two groups)."""
        if len(self.point.groups) == 1:
            m = tidy(self.heights.get(kind, sp.Integer(1)))
            norm = m if self.fixed_point else sp.Abs(m)
            return tidy(value.subs({norm_symbol(kind): norm, raw_symbol(kind): m}))
        m = self._raw(kind)
        norm = m if self.fixed_point else sp.Abs(m)
        return tidy(self._uniform(value, kind)).subs({norm_symbol(kind): norm, raw_symbol(kind): m})

    def _raw(self, kind: str) -> sp.Symbol:
        return sp.Symbol(f"m_{NUMBER[kind]}", real=True, positive=True if self.fixed_point else None)

    def _uniform(self, value: sp.Expr, kind: str) -> sp.Expr:
        """Without scores the balance is that of the sizes: own size ``n(1+b)/2``, other size ``n(1-b)/2``."""
        if self.found.system.score is not None or kind not in NUMBER:
            return value
        own, other = (P, Q) if kind == "plus" else (Q, P)
        b = balance_symbol(NUMBER[kind])
        return value.subs({own: TOKENS * (1 + b) / 2, other: TOKENS * (1 - b) / 2}, simultaneous=True)

    def conditions(self) -> list[sp.Basic]:
        """Where the map is defined, and the point fixed rather than a 2-cycle."""
        relation = sp.StrictGreaterThan if self.fixed_point else sp.Ne
        return [relation(tidy(self._uniform(m, kind)), 0, evaluate=False) for kind, m in self.heights.items()]

    def abbreviations(self) -> tuple[tuple[sp.Symbol, sp.Expr], ...]:
        """``m_i`` and ``b_i`` with what they stand for, in an order in which they can be substituted."""
        if len(self.point.groups) == 1:
            return ()
        listed = [(self._raw(kind), tidy(self._uniform(m, kind))) for kind, m in self.heights.items()]
        for kind, own, other in (("plus", P, Q), ("minus", Q, P)):
            if self.found.system.score is None:
                listed.append((balance_symbol(NUMBER[kind]), (own - other) / (own + other)))
            for (group, _), b in self.point.balances.items():
                if group == kind:
                    e = sp.exp(2 * score_symbol(str(b.name).partition("__")[2]))
                    listed.append((b, (own * e - other) / (own * e + other)))
        return tuple(listed)


NUMBER = {"plus": "1", "minus": "2"}


def tidy(value: sp.Expr) -> sp.Expr:
    """Factored over the rationals with ``sqrt(d)`` as a variable of its own."""
    root = sp.Symbol("_root_d", positive=True)
    return sp.factor(sp.cancel(sp.together(value.subs(DIMENSION, root**2)))).subs(root, sp.sqrt(DIMENSION))


def _entry(found: Linearization, value: sp.Expr, multiplicity: sp.Expr, *more: EigenvalueFamily, **parts: Any) -> Entry:
    """The entry for each direction u; where the value does not depend on u, the directions go into the multiplicity."""
    euclidean = found.system.space is Space.EUCLIDEAN
    count = DIMENSION if euclidean else DIMENSION - 1
    symbols = sorted((s for s in value.free_symbols if s.name.startswith("lambda_ell")), key=lambda s: str(s.name))
    if not symbols:
        return Entry(value, sp.factor(multiplicity * count), more, **parts)
    meaning = "the eigenvalues of the value matrix" if euclidean else "the other eigenvalues of the value matrix"
    run = EigenvalueFamily(symbols[0], count, r"\ell = 1,\dots,d" if euclidean else r"\ell \neq k", meaning)
    return Entry(value, multiplicity, (run, *more), **parts)


def _one_group(found: Linearization, response: Response, letters: _Letters) -> list[Entry]:
    if response.over_mask != 0:
        return [_masked(found, response, letters)]
    common = letters.clean(response.entry("token", "token"), "token")
    apart = letters.clean(response.own, "token")
    return [
        _entry(found, common, sp.Integer(1), title="common motion", eigenvectors=r"\mathbf 1\otimes v_\ell"),
        _entry(
            found,
            apart,
            TOKENS - 1,
            title="disagreement",
            eigenvectors=r"\eta\otimes v_\ell,\ \mathbf 1^\top\eta=0",
        ),
    ]


def _masked(found: Linearization, response: Response, letters: _Letters) -> Entry:
    """One eigenvalue for each eigenvalue of the matrix uniform on the mask; the causal one is triangular: 1/i."""
    if found.mask == "causal":
        run = EigenvalueFamily(TOKEN, TOKENS, r"i = 1,\dots,n", "the tokens")
        value = letters.clean(response.own + response.over_mask / TOKEN, "token")
        return _entry(
            found, value, sp.Integer(1), run, title="token i", eigenvectors=r"\text{triangular in the tokens}"
        )
    run = EigenvalueFamily(
        KAPPA, TOKENS, r"\kappa \in \operatorname{spec}(A)", "eigenvalues of the matrix uniform on the mask"
    )
    value = letters.clean(response.own + response.over_mask * KAPPA, "token")
    return _entry(
        found,
        value,
        sp.Integer(1),
        run,
        title="eigenvector of the mask",
        eigenvectors=r"\eta\otimes v_\ell,\ A\eta=\kappa\eta",
    )


def _two_groups(found: Linearization, responses: dict[str, Response], letters: _Letters) -> list[Entry]:
    entries = []
    for name, kind, size in (("+", "plus", P), ("-", "minus", Q)):
        eigenvectors = rf"\eta\otimes v_\ell,\ \eta\text{{ zero-sum at }}{name}v_k"
        own = letters.clean(responses[kind].own, kind)
        entries.append(_entry(found, own, size - 1, title=f"disagreement at {name}v_k", eigenvectors=eigenvectors))
    kinds = ("plus", "minus")
    block = sp.ImmutableMatrix(
        2, 2, lambda a, b: letters.clean(responses[kinds[a]].entry(kinds[a], kinds[b]), kinds[a])
    )
    trace, determinant = sp.factor(block.trace()), sp.factor(block.det())
    root = sp.sqrt(trace**2 - 4 * determinant)
    pair = r"(\xi_+\mathbf 1_p,\ \xi_-\mathbf 1_q)\otimes v_\ell"
    for sign in (1, -1):
        value = (trace + sign * root) / 2
        entries.append(
            _entry(found, value, sp.Integer(1), title="motion of the group means", eigenvectors=pair, block=block)
        )
    return entries


def _extrinsic(found: Linearization, group: Group, off: Response, letters: _Letters) -> Entry:
    """Perturbations along the point itself; block triangular with the tangent ones, so that only ``own`` counts."""
    if any(letters.clean(value, group.kind) != 0 for value in off.from_mean.values()) or off.over_mask != 0:
        raise ValueError("the extension couples the directions off the sphere: no eigenvalue can be read off")
    return Entry(
        letters.clean(off.own, group.kind),
        group.size,
        title="off the sphere",
        eigenvectors=r"\varepsilon\otimes v_k",
        tangent=False,
        extension=found.extension,
    )
