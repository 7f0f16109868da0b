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

#: The height is above any bound where the energy is.
_DIVERGENCE = r"""
assert (P : E_ * m > 0) by (apply product_pos; lra).
split; [lra | intro Y].
assert (Q : (E_ - K / m) * m > 0) by (apply product_pos; lra).
replace ((E_ - K / m) * m) with (E_ * m - K) in Q by (field; lra).
lra.
"""

#: The rate of AB-X1, a quotient of positive numbers.
_EXPONENTIAL_RATE = r"""
assert (K : kappa > 0) by (rewrite {4}; apply quotient_pos; apply product_pos; lra).
assert (P := exp_pos (- (kappa * t))).
assert (F : (D_0 - S_0) * exp (- (kappa * t)) >= 0) by (apply product_ge; lra).
repeat split; lra.
"""

#: The velocity of the largest radius, AB-X2.
_CONTRACTION = r"""
assert (A1 : R_i * (R_j * rho - N_) >= 0) by (apply product_ge; lra).
assert (A2 : rho * (R_i * (R_i - R_j)) >= 0) by (apply product_ge; [lra | apply product_ge; lra]).
assert (A3 : a_ij * (rho * R_i ^ 2 - x) >= 0) by (apply product_ge; lra).
assert (A4 : a_ij * (R_i ^ 2 * (lambda - rho)) >= 0)
  by (apply product_ge; [lra | apply product_ge; [apply square_ge | lra]]).
split; lra.
"""

#: The rate of AB-X2, a product of positive numbers.
_POSITIVE_RATE = r"""
assert (K : c > 0) by (rewrite {2}; apply product_pos; lra).
repeat split; lra.
"""

#: A weight times a quotient of heights is at least its least value.
_RATES = r"""
assert (A1 : delta * H = h_0) by (rewrite {9}; field; lra).
assert (B1 : delta * (H - h_i) >= 0) by (apply product_ge; lra).
assert (C1 : (alpha_ij - A) * h_j >= 0) by (apply product_ge; lra).
assert (D1 : A * (h_j - delta * h_i) >= 0) by (apply product_ge; lra).
"""

