"""``eigentoken check``: records, resuming, sharing, requirements, formats, on a real trained checkpoint and tiny ones."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import time
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from eigentoken.checking import check
from eigentoken.checking.estimate import of_recheck
from eigentoken.checking.formats import to_html, to_json, to_latex
from eigentoken.checking.intervals import interval
from eigentoken.checking.observe import starting_tokens
from eigentoken.checking.report import Report, rotary_shares
from eigentoken.checking.run import _Log
from eigentoken.checking.terminal import layer_line, show
from eigentoken.documents.check_document import LayerRecord
from eigentoken.files.writing import sealed
from eigentoken.models import ModelError, load
from eigentoken.models.forward import first_states
from eigentoken.rechecking.recheck import recheck_document, work_of_check
from eigentoken.transformer_layer import attention

from ..commands import here, started


@pytest.fixture(scope="module")
def gpt2(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny random GPT-2 with four different layers, saved by transformers."""
    transformers = pytest.importorskip("transformers")
    import torch

    torch.manual_seed(0)
    config = transformers.GPT2Config(n_layer=4, n_head=2, n_embd=16, vocab_size=40, n_positions=24)
    folder = tmp_path_factory.mktemp("gpt2")
    transformers.GPT2LMHeadModel(config).save_pretrained(folder)
    return folder


def _options(folder: Path, **more) -> dict[str, Any]:
    return {"work": folder, "sequences": 2, "tokens": 6, **more}


@pytest.fixture(scope="module")
def whole(gpt2: Path, tmp_path_factory: pytest.TempPathFactory) -> Report:
    """All statements against that model; the tests that read it change nothing of it."""
    return check(str(gpt2), **_options(tmp_path_factory.mktemp("whole")))


@pytest.fixture(scope="module")
def whole_page(whole: Report) -> str:
    return to_html(whole)


def test_a_check_says_what_it_does_and_what_it_found(gpt2: Path, tmp_path: Path) -> None:
    seen: list[tuple[str, str]] = []

    def watch(now: str, found: LayerRecord | None) -> None:
        seen.append((now, "" if found is None else layer_line(found)))

    parts: list[tuple[int, float, str]] = []
    inside = lambda *told: parts.append(told)  # noqa: E731
    check(str(gpt2), statements=("PM-L4",), **_options(tmp_path), watch=watch, inside=inside)
    assert [now for layer, _, now in parts if layer == 2] == [
        *("head 1 of 2", "head 2 of 2", "the eigenvalues of its layer matrix", "norms, distances and inertia"),
        "Stability of consensus for the Oja map",
    ]
    shares = [layer + share for layer, share, _ in parts]
    assert shares == sorted(shares) and 3.5 < shares[-1] < 4
    assert [now for now, _ in seen[:4]] == [f"layer {index}" for index in range(4)]
    assert [said[:13] for _, said in seen[1:5]] == [f"layer {index}: case" for index in range(4)]
    assert [now for now, _ in seen[5:]] == ["random tokens through the layers", "certified bounds at the tokens"]


def test_a_layer_in_another_process_is_heard_of(tmp_path: Path) -> None:
    from eigentoken.checking.inside import listening, teller

    heard: list[tuple[int, float, str]] = []
    with listening(lambda *told: heard.append(told)) as folder:
        teller(folder, 7)(0.25, "head 3 of 12")
        for _ in range(100):
            if heard:
                break
            time.sleep(0.05)
    assert heard == [(7, 0.25, "head 3 of 12")]
    assert not Path(str(folder)).exists()
    teller(str(folder), 8)(0.5, "nobody waits any more")
    with listening(None) as nothing:
        teller(nothing, 0)(0.5, "nobody waits")


def test_layers_of_an_earlier_run_are_said_to_be(gpt2: Path, tmp_path: Path) -> None:
    from eigentoken.checking.run import KEPT

    options = _options(tmp_path, statements=("PM-L4",), sequences=0)
    check(str(gpt2), **options)
    seen: list[str] = []
    check(str(gpt2), **options, watch=lambda now, _found: seen.append(now))
    assert seen == [KEPT] * 4 + ["the whole"]


