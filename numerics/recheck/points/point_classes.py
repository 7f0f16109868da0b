"""The class of a point, seen in balls: clusters of equal tokens, antipodes, the eigenvalue of the layer matrix, ranks.

The definitions are those of :mod:`eigentoken.theory.classification.classify`, written again: consensus (all tokens
equal), bipartite (tokens at v and -v, v an eigenvector of ``F = sum_h F_h``), polygonal (no token is pushed; in Euclidean
space: all weighted means are zero), clustering (every other equilibrium).  Equalities are seen to 120 digits
(:func:`.points.vanishes`); what is open is said.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import flint

from eigentoken.numerics.recheck.points.clusters import clusters
from eigentoken.numerics.recheck.points.point import Point, every, vanishes

__all__ = ["Described", "described"]

arb, arb_mat = flint.arb, flint.arb_mat


@dataclass
class Described:
    """What is displayed of a class; ``open`` names the fields that balls do not decide, with the reason."""

    kinds: list[str] = field(default_factory=list)
    p: int | None = None
    q: int | None = None
    clusters: int | None = None
    eigenvalue: flint.arb | None = None
    k: int | None = None
    repeated: int = 1
    tied: bool = False
    ranks: list[int] = field(default_factory=list)
    open: dict[str, str] = field(default_factory=dict)


def described(point: Point, until: float) -> Described:
    """Clusters, signs, eigenvalue and its place, the classes in their order, and the ranks."""
    about = Described()
    representatives: list[Any] = []
    labels: list[int] = []
    for x in point.x:
        answers = [_equal(x, other) for other in representatives]
        if None in answers:
            about.open = dict.fromkeys(("class", "clusters", "p", "q", "eigenvalue"), "equal tokens are not told apart")
            break
        if True not in answers:
            representatives.append(x)
        labels.append(answers.index(True) if True in answers else len(representatives) - 1)
    else:
        about.clusters = len(representatives)
        _signed(point, about, representatives, labels, until)
    for matrix in point.attention() if point.shape.reads_tokens else ():
        rank = _rank(matrix)
        if rank is None:
            about.open["attention_rank"] = "a pivot of the attention matrix is neither zero nor not"
            break
        about.ranks.append(rank)
    return about


def _equal(a: Any, b: Any, factor: int = 1) -> bool | None:
    return every([vanishes(u - factor * v) for u, v in zip(a.entries(), b.entries(), strict=True)])


def _signed(point: Point, about: Described, found: list[Any], labels: list[int], until: float) -> None:
    opposite = _equal(found[0], found[1], -1) if len(found) == 2 else False
    still = _at_rest(point)
    if opposite is None or still is None:
        about.open["class"] = "whether tokens are opposite, or pushed, is open"
        return
    kinds = []
    if len(found) == 1 or opposite:
        _eigenvalue(point, about, until)
    if len(found) == 1:
        kinds.append("consensus")
    elif opposite:
        about.p, about.q = labels.count(0), labels.count(1)
        if about.eigenvalue is not None:
            kinds.append("bipartite")
    if still and point.shape.plain:
        kinds.append("polygonal")
    about.kinds = kinds or ["clustering"]


def _at_rest(point: Point) -> bool | None:
    if not point.shape.euclidean:
        return every([vanishes(entry) for push in point.u for entry in push.entries()])
    weights = point.attention()[0]
    states = arb_mat(point.n, point.d, [entry for x in point.x for entry in x.entries()])
    return every([vanishes(entry) for entry in (weights * states).entries()])


def _eigenvalue(point: Point, about: Described, until: float) -> None:
    """``F x = lambda x`` at the first token, and the place of lambda by descending real part."""
    d, x = point.d, point.x[0]

    def layer(_: int) -> Any:
        here = Point(point.instance)
        total = arb_mat(d, d)
        for value, _score in here.system.pairs:
            total = total + (
                arb_mat(d, d, [int(r == c) for r in range(d) for c in range(d)]) if value is None else value
            )
        return total

    image = layer(0) * x
    if point.shape.euclidean:
        pivot = max(range(d), key=lambda a: abs(float(x[a, 0].mid())))
        if not abs(x[pivot, 0]) > 0:
            return
        value = image[pivot, 0] / x[pivot, 0]
    else:
        value = point.pair(x, image)
    same = every([vanishes(b - value * a) for a, b in zip(x.entries(), image.entries(), strict=True)])
    if same is None:
        about.open["eigenvalue"] = about.open["k"] = "whether the token is an eigenvector is open"
    if not same:
        return
    about.eigenvalue = value
    found = clusters(layer, until)
    if found is None:
        about.open["k"] = "the eigenvalues of F were not enclosed"
        return
    above, about.repeated = 0, 0
    for each in found:
        ahead = each.ball.real - value
        if ahead > 0:
            above += each.count
        elif not ahead < 0:
            if each.is_real:
                about.repeated += each.count
            else:
                about.tied = True
    about.k = above + 1


def _rank(matrix: Any) -> int | None:
    """The rank by elimination with the largest pivot; what is left is zero to 120 digits, or the rank is open."""
    rows = [[matrix[r, c] for c in range(matrix.ncols())] for r in range(matrix.nrows())]
    rank = 0
    while rows and rows[0]:
        sizes = [
            (float(abs(e).lower().log()) if abs(e) > 0 else float("-inf"), r, c)
            for r, row in enumerate(rows)
            for c, e in enumerate(row)
        ]
        best, r, c = max(sizes)
        if best == float("-inf"):
            return rank if all(vanishes(e) for row in rows for e in row) else None
        pivot = rows.pop(r)
        factors = [row[c] / pivot[c] for row in rows]
        rows = [
            [a - factor * b for j, (a, b) in enumerate(zip(row, pivot, strict=True)) if j != c]
            for row, factor in zip(rows, factors, strict=True)
        ]
        rank += 1
    return rank
