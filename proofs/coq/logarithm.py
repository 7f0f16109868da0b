"""The logarithm of whole derivations: the inverse of exp by completeness, without the axiom of excluded middle.

The logarithm of Coq's library is defined through the theorem of the mean value, which uses that axiom: a theorem that only names
it would rest on more than the axioms of the reals.
"""

from __future__ import annotations

__all__ = ["LOGARITHM"]

LOGARITHM = r"""
Lemma exp_geometric (y : R) : 0 <= y -> y < 1 -> exp y <= 1 / (1 - y).
Proof.
  intros P Q. unfold exp. destruct (exist_exp y) as [l L]. simpl. unfold exp_in in L.
  destruct (Rle_or_lt l (1 / (1 - y))) as [A|A]; [exact A | exfalso].
  destruct (L (l - 1 / (1 - y)) ltac:(lra)) as [N M]. specialize (M N (le_n N)). unfold R_dist in M.
  assert (B : sum_f_R0 (fun i => / INR (fact i) * y ^ i) N <= 1 / (1 - y)).
  { apply Rle_trans with (sum_f_R0 (fun i => y ^ i) N).
    - apply sum_Rle. intros k _. rewrite <- (Rmult_1_l (y ^ k)) at 2. apply Rmult_le_compat_r; [apply pow_le; exact P|].
      rewrite <- Rinv_1. apply Rinv_le_contravar; [lra|]. change 1 with (INR 1). apply le_INR. apply lt_O_fact.
    - rewrite tech3 by (apply Rlt_not_eq; exact Q). apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; lra|].
      assert (0 <= y ^ S N) by (apply pow_le; exact P). lra. }
  rewrite Rabs_left1 in M by lra. lra.
Qed.
Lemma exp_order (a b : R) : exp a <= exp b -> a <= b.
Proof. intros E. destruct (Rle_or_lt a b) as [A|A]; [exact A | assert (F := exp_rising b a A); lra]. Qed.
Lemma log_exists (x : R) : 0 < x -> {t : R | exp t = x}.
Proof.
  intros X. destruct (completeness (fun t => exp t <= x)) as [m [U L]].
  - exists x. intros t T. destruct (Rle_or_lt t 0) as [A|A]; [lra | assert (E := exp_tangent t A); lra].
  - exists (- (1 / x)). assert (Y : 0 < 1 / x) by (apply Rmult_lt_0_compat; [lra | apply Rinv_0_lt_compat; exact X]).
    assert (E := exp_tangent (1 / x) Y). rewrite exp_Ropp.
    apply Rle_trans with (/ / x); [| right; field; lra].
    apply Rinv_le_contravar; [apply Rinv_0_lt_compat; exact X | unfold Rdiv in *; lra].
  - exists m. assert (E := exp_pos m). destruct (Rtotal_order (exp m) x) as [A|[A|A]]; [exfalso | exact A | exfalso].
    + set (h := (x - exp m) / x). assert (H : 1 - h = exp m / x) by (unfold h; field; lra).
      assert (Q : 0 < exp m / x) by (apply Rmult_lt_0_compat; [exact E | apply Rinv_0_lt_compat; exact X]).
      assert (P : 0 < h) by (unfold h; apply Rmult_lt_0_compat; [lra | apply Rinv_0_lt_compat; exact X]).
      assert (G := exp_geometric h ltac:(lra) ltac:(lra)). rewrite H in G.
      assert (K : exp (m + h) <= x).
      { rewrite exp_plus. apply Rle_trans with (exp m * (1 / (exp m / x))); [apply Rmult_le_compat_l; lra|].
        right. field. lra. }
      assert (F := U (m + h) K). lra.
    + set (h := (exp m - x) / exp m). assert (H : 1 - h = x / exp m) by (unfold h; field; lra).
      assert (Q : 0 < x / exp m) by (apply Rmult_lt_0_compat; [exact X | apply Rinv_0_lt_compat; exact E]).
      assert (P : 0 < h) by (unfold h; apply Rmult_lt_0_compat; [lra | apply Rinv_0_lt_compat; exact E]).
      assert (G := exp_geometric h ltac:(lra) ltac:(lra)). rewrite H in G.
      assert (K : x <= exp (m + - h)).
      { rewrite exp_plus, exp_Ropp. assert (Z := exp_pos h).
        apply Rmult_le_reg_r with (exp h); [exact Z|]. replace (exp m * / exp h * exp h) with (exp m) by (field; lra).
        apply Rle_trans with (x * (1 / (x / exp m))); [apply Rmult_le_compat_l; lra | right; field; lra]. }
      assert (F : m <= m + - h) by (apply L; intros t T; apply exp_order; lra). lra.
Qed.
(* The logarithm: the number whose exponential is x; 0 where there is none. *)
Definition ln (x : R) : R := match Rlt_dec 0 x with left P => proj1_sig (log_exists x P) | right _ => 0 end.
Lemma exp_ln (x : R) : 0 < x -> exp (ln x) = x.
Proof. intros X. unfold ln. destruct (Rlt_dec 0 x) as [P|P]; [exact (proj2_sig (log_exists x P)) | contradiction]. Qed.
Lemma ln_increasing (a b : R) : 0 < a -> a < b -> ln a < ln b.
Proof.
  intros A B. destruct (Rlt_or_le (ln a) (ln b)) as [L|L]; [exact L|]. apply exp_monotone in L. rewrite !exp_ln in L by lra. lra.
Qed.
Lemma ln_1 : ln 1 = 0.
Proof. apply Rle_antisym; apply exp_order; rewrite exp_ln, exp_0 by lra; lra. Qed.
"""
