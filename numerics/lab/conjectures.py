"""Conjectures: stated in a few lines of Python, read from a file, with the place of whatever is wrong in it.

What a conjecture may not say is refused: a stability that is not one of a point, a quantity that nothing evaluates.
"""

from __future__ import annotations

import re
import sys
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import sympy as sp
from sympy.core.relational import Relational
from sympy.logic.boolalg import Boolean

from eigentoken.display import listing
from eigentoken.files.writing import write_text
from eigentoken.theory.language import terms
from eigentoken.theory.language.claims import AttentionRank, Claim, Iff, InFull, LyapunovStable, Stable, Unstable, When
from eigentoken.theory.language.conditions import Condition, Relation
from eigentoken.theory.language.opposites_and_rates import Fails
from eigentoken.theory.language.places import (
    AntipodalAt,
    AtMostClusters,
    Clustering,
    ConsensusSet,
    Equiangular,
    Hemisphere,
    Place,
    Polygonal,
)
from eigentoken.theory.language.readings import LATEX
from eigentoken.theory.printing.plain_text import plain_text
from eigentoken.theory.systems.algebra import MaskValue
from eigentoken.theory.systems.catalogue import SYSTEMS, system, systems
from eigentoken.theory.systems.suggestions import meant

__all__ = ["TEMPLATE", "Conjecture", "ConjectureError", "about_a_set", "closed_form_only", "load", "new", "unreadable"]

#: A set of states: neither is a point of it an equilibrium by itself, nor do its points stay apart.
_SETS = (ConsensusSet, Equiangular, Hemisphere, AtMostClusters)
#: Families of states, each of which may be unstable; as they may be rotated into each other, none is asymptotically stable.
_FAMILIES = (AntipodalAt, Polygonal, Clustering)


def closed_form_only(word: Any) -> Any:
    """The place or claim inside the word that is known by a formula for the papers' equation alone, or ``None``.

    States of zero weighted means and clusters are constructed from the softmax of the scores, and the rank is that of its
    weights: an equation of another package need not have them.
    """
    if isinstance(word, Polygonal | Clustering | AttentionRank):
        return word
    if not is_dataclass(word):
        return None
    for part in fields(word):
        value = getattr(word, part.name)
        for each in value if isinstance(value, tuple) else (value,):
            found = closed_form_only(each)
            if found is not None:
                return found
    return None


def about_a_set(word: Any) -> Any:
    """The claim inside the word that speaks of the stability of a set, or ``None``.

    A point of a continuum of equilibria is never asymptotically stable, whether or not its neighbours return to the set: so
    the claim about the set cannot be judged at its points.  An eigenvalue outside is one across the set, so that
    ``Unstable`` and ``LyapunovStable`` may be asked of each member of a family.
    """
    while isinstance(word, Iff | When | Fails):
        word = word.claim
    if isinstance(word, Stable) and isinstance(word.place, (*_SETS, *_FAMILIES)):
        return word
    if isinstance(word, Unstable | LyapunovStable) and isinstance(word.place, _SETS):
        return word
    return None


_FUNCTIONS = (
    sp.Add, sp.Mul, sp.Pow, sp.Abs, sp.Max, sp.Min, sp.exp, sp.log, sp.sin, sp.cos, sp.tan, sp.sinh, sp.cosh, sp.tanh,
    sp.sign, sp.acos, sp.asin, sp.atan, sp.atanh, sp.coth,
)  # fmt: skip
_SIZES = {terms.n, terms.d, terms.k, terms.ell, terms.p, terms.q, terms.alpha}


def unreadable(word: Any, scalars: frozenset[str] = frozenset()) -> Any:
    """A part of a relation inside the word that has no value, or ``None``; ``scalars`` are numbers that the system has."""
    if isinstance(word, Relation):
        return _strange(word.relation, frozenset(map(terms.scalar, scalars)))
    if not is_dataclass(word) or isinstance(word, Place | InFull):  # a formula is looked at as a whole
        return None
    for part in fields(word):
        value = getattr(word, part.name)
        for each in value if isinstance(value, tuple) else (value,):
            found = unreadable(each, scalars)
            if found is not None:
                return found
    return None


