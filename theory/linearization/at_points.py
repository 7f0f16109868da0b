"""The front door of this room: the spectrum and the criteria of stability of a system at a kind of point.

``spectrum("attention-map", at="bipartite")`` chooses the derivation by the system and the place; what has no closed form is
refused in one line that says which ones there are.  Everything is for symbolic n and d.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import sympy as sp

from eigentoken.theory.linearization.attention_polygons import uniform_polygon_spectrum
from eigentoken.theory.linearization.bipartite_stability import (
    bipartite_criterion,
    bipartite_last,
    bipartite_other,
    identity_bipartite,
    oja_bipartite,
)
from eigentoken.theory.linearization.circle_spectra import circle_spectrum
from eigentoken.theory.linearization.consensus_spectra import bipartite_spectrum, consensus_spectrum, zero_spectrum
from eigentoken.theory.linearization.criterion import Criterion
from eigentoken.theory.linearization.linearize import NoClosedForm
from eigentoken.theory.linearization.masked_spectra import (
    complete_part_spectrum,
    masked_bipartite_spectrum,
    unmasked_bipartite_spectrum,
)
from eigentoken.theory.linearization.masked_stability import masked_bipartite_criterion, masked_consensus_criterion
from eigentoken.theory.linearization.polygonal_spectra import antipodal_spectrum, polygonal_spectrum
from eigentoken.theory.linearization.polygonal_stability import antipodal_criterion, polygon_criterion
from eigentoken.theory.linearization.signed_spectra import signed_spectrum
from eigentoken.theory.linearization.spectrum import Spectrum
from eigentoken.theory.linearization.stability import (
    consensus_criterion,
    consensus_set_criterion,
    euclidean_criterion,
    instability_of_other_consensus,
    nonsymmetric_criterion,
    two_cycle_criterion,
)
from eigentoken.theory.printing.scalars import formula
from eigentoken.theory.systems.algebra import causal_mask
from eigentoken.theory.systems.catalogue import SYSTEMS
from eigentoken.theory.systems.catalogue import system as system_named
from eigentoken.theory.systems.suggestions import meant
from eigentoken.theory.systems.system import Normalisation, Space, System, Time

__all__ = ["MASKS", "PLACES", "closed_forms", "spectrum"]

#: The places, each with what it is.
PLACES: Mapping[str, str] = {
    "consensus": "all tokens at one eigenvector v_k of the value matrix (of several heads: of their sum)",
    "bipartite": "p tokens at v_k and q at -v_k; under a mask any order of the signs",
    "polygon": "no token is pushed: the tokens (Oja) or their attention averages sum to zero",
    "antipodal": "half of the tokens at z, half at -z, with z^T M z = 0: the attention polygons of rank one",
    "zero": "all tokens at 0, in Euclidean space",
    "two-cycle": "the cycle {v_k, -v_k} of a map whose step is so long that it turns v_k round",
    "circle": "consensus on the circle of a complex pair of eigenvalues a + i b",
}
#: The masks, each with what it is; any other name is a mask of which nothing is known.
MASKS: Mapping[str, str] = {
    "full": "every token sees every token",
    "causal": "token i sees tokens j <= i",
    "triangular": "every token sees itself, and the mask is triangular in some order of the tokens",
    "blocks": "one complete part of a block triangular mask: its tokens see each other and the same others",
    "any": "any 0/1 matrix whose rows are not empty",
}
_MASKED = {"consensus": ("full", "causal", "any"), "bipartite": tuple(MASKS)}
MOST_HEADS = 4


@dataclass(frozen=True)
class _Question:
    """What is asked, with every default written out."""

    system: System
    at: str
    mask: str
    heads: int | None
    symmetric: bool

    @property
    def named_mask(self) -> str | None:
        """The mask as the derivations want it: ``None`` is the system's own."""
        return None if self.mask == self.system.mask else self.mask


def closed_forms(system: System | str) -> dict[str, tuple[str, ...]]:
    """The places at which the system has a spectrum in closed form, each with the masks.

    >>> closed_forms("token-flow")
    {'consensus': ('full', 'causal', 'any'), 'polygon': ('full',), 'zero': ('full',)}
    """
    listed = system_named(system)
    found = {at: tuple(mask for mask in MASKS if _obstacle(listed, at, mask) is None) for at in PLACES}
    return {at: masks for at, masks in found.items() if masks}


