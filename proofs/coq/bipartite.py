"""Scalar lemmas of the criterion for bipartite points, proved by hand: multipliers as quotients, hyperbolic tangents."""

from __future__ import annotations

__all__ = ["BIPARTITE"]

BIPARTITE = r"""
(* Multipliers of a bipartite point of attention: b1, b2 in (-1, 1), k and m in (-1, 1). *)
Section Multipliers.
Variables b c k m : R.
Hypothesis b_above : -1 < b.
Hypothesis b_below : b < 1.
Hypothesis c_above : -1 < c.
Hypothesis c_below : c < 1.
Hypothesis k_above : -1 < k.
Hypothesis k_below : k < 1.
Hypothesis m_above : -1 < m.
Hypothesis m_below : m < 1.
Let s := (1 + m * (1 + b) / 2) / (1 + b * k) + (1 + m * (1 + c) / 2) / (1 + c * k).
Let p := (1 + m) * (1 + m * (b + c) / 2) / ((1 + b * k) * (1 + c * k)).
Lemma mult_b : 0 < 1 + b * k.
Proof. apply in_box; split; lra. Qed.
Lemma mult_c : 0 < 1 + c * k.
Proof. apply in_box; split; lra. Qed.
Lemma mult_bc : 0 < (1 + b * k) * (1 + c * k).
Proof. apply Rmult_lt_0_compat; [apply mult_b | apply mult_c]. Qed.
Lemma mult_top : 0 < (1 + m) * (1 + m * (b + c) / 2).
Proof.
  apply Rmult_lt_0_compat; [lra|]. assert (0 < 1 + m * ((b + c) / 2)) by (apply in_box; split; lra). lra.
Qed.
Lemma mult_first (e : R) : -1 < e -> e < 1 -> 0 < 1 + m * (1 + e) / 2.
Proof. intros. assert (0 < 1 + m * ((1 + e) / 2)) by (apply in_box; split; lra). lra. Qed.
Lemma mult_sum : s = 1 + p - (k - m) * (k * (b * c) - m * ((b + c) / 2)) / ((1 + b * k) * (1 + c * k)).
Proof. unfold s, p. field. split; [apply Rgt_not_eq, mult_c | apply Rgt_not_eq, mult_b]. Qed.
Lemma mult_over (a : R) : 0 < a -> 0 < a / ((1 + b * k) * (1 + c * k)).
Proof. intros A. apply Rmult_lt_0_compat; [exact A | apply Rinv_0_lt_compat, mult_bc]. Qed.
Lemma mult_over_inv (a : R) : 0 < a / ((1 + b * k) * (1 + c * k)) -> 0 < a.
Proof.
  intros A. replace a with (a / ((1 + b * k) * (1 + c * k)) * ((1 + b * k) * (1 + c * k))).
  - apply Rmult_lt_0_compat; [exact A | apply mult_bc].
  - field. split; [apply Rgt_not_eq, mult_c | apply Rgt_not_eq, mult_b].
Qed.
Lemma mult_below : 0 < (k - m) * (k * (b * c) - m * ((b + c) / 2)) -> s < 1 + p.
Proof. intros A. rewrite mult_sum. assert (B := mult_over _ A). lra. Qed.
Lemma mult_below_inv : s < 1 + p -> 0 < (k - m) * (k * (b * c) - m * ((b + c) / 2)).
Proof. intros A. rewrite mult_sum in A. apply mult_over_inv. lra. Qed.
Lemma mult_above : 0 < - ((k - m) * (k * (b * c) - m * ((b + c) / 2))) -> 1 + p < s.
Proof. intros A. rewrite mult_sum. assert (B := mult_over _ A). unfold Rdiv in *. lra. Qed.
Lemma mult_least : -1 + - ((1 + m) * (1 + m * (b + c) / 2)) / ((1 + b * k) * (1 + c * k)) < s.
Proof.
  assert (T := mult_over _ mult_top). unfold s.
  assert (A := Rmult_lt_0_compat _ _ (mult_first b b_above b_below) (Rinv_0_lt_compat _ mult_b)).
  assert (B := Rmult_lt_0_compat _ _ (mult_first c c_above c_below) (Rinv_0_lt_compat _ mult_c)).
  unfold Rdiv in *. lra.
Qed.
Lemma mult_p_diff : 1 - p = ((1 + b * k) * (1 + c * k) - (1 + m) * (1 + m * (b + c) / 2)) / ((1 + b * k) * (1 + c * k)).
Proof. unfold p. field. split; [apply Rgt_not_eq, mult_c | apply Rgt_not_eq, mult_b]. Qed.
Lemma mult_p_below : 0 < (1 + b * k) * (1 + c * k) - (1 + m) * (1 + m * (b + c) / 2) -> p < 1.
Proof. intros A. assert (B := mult_over _ A). rewrite <- mult_p_diff in B. lra. Qed.
Lemma mult_p_below_inv : p < 1 -> 0 < (1 + b * k) * (1 + c * k) - (1 + m) * (1 + m * (b + c) / 2).
Proof. intros A. apply mult_over_inv. rewrite <- mult_p_diff. lra. Qed.
Lemma mult_p_above : 0 < (1 + m) * (1 + m * (b + c) / 2) - (1 + b * k) * (1 + c * k) -> 1 < p.
Proof.
  intros A. assert (B := mult_over _ A).
  replace (((1 + m) * (1 + m * (b + c) / 2) - (1 + b * k) * (1 + c * k)) / ((1 + b * k) * (1 + c * k))) with (- (1 - p)) in B.
  - lra.
  - rewrite mult_p_diff. field. split; [apply Rgt_not_eq, mult_c | apply Rgt_not_eq, mult_b].
Qed.
Lemma mult_mean : b * c <= ((b + c) / 2) ^ 2.
Proof. assert (D := Rle_0_sqr (b - c)). unfold Rsqr in D. lra. Qed.
(* The sides of a positive eigenvalue. *)
Lemma mult_product : 0 < k -> m < k -> s < 1 + p -> m * (b / 2 + c / 2) < b * c * k.
Proof. intros K M S. apply mult_below_inv in S. assert (0 < k * (b * c) - m * ((b + c) / 2)) by (apply factor_pos
    with (k - m); lra). lra. Qed.
Lemma mult_product_neg : 0 < m -> k < m -> s < 1 + p -> b * c * k < m * (b / 2 + c / 2).
Proof.
  intros K M S. apply mult_below_inv in S.
  assert (0 < - (k * (b * c) - m * ((b + c) / 2))) by (apply factor_pos with (m - k); lra). lra.
Qed.
Lemma mult_order : k <= m -> s < 1 + p -> k < m.
Proof. intros M S. apply mult_below_inv in S. destruct M as [M|M]; [exact M|]. rewrite M in S. lra. Qed.
Lemma mult_sign : 0 < k -> m < k -> s < 1 + p -> p < 1 -> 0 < b + c.
Proof.
  intros K M S P. assert (A := mult_product K M S). apply mult_p_below_inv in P. assert (G := mult_mean).
  destruct (Rlt_or_le 0 (b + c)) as [C|C]; [exact C | exfalso].
  set (g := (b + c) / 2) in *. set (t := b * c) in *.
  assert (g <= 0) by (unfold g; lra). assert (-1 < g) by (unfold g; lra).
  assert (P' : 0 < 2 * k * g + k ^ 2 * t - m - m * g - m ^ 2 * g) by (unfold g, t in *; lra).
  assert (A' : m * g < t * k) by (unfold g, t in *; lra). clearbody g t. clear P A C S.
  assert (V : k * t <= k * g ^ 2) by (apply Rmult_le_compat_l; lra).
  destruct (Rle_or_lt 0 m) as [N|N].
  - assert (E1 : k ^ 2 * t <= k * (k * g ^ 2)) by (replace (k ^ 2 * t) with (k * (k * t)) by ring; apply Rmult_le_compat_l; lra).
    assert (E2 : k * g <= m * g) by nra.
    assert (E3 : 0 <= k * (- g) * (1 + k * g)) by (apply Rmult_le_pos; nra).
    assert (E4 : 0 <= m * (1 + m * g)) by (apply Rmult_le_pos; nra). nra.
  - assert (E1 : m * g < k * g ^ 2) by lra.
    assert (E0 : g < 0) by (destruct (Rle_lt_or_eq_dec g 0) as [Q|Q]; [assumption | exact Q | subst g; lra]).
    assert (E2 : k * g < m) by nra.
    assert (E3 : 0 < 1 + k * g) by nra.
    assert (E4 : k ^ 2 * t <= k ^ 2 * g ^ 2) by (replace (k ^ 2 * t) with (k * (k * t)) by ring; replace (k ^ 2 * g ^
    2) with (k * (k * g ^ 2)) by ring; apply Rmult_le_compat_l; lra).
    assert (E5 : 0 <= (1 + m) * (m * g)) by (apply Rmult_le_pos; nra).
    assert (E6 : 0 <= (1 + k * g) * (- (k * g))) by (apply Rmult_le_pos; nra). nra.
Qed.
Lemma mult_small (l : R) : 0 < k -> l < k -> m <= l -> 0 < b + c -> l * (b / 2 + c / 2) < b * c * k ->
  0 < k * (b * c) - m * ((b + c) / 2).
Proof. intros K L M G A. assert (m * (b / 2 + c / 2) <= l * (b / 2 + c / 2)) by (apply Rmult_le_compat_r; lra). lra. Qed.
Lemma mult_sum_small (l : R) : 0 < k -> l < k -> m <= l -> 0 < b + c -> l * (b / 2 + c / 2) < b * c * k -> s < 1 + p.
Proof. intros K L M G A. apply mult_below. apply Rmult_lt_0_compat; [lra | apply (mult_small l); assumption]. Qed.
Lemma mult_prod_small (l : R) : 0 < k -> l < k -> m <= l -> 0 < b + c -> l * (b / 2 + c / 2) < b * c * k -> p < 1.
Proof.
  intros K L M G A. assert (B := mult_small l K L M G A). assert (V := mult_mean). apply mult_p_below.
  set (g := (b + c) / 2) in *. set (t := b * c) in *.
  replace ((1 + b * k) * (1 + c * k) - (1 + m) * (1 + m * (b + c) / 2)) with (2 * k * g + k ^ 2 * t - m - m * g - m ^ 2 * g)
    by (unfold g, t; field).
  assert (g0 : 0 < g) by (unfold g; lra). assert (g < 1) by (unfold g; lra). clearbody g t. clear A G.
  assert (E1 : k * (m * g) <= k * (k * t)) by (apply Rmult_le_compat_l; lra).
  destruct (Rle_or_lt m 0) as [N|N].
  - assert (0 < k * g * (2 + m)) by (apply Rmult_lt_0_compat; nra).
    assert (0 <= - m * (1 + g + m * g)) by (apply Rmult_le_pos; nra). nra.
  - assert (E2 : k * t <= k * g ^ 2) by (apply Rmult_le_compat_l; lra).
    assert (E3 : m < k * g) by nra. assert (0 < g * (k - m)) by (apply Rmult_lt_0_compat; lra).
    assert (0 < m * (g * (k - m))) by (apply Rmult_lt_0_compat; lra). nra.
Qed.
(* The sides of a negative eigenvalue. *)
Lemma mult_either : 0 < m -> k < m ->
  b * c * k <= m * (b / 2 + c / 2) \/ (1 + b * k <> 0 /\ 1 + c * k <> 0 /\ 1 + p < s).
Proof.
  intros M K. destruct (Rle_or_lt (b * c * k) (m * (b / 2 + c / 2))) as [A|A]; [left; exact A | right].
  split; [apply Rgt_not_eq, mult_b | split; [apply Rgt_not_eq, mult_c|]]. apply mult_above.
  replace (- ((k - m) * (k * (b * c) - m * ((b + c) / 2)))) with ((m - k) * (b * c * k - m * (b / 2 + c / 2))) by field.
  apply Rmult_lt_0_compat; lra.
Qed.
Lemma mult_p_large : 0 < m -> k < m -> b * c * k <= m * (b / 2 + c / 2) -> ~ (b < 0 /\ c < 0 /\ k < 0) -> 1 < p.
Proof.
  intros M K A O. apply mult_p_above.
  destruct (Rle_or_lt 0 k) as [N|N].
  - set (g := (b + c) / 2) in *. set (t := b * c) in *.
    replace ((1 + m) * (1 + m * (b + c) / 2) - (1 + b * k) * (1 + c * k)) with (m + m * g + m ^ 2 * g - 2 * k * g - k ^ 2 * t)
      by (unfold g, t; field).
    assert (A' : k * t <= m * g) by (unfold g, t in *; lra). assert (g < 1) by (unfold g; lra). assert (-1 < g) by
    (unfold g; lra).
    assert (H1 : 0 < 1 + 2 * g + t) by (assert (0 < (1 + b) * (1 + c)) by (apply Rmult_lt_0_compat; lra); unfold g, t in *; lra).
    clearbody g t. clear A O. assert (E1 : k * (k * t) <= k * (m * g)) by (apply Rmult_le_compat_l; lra).
    destruct (Rle_or_lt 0 g) as [G|G].
    + assert (0 <= g * (m - k)) by (apply Rmult_le_pos; lra). assert (0 <= m * (g * (m - k))) by (apply Rmult_le_pos; lra).
      assert (0 < m - k * g) by nra. nra.
    + assert (0 < k * (1 + 2 * g + t)) by (apply Rmult_lt_0_compat; [destruct N as [N|N]; [exact N | exfalso; subst
    k; nra] | exact H1]).
      assert (E2 : 0 < k + 2 * k * g + m * g) by lra.
      assert (E3 : - g * 3 < 1) by nra.
      assert (E4 : (1 + m) * (m - k) <= 2 * m) by nra.
      assert (E5 : - g * ((1 + m) * (m - k)) <= - g * (2 * m)) by (apply Rmult_le_compat_l; lra). nra.
  - destruct (Rle_or_lt 0 b) as [B|B]; destruct (Rle_or_lt 0 c) as [C|C].
    + assert (1 + b * k <= 1) by nra. assert (1 + c * k <= 1) by nra. assert (0 < 1 + b * k) by apply mult_b.
      assert (0 < 1 + c * k) by apply mult_c. assert ((1 + b * k) * (1 + c * k) <= 1) by nra.
      assert (0 <= m * (b + c)) by nra. nra.
    + assert (b * c <= 0) by nra. assert (0 <= b * c * k) by nra. assert (0 <= b + c) by nra.
      assert (0 <= m * (b + c)) by nra. assert (k * (b + c) <= 0) by nra. assert (k ^ 2 * (b * c) <= 0) by nra. nra.
    + assert (b * c <= 0) by nra. assert (0 <= b * c * k) by nra. assert (0 <= b + c) by nra.
      assert (0 <= m * (b + c)) by nra. assert (k * (b + c) <= 0) by nra. assert (k ^ 2 * (b * c) <= 0) by nra. nra.
    + exfalso. apply O. repeat split; assumption.
Qed.
Lemma mult_signs : 0 < m -> k < m -> b * c * k <= m * (b / 2 + c / 2) ->
  (b < 0 /\ c < 0 /\ k < 0) \/ (1 + b * k <> 0 /\ 1 + c * k <> 0 /\ 1 < p).
Proof.
  intros M K A. destruct (Rlt_or_le b 0) as [B|B]; [destruct (Rlt_or_le c 0) as [C|C]; [destruct (Rlt_or_le k 0) as [N|N]|]|].
  1: left; repeat split; assumption.
  all: right; split; [apply Rgt_not_eq, mult_b | split; [apply Rgt_not_eq, mult_c|]]; apply mult_p_large; try assumption;
    intros [U [W X]]; lra.
Qed.
Lemma mult_small_neg (l : R) : b < 0 -> c < 0 -> m <= l -> b * c * k < l * (b / 2 + c / 2) ->
  k * (b * c) - m * ((b + c) / 2) < 0.
Proof. intros B C M A. assert (l * (- (b / 2 + c / 2)) >= m * (- (b / 2 + c / 2))) by (apply Rmult_ge_compat_r; lra). lra. Qed.
Lemma mult_sum_neg (l : R) : b < 0 -> c < 0 -> k < m -> m <= l -> b * c * k < l * (b / 2 + c / 2) -> s < 1 + p.
Proof.
  intros B C K M A. assert (E := mult_small_neg l B C M A). apply mult_below.
  replace ((k - m) * (k * (b * c) - m * ((b + c) / 2))) with ((m - k) * - (k * (b * c) - m * ((b + c) / 2))) by ring.
  apply Rmult_lt_0_compat; lra.
Qed.
Lemma mult_prod_neg (l : R) : k < 0 -> b < 0 -> c < 0 -> k < m -> m <= l -> b * c * k < l * (b / 2 + c / 2) -> p < 1.
Proof.
  intros K B C O M A. assert (E := mult_small_neg l B C M A). assert (V := mult_mean). apply mult_p_below.
  set (g := - ((b + c) / 2)) in *. set (t := b * c) in *. set (h := - k) in *.
  replace ((1 + b * k) * (1 + c * k) - (1 + m) * (1 + m * (b + c) / 2)) with (2 * h * g + h ^ 2 * t - m + m * g + m ^ 2 * g)
    by (unfold g, t, h; field).
  assert (g0 : 0 < g) by (unfold g; lra). assert (g < 1) by (unfold g; lra). assert (0 < h) by (unfold h; lra).
  assert (0 < t) by (unfold t; nra).
  assert (E' : m * g < h * t) by (unfold g, t, h in *; lra). assert (V' : t <= g ^ 2) by (unfold g, t in *; nra).
  clearbody g t h. clear A E V.
  destruct (Rle_or_lt m 0) as [N|N].
  - assert (0 < h * g) by (apply Rmult_lt_0_compat; lra). assert (0 <= - m * (1 - g)) by (apply Rmult_le_pos; lra).
    assert (0 <= h ^ 2 * t) by nra. assert (0 <= m ^ 2 * g) by nra. nra.
  - assert (E2 : h * t <= h * g ^ 2) by (apply Rmult_le_compat_l; lra). assert (E3 : m < h * g) by nra.
    assert (0 <= h ^ 2 * t) by nra. assert (0 <= m ^ 2 * g) by nra. nra.
Qed.
Lemma mult_unstable : k < 0 -> b < 0 -> c < 0 -> m < k -> 1 + p < s.
Proof.
  intros K B C M. apply mult_above. assert (0 < b * c) by nra. assert (0 < m * (b + c)) by nra. assert (k * (b * c) < 0) by nra.
  replace (- ((k - m) * (k * (b * c) - m * ((b + c) / 2)))) with ((k - m) * (m * ((b + c) / 2) - k * (b * c))) by ring.
  apply Rmult_lt_0_compat; lra.
Qed.
End Multipliers.
Lemma tanh_exp (x : R) : tanh x = (exp (2 * x) - 1) / (exp (2 * x) + 1).
Proof.
  unfold tanh, sinh, cosh. assert (P := exp_pos x). replace (2 * x) with (x + x) by ring. rewrite exp_plus, exp_Ropp.
  assert (exp x * exp x + 1 <> 0) by nra. field. conjuncts; nra.
Qed.
Lemma tanh_above (x : R) : -1 < tanh x.
Proof.
  rewrite tanh_exp. assert (P := exp_pos (2 * x)). apply Rmult_lt_reg_r with (exp (2 * x) + 1); [lra|].
  replace ((exp (2 * x) - 1) / (exp (2 * x) + 1) * (exp (2 * x) + 1)) with (exp (2 * x) - 1) by (field; lra). lra.
Qed.
Lemma tanh_below (x : R) : tanh x < 1.
Proof.
  rewrite tanh_exp. assert (P := exp_pos (2 * x)). apply Rmult_lt_reg_r with (exp (2 * x) + 1); [lra|].
  replace ((exp (2 * x) - 1) / (exp (2 * x) + 1) * (exp (2 * x) + 1)) with (exp (2 * x) - 1) by (field; lra). lra.
Qed.
Lemma tanh_odd (x : R) : tanh (- x) = - tanh x.
Proof.
  unfold tanh, sinh, cosh. rewrite Ropp_involutive. assert (P := exp_pos x). assert (Q := exp_pos (- x)). field. conjuncts; lra.
Qed.
Lemma tanh_rising (x y : R) : x < y -> tanh x < tanh y.
Proof.
  intros L. rewrite !tanh_exp. assert (P := exp_pos (2 * x)). assert (Q := exp_pos (2 * y)).
  assert (E : exp (2 * x) < exp (2 * y)) by (apply exp_rising; lra).
  apply Rminus_gt. replace ((exp (2 * y) - 1) / (exp (2 * y) + 1) - (exp (2 * x) - 1) / (exp (2 * x) + 1))
    with (2 * (exp (2 * y) - exp (2 * x)) / ((exp (2 * y) + 1) * (exp (2 * x) + 1))) by (field; conjuncts; lra).
  apply Rmult_lt_0_compat; [lra | apply Rinv_0_lt_compat; apply Rmult_lt_0_compat; lra].
Qed.
Lemma tanh_zero : tanh 0 = 0.
Proof. unfold tanh, sinh. rewrite Ropp_0. unfold Rdiv. ring. Qed.
Lemma tanh_pos (x : R) : 0 < x -> 0 < tanh x.
Proof. intros X. rewrite <- tanh_zero. apply tanh_rising. exact X. Qed.
Lemma tanh_neg (x : R) : x < 0 -> tanh x < 0.
Proof. intros X. rewrite <- tanh_zero. apply tanh_rising. exact X. Qed.
Lemma tanh_pos_inv (x : R) : 0 < tanh x -> 0 < x.
Proof.
  intros T. destruct (Rlt_or_le 0 x) as [X|[X|X]]; [exact X | exfalso..].
  - assert (Y := tanh_neg x X). lra.
  - subst x. rewrite tanh_zero in T. lra.
Qed.
Lemma tanh_neg_inv (x : R) : tanh x < 0 -> x < 0.
Proof. intros T. apply Ropp_lt_cancel. rewrite Ropp_0. apply tanh_pos_inv. rewrite tanh_odd. lra. Qed.
Lemma ratio_pos (p q : R) : 1 <= p -> 1 <= q -> 0 < p / q.
Proof. intros P Q. apply Rmult_lt_0_compat; [lra | apply Rinv_0_lt_compat; lra]. Qed.
Lemma ln_ratio (p q : R) : 1 <= p -> 1 <= q -> q <= p -> 0 <= ln (p / q) / 2.
Proof.
  intros P Q L. assert (0 <= ln (p / q)); [|lra]. destruct L as [L|L].
  - left. rewrite <- ln_1. apply ln_increasing; [lra|]. apply Rmult_lt_reg_r with q; [lra|]. replace (p / q * q) with
    p by (field; lra). lra.
  - right. subst q. replace (p / p) with 1 by (field; lra). symmetry. exact ln_1.
Qed.
Lemma tanh_plus (x p q : R) : 1 <= p -> 1 <= q -> tanh (x + ln (p / q) / 2) = (p * exp (2 * x) + - q) / (q + p * exp (2 * x)).
Proof.
  intros P Q. rewrite tanh_exp. replace (2 * (x + ln (p / q) / 2)) with (2 * x + ln (p / q)) by field.
  rewrite exp_plus, exp_ln by (apply ratio_pos; assumption). assert (E := exp_pos (2 * x)). field. conjuncts; nra.
Qed.
Lemma tanh_minus (x p q : R) : 1 <= p -> 1 <= q -> tanh (x + - ln (p / q) / 2) = (q * exp (2 * x) + - p) / (p + q * exp (2 * x)).
Proof.
  intros P Q. rewrite tanh_exp. replace (2 * (x + - ln (p / q) / 2)) with (2 * x + - ln (p / q)) by field.
  rewrite exp_plus, exp_Ropp, exp_ln by (apply ratio_pos; assumption). assert (E := exp_pos (2 * x)). field. conjuncts; nra.
Qed.
Lemma share_bound (a p q e : R) : 1 <= p -> 1 <= q -> 0 < e -> -1 < a -> a < 1 -> 0 < q + p * e + a * (p * e - q).
Proof. intros. assert (0 < p * e) by (apply Rmult_lt_0_compat; lra). assert (0 < (1 + a) * (p * e)) by (apply
    Rmult_lt_0_compat; lra).
  assert (0 < (1 - a) * q) by (apply Rmult_lt_0_compat; lra). lra. Qed.
Lemma share_pos (a p q e : R) : 1 <= p -> 1 <= q -> 0 < e -> -1 < a -> a < 1 -> 0 < 1 + a * (p * e + - q) / (q + p * e).
Proof.
  intros P Q E A B. assert (K := share_bound a p q e P Q E A B). assert (D : 0 < q + p * e) by nra.
  replace (1 + a * (p * e + - q) / (q + p * e)) with ((q + p * e + a * (p * e - q)) * / (q + p * e)) by (field; lra).
  apply Rmult_lt_0_compat; [exact K | apply Rinv_0_lt_compat; exact D].
Qed.
Lemma one_plus_tanh (a x : R) : -1 < a -> a < 1 -> 0 < 1 + a * tanh x.
Proof. intros. apply in_box; split; try lra; [apply tanh_above | apply tanh_below]. Qed.
Lemma scaled_box (a t m : R) : 0 < a -> Rabs t <= m -> a * m < 1 -> -1 < a * t /\ a * t < 1.
Proof. intros A T M. apply abs_bounds in T as [L U]. split; nra. Qed.
Lemma sinh_nonzero (x : R) : x <> 0 -> sinh (2 * x) <> 0.
Proof.
  intros X. unfold sinh. destruct (Rtotal_order x 0) as [L|[L|L]]; [|contradiction|].
  - assert (exp (2 * x) < exp (- (2 * x))) by (apply exp_rising; lra). lra.
  - assert (exp (- (2 * x)) < exp (2 * x)) by (apply exp_rising; lra). lra.
Qed.
Lemma tanh_sum_pos (x y : R) : 0 < x -> 0 < tanh (x + - y / 2) + tanh (x + y / 2).
Proof.
  intros X. assert (T : tanh (- (x + - y / 2)) < tanh (x + y / 2)) by (apply tanh_rising; lra). rewrite tanh_odd in T. lra.
Qed.
Lemma tanh_sum_neg (x y : R) : x < 0 -> tanh (x + - y / 2) + tanh (x + y / 2) < 0.
Proof.
  intros X. assert (T : tanh (x + y / 2) < tanh (- (x + - y / 2))) by (apply tanh_rising; lra). rewrite tanh_odd in T. lra.
Qed.
Lemma tanh_sum_inv (x y : R) : 0 < tanh (x + - y / 2) + tanh (x + y / 2) -> 0 < x.
Proof.
  intros T. destruct (Rlt_or_le 0 x) as [X|[X|X]]; [exact X | exfalso..].
  - assert (Y := tanh_sum_neg x y X). lra.
  - subst x. replace (0 + - y / 2) with (- (0 + y / 2)) in T by lra. rewrite tanh_odd in T. lra.
Qed.
Lemma harmonic (x p q : R) : 1 <= p -> 1 <= q -> x <> 0 ->
  (cosh (2 * x) + - q / (2 * p) + - p / (2 * q)) / sinh (2 * x) =
  2 * tanh (x + ln (p / q) / 2) * tanh (x + - ln (p / q) / 2) / (tanh (x + - ln (p / q) / 2) + tanh (x + ln (p / q) / 2)).
Proof.
  intros P Q X. rewrite tanh_plus, tanh_minus by assumption. assert (S := sinh_nonzero x X).
  unfold cosh, sinh in *. rewrite exp_Ropp in *. assert (E := exp_pos (2 * x)). set (e := exp (2 * x)) in *. clearbody e.
  assert (N : e * e - 1 <> 0) by (intros Z; apply S; replace (e - / e) with ((e * e - 1) * / e) by (field; lra); rewrite Z; lra).
  assert (A : 0 < q + p * e) by nra. assert (B : 0 < p + q * e) by nra.
  replace ((q * e + - p) / (p + q * e) + (p * e + - q) / (q + p * e)) with (2 * p * q * (e * e - 1) / ((p + q * e) * (q + p * e)))
    by (field; lra).
  transitivity ((p * q * (e * e + 1) - e * (p * p + q * q)) / (p * q * (e * e - 1))).
  - field. conjuncts; try lra; intros Z; apply N; lra.
  - field. conjuncts; try lra; intros Z; apply N; lra.
Qed.
Lemma inverse_modulus (b k : R) : 0 < b * k -> 1 / Rabs (1 + b * k) < 1.
Proof.
  intros P. rewrite Rabs_right by lra. apply Rmult_lt_reg_r with (1 + b * k); [lra|].
  replace (1 / (1 + b * k) * (1 + b * k)) with 1 by (field; lra). lra.
Qed.
Lemma inverse_modulus_inv (b k : R) : -1 < b -> b < 1 -> 0 < k -> k < 1 -> 1 / Rabs (1 + b * k) < 1 -> 0 < b.
Proof.
  intros B C K L P. assert (D : 0 < 1 + b * k) by (apply in_box; split; lra). rewrite Rabs_right in P by lra.
  apply Rmult_lt_compat_r with (r := 1 + b * k) in P; [|exact D].
  replace (1 / (1 + b * k) * (1 + b * k)) with 1 in P by (field; lra). nra.
Qed.
Lemma mean_lt (A N L b c C Z : R) : 0 < A -> Z <> 0 -> C / Z = 2 * b * c / (b + c) -> 0 < b + c ->
  A * N * (b / 2 + c / 2) < A * L * b * c <-> N < C * L / Z.
Proof.
  intros HA HZ E S. replace (C * L / Z) with (2 * b * c / (b + c) * L) by (rewrite <- E; field; exact HZ).
  assert (X : A * L * b * c - A * N * (b / 2 + c / 2) = A * (b + c) / 2 * (2 * b * c / (b + c) * L - N)) by (field; lra).
  assert (Y : 0 < A * (b + c) / 2) by nra. split; intros G; nra.
Qed.
Lemma mean_gt (A N L b c C Z : R) : 0 < A -> Z <> 0 -> C / Z = 2 * b * c / (b + c) -> b < 0 -> c < 0 -> L < 0 ->
  A * L * b * c < A * N * (b / 2 + c / 2) <-> N < Rabs L * Rabs (C / Z).
Proof.
  intros HA HZ E B C' HL. assert (0 < 2 * b * c) by nra.
  assert (M : Rabs (C / Z) = 2 * b * c / - (b + c)).
  { rewrite E. rewrite Rabs_left.
    - field. lra.
    - assert (0 < / - (b + c)) by (apply Rinv_0_lt_compat; lra).
      replace (2 * b * c / (b + c)) with (- (2 * b * c * / - (b + c))) by (field; lra). nra. }
  rewrite M, (Rabs_left L) by lra.
  assert (X : A * N * (b / 2 + c / 2) - A * L * b * c = A * - (b + c) / 2 * (- L * (2 * b * c / - (b + c)) - N)) by (field; lra).
  assert (Y : 0 < A * - (b + c) / 2) by nra. split; intros G; nra.
Qed.
Ltac shares := match goal with P : 1 <= ?p, Q : 1 <= ?q, U : -1 < ?a, W : ?a < 1 |- context [exp (2 * ?x)] =>
  rewrite ?(tanh_plus x p q P Q), ?(tanh_minus x p q P Q);
  let E := fresh in assert (E := exp_pos (2 * x));
  let K := fresh in assert (K := share_bound a p q (exp (2 * x)) P Q E U W);
  let J := fresh in assert (J := share_bound a q p (exp (2 * x)) Q P E U W);
  set (e_ := exp (2 * x)) in *; clearbody e_;
  let A := fresh in assert (A : 0 < q + p * e_) by nra;
  let B := fresh in assert (B : 0 < p + q * e_) by nra;
  field; conjuncts; lra end.
Ltac multipliers := first
  [ (apply mult_least; assumption) | (eapply mult_sum_small; eassumption) | (eapply mult_prod_small; eassumption)
  | (eapply mult_sum_neg; eassumption) | (eapply mult_prod_neg; eassumption) | (eapply mult_product; eassumption)
  | (eapply mult_product_neg; eassumption)
  | (match goal with S : (1 + ?m * (1 + ?b) / 2) / (1 + ?b * ?k) + (1 + ?m * (1 + ?c) / 2) / (1 + ?c * ?k) < 1 + _ |- _ =>
      first [apply (mult_order b c k m) | apply (mult_sign b c k m)]; assumption end)
  | (eapply mult_either; eassumption) | (eapply mult_signs; eassumption) ].
Ltac bipartite := match goal with
  | |- -1 < tanh _ => apply tanh_above
  | |- tanh _ < 1 => apply tanh_below
  | X : 0 < ?x |- 0 < tanh ?x => apply tanh_pos; exact X
  | X : ?x < 0 |- tanh ?x < 0 => apply tanh_neg; exact X
  | X : 0 < tanh ?x |- 0 < ?x => apply tanh_pos_inv; exact X
  | X : tanh ?x < 0 |- ?x < 0 => apply tanh_neg_inv; exact X
  | |- 0 <= ln (?p / ?q) / 2 => apply ln_ratio; assumption
  | |- 0 < tanh (_ + ln (?p / ?q) / 2) => apply tanh_pos; assert (0 <= ln (p / q) / 2) by (apply ln_ratio; assumption); lra
  | X : ?x < - ln (?p / ?q) / 2 |- ?x < 0 => assert (0 <= ln (p / q) / 2) by (apply ln_ratio; assumption); lra
  | X : 0 < tanh (?x + - _ / 2) + tanh (?x + _ / 2) |- 0 < ?x => exact (tanh_sum_inv _ _ X)
  | X : 0 < ?x |- tanh (?x + - ?y / 2) + tanh (?x + ?y / 2) <> 0 => apply Rgt_not_eq, tanh_sum_pos; exact X
  | X : ?x < 0 |- tanh (?x + - ?y / 2) + tanh (?x + ?y / 2) <> 0 => apply Rlt_not_eq, tanh_sum_neg; exact X
  | X : 0 < ?x |- 0 < tanh (?x + - ?y / 2) + tanh (?x + ?y / 2) => apply tanh_sum_pos; exact X
  | |- sinh (2 * _) <> 0 => apply sinh_nonzero; lra
  | |- _ / sinh (2 * _) = _ => apply harmonic; lra
  | |- 0 < 1 + _ * (_ * exp _ + - _) / _ => apply share_pos; first [assumption | apply exp_pos]
  | |- 1 + _ * (_ * exp _ + - _) / _ <> 0 => apply Rgt_not_eq, share_pos; first [assumption | apply exp_pos]
  | |- 1 + _ * tanh _ <> 0 => apply Rgt_not_eq, one_plus_tanh; assumption
  | |- _ = _ => solve [shares]
  | A : 0 < ?a, T : Rabs ?t <= _ |- -1 < ?a * ?t => eapply scaled_box; eassumption
  | A : 0 < ?a, T : Rabs ?t <= _ |- ?a * ?t < 1 => eapply scaled_box; eassumption
  | |- 1 / Rabs (1 + _) < 1 => apply inverse_modulus; assumption
  | |- Rabs (1 + _) <> 0 => apply Rabs_no_R0; lra
  | X : 1 / Rabs (1 + ?b * ?k) < 1 |- 0 < ?b => apply (inverse_modulus_inv b k); assumption
  | X : ?A * ?N * (?b / 2 + ?c / 2) < _ |- ?N < ?C * ?L / ?Z => apply (mean_lt A N L b c C Z); assumption
  | |- _ < Rabs _ * Rabs _ => eapply mean_gt; eassumption
  | X : _ < Rabs _ * Rabs _ |- _ => eapply mean_gt; eassumption
  | X : ?N < ?C * ?L / ?Z |- ?A * ?N * _ < _ => eapply mean_lt; eassumption
  | K : ?k < 0, B : ?b < 0, C : ?c < 0, M : ?m < ?k |- _ \/ _ \/ _ => right; left; split;
      [apply Rgt_not_eq, mult_b; assumption | split; [apply Rgt_not_eq, mult_b; assumption | apply mult_unstable; assumption]]
  | |- _ => multipliers
  end.
"""
