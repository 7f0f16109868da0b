"""What the command line says when a call is wrong: one line, exit 2, what was meant; and what a shell completes."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from eigentoken.cli import app, main
from eigentoken.commands import names
from eigentoken.commands.help_page import JOBS, MEANT

LISTED = [each.name for each in app.registered_commands]


@pytest.fixture
def eigentoken(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    def run(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["eigentoken", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            main()
        printed = capsys.readouterr()
        return int(end.value.code or 0), printed.out, printed.err

    return run


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("verfy", "unknown command 'verfy': did you mean verify? (try: eigentoken --help)"),
        ("conjecture nw", "unknown command 'nw': did you mean new? (try: eigentoken conjecture --help)"),
        ("simulate oja-map --sede 3", "unknown option --sede: did you mean --seed? (try: eigentoken simulate --help)"),
        ("verify --instances", "--instances needs a value (try: eigentoken verify --help)"),
        ("models extra", "one argument too many: extra (try: eigentoken models --help)"),
        ("show", "ID is missing: A statement, e.g. PM-L4"),
        ("show PM-L44", "did you mean Stability of consensus for the Oja map (PM-L4) or The spectrum of"),
        ("show hemisphere", "did you mean Consensus from an open hemisphere (AB-T4.1) or"),
        ("certify posdef nowhere.npy", "unknown condition 'posdef': did you mean positive-definite?"),
        ("certify posdef", "unknown condition 'posdef': did you mean positive-definite?"),
        (
            f"certify {__file__} positive-definite",
            f"the condition comes first: eigentoken certify positive-definite {__file__}",
        ),
        (f"certify {__file__} posdef", f"the condition comes first: eigentoken certify CONDITION {__file__}"),
        ("certify definite", "did you mean positive-definite or negative-definite or indefinite?"),
        ("check sample:rxn", "no sample 'rxn': did you mean sample:rxnmapper?"),
        ("check rxnmapper", "rxnmapper: no such file or folder: did you mean sample:rxnmapper?"),
        ("check gpt2", "(openai-community/gpt2)"),
        ("frobnicate", "unknown command 'frobnicate': the help lists them (try: eigentoken --help)"),
        ("list", "unknown command 'list': you may want `eigentoken statements` (try: eigentoken --help)"),
        ("prove PM-L4", "you may want `eigentoken derive ID`"),
        ("steer sample:rxnmapper", "--direction is missing"),
        ("simulate oja-map --n x", "--n must be a whole number, got 'x'"),
        ("simulate oja-map --alpha x", "--alpha must be a number, got 'x'"),
        ("simulate oja-map --n 0", "--n must be at least 1, got 0"),
        ("simulate oja-map --alpha nan", "--alpha must be a finite number above 0, got nan"),
        ("simulate oja-map --alpha=-1", "--alpha must be a finite number above 0, got -1.0"),
        ("simulate oja-map --end inf", "--end must be a finite number above 0, got inf"),
        ("simulate oja-map --end 0.5", "--end must be at least 1, the number of layers of oja-map, got 0.5"),
        ("simulate oja-map --rtol 0", "--rtol must be a finite number above 0, got 0.0"),
        ("simulate oja-map --step=-0.1", "--step must be a finite number above 0, got -0.1"),
        ("simulate oja-map --method bosh", "--method 'bosh' is not known: did you mean bosh3?"),
        ("simulate oja-map --method foo", "expected one of dopri5, bosh3, rk4"),
        ("simulate oja-map --mask casual", "--mask 'casual' is not known: did you mean causal?"),
        ("simulate oja-mop", "did you mean oja-map?"),
        ("simulate rotary-flow", "depend on the positions of the tokens"),
        ("reproduce abela-1", "unknown recipe 'abela-1': did you mean abella-1?"),
        ("certify positiv-definite m.npy", "did you mean positive-definite?"),
        ("certify symmetric absent.npy", "no such file: absent.npy; give the path of a .npy"),
        ("recheck absent.json", "absent.json: No such file or directory; give the path of a JSON file"),
        ("refute absent.py --seconds nan", "error: --seconds must be a number above 0, got nan"),
        ("chance sample:rxnmapper --level 3", "error: --level must be between 0 and 1, got 3.0"),
        ("explore oja-flow --about consensos", "error: --about must name topics"),
        ("simulate oja-map --style nips --figure a.pdf", "error: --style 'nips' is not known: did you mean neurips?"),
        ("check sample:rxnmaper", "no sample 'rxnmaper': did you mean sample:rxnmapper?"),
        ("compare sample:rxnmapper", "compare needs two or more models of one shape, got sample:rxnmapper alone"),
        ("basin sample:rxnmapper", "sample:rxnmapper is a model: say which head with --layer and --head"),
        ("steer sample:rxnmapper --token 3", "unknown option --token: the help lists them"),
        ("statements hemisphere", "one argument too many: hemisphere: did you mean --search hemisphere?"),
        ("nearest PM-L4 sample:rxnmapper", "PM-L4 is a statement: the model comes first"),
        ("simulate oja-map --data /dev/null/run.npz", "it is in the way of a folder that is to be made"),
        ("show PM-L4 --text --trust", "--text and --trust are two answers: give one of them"),
    ],
)
def test_a_wrong_call_is_one_line_that_helps(call: str, said: str, eigentoken: Any) -> None:
    code, out, err = eigentoken(*call.split())
    assert (code, out) == (2, "")
    assert len(err.strip().splitlines()) == 1 and err.startswith("eigentoken: error: ")
    assert said in err


def test_files_that_are_wrong_come_with_a_remedy(eigentoken: Any, tmp_path: Path) -> None:
    ragged = tmp_path / "ragged.json"
    ragged.write_text("[[1, 2], [3]]")
    assert "give every row as many entries" in eigentoken("certify", "symmetric", ragged)[2]
    taken = tmp_path / "mine.py"
    taken.write_text("")
    assert "--force" in eigentoken("conjecture", "new", taken)[2]
    damaged = tmp_path / "damaged.safetensors"
    damaged.write_bytes(b"\xff" * 16)
    told = eigentoken("certify", "symmetric", f"{damaged}::a")[2]
    # the reason is told by safetensors, of which older versions have names and newer ones words
    assert re.search(r"the file is damaged or no safetensors \(header ?too ?large\): save it again", told, re.I), told
    for name, text, said in (
        ("empty.json", b"\n", "is empty: give a JSON document"),
        ("marked.json", b"\xef\xbb\xbf{}", "begins with a byte order mark: save it as UTF-8 without one"),
        ("list.json", b"[]", "must hold one JSON object, got a list: write"),
        ("number.json", b"7", "must hold one JSON object, got a number: write"),
    ):
        (tmp_path / name).write_bytes(text)
        code, _, err = eigentoken("classify", tmp_path / name)
        assert code == 2 and said in err
    ends = tmp_path / "ends.py"
    ends.write_text("import sys\n\nsys.exit(3)\n")
    code, _, err = eigentoken("refute", ends)
    assert code == 2 and f"{ends}:3: SystemExit: 3" in err
    point = tmp_path / "point.json"
    point.write_text(json.dumps({"system": "oja-mop", "V": [[1]], "alpha": 1, "tokens": [[1]]}))
    for command in ("classify", "simulate"):
        code, _, err = eigentoken(command, point)
        assert code == 2 and "did you mean oja-map?" in err


@pytest.mark.parametrize("command", ["refute", "strengthen", "attempt"])
def test_a_file_that_is_no_python_is_not_run_as_one(command: str, eigentoken: Any, tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    report.write_text('{"certified": false}')
    code, out, err = eigentoken(command, report)
    assert (code, out) == (2, "")
    assert f"error: {report} is no Python file (.py): give one with conjectures" in err


def test_on_a_terminal_an_error_is_broken_between_words(eigentoken: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    _, _, plain = eigentoken("certify", "symmetric")
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    _, _, shown = eigentoken("certify", "symmetric")
    assert len(plain.splitlines()) == 1
    assert len(shown.splitlines()) > 1 and max(map(len, shown.splitlines())) <= 60
    assert shown.split() == plain.split()


def test_a_line_of_progress_is_no_wider_than_the_screen() -> None:
    from eigentoken.commands.lab import on_one_line
    from eigentoken.numerics.lab.report import Progress

    told = str(
        Progress("short steps make principal consensus stable", "enumeration", 1500, 255875.0, -0.0455, 1.0, 60.0)
    )
    assert len(told) > 100 and on_one_line(told, 200) == told
    cut = on_one_line(told, 80)
    assert len(cut) < 80 and cut.endswith("60 s left") and "1500 instances" in cut


def test_errata_are_text_on_the_screen_and_a_document_where_one_is_asked_for(eigentoken: Any) -> None:
    from eigentoken.theory.printing.plain_text import plain_text
    from eigentoken.theory.statements.registry import statements

    code, out, _ = eigentoken("derive", "--errata")
    told = " ".join(out.split())
    assert code == 0 and "\\documentclass" not in out and "$" not in out and max(map(len, out.splitlines())) <= 80
    for each in statements():
        if each.printed is not None:
            assert plain_text(each.called) in told
            assert " ".join(plain_text(each.printed.wrong).split()) in told
    assert eigentoken("derive", "--errata", "--format", "tex")[1].startswith("\\documentclass")


def test_every_command_stands_under_one_job_and_what_is_meant_exists() -> None:
    listed = [name for names in JOBS.values() for name in names]
    assert sorted(listed) == sorted([*LISTED, "conjecture"])
    for word, wanted in MEANT.items():
        assert word not in listed
        _, command, *_ = wanted.split()
        assert command.startswith("--") or command in listed


@pytest.mark.parametrize("command", ["", "check", "certify", "conjecture new"])
def test_on_a_terminal_the_help_is_in_panels_with_an_example(
    command: str, eigentoken: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    _, plain, _ = eigentoken(*command.split(), "--help")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    code, out, _ = eigentoken(*command.split(), "--help")
    out = re.sub(r"\x1b\[[\d;]*m", "", out)
    lines = out.rstrip().splitlines()
    assert code == 0 and max(map(len, lines)) <= 80
    assert lines[-1].strip().startswith("Example: eigentoken" if command else "Try first: eigentoken")
    panels = [line.strip("╭─╮ ") for line in lines if line.startswith("╭─")]
    assert panels == (["Options", *JOBS] if not command else ["Arguments", "Options"])
    assert "<bool>" not in out and "list[" not in out and " range" not in out
    words = [set(re.findall(r"[\w-]+", each)) for each in (plain, out)]
    assert words[0] - words[1] <= {"Commands", "x"}, "the panels lose words"


def test_a_bare_call_draws_the_help_once(eigentoken: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    code, out, err = eigentoken()
    assert (code, err) == (2, "") and out.count("Try first") == 1


@pytest.mark.parametrize("command", ["", *LISTED, "conjecture new"])
def test_help_fits_and_describes_every_argument(command: str, eigentoken: Any) -> None:
    code, out, _ = eigentoken(*command.split(), "--help")
    assert code == 0 and max(map(len, out.splitlines())) <= 80
    if not command:
        listed = out.split("Commands:")[1]
        cut = [line for line in listed.splitlines() if line.endswith("...")]
        assert cut == [], "a first line is too long for the list"
        return
    example = out.rstrip().splitlines()[-1].strip()
    assert example.startswith("Example: eigentoken "), "the example ends the help, on one line that can be copied"
    lines = out.split("Arguments:")[1].split("Options:")[0].splitlines() if "Arguments:" in out else []
    for line in lines:
        if re.match(r"  \S", line):  # the others go on with a description
            assert len(line.removesuffix("[required]").split()) > 1, f"{line.strip()} has no description"


def test_completion_knows_the_names() -> None:
    from eigentoken.models.loading.samples import SAMPLES
    from eigentoken.numerics.certified.certify import conditions
    from eigentoken.theory.statements.registry import statements
    from eigentoken.theory.systems.catalogue import SYSTEMS

    assert set(names.statement_ids("")) == {each.id for each in statements()}
    assert names.statement_ids("PM-L1")[0] == "PM-L1" and all(
        i.startswith("PM-L1") for i in names.statement_ids("PM-L1")
    )
    assert names.systems("oja") == [each for each in SYSTEMS if each.startswith("oja")] != []
    assert names.conditions("") == list(conditions())
    assert names.models("sample:") == [f"sample:{each.name}" for each in SAMPLES]
    assert names.formats("tex,p") == ["tex,pdf"] and names.formats("tex,t") == []
    assert "abella-1" in names.recipes("abella") and names.styles("i") == ["icml", "ieee"]
    assert "verdict" in names.schemas("ver")


@pytest.mark.parametrize(
    ("words", "found"),
    [("show PM-L4", "PM-L4"), ("simulate oja-m", "oja-map"), ("reproduce abella-t", "abella-table3")],
)
def test_the_shell_completes_without_heavy_imports(words: str, found: str) -> None:
    script = (
        "import sys; from eigentoken.cli import main\n"
        "try:\n    main()\n"
        "finally:\n    print(sorted({'sympy', 'torch', 'numpy', 'scipy'} & set(sys.modules)), file=sys.stderr)\n"
    )
    asked = {"_EIGENTOKEN_COMPLETE": "complete_bash", "COMP_WORDS": f"eigentoken {words}", "COMP_CWORD": "2"}
    printed = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, env={**os.environ, **asked}
    )
    assert found in printed.stdout.split()
    assert printed.stderr.strip() == "[]"


def test_the_tab_key_completes_a_sample_in_bash(tmp_path: Path) -> None:
    """Pressed in a real terminal: bash breaks words at the colon of ``sample:NAME``."""
    import pty

    command = tmp_path / "eigentoken"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m eigentoken "$@"\n')
    command.chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "TERM": "dumb", "PS1": "$ "}
    script = subprocess.run(
        [str(command)], env={**environment, "_EIGENTOKEN_COMPLETE": "source_bash"}, capture_output=True, text=True
    ).stdout
    (tmp_path / "script").write_text(script)
    terminal, end = pty.openpty()
    shell = subprocess.Popen(
        ["bash", "--norc", "--noprofile", "-i"],
        stdin=end, stdout=end, stderr=end, env=environment, cwd=tmp_path, start_new_session=True,
    )  # fmt: skip
    os.close(end)
    os.write(terminal, b"source script; echo ready$((1+1))\n")
    shown = _until(terminal, b"ready2")
    os.write(terminal, b"eigentoken check sample:min\t")
    shown = _until(terminal, b"sample:minilm ")
    shell.kill()
    shell.wait()
    os.close(terminal)
    assert shown.endswith(b"eigentoken check sample:minilm ")


def _until(terminal: int, wanted: bytes) -> bytes:
    """What the terminal shows until it ends with something that holds ``wanted``, for at most a minute."""
    import select

    shown, end = b"", time.monotonic() + 60
    while wanted not in shown and time.monotonic() < end:
        if select.select([terminal], [], [], 0.5)[0]:
            shown += os.read(terminal, 4096)
    return shown


def test_an_option_that_is_wrong_is_named_as_it_is_typed(eigentoken: Any, tmp_path: Path) -> None:
    (tmp_path / "m.json").write_text("[[1, 0], [0, 1]]")
    code, _, err = eigentoken("certify", "inertia", tmp_path / "m.json", "--expected", "two")
    assert code == 2 and "--expected: not a number" in err
    assert "error: no such file" in eigentoken("certify", "inertia", tmp_path / "nothing.json")[2]


CONJECTURE = """
from eigentoken.numerics.lab import Conjecture
from eigentoken.theory.language.claims import Stable
from eigentoken.theory.language.conditions import Relation, Symmetric
from eigentoken.theory.language.places import ConsensusAt
from eigentoken.theory.language.terms import Eigenvalue, matrix

