"""Jets against the generic-state vectors TV13 (attention) and TV14 (Oja): maps and Jacobians to all printed digits."""

from __future__ import annotations

import pytest

from eigentoken.theory.classification.instances import Instance
from eigentoken.theory.classification.jacobians import ball_setting, jacobian
from eigentoken.theory.exactness.balls import precision

TOKENS = [["3/5", "4/5"], ["5/13", "-12/13"]]
V = [[1, "1/2"], ["1/2", "-1/3"]]
M = [["1/2", -1], [2, "1/4"]]

A = [[0.430453776060771, 0.569546223939229], [0.195200169355166, 0.804799830644834]]
F_ATTENTION = [[0.629483284357403, 0.777014024786308], [0.478762999997917, -0.877944183779923]]
J_ATTENTION = [
    [0.583573049052, -0.336190795917, -0.05890346912835, 0.1010261549943],
    [-0.4727707195256, 0.2723586442893, 0.04771953661603, -0.08184443758182],
    [0.009960627304347, -0.004986210095849, 1.155177296746, 0.5971690331937],
    [0.005431757392091, -0.002719094161352, 0.6299445435568, 0.3256499024878],
]
F_OJA = [[0.646796544678355, 0.762662592364501], [0.542322929504641, -0.840170125708778]]
J_OJA = [
    [0.5469629036733, -0.3581371373957, 0.04790624057616, 0.06510130188479],
    [-0.4638666163845, 0.3037278415221, -0.04062817710401, -0.05521091179076],
    [0.1567338939681, 0.03375059839128, 0.8676817507284, 0.4926616124886],
    [0.1011704438524, 0.02178573461732, 0.5600814579497, 0.3180090326514],
]


def close(found: list[list[float]], printed: list[list[float]]) -> bool:
    pairs = [(a, b) for x, y in zip(found, printed, strict=True) for a, b in zip(x, y, strict=True)]
    return all(abs(a - b) <= 1e-12 * max(1.0, abs(b)) for a, b in pairs)


@pytest.mark.parametrize(
    ("system", "image", "slopes"), [("attention-map", F_ATTENTION, J_ATTENTION), ("oja-map", F_OJA, J_OJA)]
)
def test_generic_state(system: str, image: list[list[float]], slopes: list[list[float]]) -> None:
    extra = {"M": M} if system == "attention-map" else {}
    with precision(128):
        setting = ball_setting(Instance.of(system, TOKENS, V=V, alpha="1/3", **extra), 128)
        assert close([[float(a.mid()) for a in token] for token in setting.advance()], image)
        assert close([[float(a.mid()) for a in row] for row in jacobian(setting)], slopes)
        if extra:
            assert close([[float(a.mid()) for a in row] for row in setting.attention()[0]], A)