def test_every_layer_and_head_is_certified(gpt2: Path, whole: Report) -> None:
    report = whole
    assert [layer["layer"] for layer in report.layers] == [0, 1, 2, 3]
    for layer in report.layers:
        assert len(layer["heads"]) == 2
        assert set(layer["cases"]) == {"real-part", "modulus", "step"}
        eigenvalues = np.linalg.eigvals(load(str(gpt2)).layer(layer["layer"]).F)
        low, high = layer["leading_eigenvalue"]
        assert low <= eigenvalues.real.max() <= high
        low, high = layer["norm"]
        assert low <= np.linalg.norm(load(str(gpt2)).layer(layer["layer"]).F, 2) <= high
        for eigenvalue in eigenvalues:
            assert any(abs(eigenvalue - complex(re, im)) <= radius + 1e-12 for re, im, radius in layer["discs"])
    assert len(report.document["observed"]) == 4


#: What a causal head alone would be an instance of.
ABOUT_A_CAUSAL_HEAD = {
    *("AB-L5.1", "AB-L6.1", "AB-T5.1", "AB-T6.1", "AB-X2", "AB-X2c", "AB-X3", "AB-X6", "PH-T4c"),
    *("PM-N1", "BD-H1", "CL-12", "CL-13", "CL-13a", "CL-13b", "CL-14"),
}


def test_every_statement_is_read_on_every_layer_and_those_about_one_head_on_every_head(whole: Report) -> None:
    from eigentoken.theory.statements.registry import statements

    report = whole
    registry = list(statements())
    assert [each["id"] for each in report.statements] == [each.id for each in registry]
    for layer in report.layers:
        assert [each["statement"] for each in layer["hypotheses"]] == [each.id for each in registry]
        for head in layer["heads"]:
            assert {each["statement"] for each in head["hypotheses"]} == ABOUT_A_CAUSAL_HEAD
            assert head["regime"]["regime"] == head["regime"]["of"] == "not about this model"  # a causal mask
            assert head["regime"]["rank"]["verdict"] == "holds"
            assert head["regime"]["conserved_directions"] == 8
            for each in head["hypotheses"]:
                verdicts = [head["verdicts"][name] for name in each["conditions"].values()]
                assert all(verdict["reason"] for verdict in verdicts)
                met = {verdict["verdict"] for verdict in verdicts} == {"holds"}
                assert met == (each["word"] == "met as if one head")
    for each in report.statements:
        assert (each["as_one_head"] is not None) == (each["id"] in ABOUT_A_CAUSAL_HEAD)
        if each["as_one_head"] is not None:
            assert sum(each["as_one_head"]["heads"].values()) == 8


#: Each spoils four tensors, each in one of seven ways; the others do so with other seeds.
@pytest.mark.parametrize("number", [0, 1, *(pytest.param(each, marks=pytest.mark.slow) for each in range(2, 6))])
def test_odd_weights_are_checked_without_a_traceback(number: int, tmp_path: Path) -> None:
    """Zero, huge, tiny, repeated and constant tensors: a verdict or an interval without end, never an exception."""
    import random

    from safetensors.numpy import load_file, save_file

    transformers = pytest.importorskip("transformers")
    config = transformers.GPT2Config(n_layer=1, n_head=2, n_embd=8, vocab_size=20, n_positions=12)
    transformers.GPT2LMHeadModel(config).save_pretrained(tmp_path / "model")
    tensors = load_file(tmp_path / "model" / "model.safetensors")
    chance = random.Random(number)
    for name in chance.sample(sorted(name for name in tensors if ".h.0." in name), 4):
        array = tensors[name].astype(np.float64)
        spoiled = (
            array * 0,
            array * 1e30,
            array * 1e-38,
            array * 1e300,
            array * 1e-310,
            array * 0 + 1,
            0 * array + array[:1],
        )
        tensors[name] = np.ascontiguousarray(spoiled[chance.randrange(len(spoiled))])
    save_file(tensors, tmp_path / "model" / "model.safetensors", metadata={"format": "pt"})
    report = check(str(tmp_path / "model"), **_options(tmp_path / "work"))
    assert "NaN" not in to_json(report)
    assert 'id="heat"' in to_html(report)
    assert to_latex(report).count(r"\begin{longtable}") == 3
    assert len(report.layers[0]["heads"]) == 2


