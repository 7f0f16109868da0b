"""What a statement rests on, as ``show --trust`` prints it."""

from __future__ import annotations

import re
from dataclasses import replace

from eigentoken.proofs.typeset.kernel_steps import kernel_steps
from eigentoken.proofs.typeset.trust import BELIEVED, trust
from eigentoken.theory.statements.registry import statements


def told(name: str) -> dict[str, list[str]]:
    return dict(trust(statements().get(name)))


def test_what_the_kernel_proves_names_its_engines_and_solvers() -> None:
    found = told("PM-L4")
    assert "Proved by the kernel for oja-map" in found
    assert {"V = V\u1d40", "\u03bb\u2081(V) > 0", "k \u2264 d"} <= set(found["Conditions that are used"])
    assert "n \u2265 2" not in found["Conditions that are used"]  # stated, and not needed
    assert BELIEVED["spectrum"] in found["Rests on"]
    assert BELIEVED["equilibrium"] not in found["Rests on"]
    assert any(line.startswith("z3 ") and "for real arithmetic" in line for line in found["Rests on"])


def test_what_is_put_together_by_names_says_so_and_lists_what_it_cites() -> None:
    found = dict(trust(replace(statements().get("PM-R3"), proof=None)))
    assert "put together by the names of facts" in found["Not proved by the kernel"][0]
    assert any("Absil" in line for line in found["Rests on"])
    assert statements().get("PM-L7").called in found["Rests on"]


def test_almost_every_start_rests_on_the_theorem_and_on_what_its_hypotheses_recall() -> None:
    found = told("PM-T2")["Rests on"]
    assert any("strict saddle" in line for line in found)
    (line,) = (line for line in found if "strict saddle" in line)
    (step,) = (each for each in kernel_steps(statements().get("PM-T2"))[0].steps if "unstable fixed points" in each.how)
    used, by = (set(map(int, re.findall(r"\d+", part))) for part in line.split("): in step ")[1].split("hypotheses by"))
    assert used == {step.number}
    assert by == set(step.uses) and by
    assert len(found) == len({line.split(":")[0] for line in found}), "a theorem is named once"
    recalled = {f"{statements().get(each).called}, proved by the kernel" for each in ("PM-L4", "PM-R3", "PM-DIFF")}
    assert recalled <= set(found)
