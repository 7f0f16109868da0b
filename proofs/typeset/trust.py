"""What a statement rests on: what a reader must believe besides the rules of the kernel.

For a statement that the kernel proves this is read off the tree of the proof; for one that stands on ``stepwise`` it is what its
steps cite, recall and argue, and that they are put together by names.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from importlib.metadata import version

from eigentoken.proofs.typeset.kernel_steps import steps_behind
from eigentoken.proofs.typeset.obvious import listed
from eigentoken.theory.kernel.proved import Proved, SolverQuestion
from eigentoken.theory.language.readings import LATEX
from eigentoken.theory.printing.plain_text import plain_text
from eigentoken.theory.statements.registry import Recalled, statements
from eigentoken.theory.statements.statement import Statement
from eigentoken.theory.statements.steps import Argument, Citation

__all__ = ["trust"]

#: What a rule other than logic asks a reader to believe.
BELIEVED = {
    "spectrum": "the linearization engine, which derives the spectrum for symbolic n and d from the equation of the system",
    "equilibrium": "the linearization engine, which derives where the system rests",
    "antipodal_rest": "the calculus, which shows that a state of two opposite halves rests",
    "attention_rank": "the attention matrix of tokens in groups has the rank of the matrix of the groups' exponentials",
    "two_cycle": "the linearization engine, which derives the heights of a map",
    "reduction": "the normal form of the calculus, for symbolic n and d",
    "increment": "the derivative (or the increment) of a quantity, from the equation of the system",
    "slope": "the derivative of a quantity at a state, from the equation of the system",
    "opposite": "the value of a quantity at the opposite state, from the equation of the system",
    "same_state": "the equation of the system does not depend on time where its weights do not",
    "linear_stability": "linear stability is decided by the spectrum, of a pair of roots by their sum and product",
    "stability_of_any": "linear stability is decided by the spectrum that the engine derives, by real parts and moduli",
    "linear_instability": "linear instability is decided by the spectrum, of a pair of roots by their sum and product",
    "unstable": "a place is linearly unstable where the derivative stretches a tangent family at each of its states",
    "pair": "of two tokens each has the other beside it, and their sum is that of all",
    "eigenvalue_order": "eigenvalues of a symmetric matrix are real and numbered from the top",
    "norm_of_symmetric": "the norm of a symmetric matrix is the largest modulus of its eigenvalues",
    "dissipates": "a quantity that falls at least as fast as the squared speed falls strictly off the equilibria",
    "meaning": "what words of the language mean in other words",
    "half_space": "what half spaces by a top eigenvector are in other words",
    "as_form": "a definite or invertible matrix is what its form is for all vectors",
    "invertible": "a word about an inverse says that there is one",
    "velocity_at": "the equation of the system, evaluated in exact expressions",
    "enclosure": "numbers without letters, compared in balls (Arb)",
    "exact_matrix": "minors of matrices with exact entries",
}


def trust(statement: Statement) -> Iterator[tuple[str, list[str]]]:
    """Headings and lines, for a terminal."""
    proofs = statement.proofs
    if not proofs:
        yield from _by_names(statement)
        return
    for name, proved in proofs.items():
        about = f" for {name}" if name else ""
        yield f"Proved by the kernel{about}", [f"{sum(1 for _ in proved.tree())} steps, for {_sizes(proved)}"]
        words = [getattr(each, "word", None) for each in proved.hypotheses]
        yield "Conditions that are used", [plain_text(LATEX(word)) for word in words if word is not None]
        yield "Rests on", list(_rests_on(proved, steps_behind(statement, proved)))


def _sizes(proved: Proved) -> str:
    return "; ".join(proved.scope()) or "all sizes"


def _rests_on(proved: Proved, places: Callable[[Proved], tuple[int, ...]]) -> Iterator[str]:
    rules = Counter(node.rule for node in proved.tree())
    yield from (meaning for rule, meaning in BELIEVED.items() if rules[rule])
    yield from _books(proved, places)
    for node in proved.rests_on("recall"):
        yield f"{statements().get(node.detail[0]).called}, proved by the kernel"
    for node in proved.rests_on("argued"):
        yield f"an argument in words: {node.detail}"
    asked = [node.detail for node in proved.tree() if isinstance(node.detail, SolverQuestion)]
    real, same = sum(not each.identity for each in asked), sum(each.identity for each in asked)
    if real:
        yield f"z3 {version('z3-solver')} for real arithmetic, asked {_times(real)}; `verify` asks cvc5 again"
    if same:
        yield f"the normal form of scalars for identities, asked {_times(same)}; `verify` asks FLINT again"
    if rules["integers"]:
        yield f"z3 {version('z3-solver')} for integers, asked {_times(rules['integers'])}"


def _books(proved: Proved, places: Callable[[Proved], tuple[int, ...]]) -> Iterator[str]:
    """Each theorem of a book once, with the printed steps that use it and those in which its hypotheses are proved."""
    owners: dict[int, str] = {}
    for node in proved.rests_on("recall"):  # those inside come first
        for each in node.premises[0].tree():
            owners.setdefault(id(each), node.detail[0])
    uses: dict[str, dict[str, list[int]]] = {}
    for node in proved.rests_on("textbook"):
        theorem, _ = node.detail
        found = uses.setdefault(f"{theorem.name} ({theorem.reference})", {})
        if id(node) in owners:
            found.setdefault(f"in {statements().get(owners[id(node)]).called}", [])
            continue
        shown = sorted({number for each in node.premises for number in places(each)} - {*places(node)})
        by = _steps(shown) if shown else "the conditions"
        at = found.setdefault(f", its hypotheses by {by}" if node.premises else "", [])
        at += [number for number in places(node) if number not in at]
    for theorem, used in uses.items():
        yield f"{theorem}: {'; '.join(f'in {_steps(sorted(at))}{by}' if at else by for by, at in used.items())}"


def _steps(numbers: list[int]) -> str:
    return f"{'step' if len(numbers) == 1 else 'steps'} {listed(map(str, numbers))}"


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _by_names(statement: Statement) -> Iterator[tuple[str, list[str]]]:
    steps = () if statement.derivation is None else statement.derivation.steps
    yield (
        "Not proved by the kernel",
        [f"{len(steps)} steps are checked one by one, and put together by the names of facts"],
    )
    cited = [f"{step.theorem.name} ({step.theorem.reference})" for step in steps if isinstance(step, Citation)]
    recalled = [step.source for step in steps if isinstance(step, Recalled)]
    argued = [f"{step.name}: argued in words" for step in steps if isinstance(step, Argument)]
    lines = [*dict.fromkeys(cited), *dict.fromkeys(recalled), *argued]
    if lines:
        yield "Rests on", lines
