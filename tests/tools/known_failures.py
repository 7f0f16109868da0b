"""What the audit knows of every condition: the failures without it, and the conditions that are not needed.

One entry for each remark of the statement sheets of the kind "false without", "fails if", "needs", "is not needed"; the
statements that are absent have none.  Names are those of the variants of the statements (or, under ``shown``, of their
counterexamples), where the certified witness stands.  The table is read by
:mod:`.dropped_conditions`.
"""

from __future__ import annotations

from eigentoken.proofs.properties.first_failures import (
    Case,
    FirstFailure,
    alignment_lost,
    antipodal_scored,
    antipodal_scored_in_the_flow,
    antipodal_uneven,
    antipodal_uneven_in_the_flow,
    block_that_expands,
    cycle_below_the_threshold,
    cycle_on_a_middle_eigenvector,
    cycle_on_a_repeated_eigenvalue,
    cycle_that_attracts,
    four_tokens_escape,
    kernel_without_sign,
    map_beyond_the_flow,
    polygon_of_the_flow,
    side_that_expands,
)
from eigentoken.proofs.properties.matrices import (
    attention_that_ends,
    edit_not_normalised,
    edit_without_eigenvector,
    equal_tokens_at_rest,
    inertia_with_negative_scores,
    inertia_without_symmetry,
    no_open_hemisphere,
    one_token_converges,
    pair_form_stands_still,
    positive_form_grows,
    rotary_without_divergence,
    unsteered_token,
    weight_of_a_later_token,
)

from .dropped_conditions import Known
from .failing_cases import (
    degenerate_step,
    edit_that_moves_eigenvectors,
    heights_that_flip,
    last_eigenvalue_repeated,
    mean_that_moves,
    negative_scores_decay,
    negative_values_leave,
    rotary_with_negative_c,
    side_that_expands_in_the_flow,
    split_that_flips,
    stable_polygon,
    steering_across,
    steering_by_a_root,
    steering_by_a_short_w,
)
from .known_bounds import KNOWN_BOUNDS
from .known_clusters import KNOWN_CLUSTERS
from .long_steps import heads_that_flip, long_step, split_with_a_long_step, tilted_long_step

__all__ = ["KNOWN"]

_STEP = "alpha (|lambda_d| - lambda_1) < 2"
_FLIP = "the state is no fixed point but is sent to its negative"


def _needed(name: str, says: str, *, place: str = "", shown: str = "", case: Case | None = None) -> Known:
    return Known(name, says, True, place, shown, None if case is None else FirstFailure(case))


def _seen(name: str, says: str, place: str) -> Known:
    """A failure along trajectories: the witness is certified, the search sees one in floats."""
    return Known(name, says, True, place, in_floats=True)


def _unneeded(name: str, says: str, place: str = "") -> Known:
    return Known(name, says, False, place)