def spectrum(
    system: System | str,
    at: str = "consensus",
    *,
    mask: str | Sequence[Sequence[int]] | None = None,
    heads: int | None = None,
    symmetric: bool = True,
    signs: str | Sequence[int] | None = None,
) -> Spectrum:
    """The eigenvalues of the linearization at a kind of point, for symbolic n and d, with the criteria of stability.

    ``at`` is one of ``PLACES``, ``mask`` one of ``MASKS`` (default: the system's own).  ``heads`` is the number of heads, which a
    bipartite point of a system with several heads needs.  Without ``symmetric`` the criteria are for a value matrix with complex
    eigenvalues.  ``signs`` (``"++-"`` or ``[1, 1, -1]``) asks for one bipartite point of so many tokens, under a named mask or
    one given by its rows.  What has no closed form raises :class:`NoClosedForm` with one line.

    >>> found = spectrum("oja-flow")
    >>> [(entry.value, entry.multiplicity) for entry in found.tangent]
    [(lambda_ell - lambda_k, 1), (-lambda_k, (d - 1)*(n - 1))]
    >>> found.criteria[0].condition
    lambda_1 > 0
    """
    listed = system_named(system)
    if signs is not None:
        return _at_signs(listed, at, mask, heads, signs)
    if mask is not None and not isinstance(mask, str):
        what = "rows" if hasattr(mask, "__iter__") else repr(mask)
        raise ValueError(f"mask must be a name where no signs are given, got {what}: give signs, one for each token")
    asked = _asked(listed, at, mask, heads, symmetric)
    found = _derived(asked)
    return replace(found, criteria=_criteria(asked, found), notes=(*found.notes, *_letters_told(asked, found)))


# -- what is asked ----------------------------------------------------------------------------------------------------


def _asked(listed: System, at: str, mask: str | None, heads: int | None, symmetric: bool) -> _Question:
    if not isinstance(at, str) or at not in PLACES:
        raise ValueError(f"unknown place {at!r}: {meant(at, PLACES)}")
    if mask is not None and mask not in MASKS:
        raise ValueError(f"unknown mask {mask!r}: {meant(mask, MASKS)}")
    chosen = listed.mask if mask is None else mask
    obstacle = _obstacle(listed, at, chosen)
    if obstacle is not None:
        raise NoClosedForm(f"{_where(listed, at, chosen)}: {obstacle}; {_instead(listed, at)}")
    heads = _head_count(heads)
    if heads is not None and (not listed.multihead or not 1 <= heads <= MOST_HEADS):
        expected = f"from 1 to {MOST_HEADS}" if listed.multihead else "left out: the system has one head"
        raise ValueError(f"heads of {listed.name} must be {expected}, got {heads}")
    if at == "bipartite" and listed.multihead and heads is None:
        raise ValueError(f"heads must be given for a bipartite point of {listed.name}: say how many, for example 2")
    return _Question(listed, at, chosen, heads, symmetric)


def _head_count(heads: object) -> int | None:
    plain = heads.item() if hasattr(heads, "item") and getattr(heads, "shape", None) == () else heads
    if plain is not None and (isinstance(plain, bool) or not isinstance(plain, int)):
        raise ValueError(f"heads must be a whole number, got {heads!r}")
    return plain


def _where(listed: System, at: str, mask: str) -> str:
    masked = "" if mask == listed.mask else f" under the mask {mask!r}"
    return f"{listed.name} has no closed form at {at}{masked}"


def _instead(listed: System, at: str) -> str:
    """Which closed forms there are."""
    own = closed_forms(listed)
    if not own:
        return f"closed forms exist for {', '.join(SYSTEMS)} (classify gives the spectrum of one exact point)"
    told = ", ".join(own)
    if at in own:
        return f"at {at} it has one under {' and '.join(own[at])} attention"
    others = [each.name for each in SYSTEMS.values() if at not in own and at in closed_forms(each)]
    return f"it has one at {told}" + (f"; at {at} there is one for {', '.join(others)}" if others else "")


