"""Facts by hand for lemmas whose proofs Coq's tactics do not find by themselves.

A hint is a piece of proof script that stands right after ``intros``: it asserts facts from which the rest of the script
closes the goal.  ``{0}``, ``{1}``, ... are the hypotheses in their order.  Nothing is assumed: coqc checks every line, and a hint
that no longer fits its lemma only means that the lemma is refused.
"""

from __future__ import annotations

__all__ = ["FACTS_ONLY", "HINTS"]

_BOX = r"""
assert (K1 : 1 + kappa * b_1 > 0) by (apply in_box; lra).
assert (K2 : 1 + kappa * b_2 > 0) by (apply in_box; lra).
assert (L1 : 1 + mu * b_1 > 0) by (apply in_box; lra).
assert (L2 : 1 + mu * b_2 > 0) by (apply in_box; lra).
assert (Goal11 : (2 + b_1 * kappa + mu * (1 + b_1) / 2) * (2 + b_2 * kappa + mu * (1 + b_2) / 2)
  - mu ^ 2 * (1 - b_1) * (1 - b_2) / 4 > 0).
{ destruct (Rle_or_lt 0 mu) as [Y|Y].
  - assert (A : ((1 + kappa * b_1) + (1 + mu * b_1)) * ((1 + kappa * b_2) + (1 + mu * b_2)) > 0) by (apply product_pos; lra).
    assert (B : ((1 + kappa * b_1) + (1 + mu * b_1)) * (mu * (1 - b_2)) >= 0)
      by (apply product_ge; [lra | apply product_ge; lra]).
    assert (C : ((1 + kappa * b_2) + (1 + mu * b_2)) * (mu * (1 - b_1)) >= 0)
      by (apply product_ge; [lra | apply product_ge; lra]).
    lra.
  - assert (A : ((1 + kappa * b_1) + (1 + mu)) * ((1 + kappa * b_2) + (1 + mu)) > 0) by (apply product_pos; lra).
    assert (B : ((1 + kappa * b_1) + (1 + mu)) * (- mu * (1 - b_2)) >= 0) by (apply product_ge; [lra | apply product_ge; lra]).
    assert (C : ((1 + kappa * b_2) + (1 + mu)) * (- mu * (1 - b_1)) >= 0) by (apply product_ge; [lra | apply product_ge; lra]).
    lra. }
"""

#: The exponential is increasing, so it can be taken away on both sides.
_LOGARITHMS = r"""
split; intro Y.
- destruct (Rle_or_lt m b) as [y|y]; [lra | assert (Z := exp_rising b m y); lra].
- destruct (Rlt_or_le m b) as [y|y]; [lra | assert (Z := exp_monotone b m y); lra].
"""

#: The value at one is positive, from its product with kappa - mu.
_VALUE = r"""
assert (X : b_1 * b_2 * kappa - mu * (b_1 / 2 + b_2 / 2) > 0) by (apply (factor_pos (kappa - mu)); lra).
"""

_FIRST_NECESSARY = (
    _VALUE
    + r"""
assert (Sum : b_1 + b_2 > 0).
{ destruct (Rlt_or_le 0 (b_1 + b_2)) as [Y|Y]; [lra | exfalso].
  assert (A : kappa * (- (b_1 + b_2)) >= 0) by (apply product_ge; lra).
  assert (Mu : mu < 0).
  { destruct (Rlt_or_le mu 0) as [y|y]; [exact y | exfalso].
    assert (mu * (2 + b_1 + b_2) >= 0) by (apply product_ge; lra). lra. }
  assert (B : (- mu) * (- (b_1 + b_2)) >= 0) by (apply product_ge; lra).
  assert (P : b_1 * b_2 > 0) by (apply (factor_pos kappa); lra).
  assert (N1 : b_1 < 0).
  { destruct (Rlt_or_le b_1 0) as [y|y]; [exact y | exfalso].
    assert (b_1 * (- b_2) >= 0) by (apply product_ge; lra). lra. }
  assert (N2 : b_2 < 0).
  { destruct (Rlt_or_le b_2 0) as [y|y]; [exact y | exfalso].
    assert ((- b_1) * b_2 >= 0) by (apply product_ge; lra). lra. }
  assert (C : (- b_2) * (b_1 * kappa + (- (mu * (1 + b_1))) / 2) > 0) by (apply product_pos; lra).
  assert (D : (- b_1) * (b_2 * kappa + (- (mu * (1 + b_2))) / 2) > 0) by (apply product_pos; lra).
  assert (F : (- mu) * (b_1 * b_2) > 0) by (apply product_pos; lra).
  lra. }
"""
)

