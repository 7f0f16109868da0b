"""``refute``: search, shrink, certify; and ``drop``: which conditions are needed."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import closing, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

from eigentoken.documents.refutation_document import RefutationAnswer
from eigentoken.numerics.deadline import OutOfTime, limited
from eigentoken.numerics.instances.batches import Batch
from eigentoken.numerics.instances.plans import Contradiction, NotFound
from eigentoken.numerics.instances.sampling import sample
from eigentoken.numerics.lab.certify import Certified, certify_case, conjecture_document
from eigentoken.numerics.lab.conjectures import Conjecture, load
from eigentoken.numerics.lab.gathering import SearchFinding, UnitResult, ranges
from eigentoken.numerics.lab.notebook_progress import notebook_line
from eigentoken.numerics.lab.on_device import search_device
from eigentoken.numerics.lab.predicate_files import file_digest
from eigentoken.numerics.lab.premises import premise_holds
from eigentoken.numerics.lab.report import INTERRUPTED, DroppedLine, Progress, RefutationReport, RefutationResult
from eigentoken.numerics.lab.scale_out import Workers
from eigentoken.numerics.lab.schedule import FixedOrder, Turns
from eigentoken.numerics.lab.shrink import Tried, debunked, shrink
from eigentoken.numerics.lab.targets import Target, targets
from eigentoken.theory.language.claims import Claim
from eigentoken.theory.language.conditions import Condition
from eigentoken.theory.language.documents import GIVEN
from eigentoken.theory.language.readings import CERTIFIED, LATEX
from eigentoken.theory.printing.plain_text import plain_text

__all__ = ["Watcher", "prepared", "refute", "refute_conjecture", "refuted_by", "stated_in"]

#: Attempts to certify one kind of violation, for each round of the methods.
ATTEMPTS = 6
#: Where one instance is enough, these few cells of a plan are tried first, and all of them only where they give none.
FEW_CELLS = 4
#: Units of one target that make a round.
ROUND = 6

#: Seconds for looking again at what was seen when the time was over, and at most this share of the time.
GRACE, LATE = 5.0, 0.08
#: Seconds that a finding has until its first certificate, or as long as the search took until then.
PATIENCE = 5.0
#: What is said of every condition of a conjecture that falls with all of them.
FALLEN = "the conjecture with all its conditions is already refuted, so nothing can be said of need"

Watcher = Callable[[Progress], None]


def refute(
    subject: str | Path | Conjecture | Sequence[Conjecture],
    *,
    seconds: float = 60.0,
    instances: int | None = None,
    seed: int = 0,
    jobs: int = 1,
    backend: str = "loky",
    address: str | None = None,
    device: str = "cpu",
    drop: bool = False,
    skip: Collection[str] = (),
    watch: Watcher | None = None,
    finished: Callable[[RefutationReport], None] = lambda report: None,
) -> RefutationReport:
    """Attack the conjectures of a file (or one conjecture, or several).

    ``seconds`` is the time for each conjecture, ``instances`` the number of tried ones after which no new unit of
    work is begun (the units of that round are finished, so some thousands more may be tried); with the same seed and
    instances the result is the same for any number of workers.  All conjectures are read and their conditions checked
    before any is searched, so that a bad file gives one message and no partial report.  Conjectures with a name in ``skip`` are
    left out.  ``device`` (``cpu``, ``cuda``, ``auto``) is where large batches are looked at; what is seen there is looked
    at again on the processor.  ``finished`` is called with the
    report so far after each conjecture, ``watch`` with the progress after each unit of work (in a notebook a line is shown
    where it is not given).  An interrupt (Ctrl-C) ends the search and is no error: the report tells what was
    tried until then, and is ``interrupted``.
    """
    if not seconds > 0:
        raise ValueError(f"seconds must be a number above 0, got {seconds}")
    if instances is not None and instances < 1:
        raise ValueError(f"instances must be at least 1, got {instances}")
    place = search_device(device)
    text = file_digest(Path(subject)) if isinstance(subject, str | Path) and Path(subject).is_file() else None
    listed, file = stated_in(subject)
    ready = [
        (conjecture, *prepared(conjecture, seed, device=place)) for conjecture in listed if conjecture.name not in skip
    ]
    results = []
    own = notebook_line() if watch is None else None
    watch = own if watch is None else watch
    with Workers(jobs, backend, address) as workers, closing(own) if own is not None else nullcontext():
        workers.warm()
        for conjecture, aims, missing in ready:
            result = refute_conjecture(conjecture, aims, workers, seconds, instances, seed, watch, missing)
            if drop and result.stopped != INTERRUPTED:
                result = _with_dropped(result, conjecture, aims, workers, seconds, instances, seed, watch, place)
            results.append(result)
            finished(RefutationReport(tuple(results), file, text))
            if result.stopped == INTERRUPTED:
                break
    return RefutationReport(tuple(results), file, text)


def stated_in(subject: str | Path | Conjecture | Sequence[Conjecture]) -> tuple[list[Conjecture], str]:
    """The conjectures, and the file that they are from."""
    if isinstance(subject, str | Path):
        return load(subject), str(subject)
    found = list(subject) if isinstance(subject, Iterable) else [subject]
    for each in found:
        if not isinstance(each, Conjecture):
            raise TypeError(
                f"subject must be a Conjecture, several, or the file that states them, got {type(each).__name__}"
            )
    return found, ""


def prepared(
    conjecture: Conjecture, seed: int, *, partly: bool = False, device: str = "cpu"
) -> tuple[list[Target], dict[int, str]]:
    """The targets that have an instance, and why there is none for the others.

    Conditions that contradict each other are one clear error at the line of the conjecture; with ``partly`` it is none where
    they only contradict a claim or one side of an equivalence.
    """
    aims: list[Target] = []
    missing: dict[int, str] = {}
    for aim in targets(conjecture, partly=partly):
        try:
            drawn = sample(aim.plan, 4, seed, cells_at_most=FEW_CELLS)
            aims.append(replace(aim, device=device))
        except NotFound as problem:
            missing[id(aim.claim)] = str(problem)
            continue
        except Contradiction as problem:
            if aim.side and not partly:
                raise conjecture.error(f"{conjecture.name}: {problem}") from None
            continue
        except ValueError as problem:
            raise conjecture.error(f"{conjecture.name}: {problem}") from None
        if aim.claim is None or hasattr(aim.inner, "observable"):  # code of an author: what it raises is told at once
            for batch in (*_fewest_tokens(aim, seed), drawn.batches[0]):
                premise_holds(aim, batch.take([0]))
                aim.violation(batch.take([0]))
    return aims, missing


def _fewest_tokens(aim: Target, seed: int) -> tuple[Batch, ...]:
    """An instance with as few tokens as the plan allows, if there is one: code that asks for more fails on it."""
    fewest = min(shape[0] for shape in aim.plan.shapes())
    try:
        return sample(aim.plan.sized((fewest,), None), 1, seed, cells_at_most=FEW_CELLS).batches[:1]
    except ValueError:
        return ()


def refute_conjecture(
    conjecture: Conjecture,
    aims: list[Target],
    workers: Workers,
    seconds: float,
    instances: int | None,
    seed: int,
    watch: Watcher | None = None,
    missing: Mapping[int, str] | None = None,
) -> RefutationResult:
    """Search until a counterexample certifies, the time is over, or enough instances were tried.

    ``missing`` says, by the id of a claim, why there is no instance for it.
    """
    start = time.time()
    end = start + seconds
    tally = _Tally(end + min(GRACE, LATE * seconds))
    order = Turns(aims, seed, seconds) if instances is None else FixedOrder(aims, seed)
    proving = _Proving(aims, tally, start, end, seed, timed=instances is None)
    stopped = "time"
    known_losses = len(workers.lost)
    while aims and proving.found is None and time.time() < end:
        if instances is not None and tally.tried >= instances:
            stopped = "instances"
            break
        chunk = order.take(workers.width, end - time.time())
        try:
            results = list(workers.run(chunk, end))  # all of them, so that no worker is left in the middle of a unit
        except KeyboardInterrupt:
            stopped = INTERRUPTED
            break
        for (aim, unit), result in zip(chunk, results, strict=True):
            tally.add(result, aim.claim)
            order.learn(unit, result)
            if watch is not None:
                watch(tally.progress(conjecture.name, result, time.time() - start, end - time.time()))
            proving.look_into(aim, result, wait=order.opening)
            if proving.found is not None or (instances is not None and tally.tried >= instances):
                break
    found = proving.ended()
    stopped = "counterexample" if found is not None else stopped
    untested = tally.untested(conjecture, missing or {})
    answer: RefutationAnswer = (
        "refuted" if found else "candidate" if tally.candidate is not None else "not tested" if untested else "survived"
    )
    return RefutationResult(
        name=conjecture.name,
        system=conjecture.system,
        place=f"{conjecture.file}:{conjecture.line}",
        answer=answer,
        seed=seed,
        tried=tally.tried,
        units=tally.units,
        seconds=time.time() - start,
        best=tally.best,
        stopped=stopped,
        methods=tally.methods,
        corners=tally.corners,
        volume=tally.volume,
        unsettled=tally.unsettled,
        found_by=found[0].method if found else "",
        counterexample=found[1] if found else None,
        candidate=None if found else tally.candidate,
        expect=conjecture.expect,
        lost=tuple(workers.lost[known_losses:]),
        conjecture=conjecture_document(conjecture),
        untested=untested if answer == "not tested" else "",
    )


def refuted_by(conjecture: Conjecture, witness: Certified, seed: int, found_by: str) -> RefutationResult:
    """The result for a conjecture that falls by a counterexample which is known already: nothing was searched."""
    return RefutationResult(
        name=conjecture.name,
        system=conjecture.system,
        place=f"{conjecture.file}:{conjecture.line}",
        answer="refuted",
        seed=seed,
        tried=0,
        units=0,
        seconds=0.0,
        best=float("-inf"),
        stopped="counterexample",
        found_by=found_by,
        counterexample=witness,
        expect=conjecture.expect,
        conjecture=conjecture_document(conjecture),
    )


class _Proving:
    """Findings on their way to a certificate, one after the other."""

    def __init__(self, aims: list[Target], tally: _Tally, start: float, end: float, seed: int, *, timed: bool) -> None:
        self.aims, self.tally, self.start, self.end, self.seed, self.timed = aims, tally, start, end, seed, timed
        self.found: tuple[SearchFinding, Certified] | None = None
        self._waiting: list[tuple[Target, UnitResult]] = []
        self._failed, self._looked = [0] * len(aims), [0] * len(aims)
        self._tried = [Tried() for _ in aims]

    def look_into(self, aim: Target, result: UnitResult, *, wait: bool) -> None:
        """What a unit found, after what waited: each method has its first turn before any finding is looked into."""
        self._waiting.append((aim, result))
        while self._waiting and not wait and self.found is None:
            aim, result = self._waiting.pop(0)
            self.found = self._certified(aim, result)
            if self.found is None:
                self.tally.note(result, aim)
            else:
                self.tally.best = max(self.tally.best, result.best)

    def ended(self) -> tuple[SearchFinding, Certified] | None:
        """The counterexample; where there is none, what still waited is noted."""
        for aim, result in self._waiting if self.found is None else ():
            self.tally.note(result, aim)
        return self.found

    def _certified(self, aim: Target, result: UnitResult) -> tuple[SearchFinding, Certified] | None:
        """The first finding that certifies; where time is limited each has some until its first certificate."""
        number = self.aims.index(aim)
        self._looked[number] += 1
        most = ATTEMPTS * (1 + self._looked[number] // ROUND)
        for finding in result.findings:
            now = time.time()
            if self._failed[number] >= most or now > self.end:
                return None
            first_by = now + max(PATIENCE, now - self.start) if self.timed else None
            certified = shrink(aim, finding, self.end, self.seed, self._tried[number], first_by)
            if certified is not None:
                return finding, certified
            self._failed[number] += 1
        return None


class _Tally:
    """What was tried so far."""

    def __init__(self, latest: float) -> None:
        self.latest = latest
        "The time of the clock after which nothing is looked into."
        self.tried = self.units = self.unsettled = 0
        self.best = float("-inf")
        self.methods: dict[str, int] = {}
        self.corners: dict[str, int] = {}
        self.volume: dict[str, tuple[float, float]] = {}
        self.candidate: dict[str, object] | None = None
        self.worst = float("-inf")
        self.judged: dict[int, int] = {}
        self.errors: dict[int, str] = {}

    def add(self, result: UnitResult, claim: Claim | None) -> None:
        self.judged[id(claim)] = self.judged.get(id(claim), 0) + max(0, result.tried - result.unsettled)
        self.errors |= {id(claim): result.error} if result.error else {}
        self.tried += result.tried
        self.units += 1
        self.unsettled += result.unsettled
        method = result.unit.method
        self.methods[method] = self.methods.get(method, 0) + result.tried
        for name, count in result.corners.items():
            self.corners[name] = self.corners.get(name, 0) + count
        self.volume = ranges(self.volume, result.volume)

    def untested(self, conjecture: Conjecture, missing: Mapping[int, str]) -> str:
        """Why a claim was not tested: each must have had an instance that was judged; empty where all were."""
        for claim in (*conjecture.claims, *([None] if conjecture.holds_if is not None else [])):
            if self.judged.get(id(claim), 0) > 0:
                continue
            late = "the time was over before an instance was judged"
            open_ones = (
                f"all {self.tried} instances were left open" if self.tried and id(claim) in self.judged else late
            )
            why = missing.get(id(claim)) or self.errors.get(id(claim)) or open_ones
            return f"{'the predicate' if claim is None else plain_text(str(LATEX(claim)))}: {why}"
        return ""

    def note(self, result: UnitResult, aim: Target) -> None:
        """Violations that did not certify are candidates, but for those that are shown to be artefacts of rounding.

        That is looked into for a moment even when the time is over: what was seen is not forgotten.
        """
        seen = [each for each in result.findings if not each.hint]
        try:
            with limited(self.latest):
                for each in tuple(seen):
                    if debunked(aim, each):
                        seen.remove(each)
        except OutOfTime:
            pass
        self.best = max(self.best, result.best if seen or result.best < 0 else 0.0)
        for finding in seen:
            if self.candidate is None or finding.violation > self.worst:
                self.worst = finding.violation
                self.candidate = _candidate(finding)

    def progress(self, name: str, latest: UnitResult, seconds: float, left: float) -> Progress:
        best = max(self.best, latest.best)
        return Progress(name, latest.unit.method, self.tried, self.tried / max(seconds, 1e-9), best, seconds, left)


def _candidate(finding: SearchFinding) -> dict[str, object]:
    """A float violation, for the report: never a refutation."""

    def listed(value: Any) -> Any:
        if callable(value):
            return "depends on time"
        if isinstance(value, list):
            return [{name: listed(each) for name, each in head.items()} for head in value]
        return value[0].tolist()

    batch = finding.batch
    return {
        "violation": finding.violation,
        "method": finding.method,
        "system": batch.system.name,
        "k": batch.k,
        "p": batch.p,
        **{name: listed(value) for name, value in batch.parameters.items()},
        "tokens": batch.tokens[0].tolist(),
    }


def _with_dropped(
    result: RefutationResult,
    conjecture: Conjecture,
    aims: list[Target],
    workers: Workers,
    seconds: float,
    instances: int | None,
    seed: int,
    watch: Watcher | None,
    device: str = "cpu",
) -> RefutationResult:
    """The result with a line for each condition; where the conjecture itself falls, nothing is said of need."""
    lines: list[DroppedLine] = []
    asked: list[Condition | None] = [*conjecture.conditions, *([] if conjecture.given is None else [None])]
    for index, condition in enumerate(asked) if result.answer != "refuted" else ():
        line, witness, method = _dropped(conjecture, index, workers, seconds, instances, seed, watch, device)
        if witness is not None and (condition is None or CERTIFIED(condition, witness.case).is_holds):
            whole = next((made for aim in aims if (made := certify_case(aim, witness.case)) is not None), None)
            if whole is not None:  # the search without the condition found what the search with it had missed
                result = replace(
                    result,
                    answer="refuted",
                    counterexample=whole,
                    candidate=None,
                    found_by=method,
                    stopped="counterexample",
                )
                break
        lines.append(line)
    if result.answer == "refuted":
        lines = [DroppedLine(_text(each), None, FALLEN) for each in asked]
    return replace(result, dropped=tuple(lines))


def _text(condition: Condition | None) -> str:
    return GIVEN if condition is None else str(LATEX(condition))


def _dropped(
    conjecture: Conjecture,
    index: int,
    workers: Workers,
    seconds: float,
    instances: int | None,
    seed: int,
    watch: Watcher | None,
    device: str,
) -> tuple[DroppedLine, Certified | None, str]:
    """The conjecture without one condition: the line, and the certified witness with the method that found it."""
    text = _text(conjecture.conditions[index] if index < len(conjecture.conditions) else None)
    weaker = conjecture.without(index)
    try:
        aims, missing = prepared(weaker, seed, device=device)
    except ValueError as problem:
        return DroppedLine(text, None, f"could not be tried without it: {problem}"), None, ""
    result = refute_conjecture(weaker, aims, workers, seconds, instances, seed, watch, missing)
    if result.answer == "not tested":
        return DroppedLine(text, None, f"not tested without it: {result.untested}"), None, ""
    if result.answer == "refuted":
        line = DroppedLine(text, True, "a certified counterexample exists without it", result.counterexample)
        return line, result.counterexample, result.found_by
    if result.answer == "candidate":
        return DroppedLine(text, None, f"a float violation of {result.best:.3g} was not certified"), None, ""
    return DroppedLine(text, False, f"{result.tried} instances without it, none failed"), None, ""