def _obstacle(listed: System, at: str, mask: str) -> str | None:
    """Why there is no closed form; ``None`` where there is one."""
    if listed.rotary is not None:
        return "its scores depend on the positions of the tokens"
    if listed.positions != "none" or listed.further:
        what = "knows the positions of the tokens" if listed.positions != "none" else "has parameters beside F, M and W"
        return f"its equation {what}"
    if listed.space is Space.EUCLIDEAN and listed.time is Time.MAP:
        return "maps are derived on the sphere and the ellipsoid"
    if listed.normalisation is Normalisation.BEFORE:
        return "it normalises before the sublayer"
    if not listed.standard:
        return "it has an equation of its own, and the closed forms are derived from the papers' one"
    if listed.mask != "full" and mask != listed.mask:
        return f"its mask is {listed.mask} by definition"
    if mask not in _MASKED.get(at, (listed.mask if at in _MASKED else "full",)):
        return f"the point is known with {', '.join(_MASKED.get(at, ('full',)))} attention only"
    one_head = "its derivation needs one head of full attention with a value matrix"
    plain = listed.space is not Space.ELLIPSOID and not listed.over_root_d
    other_sums = "its derivation needs weights that sum to 1, and tokens that are on no ellipsoid"
    reasons: dict[str, tuple[bool, str]] = {
        "bipartite": (listed.space is not Space.EUCLIDEAN, "points at v and -v belong to the sphere and the ellipsoid"),
        "polygon": (not listed.multihead and listed.value is not None, one_head),
        "antipodal": (
            listed.space is Space.SPHERE and not listed.multihead and None not in (listed.value, listed.score),
            "antipodal attention polygons belong to one head with scores on the sphere",
        ),
        "zero": (listed.space is Space.EUCLIDEAN, f"0 is not a point of the {listed.space}"),
        "two-cycle": (
            listed.time is Time.MAP and listed.value is not None,
            "2-cycles belong to maps, and to a value matrix with a negative eigenvalue",
        ),
        "circle": (
            listed.time is Time.MAP and listed.space is Space.SPHERE and listed.value is not None,
            "the circle is derived for maps on the sphere",
        ),
    }
    fine, reason = reasons.get(at, (True, ""))
    if fine and at in ("polygon", "antipodal", "circle") and not plain:
        return other_sums
    if fine and at == "polygon" and listed.space is Space.EUCLIDEAN and listed.score is None:
        return "without scores and normalisation the flow is linear: its equation is its own spectrum"
    return None if fine else reason


# -- the derivations --------------------------------------------------------------------------------------------------


def _derived(asked: _Question) -> Spectrum:
    try:
        return _DERIVATIONS[asked.at](asked)
    except (ValueError, TypeError, AttributeError, NotImplementedError) as problem:
        known = SYSTEMS.get(asked.system.name) is asked.system
        if known or isinstance(problem, NoClosedForm):
            raise
        where = _where(asked.system, asked.at, asked.mask)
        raise NoClosedForm(f"{where}: {problem}; classify gives the spectrum of one exact point") from problem


#: What the letters of a point are, by name; a letter that is defined in the formulas is not told again.
_TOLD = {
    "p": r"$p$ tokens are at $v_k$ and $q$ at $-v_k$",
    "p_i": r"of the tokens that token $i$ sees, $p_i$ are on its side and $q_i$ on the other",
    "P": r"the tokens of the part see $P$ tokens at $v_k$ and $Q$ at $-v_k$ in all, their own included",
}


def _letters_told(asked: _Question, found: Spectrum) -> tuple[str, ...]:
    """The letters in the formulas that the formulas do not define, with what they stand for."""
    system = asked.system
    parts: list[sp.Basic] = [each.value for each in found.tangent]
    parts += [each.block for each in found.tangent if each.block is not None]
    parts += [*found.conditions, *(meaning for _, meaning in found.abbreviations)]
    letters = {str(symbol) for part in parts for symbol in part.free_symbols}
    told = [text for letter, text in _TOLD.items() if letter in letters]
    if any(letter.partition("__")[0] == "s" for letter in letters):
        many = asked.heads is not None
        left, score = ("s^{(h)}", f"{system.score}_h") if many else ("s", str(system.score))
        told.append(rf"${left} = v_k^\top {score} v_k$" + (" for head $h$" if many else ""))
    if asked.mask == "any":
        if asked.at == "consensus" or system.score is None:
            told.append("$A$ is the mask with each row divided by its sum")
        elif asked.heads:
            told.append("$A^{(h)}$ is the matrix of attention of head $h$ at the point")
        else:
            told.append("$A$ is the matrix of attention at the point")
    return tuple(told)


def _consensus(asked: _Question) -> Spectrum:
    found = consensus_spectrum(asked.system, mask=asked.named_mask)
    if asked.system.space is not Space.EUCLIDEAN:
        return found
    note = f"the common value $z$ of the tokens is arbitrary; it is an equilibrium where ${asked.system.value} z = 0$"
    return replace(found, notes=(note,))


def _bipartite(asked: _Question) -> Spectrum:
    system, heads = asked.system, asked.heads
    if asked.mask == "blocks":
        return complete_part_spectrum(system, heads)
    if asked.mask != "full":
        return masked_bipartite_spectrum(system, asked.mask, heads)
    if system.score is not None and system.score == system.metric:
        return unmasked_bipartite_spectrum(system, heads)
    return bipartite_spectrum(system, heads=heads)