def test_an_interrupted_run_resumes_to_the_same_bytes(gpt2: Path, whole: Report, tmp_path: Path) -> None:
    partial = tmp_path / "b"
    check(str(gpt2), **_options(partial))
    log = next(partial.glob("*.jsonl"))
    lines = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join(lines[:2]) + lines[2][: len(lines[2]) // 2])
    done = []
    resumed = check(str(gpt2), **_options(partial), done=lambda: done.append(1))
    assert len(done) == 2
    assert to_json(resumed) == to_json(whole)


def test_a_changed_line_of_the_work_file_is_not_believed(
    gpt2: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """``fails`` turned into ``holds``, a line of another run, a line without its hash: examined again, with one warning."""
    options = {"work": tmp_path, "sequences": 0, "statements": ("AB-T4.1", "PM-L7")}
    honest = check(str(gpt2), **options).as_dict()
    (log,) = tmp_path.glob("*.jsonl")
    lines = log.read_text(encoding="utf-8").splitlines()
    first = json.loads(lines[0])
    bare = {name: value for name, value in first.items() if name != "sha256"}
    for changed in (
        lines[0].replace('"fails"', '"holds"'),
        json.dumps(bare),
        sealed(json.loads(json.dumps(bare).replace('"fails"', '"holds"')), "another run"),
    ):
        assert changed != lines[0]
        log.write_text("\n".join([changed, *lines[1:]]) + "\n", encoding="utf-8")
        assert check(str(gpt2), **options).as_dict() == honest
        assert capsys.readouterr().err.count("examined again") == 1
        assert log.read_text(encoding="utf-8").splitlines()[-1] == lines[0]


def test_killed_in_the_middle_it_loses_at_most_the_layer_in_progress(gpt2: Path, whole: Report, tmp_path: Path) -> None:
    code = (
        "import sys, time; from pathlib import Path; import eigentoken.checking.run as run\n"
        "slow = run._record\n"
        "def record(*a):\n    time.sleep(0.2); return slow(*a)\n"
        "run._record = record\n"
        f"run.check({str(gpt2)!r}, work=Path({str(tmp_path)!r}), sequences=2, tokens=6)\n"
    )
    waiting, child = started(code, book=True)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        logs = list(tmp_path.glob("*.jsonl"))
        if logs and logs[0].read_bytes().count(b"\n") >= 2:
            break
        time.sleep(0.02)
    os.kill(child, signal.SIGKILL)
    waiting.communicate()
    kept = next(tmp_path.glob("*.jsonl")).read_bytes().count(b"\n")
    assert kept >= 2
    done = []
    resumed = check(str(gpt2), **_options(tmp_path), done=lambda: done.append(1))
    assert len(done) == 4 - kept
    assert to_json(resumed) == to_json(whole)


@pytest.mark.slow
def test_two_processes_killed_in_the_middle_resume_to_the_same_bytes(gpt2: Path, tmp_path: Path) -> None:
    """kill -9 of the whole group while two layers are in progress: what was appended stays, the rest is done again."""
    code = (
        "from pathlib import Path; import eigentoken.checking.run as run\n"
        f"run.check({str(gpt2)!r}, work=Path({str(tmp_path)!r}), jobs=2, sequences=2, tokens=6)\n"
    )
    waiting, child = started(code, book=True)
    deadline = time.monotonic() + 300
    while time.monotonic() < deadline and waiting.poll() is None:
        logs = list(tmp_path.glob("*.jsonl"))
        if logs and logs[0].read_bytes().count(b"\n") >= 1:
            break
        time.sleep(0.005)
    os.killpg(child, signal.SIGKILL)
    waiting.communicate()
    (log,) = tmp_path.glob("*.jsonl")
    kept = log.read_bytes().count(b"\n")
    assert kept >= 1
    done: list[int] = []
    resumed = check(str(gpt2), **_options(tmp_path, jobs=2), done=lambda: done.append(1))
    assert len(done) == 4 - kept
    whole = check(str(gpt2), **_options(tmp_path / "again"))
    assert to_json(resumed) == to_json(whole)
    assert resumed.layers[3]["heads"] == whole.layers[3]["heads"]
    assert len(resumed.layers[3]["heads"][1]["hypotheses"]) == len(ABOUT_A_CAUSAL_HEAD)


def test_parallel_and_serial_runs_agree(gpt2: Path, whole: Report, tmp_path: Path) -> None:
    assert to_json(check(str(gpt2), **_options(tmp_path, jobs=2))) == to_json(whole)


def test_changed_weights_do_not_reuse_results(gpt2: Path, tmp_path: Path) -> None:
    from safetensors.numpy import load_file, save_file

    first = check(str(gpt2), **_options(tmp_path / "work"))
    copy = tmp_path / "copy"
    shutil.copytree(gpt2, copy)
    tensors = load_file(copy / "model.safetensors")
    name = next(name for name in tensors if name.endswith("h.1.attn.c_proj.weight"))
    tensors[name] = tensors[name] * np.float32(2)
    save_file(tensors, copy / "model.safetensors", metadata={"format": "pt"})
    second = check(str(copy), **_options(tmp_path / "work"))
    assert second.layers[1]["norm"] != first.layers[1]["norm"]
    assert second.layers[0]["norm"] == first.layers[0]["norm"]


def test_a_line_that_was_cut_is_dropped(tmp_path: Path) -> None:
    log = _Log(tmp_path, "these weights", fresh=False)
    path = log.path
    log.append(0, {"a": 1})
    log.append(1, {"a": 2})
    with path.open("ab") as stream:
        stream.write(b'{"layer": 2, "rec')
    again = _Log(tmp_path, "these weights", fresh=False)
    assert again.records == {0: {"a": 1}, 1: {"a": 2}}
    assert path.read_bytes().endswith(b"\n")
    assert _Log(tmp_path, "these weights", fresh=True).records == {}


def test_require_decides_the_exit_code(gpt2: Path, tmp_path: Path) -> None:
    base = ["check", gpt2, "--work", tmp_path, "--sequences", "0", "--jobs", "1", "--json"]
    environment = {"EIGENTOKEN_CACHE": str(tmp_path)}
    plain = here(*base, "--statement", "AB-X1c", environment=environment)
    assert plain.returncode == 0
    document = json.loads(plain.stdout)
    assert document["schema"] == "eigentoken/check/7"
    assert document["statements"][0]["word"] == "fails"  # U = I is asked of each head
    for name in ("AB-X1c", "PM-L4"):  # fails; not about this model
        strict = here(*base, "--require", name, "-q", environment=environment)
        assert strict.returncode == 1
        first, *why = strict.stderr.splitlines()
        assert first.startswith("eigentoken: required ")
        assert first.endswith(f"({name}): {'fails' if name == 'AB-X1c' else 'not about this model'}")
        told = {
            "AB-X1c": r"  U = I fails in every layer, distance at least [\d.]+ \(layer 0: head 0: ",
            "PM-L4": "  it is about full attention, and the layer has causal attention",
        }
        assert any(re.match(told[name], line) for line in why)
    wrong = here(*base, "--require", "PM-L444", environment=environment)
    assert wrong.returncode == 2
    assert "did you mean" in wrong.stderr


def test_a_symmetric_layer_satisfies_the_lemma(tmp_path: Path) -> None:
    """Weights made so that F is symmetric with a simple positive leader: PM-N1 holds, certified; PM-T1 is for full attention."""
    from safetensors.numpy import load_file, save_file

    transformers = pytest.importorskip("transformers")
    config = transformers.GPT2Config(n_layer=1, n_head=2, n_embd=8, vocab_size=20, n_positions=12)
    transformers.GPT2LMHeadModel(config).save_pretrained(tmp_path / "model")
    tensors = load_file(tmp_path / "model" / "model.safetensors")
    attention = next(name for name in tensors if name.endswith("attn.c_attn.weight"))
    projection = next(name for name in tensors if name.endswith("attn.c_proj.weight"))
    changed = tensors[attention].copy()
    changed[:, 16:] = np.diag(np.arange(8, 0, -1)).astype(np.float32) / 8
    tensors[attention], tensors[projection] = changed, np.eye(8, dtype=np.float32)
    save_file(tensors, tmp_path / "model" / "model.safetensors", metadata={"format": "pt"})
    report = check(str(tmp_path / "model"), **_options(tmp_path / "work", statements=("PM-N1", "PM-T1")))
    assert report.answer("PM-N1") == "holds"
    assert report.answer("PM-T1") == "not about this model"
    assert report.layers[0]["cases"]["real-part"] == "1"
    assert report.layers[0]["alpha_star"] == ["inf", "inf"]
    assert report.layers[0]["gap"][0] == pytest.approx(1 / 8)


def test_reports_are_self_contained(whole: Report, whole_page: str) -> None:
    report, page = whole, whole_page
    assert "http://" not in page.replace("http://www.w3.org", "").split("<script")[0]
    assert "src=" not in page.split("</head>")[1].split('<script type="application/json"')[0]
    assert 'id="heat"' in page
    assert to_latex(report).count(r"\begin{longtable}") == 3
    assert "NaN" not in to_json(report)


def test_a_bad_model_is_one_line_and_exit_2(tmp_path: Path) -> None:
    ran = here("check", tmp_path / "nowhere")
    assert ran.returncode == 2
    assert "Traceback" not in ran.stderr
    assert len(ran.stderr.strip().splitlines()) == 1
    with pytest.raises(ModelError):
        check(str(tmp_path))


def test_every_list_and_count_on_the_screen_is_of_one_group(
    whole: Report, whole_page: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Definitions claim nothing; a statement is in one group only; what is met as if one head is in none of those that hold."""
    from eigentoken.checking.page_data import overview
    from eigentoken.checking.rows_of_statements import grouped
    from eigentoken.checking.sentences import sentence, sentences
    from eigentoken.checking.summary import groups

    report, page = whole, whole_page
    found = groups(report)
    kinds = (found.holds, found.fails, found.undecided, found.not_about, found.asks_nothing, found.asks_invertible)
    names = [each["id"] for listed in (*kinds, found.no_condition, found.definitions) for each in listed]
    assert sorted(names) == sorted(each["id"] for each in report.statements)
    assert {"AB-E2", "PM-A1"} <= {each["id"] for each in found.definitions}
    assert "PH-T7" in {each["id"] for each in found.not_about}
    show(report)
    said = " ".join(capsys.readouterr().out.split())
    rows = grouped(report)
    counts = ", ".join(f"{name} {len(rows[name])}" for name in ("applies", "nearly", "far", "undecided"))
    assert f"statements about these layers: {counts}" in said
    assert len(rows["applies"]) == len(found.holds) and rows["far"]
    assert f"not about this model: {len(found.not_about)} (what differs: mask " in said
    assert "as if a layer were one head (no theorem says this of these layers)" in said
    assert f"certified in every layer: <b>{len(found.holds)}</b>" in page
    for row in (
        *rows["nearly"],
        *rows["far"],
        *rows["undecided"],
    ):  # the screen and the page tell the same of a condition
        shared = [
            each
            for each in sentences(report, [other.told for other in rows[row.group]])
            if f"({row.told['id']})" in each
        ]
        assert len(shared) == 1 and f"- {shared[0]}." in said
        for condition, told in row.blocked[:4]:
            assert row.differs or f"{condition}\\) {told}" in unescape(page)
        for _, told in row.blocked:  # where the distance of F is enclosed, that of the condition is not told beside it
            where, _, distance = told.partition(", distance at least ")
            assert where in sentence(report, row.told) and distance in sentence(report, row.told)
    assert page.count('<li id="s-') == len(names)  # every statement once, so that each id is a link to its text
    assert set(map(unescape, re.findall(r'href="#s-([^"]+)"', page))) <= set(names)
    place = next(i for i, each in enumerate(overview(report)["choices"]) if each["name"].startswith("statements met"))
    for layer, shown in zip(report.layers, overview(report)["layers"], strict=True):
        for head, values in zip(layer["heads"], shown["heads"], strict=True):
            assert values[place] == sum(each["word"] == "met as if one head" for each in head["hypotheses"])


def test_statements_that_fail_for_one_reason_are_told_in_one_sentence(
    whole: Report, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every statement once; those of one sentence are told the same when they stand alone, others are not."""
    from eigentoken.checking.rows_of_statements import bunches, grouped
    from eigentoken.checking.sentences import called, sentence, sentences
    from eigentoken.checking.summary import groups

    rows = grouped(whole)
    listed = [row.told for name in ("nearly", "far", "undecided") for row in rows[name]]
    alone = {each["id"]: sentence(whole, each).removeprefix(called(each)) for each in listed}
    told = sentences(whole, listed)
    assert len(told) == len(set(alone.values()))
    assert all(sum(called(each) in text for text in told) == 1 for each in listed)
    for text in told:
        inside = [alone[each["id"]] for each in listed if called(each) in text]
        assert len(set(inside)) == 1 and text.startswith(f"{len(inside)} statements ") == (len(inside) > 1)
    for name, of_group in rows.items():
        found = bunches(name, of_group)
        assert sorted(row.told["id"] for each in found for row in each.rows) == sorted(r.told["id"] for r in of_group)
        for bunch in found:
            assert len({(row.differs, row.blocked, row.distance) for row in bunch.rows}) == 1
    parts = groups(whole).parts_text()
    assert sum(int(each.rpartition(" ")[2]) for each in parts.split("; ")) == len(groups(whole).not_about)


def test_what_differs_and_what_is_left_out_is_said(
    gpt2: Path, whole: Report, whole_page: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = whole
    rows = {part.split('"')[0]: part.split("</li>")[0] for part in whole_page.split('<li id="s-')[1:]}
    assert "one head; this layer has 2 heads" in rows["PM-L8"]
    assert "full attention; this layer has causal attention" in rows["PM-L8"]
    assert "biases" in rows["PM-N1"]
    sizes = {each["name"]: each["measured"] for each in report.document["idealisations"]}
    seen = [each["left_out"]["attention_to_state"] for each in report.document["observed"]]
    assert sizes["step"] == seen
    show(report)
    assert "step: a flow" in capsys.readouterr().out
    blind = check(str(gpt2), work=tmp_path, sequences=0)
    assert {each["measured"] for each in blind.document["idealisations"]} == {"not measured"}
    show(blind)
    assert "not measured" in capsys.readouterr().out
    assert "not measured" in to_html(blind)


def test_the_legend_of_the_report_stands_in_the_documentation() -> None:
    from eigentoken.checking.glossary import GLOSSARY

    text = (Path(__file__).resolve().parents[2] / "docs" / "check.md").read_text(encoding="utf-8")
    for word, meaning in GLOSSARY:
        assert "|" not in word + meaning  # it stands in a table
        shown = meaning.replace(r"\(", "$").replace(r"\)", "$")  # as code hosts draw formulas
        assert f"| {word} | {shown} |" in text


def test_the_corners_of_the_search_stand_in_the_documentation() -> None:
    from eigentoken.numerics.instances.spectra import CORNERS

    text = (Path(__file__).resolve().parents[2] / "docs" / "refute.md").read_text(encoding="utf-8")
    assert f"({', '.join(CORNERS)})" in text


@pytest.mark.needs_latex
def test_the_latex_tables_compile_and_break_over_pages(gpt2: Path, tmp_path: Path) -> None:
    report = check(str(gpt2), **_options(tmp_path / "work"))
    layer = report.layers[0]
    numbers = [{"layer": index, "weights_of": index, "used_by": [index]} for index in range(60)]
    many = [{**layer, **number, "alpha_star": [1.0, "inf"]} for number in numbers]
    (tmp_path / "tables.tex").write_text(to_latex(Report({**report.document, "layers": many})))
    (tmp_path / "paper.tex").write_text(
        r"\documentclass{article}\usepackage{amsmath,amssymb,booktabs,longtable}\usepackage[landscape]{geometry}"
        r"\begin{document}\input{tables}\end{document}"
    )
    command = ["latexmk", "-pdf", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout[-2000:]
    assert r"Overfull \vbox" not in (tmp_path / "paper.log").read_text(errors="replace")


def test_rotary_shares_and_outward_intervals_are_in_the_summary(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    """The widest interval over the heads; ends that do not round alike are rounded away from each other."""
    report = check("sample:glassllm", **_options(tmp_path))
    shares = rotary_shares(report)
    heads = [head for layer in report.layers for head in layer["heads"]]
    every = [(each["offset"], each["relative_change"]) for head in heads for each in head["rotary"]]
    assert set(shares) == {1, 8, 64}
    assert all(shares[offset][0] <= ends[0] <= ends[1] <= shares[offset][1] for offset, ends in every)
    show(report)
    printed = capsys.readouterr().out
    assert "rotary positions change a head's score matrix" in printed
    assert max(map(len, printed.splitlines())) <= 80
    assert interval((0.12344, 0.12346)) == "[0.1234, 0.1235]"
    assert interval((-0.12346, 0.12344)) == "[-0.1235, 0.1235]"
    assert interval((1.0, "inf")) == "[1, ∞]"


def test_a_recheck_says_beforehand_how_much_there_is_to_confirm(gpt2: Path, tmp_path: Path) -> None:
    report = check(str(gpt2), **_options(tmp_path / "work", statements=("PM-L4",)))
    path = tmp_path / "report.json"
    path.write_text(to_json(report))
    work = work_of_check(path)
    assert work is not None and (work.layers, work.d) == (len(report.layers), 16)
    count = work.certificates
    ran = here("recheck", path)
    assert ran.returncode == 0, ran.stdout
    assert f"its {count} certificates are confirmed" in ran.stderr and "some seconds of one core" in ran.stderr
    confirmed = int(ran.stdout.split(" of ")[0].split()[-1])
    assert count < confirmed <= count + 2 + len(report.layers)  # the hashes, the statements and each layer beside them
    path.write_text('{"schema": "eigentoken/steer/1"}')
    assert work_of_check(path) is work_of_check(tmp_path / "missing.json") is None


def test_a_recheck_tells_each_part_as_it_is_done(gpt2: Path, tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    path.write_text(to_json(check(str(gpt2), **_options(tmp_path / "work", statements=("PM-L4",)))))
    work, parts, said = work_of_check(path), [0], list[str]()
    recheck_document(path, watch=said.append, done=lambda: parts.append(1))
    assert work is not None and sum(parts) == len(said) == work.parts
    assert said[0] == "layer 0 made again from the weights" and said[-1].startswith("certificates of layer")
    assert of_recheck(80, 8192).startswith("about ") and " to " in of_recheck(80, 8192)


def test_what_the_theory_leaves_out_is_measured_against_the_attention_update(
    gpt2: Path, whole: Report, tmp_path: Path
) -> None:
    """Gains of one size are no loss; doubled in one coordinate they are, by what a second forward pass says."""
    from safetensors.numpy import load_file, save_file

    even = whole.document["observed"]
    assert [each["left_out"]["gains"] for each in even] == [0.0] * 4  # a new model has all gains 1
    tensors = load_file(gpt2 / "model.safetensors")
    name = next(name for name in tensors if name.endswith("h.0.ln_1.weight"))
    shutil.copytree(gpt2, tmp_path / "model")
    tensors[name] = np.where(np.arange(16) == 3, 2.0, 1.0).astype(np.float32)
    save_file(tensors, tmp_path / "model" / "model.safetensors", metadata={"format": "pt"})
    first = check(str(tmp_path / "model"), **_options(tmp_path / "b")).document["observed"][0]["left_out"]
    model = load(str(tmp_path / "model"))
    layer, x = model.layer(0), first_states(model, starting_tokens(model, 2, 6, 0))
    update, middle = attention(layer.block(False), layer.attention_norm.apply(x))[2], layer.attention_norm.apply(x)
    changed = attention(layer.block(False), (middle - layer.attention_norm.bias) / tensors[name] * np.float32(17 / 16))[
        2
    ]
    assert first["gains"] == pytest.approx(np.linalg.norm(update - changed) / np.linalg.norm(update), rel=1e-3)
    assert first["gain_spread"] == 1.0
    scaled = (middle - layer.attention_norm.bias).astype(float)  # what alpha = 1 is for a norm before the attention
    assert first["own_step"] == pytest.approx(np.linalg.norm(scaled) / np.linalg.norm(x.astype(float)), rel=1e-5)
    assert first["own_step"] > 10  # the embeddings of a new model are short, and the normed tokens are not


def test_each_statement_is_told_in_a_sentence_with_its_title(tmp_path: Path) -> None:
    """Where it applies, what is in the way and where: made from the verdicts of the layers, so a changed verdict changes it."""
    from copy import deepcopy

    from eigentoken.checking.sentences import in_the_way, sentence

    report = check("sample:microformer", **_options(tmp_path, sequences=0, statements=("PM-N1", "AB-T5.1")))
    consensus, causal = report.statements
    assert "PM-N1" not in consensus["title"]
    held = [number for number, word in enumerate(consensus["layers"]) if word == "holds"]
    assert 0 < len(held) < 8
    said = sentence(report, consensus)
    assert said.startswith(f"{consensus['title']} (PM-N1) applies to {len(held)} of 8 layers (")
    least = min(float(report.layers[number]["alpha_star"][0]) for number in held)
    below = float(said.split("consensus is stable for steps below ")[1].split(" (certified)")[0])
    assert 0.99 * least <= below <= least
    assert sorted({n for each in in_the_way(report, "PM-N1") for n in each.layers} | set(held)) == list(range(8))
    assert sentence(report, causal).startswith(f"{causal['title']} (AB-T5.1) applies to no layer: ")
    doubtful = {**causal, "layers": ["undecided", *causal["layers"][1:]]}  # what is undecided does not fail to apply
    assert "(AB-T5.1) is known to apply to no layer: " in sentence(report, doubtful)
    changed = deepcopy(report.document)
    place = held[0]
    reading = next(each for each in changed["layers"][place]["hypotheses"] if each["statement"] == "PM-N1")
    text = next(iter(reading["conditions"]))
    reading["conditions"][text]["verdict"] = "undecided"
    open_there = [each for each in in_the_way(Report(changed), "PM-N1") if each.answer == "undecided"]
    assert [(each.condition, each.layers, each.distance) for each in open_there] == [(text, (place,), "")]


def test_layers_and_heads_are_tables_and_a_figure(gpt2: Path, tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    report = check(str(gpt2), **_options(tmp_path, sequences=0, statements=("PM-N1",)))
    layers, heads = report.layers.to_frame(), report.heads.to_frame()
    assert list(layers.index) == [0, 1, 2, 3]
    assert list(heads.index) == [(layer, head) for layer in range(4) for head in range(2)]
    for number, layer in enumerate(report.layers):
        assert [layers.loc[number, f"norm_{end}"] for end in ("low", "high")] == layer["norm"]
        assert layers.loc[number, "case_by_step"] == layer["cases"]["step"]
        for head in layer["heads"]:
            row = heads.loc[(number, head["head"])]
            assert [row["score_norm_low"], row["score_norm_high"]] == head["score"]["norm"]
            assert row["leader_real_and_simple"] == head["value_leader"]["verdict"]
    drawn = report.plot()
    titles = [axes.get_title() for axes in drawn.axes]
    assert titles == ["eigenvalues of F", "size of F", "norm of the scores P", "norm of the values U"]
    line = drawn.axes[1].get_lines()[0].get_ydata()
    assert line == pytest.approx([sum(layer["norm"]) / 2 for layer in report.layers])


def test_shared_weights_stand_in_the_document_once() -> None:
    report = check("sample:rxnmapper", sequences=0, statements=("PM-N1",))
    (entry,) = report.document["layers"]
    assert entry["used_by"] == list(range(12)) and entry["layer"] == entry["weights_of"] == 0
    assert [layer["layer"] for layer in report.layers] == list(range(12))
    assert {layer["weights_of"] for layer in report.layers} == {0}
    assert len(report.heads) == 8
    assert report.statements[0]["layers"] == ["fails"] * 12


def test_a_failure_is_told_with_its_distance() -> None:
    """F = F^T is as far as |F - F^T| / 2; a head whose U is not I bounds the distance from below, rounded down."""
    from eigentoken.checking.sentences import in_the_way

    report = check("sample:rxnmapper", sequences=0, statements=("CT-2", "AB-T4.1", "PM-N1"))
    layer = load("sample:rxnmapper").layer(0)
    (symmetric,) = in_the_way(report, "CT-2")
    assert float(symmetric.distance) == pytest.approx(np.linalg.norm(layer.F - layer.F.T, 2) / 2, rel=5e-3)
    (identity,) = in_the_way(report, "AB-T4.1")
    words, _, bound = identity.distance.rpartition(" ")
    assert words == "at least" and 0 < float(bound) <= np.linalg.norm(layer.heads[0].U - np.eye(layer.d), 2)
    (leader,) = in_the_way(report, "PM-N1")
    assert leader.distance.startswith("at least ")
    reading = next(each for each in report.document["layers"][0]["hypotheses"] if each["statement"] == "CT-2")
    next(iter(reading["conditions"].values()))["unit"] = "spectral norm of the scores times 8"
    assert in_the_way(report, "CT-2")[0].distance == ""
