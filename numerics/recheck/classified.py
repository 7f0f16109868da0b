"""Re-check of a classification: the point evaluated in balls of our own, exact zeros by sympy's arithmetic.

``moved``: an entry of ``f(x) - x`` (flow: of the velocity) is certainly not zero.  ``fixed``: the tokens that i sees are
grouped by their scores; where the pushed sum of each group is tangentially zero, the weighted one is, whatever the weights
(sufficient; all other cases are left unconfirmed).  ``inside``: some power of the linearization J, scaled by the margin, has
norm below 1 (for a flow of its Cayley transform ``(I - h J)^-1 (I + h J)``, which maps the left half plane to the disc).
``outside``: some power has a trace of modulus above the order.  Margins are confirmed to 99.9 %.
"""

from __future__ import annotations

import ast
import hashlib
import json
from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import flint

from eigentoken.numerics.recheck.attention import SHAPES, Attention
from eigentoken.numerics.recheck.equilibria import _linearization
from eigentoken.numerics.recheck.reading import Document, RecheckError, unconfirmed

__all__ = ["confirm_classification"]

arb, arb_mat, fmpq = flint.arb, flint.arb_mat, flint.fmpq
PRECISION = 640
SQUARINGS = 48
CLAIMS = {
    ("equilibrium", "holds"): {"fixed"},
    ("equilibrium", "fails"): {"moved", "undefined"},
    ("linearly asymptotically stable", "holds"): {"inside", "discrete"},
    ("linearly asymptotically stable", "fails"): {"outside", "boundary", "moved", "undefined"},
}


def confirm_classification(document: Document) -> str | None:
    """None if the claim about the instance is confirmed, else why not."""
    data = document.data
    claim = str(data["claim"])
    if claim not in CLAIMS.get((document.condition, document.verdict), set()):
        return f"the claim {claim!r} does not support {document.condition} {document.verdict}"
    text = json.dumps(data["instance"], sort_keys=True, separators=(",", ":"))
    if document.inputs.get("instance") != hashlib.sha256(text.encode()).hexdigest():
        return "the instance is not what was certified: its hash differs"
    if data["instance"]["system"] not in SHAPES:
        return unconfirmed(f"the system {data['instance']['system']!r}, which is not written here")
    old, flint.ctx.prec = flint.ctx.prec, PRECISION
    try:
        return _Point(data["instance"]).confirm(claim, data)
    finally:
        flint.ctx.prec = old


# -- reading ----------------------------------------------------------------------------------------------------------


def _evaluate(node: ast.expr) -> Any:
    """A number as it is written, in a ball."""
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return arb(node.value)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_evaluate(node.operand)
    if isinstance(node, ast.BinOp):
        left, right = _evaluate(node.left), _evaluate(node.right)
        if isinstance(node.op, ast.Add):
            return left + right
        if isinstance(node.op, ast.Sub):
            return left - right
        if isinstance(node.op, ast.Mult):
            return left * right
        if isinstance(node.op, ast.Div):
            return left / right
        if isinstance(node.op, ast.Pow):
            return left**right
    if isinstance(node, ast.Name) and node.id in ("E", "pi"):
        return arb(1).exp() if node.id == "E" else arb.pi()
    call = node.func if isinstance(node, ast.Call) and len(node.args) == 1 else None
    if isinstance(node, ast.Call) and isinstance(call, ast.Name) and call.id in ("sqrt", "exp", "log"):
        return getattr(_evaluate(node.args[0]), call.id)()
    raise RecheckError("a number of the instance cannot be read")


def _ball(text: Any) -> Any:
    try:
        value = _evaluate(ast.parse(str(text), mode="eval").body)
    except SyntaxError:
        raise RecheckError("a number of the instance cannot be read") from None
    if not value.is_finite():
        raise RecheckError("a number of the instance is not finite")
    return value