def _polygon(asked: _Question) -> Spectrum:
    plain = asked.system.score is None
    return polygonal_spectrum(asked.system) if plain else uniform_polygon_spectrum(asked.system)


def _two_cycle(asked: _Question) -> Spectrum:
    found = consensus_spectrum(asked.system, fixed_point=False)
    turned = formula(found.conditions[0].lhs)
    note = f"multipliers of one layer up to sign; those of the cycle are their squares where ${turned} < 0$"
    return replace(found, point="two-cycle", notes=(note,))


_DERIVATIONS: Mapping[str, Callable[[_Question], Spectrum]] = {
    "consensus": _consensus,
    "bipartite": _bipartite,
    "polygon": _polygon,
    "antipodal": lambda asked: antipodal_spectrum(asked.system),
    "zero": lambda asked: zero_spectrum(asked.system),
    "two-cycle": _two_cycle,
    "circle": lambda asked: circle_spectrum(asked.system),
}


def _at_signs(
    listed: System,
    at: str,
    mask: str | Sequence[Sequence[int]] | None,
    heads: int | None,
    signs: str | Sequence[int],
) -> Spectrum:
    if at not in ("bipartite", "consensus"):
        raise ValueError(f"signs belong to a bipartite point, got at={at!r}: leave one of them out")
    asked = _asked(listed, "bipartite", "any" if listed.mask == "full" else None, heads, True)
    if not hasattr(signs, "__iter__"):
        raise ValueError(f"signs must be + and -, one for each token, got {signs!r}: write for example '++-'")
    given = [{"+": 1, "-": -1}.get(each, 0) if isinstance(each, str) else each for each in signs]
    if not given or any(each not in (1, -1) for each in given):
        raise ValueError(f"signs must be + and -, one for each token, got {signs!r}: write for example '++-'")
    rows: Sequence[Sequence[int]] | None
    if isinstance(mask, str) or mask is None:
        named = listed.mask if mask is None else mask
        if named not in ("full", "causal"):
            raise ValueError(f"mask must be full, causal or rows of 0 and 1 where signs are given, got {named!r}")
        rows = None if named == "full" else causal_mask(len(given))
    elif listed.mask != "full":
        raise ValueError(f"the mask of {listed.name} is {listed.mask} by definition, got rows: leave it out")
    else:
        rows = mask
    return signed_spectrum(asked.system, given, rows, heads)


# -- the criteria -----------------------------------------------------------------------------------------------------


def _criteria(asked: _Question, found: Spectrum) -> tuple[Criterion, ...]:
    system = asked.system
    if asked.at in ("polygon", "antipodal"):
        return (polygon_criterion(system, found) if asked.at == "polygon" else antipodal_criterion(system),)
    if asked.at == "zero":
        return (euclidean_criterion(system, found),)
    if asked.at == "consensus":
        return _consensus_criteria(asked, found)
    if asked.at == "bipartite" and asked.symmetric:
        return _bipartite_criteria(asked)
    return (two_cycle_criterion(system),) if asked.at == "two-cycle" and asked.symmetric else ()


def _consensus_criteria(asked: _Question, found: Spectrum) -> tuple[Criterion, ...]:
    system, mask = asked.system, asked.named_mask
    if system.value is None:
        return (consensus_set_criterion(system, mask=mask),)
    if system.space is Space.EUCLIDEAN:
        return (euclidean_criterion(system, found),) if asked.symmetric else ()
    if asked.mask == "any":
        return (masked_consensus_criterion(system),) if asked.symmetric else ()
    if asked.mask == "causal":
        return (consensus_criterion(system, mask="causal"),) if asked.symmetric else ()
    if not asked.symmetric:
        return (nonsymmetric_criterion(system), instability_of_other_consensus(system))
    return (consensus_criterion(system), instability_of_other_consensus(system))


def _bipartite_criteria(asked: _Question) -> tuple[Criterion, ...]:
    system = asked.system
    if system.multihead:
        return ()
    if system.value is None:
        return (identity_bipartite(system),) if asked.mask == "full" else ()
    if asked.mask == "blocks":
        return ()
    if asked.mask != "full":
        return (masked_bipartite_criterion(system),)
    if system.space is not Space.SPHERE or system.over_root_d:
        return ()
    if system.score is None:
        return (oja_bipartite(system),)
    return (bipartite_criterion(system), bipartite_last(system), bipartite_other(system))
