"""Points ``x_i = sigma_i v`` (any signs) under any mask: the linearization, its matrix in the tokens, closed spectra.

Tested with a left eigenvector u of another eigenvalue, the derivative maps ``eta_i = u^T w_i`` to
``own_i eta_i + sum_h spread^h_i sum_j a^h_ij eta_j``, where ``a^h_ij`` are the attention weights at the point.  So the
spectrum is, for each direction l != k, that of one n x n matrix in the tokens,

    map ``diag(m)^-1 (I + alpha lambda_ell A)``,  flow ``lambda_ell A - lambda_k diag(b)``,

A row-stochastic on the mask, ``b_i = sum_j a_ij sigma_i sigma_j``, ``m_i = 1 + alpha lambda_k b_i`` (with several heads
``sum_h lambda^h A_h``).  Up to an order of the tokens the matrix is block triangular along the strongly connected
parts of the mask; a triangular mask has the diagonal for its spectrum, and a complete part (all of its tokens see each
other and the same tokens outside) has two groups.  :mod:`eigentoken.theory.linearization.signed_spectra` does the rest
for a given mask.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import sympy as sp

from eigentoken.theory.calculus import (
    DIMENSION,
    TOKENS,
    Base,
    Expression,
    Letter,
    Named,
    dot,
    factor,
    normal_form,
    vector,
)
from eigentoken.theory.calculus.atoms import Dot, Exp, Index, MaskEntry, Norm, SumExp
from eigentoken.theory.calculus.derivative import SLOT, substitute
from eigentoken.theory.calculus.expressions import Monomial
from eigentoken.theory.linearization.consensus_spectra import KAPPA, TOKEN, P, Q, balance_symbol, of_head, score_symbol
from eigentoken.theory.linearization.linearize import PERTURBATION, Linearization, linearize
from eigentoken.theory.linearization.spectrum import EigenvalueFamily, Entry, Spectrum
from eigentoken.theory.systems.system import Space, System, Time

__all__ = [
    "SignedResponse",
    "complete_part_spectrum",
    "masked_bipartite_spectrum",
    "signed_response",
    "unmasked_bipartite_spectrum",
]

SIGN = "sigma"
RAW = sp.Symbol("m_i", positive=True)
SAME = sp.Symbol("p_i", integer=True, nonnegative=True)
OTHER = sp.Symbol("q_i", integer=True, nonnegative=True)
#: How many tokens on either side a complete part of the mask sees, its own included.
SEEN_PLUS = sp.Symbol("P", integer=True, positive=True)
SEEN_MINUS = sp.Symbol("Q", integer=True, positive=True)


@dataclass(frozen=True)
class SignedResponse:
    """``eta_i -> own eta_i + sum_h spreads[h] sum_j a^h_ij eta_j``, in the letters ``b^h_i`` and ``m_i``.

    ``balances`` are the letters ``b^h_i = sum_j a^h_ij sigma_i sigma_j``, ``scores`` the numbers ``s_h = v^T M_h v`` (0
    where the weights are uniform); ``raw`` is what ``m_i`` stands for (maps only): ``y_i = m_i x_i``.
    """

    own: sp.Expr
    spreads: tuple[sp.Expr, ...]
    raw: sp.Expr | None
    balances: tuple[sp.Symbol, ...]
    scores: tuple[sp.Expr, ...]

    @property
    def spread(self) -> sp.Expr:
        """The coefficient of the attention average of the only head."""
        (single,) = self.spreads
        return single

    def share(self, head: int, same: sp.Expr, other: sp.Expr, own_side: bool = True) -> sp.Expr:
        """The weight on one token of the own (or the other) side by a token that sees ``same`` and ``other`` tokens."""
        e = sp.exp(2 * self.scores[head])
        return (e if own_side else sp.Integer(1)) / (same * e + other)

    def balance(self, head: int, same: sp.Expr, other: sp.Expr) -> sp.Expr:
        """``b`` of a token that sees ``same`` tokens on its own side and ``other`` on the other one."""
        e = sp.exp(2 * self.scores[head])
        return (same * e - other) / (same * e + other)

    def matrix_latex(self) -> str:
        """The n x n matrix in the tokens of direction l."""
        from eigentoken.theory.printing.scalars import formula

        heads = [""] if len(self.spreads) == 1 else [f"^{{({h})}}" for h in range(1, len(self.spreads) + 1)]
        parts = [_diagonal(formula(self.own), self.own)]
        parts += [f"{_diagonal(formula(c), c)} A{name}" for c, name in zip(self.spreads, heads, strict=True)]
        return "+".join(parts)


def _diagonal(text: str, value: sp.Expr) -> str:
    """A number times the identity, or the diagonal matrix of what depends on the token."""
    depends = any(str(symbol).split("_")[0] in {"b", "m"} for symbol in value.free_symbols)
    return rf"\operatorname{{diag}}_i\bigl({text}\bigr)" if depends else text


def token_balance(head: str = "") -> sp.Symbol:
    """``b_i``, or ``b_i`` of one of several heads."""
    return balance_symbol("i", head)


@cache
def signed_response(system: System, mask: str | None, heads: int | None = None) -> tuple[Linearization, SignedResponse]:
    """The linearization at ``x_i = sigma_i v`` with any signs and any mask; only ``s = v^T M v`` of M enters.

    With several heads v and u are eigenvectors of each of them, as in
    :func:`eigentoken.theory.linearization.consensus_spectra.bipartite_spectrum`.

    >>> from eigentoken.theory.systems.catalogue import system
    >>> found = signed_response(system("attention-map"), "anything")[1]
    >>> found.own, found.spread, found.raw
    (1/m_i, alpha*lambda_ell/m_i, alpha*b_i*lambda_k + 1)
    """
    if system.space is Space.EUCLIDEAN:
        raise ValueError(f"{system.name}: signed points belong to the sphere and the ellipsoid")
    if system.multihead and heads is None:
        raise ValueError(f"{system.name}: heads must be a number for a signed point, got None")
    found = linearize(system, mask=mask, heads=heads, tangent=False)
    numbers = [""] if heads is None else [str(h) for h in range(1, heads + 1)]
    v, u = Base("v"), Base("u")
    metric = found.assumptions.unit["x"]
    gram: dict[Any, sp.Expr] = {(u, (), v): sp.Integer(0)}
    scores: list[sp.Expr] = []
    for number in numbers:
        letters = (Letter(f"{system.score}_{number}" if number else system.score or ""),)
        scores.append(
            sp.Integer(0) if system.score is None else sp.Integer(1) if letters == metric else score_symbol(number)
        )
        gram[v, letters, v] = scores[-1]
    gram[v, metric, v] = sp.Integer(1)
    eigen: dict[Any, sp.Expr] = {}
    for number in numbers if system.value else ():
        name = f"{system.value}_{number}" if number else system.value
        eigen[name, False, "v"] = of_head("lambda_k", number)
        eigen[name, True, "u"] = of_head("lambda_ell", number)
    rules = found.assumptions.extended(
        eigen=eigen, gram=gram, orthogonal={("v", PERTURBATION): metric}, signs=frozenset({SIGN})
    )
    rows = _Rows(tuple(scores), tuple(token_balance(number) for number in numbers))

    def token(index: Index) -> Expression:
        return vector("v") * factor(Named(SIGN, (index,)))

    families: dict[str, Any] = {"x": token}
    raw = None
    if system.time is Time.MAP:
        (definition,) = found.assumptions.definitions.values()
        step = normal_form(substitute(definition, families) * factor(Named(SIGN, (SLOT,))), rules)
        raw = sum((rows.of_step(m) * c for m, c in step.terms.items()), sp.Integer(0))
        families["y"] = lambda index: token(index) * factor(Named("m", (index,)))
    tested = normal_form(dot(vector("u"), substitute(found.derivative, families)), rules)
    own, spreads = sp.Integer(0), [sp.Integer(0)] * len(numbers)
    for monomial, value in tested.terms.items():
        head, number_of = rows.read(monomial)
        if head is None:
            own += number_of * value
        else:
            spreads[head] += number_of * value
    response = SignedResponse(
        sp.factor(own), tuple(sp.factor(each) for each in spreads), raw, rows.balances, rows.scores
    )
    return found, response


@dataclass(frozen=True)
class _Rows:
    """Recognizes rows of attention by the scores of their heads; any other shape is an error, never dropped."""

    scores: tuple[sp.Expr, ...]
    balances: tuple[sp.Symbol, ...]

    def of_step(self, monomial: Monomial) -> sp.Expr:
        """1 for a plain term, ``b_i`` for ``sum_j a_ij sigma_i sigma_j``."""
        if monomial.arrow != ((), Base("v")):
            raise ValueError("the point is not an equilibrium: the step leaves the line of v")
        return self.weights(monomial.factors, monomial.bound)

    def weights(self, factors: Any, bound: tuple[Index, ...]) -> sp.Expr:
        """A scalar made of signs and at most one row of attention."""
        if not factors and not bound:
            return sp.Integer(1)
        signs = [atom for atom, _ in factors if isinstance(atom, Named) and atom.name == SIGN]
        rest = [(atom, power) for atom, power in factors if not (isinstance(atom, Named) and atom.name == SIGN)]
        if len(bound) == 1 and {atom.indices[0] for atom in signs} == {SLOT, bound[0]}:
            head, scale = self.row(rest, bound[0])
            return self.balances[head] * scale
        raise ValueError(f"the factors {factors} are not one row of attention")

    def row(self, factors: list[tuple[Any, int]], index: Index) -> tuple[int, sp.Expr]:
        """The head whose attention weight of the slot token on the index the factors are, and what is left over."""
        if not factors and self.scores == (sp.Integer(0),):
            return 0, TOKENS  # uniform weights without mask are the number 1/n
        sums = [atom for atom, power in factors if isinstance(atom, SumExp) and power == -1]
        exps = [atom for atom, power in factors if isinstance(atom, Exp) and power == 1]
        masks = [atom for atom, power in factors if isinstance(atom, MaskEntry) and power == 1]
        if len(sums) == 1 and len(exps) <= 1 and len(sums) + len(exps) + len(masks) == len(factors):
            (total,) = sums
            below = [(mask.name, mask.query, index) for mask in total.masks]
            above = [(mask.name, mask.query, mask.key) for mask in masks]
            score = _score(total.exponent, total.bound)
            same = score == (_score(exps[0].exponent, index) if exps else sp.Integer(0))
            if same and above == below and all(mask.query == SLOT for mask in masks) and score in self.scores:
                return self.scores.index(score), sp.Integer(1)
        raise ValueError(f"the factors {factors} are not one row of attention")

    def read(self, monomial: Monomial) -> tuple[int | None, sp.Expr]:
        """A term as a number times ``eta_i`` (``None``), or times the attention average of eta of one head."""
        dots = [atom for atom, power in monomial.factors if isinstance(atom, Dot) and power == 1]
        rest = []
        number = sp.Integer(1)
        for atom, power in monomial.factors:
            if isinstance(atom, Norm) or (isinstance(atom, Named) and atom.name == "m"):
                number *= RAW**power
            elif not isinstance(atom, Dot):
                rest.append((atom, power))
        if len(dots) == 1 and not dots[0].letters:
            (base,) = (base for base in (dots[0].left, dots[0].right) if base.name == PERTURBATION)
            if base.indices == (SLOT,):
                return None, number * self.weights(tuple(rest), monomial.bound)
            if base.indices == monomial.bound:
                head, scale = self.row(rest, monomial.bound[0])
                return head, number * scale
        term = Expression({monomial: sp.Integer(1)})
        raise ValueError(f"the term {term!r} is not explained by the symmetry of the point")


def _score(exponent: Any, key: Index) -> sp.Expr | None:
    """``s`` where the exponent is ``s sigma_i sigma_key``, 0 where it is empty, ``None`` for anything else."""
    if not exponent:
        return sp.Integer(0)
    if len(exponent) != 1:
        return None
    ((monomial, value),) = exponent
    signs = {(Named(SIGN, (SLOT,)), 1), (Named(SIGN, (key,)), 1)}
    return value if set(monomial.factors) == signs and not monomial.bound and monomial.arrow is None else None


# -- closed spectra ---------------------------------------------------------------------------------------------------


def _names(symbol: str, response: SignedResponse) -> list[sp.Symbol]:
    many = len(response.spreads) > 1
    return [of_head(symbol, str(h + 1) if many else "") for h in range(len(response.spreads))]


def directions(value: sp.Expr, response: SignedResponse) -> EigenvalueFamily | None:
    """The run over the other eigendirections, where the value depends on it."""
    first = next((each for each in _names("lambda_ell", response) if each in value.free_symbols), None)
    if first is None:
        return None
    return EigenvalueFamily(first, DIMENSION - 1, r"\ell \neq k", "the other eigenvalues of the value matrix")


def _conditions(raw: sp.Expr | None) -> tuple[sp.Basic, ...]:
    return () if raw is None else (sp.Gt(raw, 0, evaluate=False),)


@cache
def masked_bipartite_spectrum(system: System, mask: str = "causal", heads: int | None = None) -> Spectrum:
    """The spectrum at ``x_i = sigma_i v`` with any order of the signs, under any mask.

    ``p_i`` of the tokens that token i sees are on its side (itself included, if it sees itself), ``q_i`` on the other.
    ``"causal"`` and ``"triangular"`` (every token sees itself, and the mask is triangular in some order): the diagonal.
    For any other name: the eigenvalues kappa of the n x n matrix in the tokens, for each of the d - 1 directions.
    """
    found, response = signed_response(system, mask, heads)
    abbreviations: list[tuple[sp.Symbol, sp.Expr]] = []
    if response.raw is not None:
        abbreviations.append((RAW, response.raw))
    for h, b in enumerate(response.balances):
        abbreviations.append((b, response.balance(h, SAME, OTHER)))
    if mask in {"causal", "triangular"}:
        shares = [spread * response.share(h, SAME, OTHER) for h, spread in enumerate(response.spreads)]
        value = response.own + sp.Add(*shares)
        tokens = EigenvalueFamily(TOKEN, TOKENS, r"i = 1,\dots,n", "the tokens")
        run = directions(value, response)
        entry = Entry(
            value,
            sp.Integer(1) if run else DIMENSION - 1,
            (tokens,) if run is None else (run, tokens),
            "token i",
            r"\text{triangular in the tokens}",
        )
    else:
        counted = EigenvalueFamily(
            KAPPA,
            sp.expand(TOKENS * (DIMENSION - 1)),
            rf"\kappa \in \operatorname{{spec}}\Bigl({response.matrix_latex()}\Bigr),\ \ell \neq k",
            "eigenvalues of the n x n matrices in the tokens, one matrix for each other direction",
        )
        entry = Entry(KAPPA, sp.Integer(1), (counted,), "token matrix", r"\eta\otimes v_\ell,\ B_\ell\eta=\kappa\eta")
    return Spectrum(
        system=system.name,
        point=f"bipartite, {mask} mask",
        entries=(entry,),
        dimension=TOKENS * (DIMENSION - 1),
        flow=found.system.time is Time.FLOW,
        conditions=_conditions(response.raw),
        abbreviations=tuple(abbreviations),
    )


@cache
def complete_part_spectrum(system: System, heads: int | None = None) -> Spectrum:
    """What one complete part of a block triangular mask adds to the spectrum at a bipartite point, in symbols.

    The part has p tokens at v and q at -v, which all see each other and the same P tokens at v and Q at -v in all
    (``P >= p``, ``Q >= q``: its own and earlier parts).  With ``P = p``, ``Q = q`` this is full attention; with
    parts of one token it is the causal spectrum.
    """
    found, response = signed_response(system, "block triangular", heads)
    sides = {"1": (P, Q, SEEN_PLUS, SEEN_MINUS), "2": (Q, P, SEEN_MINUS, SEEN_PLUS)}
    many = len(response.spreads) > 1
    abbreviations: list[tuple[sp.Symbol, sp.Expr]] = []
    balances: list[tuple[sp.Symbol, sp.Expr]] = []
    own: dict[str, sp.Expr] = {}
    rows: list[list[sp.Expr]] = []
    for side, (here, there, seen, seen_other) in sides.items():
        letters = [balance_symbol(side, str(h + 1) if many else "") for h in range(len(response.spreads))]
        table: dict[sp.Symbol, sp.Expr] = dict(zip(response.balances, letters, strict=True))
        for h, letter in enumerate(letters):
            balances.append((letter, response.balance(h, seen, seen_other)))
        if response.raw is not None:
            raw = sp.Symbol(f"m_{side}", positive=True)
            abbreviations.append((raw, response.raw.subs(table)))
            table[RAW] = raw
        own[side] = response.own.subs(table)
        to_own = to_other = sp.Integer(0)
        for spread, letter in zip(response.spreads, letters, strict=True):
            to_own += spread.subs(table) * here * (1 + letter) / (2 * seen)
            to_other += spread.subs(table) * there * (1 - letter) / (2 * seen_other)
        pair = [sp.factor(own[side] + to_own), sp.factor(to_other)]
        rows.append(pair if side == "1" else pair[::-1])
    block = sp.ImmutableMatrix(rows)
    entries = []
    for side, sign in (("1", "+"), ("2", "-")):
        size = sides[side][0]
        eigenvectors = rf"\eta\otimes v_\ell,\ \eta\text{{ zero-sum at }}{sign}v_k"
        count = sp.factor((size - 1) * (DIMENSION - 1))
        entries.append(Entry(own[side], count, (), f"disagreement at {sign}v_k", eigenvectors))
    trace, determinant = sp.factor(block.trace()), sp.factor(block.det())
    root = sp.sqrt(trace**2 - 4 * determinant)
    run = directions(trace, response)
    for turn in (1, -1):
        entries.append(
            Entry(
                (trace + turn * root) / 2,
                sp.Integer(1) if run else DIMENSION - 1,
                () if run is None else (run,),
                "motion of the group means",
                r"(\xi_+\mathbf 1_p,\ \xi_-\mathbf 1_q)\otimes v_\ell",
                block=block,
            )
        )
    raws = tuple(sp.Gt(meaning, 0, evaluate=False) for _, meaning in abbreviations)
    return Spectrum(
        system=system.name,
        point="complete part of a mask, bipartite",
        entries=tuple(entries),
        dimension=(P + Q) * (DIMENSION - 1),
        flow=found.system.time is Time.FLOW,
        conditions=raws,
        abbreviations=(*abbreviations, *balances),
    )


@cache
def unmasked_bipartite_spectrum(system: System, heads: int | None = None) -> Spectrum:
    """Full attention as one complete part that sees itself alone; also where the score is a number (``M = W``, s = 1).

    >>> from eigentoken.theory.systems.catalogue import system
    >>> unmasked_bipartite_spectrum(system("ellipsoid-flow")).tangent[0].value
    -b_1/sqrt(d)
    """
    part = complete_part_spectrum(system, heads)
    table = {SEEN_PLUS: P, SEEN_MINUS: Q}
    entries = []
    for entry in part.entries:
        block = None if entry.block is None else entry.block.subs(table).applyfunc(sp.factor)
        entries.append(replace(entry, value=entry.value.subs(table), block=block))
    block = next(entry.block for entry in entries if entry.block is not None)
    trace, determinant = sp.factor(block.trace()), sp.factor(block.det())
    for place, sign in ((2, 1), (3, -1)):
        entries[place] = replace(entries[place], value=(trace + sign * sp.sqrt(trace**2 - 4 * determinant)) / 2)
    return replace(
        part,
        point="bipartite",
        entries=tuple(entries),
        dimension=TOKENS * (DIMENSION - 1),
        relations=((TOKENS, P + Q),),
        abbreviations=tuple((name, meaning.subs(table)) for name, meaning in part.abbreviations),
    )