def _matrix(rows: Sequence[Sequence[Any]], d: int) -> Any:
    if len(rows) != d or any(len(row) != d for row in rows):
        raise RecheckError(f"a parameter must be a {d} x {d} matrix")
    return arb_mat([[_ball(entry) for entry in row] for row in rows])


class _Point:
    """The instance in balls, and its texts."""

    def __init__(self, instance: Mapping[str, Any]) -> None:
        self.instance = instance
        name = str(instance["system"])
        self.shape = SHAPES[name]
        tokens = instance["tokens"]
        self.n, self.d = len(tokens), len(tokens[0])
        self.x = [arb_mat(self.d, 1, [_ball(entry) for entry in token]) for token in tokens]
        self.heads = list(instance["heads"]) if self.shape.heads else [instance]
        pairs: list[tuple[Any, Any]] = []
        for head in self.heads:
            value, score = (
                None if key is None else _matrix(head[key], self.d) for key in (self.shape.value, self.shape.score)
            )
            pairs.append((value, score))
        mask = "causal" if name == "causal-flow" else instance.get("mask", "full")
        if mask == "full":
            mask = [[1] * self.n for _ in range(self.n)]
        elif mask == "causal":
            mask = [[int(j <= i) for j in range(self.n)] for i in range(self.n)]
        self.mask = [[int(entry) for entry in row] for row in mask]
        metric = None if self.shape.metric is None else _matrix(instance[self.shape.metric], self.d)
        alpha = _ball(instance["alpha"]) if self.shape.is_map else None
        self.system = Attention(self.shape, self.n, self.d, pairs, self.mask, metric, None, alpha)
        if not self.shape.euclidean:
            for token in self.x:
                if not (self._pair(token, token) - 1).contains(0):
                    raise RecheckError("a token is not on its sphere or ellipsoid")

    def _pair(self, a: Any, b: Any) -> Any:
        return (a.transpose() * self.system.weigh(b))[0, 0]

    def confirm(self, claim: str, data: Mapping[str, Any]) -> str | None:
        least = None if data["at_least"] is None else arb(float.fromhex(str(data["at_least"])))
        if claim == "moved":
            return self._moved(arb(0) if least is None else least)
        if claim == "fixed":
            return self._fixed()
        if claim == "discrete":
            return None if self.d == 1 and not self.shape.euclidean else "the state space is not discrete"
        if claim == "undefined":
            return unconfirmed("that a raw step vanishes exactly")
        if claim == "boundary":
            return unconfirmed("an eigenvalue exactly on the boundary")
        return self._spectrum(claim == "inside", arb(0) if least is None else least, bool(data["cycle"]))

    # -- the point --------------------------------------------------------------------------------------------------

    def _moved(self, least: Any) -> str | None:
        u, _ = self.system.push(self.x)
        largest = arb(0)
        for x, push in zip(self.x, u, strict=True):
            if self.shape.is_map:
                y = x + push * self.system.alpha
                change = y * (1 / self._pair(y, y).sqrt()) - x
            elif self.shape.euclidean:
                change = push
            else:
                change = push - x * self._pair(x, push)
            for entry in change.entries():
                largest = largest.max(abs(entry))
        if largest > 0 and largest >= least:
            return None
        return unconfirmed("that the point moves") if largest.contains(0) else "the point moves less than it is said"

    def _fixed(self) -> str | None:
        if self._moved(arb(0)) is None:
            return "the point moves"
        if self.shape.is_map:
            u, _ = self.system.push(self.x)
            if not all(1 + self.system.alpha * self._pair(x, push) > 0 for x, push in zip(self.x, u, strict=True)):
                return unconfirmed("that 1 + alpha c_i is positive")
        return None if _exactly_fixed(self) else unconfirmed("an exact zero of the velocity")

    # -- the spectrum -------------------------------------------------------------------------------------------------

    def _spectrum(self, inside: bool, least: Any, cycle: bool) -> str | None:
        u, _ = self.system.push(self.x)
        heights = [self._pair(x, push) for x, push in zip(self.x, u, strict=True)]
        if self.shape.is_map:
            signs = [1 + self.system.alpha * c for c in heights]
            if not (all(m < 0 for m in signs) if cycle else all(m > 0 for m in signs)):
                return unconfirmed("a linearization where tokens change places")
        held = [entry for x in self.x for entry in x.entries()] + heights
        J = _linearization(SimpleNamespace(system=self.system, box=held, tokens=lambda _: self.x))  # type: ignore[arg-type]
        size = J.nrows()
        one = arb_mat(size, size, [int(r == c) for r in range(size) for c in range(size)])
        kept = least * arb(fmpq(999, 1000))
        if self.shape.is_map:
            power = J * (1 / (1 - kept if inside else 1 + kept))
        else:
            shifted = J + self._tangent() * kept if inside else J - one * kept
            h = 1 / (1 + _norm(shifted))
            power = (one - shifted * h).solve(one + shifted * h)
        for _ in range(SQUARINGS):
            if inside and _norm(power) < 1:
                return None
            trace = sum((power[k, k] for k in range(size)), arb(0))
            if abs(trace) > size:
                return None if not inside else "an eigenvalue is outside"
            if not inside and _norm(power) < 1:
                return "every eigenvalue is inside"
            power = power * power
        return unconfirmed("where the spectrum lies")

    def _tangent(self) -> Any:
        """The projection to the tangent spaces: directions normal to them keep their rate -1."""
        n, d = self.n, self.d
        rows = [[arb(int(r == c)) for c in range(n * d)] for r in range(n * d)]
        for i, x in enumerate(self.x if not self.shape.euclidean else ()):
            normal = x * self.system.weigh(x).transpose()
            for a in range(d):
                for b in range(d):
                    rows[i * d + a][i * d + b] -= normal[a, b]
        return arb_mat(rows)


