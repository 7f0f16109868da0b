"""The summary of one statement, for a terminal screen or a JSON document: what it says, what was printed, what is wrong
with that and why we know, how the corrected form is derived, and what was run for it; and the equations of its systems.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import sympy as sp

from eigentoken.documents.statement_document import StatementDocument
from eigentoken.documents.statement_document import Step as StepRecord
from eigentoken.proofs.bibliography import BIBLIOGRAPHY
from eigentoken.proofs.on_samples import on_samples
from eigentoken.proofs.prior_art import PRIOR_ART
from eigentoken.proofs.typeset.abbreviations import printed_claims, sort
from eigentoken.proofs.typeset.ascii_formulas import with_mathematics
from eigentoken.proofs.typeset.kernel_steps import KernelDerivation, kernel_steps, notation
from eigentoken.proofs.typeset.obvious import systems_in_words
from eigentoken.proofs.verify import evidence_of, status_of
from eigentoken.theory.calculus.latex import expression_latex
from eigentoken.theory.kernel.propositions import free_letters, proposition
from eigentoken.theory.language import conditions
from eigentoken.theory.language.readings import LATEX
from eigentoken.theory.language.terms import alpha, k, matrix, p, q
from eigentoken.theory.linearization.linearize import linearize
from eigentoken.theory.printing.plain_text import plain_text, plain_words
from eigentoken.theory.statements.registry import Recalled, statements
from eigentoken.theory.statements.statement import Evidence, SourceKind, Statement
from eigentoken.theory.statements.steps import ALL_SIZES, Argument, Citation, Step
from eigentoken.theory.statements.subjects import subject_of
from eigentoken.theory.systems.algebra import NoClosedForm
from eigentoken.theory.systems.catalogue import system
from eigentoken.theory.systems.system import Space, System, Time

__all__ = [
    "ID",
    "ORIGIN",
    "Summary",
    "dropped_latex",
    "equation",
    "in_words",
    "letters_of",
    "named_above",
    "needed",
    "summary",
    "systems_of",
    "typed",
    "without_code",
]

#: Headings for the other form of a statement.
ORIGIN = {
    SourceKind.READ: "As printed",
    SourceKind.SUMMARISED: "As a summary has it",
    SourceKind.RECORDED: "As a formalisation records it",
    SourceKind.FORMALISED: "As formalised here",
}


#: What an id looks like; whether a statement has it, the registry says.
ID = re.compile(r"(?<![\w#.-])[A-Z]{2}-(?:[A-Z]{0,3}\d+(?:\.\d+)?[a-z]?['+]?|[A-Z]{1,4})(?![\w-])")


@dataclass(frozen=True)
class Summary:
    """One statement with its status, ready to be told."""

    statement: Statement
    status: str
    evidence: Evidence | None

    def as_dict(self) -> StatementDocument:
        """Everything, with LaTeX as it is printed in the book."""
        told = self.statement
        printed = told.printed
        return {
            "schema": "eigentoken/statement/4",
            "id": told.id,
            "kind": str(told.kind),
            "title": told.title,
            "source": str(told.source),
            "reading": str(told.source.reading),
            "status": self.status,
            "depends": list(told.depends),
            "systems": list(told.systems),
            "covers": told.covers.describe(),
            "text": told.text,
            "conditions": [LATEX(each) for each in told.conditions],
            "claims": [LATEX(each) for each in told.claims],
            "steps": list(_step_records(told)),
            "printed": None
            if printed is None
            else {
                "text": printed.text,
                "wrong": printed.wrong,
                "false": printed.false,
                "kind": str(printed.kind),
                "word": printed.finding,
                "counterexamples": [
                    {"name": each.name, "says": each.says, "instance": each.instance}
                    for each in printed.counterexamples
                ],
            },
            "dropped": [{"condition": each.dropped, "says": each.says} for each in told.variants],
            "vectors": [{"name": each.name, "expected": list(each.expected)} for each in told.vectors],
            "evidence": None if self.evidence is None else self.evidence.as_dict(),
            "notes": " ".join(map(str, told.notes)),
            "bibtex": BIBLIOGRAPHY[told.source.paper].text if told.source.paper in BIBLIOGRAPHY else "",
        }

    def sections(self, *, alone: bool = False) -> Iterator[tuple[str, list[str]]]:
        """Headings and paragraphs, in the order in which a reader wants them; ``alone``: the statement, not its derivation.

        What is named by its id alone stands below with its title.  Leading spaces of a paragraph are its hanging indent when it
        is wrapped: they are counted up to the first word after a marker (``1. ``, ``if    ``).
        """
        told, texts = self.statement, []
        for heading, lines in self._parts(alone):
            texts += lines
            yield heading, lines
        if named := named_above(texts, (told.id, *(() if alone else told.depends))):
            yield "Named above", [f"- {plain_text(each.called)}" for each in named]
        if not alone and told.source.paper in BIBLIOGRAPHY:
            yield "BibTeX", BIBLIOGRAPHY[told.source.paper].text.splitlines()

    def in_short(self) -> Iterator[tuple[str, list[str]]]:
        """What stands at the end of a text that does not fit a screen: what was found wrong and its first counterexample, and
        where the statement is without its derivation."""
        told = self.statement
        lines = [f"{plain_text(told.called)}; status: {self.status_words()}"]
        if told.printed is not None:
            lines.append(f"What is wrong in the form above: {plain_text(told.printed.wrong)}")
            lines += [f"Counterexample: {plain_text(each.says)}" for each in told.printed.counterexamples[:1]]
        lines.append(f"`eigentoken show {told.id} --text` prints the statement alone, without its derivation.")
        yield "In short", lines

    def _parts(self, alone: bool) -> Iterator[tuple[str, list[str]]]:
        told = self.statement
        yield plain_text(told.called), [f"{told.kind}, {told.source}; status: {self.status_words()}"]
        if told.printed is not None:
            how = "false" if told.printed.false else "imprecise"
            if told.printed.kind is SourceKind.SUMMARISED:
                how = "summary imprecise, no erratum of the paper"
            elif told.printed.kind is SourceKind.RECORDED:
                how += " as recorded, no erratum of the paper"
            lines = [plain_text(told.printed.text), f"What is wrong: {plain_text(told.printed.wrong)}"]
            lines += [
                f"Counterexample{among and f' ({among})'}: {plain_text(each.says)}"
                for each in told.printed.counterexamples
                for among in [without_code(each.name)]
            ]
            yield f"{ORIGIN[told.printed.kind]} ({how})", lines
        corrected = told.printed is not None and told.printed.erratum
        yield "Corrected statement" if corrected else "Statement", list(self._statement_lines(steps=not alone))
        if alone:
            return
        for found in kernel_steps(told):
            yield f"Derivation{systems_in_words(found.systems).replace('`', '')}", list(_kernel_lines(found))
        if told.proof is None and told.derivation is not None:
            yield "Derivation", list(self._step_lines())
        if told.variants:
            yield (
                "Conditions that are needed",
                [f"without {plain_words(dropped)}: {plain_words(says)}" for dropped, says in needed(told)],
            )
        if told.id in PRIOR_ART:
            yield "Prior art", [f"{plain_text(prior.has)} ({prior.key})" for prior in PRIOR_ART[told.id]]
        for remark in told.notes:
            yield remark.kind, [plain_text(remark.text)]
        if seen := on_samples(told.id):
            yield "On the sample models", seen
        if told.depends:
            yield "Depends on", [f"- {plain_text(statements().get(each).called)}" for each in told.depends]
        yield "Evidence", [self.evidence_sentence()]

    def _statement_lines(self, *, steps: bool = True) -> Iterator[str]:
        told = self.statement
        if told.systems:
            covered = plain_text(told.covers.describe())
            yield f"for {', '.join(told.systems)}" + (f" ({covered})" if covered else "")
        elif (subject := subject_of(told.id)) is not None:
            yield f"for {subject.what}"
        if told.text:
            yield plain_text(told.text)
        for each in told.conditions:
            yield f"if    {plain_text(LATEX(each))}"
        claims, letters = printed_claims(told)
        for place, claim in enumerate(claims):
            named = told.claims_from[place] if steps and place < len(told.claims_from) else ()
            made = told.derivation.steps if named and told.derivation else ()
            numbers = [str(number) for number, step in enumerate(made, 1) if step.name in named]
            by = f"  [step{'s' if len(numbers) > 1 else ''} {', '.join(numbers)}]" if numbers else ""
            yield f"then  {plain_text(claim)}{by}"
        if letters:
            yield f"where {plain_text(', '.join(letters))}"
        if told.claims and notation(told):
            yield plain_text(notation(told))

    def _step_lines(self) -> Iterator[str]:
        steps = self.statement.derivation.steps if self.statement.derivation else ()
        for number, step in enumerate(steps, 1):
            limit = "" if step.sizes() == ALL_SIZES else f", only for {step.sizes()}"
            mark = f"{number}.".ljust(3 if len(steps) < 10 else 4)
            yield f"{mark}{plain_text(step.says)} [{_how(step)}{limit}]"
            formula = plain_text(step.display())
            if formula:
                yield " " * len(mark) + formula

    def status_words(self) -> str:
        """The status, and the sizes to which some of its steps are limited."""
        sizes = () if self.evidence is None else self.evidence.scopes
        return f"{self.status}, some steps only for {'; '.join(sizes)}" if sizes else self.status

    def evidence_sentence(self) -> str:
        """What was run for exactly this text, in one sentence."""
        found = self.evidence
        if found is None:
            return f"No run is recorded for this text: `eigentoken verify {self.statement.id}` makes one."
        counts = (
            (found.checked, "step checked", "steps checked"),
            (found.cited, "cited", "cited"),
            (found.argued, "argued in words (not machine-checked)", "argued in words (not machine-checked)"),
            (found.second, "with a second opinion", "with a second opinion"),
            (found.vectors, "vector", "vectors"),
            (found.counterexamples, "counterexample", "counterexamples"),
            (found.tested, "instance tested", "instances tested"),
            (found.unseen, "claim that none of them looked at", "claims that none of them looked at"),
        )
        kernel = ["the claims proved by the kernel"] if found.proved else []
        parts = kernel + [f"{count} {one if count == 1 else many}" for count, one, many in counts if count]
        whole = ", ".join(parts) or "nothing was run"
        return f"{whole[0].upper()}{whole[1:]}."


def _step_records(told: Statement) -> Iterator[StepRecord]:
    """The steps of a derivation: as they are written, or off the tree of the proof."""
    for step in told.derivation.steps if told.proof is None and told.derivation else ():
        yield {
            "name": step.name,
            "kind": step.kind,
            "says": step.says,
            "formula": step.display(),
            "uses": list(step.uses),
            "scope": step.sizes(),
            "argued": step.argued,
        }
    for found in kernel_steps(told):
        for each in found.steps[:-1]:
            prefix = f"{found.systems[0]} " if len(told.proofs) > 1 else ""
            yield {
                "name": f"{prefix}{each.number}",
                "kind": each.rule,
                "says": " ".join(filter(None, (each.says, each.where))) or each.how,
                "formula": each.formula,
                "uses": [f"{prefix}{use}" for use in each.uses],
                "scope": ALL_SIZES,
                "argued": each.argued,
            }


def _kernel_lines(found: KernelDerivation) -> Iterator[str]:
    if found.notation:
        yield plain_text(found.notation)
    wide = len(str(found.steps[-1].number - 1)) + 2
    for step in found.steps[:-1]:
        mark = f"{step.number}.".ljust(wide)
        rests = f"; from {', '.join(map(str, step.uses))}" if step.uses else ""
        words = f"{plain_text(step.says)} " if step.says else ""
        yield f"{mark}{words}[{plain_text(step.how)}{rests}]"
        yield " " * len(mark) + plain_text(step.formula)
        if step.where:
            yield " " * len(mark) + plain_text(step.where)
    yield f"The claims follow from {', '.join(map(str, found.steps[-1].uses))}."


def _how(step: Step) -> str:
    """In a few words, how the step is known."""
    if isinstance(step, Argument):
        return "argued in words, not machine-checked"
    if isinstance(step, Citation):
        return f"cited: {step.theorem.name}"
    assumed = ", assuming " + " and ".join(plain_text(LATEX(each)) for each in step.assuming) if step.assuming else ""
    if isinstance(step, Recalled):
        return f"proved in {step.source}{assumed}" + (", which argues a step in words" if step.argued else "")
    return f"checked: {step.kind}{assumed}"


def dropped_latex(told: Statement, dropped: str) -> str:
    """A dropped condition as text with mathematics: the statement's own word where it is one, else its formula.

    >>> from eigentoken.theory.statements.statement import Kind, Source
    >>> dropped_latex(Statement("X", Kind.LEMMA, Source("", ""), ""), "alpha |lambda_k| < 1 or n odd")
    '$\\\\alpha |\\\\lambda_{k}| < 1$ or $n$ odd'
    """
    name = re.match(r"(\w+)\(", dropped)
    same = [each for each in told.conditions if name and type(each).__name__ == name.group(1)]
    this = [each for each in same if re.sub(r"(?<=[(\s])\w+=", "", repr(each)) == dropped] or same
    if len(this) == 1:
        return f"${LATEX(this[0])}$"
    word = re.fullmatch(r"(\w+)\(([A-Z])\)", dropped)
    if word and hasattr(conditions, word[1]):
        return f"${LATEX(getattr(conditions, word[1])(matrix(word[2])))}$"
    if name and name.group(1)[0].isupper() and len(name.group(1)) > 1:
        return f"`{dropped}`"
    return with_mathematics(dropped)


def needed(told: Statement) -> Iterator[tuple[str, str]]:
    """The conditions that were dropped, and what fails without each: as text with mathematics."""
    for each in told.variants:
        yield dropped_latex(told, each.dropped), with_mathematics(without_code(each.says))


def summary(statement: Statement) -> Summary:
    """The summary of a statement with its recorded evidence."""
    return Summary(statement, str(status_of(statement)), evidence_of(statement))


#: How the sheets of the audit number their test vectors: a code that no paper has.
CODE = re.compile(r"^(?:(?:TV-?[A-Z]?\d*[a-z]?(?:, TV\d+[a-z]?)*|CX-[A-Z]\d+)(?:[,:] |$))")


def without_code(name: str) -> str:
    """What tells a counterexample from others, as a reader meets it: the number of its test vector says nothing to them.

    >>> without_code("TV10, n = 2"), without_code("TV7a, TV7b: stable"), without_code("TV10"), without_code("odd n")
    ('n = 2', 'stable', '', 'odd n')
    """
    return CODE.sub("", name)


def named_above(texts: Iterable[str], but: Iterable[str] = ()) -> list[Statement]:
    """The statements whose ids stand in the texts, in order, without those in ``but``.

    >>> [each.id for each in named_above(["as in PM-L4 and GPT-2", "by PM-L3 (see PM-L4)"], but=["PM-L3"])]
    ['PM-L4']
    """
    left = set(but)
    names = dict.fromkeys(name for text in texts for name in ID.findall(text) if name not in left)
    found = (statements().registered(name) for name in names)
    return [each for each in found if each is not None]


def equation(made: System) -> str:
    """The equation of a system, from the system; empty where the calculus has none.

    >>> equation(system("oja-flow")).startswith(r"\\dot x_{i} = ")
    True
    """
    try:
        known = linearize(made, tangent=False)
    except NoClosedForm:
        return ""
    step = expression_latex(known.step, weights=True)
    if made.time is Time.FLOW:
        return rf"\dot x_{{i}} = {step}"
    if not known.assumptions.definitions:  # nothing is normalised
        return rf"x_{{i}}^{{+}} = {step}"
    first = expression_latex(next(iter(known.assumptions.definitions.values())), weights=True)
    return rf"x_{{i}}^{{+}} = {step}, \quad y_{{i}} = {first}"


def in_words(made: System) -> str:
    r"""What is printed where the calculus has no equation: the class's own, and what its module says of letters in it.

    >>> print(in_words(system("hard-attention-map")))
    $x_i^{+} = x_i + \alpha (c_i - x_i)$, $c_i$ the mean of the tokens of largest score
    """
    if made.rotary:
        lines = re.sub(r"\\(?:begin|end)\{aligned\}|&", "", made.latex).strip().split(r"\\")
        return ", where ".join(f"${' '.join(line.split()).rstrip(',')}$" for line in lines)
    if type(made) is System:
        return "its scores depend on the positions of the tokens, and the calculus has no formula for it"
    said = inspect.cleandoc(type(made).__doc__ or "").partition("\n\n")[0].rstrip(".")
    _, _, more = (getattr(inspect.getmodule(type(made)), "__doc__", "") or "").partition("\n\nWith ")
    letters = f", with {more.partition(':')[0]}" if more else ""
    return re.sub(r"``([^`]*)``", lambda found: f"${typed(found[1])}$", f"{said}{letters}".replace("\n", " "))


#: Plain letters of docstrings, and how they are set.
_TYPED = (
    (r"\b(lambda|alpha|theta|sum|sup|min|max|tan|angle|sin|cos|exp|log)(?![a-zA-Z])", r"\\\1 "),
    (r"<=", r"\\leq "),
    (r">=", r"\\geq "),
    (r"\^\(([^()]*)\)", r"^{\1}"),
    (r"\b([xz])_i'", r"\\dot \1_i"),
    (r"\^T\b", r"^{\\top}"),
    (r"\^\+", r"^{+}"),
    (r"\bsoftmax", r"\\operatorname{softmax}"),
    (r"_(ij)\b", r"_{\1}"),
)


def typed(code: str) -> str:
    """A formula in plain letters as mathematics.

    >>> print(typed("x_i' = A_i(theta)"))
    \\dot x_i = A_i(\\theta)
    """
    for plain, latex in _TYPED:
        code = re.sub(plain, latex, code)
    return re.sub(r" {2,}", " ", re.sub(r"(\\[a-z]+) (?=[^a-zA-Z ])", r"\1", code))


def _weights(made: System) -> str:
    """What the weights of a system are, if its equation has weights of scores."""
    if not made.score:
        return ""
    head, score = ("^h", f"{made.score}_h") if made.multihead else ("", made.score)
    seen = r"l \leq i" if made.mask == "causal" else "l"
    where = r"\ (j \leq i)" if made.mask == "causal" else ""
    return rf"a{head}_{{ij}} = \frac{{e^{{x_i^{{\top}} {score} x_j}}}}{{\sum_{{{seen}}} e^{{x_i^{{\top}} {score} x_l}}}}{where}"


def _space(made: System) -> str:
    if made.space is Space.EUCLIDEAN:
        return r"$x_i \in \mathbb R^d$"
    return rf"$x_i^{{\top}} {made.metric} x_i = 1$" if made.space is Space.ELLIPSOID else r"$|x_i| = 1$"


def _norm(made: System) -> str:
    return rf"(y_i^{{\top}} {made.metric} y_i)^{{1/2}}" if made.space is Space.ELLIPSOID else "|y_i|"


def systems_of(told: Statement) -> str:
    """The systems of a statement with their equations, in one paragraph; empty where it names none."""
    said = []
    for made in map(system, told.systems):
        shown = equation(made)
        own = f"${shown}$".replace(r", \quad ", "$, $") if shown else in_words(made)
        mean = rf"\bar x{'^h' if made.multihead else ''}_i"
        weights = (
            f", where ${mean}$ is the mean of the tokens with the weights ${_weights(made)}$"
            if _weights(made) and shown
            else ""
        )
        norm = rf", $r_i = {_norm(made)}$" if shown and "r_{i}" in shown else ""
        said.append(f"`{made.name}`, the {made.title}, on $n$ tokens with {_space(made)}: {own}{norm}{weights}")
    return "; ".join(said) + "." if said else ""


# -- what letters stand for ------------------------------------------------------------------------------------------

#: A sign in a formula, and what it says.
_LETTERS_OF_SIGNS = (
    (r"\\lambda_\{[^}]*\}\(", r"$\lambda_{\ell}(\cdot)$ is the eigenvalue number $\ell$ from the top, by real parts"),
    (r"(?<![A-Za-z])v_\{?[\w\\-]+\}?\(", r"$v_{\ell}(\cdot)$ a unit eigenvector of it"),
    (r"(?<![A-Za-z])u_\{?[\w\\-]+\}?\(", r"$u_{\ell}(\cdot)$ a unit left eigenvector of it"),
    (r"\\lVert", r"$\lVert \cdot \rVert$ the largest singular value"),
    (r"\\#", r"$\#\{\cdots\}$ counts eigenvalues, each as often as it is one"),
    (r"\\operatorname\{sym\}", r"$\operatorname{sym}(\cdot)$ the symmetric part of a matrix"),
)
_NUMBERS = {
    alpha: r"$\alpha > 0$ is the step",
    k: "$k$ is any number from $1$ to $d$",
    p: "$p$ tokens stand on one side and $q$ on the other, $p + q = n$",
}


def letters_of(told: Statement, text: str) -> str:
    """One sentence about the letters of the statement and of its text, which is in LaTeX; empty where there is nothing to say."""
    free = frozenset().union(*(free_letters(proposition(each)) for each in (*told.conditions, *told.claims)))
    steps = (
        {alpha} if any(each.kind == "step" for made in map(system, told.systems) for each in made.parameters) else set()
    )
    said = [*_parameters(told, free, text), *(words for letter, words in _NUMBERS.items() if letter in free | steps)]
    if q in free and p not in free:
        said.append(_NUMBERS[p])
    said += [words for sign, words in _LETTERS_OF_SIGNS if re.search(sign, text)]
    return f"{'; '.join(said)}." if said else ""


def _parameters(told: Statement, free: Iterable[object], text: str) -> Iterator[str]:
    """The matrices of the systems, and others that stand free in the statement."""
    known: dict[str, str] = {}
    for made in map(system, told.systems):
        for name, meaning in _of_system(made):
            known.setdefault(name, meaning)
    matrices = {each.name for each in free if isinstance(each, sp.MatrixSymbol) and sort(each) == "matrix"}
    matrices = {each for each in matrices if re.search(rf"(?<![A-Za-z\\]){each}(?![A-Za-z_])", text)}
    several = [made for made in map(system, told.systems) if made.multihead]
    for made in several[:1]:
        single = sorted({f"${one.value}$" for one in map(system, told.systems) if not one.multihead and one.value})
        more = f" ({' or '.join(single)} where there is one)" if single else ""
        if made.value == "F" and "F" in matrices:
            known.setdefault("F", rf"the sum $\sum_h F_h$ over the heads{more}")
        for each in made.head_parameters:  # what is said of one letter is said of each head
            if each.name in matrices - {"F"}:
                known.setdefault(each.name, f"any of the ${each.name}_h$")
        if any(isinstance(each, sp.Symbol) and each.name == "H" and each.is_integer for each in free):
            known["H"] = "the number of heads"
    if not several and "F" in matrices and "F" not in known:
        values = sorted({f"${made.value}$" for made in map(system, told.systems) if made.value})
        known |= {"F": f"the value matrix {' or '.join(values)}"} if values else {}
    for name in sorted(matrices - {*known}):
        known[name] = "a unit vector" if name.islower() else "a real matrix"
    for name, meaning in known.items():
        yield f"${name}$ is {meaning}"


def _of_system(made: System) -> Iterator[tuple[str, str]]:
    for each in made.head_parameters if made.multihead else ():
        yield f"{each.name}_h", f"{_short(each.meaning)} of head $h$"
    for each in made.parameters:
        if each.kind == "matrix":
            yield each.name, _short(each.meaning)


def _short(told: str) -> str:
    """What a parameter is, without the formula that is printed beside it."""
    short = re.split("[:,]", told)[0]
    return short if short.startswith(("symmetric", "a ")) else f"the {short}"