_MAPS: dict[str, tuple[Known, ...]] = {
    "PM-E4": (_needed("F symmetric", "for non-normal F the correlation with v_1 can fall", case=alignment_lost),),
    "PM-E5": (_needed("F symmetric", "for non-normal F the correlation with v_1 can fall", case=alignment_lost),),
    "PM-DOM": (_needed("alpha |V| < 1", "degenerate points, where some y_i = 0", case=degenerate_step),),
    "PM-L1": (
        _needed("1 + alpha lambda_k > 0", _FLIP, place="=>0"),
        _needed("alpha |lambda_k delta| < 1", "one group flips, and consensus is reached in one step", place="=>1"),
        _needed(
            "p != q",
            "half and half, every direction w is a fixed point: no eigenvector is needed",
            shown="half and half off the eigenvectors",
        ),
    ),
    "PM-R1": (_needed("1 + alpha lambda_k > 0", "the state counts as no equilibrium", shown="2-cycle"),),
    "PM-L2": (
        _needed("alpha lambda_1 < 1", "the truncation after alpha^2 has a wrong multiplier", shown="truncation"),
    ),
    "PM-L3": (_needed("1 + alpha lambda_k > 0", _FLIP + " (PM-N4)", place="=>0"),),
    "PM-L4": (
        _needed(_STEP, "a multiplier is at or below -1", place="=>0"),
        _needed("1 + alpha lambda_k > 0", "the 2-cycle on v_d can attract (PM-N4)", case=cycle_that_attracts),
    ),
    "PM-N4": (
        _needed("alpha > 2/(|lambda_d| - lambda_1)", "the 2-cycle does not attract", case=cycle_below_the_threshold),
        _needed("k = d", "the direction v_d expands", case=cycle_on_a_middle_eigenvector),
        _needed("lambda_d simple", "a multiplier has modulus 1", case=cycle_on_a_repeated_eigenvalue),
    ),
    "PM-N1": (
        _needed("|lambda_l| < lambda_1", "dominance by real part is not enough at a fixed step", place="=>0"),
        _needed(
            "lambda_1 > 0", "dominance by modulus with lambda_1 < 0 is not enough", shown="negative dominant eigenvalue"
        ),
        _unneeded("F symmetric", "any real eigenpair of any F, any mask"),
    ),
    "PM-L5": (
        _needed("p != q", "n = 2, k = 1, lambda_2 < 0: Lyapunov stable (PM-CX1)", place="=>1"),
        _needed(
            "alpha |lambda_d| <= 2",
            "p = q, k = 1, lambda_2 < 0: a multiplier 1 + alpha lambda_d is below -1",
            case=long_step,
        ),
        _needed("alpha |lambda_k delta| < 1", "one group flips (PM-L1)", case=split_that_flips),
    ),
    "PM-L6": (
        _needed("lambda_2 > 0", "n = 2 and V < 0 on w^perp: Lyapunov stable (PM-CX1)", place="=>0"),
        _needed("alpha |lambda_d| < 2", "n = 2 and V < 0 on w^perp: a multiplier is below -1", case=long_step),
        _needed("alpha |nu_min| < 2", "the same for a w that is no eigenvector", case=tilted_long_step),
    ),
    "PM-CX1": (
        _needed("lambda_2 < 0", "the antipodal point is unstable", place="=>1"),
        _needed("alpha |V| < 1", "a multiplier 1 + alpha lambda_d is below -1", place="c1"),
        _needed("n = 2", "even n >= 4: unstable, nonlinearly (PM-L6)", case=four_tokens_escape),
    ),
    "PM-L7": (
        _needed("alpha |lambda_d| <= 1", "TV16: W increases at alpha |lambda_d| = 21/20", place="c1"),
        _unneeded("a bound with lambda_1", "lambda_1 plays no role; any step if V >= 0"),
    ),
    "PM-R3": (
        _seen("alpha |lambda_d| < 1", "consensus on v_d is a 2-cycle for large steps", "c1"),
        _unneeded("a generic start", "every orbit converges, not only almost every one"),
    ),
    "PM-R4": (_unneeded("alpha < 1/(2|V|)", "the local part holds up to the threshold of PM-L4"),),
    "PM-T2": (
        _needed("lambda_2 > 0", "n = 2, lambda_2 < 0: the antipodal states are stable (PM-CX1)"),
        _unneeded("alpha < 1/(2|V|), local part", "PM-L4 and PM-R4"),
    ),
    "PM-L8": (
        _needed("1 + alpha lambda_k > 0", _FLIP, place="=>0"),
        _needed("m_i > 0", _FLIP, place="=>1"),
        _needed("p = q", "antipodal states off the eigenvectors are not fixed", case=antipodal_uneven),
        _needed("w^T M w = 0", "antipodal states off the eigenvectors are not fixed", case=antipodal_scored),
    ),
    "PM-R6": (_needed("x an eigenvector", "a common token off the eigenvectors is never fixed", shown="an attempt"),),
    "PM-P1": (
        _needed("the same x", "a singular matrix exists for every x: the condition alone says nothing", shown="TV13"),
        _needed("c_i > -1/alpha", _FLIP, case=kernel_without_sign),
    ),
    "PM-L9": (
        _needed("s != 0", "rank 1, for M = 0 or any skew M", place="=>3"),
        _needed("two clusters", "an m-clustering can have a smaller rank", shown="TV15"),
    ),
    "PM-L11": (_needed(_STEP, "a multiplier is at or below -1, as in PM-L4"),),
    "PM-L13": (
        _needed("alpha |V| < 1", _FLIP, place="c1"),
        _unneeded("the bound where lambda_k b_i > 0", "only sides with lambda_k b_i < 0 need it"),
    ),
    "PM-L14": (
        _needed(
            "alpha |V| < 1", "some m_i can be negative, and the point is not fixed (PM-N4')", case=heights_that_flip
        ),
    ),
    "PM-T3": (
        _needed(_STEP, "as in PM-L4", place="=>0"),
        _needed("lambda_k b_i > 0", "a side of two tokens expands", case=side_that_expands),
        _needed("|tr B| < 1 + det B", "the sides as wholes expand", case=block_that_expands),
        _unneeded("lambda_k b_i > 0 for a side of one token", "TV6: violated, and the point is stable"),
    ),
    "PM-N3": (
        _needed("s > 0", "k = 1: unstable", place="=>0.0"),
        _needed("lambda_2 < lambda_1 h", "k = 1: unstable", place="=>0.1"),
        _needed("lambda_2 != lambda_1 h", "on the boundary a multiplier is 1: the linearisation is silent"),
        _needed("q = 1 or s > t", "k = 1: the side of q tokens expands", case=side_that_expands),
        _needed("lambda_d simple", "k = d: a multiplier is 1", case=last_eigenvalue_repeated),
        _needed("s < -t", "k = d: some height is not negative", place="=>1.2"),
        _needed("lambda_1 < |lambda_d||h|", "k = d: unstable", place="=>1.3"),
        _needed("alpha |V| < 1", "a multiplier can reach -1", place="c5"),
        _unneeded("V nonsingular", "of Assumption 1 only the simple positive lambda_1 is used"),
    ),
    "PM-R10": (
        _needed("s >= 0 or |lambda_k| <= lambda_1", "TV7a, TV7b: stable on a negative eigenvalue", place="=>0"),
    ),
    "PM-L15": (
        _needed(
            "the terms with M drop out",
            "such points can be linearly asymptotically stable",
            shown="TV10, n = 2",
            case=stable_polygon,
        ),
        _needed("M = 0", "omega = 0: the multipliers are those of PM-L6, and the point is unstable on one side"),
    ),
    "PM-N6": (
        _needed("rarity of stable splits", "every split can be stable at once", shown="all splits stable"),
        _needed("alpha |V| < 1", "multipliers below -1 at any score", case=split_with_a_long_step),
    ),
    "PM-T1": (
        _needed("alpha < 2/(|lambda_d| - lambda_1)", "a multiplier is at or below -1", place="=>0"),
        _needed("1 + alpha lambda_k > 0", "below the threshold v_k can flip", case=heads_that_flip),
        _needed("F symmetric", "then the moduli of 1 + alpha lambda decide (PM-N1)", place="c0"),
        _unneeded("symmetric heads", "only the sum F enters; heads may differ and be non-symmetric"),
    ),
    "PM-S1": (
        _needed("z^T w = 1", "z orthogonal to w: no eigenvalue reaches mu/2", case=steering_across),
        _needed(
            "z^T w = 1, and z^T F w = 0 for no change",
            "z orthogonal to w: eigenvalues of the order sqrt(mu)",
            case=steering_by_a_root,
        ),
    ),
    "PM-S2": (
        _needed("w or z an eigenvector", "other eigenvalues change too", case=edit_without_eigenvector),
        _needed("z^T w = 1", "the shift is mu z^T w", case=edit_not_normalised),
        _needed(
            "z^T F = lambda_k z^T",
            "the right condition alone does not keep the other right eigenvectors",
            case=edit_that_moves_eigenvectors,
        ),
        _unneeded("both eigenvectors", "one suffices for the spectrum, the left one for the other right eigenvectors"),
    ),
    "PM-S3": (
        _needed("|w| = 1", "for a short w the bound on the tangent is false", case=steering_by_a_short_w),
        _needed("kappa_i != 0", "the token is not steered, however large mu is", case=unsteered_token),
    ),
    "CT-1": (
        _needed("p = q", "antipodal states off the eigenvectors move", case=antipodal_uneven_in_the_flow),
        _needed("w^T M w = 0", "antipodal states off the eigenvectors move", case=antipodal_scored_in_the_flow),
        _unneeded("positivity", "no 1 + alpha lambda_k > 0 for the flows"),
    ),
    "CT-2": (
        _needed("lambda_1 > 0", "disagreements grow", place="=>1.0"),
        _needed("n >= 2", "one token has no disagreements: lambda_1 > 0 is not needed then", place="c1"),
    ),
    "CT-3": (
        _needed("d >= 2", "d = 1: a sphere of two points has no tangent directions, nothing is unstable", place="c4"),
        _needed("p != q", "n = 2, k = 1, lambda_2 < 0: no eigenvalue is positive", place="=>1"),
    ),
    "CT-4": (_needed("n >= 3 or V not negative on w^perp", "no eigenvalue is positive", case=polygon_of_the_flow),),
    "CT-6": (
        _needed("s > 0", "k = 1: unstable", place="=>0.0"),
        _needed("lambda_2 < lambda_1 h", "k = 1: unstable", place="=>0.1"),
        _needed("q = 1 or s > t", "k = 1: the side of q tokens expands", case=side_that_expands_in_the_flow),
        _needed("alpha |V| < 1", "map and flow have different stable points", case=map_beyond_the_flow),
    ),
    "CT-7": (_needed("no scores", "TV10: the polygonal point is stable", shown="TV10", case=stable_polygon),),
}

