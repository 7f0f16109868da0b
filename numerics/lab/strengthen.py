"""``strengthen``: how much more could be said than a conjecture that survives says, as a table with evidence.

Every change is a conjecture of its own and is attacked by :mod:`eigentoken.numerics.lab.refutation`: it falls by a certified
counterexample, or so many instances survive, which is no proof.  Constants are moved until the conjecture falls, then the
threshold is narrowed by bisection; a counterexample that is known is tried before anything is searched.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import sympy as sp

from eigentoken.numerics.deadline import OutOfTime, limited
from eigentoken.numerics.lab.certify import Certified, certify_case
from eigentoken.numerics.lab.conjectures import Conjecture
from eigentoken.numerics.lab.descent import descended
from eigentoken.numerics.lab.refutation import Watcher, prepared, refute_conjecture, refuted_by, stated_in
from eigentoken.numerics.lab.report import INTERRUPTED, RefutationResult
from eigentoken.numerics.lab.scale_out import Workers
from eigentoken.numerics.lab.shrink import shrink
from eigentoken.numerics.lab.strengthen_report import Strengthened, StrengthenReport, StrengthenRow, Trial
from eigentoken.numerics.lab.targets import Target
from eigentoken.numerics.lab.variants import Constant, constants, variants
from eigentoken.theory.language.readings import LATEX

__all__ = ["strengthen"]

#: How far a constant is moved at first, in units of its size (at least 1), until the conjecture falls.
FAR = (1, 4, 16)
#: The finest distance at which a threshold is looked for: its size divided by this.
FINEST = 64
#: Values of one constant that are tried between one that survives and one that falls, at most.
BISECTIONS = 6
#: Known counterexamples from which a descent starts.
LATEST = 2
KNOWN = "a counterexample that was known"


def strengthen(
    subject: str | Path | Conjecture | Sequence[Conjecture],
    *,
    seconds: float = 10.0,
    instances: int | None = None,
    seed: int = 0,
    jobs: int = 1,
    backend: str = "loky",
    address: str | None = None,
    watch: Watcher | None = None,
    finished: Callable[[StrengthenReport], None] = lambda report: None,
) -> StrengthenReport:
    """What could be said beyond the conjectures of a file (or one conjecture, or several).

    ``seconds`` is the time for each search, of which there is one for each condition, each sharper claim and several for each
    constant; ``instances`` as for ``refute``.  ``finished`` is called with the report so far after each row.  Only what
    survives is strengthened.  An interrupt (Ctrl-C) ends the search and is no error.
    """
    if not seconds > 0:
        raise ValueError(f"seconds must be a number above 0, got {seconds}")
    if instances is not None and instances < 1:
        raise ValueError(f"instances must be at least 1, got {instances}")
    listed, file = stated_in(subject)
    aims = [prepared(conjecture, seed) for conjecture in listed]
    done: list[Strengthened] = []
    with Workers(jobs, backend, address) as workers:
        workers.warm()
        for conjecture, (targets, missing) in zip(listed, aims, strict=True):
            bench = _Bench(workers, seconds, instances, seed, watch)
            whole = refute_conjecture(conjecture, targets, workers, seconds, instances, seed, watch, missing)
            made = Strengthened(whole, ())
            if whole.answer == "survived" and whole.stopped != INTERRUPTED:
                for made in _rows(conjecture, targets, whole, bench):
                    finished(StrengthenReport((*done, made), file))
            done.append(made)
            finished(StrengthenReport(tuple(done), file))
            if made.interrupted:
                break
    return StrengthenReport(tuple(done), file)


@dataclass
class _Bench:
    """Searches with one budget each."""

    workers: Workers
    seconds: float
    instances: int | None
    seed: int
    watch: Watcher | None

    def attacked(
        self,
        conjecture: Conjecture,
        to: str,
        known: Sequence[Certified],
        near: Iterable[Conjecture],
        *,
        descend: bool = False,
    ) -> Trial:
        """The conjecture attacked: by the counterexamples that are known, in narrower conjectures ``near``, then as it is."""
        try:
            aims, missing = prepared(conjecture, self.seed)
        except ValueError as problem:
            return Trial(to, None, str(problem))
        again = next((made for each in known if (made := _certified(aims, each)) is not None), None)
        if again is not None:
            return Trial(to, refuted_by(conjecture, again, self.seed, KNOWN))
        if descend:
            again = self._descended(aims, known)
            if again is not None:
                return Trial(
                    to, refuted_by(conjecture, again, self.seed, "descent from a counterexample that was known")
                )
        tried = 0
        for narrower in near:
            found = self._searched(narrower)
            tried += 0 if found is None else found.tried
            if found is not None and found.counterexample is not None:
                again = _certified(aims, found.counterexample)
                if again is not None:
                    fallen = refuted_by(conjecture, again, self.seed, found.found_by)
                    return Trial(to, replace(fallen, tried=tried))
        whole = refute_conjecture(
            conjecture, aims, self.workers, self.seconds, self.instances, self.seed, self.watch, missing
        )
        return Trial(to, replace(whole, tried=whole.tried + tried))

    def _descended(self, aims: Sequence[Target], known: Sequence[Certified]) -> Certified | None:
        """A counterexample that is reached from the latest known ones, within the time of a search."""
        end = time.time() + self.seconds
        for aim in aims:
            for witness in known[:LATEST]:
                try:
                    with limited(end):
                        finding = descended(aim, witness, self.seed)
                except OutOfTime:
                    return None
                made = None if finding is None else shrink(aim, finding, end, self.seed)
                if made is not None:
                    return made
        return None

    def _searched(self, conjecture: Conjecture) -> RefutationResult | None:
        """``None`` where no instance satisfies the conditions."""
        try:
            aims, missing = prepared(conjecture, self.seed, partly=True)
        except ValueError:
            return None
        return refute_conjecture(
            conjecture, aims, self.workers, self.seconds, self.instances, self.seed, self.watch, missing
        )


def _certified(aims: Sequence[Target], witness: Certified) -> Certified | None:
    """The same instance as a counterexample to what the targets are of, if it is one."""
    return next((made for aim in aims if (made := certify_case(aim, witness.case)) is not None), None)


def _rows(conjecture: Conjecture, aims: list[Target], whole: RefutationResult, bench: _Bench) -> Iterator[Strengthened]:
    """The conjecture with one row more each time; it ends where a counterexample refutes the conjecture itself."""
    rows: list[StrengthenRow] = []
    for row in _tried(conjecture, bench):
        rows.append(row)
        witness = next((made for each in row.witnesses if (made := _certified(aims, each)) is not None), None)
        if witness is not None:  # a search for something else found what the search for this had missed
            yield Strengthened(replace(refuted_by(conjecture, witness, bench.seed, KNOWN), tried=whole.tried), ())
            return
        so_far = Strengthened(whole, tuple(rows))
        yield so_far
        if so_far.interrupted:
            return


def _tried(conjecture: Conjecture, bench: _Bench) -> Iterator[StrengthenRow]:
    known: list[Certified] = []
    for each in variants(conjecture):
        words = getattr(conjecture, each.part)
        word = str(LATEX(words[each.number])) if each.number < len(words) else "given"
        trial = bench.attacked(each.conjecture, each.to, known, each.near())
        row = StrengthenRow(each.kind, each.part, each.number, word, None, (trial,))
        known += row.witnesses
        yield row
    for constant in constants(conjecture):
        for way in constant.ways:
            trials = tuple(_moved(constant, way, bench, known))
            if trials:
                row = StrengthenRow(
                    "constant", constant.part, constant.number, constant.word, str(constant.value), trials
                )
                known += row.witnesses
                yield row


def _moved(constant: Constant, way: int, bench: _Bench, known: Sequence[Certified]) -> Iterator[Trial]:
    """Trials with the constant moved one way: far out until it falls, then as near as it may fall, then between."""
    size = sp.Integer(1) if constant.whole else sp.Max(1, abs(constant.value))
    witnesses = list(known)
    alive, fallen = constant.value, None
    for number in range(len(FAR) + 1 + BISECTIONS):
        if fallen is None:
            if number >= len(FAR):
                return
            at = constant.value + way * size * FAR[number]
        else:
            at = _between(constant, alive, fallen, size * way)
            if at is None:
                return
        changed = constant.put(at)
        if changed is None:  # it says nothing, or nothing that may be said
            return
        near = (
            replace(changed, conditions=(*changed.conditions, each)) for each in constant.between(constant.value, at)
        )
        trial = bench.attacked(changed, str(at), witnesses, near, descend=True)
        yield trial
        if trial.result is None or trial.result.answer not in ("refuted", "survived") or trial.interrupted:
            return
        if trial.result.counterexample is not None:
            witnesses.insert(0, trial.result.counterexample)
            fallen = at
        else:
            alive = at


def _between(constant: Constant, alive: sp.Rational, fallen: sp.Rational, step: sp.Rational) -> sp.Rational | None:
    """The next value to try: nearest to the constant first, later a simple number near the middle; ``None`` where done."""
    width = abs(fallen - alive)
    if constant.whole:
        return None if width <= 1 else alive + (fallen - alive) // 2
    if width <= abs(step) / FINEST:
        return None
    if alive == constant.value:
        return alive + step / FINEST
    low, high = sorted((alive, fallen))
    return _simplest(low + width / 4, high - width / 4)


def _simplest(low: sp.Rational, high: sp.Rational) -> sp.Rational:
    """The rational number of smallest denominator in ``[low, high]``.

    >>> _simplest(sp.Rational(1, 3), sp.Rational(5, 8))
    1/2
    """
    denominator = 1
    while sp.floor(high * denominator) < sp.ceiling(low * denominator):
        denominator += 1
    return sp.Rational(sp.ceiling(low * denominator), denominator)
