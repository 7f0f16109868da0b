"""What a statement says of one layer: about it or not, which of its conditions hold, what it leaves out.

The layer has a system of its own (:class:`~eigentoken.theory.statements.layer_systems.LayerSystem`); each system of the
statement is matched with it.  Where none contains it the answer is ``not about this model``, with the part that differs.
Where only the number of heads differs, the conditions are still read on ``F = sum_h O_h V_h`` and ``S = sum_h Q_h^T K_h``,
and on each head alone, *as if the layer were one head*: with words of their own, because no theorem says anything of the
layer then.

How the weights of a layer, or of one head of it, play the letters of a system.

*A layer.*  The value letter of a system (V, F, U, B) is the layer matrix ``F = sum_h O_h V_h``.  The score letter (M, P, W) of
a system of one head is that of the one head that acts; where several act it is ``sum_h Q_h^T K_h / scale``, which is what
Pham et al. impose conditions on, and what is read then is read *as if the layer were one head*.
The metric is the identity unless it is the score matrix itself.  The
step of a map is 1: a layer adds its update once.  What a system of several heads asks of each head (``U = I``) is asked of
each head that acts.

*A head.*  The value letter is ``U_h = O_h V_h`` and the score letter ``P_h = Q_h^T K_h / scale``, on the whole of R^d.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

import numpy as np

import eigentoken.numerics.layers.hypotheses  # noqa: F401 - registers its reading
from eigentoken.documents.check_document import StatementReading
from eigentoken.numerics.certified.enclosures import Enclosure, total
from eigentoken.numerics.certified.rounding import Array
from eigentoken.numerics.layers.hypotheses import ON_WEIGHTS, Asks, asks, first_alike
from eigentoken.numerics.layers.low_rank import LowRank
from eigentoken.numerics.layers.symbol_values import Answers, HeadSymbolValues, LayerSymbolValues, SymbolValues
from eigentoken.numerics.layers.weights import HeadWeights, LayerWeights
from eigentoken.theory.language.conditions import Condition
from eigentoken.theory.language.readings import LATEX
from eigentoken.theory.language.verdicts import Verdict, VerdictAnswer, all_of, holds, undecided
from eigentoken.theory.statements.layer_systems import (
    AsIfAnswer,
    Difference,
    LayerAnswer,
    LayerSystem,
    Match,
    idealisations,
    matches,
)
from eigentoken.theory.statements.statement import Kind, Statement
from eigentoken.theory.statements.subjects import Subject, subject_of
from eigentoken.theory.systems.catalogue import system
from eigentoken.theory.systems.system import System

__all__ = [
    "AsIf",
    "StatementOnLayer",
    "as_one_head",
    "behind",
    "bind",
    "bind_head",
    "read_head",
    "read_layer",
    "system_of_head",
    "system_read",
]

_WORDS = {"holds": AsIfAnswer.MET, "fails": AsIfAnswer.NOT_MET, "undecided": AsIfAnswer.OPEN}


@dataclass(frozen=True)
class AsIf:
    """A statement about one head, read on the sum of the heads or on one head alone."""

    statement: str
    answer: AsIfAnswer
    conditions: Mapping[str, Verdict]


@dataclass(frozen=True)
class StatementOnLayer:
    """One statement and one layer.

    ``system`` names the system of the statement that contains the layer (``None`` where none does, and ``differs`` says
    why); ``conditions`` are the verdicts of its conditions on weights there, ``about_tokens`` those that speak of the start
    or the number of tokens instead.
    """

    statement: str
    answer: LayerAnswer
    asks: Asks
    system: str | None = None
    differs: tuple[Difference, ...] = ()
    verdict: Verdict | None = None
    conditions: Mapping[str, Verdict] = field(default_factory=dict)
    about_tokens: tuple[str, ...] = ()
    idealisations: tuple[str, ...] = ()
    as_one_head: AsIf | None = None

    def verdicts(self) -> list[Verdict]:
        """Every verdict that was reached for it."""
        return [*self.conditions.values(), *(self.as_one_head.conditions.values() if self.as_one_head else ())]

    def as_dict(self) -> StatementReading:
        as_if = self.as_one_head
        return {
            "statement": self.statement,
            "word": str(self.answer),
            "distance": None,
            "distance_of": "F",
            "distance_says": "",
            "asks": self.asks.text,
            "system": self.system,
            "differs": [each.as_dict() for each in self.differs],
            "verdict": None if self.verdict is None else replace(self.verdict, details={}).as_dict(),
            "conditions": {text: verdict.as_dict() for text, verdict in self.conditions.items()},
            "about_tokens": list(self.about_tokens),
            "idealisations": list(self.idealisations),
            "as_one_head": None
            if as_if is None
            else {
                "word": str(as_if.answer),
                "conditions": {text: verdict.as_dict() for text, verdict in as_if.conditions.items()},
            },
        }


def read_layer(statement: Statement, weights: LayerWeights, answers: Answers) -> StatementOnLayer:
    """The statement on this layer; ``memory`` is shared by the statements, so that nothing is asked twice."""
    subject = subject_of(statement.id)
    if subject is not None:
        return _on_subject(statement, subject, weights, answers)
    found = matches(statement.systems, statement.covers, weights.system)
    if not found:
        nothing = Difference("system", "no system that it names", weights.system.describe())
        return StatementOnLayer(statement.id, LayerAnswer.NOT_ABOUT, Asks.MORE, differs=(nothing,))
    best = found[0]
    asked = asks(statement.conditions, best.system)
    if best.differences:
        return StatementOnLayer(
            statement.id,
            LayerAnswer.NOT_ABOUT,
            asked,
            differs=best.differences,
            as_one_head=_as_one_head(statement, found, weights, answers),
        )
    needed = _of_the_heads(best, weights, answers)
    refused = {text: verdict for text, verdict in needed.items() if verdict.is_fails}
    if refused:
        differs = tuple(_heads_differ(text, weights.system) for text in refused)
        as_if = _as_one_head(statement, [replace(best, differences=differs)], weights, answers)
        return StatementOnLayer(
            statement.id, LayerAnswer.NOT_ABOUT, asked, differs=differs, conditions=needed, as_one_head=as_if
        )
    listed = _with_heads(best.system) if len(weights.acting) > 1 else best.system
    conditions, tokens = _read(statement.conditions, bind(listed, weights, answers), answers.conditions(listed))
    conditions = needed | conditions
    verdict = (
        all_of({text: _bare(each) for text, each in conditions.items()}) if conditions else holds("nothing is asked")
    )
    answer = _answer(asked if not needed else Asks.MORE, verdict) if statement.conditions else LayerAnswer.NO_CONDITION
    return StatementOnLayer(
        statement.id,
        answer,
        asked,
        best.system.name,
        (),
        verdict if conditions else None,
        conditions,
        tuple(tokens),
        idealisations(best.system, weights.system) if statement.conditions else (),
    )


def _on_subject(statement: Statement, subject: Subject, weights: LayerWeights, answers: Answers) -> StatementOnLayer:
    """A statement about a head, a layer, a norm or rows of weights: about this layer or not.

    Its conditions are read on the letters of the first system that it names; what stands in words is not read.
    """
    differs = subject.differences(weights.system)
    if differs:
        return StatementOnLayer(statement.id, LayerAnswer.NOT_ABOUT, Asks.MORE, differs=differs)
    conditions = {text: undecided("it stands in words in the statement: nothing reads it") for text in subject.asks}
    tokens: list[str] = []
    if statement.conditions and statement.systems:
        listed = system(statement.systems[0])
        found, tokens = _read(statement.conditions, bind(listed, weights, answers), answers.conditions(listed))
        conditions |= found
    together = all_of({text: _bare(each) for text, each in conditions.items()}) if conditions else None
    return StatementOnLayer(
        statement.id,
        LayerAnswer.NO_CONDITION if together is None else LayerAnswer(str(together.answer)),
        Asks.MORE if conditions else Asks.NOTHING,
        verdict=together,
        conditions=conditions,
        about_tokens=(*tokens, *subject.tokens),
    )


def _answer(asked: Asks, verdict: Verdict) -> LayerAnswer:
    if asked is Asks.NOTHING and not verdict.is_fails:
        return LayerAnswer.ASKS_NOTHING
    if asked is Asks.INVERTIBLE and verdict.is_holds:
        return LayerAnswer.ASKS_INVERTIBLE
    return LayerAnswer(str(verdict.answer))


def _of_the_heads(best: Match, weights: LayerWeights, answers: Answers) -> dict[str, Verdict]:
    """What the statement asks of several heads beside its conditions on their sum."""
    if not best.needs:
        return {}
    found, _ = _read(best.needs, bind(_with_heads(best.system), weights, answers), {})
    return found


def _with_heads(listed: System) -> System:
    """The system of one head for the several heads that the statement covers: what is asked of each head is asked of each."""
    return replace(listed, multihead=True)


def _heads_differ(text: str, layer: LayerSystem) -> Difference:
    """The verdict, with its reason and certificate, is among the conditions of the reading."""
    from eigentoken.theory.printing.plain_text import plain_text

    return Difference("heads", f"several heads only if {plain_text(text)}", f"{layer.heads_text} that do not")


def _as_one_head(statement: Statement, found: Sequence[Match], weights: LayerWeights, answers: Answers) -> AsIf | None:
    """The conditions on the sum of the heads, where nothing but the number of heads differs and heads act at all."""
    listed = _read_as_one_head(statement, found, weights)
    if listed is None:
        return None
    conditions, _ = _read(statement.conditions, bind(listed, weights, answers), answers.conditions(listed))
    return as_one_head(statement.id, conditions)


def _read_as_one_head(statement: Statement, found: Sequence[Match], weights: LayerWeights) -> System | None:
    match = next((each for each in found if each.only_heads), None)
    if match is None or not weights.acting or not _claims_more(statement, match.system):
        return None
    return match.system


def system_read(statement: Statement, weights: LayerWeights, *, as_if: bool = False) -> System | None:
    """The system on whose letters the conditions are read: of a layer that it is about, or as if the layer were one head."""
    if subject_of(statement.id) is not None:
        return None if as_if or not (statement.conditions and statement.systems) else system(statement.systems[0])
    found = matches(statement.systems, statement.covers, weights.system)
    if as_if:
        return _read_as_one_head(statement, found, weights)
    if not found or found[0].differences:
        return None
    return _with_heads(found[0].system) if len(weights.acting) > 1 else found[0].system


def _claims_more(statement: Statement, listed: System) -> bool:
    """Does it claim something, and ask more of weights than an inverse?  Only then is it worth reading as if."""
    return statement.kind is not Kind.DEFINITION and asks(statement.conditions, listed) is Asks.MORE


def as_one_head(name: str, conditions: Mapping[str, Verdict]) -> AsIf | None:
    """The conditions under the answer that they have as if there were one head."""
    if not conditions:
        return None
    found = {each.answer for each in conditions.values()}
    together = next(
        (each for each in (VerdictAnswer.FAILS, VerdictAnswer.UNDECIDED) if each in found), VerdictAnswer.HOLDS
    )
    return AsIf(name, _WORDS[str(together)], conditions)


def read_head(statement: Statement, weights: LayerWeights, index: int, answers: Answers) -> AsIf | None:
    """The conditions on one of several heads, as if it were alone; ``None`` where they would not be about that layer either,
    where they ask no more than an inverse, and in a layer that acts as one head, which is read itself."""
    listed = system_of_head(statement, weights, index, answers)
    if listed is None:
        return None
    letters = bind_head(listed, weights.heads[index], answers, _gains(listed, weights))
    conditions, _ = _read(statement.conditions, letters, answers.conditions(listed))
    return as_one_head(statement.id, conditions)


def system_of_head(statement: Statement, weights: LayerWeights, index: int, answers: Answers) -> System | None:
    """The system of one head on whose letters the conditions are read, where they are."""
    if len(weights.acting) < 2:
        return None
    alone, known = answers.once("read alone", lambda: _read_alone(weights, index))
    if id(statement) not in known:
        known[id(statement)] = statement, _system_alone(statement, alone)
    return known[id(statement)][1]


def _read_alone(weights: LayerWeights, index: int) -> tuple[LayerSystem, dict[int, tuple[Statement, System | None]]]:
    """What a head is alone, and by the statement the system on which it is read: shared by the heads that are alike alone."""
    alone = weights.alone(index).system
    return alone, weights.read_alone.setdefault(alone, {})


def _system_alone(statement: Statement, alone: LayerSystem) -> System | None:
    found = [each for each in matches(statement.systems, statement.covers, alone) if not each.differences]
    single = next((each for each in found if not each.system.multihead), None)
    return None if single is None or not _claims_more(statement, single.system) else single.system


@lru_cache(maxsize=1024)
def _text(condition: Condition) -> str:
    """The condition as LaTeX, printed once however many heads it is read on."""
    return LATEX(condition)


def _read(
    conditions: Sequence[Condition], letters: SymbolValues, read: dict[Condition, Verdict | None]
) -> tuple[dict[str, Verdict], list[str]]:
    """Verdicts by the text of the condition, and the conditions that speak of the tokens.

    ``read``: the conditions that were read on the same letters already, for another statement.
    """
    verdicts: dict[str, Verdict] = {}
    about_tokens: list[str] = []
    for condition in map(first_alike, conditions):
        name = _text(condition)
        if ON_WEIGHTS.find(type(condition)) is None:
            verdicts[name] = undecided(f"{type(condition).__name__} has no reading on weights")
            continue
        if condition not in read:
            read[condition] = ON_WEIGHTS(condition, letters)
        found = read[condition]
        if found is None:
            about_tokens.append(name)
        else:
            verdicts[name] = found
    return verdicts, about_tokens


def _bare(verdict: Verdict) -> Verdict:
    """Without what the conjunction would copy of each part: it is in the condition's own verdict."""
    return replace(verdict, certificate=None, details={})


