"""Krawczyk's test: a simple zero is found and enclosed; a double zero, no zero and a wrong centre are not confirmed."""

from __future__ import annotations

from collections.abc import Sequence

from flint import arb, arb_mat

from eigentoken.theory.exactness.balls import precision
from eigentoken.theory.exactness.krawczyk import Linearized, box_around, newton, zero_in_box


def circle_and_line(shift: int) -> Linearized:
    """``x^2 + y^2 - 2 = 0`` and ``x + y - shift = 0``: two zeros for shift 0, a double one for 2, none for 3."""

    def linearized(z: Sequence[arb]) -> tuple[list[arb], arb_mat]:
        x, y = z
        return [x * x + y * y - 2, x + y - shift], arb_mat([[2 * x, 2 * y], [arb(1), arb(1)]])

    return linearized


def test_a_simple_zero_is_enclosed() -> None:
    with precision(128):
        z = newton(circle_and_line(0), [arb("0.9"), arb("-1.2")])
        assert z is not None
        found = zero_in_box(circle_and_line(0), z, 1e-20)
        assert found is not None
        assert [entry.contains(value) for entry, value in zip(found, (1, -1), strict=True)] == [True, True]
        box = box_around(z, 1e-20)
        assert all(outer.contains_interior(inner) for outer, inner in zip(box, found, strict=True))


def test_what_has_no_single_zero_is_not_confirmed() -> None:
    with precision(128):
        away = [arb("1.1"), arb("-1.1")]
        assert zero_in_box(circle_and_line(0), away, 1e-3) is None  # the zero is outside this box
        assert zero_in_box(circle_and_line(0), [arb(1), arb(-1)], 4.0) is None  # this box holds both zeros
        double = [arb(1), arb(1)]
        for radius in (1e-25, 1e-8, 1e-2):
            assert zero_in_box(circle_and_line(2), double, radius) is None
        assert newton(circle_and_line(2), double) is None  # a singular Jacobian
        lost = newton(circle_and_line(3), [arb("1.4"), arb("1.5")])
        assert lost is None or zero_in_box(circle_and_line(3), lost, 1e-8) is None