def _norm(matrix: Any) -> Any:
    size = matrix.nrows()
    best = arb(0)
    for r in range(size):
        best = best.max(sum((abs(matrix[r, c]) for c in range(size)), arb(0)))
    return best


# -- exact zeros --------------------------------------------------------------------------------------------------------


def _exactly_fixed(point: _Point) -> bool:
    """The tangential part of the push is zero, exactly, because it is so for each group of keys with one score."""
    import sympy as sp

    # every text was read by the parser above before it comes here, so that no other name can occur in it
    def matrix(rows: Any) -> Any:
        return sp.Matrix([[sp.sympify(str(entry)) for entry in row] for row in rows])

    X = [matrix([[entry] for entry in token]) for token in point.instance["tokens"]]
    shape = point.shape
    metric = sp.eye(point.d) if shape.metric is None else matrix(point.instance[shape.metric])

    def zero(value: Any) -> bool:
        return bool(sp.expand(value) == 0 or sp.radsimp(sp.simplify(value)) == 0)

    def vanishes(x: Any, push: Any) -> bool:
        tangent = push if shape.euclidean else push - x * (x.T * metric * push)[0, 0]
        return all(zero(entry) for entry in tangent)

    pieces = [
        (
            sp.eye(point.d) if shape.value is None else matrix(head[shape.value]),
            sp.zeros(point.d) if shape.score is None else matrix(head[shape.score]),
        )
        for head in point.heads
    ]
    for i, x in enumerate(X):
        seen = [j for j in range(point.n) if point.mask[i][j]]
        whole = sp.zeros(point.d, 1)
        for value, score in pieces:
            groups: dict[Any, Any] = {}
            for j in seen:
                key = sp.expand((x.T * score * X[j])[0, 0])
                groups[key] = groups.get(key, sp.zeros(point.d, 1)) + X[j]
            if all(X[j] == X[seen[0]] for j in seen):
                whole += value * X[seen[0]]
            elif len(groups) == 1:
                whole += value * next(iter(groups.values())) / len(seen)
            elif not all(vanishes(x, value * total) for total in groups.values()):
                return False
        if not vanishes(x, whole):
            return False
    return True