_FIRST_SUFFICIENT = r"""
assert (A : (mu_2 - mu) * (b_1 + b_2) >= 0) by (apply product_ge; lra).
assert (X : b_1 * b_2 * kappa - mu * (b_1 / 2 + b_2 / 2) > 0) by lra.
assert (Det : (kappa - mu) * (b_1 * b_2 * kappa - mu * (b_1 / 2 + b_2 / 2)) > 0) by (apply product_pos; lra).
assert (Off : mu ^ 2 * ((1 - b_1) * (1 - b_2)) >= 0) by (apply product_ge; [apply square_ge | apply product_ge; lra]).
assert (Both : (b_1 * kappa - mu * (1 + b_1) / 2) * (b_2 * kappa - mu * (1 + b_2) / 2) > 0) by lra.
assert (Sum : (b_1 * kappa - mu * (1 + b_1) / 2) + (b_2 * kappa - mu * (1 + b_2) / 2) > 0).
{ assert (B : kappa * (b_1 + b_2) > 0) by (apply product_pos; lra).
  destruct (Rlt_or_le 0 mu) as [Y|Y].
  - assert (C : mu * (b_1 + b_2) > 0) by (apply product_pos; lra).
    assert (P : b_1 * b_2 > 0) by (apply (factor_pos kappa); lra).
    assert (D : (b_1 + b_2) * (b_1 * b_2 * kappa - mu * (b_1 / 2 + b_2 / 2)) > 0) by (apply product_pos; lra).
    assert (F : mu * ((b_1 - b_2) ^ 2 * (2 + b_1 + b_2)) >= 0)
      by (apply product_ge; [lra | apply product_ge; [apply square_ge | lra]]).
    assert (G : mu * ((b_1 + b_2) ^ 2 * (2 - b_1 - b_2)) >= 0)
      by (apply product_ge; [lra | apply product_ge; [apply square_ge | lra]]).
    apply (factor_pos (b_1 * b_2)); [exact P | lra].
  - assert (C : (- mu) * (2 + b_1 + b_2) >= 0) by (apply product_ge; lra). lra. }
destruct (both_pos _ _ Both Sum) as [First Second].
"""

_HEIGHTS_NEGATIVE = r"""
assert (N1 : b_1 < 0).
{ destruct (Rlt_or_le b_1 0) as [y|y]; [exact y | exfalso].
  assert ((- kappa) * b_1 >= 0) by (apply product_ge; lra). assert (mu * (1 + b_1) > 0) by (apply product_pos; lra). lra. }
assert (N2 : b_2 < 0).
{ destruct (Rlt_or_le b_2 0) as [y|y]; [exact y | exfalso].
  assert ((- kappa) * b_2 >= 0) by (apply product_ge; lra). assert (mu * (1 + b_2) > 0) by (apply product_pos; lra). lra. }
"""

_OTHER_NECESSARY = (
    r"""
assert (X : b_1 * b_2 * kappa - mu * (b_1 / 2 + b_2 / 2) <= 0).
{ destruct (Rle_or_lt (b_1 * b_2 * kappa - mu * (b_1 / 2 + b_2 / 2)) 0) as [y|y]; [exact y | exfalso].
  assert ((mu - kappa) * (b_1 * b_2 * kappa - mu * (b_1 / 2 + b_2 / 2)) > 0) by (apply product_pos; lra). lra. }
assert (Kappa : kappa < 0).
{ destruct (Rlt_or_le kappa 0) as [y|y]; [exact y | exfalso].
  assert (A : (mu - kappa) * (1 + b_1) > 0) by (apply product_pos; lra).
  assert (B : kappa * (1 - b_1) >= 0) by (apply product_ge; lra). lra. }
"""
    + _HEIGHTS_NEGATIVE
    + r"""
assert (Size : - kappa > mu).
{ assert (A : (- b_1) * (mu * (1 + b_2)) > 0) by (apply product_pos; [lra | apply product_pos; lra]).
  assert (B : (- b_2) * (mu * (1 + b_1)) > 0) by (apply product_pos; [lra | apply product_pos; lra]).
  assert (P : (- b_1) * (- b_2) > 0) by (apply product_pos; lra).
  assert (C : - kappa - mu > 0) by (apply (factor_pos ((- b_1) * (- b_2))); lra). lra. }
"""
)

#: The common factor of the terms of the remainder.
_CUBE = r"""
assert (B3 : B ^ 3 >= 0) by (replace (B ^ 3) with (B * B ^ 2) by ring; apply product_ge; [lra | apply square_ge]).
assert (M2 : mu ^ 2 > 0) by (apply square_pos; lra).
assert (C : B ^ 3 / mu ^ 2 >= 0) by (apply quotient_ge; lra).
"""