def bind(listed: System, weights: LayerWeights, answers: Answers) -> LayerSymbolValues:
    """The environment of one system on one layer; ``answers`` are shared between the systems."""
    matrices: dict[str, Enclosure] = {}
    scales: dict[str, float] = {}
    if weights.heads_only:
        heads = (
            tuple(_bind_group(listed, weights, each, answers) for each in weights.acting) if listed.multihead else ()
        )
        return LayerSymbolValues(f"layer {weights.index}", {}, heads=heads, answers=answers, unformed=weights.d)
    if listed.value:
        matrices[listed.value] = weights.value
        matrices.setdefault("F", weights.value)
    if listed.score:
        matrices[listed.score], scales[listed.score] = _score(weights)
    if listed.metric and listed.metric not in matrices:
        size = weights.d
        identity = answers.once(("identity", size), lambda: Enclosure.from_floats(np.eye(size), name="identity"))
        matrices[listed.metric] = identity
    heads = tuple(_bind_group(listed, weights, group, answers) for group in weights.acting) if listed.multihead else ()
    return LayerSymbolValues(
        f"layer {weights.index}",
        matrices,
        scales,
        gains=_gains(listed, weights),
        heads=heads,
        light=weights.is_wide,
        grouped=behind(weights),
        answers=answers,
    )


