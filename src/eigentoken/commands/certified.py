"""Certified answers: ``certify``, ``recheck``."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from eigentoken.commands import names
from eigentoken.output import progress, say, show_json, table

__all__ = ["add_to"]

JsonFlag = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]


def add_to(app: typer.Typer) -> None:
    app.command("certify")(certify)
    app.command("recheck")(recheck)


@contextmanager
def _named_as_typed(*options: str) -> Iterator[None]:
    """A complaint about one of ``options`` names it as it is typed."""
    try:
        yield
    except ValueError as problem:
        if str(problem).partition(" ")[0].rstrip(":") in options:
            raise ValueError(f"--{problem}") from None
        raise


def certify(
    condition: Annotated[
        str | None,
        typer.Argument(
            metavar="CONDITION", help="E.g. positive-definite; without one: the list.", autocompletion=names.conditions
        ),
    ] = None,
    matrix: Annotated[
        str | None, typer.Argument(metavar="MATRIX", help="A file: .npy, .json or .safetensors::name.")
    ] = None,
    radius: Annotated[str, typer.Option(help="Spectral-norm radius around the matrix.")] = "0",
    over: Annotated[
        str | None,
        typer.Option(metavar="A,B", help="All times of [A, B]: MATRIX is a .json of formulas in t, or of samples."),
    ] = None,
    alpha: Annotated[str | None, typer.Option(help="Step of dominant-step.")] = None,
    expected: Annotated[str | None, typer.Option(help="The rank, or the inertia as three counts with commas.")] = None,
    bound: Annotated[str | None, typer.Option(help="The bound of norm-bound.")] = None,
    within: Annotated[str | None, typer.Option(help="The distance of symmetric or identity.")] = None,
    by: Annotated[str, typer.Option(help="Order of dominant-complex-pair: real-part, modulus, step.")] = "real-part",
    seconds: Annotated[float, typer.Option(help="Time limit of the exact rung.", min=0)] = 10.0,
    device: names.DeviceOption = "cpu",
    save: Annotated[str | None, typer.Option(help="Write the certificate to this .json file.")] = None,
    json: JsonFlag = False,
) -> None:
    """One condition on one matrix: holds, fails or undecided.

    The verdict comes with a margin and a certificate; without arguments it lists the conditions.
    The answer is in the output, not in the exit code.

    Example: eigentoken certify positive-definite matrix.npy
    """
    from eigentoken.numerics.certified.arithmetic import using
    from eigentoken.numerics.certified.certify import certify as decide
    from eigentoken.numerics.certified.certify import check_meant, conditions
    from eigentoken.numerics.certified.devices import arithmetic_of

    if condition is None:
        if json:
            show_json({"schema": "eigentoken/conditions/1", "conditions": conditions()})
        else:
            table("conditions", ("name", "meaning"), conditions().items(), wrap=("meaning",))
        return
    matrix = _matrix_of(condition, matrix, conditions())
    wanted = None if expected is None else expected.split(",") if "," in expected else expected
    options: dict[str, Any] = {
        "alpha": alpha,
        "expected": wanted,
        "bound": bound,
        "within": within,
        "by": by,
        "time_limit": seconds,
    }
    if condition in conditions():
        check_meant(condition, by, alpha=alpha, bound=bound, within=within)
    if over is None:
        with _named_as_typed("radius", *options), progress(f"certifying {condition}"):
            verdict = decide(condition, matrix, radius=radius, device=device, **options)
    else:
        from eigentoken.numerics.certified.time_bounds import certify_at_all_times

        ends = tuple(over.split(","))
        if len(ends) != 2 or radius != "0":
            raise ValueError(f"--over needs two times such as 0,10 (and no --radius), got {over!r}")
        with using(arithmetic_of(device)), progress(f"certifying {condition} from {ends[0]} to {ends[1]}"):
            verdict = certify_at_all_times(condition, matrix, ends, **options)
    if save is not None and verdict.certificate is not None:
        from eigentoken.numerics.certified.certificates import save as store

        store(verdict.certificate, save)
    if json:
        found = verdict.as_dict()
        show_json(
            {
                "schema": "eigentoken/verdict/3",
                "condition": condition,
                "matrix": matrix,
                "verdict": found["verdict"],
                "margin": found["margin"],
                "unit": found["unit"],
                "reason": found["reason"],
                "certificate": found["certificate"],
                "details": found["details"],
            }
        )
        return
    margin = "" if verdict.margin is None else f" (margin {verdict.margin:.6g}, {verdict.unit})"
    say(
        f"{condition}: {verdict.answer!s}{margin}",
        {"holds": "green", "fails": "red"}.get(str(verdict.answer), "yellow"),
    )
    say(f"  {verdict.reason}")
    if verdict.certificate is not None:
        say(f"  certificate {verdict.certificate.kind}, digest {verdict.certificate.digest()[:16]}")
    if save is not None:
        say("  no certificate, so nothing was written" if verdict.certificate is None else f"wrote {save}")


def _matrix_of(condition: str, matrix: str | None, known: Collection[str]) -> str:
    """The matrix that was given; an error where it is not there, or stands in the place of the condition."""
    from eigentoken.theory.systems.suggestions import meant

    if matrix is not None and condition not in known and Path(condition).is_file():
        named = matrix if matrix in known else "CONDITION"
        raise ValueError(f"the condition comes first: eigentoken certify {named} {condition}")
    if matrix is None and condition not in known:
        raise ValueError(f"unknown condition {condition!r}: {meant(condition, known)}")
    if matrix is None:
        raise ValueError("certify needs a CONDITION and a MATRIX file: eigentoken certify positive-definite matrix.npy")
    return matrix


def recheck(
    document: Annotated[Path, typer.Argument(metavar="REPORT.json", help="What -o, --json or --save wrote.")],
    source: Annotated[str | None, typer.Option(help="The model or matrix, if it is elsewhere now.")] = None,
    states: Annotated[
        Path | None,
        typer.Option(help="The token states (.npy) of a check --states, where the report is too small for them."),
    ] = None,
    seconds: Annotated[float, typer.Option(help="Time limit for each certificate.", min=0)] = 60.0,
    run_predicates: Annotated[
        bool,
        typer.Option("--run-predicates", help="Run the free predicates of a refutation again: this runs their file."),
    ] = False,
    json: JsonFlag = False,
) -> None:
    """Re-verify a report with an independent arithmetic.

    Every number and word of it, or it is listed as not covered; and the hashes of the weights.

    Exit code 1 if any does not agree, or if the report states what its certificates do not support.
    Example: eigentoken recheck report.json
    """
    from eigentoken.rechecking.recheck import recheck_document, work_of_check

    work = work_of_check(document)
    if work is not None:
        from eigentoken.checking.estimate import of_recheck

        layers = f"{work.layers} layers" if work.layers > 1 else "1 layer"
        typer.echo(
            f"a check of {layers} is made again, and its {work.certificates} certificates are confirmed by another arithmetic: "
            f"one to two times the processor time of the check, {of_recheck(work.layers, work.d)}",
            err=True,
        )
    with progress("re-checking", None if work is None else work.parts) as advance:
        found = recheck_document(
            document,
            source=source,
            seconds=seconds,
            done=lambda: advance(),
            watch=lambda now: advance(0, f"re-checking: {now}"),
            run_predicates=run_predicates,
            states=states,
        )
    words, verdict = [each.agrees for each in found], found.verdict.text
    if json:
        show_json(found.as_dict())
    else:
        rows = [
            (_readable(each.where), _readable(each.condition), each.agrees, _readable(each.reason))
            for each in found
            if each.agrees != "holds"
        ]
        if rows:
            table("not confirmed", ("where", "condition", "agrees", "why"), rows, wrap=("where", "why", "condition"))
        counted = f"{words.count('holds')} of {len(words)} parts agree" if words else "nothing to re-check"
        say(f"{counted}: {verdict}", "bold")
        if found.not_covered:
            say(f"not covered by the re-check: {', '.join(found.not_covered)}")
    raise typer.Exit(1 if verdict == "fails" else 0)


def _readable(text: str) -> str:
    """LaTeX as Unicode; a text without a command of LaTeX as it is."""
    from eigentoken.theory.printing.plain_text import plain_text

    return plain_text(text) if "\\" in text else text