_BOUNDED = "the gap freezes for P(t) = e^{2t} I"

_FLOWS: dict[str, tuple[Known, ...]] = {
    "AB-E4": (_needed("the normaliser right of exp", "weights do not sum to 1/sqrt(d)", shown="two tokens"),),
    "AB-E5": (_needed("the normaliser right of exp", "weights do not sum to 1/sqrt(d)", shown="two tokens"),),
    "AB-E25": (_needed("signed cosines", "with absolute values an antipodal pair gives 0", shown="antipodal pair"),),
    "AB-L3.2": (_needed("Symmetric(P)", "the gradient identity fails with an antisymmetric part"),),
    "AB-T3.2": (
        _needed("the local form of Lojasiewicz", "the printed inequality fails at equilibria", shown="consensus"),
    ),
    "AB-X0": (
        _needed(
            "consensus as a set", "a single consensus point is not asymptotically stable", shown="rotated consensus"
        ),
        _unneeded("P = I", "z = P^{1/2} y is an exact conjugacy"),
    ),
    "AB-L4.1": (_needed("j <= i", "causal weights of later tokens are 0", case=weight_of_a_later_token),),
    "AB-T4.1": (
        _seen("InHemisphere()", "an antipodal pair stays", "c4"),
        _needed('BoundedInTime("P")', _BOUNDED),
        _needed("(13) with v^T W y", "with v^T y it can be negative", shown="(13) is negative"),
        _needed("a fixed index", "D^+V jumps: Barbalat cannot be applied", shown="the Dini derivative jumps"),
        _unneeded("P uniformly continuous", "AB-X1 holds for measurable bounded P"),
    ),
    "AB-X1": (
        _needed('BoundedInTime("P")', _BOUNDED),
        _seen("InHemisphere()", "an antipodal pair stays", "c4"),
        _unneeded("P uniformly continuous", "measurable and bounded suffices"),
        _unneeded("a bound on the step, discrete version", "any step size"),
    ),
    "AB-R4.2": (
        _needed("l <= n + 1", "the probability is 1 - 2^{-(n+1)} for l = n + 2", case=no_open_hemisphere),
        _unneeded("n >= l", "n >= l - 1 suffices and is sharp"),
    ),
    "AB-L5.1": (
        _needed('BoundedInTime("P")', "a stays below 1", case=attention_that_ends),
        _unneeded("alpha of class C^1", "measurable, with an infinite integral, suffices"),
    ),
    "AB-T5.1": (
        _needed('BoundedInTime("P")', "token 2 freezes for P(t) = e^{2t} I"),
        _needed("Relation(d >= 2)", "the sphere S^0 is discrete"),
        _needed(
            "almost every start", "the domain does not contain all y_j != -y_1", shown="three tokens on the circle"
        ),
    ),
    "AB-R5.1": (_needed("U = I", "sigma_y is no projection", shown="U = 2I"),),
    "AB-L6.1": (
        _needed("v^T y_0 > 0", "starts orthogonal to v reach other eigenvectors", shown="diag(3, 2, 1)"),
        _unneeded("alpha of class C^1", "measurable suffices"),
    ),
    "AB-T6.1": (
        _seen("Relation(Eigenvalue(U, 1) > 0)", "lambda < 0: token 2 goes to -v", "c2"),
        _seen("InHemisphere(U)", "the bipartite state (v, -v) can be exponentially stable", "c4"),
        _seen("Symmetric(U)", "the left eigenvector decides", "c0"),
        _unneeded("lambda > 0 where lambda = 0 is simple", "the sign of b_i is preserved"),
        _unneeded("multiplicity one", "true with v the normalised projection of y_1(0)", "c1"),
    ),
    "AB-X2c": (
        _needed("$u$, $v$ and a norm shared by the heads", "heads that cancel in the sum pull a pair to +-e_2"),
    ),
    "AB-X3": (Known("Re lambda_l < n lambda_1", "two tokens, U = diag(-1, -3/2): unstable", searched=False),),
    "AB-X2": (
        Known("NonPrincipalModulusBelow(U)", "diag(1, -5), P = -I: tokens go to +-e_2", place="c0", searched=False),
        _unneeded("P bounded", "any measurable P(t)"),
    ),
    "PH-T1": (
        _needed("Symmetric(A)", "the pair form can decrease", place="c1"),
        _needed("sym W definite", "equality is possible for different tokens", case=pair_form_stands_still),
    ),
    "PH-T2": (
        _seen("Symmetric(A)", "PH-C2: consensus tokens grow", "c0"),
        _needed("NegativeDefinite(A)", "A > 0: tokens diverge (PH-T3)", case=positive_form_grows),
        _seen("PositiveDefinite(W)", "an equilibrium (x, -x, 0) away from 0", "c2"),
        _needed("L >= 2", "for one token W need not be definite", case=one_token_converges),
        _needed("L = 2", "with three tokens a mean that is zero moves", case=mean_that_moves),
    ),
    "PH-T3": (
        _needed("PositiveDefinite(A)", "A < 0: tokens tend to 0 (PH-T2)"),
        _needed(
            "kappa > 0 in (c)",
            "with W < 0 consensus states above the threshold decay",
            case=negative_scores_decay,
        ),
        _needed("not all tokens 0", "the origin is an equilibrium", case=equal_tokens_at_rest),
        _needed("some token", "not every token diverges", shown="a token that stays"),
        _needed("norms, not distances", "pairwise distances can stay bounded", shown="a bounded gap"),
    ),
    "PH-T4": (
        _seen("InHemisphere(B, left=True)", "a token at height 0 stays", "c2"),
        _seen("Relation(Eigenvalue(B, 1) > 0)", "consensus states decay", "c1"),
        _needed(
            "$\\lambda > 0$ in the two bounds",
            "a height 0 falls for B = -1, W = 1",
            case=negative_values_leave,
        ),
        _unneeded("W constant", "any weights, also depending on time and position"),
    ),
    "PH-T5": (
        _needed("Symmetric(A)", "the counts of A and B differ (PH-C2)", case=inertia_without_symmetry),
        _needed("PositiveDefinite(W)", "sym W < 0 flips the count", case=inertia_with_negative_scores),
    ),
    "PH-T7": (
        _needed("|c| > 1", "the radius shrinks", case=rotary_without_divergence),
        _needed(
            "$|c|$ in the place of $c$",
            "a = 1/2 has c < -1 and diverges like a = 2",
            case=rotary_with_negative_c,
        ),
        _needed(
            "a divergent start", "consensus starts decay in spite of rotary encodings", shown="consensus still decays"
        ),
    ),
    "PH-T8": (_needed("the sign of sym(V^{-1})", "lambda > 0 can contract", shown="a positive shift contracts"),),
    "PH-T9": (
        _needed("Q orthogonal", "linear layers: sym(Q^T K) is indefinite"),
        _needed("$V = A^{-1}W$", "with (W^{-1} A)^T the form is not definite"),
    ),
}

KNOWN: dict[str, tuple[Known, ...]] = {**_MAPS, **_FLOWS, **KNOWN_BOUNDS, **KNOWN_CLUSTERS}
