"""Sums over the tokens of the Oja map, for whole derivations: ``y_i = x_i + (alpha/n) sum_k V x_k`` and ``r_i = |y_i|``."""

from __future__ import annotations

__all__ = ["OJA"]

OJA = r"""
Lemma total_by (n : Z) (c : R) (f : nat -> R) : total n (fun i => f i * c) = total n f * c.
Proof. rewrite (total_ext n _ (fun i => c * f i)) by (intros; ring). rewrite total_scale. ring. Qed.
Lemma total_product (n : Z) (f g : nat -> R) :
  total n f * total n g = total n (fun i => total n (fun j => f i * g j)).
Proof. rewrite <- total_by. apply total_ext. intros. rewrite total_scale. reflexivity. Qed.
Lemma dot_plus (d : Z) (u v w : vec) : dot d w (fun a => u a + v a) = dot d w u + dot d w v.
Proof. unfold dot. rewrite <- total_plus. apply total_ext. intros; ring. Qed.
Lemma dot_scale (d : Z) (c : R) (u w : vec) : dot d w (fun a => c * u a) = c * dot d w u.
Proof. unfold dot. rewrite <- total_scale. apply total_ext. intros; ring. Qed.
Lemma dot_total (n d : Z) (f : nat -> vec) (w : vec) :
  dot d w (fun a => total n (fun k => f k a)) = total n (fun k => dot d w (f k)).
Proof.
  unfold dot. rewrite total_swap. apply total_ext. intros a _. rewrite <- total_scale. reflexivity.
Qed.
Lemma dot_plus_l (d : Z) (u v w : vec) : dot d (fun a => u a + v a) w = dot d u w + dot d v w.
Proof. rewrite dot_sym, dot_plus, (dot_sym d w u), (dot_sym d w v). reflexivity. Qed.
Lemma dot_scale_l (d : Z) (c : R) (u w : vec) : dot d (fun a => c * u a) w = c * dot d u w.
Proof. rewrite dot_sym, dot_scale, (dot_sym d w u). reflexivity. Qed.
Lemma dot_total_l (n d : Z) (f : nat -> vec) (w : vec) :
  dot d (fun a => total n (fun k => f k a)) w = total n (fun k => dot d (f k) w).
Proof. rewrite dot_sym, dot_total. apply total_ext. intros k _. apply dot_sym. Qed.
(* Families of vectors. *)
Lemma sum_square (n d : Z) (s : nat -> vec) : 0 <= total n (fun j => total n (fun k => dot d (s j) (s k))).
Proof.
  assert (E : dot d (fun a => total n (fun j => s j a)) (fun a => total n (fun k => s k a))
    = total n (fun j => total n (fun k => dot d (s j) (s k)))).
  { rewrite dot_total_l. apply total_ext. intros j _. apply dot_total. }
  rewrite <- E. apply dot_nonneg.
Qed.
Lemma square_of_difference (d : Z) (u v : vec) :
  dot d u u + -2 * dot d u v + dot d v v = dot d (fun a => u a + -1 * v a) (fun a => u a + -1 * v a).
Proof.
  rewrite dot_plus_l, !dot_scale_l, !dot_plus, !dot_scale, (dot_sym d v u). ring.
Qed.
Lemma pairs_square (n d : Z) (s : nat -> vec) : (1 <= n)%Z ->
  0 <= 2 * IZR n * total n (fun j => dot d (s j) (s j)) + -2 * total n (fun j => total n (fun k => dot d (s j) (s k))).
Proof.
  intros N.
  assert (E : total n (fun j => total n (fun k => dot d (s j) (s j) + -2 * dot d (s j) (s k) + dot d (s k) (s k)))
    = 2 * IZR n * total n (fun j => dot d (s j) (s j)) + -2 * total n (fun j => total n (fun k => dot d (s j) (s k)))).
  { rewrite (total_ext n _ (fun j => IZR n * dot d (s j) (s j) + -2 * total n (fun k => dot d (s j) (s k))
      + total n (fun k => dot d (s k) (s k)))).
    - rewrite !total_plus, !total_scale, total_const by lia. ring.
    - intros j _. rewrite !total_plus, total_scale, total_const by lia. reflexivity. }
  rewrite <- E. apply total_nonneg. intros j _. apply total_nonneg. intros k _. rewrite square_of_difference. apply dot_nonneg.
Qed.
Lemma from_mean (n d : Z) (x : nat -> vec) (j : nat) : (1 <= n)%Z ->
  0 <= dot d (x j) (x j) + 1 / IZR n ^ 2 * total n (fun k => total n (fun l => dot d (x k) (x l)))
    + -2 / IZR n * total n (fun k => dot d (x j) (x k)).
Proof.
  intros N. assert (P : 0 < IZR n) by (apply IZR_lt; lia).
  assert (Q := dot_nonneg d (fun a => x j a + -1 * (1 / IZR n * total n (fun k => x k a)))).
  rewrite <- square_of_difference, dot_scale_l, !dot_scale, dot_total, dot_total_l in Q.
  rewrite (total_ext n (fun k => dot d (x k) (fun a => total n (fun l => x l a))) (fun k => total n (fun l => dot d (x
    k) (x l)))) in Q
    by (intros; apply dot_total).
  replace (1 / IZR n ^ 2) with (1 / IZR n * (1 / IZR n)) by (field; lra). replace (-2 / IZR n) with (-2 * (1 / IZR n))
    by (field; lra).
  lra.
Qed.

Definition oja_step (n d : Z) (V : mat) (alpha : R) (x : nat -> vec) (i : nat) : vec :=
  fun a => / pushed_norm n d V alpha x i * pushed n d V alpha x i a + -1 * x i a.
Section Oja.
Variables (n d : Z) (V : mat) (alpha : R) (x : nat -> vec).
Hypothesis n_pos : (1 <= n)%Z.
Hypothesis alpha_pos : 0 < alpha.
Hypothesis unit : forall i, within n i -> dot d (x i) (x i) = 1.
Hypothesis moved : forall i, within n i -> 0 < dot d (pushed n d V alpha x i) (pushed n d V alpha x i).
Local Notation y i := (pushed n d V alpha x i).
Local Notation r i := (pushed_norm n d V alpha x i).
Local Notation h i k := (dot d (x i) (image d V (x k))).
Local Notation m i := (total n (fun k => dot d (x i) (image d V (x k)))).
Local Notation Q := (total n (fun k => total n (fun l => dot d (x k) (image d (transposed V) (image d V (x l)))))).
Local Notation s i := (oja_step n d V alpha x i).
Lemma oja_size : 0 < IZR n. Proof using n_pos. apply IZR_lt. lia. Qed.
Lemma oja_norm i : within n i -> 0 < r i.
Proof. intros I. apply sqrt_lt_R0. apply moved. exact I. Qed.
Lemma oja_norm_square i : within n i -> dot d (y i) (y i) = r i ^ 2.
Proof. intros I. unfold pushed_norm. rewrite pow2_sqrt; [reflexivity | left; apply moved; exact I]. Qed.
Lemma oja_dot (u : vec) i : dot d u (y i) = dot d u (x i) + alpha / IZR n * total n (fun k => dot d u (image d V (x k))).
Proof. unfold pushed. rewrite dot_plus, dot_scale, dot_total. reflexivity. Qed.
Lemma oja_height i : within n i -> dot d (x i) (y i) = 1 + alpha / IZR n * total n (fun k => h i k).
Proof. intros I. rewrite oja_dot, unit by exact I. reflexivity. Qed.
Lemma oja_raw_square i : within n i ->
  dot d (y i) (y i) = 1 + alpha ^ 2 / IZR n ^ 2 * total n (fun k => total n (fun l => dot d (x k) (image d (transposed
    V) (image d V (x l)))))
    + 2 * alpha / IZR n * total n (fun k => h i k).
Proof.
  assert (N_pos := oja_size).
  intros I. rewrite oja_dot, (dot_sym d (y i)), oja_height by exact I.
  rewrite (total_ext n (fun k => dot d (y i) (image d V (x k)))
    (fun k => h i k + alpha / IZR n * total n (fun l => dot d (x k) (image d (transposed V) (image d V (x l)))))).
  - rewrite total_plus, total_scale. field. lra.
  - intros k _. rewrite dot_sym, oja_dot, (dot_sym d _ (x i)). f_equal. f_equal. apply total_ext. intros l _.
    rewrite dot_image_T. reflexivity.
Qed.
Lemma oja_swap : Symmetric d V ->
  total n (fun j => total n (fun k => dot d (x j) (image d V (y k)) * / r k))
  = total n (fun j => total n (fun k => dot d (y j) (image d V (x k)) * / r j)).
Proof.
  intros S. rewrite total_swap. apply total_ext. intros k _. apply total_ext. intros j _.
  rewrite (dot_symmetric d V (x j) (y k) S). reflexivity.
Qed.
Lemma oja_push : total n (fun j => total n (fun k => dot d (y j) (image d V (x k)) * / r j))
  = IZR n / alpha * (total n (fun j => dot d (y j) (y j) * / r j) + -1 * total n (fun j => dot d (x j) (y j) * / r j)).
Proof.
  assert (N_pos := oja_size).
  rewrite <- total_scale, <- total_plus, <- total_scale. apply total_ext. intros j _.
  rewrite total_by, (oja_dot (y j) j), (dot_sym d (y j) (x j)).
  set (K := total n (fun k => dot d (y j) (image d V (x k)))). set (z := dot d (x j) (y j)). set (m := / r j). field. lra.
Qed.
Lemma oja_pull : total n (fun j => total n (fun k => dot d (x j) (image d V (x k))))
  = IZR n / alpha * (total n (fun j => dot d (x j) (y j)) + -1 * total n (fun j => dot d (x j) (x j))).
Proof.
  assert (N_pos := oja_size).
  rewrite <- total_scale, <- total_plus, <- total_scale. apply total_ext. intros j _. rewrite oja_dot. field. lra.
Qed.
Lemma oja_weights : total n (fun j => dot d (x j) (x j) * r j) = total n (fun j => dot d (y j) (y j) * / r j).
Proof.
  assert (N_pos := oja_size).
  apply total_ext. intros j J. rewrite unit, oja_norm_square by exact J. assert (P := oja_norm j J). field. lra.
Qed.
Lemma oja_squares : total n (fun j => dot d (y j) (y j) * / (r j ^ 2)) = total n (fun j => dot d (x j) (x j)).
Proof.
  assert (N_pos := oja_size).
  apply total_ext. intros j J. rewrite unit, oja_norm_square by exact J. assert (P := oja_norm j J). field. lra.
Qed.
Lemma oja_count : total n (fun j => dot d (x j) (x j)) = IZR n.
Proof. rewrite (total_ext n _ (fun _ => 1)) by exact unit. rewrite total_const by lia. ring. Qed.
Lemma oja_step_dot i j :
  dot d (s i) (s j) = dot d (y i) (y j) * / r i * / r j + -1 * (dot d (x j) (y i) * / r i) + -1 * (dot d (x i) (y j) * / r j)
    + dot d (x i) (x j).
Proof.
  unfold oja_step. rewrite dot_plus_l, !dot_scale_l, !dot_plus, !dot_scale, (dot_sym d (y i) (x j)). ring.
Qed.
Lemma oja_steps : total n (fun i => dot d (s i) (s i))
  = total n (fun i => dot d (x i) (x i)) + -2 * total n (fun i => dot d (x i) (y i) * / r i)
    + total n (fun i => dot d (y i) (y i) * / (r i ^ 2)).
Proof.
  assert (N_pos := oja_size).
  rewrite <- total_scale, <- !total_plus. apply total_ext. intros i I. rewrite oja_step_dot. assert (P := oja_norm i
    I). field. lra.
Qed.
Lemma oja_step_pairs : total n (fun i => total n (fun j => dot d (s i) (s j)))
  = total n (fun i => total n (fun j => dot d (x i) (x j))) + -2 * total n (fun i => total n (fun j => dot d (x i) (y
    j) * / r j))
    + total n (fun i => total n (fun j => dot d (y i) (y j) * / r i * / r j)).
Proof.
  rewrite (total_ext n _ (fun i => total n (fun j => dot d (y i) (y j) * / r i * / r j) + -1 * total n (fun j => dot d
    (x j) (y i) * / r i)
    + -1 * total n (fun j => dot d (x i) (y j) * / r j) + total n (fun j => dot d (x i) (x j)))).
  - rewrite !total_plus, !total_scale. rewrite (total_swap n n (fun i j => dot d (x j) (y i) * / r i)). ring.
  - intros i _. rewrite <- !total_scale, <- !total_plus. apply total_ext. intros j _. apply oja_step_dot.
Qed.
Lemma oja_steps_square : 0 <= total n (fun i => dot d (x i) (x i)) + -2 * total n (fun i => dot d (x i) (y i) * / r i)
    + total n (fun i => dot d (y i) (y i) * / (r i ^ 2)).
Proof. rewrite <- oja_steps. apply total_nonneg. intros. apply dot_nonneg. Qed.
Lemma oja_mean_square : 0 <= total n (fun i => total n (fun j => dot d (x i) (x j)))
  + -2 * total n (fun i => total n (fun j => dot d (x i) (y j) * / r j)) + total n (fun i => total n (fun j => dot d (y
    i) (y j) * / r i * / r j)).
Proof. rewrite <- oja_step_pairs. apply sum_square. Qed.
Lemma oja_pairs_square : 0 <=
  2 * IZR n * (total n (fun i => dot d (x i) (x i)) + -2 * total n (fun i => dot d (x i) (y i) * / r i)
    + total n (fun i => dot d (y i) (y i) * / (r i ^ 2)))
  + -2 * (total n (fun i => total n (fun j => dot d (x i) (x j))) + -2 * total n (fun i => total n (fun j => dot d (x
    i) (y j) * / r j))
    + total n (fun i => total n (fun j => dot d (y i) (y j) * / r i * / r j))).
Proof. rewrite <- oja_steps, <- oja_step_pairs. apply pairs_square. exact n_pos. Qed.
(* A family f that is the step: f_i = y_i / r_i - x_i. *)
Lemma oja_named (f : nat -> vec) i :
  within n i -> (forall z : vec, -1 * dot d z (x i) + dot d z (y i) * / r i = dot d z (f i)) ->
  dot d (f i) (f i) = dot d (x i) (x i) + -2 * (dot d (x i) (y i) * / r i) + dot d (y i) (y i) * / (r i ^ 2).
Proof.
  assert (N_pos := oja_size).
  intros I F. assert (P := oja_norm i I). rewrite <- F, (dot_sym d (f i) (x i)), (dot_sym d (f i) (y i)), <- !F,
    (dot_sym d (y i) (x i)).
  field. lra.
Qed.
Lemma oja_named_plain (f : nat -> vec) :
  (forall i, within n i -> forall z : vec, -1 * dot d z (x i) + dot d z (y i) * / r i = dot d z (f i)) ->
  total n (fun i => dot d (f i) (f i)) = total n (fun i => dot d (x i) (x i)) + -2 * total n (fun i => dot d (x i) (y
    i) * / r i)
    + total n (fun i => dot d (y i) (y i) * / (r i ^ 2)).
Proof.
  intros F. rewrite <- total_scale, <- !total_plus. apply total_ext. intros i I. apply oja_named; [exact I | exact (F i I)].
Qed.
Lemma oja_named_weighted (f : nat -> vec) :
  (forall i, within n i -> forall z : vec, -1 * dot d z (x i) + dot d z (y i) * / r i = dot d z (f i)) ->
  total n (fun i => dot d (f i) (f i) * r i) = total n (fun i => dot d (x i) (x i) * r i) + -2 * total n (fun i => dot
    d (x i) (y i))
    + total n (fun i => dot d (y i) (y i) * / r i).
Proof.
  assert (N_pos := oja_size).
  intros F. rewrite <- total_scale, <- !total_plus. apply total_ext. intros i I. rewrite (oja_named f i I (F i I)).
  assert (P := oja_norm i I). field. lra.
Qed.
(* The push u = (1/n) sum_k V x_k, across a token. *)
Lemma oja_across i (g : vec) :
  (forall z : vec, -1 / IZR n * total n (fun k => dot d z (x i) * h i k) + 1 / IZR n * total n (fun k => dot d z (image
    d V (x k)))
    = dot d z g) ->
  dot d g g = 1 / IZR n ^ 2 * Q + 1 / IZR n ^ 2 * total n (fun k => total n (fun l => dot d (x i) (x i) * h i k * h i l))
    + -2 / IZR n ^ 2 * total n (fun k => total n (fun l => h i k * h i l)).
Proof.
  assert (N_pos := oja_size).
  intros G.
  assert (G' : forall z, dot d z g = 1 / IZR n * (total n (fun k => dot d z (image d V (x k))) + -1 * (dot d z (x i) * m i))).
  { intros z. rewrite <- G, total_scale. field. lra. }
  assert (A : total n (fun k => dot d g (image d V (x k))) = 1 / IZR n * (Q + -1 * (m i * m i))).
  { rewrite (total_ext n _ (fun k => 1 / IZR n * (total n (fun l => dot d (x k) (image d (transposed V) (image d V (x l))))
      + -1 * (h i k * m i)))).
    - rewrite total_scale, total_plus, total_scale, total_by. reflexivity.
    - intros k _. rewrite dot_sym, G', (dot_sym d _ (x i)). f_equal. f_equal. apply total_ext. intros l _.
      rewrite dot_image_T. reflexivity. }
  assert (B : dot d g (x i) = 1 / IZR n * (m i + -1 * (dot d (x i) (x i) * m i))).
  { rewrite dot_sym, G'. reflexivity. }
  rewrite (total_ext n (fun k => total n (fun l => dot d (x i) (x i) * h i k * h i l)) (fun k => dot d (x i) (x i) *
    total n (fun l => h i k * h i l)))
    by (intros; rewrite <- total_scale; apply total_ext; intros; ring).
  rewrite total_scale, <- total_product, G', A, B. field. lra.
Qed.
Lemma oja_across_square i : 0 <= 1 / IZR n ^ 2 * Q + 1 / IZR n ^ 2 * total n (fun k => total n (fun l => dot d (x i) (x
  i) * h i k * h i l))
    + -2 / IZR n ^ 2 * total n (fun k => total n (fun l => h i k * h i l)).
Proof.
  assert (N_pos := oja_size).
  rewrite <- (oja_across i (fun a => 1 / IZR n * total n (fun k => image d V (x k) a) + (-1 / IZR n * m i) * x i a)).
  - apply dot_nonneg.
  - intros z. rewrite dot_plus, !dot_scale, dot_total, total_scale.
    change (fun k => dot d z (fun a => image d V (x k) a)) with (fun k => dot d z (image d V (x k))). field. lra.
Qed.
Lemma oja_across_unit i : within n i ->
  total n (fun k => total n (fun l => dot d (x i) (x i) * h i k * h i l)) = total n (fun k => total n (fun l => h i k * h i l)).
Proof. intros I. apply total_ext. intros. apply total_ext. intros. rewrite unit by exact I. ring. Qed.
Lemma oja_across_total (g : nat -> vec) :
  (forall i, within n i -> forall z : vec,
    -1 / IZR n * total n (fun k => dot d z (x i) * h i k) + 1 / IZR n * total n (fun k => dot d z (image d V (x k))) =
      dot d z (g i)) ->
  total n (fun i => dot d (g i) (g i)) = 1 / IZR n * Q + 1 / IZR n ^ 2 * total n (fun i => total n (fun k => total n (fun l =>
    dot d (x i) (x i) * h i k * h i l))) + -2 / IZR n ^ 2 * total n (fun i => total n (fun k => total n (fun l => h i k
      * h i l))).
Proof.
  assert (N_pos := oja_size).
  intros G. rewrite (total_ext n _ _ (fun i I => oja_across i (g i) (G i I))), !total_plus, !total_scale, total_const
    by lia. field. lra.
Qed.
Lemma oja_product i : (1 / IZR n * total n (fun k => h i k)) ^ 2 = 1 / IZR n ^ 2 * total n (fun k => total n (fun l =>
  h i k * h i l)).
Proof. assert (N_pos := oja_size). rewrite <- total_product. field. lra. Qed.
End Oja.
(* Sums over the tokens of the Oja map, by the lemmas above. *)
Ltac fed K := repeat match type of K with ?P -> _ => let F := fresh in assert (F : P) by assumption; specialize (K F);
  clear F end.
Ltac by_bound bound := let K := fresh in assert (K := bound); fed K; match type of K with ?a <= ?b =>
  match goal with |- ?u <= ?v => refine (same_le a b u v _ _ K) end end.
Ltac in_fractions := first [ring | (field; conjuncts; assumption)].
Ltac of_the_map := match goal with
  | N : (1 <= ?n)%Z, A : 0 < ?al, U : (forall i, within ?n i -> dot ?d (?x i) (?x i) = 1),
    M : (forall i, within ?n i -> 0 < dot ?d (pushed ?n ?d ?V ?al ?x i) _) |- _ =>
    let P := fresh in assert (P : IZR n <> 0) by (apply Rgt_not_eq, IZR_lt; lia);
    let B := fresh in assert (B : al <> 0) by (apply Rgt_not_eq; exact A);
    conjuncts; first
    [ (apply (oja_norm n d V al x); assumption)
    | (rewrite (oja_norm_square n d V al x) by assumption; in_fractions)
    | (rewrite (oja_height n d V al x) by assumption; in_fractions)
    | (rewrite (oja_raw_square n d V al x) by assumption; in_fractions)
    | (rewrite (oja_swap n d V al x) by assumption; in_fractions)
    | (rewrite (oja_across_unit n d V x) by assumption; in_fractions)
    | (rewrite (oja_count n d x) by assumption; in_fractions)
    | (rewrite (oja_product n d V x) by assumption; in_fractions)
    | (rewrite U by assumption; in_fractions)
    | (by_bound (oja_steps_square n d V al x); in_fractions)
    | (by_bound (oja_pairs_square n d V al x); in_fractions)
    | (let K := fresh in assert (K := oja_mean_square n d V al x); apply (Rmult_le_compat_l (1 / IZR n ^ 2)) in K;
       [ | apply Rlt_le, Rmult_lt_0_compat; [exact Rlt_0_1 | apply Rinv_0_lt_compat, pow_lt, IZR_lt; lia]];
       by_bound K; in_fractions)
    | (match goal with |- context [dot d (x ?i) (x ?i) * _ * _] => by_bound (oja_across_square n d V x N i); in_fractions end)
    | (match goal with |- context [total n (fun k => dot d (x k) (x ?j))] => by_bound (from_mean n d x j N);
        rewrite ?(total_ext n (fun k => dot d (x j) (x k)) (fun k => dot d (x k) (x j)) (fun k _ => dot_sym d (x j) (x k)));
        in_fractions end)
    | (match goal with F : (forall i, within n i -> forall z : vec, _ = dot d z (?f i)) |- _ => first
        [ (rewrite (oja_named_plain n d V al x) with (f := f) by assumption; in_fractions)
        | (rewrite (oja_named_weighted n d V al x) with (f := f) by assumption; in_fractions)
        | (rewrite (oja_across_total n d V x) with (g := f) by assumption; in_fractions) ] end)
    | (try rewrite (oja_pull n d V al x) by assumption; try rewrite (oja_push n d V al x) by assumption;
       in_fractions)
    | (rewrite (oja_weights n d V al x), (oja_squares n d V al x) by assumption; in_fractions) ] end.
"""
