"""Textbook theorems and other statements, applied: every hypothesis is a ``Proved`` of this context.

A theorem is a schema: its letters have kinds (a matrix, a vector, an observable, a place, a function of time), its hypotheses and
its conclusion are propositions in them.  What a reader must believe is the list of theorems that are used.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import sympy as sp

from eigentoken.theory.calculus import Expression
from eigentoken.theory.kernel.defined import where_defined
from eigentoken.theory.kernel.logic import check_sort, speaks_of_start, tied
from eigentoken.theory.kernel.observables import parameters_of
from eigentoken.theory.kernel.propositions import (
    Atom,
    Conjunction,
    Equivalence,
    ForAll,
    ForAlmostEvery,
    Implication,
    Negation,
    Proposition,
    bound_letters,
    canonical,
    children,
    conjuncts,
    everywhere,
    free_letters,
    keep_time,
    proposition,
    put,
    relation_of,
    relations_in,
    times_of,
    value_letters,
)
from eigentoken.theory.kernel.proved import Proved, Refused, joined, lacking, parts_of, prove
from eigentoken.theory.kernel.tensors import STATE, Tensor, VectorLetter
from eigentoken.theory.language.claims import AlmostEveryConverges
from eigentoken.theory.language.conditions import BoundedInTime, Nonsingular, OfOneMatrix, UniformlyContinuous
from eigentoken.theory.language.terms import MatrixNumber, d, matrix
from eigentoken.theory.systems.catalogue import OURS, special_case
from eigentoken.theory.systems.system import Space, System, Time

__all__ = ["Schema", "Stated", "Textbook", "argued", "moving", "needed", "recall", "steps_that_hold", "textbook"]

#: What a theorem says of the objects that its letters stand for: hypotheses, conclusion.
Schema = Callable[..., tuple[tuple[Any, ...], Any]]


@dataclass(frozen=True)
class Textbook:
    """A theorem of a book: ``says(**letters)`` gives its hypotheses and its conclusion for the objects named.

    ``letters`` gives the type of each; ``reference`` names author, title and chapter (numbers only where they were checked).
    """

    key: str
    name: str
    letters: Mapping[str, type | tuple[type, ...]]
    says: Schema
    reference: str
    bibtex: str
    time: Time | None = None
    "A theorem about trajectories is about flows, or about maps."
    autonomous: bool = False
    "The matrices of the system do not depend on time."
    moves: tuple[str, ...] = ()
    "Letters in which matrices may depend on time all the same: a velocity, or a quantity of which it is asked how it does."
    space: Space | None = None
    "Where the tokens live, for a theorem that speaks of tangent vectors there."

    def __post_init__(self) -> None:
        if not (self.reference and self.bibtex):
            raise ValueError(f"{self.name} has no published reference: what is argued here is a rule of its own")
        if set(inspect.signature(self.says).parameters) != set(self.letters):
            raise ValueError(f"{self.name}: the schema must have exactly the letters {sorted(self.letters)}")

    def of(self, **objects: Any) -> tuple[tuple[Proposition, ...], Proposition]:
        """Hypotheses and conclusion for these objects: all letters, each of its kind."""
        if set(objects) != set(self.letters):
            raise Refused(f"{self.name} has the letters {sorted(self.letters)}, got {sorted(objects)}")
        for letter, kind in self.letters.items():
            if not isinstance(objects[letter], kind):
                raise Refused(f"{self.name}: {letter} must be {_kinds(kind)}, got {objects[letter]!r}")
            _check_object(self.name, letter, objects[letter])
        hypotheses, conclusion = self.says(**objects)
        said = (*map(proposition, hypotheses), proposition(conclusion))
        taken = frozenset().union(*map(bound_letters, said)) & frozenset().union(*map(value_letters, objects.values()))
        taken -= {VectorLetter(STATE)}  # what is said of every state is said of functions of the state
        if taken:
            raise Refused(f"{self.name} binds {', '.join(sorted(each.name for each in taken))}: choose another letter")
        return said[:-1], said[-1]


def _check_object(theorem: str, letter: str, value: Any) -> None:
    """Matrices are d x d; vectors are real."""
    if isinstance(value, sp.MatrixExpr | sp.MatrixBase) and value.shape != (d, d):
        raise Refused(f"{theorem}: {letter} must be a d x d matrix, got {value}")
    if isinstance(value, Expression) and value.is_vector:
        where_defined(value)


def _defined(said: Proposition, known: Collection[Proposition]) -> tuple[Proposition, ...]:
    """Where the terms of a conclusion have values, and no premise says so: hypotheses.

    What speaks of a letter that the conclusion binds (a time, a token) is for the theorem to ask for: see :func:`_not_asked`.
    """
    here = where_defined(said.word) if isinstance(said, Atom) else frozenset()
    found = [proposition(each) for each in sorted(here, key=sp.default_sort_key)]
    found += [each for part in children(said) for each in _defined(part, known)]
    bound = bound_letters(said)
    return tuple(each for each in found if canonical(each) not in known and not bound & free_letters(each))


def _not_asked(needed: Iterable[Proposition], conclusion: Proposition) -> list[Proposition]:
    """Where terms of the conclusion have values, for a letter that it binds, if no hypothesis of the theorem says so."""
    bound, asked = bound_letters(conclusion), set().union(*map(_asserted, needed))
    said = set(map(canonical, (*asked, *_values_of(asked))))
    found = _values_of(_asserted(conclusion))
    return [each for each in found if bound & free_letters(each) and canonical(each) not in said]


def _values_of(atoms: Iterable[Atom]) -> list[Proposition]:
    return [proposition(each) for atom in atoms for each in where_defined(atom.word)]


def _asserted(said: Proposition, positive: bool = True) -> set[Atom]:
    """The words and relations that are asserted in it, neither assumed nor denied: their terms have values."""
    if isinstance(said, Atom):
        return {said} if positive else set()
    if isinstance(said, Equivalence):
        return set().union(*(_asserted(each, way) for each in children(said) for way in (True, False)))
    assumed = said.left if isinstance(said, Implication) else said.guard if isinstance(said, ForAll) else None
    turned = isinstance(said, Negation)
    ways = ((each, positive != (turned or each is assumed)) for each in children(said))
    return set().union(*(_asserted(each, way) for each, way in ways))


def _of_real_vectors(objects: Iterable[Any], known: Collection[Proposition]) -> tuple[Proposition, ...]:
    """Where the scales of the vectors have values: ``sqrt(c) a`` is real where ``c >= 0``, which its square does not show."""
    scales = [
        each for value in objects if isinstance(value, Expression) and value.is_vector for each in value.terms.values()
    ]
    found = map(proposition, sorted(where_defined(scales), key=sp.default_sort_key))
    return tuple(each for each in found if canonical(each) not in known)


def _of_inverses(objects: Iterable[Any], known: Collection[Proposition]) -> tuple[Proposition, ...]:
    """Of a matrix ``X^-1`` that a theorem is applied to there must be one: in what the theorem says it may be cancelled."""
    inverses = {each for value in objects if isinstance(value, sp.MatrixExpr) for each in value.atoms(sp.Inverse)}
    words = [each.word for each in known if isinstance(each, Atom) and isinstance(each.word, OfOneMatrix)]
    said = frozenset().union(*(each.term.atoms(sp.Inverse) for each in words))
    return tuple(
        Atom(Nonsingular(each.arg))
        for each in sorted(inverses - said, key=sp.default_sort_key)
        if Atom(Nonsingular(each.arg)) not in known
    )


def _at_one_state(said: Proposition) -> bool:
    """Does it speak of a state x that is not the state at a time of the trajectory?"""
    if isinstance(said, Atom):
        relation = relation_of(said)
        if relation is None:
            return VectorLetter(STATE) in free_letters(said)
        return any(each.time is None and VectorLetter(STATE) in each.letters() for each in relation.atoms(Tensor))
    return VectorLetter(STATE) in free_letters(said) and any(map(_at_one_state, children(said)))


def _of_almost_every_start(said: Proposition) -> bool:
    return any(
        isinstance(each, ForAlmostEvery) or isinstance(getattr(each, "word", None), AlmostEveryConverges)
        for each in everywhere(said)
    )


def _kinds(kind: type | tuple[type, ...]) -> str:
    return " or ".join(each.__name__ for each in (kind if isinstance(kind, tuple) else (kind,)))


def textbook(theorem: Textbook, premises: tuple[Proved, ...], system: System | None = None, **objects: Any) -> Proved:
    """The conclusion of the theorem, where each of its hypotheses is among the premises."""
    needed, conclusion = theorem.of(**objects)
    joint, hypotheses = joined(premises, system)
    if theorem.time is not None and (joint is None or joint.time is not theorem.time):
        raise Refused(f"{theorem.name} is about a {theorem.time.value}")
    if theorem.space is not None and (joint is None or joint.space is not theorem.space):
        raise Refused(f"{theorem.name} is about tokens on the {theorem.space.value}")
    if theorem.time is not None and any(map(_at_one_state, hypotheses)):
        raise Refused(f"{theorem.name} is about trajectories: what it needs must hold at every state, not at one")
    if _of_almost_every_start(conclusion) and any(map(speaks_of_start, hypotheses)):
        raise Refused(
            f"{theorem.name} is about almost every start: what it needs must not rest on what one of them does"
        )
    known = parts_of(premises)
    missing = lacking(needed, known)
    if missing:
        raise Refused(f"{theorem.name} needs {missing}, which no premise proves")
    empty = _not_asked(needed, conclusion)
    if empty:
        raise Refused(
            f"{theorem.name} does not ask that {'; '.join(map(repr, empty))}: a term of it would have no value"
        )
    values = objects.values()
    whole = (*hypotheses, *_defined(conclusion, known), *_of_real_vectors(values, known), *_of_inverses(values, known))
    return prove(conclusion, "textbook", premises, joint, whole, detail=(theorem, objects))


class Stated(Protocol):
    """What is recalled: a statement with systems, conditions and claims, that was proved."""

    @property
    def id(self) -> str: ...
    @property
    def systems(self) -> tuple[str, ...]: ...
    @property
    def conditions(self) -> tuple[Any, ...]: ...
    @property
    def claims(self) -> tuple[Any, ...]: ...
    @property
    def proofs(self) -> Mapping[str, Proved]: ...


def recall(
    statement: Stated,
    proofs: Mapping[str, Proved],
    system: System | None,
    letters: Mapping[Any, Any],
    *premises: Proved,
) -> Proved:
    """Another statement's claims, in our letters: its system contains ours, and its conditions are proved here.

    ``proofs`` are the ``Proved`` of the other statement, by system.  Letters of the special case (the attention map with the
    scores 0 is the Oja map) are put in first; ``letters`` renames what is left.  Of the statement nothing is believed: what was
    proved, of which system, and which matrices may depend on time there, is read off the proof.  That it is the proof of the
    statement of this name is asked where a proof is accepted (``Statement.proofs``).
    """
    theirs, values = _containing(statement, proofs, system)
    whole = proofs[theirs]
    table = {**values, **letters}
    wanted = needed(statement, proofs, system, letters)
    joint, hypotheses = joined(premises, system)
    missing = lacking(wanted, parts_of(premises))
    if missing:
        raise Refused(f"{statement.id} needs {missing}, which is not proved here")
    said = put(whole.proposition, table)
    return prove(
        said,
        "recall",
        (whole, *premises),
        joint,
        hypotheses,
        detail=(statement.id, whole, _constants(statement, whole, table), table),
    )


def _constants(statement: Stated, whole: Proved, table: Mapping[Any, Any]) -> frozenset[Any]:
    """What stands here for letters that the other statement, or a step of its proof, holds fixed in time."""
    moves = moving(map(proposition, statement.conditions))
    moves = frozenset() if steps_that_hold(whole, moves) else moves
    return frozenset().union(*(value_letters(new) for old, new in table.items() if old not in moves))


def moving(conditions: Iterable[Proposition]) -> frozenset[Any]:
    """The matrices that depend on time: those of which a condition says how."""
    words = (each.word for said in conditions for each in conjuncts(said) if isinstance(each, Atom))
    return frozenset(matrix(each.name) for each in words if isinstance(each, BoundedInTime | UniformlyContinuous))


def needed(
    statement: Stated, proofs: Mapping[str, Proved], system: System | None, letters: Mapping[Any, Any]
) -> list[Proposition]:
    """The conditions under which the other statement was proved, in our letters."""
    theirs, values = _containing(statement, proofs, system)
    _free_to_rename(letters, proofs[theirs])
    table = {**values, **letters}
    keep_time(Conjunction((proofs[theirs].proposition, *proofs[theirs].hypotheses)), table)
    return [part for each in proofs[theirs].hypotheses for part in conjuncts(put(each, table))]


def _containing(statement: Stated, proofs: Mapping[str, Proved], system: System | None) -> tuple[str, dict[Any, Any]]:
    """The system of the other statement that ours is, or is a special case of; and what its letters are here."""
    if not proofs:
        raise Refused(f"{statement.id} has no proof to recall")
    for name, whole in proofs.items():
        if whole.system is not None and (whole.system.name != name or _differs(whole.system)):
            raise Refused(f"the proof that {statement.id} has for {name or 'no system'} is about {whole.system.name}")
    if "" in proofs:
        return "", {}
    if system is None:
        raise Refused(f"{statement.id} is about {', '.join(proofs)}; the statement here is about no system")
    if _differs(system):
        raise Refused(f"the system here is called {system.name}, and is another one")
    constants = {"0": sp.ZeroMatrix(d, d), "I": sp.Identity(d)}
    for name in sorted(proofs, key=lambda each: each != system.name):
        values = special_case(system.name, name)
        if values is not None:
            named = {matrix(old): constants.get(str(new), matrix(str(new))) for old, new in values.items()}
            return name, {old: new for old, new in named.items() if old != new}
    raise Refused(f"{statement.id} is proved for {', '.join(proofs)}, which does not contain {system.name}")


def _differs(system: System) -> bool:
    """Is there another system of this name in the catalogue?"""
    return OURS.get(system.name, system) != system


def _free_to_rename(letters: Mapping[Any, Any], whole: Proved) -> None:
    """Only letters that a statement speaks of for all values may be renamed, and by what is of their sort."""
    hidden = frozenset().union(*(tied(each, whole.system) for each in (whole.proposition, *whole.hypotheses)))
    for old, new in letters.items():
        check_sort(old, new)
        if str(getattr(old, "name", old)) in hidden:
            raise Refused(f"{old} belongs to the system: it is what it is")


def argued(said: Any, text: str, system: System | None, *premises: Proved) -> Proved:
    """What is only argued in words.  Everything above it is argued."""
    if not text.strip():
        raise Refused("an argument has words")
    joint, hypotheses = joined(premises, system)
    return prove(proposition(said), "argued", premises, joint, hypotheses, detail=text)


# -- what the steps of a proof hold fixed in time ------------------------------------------------------------------------------


def steps_that_hold(proved: Proved, moving: frozenset[Any]) -> list[str]:
    """The rules of the steps of its tree that hold one of these matrices fixed."""
    return [each.rule for each in proved.tree() if held_fixed(each) & moving or (moving and autonomous(each))]


def held_fixed(step: Proved) -> frozenset[Any]:
    """The letters that a step treats as constant in time."""
    if step.rule == "increment":
        return free_letters(step.proposition.word.relation.lhs)
    if step.rule in {"witness", "instantiate", "textbook"}:  # a letter for a number is one number, at all times
        values = (step.detail[1] if step.rule == "textbook" else step.detail).values()
        numbers = frozenset().union(*(free_letters(each) for each in values if isinstance(each, sp.Expr)))
        return numbers | (_held_by_theorem(*step.detail) if step.rule == "textbook" else _held_as_a_vector(step))
    if step.rule == "recall":
        return step.detail[2]
    if step.rule in {"monotone", "dissipates"}:  # a rate holds matrices fixed
        return frozenset(map(matrix, parameters_of(step.proposition.word.observable)))
    if step.rule == "arithmetic":  # what is one case at one time may be another at another time
        said = [part for each in (step, *step.premises) for part in conjuncts(each.proposition)]
        return frozenset().union(*(_in_numbers(each) for each in said if not isinstance(each, Atom)))
    fixed = {"spectrum", "equilibrium", "two_cycle", "first_exit", "least", "meaning", "half_space", "attention_rank"}
    return free_letters(step.proposition) if step.rule in fixed else frozenset()


def _held_by_theorem(theorem: Any, objects: Mapping[str, Any]) -> frozenset[Any]:
    """Along a trajectory a quantity, or a region, with a matrix in it changes with the matrix, which its rate does not see."""
    if theorem.time is None:
        return frozenset()
    return frozenset().union(
        *(
            value_letters(each)
            for name, each in objects.items()
            if name not in theorem.moves and isinstance(each, Expression | Proposition)
        )
    )


def _held_as_a_vector(step: Proved) -> frozenset[Any]:
    """What stands for a vector at a time of the trajectory is one vector at all times, and so are the matrices in it."""
    said = step.premises[0].proposition if step.rule == "instantiate" else step.proposition
    inside = Conjunction((said.guard, said.body))
    timed = isinstance(said.letter, VectorLetter) and any(time is not None for time, _ in times_of(inside, said.letter))
    values = (each for each in step.detail.values() if timed and isinstance(each, Expression))
    return frozenset().union(*map(value_letters, values))


def _in_numbers(said: Proposition) -> frozenset[Any]:
    """The letters of the eigenvalues and norms that it speaks of."""
    return frozenset().union(*(free_letters(each) for one in relations_in(said) for each in one.atoms(MatrixNumber)))


def autonomous(step: Proved) -> bool:
    """A step about systems whose matrices do not depend on time."""
    fixed = {"same_state", "stability_of_any", "unstable"}
    return step.rule in fixed or (step.rule == "textbook" and bool(step.detail[0].autonomous))