#: (statement, step) -> facts; for an identity, the end of its proof.
HINTS: dict[tuple[str, str], str] = {
    ("AB-E7", "smooth near zero"): r"""
assert (A : (r - m ^ 2) * tau ^ 2 >= 0) by (apply product_ge; [lra | apply square_ge]).
assert (B : (m * tau) ^ 2 < 1) by (replace ((m * tau) ^ 2) with (m ^ 2 * tau ^ 2) by ring; lra).
assert (C : 1 + m * tau > 0) by nra.
assert (D : (1 + m * tau) ^ 2 > 0) by (apply square_pos; lra).
replace ((1 + m * tau) ^ 2) with (1 + 2 * (m * tau) + m ^ 2 * tau ^ 2) in D by ring.
lra.
""",
    ("AB-L4.1", "scores"): "split; apply exp_monotone; lra.",
    ("PH-T4", "divergence"): _DIVERGENCE,
    ("PH-T4c", "divergence"): _DIVERGENCE,
    ("PH-T2", "logarithms"): _LOGARITHMS,
    ("PH-T3", "logarithms"): _LOGARITHMS,
    ("AB-X1", "positive rate"): _EXPONENTIAL_RATE,
    ("AB-X1c", "positive rate"): _EXPONENTIAL_RATE,
    ("AB-X1", "limit of the tokens"): _LIMIT,
    ("AB-X2", "limit of the tokens"): _LIMIT,
    ("AB-X1c", "limit of the tokens"): _LIMIT,
    ("AB-X2c", "limit of the tokens"): _LIMIT,
    ("AB-X2", "contraction"): _CONTRACTION,
    ("AB-X2c", "contraction"): _CONTRACTION,
    ("AB-X2", "rate"): r"""
assert (A1 : (a_ij - A) * (R_i ^ 2 * (lambda - rho)) >= 0)
  by (apply product_ge; [lra | apply product_ge; [apply square_ge | lra]]).
rewrite {3}. lra.
""",
    ("AB-X2", "positive rate"): _POSITIVE_RATE,
    ("AB-X2c", "positive rate"): _POSITIVE_RATE,
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
assert (F : S_ * r * M ^ 2 >= 0) by (apply product_ge; [apply product_ge; lra | apply square_ge]).
""",
    ("AB-X1", "rates"): _RATES,
    ("AB-X1c", "rates"): _RATES,
    ("CL-10", "positive for beta at least 0 and d at least 3"): r"""
assert (A : beta * ((1 - c) * (1 + c)) >= 0) by (apply product_ge; [lra | apply product_ge; lra]).
""",
    ("CL-10", "positive above minus the threshold"): r"""
assert (U : N_ + (m - 2) > 0) by lra.
assert (S := square_ge (1 - (N_ + (m - 2)) * c)).
destruct (Rle_lt_or_eq_dec (-1) c (Rge_le _ _ {5})) as [y|y].
- assert (A : (beta - (1 + (- N_) / 2 + (- m) / 2)) * ((1 - c) * (1 + c)) > 0)
    by (apply product_pos; [lra | apply product_pos; lra]).
  assert (B : (N_ + (m - 2)) * ((beta - (1 + (- N_) / 2 + (- m) / 2)) * ((1 - c) * (1 + c))) > 0) by (apply product_pos; lra).
  assert (Square : (N_ + (m - 2)) ^ 2 = 2 * (m - 2) * (N_ + (m - 2)) - 1)
    by (replace ((N_ + (m - 2)) ^ 2) with (N_ ^ 2 + 2 * N_ * (m - 2) + (m - 2) ^ 2) by ring; rewrite {1}; ring).
  apply (factor_pos (2 * (N_ + (m - 2)))); [lra |].
  replace (2 * (N_ + (m - 2)) * (m + beta * (1 + - c ^ 2) + -2 + - c))
    with (2 * ((N_ + (m - 2)) * ((beta - (1 + (- N_) / 2 + (- m) / 2)) * ((1 - c) * (1 + c))))
      + (1 - (N_ + (m - 2)) * c) ^ 2 + (2 * (m - 2) * (N_ + (m - 2)) - 1 - (N_ + (m - 2)) ^ 2)) by field.
  rewrite Square. lra.
- subst c. lra.
""",
    ("CT-12", "the largest tangent falls"): r"""
assert (A : r * ((lambda - rho) * (g - s)) >= 0) by (apply product_ge; [lra | apply product_ge; lra]).
""",
    ("PM-X1", "the heights stay positive"): r"""
assert (A : alpha * ((lambda - rho) * (S_ - s)) >= 0) by (apply product_ge; [lra | apply product_ge; lra]).
""",
    ("PH-X1", "sixty degrees"): r"""
assert (Root : q * (c * q - s) = 3 * c - q * s)
  by (replace (q * (c * q - s)) with (q ^ 2 * c - q * s) by ring; rewrite {1}; ring).
split; intro y.
- assert (A : q * (c * q - s) >= 0) by (apply product_ge; lra). lra.
- assert (A : c * q - s >= 0) by (apply (factor_ge q); lra). lra.
""",
    ("PH-X2", "heights"): r"""
assert (P : lambda * (p * tau) > 0) by (apply product_pos; [lra | apply product_pos; lra]).
assert (A : lambda * (p * tau) * (h - m) >= 0) by (apply product_ge; lra).
assert (B : lambda * (p * tau) * (M - h) >= 0) by (apply product_ge; lra).
""",
    ("PH-T2", "algebraic decay of a pair"): r"""
assert (Speed : y_prime <= 2) by (rewrite {2}; apply div_le; lra).
assert (A : t * (2 - y_prime) >= 0) by (apply product_ge; lra).
assert (B : q_0 * y_0 = 1) by (rewrite {7}; field; lra).
assert (C : q * y = 1) by (rewrite {8}; field; lra).
assert (P : q * q_0 > 0) by (apply product_pos; lra).
assert (G : q_0 * t >= 0) by (apply product_ge; lra).
assert (F : q * q_0 * (y_0 + 2 * t - y) >= 0) by (apply product_ge; lra).
replace (q * q_0 * (y_0 + 2 * t - y)) with (q * (q_0 * y_0) + 2 * (q * q_0 * t) - q_0 * (q * y)) in F by ring.
rewrite B, C in F.
apply (quot_ge _ _ (q + 2 * (q * q_0 * t) - q_0) (1 + 2 * q_0 * t)); [field; lra | lra | apply product_ge; lra].
""",
    ("PM-L5", "p = q: below -1"): r"""
rewrite Rabs_left by lra. split; intro y; lra.
""",
    ("PM-N6", "the criterion"): r"""
assert (Most := Rmax_r 0 ((q * E_ ^ 2 + - p) / (p + q * E_ ^ 2))).
assert (A : (h - g) * lambda_1 > 0) by (apply product_pos; lra).
assert (B : g * lambda_1 = Rmax 0 ((q * E_ ^ 2 + - p) / (p + q * E_ ^ 2))) by (rewrite {5}; field; repeat split; assumption).
lra.
""",
    ("PM-R10", "not semidefinite"): r"""
destruct (Rlt_or_le Delta 0) as [y|y]; [left; exact y | right].
assert (M : m_1 * m_2 > 0) by (apply product_pos; lra).
assert (Both : d_1 <= 0 /\ d_2 <= 0 /\ d_1 + d_2 < 0).
{ destruct {4} as [z|[z|z]]; [lra | |].
  - destruct (Rle_or_lt d_2 0) as [w|w]; [lra | assert (- d_1 * d_2 > 0) by (apply product_pos; lra); lra].
  - destruct (Rle_or_lt d_1 0) as [w|w]; [lra | assert (d_1 * - d_2 > 0) by (apply product_pos; lra); lra]. }
destruct Both as [D1 [D2 D3]].
assert (A1 : (- d_1) * m_2 >= 0) by (apply product_ge; lra).
assert (A2 : (- d_2) * m_1 >= 0) by (apply product_ge; lra).
apply (quot_gt _ _ (- d_1 * m_2 + - d_2 * m_1) (m_1 * m_2)); [field; lra | lra | apply product_pos; [| lra]].
destruct (Rlt_or_le d_1 0) as [z|z].
- assert ((- d_1) * m_2 > 0) by (apply product_pos; lra). lra.
- assert ((- d_2) * m_1 > 0) by (apply product_pos; lra). lra.
""",
}

#: Hints that leave the goal, with its quotients, to the general script.
FACTS_ONLY = frozenset(
    (
        ("PM-L7", "rate"),
        ("AB-L4.1", "sharp upper bound"),
        ("AB-L4.1", "printed upper bound"),
        ("AB-X1", "rates"),
        ("AB-X1c", "rates"),
    )
)
