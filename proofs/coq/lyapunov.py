"""Scalar lemmas of the Lyapunov function of the Oja map, proved by hand: the increment, token by token, and its rate."""

from __future__ import annotations

__all__ = ["LYAPUNOV"]

LYAPUNOV = r"""
(* The increment of W: plain = sum |s_i|^2, weighted = sum r_i |s_i|^2, mean the square of the mean of s, spread of the s_i. *)
Lemma fall_parts (al n W g form plain weighted mean spread low : R) :
  0 < al -> 1 <= n -> W = - form / 2 + - g -> al * n * g = (plain + weighted) / 2 ->
  - mean + plain / n = spread / (2 * n ^ 2) -> 0 <= spread -> 0 <= plain -> 0 <= mean -> low * mean <= form ->
  forall L : R, 0 <= L -> - low <= L -> W <= (plain * L + - (plain + weighted) / al) / (2 * n).
Proof.
  intros A N E G S S0 P0 M0 F L L0 LL.
  assert (B : mean <= plain / n).
  { assert (0 <= spread / (2 * n ^ 2)) by (apply Rmult_le_pos; [exact S0 | left; apply Rinv_0_lt_compat; nra]). lra. }
  assert (C : - form <= L * (plain / n)).
  { assert (- low * mean <= L * mean) by (apply Rmult_le_compat_r; assumption).
    assert (L * mean <= L * (plain / n)) by (apply Rmult_le_compat_l; assumption). lra. }
  assert (D : g = (plain + weighted) / (2 * al * n)).
  { replace (plain + weighted) with (2 * (al * n * g)) by lra. field. lra. }
  replace ((plain * L + - (plain + weighted) / al) / (2 * n)) with (L * (plain / n) / 2 + - ((plain + weighted) / (2 * al *
    n))) by (field; lra).
  rewrite <- D. lra.
Qed.
Lemma fall_short (al n W plain weighted L : R) :
  0 < al -> 1 <= n -> 0 <= plain -> al * L <= 1 -> W <= (plain * L + - (plain + weighted) / al) / (2 * n) ->
  W <= - weighted / (2 * al * n).
Proof.
  intros A N P S W0. apply Rle_trans with (1 := W0).
  apply Rminus_le. replace ((plain * L + - (plain + weighted) / al) / (2 * n) - - weighted / (2 * al * n))
    with (- (plain * (1 - al * L) / (2 * al * n))) by (field; lra).
  assert (0 <= plain * (1 - al * L) / (2 * al * n)); [|lra].
  apply Rmult_le_pos; [apply Rmult_le_pos; lra | left; apply Rinv_0_lt_compat; nra].
Qed.
(* Each token by itself. *)
Lemma fall_token (r a s c l : R) :
  0 < s -> 0 < r -> a <= r -> - r <= a -> 0 <= c -> c < 1 -> 1 + - c <= r -> r <= 1 + c -> 0 <= l -> l * s <= c ->
  (2 * r ^ 2 + -2 * a ^ 2) / s <= (1 + c) ^ 2 * ((1 + r) / s + - l) * (2 * r + -2 * a) / r.
Proof.
  intros S R A A' C C' LO HI L LS.
  assert (X : 0 <= (1 + c) ^ 2 * (1 + r - l * s) - r * (r + a)).
  { assert (X1 : 0 <= (c - l * s) * (1 + c) ^ 2) by (apply Rmult_le_pos; nra).
    assert (X2 : 0 <= r * (r - a)) by (apply Rmult_le_pos; lra).
    assert (X3 : 0 <= r * (1 + c) * (1 + c - r)) by (apply Rmult_le_pos; [apply Rmult_le_pos|]; lra).
    assert (X4 : 0 <= (1 - c) * ((1 + c - r) * (1 + c + r))) by (apply Rmult_le_pos; [lra | apply Rmult_le_pos; lra]). nra. }
  apply Rminus_le.
  replace ((2 * r ^ 2 + -2 * a ^ 2) / s - (1 + c) ^ 2 * ((1 + r) / s + - l) * (2 * r + -2 * a) / r)
    with (- (2 * (r - a) * ((1 + c) ^ 2 * (1 + r - l * s) - r * (r + a)) / (s * r))) by (field; lra).
  assert (0 <= 2 * (r - a) * ((1 + c) ^ 2 * (1 + r - l * s) - r * (r + a)) / (s * r)); [|lra].
  apply Rmult_le_pos; [apply Rmult_le_pos; lra | left; apply Rinv_0_lt_compat; nra].
Qed.
Lemma fall_size (s y e r a : R) : s = 1 + y * e ^ 2 + -2 * a * e -> r <> 0 -> e = 1 / r -> y = r ^ 2 -> s = (2 * r + -2 *
    a) / r.
Proof. intros -> R -> ->. field. exact R. Qed.
Lemma fall_lower (al N w y m : R) :
  0 < al -> y = 1 + 2 * al * m + w * al ^ 2 -> m ^ 2 <= w -> - N <= m -> al * N < 1 -> (1 + - (al * N)) ^ 2 <= y.
Proof.
  intros A -> W L S. assert (0 <= (w - m ^ 2) * al ^ 2) by (apply Rmult_le_pos; nra).
  assert (0 <= al * (N + m)) by (apply Rmult_le_pos; lra). assert (P : 0 < 1 - al * N) by lra. nra.
Qed.
Lemma fall_low (al l N : R) : 0 < al -> Rabs l <= N -> al * Rmax 0 (- l) <= al * N.
Proof.
  intros A L. apply Rmult_le_compat_l; [lra|]. assert (P := Rabs_pos l). assert (Q := Rle_abs (- l)). rewrite Rabs_Ropp in Q.
  apply Rmax_lub; lra.
Qed.
Lemma fall_together (al t p c s r a L : R) :
  0 < al -> r <> 0 -> (2 * r ^ 2 + -2 * a ^ 2) / al <= (1 + al * c) ^ 2 * ((1 + r) / al + - L) * (2 * r + -2 * a) / r ->
  p = 2 * r + -2 * a -> s = (2 * r + -2 * a) / r -> t * al ^ 2 = r ^ 2 + - a ^ 2 ->
  2 * al * t <= p * (1 + al * c) ^ 2 / al + s * (1 + al * c) ^ 2 * (1 / al + - L).
Proof.
  intros A R H -> -> T.
  replace (2 * al * t) with ((2 * r ^ 2 + -2 * a ^ 2) / al)
    by (replace (2 * r ^ 2 + -2 * a ^ 2) with (2 * (t * al ^ 2)) by lra; field; lra).
  replace ((2 * r + -2 * a) * (1 + al * c) ^ 2 / al + (2 * r + -2 * a) / r * (1 + al * c) ^ 2 * (1 / al + - L))
    with ((1 + al * c) ^ 2 * ((1 + r) / al + - L) * (2 * r + -2 * a) / r) by (field; lra). exact H.
Qed.
Lemma fall_rate (al n W plain weighted L c t : R) :
  0 < al -> 1 <= n -> 0 <= c -> W <= (plain * L + - (plain + weighted) / al) / (2 * n) ->
  2 * al * t <= weighted * (1 + al * c) ^ 2 / al + plain * (1 + al * c) ^ 2 * (1 / al + - L) ->
  W <= - (al * t) / (n * (1 + al * c) ^ 2).
Proof.
  intros A N C W0 T. apply Rle_trans with (1 := W0). assert (P : 0 < 1 + al * c) by nra.
  apply Rminus_le.
  replace ((plain * L + - (plain + weighted) / al) / (2 * n) - - (al * t) / (n * (1 + al * c) ^ 2))
    with (- ((weighted * (1 + al * c) ^ 2 / al + plain * (1 + al * c) ^ 2 * (1 / al + - L) - 2 * al * t) / (2 * n * (1 + al
    * c) ^ 2)))
    by (field; lra).
  assert (0 <= (weighted * (1 + al * c) ^ 2 / al + plain * (1 + al * c) ^ 2 * (1 / al + - L) - 2 * al * t) / (2 * n * (1 +
    al * c) ^ 2)); [|lra].
  apply Rmult_le_pos; [lra | left; apply Rinv_0_lt_compat, Rmult_lt_0_compat; [lra | apply pow_lt; exact P]].
Qed.
Lemma fall_printed (w p c : R) : 0 <= c -> 0 <= p -> w <= - p / (1 + c) ^ 2 -> w <= - (p * (1 + -2 * c)).
Proof.
  intros C P W. apply Rle_trans with (1 := W). apply Rminus_le.
  replace (- p / (1 + c) ^ 2 - - (p * (1 + -2 * c))) with (- (p * (c ^ 2 * (3 + 2 * c)) / (1 + c) ^ 2)) by (field; lra).
  assert (0 <= p * (c ^ 2 * (3 + 2 * c)) / (1 + c) ^ 2); [|lra].
  apply Rmult_le_pos; [apply Rmult_le_pos; nra | left; apply Rinv_0_lt_compat; nra].
Qed.
Lemma fall_share (al t n : R) : 0 < al -> 1 <= n -> 0 <= t -> 0 <= al * t / n.
Proof. intros. apply Rmult_le_pos; [nra | left; apply Rinv_0_lt_compat; lra]. Qed.
Ltac falls := match goal with
  | G : _ = ?al * ?n * ?g, F : ?l * ?m <= ?f, S : _ = ?w / (2 * ?n ^ 2)
    |- ?W <= (?P * Rmax 0 (- ?l) + - (?P + ?T) / ?al) / (2 * ?n) =>
      apply (fall_parts al n W g f P T m w l); first [assumption | apply Rmax_l | apply Rmax_r | lra]
  | G : _ = ?al * ?n * ?g, F : ?l * ?m <= ?f, S : _ = ?w / (2 * ?n ^ 2), E : _ = ?P + ?T |- ?W <= - ?T / (2 * ?al * ?n) =>
      first [ (apply (fall_short al n W P T 0); [lra | lra | lra | lra | ];
               apply (fall_parts al n W g f P T m w l); first [assumption | lra])
            | (apply (fall_short al n W P T (Rabs l)); [lra | lra | lra | lra | ];
               assert (Q := Rle_abs (- l)); rewrite Rabs_Ropp in Q;
               apply (fall_parts al n W g f P T m w l); first [assumption | apply Rabs_pos | lra]) ]
  | |- _ / _ <= _ / _ => apply fall_token; assumption
  | S : ?s = 1 + ?y * ?e ^ 2 + -2 * ?a * ?e, E : ?e = 1 / ?r, Y : ?y = ?r ^ 2, D : ?r <> 0 |- _ =>
      first [ exact (fall_size s y e r a S D E Y)
            | (match goal with P : ?p = r * s |- ?p = _ => rewrite P, (fall_size s y e r a S D E Y); field; exact D end) ]
  | |- _ ^ 2 <= _ => eapply fall_lower; eassumption
  | |- _ * Rmax 0 _ <= _ => apply fall_low; assumption
  | |- 2 * _ * _ <= _ => eapply fall_together; eassumption
  | H : ?u <= ?v, E : ?v = _, F : ?u = 2 * _ * _ |- _ => rewrite E, F in H; eapply fall_rate; eassumption
  | |- _ <= - (_ * _) => apply fall_printed; assumption
  | |- 0 <= _ * _ / _ => apply fall_share; assumption
  end.
"""
