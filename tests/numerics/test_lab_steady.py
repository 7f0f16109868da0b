"""A violation that is the rounding of its own computation is none, and ascent stays where numbers are of use."""

from __future__ import annotations

from typing import Any

import torch

from eigentoken.numerics.instances.batches import Batch
from eigentoken.numerics.instances.sampling import sample
from eigentoken.numerics.lab import Conjecture, refute
from eigentoken.numerics.lab.ascent import ROOM, WIDE, climb
from eigentoken.numerics.lab.gathering import Unit
from eigentoken.numerics.lab.search import run_unit
from eigentoken.numerics.lab.steadiness import is_steady
from eigentoken.numerics.lab.targets import targets
from eigentoken.theory.language.claims import Nonnegative, Vanishes
from eigentoken.theory.language.observables import Observable, dot
from eigentoken.theory.statements.registry import statement

LARGE = 10**9


def _rounding(scalars: Any, system: Any, parameters: Any, x: Any, mask: Any) -> Any:
    """``10^9 (((a + b) + c) d - (a d + (b + c) d))``, which is 0: floats leave some roundings of a large number."""
    a, b, c, d = x[0][0] ** 2, x[0][1] ** 2, x[1][0] ** 2, 1 + x[1][1] ** 2
    return LARGE * (((a + b) + c) * d - (a * d + (b + c) * d))


def _small(scalars: Any, system: Any, parameters: Any, x: Any, mask: Any) -> Any:
    """``10^-7 |x_1|^2``: small, and not 0."""
    return dot(x[0], x[0]) / 10**7


NOTHING, SMALL = Observable("nothing", "0", _rounding), Observable("small", "s", _small)


def drawn(claim: Any) -> tuple[Any, Batch, torch.Tensor]:
    (aim,) = targets(Conjecture("steady", "token-flow", (), [claim], n=[2, 3], d=[2]))
    found = sample(aim.plan, 60, 1, cells_at_most=2).batches[0]
    return aim, found, aim.violation(found)


def test_rounding_is_told_from_a_violation_of_the_same_size() -> None:
    for observable, steady in ((NOTHING, False), (SMALL, True)):
        aim, batch, values = drawn(Vanishes(observable))
        seen = (values > 1e-8).nonzero().flatten().tolist()
        assert len(seen) > 5
        words = [is_steady(aim, batch.take([each]), float(values[each])) for each in seen]
        assert all(words) if steady else sum(words) <= len(words) / 10


def test_a_search_keeps_the_violation_and_drops_the_rounding() -> None:
    for observable, kept in ((NOTHING, False), (SMALL, True)):
        (aim,) = targets(Conjecture("steady", "token-flow", (), [Vanishes(observable)], n=[2, 3], d=[2]))
        found = run_unit(aim, Unit("batches", 3, 300))
        assert bool(found.findings) == kept
        assert (found.best > 0) == kept


def test_an_identity_over_unbounded_states_is_no_candidate() -> None:
    """BD-J1 was one, with violations above 1000: the tokens grew, and their exponentials were subtracted."""
    asked = statement("BD-J1")
    found = refute(Conjecture("J1", "token-flow", asked.conditions, asked.claims), instances=4000).results[0]
    assert (found.answer, found.candidate) == ("survived", None) and found.best <= 0


def test_ascent_stays_in_its_window_unless_it_began_outside() -> None:
    grows = Observable("size", "s", lambda scalars, system, parameters, x, mask: -dot(x[0], x[0]))
    aim, batch, _ = drawn(Nonnegative(grows))
    begun = torch.linalg.vector_norm(batch.tokens, dim=-1).amax(-1)
    climbed, _ = climb(aim, batch, steps=40)
    sizes = torch.linalg.vector_norm(climbed.tokens, dim=-1).amax(-1)
    assert bool((sizes <= (ROOM * begun).clamp_min(WIDE) + 1e-9).all()) and float(sizes.max()) > 0.8 * WIDE
    far = batch.at(100 * batch.tokens)
    assert bool((climb(aim, far, steps=40)[0].tokens.abs().amax((-1, -2)) > 20).any())


def test_a_predicate_that_is_false_on_a_thin_set_keeps_its_findings() -> None:
    """A boolean answer jumps by its nature; it is decided exactly, and not by its neighbours."""
    stated = Conjecture("thin", "oja-map", (), holds_if=lambda x: abs(x.tokens[0, 0]) < 1, n=[1], d=[2])
    found = refute(stated, instances=600).results[0]
    assert found.answer == "refuted"
