"""The book on the command line: ``statements``, ``show``, ``verify``, ``derive``."""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from eigentoken.commands import names
from eigentoken.documents.coq_document import CoqDocument
from eigentoken.documents.coq_document import File as CoqFile
from eigentoken.files.writing import ready, write_text
from eigentoken.output import progress, say, say_hanging, show_json, styled, table

if TYPE_CHECKING:
    from eigentoken.checking.layers import Held
    from eigentoken.proofs.verify import Verified
    from eigentoken.theory.statements.statement import Evidence

__all__ = ["add_to"]

#: What is longer than a screen of so many lines ends with what matters: it is read from its end.
SCREEN, WIDTH = 40, 76

JsonFlag = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]


def add_to(app: typer.Typer) -> None:
    app.command("statements")(list_statements)
    app.command("show")(show)
    app.command("verify")(verify)
    app.command("derive")(derive)


def list_statements(
    search: Annotated[str, typer.Option(help="Words that title, conditions or claims must contain.")] = "",
    needs: Annotated[str, typer.Option(help="A condition, e.g. symmetric, hemisphere, gap, step.")] = "",
    about: Annotated[str, typer.Option(help="A system or mask, e.g. causal, oja-map, flow.")] = "",
    holds_for: Annotated[
        str, typer.Option(metavar="MODEL", help="Only what holds for a layer or a head of this model.")
    ] = "",
    json: JsonFlag = False,
) -> None:
    """The registry, or what of it answers a question.

    Title, id, kind and status; source and what each depends on with --json.

    Several questions are asked together.  With --holds-for the weights of the model are checked (no tokens are run): in how
    many layers a statement holds, and by how many heads, each taken alone, its conditions on weights are met.

    Example: eigentoken statements --needs hemisphere --about causal
    """
    from eigentoken.proofs.contents import matching
    from eigentoken.proofs.contents import rows as contents

    rows = matching(contents(), search=search, needed=needs, system_of=about)
    held: dict[str, Held] = {}
    if holds_for:
        held = _layers_that_hold(holds_for, [row["id"] for row in rows])
        rows = [row for row in rows if any(held[row["id"]])]
    if json:
        asked = {"search": search, "needs": needs, "about": about, "holds_for": holds_for}
        given = {name: value for name, value in asked.items() if value}
        layers, heads = ({name: each[place] for name, each in held.items()} for place in (0, 1))
        show_json(
            {
                "schema": "eigentoken/statements/5",
                "asked": given,
                "layers": layers,
                "heads": heads,
                "statements": rows,
            }
        )
        return
    cells: list[tuple[str, ...]] = [
        (
            *(row["title"], row["id"], row["kind"], styled(str(row["status"]), "*" if row["listed_sizes"] else "")),
            *(map(str, held[row["id"]]) if held else ()),
        )
        for row in rows
    ]
    if holds_for and not rows:
        say(
            f"No statement holds in a layer or for a head of {holds_for}: `eigentoken check {holds_for}` says what is in the way."
        )
        return
    if not rows:
        say(f"No statement has {_asked(search, needs, about)}.")
        return
    columns = ("title", "id", "kind", "status", *(("layers", "heads") if held else ()))
    table(f"{len(rows)} statements", columns, cells, wrap=("title",))
    if held:
        say(
            "heads: those that meet the conditions on weights, each taken alone; what is asked of tokens was not looked at"
        )
    if any(row["listed_sizes"] for row in rows):
        say("* some steps only for listed sizes")
    say("`eigentoken show ID` for one of them, `eigentoken verify` to re-run them.")


def _asked(search: str, needs: str, about: str) -> str:
    """What was asked for, with the word of the registry that a word which occurs nowhere may stand for."""
    from eigentoken.proofs.contents import rows as contents
    from eigentoken.theory.systems.suggestions import nearest

    rows = contents()
    needed = " ".join(each for row in rows for each in row["needs"]).lower()
    systems = " ".join(row["about"] for row in rows).lower()
    texts = " ".join([needed, systems, *(f"{row['title']} {row['says']} {row['source']}" for row in rows)]).lower()
    asked = []
    for option, question, text in (("search", search, texts), ("needs", needs, needed), ("about", about, systems)):
        unknown = [each for each in question.lower().split() if each not in text]
        words = dict.fromkeys(re.findall(r"[a-z][a-z-]{3,}", text))
        meant = [near[0] for each in unknown if (near := nearest(each, words))]
        asked += (
            [f"--{option} {question!r}" + (f" (did you mean {' '.join(meant)}?)" if meant else "")] if question else []
        )
    return " and ".join(asked)


