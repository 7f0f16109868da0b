"""Systems with one sign changed: what the book says of them must no longer check.

Three changes of a registered system: the sign of the push u, the sign of the step (``x_i - alpha u_i``), and the sign of the
projection of a flow (``u_i + (x_i^T W u_i) x_i``).  A change is *killed* when a step of a derivation, a proof of the kernel
or a property test of some statement about the system no longer holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from eigentoken.theory.kernel.proved import Refused
from eigentoken.theory.kernel.structure import equation_of
from eigentoken.theory.linearization.consensus_spectra import bipartite_spectrum, consensus_spectrum
from eigentoken.theory.statements.registry import established
from eigentoken.theory.statements.statement import Statement
from eigentoken.theory.statements.steps import Reduction
from eigentoken.theory.systems.catalogue import SYSTEMS
from eigentoken.theory.systems.system import Space, System, Time

from .mutation import KillReport

__all__ = ["CHANGES", "changed_system", "changes_of", "system_kills"]


def _opposite(algebra: Any, u: Any) -> Any:
    return algebra.add(u, u, -2)


def _push(original: Callable[..., Any]) -> Callable[..., Any]:
    return lambda self, algebra, *rest, **more: _opposite(algebra, original(self, algebra, *rest, **more))


def _step(original: Callable[..., Any]) -> Callable[..., Any]:
    def wrong(self: System, algebra: Any, parameters: Any, x: Any, *rest: Any, **more: Any) -> Any:
        return algebra.add(x, self.influence(algebra, parameters, x, *rest, **more), -parameters["alpha"])

    return wrong


def _projection(original: Callable[..., Any]) -> Callable[..., Any]:
    def wrong(self: System, algebra: Any, parameters: Any, x: Any, *rest: Any, **more: Any) -> Any:
        push = self.influence(algebra, parameters, x, *rest, **more)
        right = original(self, algebra, parameters, x, *rest, **more)
        return algebra.add(push, algebra.add(push, right, -1))

    return wrong


#: Name of the change -> method of :class:`System` that is changed, and how.
CHANGES: dict[str, tuple[str, Callable[[Callable[..., Any]], Callable[..., Any]]]] = {
    "sign of the push": ("influence", _push),
    "sign of the step": ("raw_step", _step),
    "sign of the projection": ("advance", _projection),
}


def changes_of(system: System) -> Iterator[str]:
    """The changes that a system has room for: maps have a step, flows on a surface a projection."""
    yield "sign of the push"
    if system.time is Time.MAP:
        yield "sign of the step"
    elif system.space is not Space.EUCLIDEAN:
        yield "sign of the projection"


@contextmanager
def changed_system(name: str, change: str) -> Iterator[None]:
    """The registered system of that name with one sign changed, for as long as the context lasts."""
    method, wrong = CHANGES[change]
    original = getattr(System, method)

    def chosen(self: System, *rest: Any, **more: Any) -> Any:
        return (wrong(original) if self.name == name else original)(self, *rest, **more)

    remembered = (established, equation_of, consensus_spectrum, bipartite_spectrum)
    setattr(System, method, chosen)
    try:
        for each in remembered:
            each.cache_clear()
        yield
    finally:
        setattr(System, method, original)
        for each in remembered:
            each.cache_clear()


def _notices(told: Statement) -> str:
    """What of the statement no longer holds, if anything; a checker that raises has not accepted."""
    for step in told.derivation.steps if told.derivation else ():
        if isinstance(step, Reduction):
            try:
                if not step.check(frozenset()).is_holds:
                    return f"step {step.name!r} of {told.id}"
            except (ArithmeticError, TypeError, ValueError):
                return f"step {step.name!r} of {told.id}"
    try:
        replace(told).proofs  # noqa: B018 - a fresh copy: what was proved of the right system is not remembered
    except (Refused, ArithmeticError, TypeError, ValueError):
        return f"the proof of {told.id}"
    for index, test in enumerate(told.property_tests):
        try:
            if not test(5, 0).is_holds:
                return f"property {index + 1} of {told.id}"
        except (ArithmeticError, TypeError, ValueError):
            return f"property {index + 1} of {told.id}"
    return ""


def system_kills(statements: Iterable[Statement], *, progress: Callable[[str, str], None] | None = None) -> KillReport:
    """Change every system that the statements are about in every way, and see whether some statement notices."""
    book = list(statements)
    killed, survivors = 0, []
    for name in sorted({each for told in book for each in told.systems if each in SYSTEMS}):
        for change in changes_of(SYSTEMS[name]):
            with changed_system(name, change):
                seen = next((found for told in book if name in told.systems and (found := _notices(told))), "")
            killed += bool(seen)
            if not seen:
                survivors.append(f"{name}, {change}")
            if progress is not None:
                progress(f"{name}, {change}", seen or "survived")
    return KillReport(killed, (), tuple(survivors))