#: The limit of the tokens, AB-X1 and AB-X2.
_LIMIT = r"""
assert (A1 : n * H - 1 >= 0) by (replace (n * H - 1) with ((n - 1 / H) * H) by (field; lra); apply product_ge; lra).
assert (B1 : m * H - 1 >= 0) by (replace (m * H - 1) with ((m - 1 / H) * H) by (field; lra); apply product_ge; lra).
assert (C1 : (n * H - 1) * (m * H) >= 0) by (apply product_ge; lra).
assert (D1 : g * ((n * H) * (m * H) - 1) >= 0) by (apply product_ge; lra).
assert (F1 := square_ge ((n - m) * H)).
rewrite {3}. lra.
"""

#: The end of an identity: e^s = ex0, e^t = ex1, and the sum of the heights vanishes only for e^{4s} = 1.
_HARMONIC = r"""
assert (Main : ex0 ^ 4 - 1 <> 0).
{ replace (ex0 ^ 4 - 1) with ((1 + ex0 ^ 1) * (1 + ex0 ^ 2) * (ex0 ^ 1 + -1)) by ring. nonzero. }
field; repeat split; first [ lra | (apply Rgt_not_eq; nra)
  | (match goal with |- ?q <> 0 => replace q with (ex0 ^ 4 - 1) by ring end; exact Main)
  | (match goal with |- ?q <> 0 => replace q with (2 * ex1 ^ 2 * (ex0 ^ 4 - 1)) by ring end; nonzero) ].
"""