def _layers_that_hold(model: str, ids: list[str]) -> dict[str, Held]:
    """For each statement that speaks of weights: in how many layers it holds (and asks something of them), and for heads."""
    from eigentoken.checking.layers import layers_that_hold
    from eigentoken.checking.run import open_model

    opened = open_model(model)
    distinct = len({opened.architecture.weights_of(index) for index in range(opened.n_layers)})
    with progress(f"checking {model}", distinct) as advance:
        return layers_that_hold(opened, ids, lambda layer: advance(1, f"checking {model}, layer {layer} done"))


def show(
    name: Annotated[
        str,
        typer.Argument(
            metavar="ID", help="A statement, e.g. PM-L4 (`statements` lists them).", autocompletion=names.statement_ids
        ),
    ],
    text: Annotated[bool, typer.Option("--text", help="The statement alone, without its derivation.")] = False,
    trust: Annotated[bool, typer.Option("--trust", help="What it rests on instead.")] = False,
    json: JsonFlag = False,
) -> None:
    """One statement: conditions, claims, steps, corrections.

    Says how each step is checked, what the paper has wrong, and the BibTeX of the source.  With --trust: what a reader must
    believe, theorems of books, engines and solvers, sizes, arguments in words.

    Example: eigentoken show PM-L4
    """
    from eigentoken.proofs.typeset.summary import summary
    from eigentoken.theory.statements.registry import statements

    told = summary(statements().get(name))
    if json:
        show_json(told.as_dict())
        return
    if text and trust:
        raise ValueError("--text and --trust are two answers: give one of them")
    if trust:
        from eigentoken.proofs.typeset.trust import trust as rests_on
    length = 0
    for heading, lines in rests_on(told.statement) if trust else told.sections(alone=text):
        say(heading, "bold")
        for line in lines:
            say_hanging(line)
        length += 1 + sum(1 + len(line) // WIDTH for line in lines)
    if length > SCREEN and not trust:
        for heading, lines in told.in_short():
            say(heading, "bold")
            for line in lines:
                say_hanging(line)


def verify(
    ids: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="ID", help="Statements, e.g. PM-L4; all of them by default.", autocompletion=names.statement_ids
        ),
    ] = None,
    instances: Annotated[int, typer.Option(help="Random instances for each property.", min=0)] = 200,
    seed: Annotated[int, typer.Option(help="Seed of the random instances.")] = 0,
    jobs: Annotated[int, typer.Option(help="Parallel processes.", min=1)] = 2,
    backend: Annotated[str, typer.Option(help="loky, dask with --address, or slurm.")] = "loky",
    address: Annotated[str | None, typer.Option(help="Scheduler of a Dask cluster, tcp://host:port.")] = None,
    work: Annotated[
        Path | None, typer.Option(help="Folder that keeps results; the same command goes on from them.")
    ] = None,
    junit: Annotated[Path | None, typer.Option(help="Write JUnit XML.")] = None,
    record: Annotated[bool, typer.Option("--record", help="Store the evidence in the ledger (maintainers).")] = False,
    coq: Annotated[bool, typer.Option("--coq", help="Check whole derivations with coqc and coqchk instead.")] = False,
    json: JsonFlag = False,
) -> None:
    """Re-run every check that statements carry.

    Steps, test vectors, counterexamples, dropped conditions and properties, of all statements by default.
    Exit code 1 if anything does not check.  --backend dask --address tcp://host:port: by the workers of a cluster, which have the
    same version.  --work FOLDER keeps each result as it comes, for the same command to go on from.  With --coq: the statements
    whose whole derivation is a theorem of Coq, what each assumes beyond its conditions, and the axioms that it uses.

    Example: eigentoken verify PM-L3 PM-L4
    """
    from eigentoken.proofs import contents
    from eigentoken.proofs.verify import record as store
    from eigentoken.theory.statements.registry import statements

    chosen = list(ids or [])
    for each in chosen:
        statements().get(each)
    if coq:
        from eigentoken.commands.formal import verify_by_coq

        raise typer.Exit(0 if verify_by_coq(chosen, record, json) else 1)
    ready(junit)
    where = VerifiedBy(1 if len(chosen) == 1 else jobs, backend, address, work)
    results = _verify_with_bar(chosen, where, instances=instances, seed=seed)
    recorded = store(results) if record else []
    if contents.LEDGER in [path.resolve() for path in recorded]:
        recorded.append(contents.write())
    if junit is not None:
        from eigentoken.commands.junit import to_junit

        write_text(junit, to_junit(results))
    bad = [each for each in results if not each.good]
    if json:
        show_json(
            {
                "schema": "eigentoken/verify/1",
                "verdict": "fails" if bad else "holds",
                "statements": [each.as_dict() for each in results],
            }
        )
    else:
        _verify_table(results, bad)
        for path in recorded:
            say(f"recorded in {path}")
    raise typer.Exit(1 if bad else 0)