def _gains(listed: System, weights: LayerWeights) -> dict[str, Array]:
    """The gain G of the norm through which the tokens are read, where that is one of this layer (before the attention)."""
    known = weights.gain is not None and any(each.name == "G" for each in listed.further)
    return {"G": weights.gain} if known and weights.gain is not None else {}


def _score(weights: LayerWeights) -> tuple[Enclosure, float]:
    """The scores of the one head that acts, else of all heads together, times their scale."""
    if len(weights.acting) == 1 and len(weights.heads) > 1:
        head = weights.heads[weights.acting[0][0]]
        return head.score, head.scale
    return weights.score, weights.scale


def behind(weights: LayerWeights) -> dict[Enclosure, LowRank]:
    """The fewer rows behind F and S where heads share keys and values."""
    whole = {"value": weights.value, "score": weights.score} if weights.grouped else {}
    return {whole[role]: found for role, found in weights.grouped.items()}


def _bind_group(listed: System, weights: LayerWeights, group: tuple[int, ...], answers: Answers) -> SymbolValues:
    """One head that acts: alone, or several with equal scores, whose values add."""
    head = weights.heads[group[0]]
    if len(group) == 1:
        return bind_head(listed, head, answers.of_head(group[0]))
    if weights.heads_only:
        return LayerSymbolValues(head.prefix, {}, answers=answers, unformed=weights.d)
    value = answers.once(("values", *group), lambda: total([weights.heads[index].value for index in group]))
    return _whole(listed, head, value, answers)


def bind_head(
    listed: System, head: HeadWeights, answers: Answers, gains: Mapping[str, Array] | None = None
) -> SymbolValues:
    """The letters of one system on one head, through its factors where it is singular by its shapes."""
    if head.width >= head.d:
        return replace(_whole(listed, head, head.value, answers), gains=gains or {})
    roles = {name: "value" for name in (listed.value, "F") if listed.value and name}
    return HeadSymbolValues(
        head, roles | ({listed.score: "score"} if listed.score else {}), gains=gains or {}, answers=answers
    )


def _whole(listed: System, head: HeadWeights, value: Enclosure, answers: Answers) -> LayerSymbolValues:
    matrices: dict[str, Enclosure] = {name: value for name in (listed.value, "F") if listed.value and name}
    scales = {}
    if listed.score:
        matrices[listed.score] = head.score
        scales[listed.score] = head.scale
    return LayerSymbolValues(head.prefix, matrices, scales, answers=answers)
