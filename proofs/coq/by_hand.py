"""Scalar lemmas that Coq's tactics do not find by themselves, proved by hand: part of the library of whole derivations."""

from __future__ import annotations

__all__ = ["BY_HAND"]

BY_HAND = r"""
Lemma share_of_root (d w s e a : R) : 1 <= d -> a = w * s -> a = e / sqrt d -> 0 < s -> w * s * sqrt d = e.
Proof.
  intros D A B _. rewrite <- A, B. field. apply Rgt_not_eq. apply sqrt_lt_R0. lra.
Qed.
Lemma form_size (q a b N l : R) :
  q ^ 2 <= a * b * N ^ 2 -> 0 <= N -> 0 <= a -> 0 <= b -> 0 < l -> a <= 1 / l -> b <= 1 / l -> q ^ 2 <= (N / l) ^ 2.
Proof.
  intros Q N0 A B L A1 B1. assert (P : a * b <= 1 / l * (1 / l)) by (apply Rmult_le_compat; assumption).
  assert (S : 0 <= N ^ 2) by nra. assert (T : a * b * N ^ 2 <= 1 / l * (1 / l) * N ^ 2) by (apply Rmult_le_compat_r; assumption).
  replace ((N / l) ^ 2) with (1 / l * (1 / l) * N ^ 2) by (field; lra). lra.
Qed.
Lemma form_upper (q N l a b : R) :
  q ^ 2 <= a * b * N ^ 2 -> 0 <= N -> 0 <= a -> 0 <= b -> 0 < l -> a <= 1 / l -> b <= 1 / l -> q <= N / l.
Proof.
  intros Q N0 A B L A1 B1. assert (S := form_size q a b N l Q N0 A B L A1 B1).
  assert (P : 0 <= N / l) by (apply Rmult_le_pos; [assumption | left; apply Rinv_0_lt_compat; assumption]). nra.
Qed.
Lemma form_lower (q N l a b : R) :
  q ^ 2 <= a * b * N ^ 2 -> 0 <= N -> 0 <= a -> 0 <= b -> 0 < l -> a <= 1 / l -> b <= 1 / l -> (- N) / l <= q.
Proof.
  intros Q N0 A B L A1 B1. assert (S := form_size q a b N l Q N0 A B L A1 B1).
  assert (P : 0 <= N / l) by (apply Rmult_le_pos; [assumption | left; apply Rinv_0_lt_compat; assumption]).
  replace (- N / l) with (- (N / l)) by (field; lra). nra.
Qed.
Lemma exp_le (a b : R) : a <= b -> exp a <= exp b.
Proof. intros [H|H]; [left; apply exp_rising; exact H | right; rewrite H; reflexivity]. Qed.
Lemma exp_upper (e q u : R) : e = exp q -> q <= u -> e <= exp u.
Proof. intros E Q. rewrite E. apply exp_le. exact Q. Qed.
Lemma exp_lower (e q u : R) : e = exp q -> u <= q -> exp u <= e.
Proof. intros E Q. rewrite E. apply exp_le. exact Q. Qed.
Lemma exp_minus (N l : R) : l <> 0 -> exp ((- N) / l) = / exp (N / l).
Proof. intros L. rewrite <- exp_Ropp. f_equal. field. exact L. Qed.
Lemma exp_twice (N l : R) : l <> 0 -> exp ((2 * N) / l) = exp (N / l) * exp (N / l).
Proof. intros L. rewrite <- exp_plus. f_equal. field. exact L. Qed.
Lemma exp_minus_twice (N l : R) : l <> 0 -> exp (((-2) * N) / l) = / exp (N / l) * / exp (N / l).
Proof. intros L. rewrite <- !exp_Ropp, <- exp_plus. f_equal. field. exact L. Qed.
Lemma one_plus_exp (n u : R) : 1 <= n -> 1 + (n + -1) * exp u <> 0.
Proof. intros H. assert (P := exp_pos u). apply Rgt_not_eq. nra. Qed.

Section Weights.
Variables n d w s e E F : R.
Hypothesis n_ge : 1 <= n.
Hypothesis d_ge : 1 <= d.
Hypothesis s_pos : 0 < s.
Hypothesis share : w * s * sqrt d = e.
Hypothesis E_pos : 0 < E.
Hypothesis EF : E * F = 1.
Hypothesis e_le : e <= E.
Hypothesis e_ge : F <= e.
Hypothesis s_ge : e + (n + -1) * F <= s.
Hypothesis s_le : - e + - ((n + -1) * E) <= - s.
Lemma weights_root : 1 <= sqrt d.
Proof. rewrite <- sqrt_1. apply sqrt_le_1_alt. exact d_ge. Qed.
Lemma weights_F : 0 < F.
Proof. assert (F <> 0) by (intros Z; rewrite Z in EF; lra). nra. Qed.
Lemma weights_e : 0 < e. Proof. assert (P := weights_F). lra. Qed.
Lemma weights_w : w = e / (s * sqrt d).
Proof. assert (R := weights_root). rewrite <- share. field. lra. Qed.
Lemma weights_E : 1 <= E * E.
Proof. assert (P := weights_F). assert (F <= E) by lra. nra. Qed.
Lemma weights_lower : 1 / (sqrt d * (1 + (n + -1) * (E * E))) <= w.
Proof using All.
  assert (R := weights_root). assert (Q := weights_e). assert (P := weights_F).
  assert (T : s <= e * (1 + (n + -1) * (E * E))).
  { assert (E <= e * (E * E)) by nra. assert ((n + -1) * E <= (n + -1) * (e * (E * E))) by (apply Rmult_le_compat_l; lra). lra. }
  assert (K : 0 < 1 + (n + -1) * (E * E)) by nra.
  rewrite weights_w. apply Rmult_le_reg_r with (s * sqrt d * (1 + (n + -1) * (E * E))).
  { apply Rmult_lt_0_compat; [nra | exact K]. }
  replace (1 / (sqrt d * (1 + (n + -1) * (E * E))) * (s * sqrt d * (1 + (n + -1) * (E * E)))) with s by (field; lra).
  replace (e / (s * sqrt d) * (s * sqrt d * (1 + (n + -1) * (E * E)))) with (e * (1 + (n + -1) * (E * E))) by (field; lra).
  exact T.
Qed.
Lemma weights_upper : w <= 1 / (sqrt d * (1 + (n + -1) * (F * F))).
Proof using All.
  assert (R := weights_root). assert (Q := weights_e). assert (P := weights_F).
  assert (T : e * (1 + (n + -1) * (F * F)) <= s).
  { assert (e * (F * F) <= F) by nra. assert ((n + -1) * (e * (F * F)) <= (n + -1) * F) by (apply Rmult_le_compat_l; lra). lra. }
  assert (K : 0 < 1 + (n + -1) * (F * F)) by nra.
  rewrite weights_w. apply Rmult_le_reg_r with (s * sqrt d * (1 + (n + -1) * (F * F))).
  { apply Rmult_lt_0_compat; [nra | exact K]. }
  replace (1 / (sqrt d * (1 + (n + -1) * (F * F))) * (s * sqrt d * (1 + (n + -1) * (F * F)))) with s by (field; lra).
  replace (e / (s * sqrt d) * (s * sqrt d * (1 + (n + -1) * (F * F)))) with (e * (1 + (n + -1) * (F * F))) by (field; lra).
  exact T.
Qed.
Lemma weights_mean : F * F / (sqrt d * n) <= w.
Proof using All.
  assert (R := weights_root). assert (Q := weights_e). assert (P := weights_F). assert (O := weights_E).
  assert (T : F * F * s <= n * e).
  { assert (A : F * F * E <= e) by nra. assert (B : F * F * e <= e).
    { assert (F * F <= 1) by nra. nra. }
    assert (C : (n + -1) * (F * F * E) <= (n + -1) * e) by (apply Rmult_le_compat_l; lra).
    assert (D : F * F * s <= F * F * (e + (n + -1) * E)) by (apply Rmult_le_compat_l; nra). lra. }
  rewrite weights_w. apply Rmult_le_reg_r with (s * sqrt d * n).
  { apply Rmult_lt_0_compat; nra. }
  replace (F * F / (sqrt d * n) * (s * sqrt d * n)) with (F * F * s) by (field; lra).
  replace (e / (s * sqrt d) * (s * sqrt d * n)) with (n * e) by (field; lra). exact T.
Qed.
Lemma weights_most : w <= E * E.
Proof using All.
  assert (R := weights_root). assert (Q := weights_e). assert (P := weights_F). assert (O := weights_E).
  assert (T : e <= s) by nra. assert (w * (s * sqrt d) <= 1 * (s * sqrt d)) by nra.
  assert (w <= 1) by (apply Rmult_le_reg_r with (s * sqrt d); nra). lra.
Qed.
End Weights.
Ltac weights N l rule :=
  let M := fresh in let P := fresh in
  assert (M : exp ((- N) / l) = / exp (N / l)) by (apply exp_minus; assumption);
  rewrite ?M in *; assert (P := exp_pos (N / l)); rewrite ?exp_twice, ?exp_minus_twice by assumption;
  match goal with S : ?w * ?s * sqrt ?d = ?e, K : ?e + (?n + -1) * _ <= ?s |- _ =>
    apply (rule n d w s e (exp (N / l)) (/ exp (N / l))) end;
  first [assumption | (apply Rinv_r; lra) | lra].
Lemma bound_by_ratio (a m q t : R) :
  0 < a -> 1 + a * q <> 0 -> (1 + 2 * a * t + a ^ 2 * m ^ 2) / (1 + a * q) ^ 2 < 1 -> 0 < q ->
  a * (m ^ 2 + - q ^ 2) < 2 * q + -2 * t.
Proof.
  intros A D H Q. assert (S : 0 < (1 + a * q) ^ 2) by nra.
  assert (K : 1 + 2 * a * t + a ^ 2 * m ^ 2 < (1 + a * q) ^ 2).
  { apply Rmult_lt_compat_r with (r := (1 + a * q) ^ 2) in H; [| exact S].
    replace ((1 + 2 * a * t + a ^ 2 * m ^ 2) / (1 + a * q) ^ 2 * (1 + a * q) ^ 2) with (1 + 2 * a * t + a ^ 2 * m ^ 2) in H
      by (field; exact D). lra. }
  apply Rmult_lt_reg_l with a; [exact A | nra].
Qed.
Lemma bound_by_modulus (a m q t : R) :
  0 < a -> m < q -> Rabs t <= m -> 0 < q -> a * (m ^ 2 + - q ^ 2) < 2 * q + -2 * t.
Proof.
  intros A M T Q. assert (B := Rle_abs t). assert (C := Rabs_pos t). assert (m ^ 2 < q ^ 2) by nra.
  assert (a * (q ^ 2 - m ^ 2) > 0) by (apply Rmult_gt_0_compat; lra). lra.
Qed.
Lemma last_factor_zero (a b m s z w : R) : b = a + m * s * z -> a = w -> b = w -> m <> 0 -> 0 < s -> z = 0.
Proof.
  intros B A W M S. assert (P : m * s * z = 0) by lra. apply Rmult_integral in P as [P|P]; [|exact P].
  apply Rmult_integral in P as [P|P]; [contradiction | lra].
Qed.
Lemma below_by_modulus (a q t m : R) : a * (m ^ 2 + - q ^ 2) < 2 * q + -2 * t -> 0 < a -> 0 < q -> Rabs t <= m -> t <= q.
Proof.
  intros P A Q T. destruct (Rle_or_lt t q) as [L|L]; [exact L | exfalso]. rewrite Rabs_right in T by lra.
  assert (0 < m ^ 2 + - q ^ 2) by nra. assert (0 < a * (m ^ 2 + - q ^ 2)) by (apply Rmult_lt_0_compat; assumption). lra.
Qed.
Lemma causal_ratio (a i m t q : R) :
  0 < a -> 1 <= i -> a * (m ^ 2 + - q ^ 2) < 2 * q + -2 * t -> 0 < q -> t <= q ->
  (i ^ 2 + a ^ 2 * m ^ 2 + 2 * a * i * t) / (i ^ 2 * (1 + a * q) ^ 2) < 1.
Proof.
  intros A I P Q T. assert (B : 0 < a * q) by (apply Rmult_lt_0_compat; assumption).
  assert (S : 0 < i ^ 2 * (1 + a * q) ^ 2) by (apply Rmult_lt_0_compat; nra).
  apply Rmult_lt_reg_r with (i ^ 2 * (1 + a * q) ^ 2); [exact S|].
  replace ((i ^ 2 + a ^ 2 * m ^ 2 + 2 * a * i * t) / (i ^ 2 * (1 + a * q) ^ 2) * (i ^ 2 * (1 + a * q) ^ 2))
    with (i ^ 2 + a ^ 2 * m ^ 2 + 2 * a * i * t) by (field; nra).
  assert (K : a * (a * (m ^ 2 + - q ^ 2)) < a * (2 * q + -2 * t)) by (apply Rmult_lt_compat_l; assumption).
  assert (N : t <= q * (i + 1)) by nra.
  assert (O : 0 <= a * (q * (i + 1) - t)) by (apply Rmult_le_pos; lra).
  assert (U : 0 <= (i + 1) * (a * q) ^ 2) by (apply Rmult_le_pos; nra).
  assert (X : 0 <= (i - 1) * ((i + 1) * (a * q) ^ 2 + 2 * (a * (q * (i + 1) - t)))) by (apply Rmult_le_pos; lra). lra.
Qed.
Lemma one_sign_or_other (a b p q n : R) :
  1 <= n -> p <> q -> 0 < b -> a < b -> 0 < a \/ b * (p + - q) ^ 2 * (a + - b) / n ^ 2 < 0.
Proof.
  intros N P B A. right. assert (S : 0 < (p + - q) ^ 2) by (assert (p + - q <> 0) by lra; nra).
  assert (U : 0 < b * (p + - q) ^ 2) by (apply Rmult_lt_0_compat; assumption).
  assert (K : 0 < b * (p + - q) ^ 2 * (b + - a)) by (apply Rmult_lt_0_compat; lra).
  assert (J : 0 < / n ^ 2) by (apply Rinv_0_lt_compat; nra).
  assert (L : 0 < b * (p + - q) ^ 2 * (b + - a) * / n ^ 2) by (apply Rmult_lt_0_compat; assumption). unfold Rdiv. lra.
Qed.
(* No bipartite point of a negative eigenvalue is stable where the scores favour it, or where its modulus is small. *)
Lemma outside (b c k m : R) : -1 < b -> b < 1 -> -1 < c -> c < 1 -> -1 < k -> k < 1 -> -1 < m -> m < 1 -> 0 < m -> k < 0 ->
  (b * c * k <= m * (b / 2 + c / 2) -> ~ (b < 0 /\ c < 0 /\ k < 0)) ->
  (1 + b * k <> 0 /\ 1 + c * k <> 0 /\ 1 < (1 + m) * (1 + m * (b + c) / 2) / ((1 + b * k) * (1 + c * k))) \/
  (1 + b * k <> 0 /\ 1 + c * k <> 0 /\ 1 + (1 + m) * (1 + m * (b + c) / 2) / ((1 + b * k) * (1 + c * k))
    < (1 + m * (1 + b) / 2) / (1 + b * k) + (1 + m * (1 + c) / 2) / (1 + c * k)).
Proof.
  intros B1 B2 C1 C2 K1 K2 M1 M2 M K O. assert (L : k < m) by lra.
  destruct (mult_either b c k m B1 B2 C1 C2 K1 K2 M L) as [A|A]; [left | right; exact A].
  split; [apply Rgt_not_eq, mult_b; assumption | split; [apply Rgt_not_eq, mult_b; assumption|]].
  apply mult_p_large; try assumption. apply O. exact A.
Qed.
Lemma small_modulus (b c k m : R) : -1 < b -> -1 < c -> 0 < m -> - k <= m -> b * c * k <= m * (b / 2 + c / 2) ->
  ~ (b < 0 /\ c < 0 /\ k < 0).
Proof.
  intros B C M K A [B0 [C0 K0]]. assert (P : 0 < b * c) by nra. assert (X : 0 <= (m + k) * (b * c)) by (apply Rmult_le_pos; lra).
  assert (Y : 0 < m * (- b * (1 + c))) by (apply Rmult_lt_0_compat; [exact M | apply Rmult_lt_0_compat; lra]).
  assert (Z : 0 < m * (- c * (1 + b))) by (apply Rmult_lt_0_compat; [exact M | apply Rmult_lt_0_compat; lra]). lra.
Qed.
Lemma tanh_sum_nonneg (x y : R) : 0 <= x -> 0 <= tanh (x + - y / 2) + tanh (x + y / 2).
Proof.
  intros [X|X]; [left; apply tanh_sum_pos; exact X | right; subst x].
  replace (0 + - y / 2) with (- (0 + y / 2)) by field. unfold tanh, sinh, cosh. rewrite Ropp_involutive.
  assert (P := exp_pos (0 + y / 2)). assert (Q := exp_pos (- (0 + y / 2))). field. lra.
Qed.
Lemma negative_modulus (a l N : R) : 0 < a -> Rabs l <= N -> l < 0 -> - (a * l) <= a * N.
Proof. intros A L M. rewrite Rabs_left in L by exact M. nra. Qed.
Ltac further := match goal with
  | N : ?n = ?p + ?q, P : 1 <= ?p, Q : 1 <= ?q |- _ = _ => subst n; field; conjuncts; lra
  | |- 0 <= tanh _ + tanh _ => apply tanh_sum_nonneg; assumption
  | |- - (_ * _) <= _ * _ => apply negative_modulus; assumption
  | |- _ \/ _ => apply outside; try assumption; intros; first [(intros [? [? ?]]; lra) | (eapply small_modulus; eassumption)]
  end.
Ltac by_hand := intros; first [ solve [match goal with
  | |- _ * _ * sqrt _ = _ => eapply share_of_root; eassumption
  | |- ?q <= ?N / ?l => eapply form_upper; eassumption
  | |- (- ?N) / ?l <= ?q => eapply form_lower; eassumption
  | |- ?e <= exp ?u => eapply exp_upper; eassumption
  | |- exp ?u <= ?e => eapply exp_lower; eassumption
  | |- 1 + (_ + -1) * exp _ <> 0 => apply one_plus_exp; assumption
  | |- 1 / (sqrt _ * (1 + _ * exp ((2 * ?N) / ?l))) <= _ => weights N l weights_lower
  | |- _ <= 1 / (sqrt _ * (1 + _ * exp (((-2) * ?N) / ?l))) => weights N l weights_upper
  | |- exp (((-2) * ?N) / ?l) / _ <= _ => weights N l weights_mean
  | |- _ <= exp ((2 * ?N) / ?l) => weights N l weights_most
  | |- ?z = 0 => eapply last_factor_zero; eassumption
  | |- _ <= _ => eapply below_by_modulus; eassumption
  | |- _ / (_ ^ 2 * (1 + _) ^ 2) < 1 => eapply causal_ratio; eassumption
  | |- 0 < _ \/ _ / _ < 0 => first [apply one_sign_or_other; lra | (match goal with E : ?b = ?c |- _ => rewrite E;
    apply one_sign_or_other; lra end)]
  | |- _ * (_ + - _) < _ => first [eapply bound_by_ratio; eassumption | eapply bound_by_modulus; eassumption]
  end] | solve [bipartite] | solve [falls] | solve [further] ].
"""
