"""The spectrum at ``x_i = sigma_i v`` for given signs and a given mask: closed wherever the mask allows it.

For each direction l the matrix in the tokens (:mod:`eigentoken.theory.linearization.masked_spectra`) is written out
with symbols for ``alpha``, the eigenvalues and the scores s.  Tokens on one side that the mask treats alike are taken
together (zero-sum parts and the quotient), and the quotient is split along the strongly connected parts of the mask.  Parts
with one or two groups are closed; where ``own`` and ``spread`` are the same for all tokens of a part (always at consensus),
its eigenvalues are ``own + spread kappa`` with the algebraic numbers kappa in the spectrum of the attention matrix; the
others are the roots of the characteristic polynomial of the printed block.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import sympy as sp

from eigentoken.theory.calculus import DIMENSION
from eigentoken.theory.classification.jacobian_spectrum import interchangeable, reduced_blocks
from eigentoken.theory.linearization.consensus_spectra import KAPPA
from eigentoken.theory.linearization.masked_spectra import RAW, SignedResponse, directions, signed_response
from eigentoken.theory.linearization.spectrum import EigenvalueFamily, Entry, Spectrum
from eigentoken.theory.systems.algebra import causal_mask
from eigentoken.theory.systems.system import System, Time

__all__ = ["attention_at", "signed_spectrum", "token_matrix"]

Rows = Sequence[Sequence[int]]


def attention_at(response: SignedResponse, head: int, signs: Sequence[int], mask: Rows) -> list[list[sp.Expr]]:
    """The attention matrix of one head at the signed point, with ``exp(2 s)`` in symbols."""
    rows = []
    for i, own in enumerate(signs):
        same, other = _seen(signs, mask, i)
        rows.append(
            [
                response.share(head, same, other, signs[j] == own) if mask[i][j] else sp.Integer(0)
                for j in range(len(signs))
            ]
        )
    return rows


def _seen(signs: Sequence[int], mask: Rows, i: int) -> tuple[sp.Integer, sp.Integer]:
    """How many tokens token i sees on its own side and on the other."""
    same = sum(1 for j, seen in enumerate(mask[i]) if seen and signs[j] == signs[i])
    return sp.Integer(same), sp.Integer(sum(map(bool, mask[i])) - same)


def token_matrix(response: SignedResponse, signs: Sequence[int], mask: Rows) -> sp.ImmutableMatrix:
    """The n x n matrix of direction l: ``diag(own) + sum_h diag(spread_h) A_h``."""
    n = len(signs)
    own, spreads = _coefficients(response, signs, mask)
    weights = [attention_at(response, head, signs, mask) for head in range(len(spreads))]

    def entry(i: int, j: int) -> sp.Expr:
        pushed = [spread[i] * weight[i][j] for spread, weight in zip(spreads, weights, strict=True)]
        return sp.Add(own[i] if i == j else sp.Integer(0), *pushed)

    tidy = _tidy(response)
    return sp.ImmutableMatrix(n, n, lambda i, j: tidy(entry(int(i), int(j))))


def _tidy(response: SignedResponse) -> Callable[[sp.Expr], sp.Expr]:
    """Factored for one head; with several heads the exponentials differ and a common denominator only grows."""
    return sp.factor if len(response.spreads) == 1 else sp.sympify


def _coefficients(
    response: SignedResponse, signs: Sequence[int], mask: Rows
) -> tuple[list[sp.Expr], list[list[sp.Expr]]]:
    """``own_i`` and ``spread^h_i`` with ``b_i`` and ``m_i`` written out."""
    own, spreads = [], [[] for _ in response.spreads]  # type: tuple[list[sp.Expr], list[list[sp.Expr]]]
    tidy = _tidy(response)
    for i in range(len(signs)):
        same, other = _seen(signs, mask, i)
        table = {b: response.balance(head, same, other) for head, b in enumerate(response.balances)}
        if response.raw is not None:
            table[RAW] = response.raw.subs(table)
        own.append(tidy(response.own.subs(table)))
        for head, spread in enumerate(response.spreads):
            spreads[head].append(tidy(spread.subs(table)))
    return own, spreads


def _checked(signs: Sequence[int], mask: Rows | None) -> Rows:
    if not signs or any(sign not in (1, -1) for sign in signs):
        raise ValueError(f"signs must be a list of 1 and -1, got {list(signs)}: one sign a token")
    n = len(signs)
    rows = [[1] * n] * n if mask is None else [list(row) for row in mask]
    if len(rows) != n or any(len(row) != n or any(entry not in (0, 1) for entry in row) for row in rows):
        raise ValueError(f"mask must be {n} x {n} with entries 0 and 1 for {n} signs, got {mask}: match them")
    for i, row in enumerate(rows, start=1):
        if not any(row):
            raise ValueError(f"mask row {i} lets token {i} attend to nothing: give each row at least one 1")
    return rows


def signed_spectrum(
    system: System, signs: Sequence[int], mask: Rows | None = None, heads: int | None = None
) -> Spectrum:
    """The spectrum at ``x_i = signs_i v`` under the mask (rows of 0 and 1; ``None``: full), in symbols.

    Two tokens that see only each other: at consensus the attention matrix has the eigenvalues 1 and -1.

    >>> from eigentoken.theory.systems.catalogue import system
    >>> [entry.value for entry in signed_spectrum(system("oja-flow"), [1, 1], [[0, 1], [1, 0]]).tangent]
    [-lambda_ell - lambda_k, lambda_ell - lambda_k]
    """
    rows = _checked(signs, mask)
    found, response = signed_response(system, None if mask is None else "given", heads)
    n = len(signs)
    whole = token_matrix(response, signs, rows)
    groups = interchangeable(signs, tuple(tuple(row) for row in rows))
    entries: list[Entry] = []
    for block, count in reduced_blocks(whole.tolist(), groups, 1):
        for entry in _block_entries(response, sp.ImmutableMatrix(block), count):
            _collect(entries, entry)
    raws: list[sp.Basic] = []
    if response.raw is not None:
        for i in range(n):
            same, other = _seen(signs, rows, i)
            table = {b: response.balance(head, same, other) for head, b in enumerate(response.balances)}
            raw = _tidy(response)(response.raw.subs(table))
            if not raw.is_positive:  # what is always true is no condition
                raws.append(sp.Gt(raw, 0, evaluate=False))
    return Spectrum(
        system=system.name,
        point=f"signs {''.join('+' if sign > 0 else '-' for sign in signs)}{_mask_words(mask)}",
        entries=tuple(entries),
        dimension=n * (DIMENSION - 1),
        flow=found.system.time is Time.FLOW,
        conditions=tuple(dict.fromkeys(raws)),
    )


def _mask_words(mask: Rows | None) -> str:
    if mask is None or all(all(row) for row in mask):
        return ""
    rows = tuple(tuple(int(entry) for entry in row) for row in mask)
    return (
        ", causal mask"
        if rows == causal_mask(len(rows))
        else f", mask {' '.join(''.join(map(str, row)) for row in rows)}"
    )


def _collect(entries: list[Entry], entry: Entry) -> None:
    """The entry, or more of a known one."""
    for place, known in enumerate(entries):
        if known.value == entry.value and known.runs == entry.runs and known.block == entry.block:
            total = sp.factor(known.multiplicity + entry.multiplicity)
            entries[place] = Entry(entry.value, total, entry.runs, entry.title, entry.eigenvectors, block=entry.block)
            return
    entries.append(entry)


def _block_entries(response: SignedResponse, block: sp.ImmutableMatrix, count: int) -> list[Entry]:
    size, tidy = block.rows, _tidy(response)
    title = "one group of tokens" if size == 1 else f"{size} groups of tokens"

    def entry(value: sp.Expr, within: sp.ImmutableMatrix | None = None) -> Entry:
        run = directions(value if within is None else sp.Add(*within), response)
        runs = () if run is None else (run,)
        total = sp.Integer(count) if run else count * (DIMENSION - 1)
        return Entry(value, total, runs, title, r"\eta\otimes v_\ell", block=within)

    if size == 1:
        return [entry(tidy(block[0, 0]))]
    algebraic = _through_attention(response, block)
    if algebraic is not None:
        return [entry(sp.factor(value)) for value in algebraic]
    if size == 2:
        trace = tidy(block[0, 0] + block[1, 1])
        determinant = tidy(block[0, 0] * block[1, 1] - block[0, 1] * block[1, 0])
        root = sp.sqrt(trace**2 - 4 * determinant)
        return [entry((trace + turn * root) / 2, block) for turn in (1, -1)]
    run = directions(sp.Add(*block), response)
    roots = EigenvalueFamily(
        KAPPA, sp.Integer(size), r"\kappa \in \operatorname{spec}(B_\ell)", "eigenvalues of the block"
    )
    runs = (roots,) if run is None else (run, roots)
    total = sp.Integer(count) if run else count * (DIMENSION - 1)
    return [Entry(KAPPA, total, runs, title, r"\eta\otimes v_\ell", block=block)]


def _through_attention(response: SignedResponse, block: sp.ImmutableMatrix) -> list[sp.Expr] | None:
    """``own + spread kappa`` where the block is ``own I + spread A`` with a rational matrix A; else ``None``.

    own is the block at ``lambda_ell = 0``; a common factor of the rest that is free of the tokens is the spread.
    """
    if len(response.spreads) != 1:
        return None
    size = block.rows
    letters = [symbol for symbol in block.free_symbols if symbol.name.startswith("lambda_ell")]
    own = block.subs(dict.fromkeys(letters, 0)) if letters else sp.zeros(size)
    base = own[0, 0]
    if any(sp.cancel(own[i, j] - (base if i == j else 0)) != 0 for i in range(size) for j in range(size)):
        return None
    rest = (block - own).applyfunc(sp.cancel)
    scale = next((entry for entry in rest if entry != 0), None)
    if scale is None:
        return None
    ratios = rest.applyfunc(lambda entry: sp.cancel(entry / scale))
    if not all(entry.is_Rational for entry in ratios):
        return None
    z = sp.Symbol("z")
    polynomial = sp.Poly(sp.Matrix(ratios).charpoly(z).as_expr(), z)
    found: list[sp.Expr] = []
    for factor, multiplicity in polynomial.factor_list()[1]:
        for root in _roots(factor):
            found += [base + scale * root] * multiplicity
    return found


def _roots(factor: Any) -> list[sp.Expr]:
    """Radicals for degree 1 and 2 and for binomials, indexed algebraic numbers for others."""
    if factor.degree() <= 2 or len(factor.terms()) == 2:
        listed = sp.roots(factor)
        if sum(listed.values()) == factor.degree():
            return list(listed)
    return list(factor.all_roots(radicals=False))