def _strange(expression: Any, scalars: frozenset[sp.Symbol]) -> Any:
    if isinstance(expression, terms.MatrixNumber) or expression.is_number:
        return None
    if isinstance(expression, sp.Symbol):
        return None if expression in _SIZES or expression in scalars else expression
    if isinstance(expression, (Relational, Boolean, *_FUNCTIONS)):
        return next((found for part in expression.args if (found := _strange(part, scalars)) is not None), None)
    return expression


class ConjectureError(ValueError):
    """Something is wrong with a conjecture file: one line with the place, ``file:line: what``."""

    def __init__(self, message: str, file: str = "", line: int = 0) -> None:
        self.file, self.line = file, line
        place = f"{file}:{line}: " if file and line else f"{file}: " if file else ""
        super().__init__(f"{place}{' '.join(str(message).split())}")
        self.message = str(message)

    def __reduce__(self) -> tuple[Any, ...]:
        return ConjectureError, (self.message, self.file, self.line)


@dataclass(frozen=True)
class Conjecture:
    """``conditions => claims`` for one system: a statement with no derivation.

    ``holds_if`` is a free predicate of one instance for what the language has no word for
    (:mod:`eigentoken.numerics.lab.predicates`): a function, or ``"file.py:function"``.  It is given an object with the
    parameters as attributes (``instance.V``, ``instance.alpha``, ``instance.tokens``): numpy arrays of floats in the search,
    arrays of exact numbers when a counterexample is certified; the conjecture says that it is always
    true.  It may also return a float, its margin: then the conjecture says that this is never negative, the search climbs it,
    and a counterexample says by how much it is false.  ``given`` is a premise of ``holds_if``, a function of the same kind: only
    instances where it is true count, and where it is a margin they are searched for by climbing it.  ``at`` puts the tokens
    that they are given at a place.  ``n`` and ``d`` restrict the sizes that are tried; ``mask`` is ``"causal"`` or a matrix of 0
    and 1 (row i: to whom token i attends).  A condition that is a relation may stand as it is: ``alpha * SpectralNorm(V) < 1``.
    """

    name: str
    system: str
    conditions: Sequence[Condition] = ()
    claims: Sequence[Claim] = ()
    holds_if: Callable[[Any], Any] | str | None = field(default=None, compare=False)
    given: Callable[..., object] | None = field(default=None, compare=False)
    at: Place | None = None
    n: int | Sequence[int] | None = None
    d: int | Sequence[int] | None = None
    mask: MaskValue = None
    expect: str = "open"
    "What the author expects: ``survives``, ``refuted`` or ``open``; used when the file is run under pytest."
    file: str = field(default="", compare=False, repr=False)
    line: int = field(default=0, compare=False, repr=False)
    predicate_file: str = field(default="", compare=False, repr=False)
    predicate_name: str = field(default="", compare=False, repr=False)

    def __post_init__(self) -> None:
        if not self.file:
            frame = sys._getframe(2)
            object.__setattr__(self, "file", frame.f_code.co_filename)
            object.__setattr__(self, "line", frame.f_lineno)
        for part in ("conditions", "claims"):
            given = getattr(self, part)
            several = (given,) if isinstance(given, Condition | Claim | Relational) else tuple(given)
            wrapped = tuple(Relation(each) if isinstance(each, Relational) else each for each in several)
            object.__setattr__(self, part, wrapped if part == "conditions" else several)
        self._check()
        self._check_mask()
        if isinstance(self.holds_if, str):
            self._resolve(self.holds_if)

    def _resolve(self, text: str) -> None:
        from eigentoken.numerics.lab.predicate_files import resolved

        try:
            found = resolved(text, self.file)
        except Exception as problem:
            raise self.error(f"{self.name}: {problem}") from None
        for name, value in zip(("holds_if", "predicate_file", "predicate_name"), found, strict=True):
            object.__setattr__(self, name, value)

    def _check(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise self.error(f"name must be a text, got {self.name!r}: give the conjecture a name")
        known = SYSTEMS if isinstance(self.system, str) and self.system in SYSTEMS else systems()
        if not isinstance(self.system, str) or self.system not in known:
            raise self.error(f"{self.name}: unknown system {self.system!r}: {meant(self.system, known)}")
        for condition in self.conditions:
            if not isinstance(condition, Condition):
                raise self.error(
                    f"{self.name}: {condition!r} is not a condition: give a word, such as Symmetric(V), or a relation"
                )
        for claim in self.claims:
            if not isinstance(claim, Claim):
                raise self.error(
                    f"{self.name}: {claim!r} is not a claim: use words of eigentoken.theory.language.claims"
                )
        for word in (*self.conditions, *self.claims):
            self._check_words(word)
        if not self.claims and self.holds_if is None:
            raise self.error(f"{self.name}: nothing is claimed: give claims or holds_if")
        if self.holds_if is not None and not callable(self.holds_if) and not isinstance(self.holds_if, str):
            raise self.error(f"{self.name}: holds_if must be a function or 'file.py:function', got {self.holds_if!r}")
        if self.given is not None and (not callable(self.given) or self.holds_if is None):
            raise self.error(f"{self.name}: given must be a function, the premise of holds_if, got {self.given!r}")
        if self.at is not None and (not isinstance(self.at, Place) or self.holds_if is None):
            raise self.error(f"{self.name}: at must be a place for the free predicate holds_if, got {self.at!r}")
        if self.expect not in {"open", "survives", "refuted"}:
            raise self.error(f"{self.name}: expect must be open, survives or refuted, got {self.expect!r}")

    def _check_words(self, word: Any) -> None:
        """Stability is that of a point, and a relation is one of quantities that the lab can evaluate."""
        listed = system(self.system)
        scalars = frozenset(
            each.name for each in listed.further if each.kind in {"scalar", "step"} and not each.per_head
        )
        strange = unreadable(word, scalars)
        if strange is not None:
            known = "n, d, k, p, q, alpha, Eigenvalue, SpectralNorm, SpectralRadiusOff, ScoreAtEigenvector, Trace, "
            known += "Determinant, Rank, SmallestEntry, LargestEntry, EigenvalueGap"
            known += "".join(f", scalar({name!r})" for name in sorted(scalars))
            raise self.error(f"{self.name}: {strange} has no value in the lab: use {known}, or a predicate holds_if")
        formula = None if listed.standard else closed_form_only(word)
        if formula is not None:
            said = f"{type(formula).__name__} is known by a formula for the papers' equation, and {self.system} has its own"
            raise self.error(f"{self.name}: {said}: name a point (ConsensusAt, BipartiteAt, Zero), or use holds_if")
        set_claim = about_a_set(word)
        if set_claim is not None:
            said = f"{type(set_claim).__name__}({type(set_claim.place).__name__}()) speaks of a set of states, and stability"
            asked = "of a point: name one (ConsensusAt, BipartiteAt, Zero), or say what trajectories do (Converges)"
            raise self.error(f"{self.name}: {said} is {asked}")

    def _check_mask(self) -> None:
        """``full`` is the same as no mask; a matrix speaks of as many tokens as it has rows."""
        if self.mask is None or (isinstance(self.mask, str) and self.mask in ("full", "causal")):
            object.__setattr__(self, "mask", None if self.mask == "full" else self.mask)
            return
        expected = f"{self.name}: mask must be 'full', 'causal' or a square matrix of 0 and 1, got {self.mask!r}"
        try:
            rows = tuple(tuple(int(entry) for entry in row) for row in self.mask)
        except (TypeError, ValueError):
            raise self.error(expected) from None
        if not rows or any(len(row) != len(rows) or set(row) - {0, 1} or 1 not in row for row in rows):
            raise self.error(f"{expected}; each token attends to at least one")
        given = self.sizes("n")
        if given is not None and given != (len(rows),):
            raise self.error(f"{self.name}: the mask is for {len(rows)} tokens, n is {list(given)}: leave n out")
        object.__setattr__(self, "mask", rows)
        object.__setattr__(self, "n", (len(rows),))

    def sizes(self, part: str) -> tuple[int, ...] | None:
        """The values of ``n`` or ``d`` that are tried, ``None`` where they are left to the search."""
        given: int | Sequence[int] | None = getattr(self, part)
        return None if given is None else (given,) if isinstance(given, int) else tuple(given)

    def error(self, message: str) -> ConjectureError:
        """An error at the line where the conjecture stands."""
        return ConjectureError(message, self.file, self.line)

    def __repr__(self) -> str:
        said = [f"{part}: {'; '.join(plain_text(str(LATEX(each))) for each in getattr(self, part))}"
                for part in ("conditions", "claims") if getattr(self, part)]  # fmt: skip
        said += ["given: a free predicate"] if self.given is not None else []
        said += ["claims: a free predicate"] if self.holds_if is not None else []
        return listing(f"<Conjecture on {self.system}: {self.name}>", said, width=400)

    def _repr_latex_(self) -> str:
        given = r",\ ".join(str(LATEX(each)) for each in self.conditions)
        then = r";\ ".join(str(LATEX(each)) for each in self.claims) or r"\text{a free predicate}"
        return rf"${given} \implies {then}$"

    def without(self, index: int) -> Conjecture:
        """The conjecture with one condition removed; the premise ``given`` counts as the last one."""
        if self.given is not None and index == len(self.conditions):
            return replace(self, given=None)
        kept = tuple(each for number, each in enumerate(self.conditions) if number != index)
        return replace(self, conditions=kept)


def load(path: str | Path) -> list[Conjecture]:
    """The conjectures that a file states at its top level, in the order of the file."""
    file = Path(path)
    try:
        if file.is_char_device() or file.is_block_device():
            raise ConjectureError("is a device: give a Python file", str(path))
        text = file.read_text(encoding="utf-8")
    except OSError as problem:
        raise ConjectureError(f"cannot be read: {problem.strerror or problem}; give a Python file", str(path)) from None
    except UnicodeDecodeError:
        raise ConjectureError(
            "is no text (no UTF-8): give a Python file; `eigentoken conjecture new` writes one", str(path)
        ) from None
    try:
        code = compile(text, str(file), "exec")
    except SyntaxError as problem:
        raise ConjectureError(f"syntax error: {problem.msg}", str(file), problem.lineno or 1) from None
    except (ValueError, RecursionError, MemoryError) as problem:
        raise ConjectureError(f"not Python: {problem or 'nested too deeply'}", str(file)) from None
    found = [each for each in _run(code, file).values() if isinstance(each, Conjecture)]
    unique = list({id(each): each for each in found}.values())
    if not unique:
        raise ConjectureError("states no conjecture: assign Conjecture(...) to a name at the top level", str(file))
    names = [each.name for each in unique]
    twice = next((each for number, each in enumerate(unique) if each.name in names[:number]), None)
    if twice is not None:
        raise ConjectureError(
            f"two conjectures are called {twice.name!r}: give each its own name", str(file), twice.line
        )
    return sorted(unique, key=lambda each: each.line)


def _run(code: CodeType, file: Path) -> dict[str, Any]:
    module = ModuleType(f"conjectures_{abs(hash(str(file.resolve()))):x}")
    module.__file__ = str(file)
    try:
        exec(code, module.__dict__)
    except ConjectureError:
        raise
    except (Exception, SystemExit) as problem:  # a file that ends the interpreter ends itself alone
        lines = [frame.lineno for frame in traceback.extract_tb(problem.__traceback__) if frame.filename == str(file)]
        said = f"{type(problem).__name__}: {problem}"
        raise ConjectureError(said, str(file), (lines[-1] if lines else 1) or 1) from None
    return module.__dict__


TEMPLATE = '''"""A conjecture about the multi-agent Oja map: edit the conditions and the claims, then run

    eigentoken refute {file}
"""

from eigentoken.lab import *  # every word of the language

V = matrix("V")

principal_consensus = Conjecture(
    name="{name}",
    system="oja-map",
    conditions=[Symmetric(V), SimpleTop(V), Relation(Eigenvalue(V, 1) > 0), Relation(n >= 2)],
    claims=[Stable(ConsensusAt(V, 1))],
    # for what has no word yet:  holds_if=lambda instance: instance.alpha > 0
)
'''


def new(
    path: str | Path | None = None,
    name: str = "principal consensus is stable for every step",
    *,
    force: bool = False,
) -> Path:
    """Write a starting file; an existing one is kept unless ``force``.

    Without a path its name is made of the conjecture's, ``conjecture_*.py``, which pytest collects without being told.
    """
    words = "_".join(re.findall("[a-z0-9]+", name.lower())[:6]) or "new"
    file = Path(f"conjecture_{words}.py" if path is None else path)
    if file.suffix != ".py":
        raise ConjectureError("a conjecture file ends in .py: choose such a name", str(file))
    if file.exists() and not force:
        raise ConjectureError("exists already: choose another name, or --force to write over it", str(file))
    if not file.parent.exists():
        raise ConjectureError(f"the folder {file.parent} does not exist: make it first", str(file))
    write_text(file, TEMPLATE.format(file=file.name, name=name.replace('"', "'")))
    return file