#: (statement, step) -> facts; for an identity, the end of its proof.
HINTS: dict[tuple[str, str], str] = {
    ("PM-DIFF", "norm of the projection"): r"""
assert (A := square_ge (z_1 + T * z_2)). assert (B := square_ge (T * z_3)).
assert (C : (1 + T ^ 2) * (z_1 ^ 2 + z_2 ^ 2 + z_3 ^ 2) - (z_3 ^ 2 + (z_2 - T * z_1) ^ 2)
  = (z_1 + T * z_2) ^ 2 + (T * z_3) ^ 2) by ring.
""",
    ("PM-DIFF", "angle"): r"""
assert (A := square_ge (g + c ^ 2)).
assert (B : (1 - c) * (1 + c) * (c ^ 2 - (g ^ 2 + omega ^ 2)) >= 0) by (apply product_ge; [apply product_ge; lra | lra]).
""",
    ("AB-E7", "smooth near zero"): r"""
assert (A : (r - m ^ 2) * tau ^ 2 >= 0) by (apply product_ge; [lra | apply square_ge]).
assert (B : (m * tau) ^ 2 < 1) by (replace ((m * tau) ^ 2) with (m ^ 2 * tau ^ 2) by ring; lra).
assert (C : 1 + m * tau > 0) by nra.
assert (D : (1 + m * tau) ^ 2 > 0) by (apply square_pos; lra).
replace ((1 + m * tau) ^ 2) with (1 + 2 * (m * tau) + m ^ 2 * tau ^ 2) in D by ring.
lra.
""",
    ("AB-L4.1", "scores"): "split; apply exp_monotone; lra.",
    ("PH-T4", "divergence"): r"""
assert (P : E_ * m > 0) by (apply product_pos; lra).
split; [lra | intro Y].
assert (Q : (E_ - K / m) * m > 0) by (apply product_pos; lra).
replace ((E_ - K / m) * m) with (E_ * m - K) in Q by (field; lra).
lra.
""",
    ("PH-T2", "logarithms"): _LOGARITHMS,
    ("PH-T3", "logarithms"): _LOGARITHMS,
    ("AB-X1", "positive rate"): r"""
assert (K : kappa > 0) by (rewrite {4}; apply quotient_pos; apply product_pos; lra).
assert (P := exp_pos (- (kappa * t))).
assert (F : (D_0 - S_0) * exp (- (kappa * t)) >= 0) by (apply product_ge; lra).
repeat split; lra.
""",
    ("AB-X1", "limit of the tokens"): _LIMIT,
    ("AB-X2", "limit of the tokens"): _LIMIT,
    ("AB-X2", "contraction"): r"""
assert (A1 : R_i * (R_j * rho - N_) >= 0) by (apply product_ge; lra).
assert (A2 : rho * (R_i * (R_i - R_j)) >= 0) by (apply product_ge; [lra | apply product_ge; lra]).
assert (A3 : a_ij * (rho * R_i ^ 2 - x) >= 0) by (apply product_ge; lra).
assert (A4 : a_ij * (R_i ^ 2 * (lambda - rho)) >= 0)
  by (apply product_ge; [lra | apply product_ge; [apply square_ge | lra]]).
split; lra.
""",
    ("AB-X2", "rate"): r"""
assert (A1 : (a_ij - A) * (R_i ^ 2 * (lambda - rho)) >= 0)
  by (apply product_ge; [lra | apply product_ge; [apply square_ge | lra]]).
rewrite {3}. lra.
""",
    ("AB-X2", "positive rate"): r"""
assert (K : c > 0) by (rewrite {2}; apply product_pos; lra).
repeat split; lra.
""",
    ("AB-T3.2", "why the local form gives a finite length"): (
        "rewrite Rpower_one_minus, Rpower_Ropp by lra. assert (P := Rpower_positive v theta). field. lra."
    ),
    ("PM-N3", "harmonic mean"): _HARMONIC,
    ("CT-6", "harmonic mean"): _HARMONIC,
    ("PM-N3", "above -1: determinant"): _BOX,
    ("PM-N3", "k = 1, necessary"): _FIRST_NECESSARY,
    ("CT-6", "k = 1, necessary"): _FIRST_NECESSARY,
    ("PM-N3", "k = 1, sufficient"): _FIRST_SUFFICIENT,
    ("CT-6", "k = 1, sufficient"): _FIRST_SUFFICIENT,
    ("PM-N3", "k > 1, direction v_1"): _OTHER_NECESSARY,
    ("CT-6", "k > 1, direction v_1"): _OTHER_NECESSARY,
    ("PM-N3", "definite"): r"""
assert (Sum : d_1 * m_2 + d_2 * m_1 > 0).
{ replace (d_1 * m_2 + d_2 * m_1) with ((d_1 / m_1 + d_2 / m_2) * (m_1 * m_2)) by (field; lra).
  apply product_pos; [lra | apply product_pos; lra]. }
assert (P : d_1 * d_2 > 0) by lra.
assert (First : d_1 > 0).
{ destruct (Rlt_or_le 0 d_1) as [y|y]; [lra | exfalso].
  assert (d_2 < 0).
  { destruct (Rlt_or_le d_2 0) as [z|z]; [exact z | exfalso]. assert ((- d_1) * d_2 >= 0) by (apply product_ge; lra). lra. }
  assert ((- d_1) * m_2 >= 0) by (apply product_ge; lra). assert ((- d_2) * m_1 > 0) by (apply product_pos; lra). lra. }
assert (Second : d_2 > 0) by (apply (factor_pos d_1); lra).
""",
    ("PM-R10", "small modulus"): r"""
destruct (Rlt_le_dec (b_1 * kappa + (- (mu * (1 + b_1))) / 2) 0) as [y1|y1]; [left; exact y1 |].
destruct (Rlt_le_dec (b_2 * kappa + (- (mu * (1 + b_2))) / 2) 0) as [y2|y2]; [right; left; exact y2 |].
"""
    + _HEIGHTS_NEGATIVE
    + r"""
assert (A : (- b_1) * (mu * (1 + b_2)) > 0) by (apply product_pos; [lra | apply product_pos; lra]).
assert (B : (- b_2) * (mu * (1 + b_1)) > 0) by (apply product_pos; [lra | apply product_pos; lra]).
assert (P : (- b_1) * (- b_2) > 0) by (apply product_pos; lra).
assert (C : (mu + kappa) * ((- b_1) * (- b_2)) >= 0) by (apply product_ge; lra).
assert (X : b_1 * b_2 * kappa - mu * (b_1 / 2 + b_2 / 2) > 0) by lra.
assert (D : (mu - kappa) * (b_1 * b_2 * kappa - mu * (b_1 / 2 + b_2 / 2)) > 0) by (apply product_pos; lra).
right; right; lra.
""",
    ("PM-N1", "modulus dominance suffices"): r"""
assert (A : a < lambda_1).
{ destruct (Rlt_or_le a lambda_1) as [y|y]; [exact y | exfalso].
  assert ((a - lambda_1) * (a + lambda_1) >= 0) by (apply product_ge; lra). assert (S := square_ge b). lra. }
assert (B : alpha * (lambda_1 - a) > 0) by (apply product_pos; lra).
assert (C : alpha ^ 2 * (lambda_1 ^ 2 - (a ^ 2 + b ^ 2)) > 0) by (apply product_pos; [apply square_pos; lra | lra]).
""",
    ("PM-N1", "causal rows follow"): r"""
assert (A : alpha ^ 2 * (a ^ 2 + b ^ 2) * (c * (1 - c)) >= 0).
{ apply product_ge; [apply product_ge; [apply square_ge | assert (S := square_ge a); assert (T := square_ge b); lra]
  | apply product_ge; lra]. }
assert (B : c * ((1 + alpha * lambda_1) ^ 2 - (alpha ^ 2 * b ^ 2 + (1 + a * alpha) ^ 2)) > 0) by (apply product_pos; lra).
assert (P : alpha * lambda_1 > 0) by (apply product_pos; lra).
assert (C : (1 - c) * (alpha * lambda_1 * (2 + alpha * lambda_1)) >= 0)
  by (apply product_ge; [lra | apply product_ge; lra]).
""",
    ("PM-L7", "rate"): r"""
assert (A : (c - alpha * lambda_d_minus) * (1 + c) ^ 2 >= 0) by (apply product_ge; [lra | apply square_ge]).
assert (B : r * (r - a) >= 0) by (apply product_ge; lra).
assert (C : r * (1 + c) * (1 + c - r) >= 0) by (apply product_ge; [apply product_ge; lra | lra]).
assert (D : (1 - c) * ((1 + c - r) * (1 + c + r)) >= 0) by (apply product_ge; [lra | apply product_ge; lra]).
assert (F : r ^ 2 + a * r + alpha * lambda_d_minus + 2 * alpha * c * lambda_d_minus + alpha * lambda_d_minus * c ^ 2
  + (-1) + (-2) * c + (- c ^ 2) + (- r) + (-2) * c * r + (- (r * c ^ 2)) <= 0) by lra.
""",
    ("PM-L13", "positive"): r"""
assert (T1 := Rle_abs lambda_k).
assert (T2 : - lambda_k <= Rabs lambda_k) by (rewrite <- Rabs_Ropp; apply Rle_abs).
assert (A : (Rabs lambda_k - lambda_k) * (1 - b) >= 0) by (apply product_ge; lra).
assert (B : (Rabs lambda_k + lambda_k) * (1 + b) >= 0) by (apply product_ge; lra).
assert (C : alpha * (Rabs lambda_k + lambda_k * b) >= 0) by (apply product_ge; lra).
assert (D : alpha * (N_ - Rabs lambda_k) >= 0) by (apply product_ge; lra).
lra.
""",
    ("PM-R3", "gradient bound"): r"""
assert (A : r * D_ ^ 2 = 2 * (r - a)) by (rewrite {8}; field; lra).
assert (R0 : 1 + N_ * alpha > 0) by (assert (N_ * alpha >= 0) by (apply product_ge; lra); lra).
assert (B : (1 + N_ * alpha) ^ 2 - r ^ 2 >= 0).
{ assert ((1 + N_ * alpha - r) * (1 + N_ * alpha + r) >= 0) by (apply product_ge; lra). lra. }
assert (C : (r - a) * (2 * ((1 + N_ * alpha) ^ 2 - r ^ 2)) >= 0) by (apply product_ge; lra).
assert (D : (r - a) * (r * (r - a)) >= 0) by (apply product_ge; [lra | apply product_ge; lra]).
assert (F : (D_ * (1 + N_ * alpha)) ^ 2 - (alpha * omega) ^ 2 >= 0).
{ apply (factor_ge r); [lra |].
  replace (r * ((D_ * (1 + N_ * alpha)) ^ 2 - (alpha * omega) ^ 2))
    with ((r * D_ ^ 2) * (1 + N_ * alpha) ^ 2 - r * (alpha ^ 2 * omega ^ 2)) by ring.
  rewrite A, {9}. lra. }
apply square_le; [apply product_ge; lra | lra].
""",
    ("PM-L5", "that point is above 1"): r"""
assert (Different : alpha * delta * lambda_k <> 0) by assumption.
apply Rdichotomy in Different.
assert (Low : Rmin (1 + alpha * delta * lambda_k) (1 + (- (alpha * delta * lambda_k))) > 0)
  by (unfold Rmin; destruct (Rle_dec _ _); lra).
assert (High : Rmin (1 + alpha * delta * lambda_k) (1 + (- (alpha * delta * lambda_k))) < 1)
  by (unfold Rmin; destruct (Rle_dec _ _); lra).
split; [lra |].
apply (quot_gt _ _ (1 - Rmin (1 + alpha * delta * lambda_k) (1 + (- (alpha * delta * lambda_k))))
  (Rmin (1 + alpha * delta * lambda_k) (1 + (- (alpha * delta * lambda_k))))); [field; lra | lra | apply product_pos; lra].
""",
    ("CT-3", "k = 1"): r"""
assert (A : delta ^ 2 * lambda_k * (lambda_k - lambda_ell) > 0)
  by (apply product_pos; [apply product_pos; [apply square_pos; assumption | lra] | lra]).
destruct (Rlt_or_le 0 z) as [y|y]; [lra | exfalso].
assert (B : (- z) * (z - lambda_ell) >= 0) by (apply product_ge; lra). lra.
""",
    ("PM-S1", "quotients"): r"""
destruct (abs_bounds _ _ {4}) as [L R1].
assert (P : zeta - 47 / 50 * mu >= 0) by lra.
assert (Z2 : zeta ^ 2 > 0) by (apply square_pos; lra). assert (M2 : mu ^ 2 > 0) by (apply square_pos; lra).
assert (Z3 : zeta ^ 3 > 0) by (apply power_pos; lra). assert (M3 : mu ^ 3 > 0) by (apply power_pos; lra).
assert (MZ : mu * zeta > 0) by (apply product_pos; lra).
assert (A1 : (zeta - 47 / 50 * mu) * (zeta ^ 2 + 47 / 50 * (mu * zeta) + (47 / 50) ^ 2 * mu ^ 2) >= 0)
  by (apply product_ge; lra).
assert (A2 : (zeta - 47 / 50 * mu) * (zeta + 47 / 50 * mu) >= 0) by (apply product_ge; lra).
assert (A3 := square_ge (zeta - 47 / 50 * mu)).
assert (A4 : mu * (zeta - 47 / 50 * mu) >= 0) by (apply product_ge; lra).
assert (F1 : B * (53 * zeta ^ 2 - 24 * mu * zeta - 24 * mu ^ 2) >= 0) by (apply product_ge; lra).
assert (S1 : mu * (mu + zeta) >= 0) by (apply product_ge; lra).
assert (F2 : mu * (mu + zeta) * (6 * B / 5 - (mu - zeta)) >= 0) by (apply product_ge; lra).
assert (F3 : mu * (mu + zeta) * (6 * B / 5 + (mu - zeta)) >= 0) by (apply product_ge; lra).
assert (D3 : mu ^ 2 * zeta ^ 3 > 0) by (apply product_pos; lra).
assert (D2 : mu ^ 2 * zeta ^ 2 > 0) by (apply product_pos; lra).
assert (D1 : mu * zeta ^ 2 > 0) by (apply product_pos; lra).
split; [| split].
- apply (quot_le _ _ (61 * zeta ^ 3 - 50 * mu ^ 3) (50 * (mu ^ 2 * zeta ^ 3))); [field; lra | lra | apply product_ge; lra].
- apply (quot_le _ _ (23 * zeta ^ 2 - 20 * mu ^ 2) (20 * (mu * zeta ^ 2))); [field; lra | lra | apply product_ge; lra].
- apply Rabs_le; split.
  + apply (quot_le _ _ (53 * B * zeta ^ 2 + 20 * (mu * (mu + zeta) * (mu - zeta))) (20 * (mu ^ 2 * zeta ^ 2)));
      [field; lra | lra | apply product_ge; lra].
  + apply (quot_le _ _ (53 * B * zeta ^ 2 - 20 * (mu * (mu + zeta) * (mu - zeta))) (20 * (mu ^ 2 * zeta ^ 2)));
      [field; lra | lra | apply product_ge; lra].
""",
    ("PM-S1", "first term"): r"""
apply Rle_trans with ((2 * B ^ 2) * ((53 * B) / (20 * mu ^ 2))); [apply abs_product; assumption | right; field; lra].
""",
    ("PM-S1", "second term"): _CUBE
    + r"""
assert (K : B / mu <= 1 / 20) by (apply div_le; lra).
apply Rle_trans with (B * (B ^ 2 + (9 * B ^ 3) / (8 * mu)) * (61 / (50 * mu ^ 2))).
{ apply abs_product; [apply abs_product; assumption |]. rewrite Rabs_right; assumption. }
replace (B * (B ^ 2 + (9 * B ^ 3) / (8 * mu)) * (61 / (50 * mu ^ 2)))
  with ((B ^ 3 / mu ^ 2) * (61 / 50 * (1 + 9 / 8 * (B / mu)))) by (field; lra).
replace ((13 * B ^ 3) / (10 * mu ^ 2)) with ((B ^ 3 / mu ^ 2) * (13 / 10)) by (field; lra).
apply Rmult_le_compat_l; lra.
""",
    ("PM-S1", "third term"): _CUBE
    + r"""
apply Rle_trans with ((9 * B ^ 3) / (8 * mu) * (23 / (20 * mu))).
{ apply abs_product; [assumption |]. rewrite Rabs_right; assumption. }
replace ((9 * B ^ 3) / (8 * mu) * (23 / (20 * mu))) with ((B ^ 3 / mu ^ 2) * (207 / 160)) by (field; lra).
replace ((13 * B ^ 3) / (10 * mu ^ 2)) with ((B ^ 3 / mu ^ 2) * (13 / 10)) by (field; lra).
apply Rmult_le_compat_l; lra.
""",
    ("PM-S1", "large root"): _CUBE
    + r"""
replace ((53 * B ^ 3) / (10 * mu ^ 2)) with (53 / 10 * (B ^ 3 / mu ^ 2)) in {4} by (field; lra).
replace ((13 * B ^ 3) / (10 * mu ^ 2)) with (13 / 10 * (B ^ 3 / mu ^ 2)) in {5} by (field; lra).
replace ((13 * B ^ 3) / (10 * mu ^ 2)) with (13 / 10 * (B ^ 3 / mu ^ 2)) in {6} by (field; lra).
replace ((8 * B ^ 3) / mu ^ 2) with (8 * (B ^ 3 / mu ^ 2)) by (field; lra).
destruct (abs_bounds _ _ {4}); destruct (abs_bounds _ _ {5}); destruct (abs_bounds _ _ {6}).
apply Rabs_le; split; lra.
""",
    ("PM-S1", "angle"): r"""
assert (Zp : zeta > 0) by lra.
destruct (abs_bounds _ _ {4}) as [A1 A2]. destruct (abs_bounds _ _ {5}) as [B1 B2].
set (d := N_ ^ 2 / (zeta * (zeta + (- N_)))) in *. set (e := N_ / (zeta + (- N_))) in *.
set (g := (2 * N_ ^ 2) / (zeta * (zeta + (-2) * N_))).
assert (E0 : e >= 0) by (apply quotient_ge; lra).
assert (D0 : d = N_ / zeta * e) by (unfold d, e; field; lra).
assert (E1 : 1 - e = (zeta - 2 * N_) / (zeta - N_)) by (unfold e; field; lra).
assert (E2 : 1 - e > 0) by (rewrite E1; apply quotient_pos; lra).
assert (G1 : g * (1 - e) = 2 * d) by (rewrite E1; unfold g, d; field; lra).
assert (G0 : g >= 0) by (apply (factor_ge (1 - e)); [exact E2 |]; rewrite Rmult_comm, G1; unfold d;
  apply product_ge; [lra | apply quotient_ge; [apply square_ge | apply product_pos; lra]]).
assert (T1 : (N_ / zeta - tau) * e >= 0) by (apply product_ge; lra).
assert (T2 : tau * (e + (a - 1)) >= 0) by (apply product_ge; lra).
assert (T3 : tau * (e - (a - 1)) >= 0) by (apply product_ge; lra).
assert (T4 : g * (a - (1 - e)) >= 0) by (apply product_ge; lra).
replace (A / a + - tau) with ((A - tau * a) / a) by (field; lra).
apply Rabs_le; split; [apply div_ge; lra | apply div_le; lra].
""",
    ("PM-T2", "losses"): r"""
assert (P : U * alpha >= 0) by (apply product_ge; lra).
assert (Q : (r_a + r_b - 2 * (U * alpha)) * (r_a + r_b + 2 * (U * alpha)) > 0) by (apply product_pos; lra).
assert (R1 : D_ab * ((r_a + r_b - 2 * (U * alpha)) * (r_a + r_b + 2 * (U * alpha))) > 0) by (apply product_pos; lra).
assert (T1 : alpha ^ 2 * (D_ab * U ^ 2 - q ^ 2) >= 0) by (apply product_ge; [apply square_ge | lra]).
assert (W : D_ab * (r_a + r_b) ^ 2 > 0) by (apply product_pos; [lra | apply square_pos; lra]).
assert (N : 4 * alpha ^ 2 * q ^ 2 >= 0) by (apply product_ge; [assert (S := square_ge alpha); lra | apply square_ge]).
split; [apply quotient_ge; lra | apply div_below_one; lra].
""",
    ("PM-T2", "hardly smaller"): r"""
assert (V : (1 - epsilon_ac) * (1 - epsilon_bd) > 0) by (apply product_pos; lra).
assert (V1 : epsilon_bd * (1 - epsilon_ac) >= 0) by (apply product_ge; lra).
assert (W : (1 - epsilon_ab) * (1 - epsilon_cd) >= 0) by (apply product_ge; lra).
assert (K : (D_ab * D_cd) / (D_ac * D_bd) * ((1 - epsilon_ab) * (1 - epsilon_cd))
  * (1 - (1 - epsilon_ac) * (1 - epsilon_bd)) >= 0) by (apply product_ge; [apply product_ge; lra | lra]).
assert (M : ((D_ab * D_cd) / (D_ac * D_bd) * ((1 - epsilon_ab) * (1 - epsilon_cd))
  * (1 - (1 - epsilon_ac) * (1 - epsilon_bd))) / ((1 - epsilon_ac) * (1 - epsilon_bd)) >= 0) by (apply quotient_ge; lra).
apply Rminus_ge.
replace ((D_ab * D_cd * (1 + - epsilon_ab) * (1 + - epsilon_cd))
    / (D_ac * D_bd * (1 + - epsilon_ac) * (1 + - epsilon_bd))
  - (D_ab * D_cd * (1 + - epsilon_ab) * (1 + - epsilon_cd)) / (D_ac * D_bd))
  with (((D_ab * D_cd) / (D_ac * D_bd) * ((1 - epsilon_ab) * (1 - epsilon_cd))
  * (1 - (1 - epsilon_ac) * (1 - epsilon_bd))) / ((1 - epsilon_ac) * (1 - epsilon_bd)))
  by (field; repeat split; first [assumption | lra]).
exact M.
""",
    ("PM-T2", "small losses"): r"""
assert (A1 := square_ge (X + Y)).
assert (Q : (q * (1 + c)) ^ 2 = (X - Y) ^ 2) by (rewrite {7}; ring).
assert (C1 : 2 * (p_a + p_b) * (1 - c) - (1 + c) * q ^ 2 >= 0) by (apply (factor_ge (1 + c)); lra).
assert (S := square_ge q).
assert (D1 : c * q ^ 2 >= 0) by (apply product_ge; lra).
assert (E1 : alpha ^ 2 * (2 * (p_a + p_b) * (1 - c) - q ^ 2) >= 0) by (apply product_ge; [apply square_ge | lra]).
assert (R1 : (r_a + r_b - 1) * (r_a + r_b + 1) >= 0) by (apply product_ge; lra).
assert (F1 : alpha ^ 2 * ((p_a + p_b) * (1 - c)) * ((r_a + r_b - 1) * (r_a + r_b + 1)) >= 0)
  by (apply product_ge; [apply product_ge; [apply square_ge | apply product_ge; lra] | lra]).
assert (W : (1 - c) * (r_a + r_b) ^ 2 > 0) by (apply product_pos; [lra | apply square_pos; lra]).
apply div_le; lra.
""",
    ("PM-T2", "collapse"): r"""
assert (A1 : (eta - D_ab) * D_cd >= 0) by (apply product_ge; lra).
assert (A2 : eta * (eta - D_cd) >= 0) by (apply product_ge; lra).
assert (W : (D_ac - 1) * D_bd >= 0) by (apply product_ge; lra).
assert (B1 : chi * (D_ac * D_bd) = D_ab * D_cd) by (rewrite {2}; field; lra).
assert (C1 : chi * (D_ac * D_bd - 1) >= 0) by (apply product_ge; lra).
lra.
""",
    ("AB-L4.1", "sharp upper bound"): r"""
assert (A : (M - x) * m ^ 2 >= 0) by (apply product_ge; [lra | apply square_ge]).
assert (B : M * m ^ 2 = m) by (replace (M * m ^ 2) with ((M * m) * m) by ring; rewrite {6}; ring).
assert (C : (m - x * m ^ 2) * (ell - 1) >= 0) by (apply product_ge; lra).
assert (D : m ^ 2 * (ell - 1) >= 0) by (apply product_ge; [apply square_ge | lra]).
""",
    ("AB-L4.1", "printed upper bound"): r"""
assert (A : M >= 1) by (assert (M * (1 - m) >= 0) by (apply product_ge; lra); lra).
assert (B : (M - 1) * (M + 1) >= 0) by (apply product_ge; lra).
assert (C : (r - 1) * M ^ 2 >= 0) by (apply product_ge; [lra | apply square_ge]).
assert (D : x * (r * M ^ 2 - 1) >= 0) by (apply product_ge; lra).
assert (F : S * r * M ^ 2 >= 0) by (apply product_ge; [apply product_ge; lra | apply square_ge]).
""",
    ("AB-X1", "rates"): r"""
assert (A1 : delta * H = h_0) by (rewrite {9}; field; lra).
assert (B1 : delta * (H - h_i) >= 0) by (apply product_ge; lra).
assert (C1 : (alpha_ij - A) * h_j >= 0) by (apply product_ge; lra).
assert (D1 : A * (h_j - delta * h_i) >= 0) by (apply product_ge; lra).
""",
}

#: Hints that leave the goal, with its quotients, to the general script.
FACTS_ONLY = frozenset(
    (("PM-L7", "rate"), ("AB-L4.1", "sharp upper bound"), ("AB-L4.1", "printed upper bound"), ("AB-X1", "rates"))
)