V = matrix("V")
stable = Conjecture("c", "oja-map", [Symmetric(V), Relation(Eigenvalue(V, 1) > 0)], [Stable(ConsensusAt(V, 1))])
"""


def test_dropped_conditions_are_told_in_unicode_and_once(eigentoken: Any, tmp_path: Path) -> None:
    stands = Path(__file__).parents[2] / "examples" / "conjectures" / "oja_consensus.py"
    code, out, _ = eigentoken("refute", stands, "--seconds", 20, "--instances", 200, "--drop", "--jobs", 1)
    told = " ".join(out.split())
    assert code == 0 and "\\" not in told
    assert told.count("without \u03bb\u2081(V) > 0: needed; a certified counterexample exists without it") == 1


def test_nothing_is_said_of_need_where_the_conjecture_falls(eigentoken: Any, tmp_path: Path) -> None:
    file = tmp_path / "c.py"
    file.write_text(CONJECTURE)
    code, out, _ = eigentoken("refute", file, "--seconds", 20, "--instances", 500, "--drop", "--jobs", 1)
    told = " ".join(out.split())
    assert code == 1 and "\\" not in told
    assert "already refuted, so nothing can be said of need" in told and ": needed" not in told


def test_a_recheck_prints_no_latex(eigentoken: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from eigentoken.rechecking import recheck

    line = recheck.Rechecked("c without \\lambda_{1}(V) > 0", "\\det V \\neq 0", "holds", "fails", "other numbers")
    monkeypatch.setattr(recheck, "recheck_document", lambda *_, **__: recheck.Recheck([line]))
    code, out, _ = eigentoken("recheck", tmp_path / "r.json")
    assert code == 1 and "\\" not in out
    assert "\u03bb\u2081(V) > 0" in " ".join(out.split())


class Terminal(io.StringIO):
    """What stands in for a terminal of 100 columns."""

    def isatty(self) -> bool:
        return True


def test_results_come_above_the_bar_with_the_current_item(monkeypatch: pytest.MonkeyPatch) -> None:
    from eigentoken.output import progress, settings

    monkeypatch.setattr(settings, "quiet", False)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("TERM", "xterm")
    shown = Terminal()
    monkeypatch.setattr(sys, "stderr", shown)
    with progress("the work", 3) as advance:
        advance(0, "now PM-L3")
        advance(1, "now PM-L4", "holds  PM-L3")
    text = shown.getvalue()
    assert "now PM-L4" in text and "1/3" in text and "left" in text
    assert text.rindex("holds  PM-L3") < text.rindex("now PM-L4")
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with progress("the work", 3) as advance:
        advance(1, "now", "said")
    assert sys.stderr.getvalue() == ""  # type: ignore[attr-defined]


def test_a_long_item_does_not_push_out_the_time_left(monkeypatch: pytest.MonkeyPatch) -> None:
    from eigentoken.output import progress, settings

    monkeypatch.setattr(settings, "quiet", False)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERM", "xterm")
    shown = Terminal()
    monkeypatch.setattr(sys, "stderr", shown)
    with progress("the work", 3) as advance:
        advance(1, "layer 0, " + "a statement with a long title " * 5)
    text = re.sub(r"\x1b\[[?\d;]*[A-Za-z]", "", shown.getvalue())
    assert re.search(r"1/3 0:00:00 passed, .* left\n", text)
    assert re.search("layer 0, a statement[^\n]*\u2026\n", text)


def test_each_conjecture_is_told_when_it_is_done(eigentoken: Any, tmp_path: Path) -> None:
    file, kept, page = tmp_path / "c.py", tmp_path / "r.json", tmp_path / "r.html"
    file.write_text(CONJECTURE)
    asked = ("--seconds", 20, "--instances", 500, "--jobs", 1, "-o", kept, "--html", page)
    code, out, _ = eigentoken("refute", file, *asked)
    assert code == 1 and out.count("c: refuted") == 1
    assert re.search(r"    V = \[\[[-/\d]+, ", out), "numbers without quotes"
    assert "".join(out.split()).endswith(f"wrote{kept}wrote{page}")


def test_a_question_that_nothing_answers_names_the_word_that_was_meant(eigentoken: Any) -> None:
    code, out, _ = eigentoken("statements", "--needs", "symetric", "--about", "oja-map")
    said = "No statement has --needs 'symetric' (did you mean symmetric?) and --about 'oja-map'."
    assert (code, " ".join(out.split())) == (0, said)


def test_the_text_of_a_statement_is_what_show_says_before_the_derivation(eigentoken: Any) -> None:
    alone, whole = (eigentoken("show", "PM-L4", *options)[1] for options in (["--text"], []))
    said, _, named = alone.partition("Named above\n")
    assert whole.startswith(f"{said}Derivation for oja-map")
    assert said.startswith("Stability of consensus for the Oja map (PM-L4)\n")
    assert named == "  - Consensus 2-cycles of the Oja map (PM-N4)\n"  # of the id that the text has, the title
    assert named in whole


@pytest.mark.parametrize(("shell", "more"), [("zsh", {}), ("fish", {"_TYPER_COMPLETE_FISH_ACTION": "get-args"})])
@pytest.mark.parametrize(
    ("typed", "completed"),
    [
        ("check sample:mi", "sample:minilm"),
        ("reproduce li-altafini-13", "li-altafini-13b"),
        ("check --requi", "--require"),
    ],
)
def test_zsh_and_fish_complete_too(
    monkeypatch: pytest.MonkeyPatch, eigentoken: Any, shell: str, more: dict[str, str], typed: str, completed: str
) -> None:
    asked = {"_EIGENTOKEN_COMPLETE": f"complete_{shell}", "_TYPER_COMPLETE_ARGS": f"eigentoken {typed}", **more}
    for name, value in asked.items():
        monkeypatch.setenv(name, value)
    assert completed in eigentoken()[1].replace("\\", "")  # zsh has a stroke before a colon


@pytest.mark.parametrize("command", ["schemas check", "show PM-L4", "--help"])
def test_a_reader_who_leaves_hears_nothing(command: str) -> None:
    """``eigentoken statements | head -1``: neither a word nor a negative answer, but the code of a closed pipe."""
    read, write = os.pipe()
    os.close(read)
    words = [sys.executable, "-m", "eigentoken", *command.split()]
    try:
        ended = subprocess.run(words, stdout=write, stderr=subprocess.PIPE, text=True)
    finally:
        os.close(write)
    assert (ended.returncode, ended.stderr) == (141, "")


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("nearest sample:rxnmapper PM-N1", "interrupted"),
        ("check sample:rxnmapper", "interrupted: what was finished is kept; the same command,"),
    ],
)
def test_ctrl_c_is_told_and_what_is_kept(
    command: str, said: str, eigentoken: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def pressed(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("eigentoken.checking.run.open_model", pressed)
    code, out, err = eigentoken(*command.split())
    assert (code, out) == (130, "")
    assert err.startswith(said) and len(err.splitlines()) == 1


def test_ctrl_c_in_a_destructor_is_not_lost(tmp_path: Path) -> None:
    """Python prints "Exception ignored" and goes on: a search of half an hour that cannot be stopped."""
    script = tmp_path / "pressed.py"
    script.write_text(
        "import signal, sys, time\n"
        "from eigentoken import cli, commands\n"
        "class Held:\n"
        "    def __del__(self):\n"
        "        signal.raise_signal(signal.SIGINT)\n"
        "        time.sleep(0)\n"
        "def work():\n"
        "    Held()\n"
        "    for _ in range(3000):\n"
        "        time.sleep(0.01)\n"
        "cli.helpful = lambda _app: lambda **_: work()\n"
        "sys.argv = ['eigentoken', '--help']\n"
        "cli.main()\n"
    )
    ended = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=50)
    assert (ended.returncode, ended.stderr) == (130, "interrupted\n")


def test_what_else_goes_wrong_in_a_destructor_is_told_as_ever(capsys: pytest.CaptureFixture[str]) -> None:
    from eigentoken import cli

    class Broken:
        def __del__(self) -> None:
            raise RuntimeError("a word of its own")

    before, sys.unraisablehook = sys.unraisablehook, cli._unraisable
    try:
        Broken()
    finally:
        sys.unraisablehook = before
    assert "a word of its own" in capsys.readouterr().err


def test_paragraphs_in_a_pipe_have_no_spaces_at_the_ends_of_lines(eigentoken: Any) -> None:
    _, out, _ = eigentoken(
        "statements", "--search", "nothing of this kind, a long question that is wrapped at the end", "-q"
    )
    assert out == ""
    _, out, _ = eigentoken("statements", "--search", "nothing of this kind, a long question that is wrapped at the end")
    assert len(out.splitlines()) > 1
    assert all(line == line.rstrip() for line in out.splitlines())


def test_what_explore_proposes_is_read_at_eighty_columns_and_its_numbers_are_explained(eigentoken: Any) -> None:
    code, said, _ = eigentoken("explore", "oja-flow", "--about", "consensus", "--seconds", 20, "--most", 3)
    lines = said.splitlines()
    assert code == 0 and max(map(len, lines)) <= 80
    numbered, scored = (sum(bool(re.match(start, each)) for each in lines) for start in (r"\d\. ", r" +score \d"))
    assert 1 <= numbered == scored <= 3
    assert "score = surprise × distance, best first. surprise = -log₂ p" in " ".join(said.split())


def test_all_recipes_are_announced_before_they_begin(eigentoken: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bare ``reproduce`` is a long run: how long, and where the names are, is said before anything is run."""

    def run_recipes(*_given: object, **_options: object) -> None:
        raise ValueError("stopped here")

    monkeypatch.setattr("eigentoken.figures.run_recipes", run_recipes)
    code, _, said = eigentoken("reproduce")
    assert code == 2 and "a long run" in said and "--quick takes minutes, and --list has the names" in said
    assert said.index("--list") < said.index("stopped here")