class VerifiedBy(NamedTuple):
    """What verifies: so many processes of this machine, or the workers of a cluster; and where results are kept."""

    jobs: int = 1
    backend: str = "loky"
    address: str | None = None
    work: Path | None = None


def _verify_with_bar(
    chosen: list[str], where: VerifiedBy, *, instances: int, seed: int = 0, printed: bool = False
) -> list[Verified]:
    """The results; while they come, the last of them above the bar, by title, and where one is alone its title in the bar."""
    from eigentoken.proofs.verify_many import verify_many
    from eigentoken.theory.statements.registry import statements

    order = [statements().get(each) for each in chosen] or list(statements())
    titles = {each.id: each.called for each in order}
    waiting = [titles[each.id] for each in order]

    def now() -> str:
        if where.backend != "loky":
            return f"verifying by the workers of {where.address or where.backend}"
        return f"verifying {waiting[0]}" if where.jobs == 1 and waiting else f"verifying by {where.jobs} processes"

    with progress(now(), len(order)) as advance:

        def watch(found: Verified) -> None:
            waiting.remove(titles[found.id])
            word = "holds" if found.good else "fails"
            advance(0, now(), f"{word}  {titles[found.id]}: {_evidence_text(found.evidence())}")

        return verify_many(
            chosen,
            instances=instances,
            seed=seed,
            printed=printed,
            watch=watch,
            done=lambda: advance(1, now()),
            **where._asdict(),
        )


def derive(
    name: Annotated[
        str | None,
        typer.Argument(metavar="ID", help="A statement, e.g. PM-L4.", autocompletion=names.statement_ids),
    ] = None,
    form: Annotated[
        str | None,
        typer.Option(
            "--format",
            help="tex (if you do not say), md, html, pdf, or several with commas.",
            autocompletion=names.formats,
        ),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="File, or folder, to write to; stdout if not given.")
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="The whole book.")] = False,
    errata: Annotated[
        bool, typer.Option("--errata", help="What is wrong in print; with neither --format nor -o as text to read.")
    ] = False,
    coq: Annotated[
        Path | None, typer.Option("--coq", help="Write scalar lemmas that coqc accepts as .v files to this folder.")
    ] = None,
    json: JsonFlag = False,
) -> None:
    """Print the checked derivation of a statement.

    The document compiles as it stands. Every step is checked before it is printed; exit code 1 if one does not check.

    Example: eigentoken derive PM-L4 --format tex,pdf -o pm-l4
    """
    if coq is not None:
        _derive_coq(name, every, coq, json)
        return
    from eigentoken.output import FORMATS, render, write

    if errata and name is None and not every and form is None and output is None:
        from eigentoken.commands.errata import show_errata

        show_errata()
        return
    form = "tex" if form is None else form
    forms = [each.strip() for each in form.split(",") if each.strip()]
    wrong = [each for each in forms if each not in FORMATS]
    if wrong or not forms:
        raise ValueError(f"--format must name some of {', '.join(FORMATS)}, got {form!r}")
    if (name is None) == (not (every or errata)):
        raise ValueError("derive needs one ID, or --all, or --errata: `eigentoken statements` lists the ids")
    if output is None and (len(forms) > 1 or "pdf" in forms):
        raise ValueError(f"--format {form} needs -o FILE: only one of tex, md, html can go to stdout")
    document, options, bad = _document(name, every)
    if bad:
        for line in bad:
            print(f"eigentoken: not printed: {line}", file=sys.stderr)
        raise typer.Exit(1)
    if output is None:
        print(render(document, forms[0], **(options if forms[0] == "tex" else {})), end="")
        return
    if output.is_dir():
        output /= "book" if every else "errata" if errata else str(name).lower()
    output.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        graph = _graph(Path(folder)) if every and {"tex", "pdf"} & set(forms) else None
        done = write(document, forms, output, graph=graph, **options)
    if json:
        files = [str(path) for path in done.files]
        show_json({"schema": "eigentoken/derive/1", "files": files, "missing": list(done.missing)})
    else:
        for path in done.files:
            say(f"wrote {path}")
    for line in done.missing:
        print(f"eigentoken: {line}", file=sys.stderr)


def _derive_coq(name: str | None, every: bool, folder: Path, json: bool) -> None:
    """Write the Coq files of one statement, or of all; what coqc does not accept is said, not written as proved."""
    from eigentoken.proofs.coq import export
    from eigentoken.theory.statements.registry import statements

    if (name is None) == (not every):
        raise ValueError("derive --coq needs one ID, or --all: `eigentoken statements` lists the ids")
    chosen = list(statements()) if name is None else [statements().get(name)]
    with progress("coqc", len(chosen)) as advance:
        results = export(chosen, folder, watch=lambda title: advance(0, f"coqc: {title}"), done=lambda: advance())
    accepted = sum(len(each.accepted) for each in results)
    refused = sum(len(each.refused) for each in results)
    missing = sum(len(each.missing) for each in results)
    if json:
        files: list[CoqFile] = [
            {
                "id": each.id,
                "file": str(each.path),
                "accepted": list(each.accepted),
                "refused": list(each.refused),
                "missing": list(each.missing),
            }
            for each in results
        ]
        totals: CoqDocument = {
            "schema": "eigentoken/coq/1",
            "accepted": accepted,
            "refused": refused,
            "missing": missing,
            "files": files,
        }
        show_json(totals)
        return
    for each in results:
        rest = [*each.refused, *each.missing]
        say(f"{each.path}: {len(each.accepted)} accepted" + (f"; not proved there: {', '.join(rest)}" if rest else ""))
    say(f"coqc accepted {accepted} of {accepted + refused + missing} lemmas", "bold")


def _graph(folder: Path) -> Path:
    from eigentoken.figures.dependencies import draw_dependencies
    from eigentoken.theory.statements.registry import statements

    return draw_dependencies(statements(), folder / "graph.pdf")


def _document(name: str | None, every: bool) -> tuple[Any, dict[str, Any], list[str]]:
    """The document, the options of its LaTeX, and the steps that do not check (then nothing is printed)."""
    from eigentoken.proofs.typeset.book import of_book, of_errata
    from eigentoken.proofs.typeset.document import of_statement
    from eigentoken.theory.statements.registry import statements

    registry = statements()
    if name is None and not every:
        return of_errata(registry), {}, []
    chosen = [] if every else [registry.get(str(name)).id]
    results = _verify_with_bar(chosen, VerifiedBy(2 if every else 1), instances=0, printed=True)
    bad = [
        f"{registry.get(each.id).called}: {line.name}: {line.reason}"
        for each in results
        for line in each.lines
        if not line.good
    ]
    if bad:
        return None, {}, bad
    return (of_book(registry), {"contents": True}, []) if every else (of_statement(registry.get(chosen[0])), {}, [])


def _verify_table(results: list[Verified], bad: list[Verified]) -> None:
    """One row a statement, by its title; then each line that is not good, and what a line of the table counts."""
    from eigentoken.proofs.verify import status_of
    from eigentoken.theory.statements.registry import statements
    from eigentoken.theory.statements.statement import Status

    told = {each.id: statements().get(each.id) for each in results}
    rows = []
    for each in results:
        found = each.evidence()
        word = styled("fails" if not each.good else "argued" if found.argued else "holds")
        rows.append((told[each.id].title, each.id, str(each.status()), word, _evidence_text(found)))
    table("", ("statement", "id", "status", "verdict", "evidence"), rows, wrap=("statement", "evidence"))
    for each in bad:
        for line in each.lines:
            if not line.good:
                say(
                    f"{told[each.id].called}: {line.what} {line.name!r} {line.answer}: {line.reason} {line.second}",
                    "red",
                )
    say(f"{len(results) - len(bad)} of {len(results)} statements verified", "bold")
    if any(status_of(each) is Status.FORMAL for each in told.values()):
        say("status: what these checks show; formal needs Coq (`eigentoken verify --coq`)", "dim")


def _evidence_text(found: Evidence) -> str:
    """What was run, and nothing of what was not: ``9 steps (7 also by a second solver), 621 random instances``."""
    second = f" ({found.second} answers of a second solver)" if found.second else ""
    counted = (
        (found.proved, "proofs by the kernel" if found.proved > 1 else "proof by the kernel"),
        (found.checked, f"steps checked{second}"),
        (found.cited, "theorems of textbooks"),
        (found.argued, "steps argued in words"),
        (found.vectors, "values recomputed" if found.vectors > 1 else "value recomputed"),
        (found.counterexamples, "exact counterexamples" if found.counterexamples > 1 else "exact counterexample"),
        (found.tested, "random instances"),
        (
            found.unseen,
            "claims that none of them looked at" if found.unseen > 1 else "claim that none of them looked at",
        ),
    )
    return ", ".join(f"{number} {what}" for number, what in counted if number)
