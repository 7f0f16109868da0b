"""The Coq library of whole derivations: finite sums, vectors and matrices over the reals, and what the scripts use of them.

Tokens, heads and coordinates are natural numbers below n, H and d, counted from 0 in Coq; n, d and all integer letters of the
book are integers of Coq.  A vector is a function ``nat -> R``, a matrix ``nat -> nat -> R``: only the entries in range matter.
"""

from __future__ import annotations

from eigentoken.proofs.coq.bipartite import BIPARTITE
from eigentoken.proofs.coq.by_hand import BY_HAND
from eigentoken.proofs.coq.logarithm import LOGARITHM
from eigentoken.proofs.coq.lyapunov import LYAPUNOV
from eigentoken.proofs.coq.oja import OJA

__all__ = ["LIBRARY"]

LIBRARY = (
    r"""From Coq Require Import ZArith Lia Nsatz.
From Coq Require Import Reals Lra Psatz.
Open Scope R_scope.

Fixpoint sum (m : nat) (f : nat -> R) : R := match m with O => 0 | S k => sum k f + f k end.
(* i is one of 0, ..., n - 1 *)
Definition within (n : Z) (i : nat) : Prop := (i < Z.to_nat n)%nat.
Definition total (n : Z) (f : nat -> R) : R := sum (Z.to_nat n) f.
Definition Given (P : Prop) : Prop := P.
Definition vec := nat -> R.
Definition mat := nat -> nat -> R.
Definition dot (d : Z) (u v : vec) : R := total d (fun a => u a * v a).
Definition image (d : Z) (M : mat) (u : vec) : vec := fun a => total d (fun b => M a b * u b).
Definition transposed (M : mat) : mat := fun a b => M b a.
Definition mat_product (d : Z) (A B : mat) : mat := fun a b => total d (fun c => A a c * B c b).
Definition mat_sum (A B : mat) : mat := fun a b => A a b + B a b.
Definition mat_scaled (c : R) (A : mat) : mat := fun a b => c * A a b.
Definition mat_identity : mat := fun a b => if Nat.eqb a b then 1 else 0.
Definition mat_zero : mat := fun _ _ => 0.
Definition equal_mat (d : Z) (A B : mat) : Prop := forall a b, within d a -> within d b -> A a b = B a b.
Definition Symmetric (d : Z) (M : mat) : Prop := equal_mat d M (transposed M).
Definition PositiveDefinite (d : Z) (M : mat) : Prop := forall z : vec, 0 < dot d z z -> 0 < dot d z (image d M z).
Definition PositiveSemidefinite (d : Z) (M : mat) : Prop := forall z : vec, 0 < dot d z z -> 0 <= dot d z (image d M z).
Definition NegativeDefinite (d : Z) (M : mat) : Prop := forall z : vec, 0 < dot d z z -> dot d z (image d M z) < 0.
Definition Nonsingular (d : Z) (M : mat) : Prop :=
  forall z : vec, 0 < dot d z z -> 0 < dot d (image d M z) (image d M z).
(* The Oja map: what it makes of a token before it is scaled to length 1, and the norm of that. *)
Definition pushed (n d : Z) (V : mat) (alpha : R) (x : nat -> vec) (i : nat) : vec :=
  fun a => x i a + alpha / IZR n * total n (fun k => image d V (x k) a).
Definition pushed_norm (n d : Z) (V : mat) (alpha : R) (x : nat -> vec) (i : nat) : R :=
  sqrt (dot d (pushed n d V alpha x i) (pushed n d V alpha x i)).

Lemma within_first (n : Z) : (1 <= n)%Z -> within n 0.
Proof. unfold within. lia. Qed.
Lemma sum_ext (m : nat) (f g : nat -> R) : (forall i, (i < m)%nat -> f i = g i) -> sum m f = sum m g.
Proof.
  induction m as [|m IH]; intros E; simpl; [reflexivity|].
  rewrite (E m) by lia. rewrite IH; [reflexivity|]. intros i I. apply E. lia.
Qed.
Lemma total_ext (n : Z) (f g : nat -> R) : (forall i, within n i -> f i = g i) -> total n f = total n g.
Proof. apply sum_ext. Qed.
Lemma sum_plus (m : nat) (f g : nat -> R) : sum m (fun i => f i + g i) = sum m f + sum m g.
Proof. induction m as [|m IH]; simpl; [ring | rewrite IH; ring]. Qed.
Lemma total_plus (n : Z) (f g : nat -> R) : total n (fun i => f i + g i) = total n f + total n g.
Proof. apply sum_plus. Qed.
Lemma sum_scale (m : nat) (c : R) (f : nat -> R) : sum m (fun i => c * f i) = c * sum m f.
Proof. induction m as [|m IH]; simpl; [ring | rewrite IH; ring]. Qed.
Lemma total_scale (n : Z) (c : R) (f : nat -> R) : total n (fun i => c * f i) = c * total n f.
Proof. apply sum_scale. Qed.
Lemma total_opp (n : Z) (f : nat -> R) : total n (fun i => - f i) = - total n f.
Proof.
  rewrite (total_ext n _ (fun i => (-1) * f i)) by (intros; ring). rewrite total_scale. ring.
Qed.
Lemma total_const (n : Z) (c : R) : (0 <= n)%Z -> total n (fun _ => c) = IZR n * c.
Proof.
  intros P. unfold total. rewrite <- (Z2Nat.id n P) at 2. generalize (Z.to_nat n). intros m.
  induction m as [|m IH]; [simpl; ring|]. rewrite Nat2Z.inj_succ, succ_IZR. simpl. rewrite IH. ring.
Qed.
Lemma sum_ge (m : nat) (f g : nat -> R) : (forall i, (i < m)%nat -> f i <= g i) -> sum m f <= sum m g.
Proof.
  induction m as [|m IH]; intros E; simpl; [lra|].
  assert (A := E m (Nat.lt_succ_diag_r m)). assert (B : sum m f <= sum m g) by (apply IH; intros i I; apply E; lia). lra.
Qed.
Lemma total_le (n : Z) (f g : nat -> R) : (forall i, within n i -> f i <= g i) -> total n f <= total n g.
Proof. apply sum_ge. Qed.
Lemma sum_zero (m : nat) : sum m (fun _ => 0) = 0.
Proof. induction m as [|m IH]; simpl; [reflexivity | rewrite IH; ring]. Qed.
Lemma total_nonneg (n : Z) (f : nat -> R) : (forall i, within n i -> 0 <= f i) -> 0 <= total n f.
Proof. intros E. rewrite <- (sum_zero (Z.to_nat n)). apply sum_ge. exact E. Qed.
Lemma sum_term (m j : nat) (f : nat -> R) : (j < m)%nat -> (forall i, (i < m)%nat -> 0 <= f i) -> f j <= sum m f.
Proof.
  induction m as [|m IH]; intros J E; [lia|]. simpl.
  assert (L := E m (Nat.lt_succ_diag_r m)).
  assert (S : 0 <= sum m f) by (rewrite <- (sum_zero m); apply sum_ge; intros i I; apply E; lia).
  destruct (Nat.eq_dec j m) as [->|N]; [lra|].
  assert (f j <= sum m f) by (apply IH; [lia | intros i I; apply E; lia]). lra.
Qed.
Lemma total_term (n : Z) (j : nat) (f : nat -> R) :
  within n j -> (forall i, within n i -> 0 <= f i) -> f j <= total n f.
Proof. intros J E. apply sum_term; assumption. Qed.
Lemma sum_pos_terms (m : nat) (f : nat -> R) : (0 < m)%nat -> (forall i, (i < m)%nat -> 0 < f i) -> 0 < sum m f.
Proof.
  induction m as [|m IH]; intros M E; [lia|]. simpl. assert (L := E m (Nat.lt_succ_diag_r m)).
  destruct m as [|m]; [simpl in *; lra|].
  assert (0 < sum (S m) f) by (apply IH; [lia | intros i I; apply E; lia]). lra.
Qed.
Lemma total_pos (n : Z) (f : nat -> R) : (1 <= n)%Z -> (forall i, within n i -> 0 < f i) -> 0 < total n f.
Proof. intros P E. apply sum_pos_terms; [lia | exact E]. Qed.
Lemma sum_swap (m k : nat) (f : nat -> nat -> R) :
  sum m (fun i => sum k (fun j => f i j)) = sum k (fun j => sum m (fun i => f i j)).
Proof.
  induction m as [|m IH]; simpl; [symmetry; apply sum_zero|]. rewrite IH, <- sum_plus. reflexivity.
Qed.
Lemma total_swap (m k : Z) (f : nat -> nat -> R) :
  total m (fun i => total k (fun j => f i j)) = total k (fun j => total m (fun i => f i j)).
Proof. apply sum_swap. Qed.
Lemma dot_sym (d : Z) (u v : vec) : dot d u v = dot d v u.
Proof. apply total_ext. intros; ring. Qed.
Lemma dot_nonneg (d : Z) (u : vec) : 0 <= dot d u u.
Proof. apply total_nonneg. intros. nra. Qed.
Lemma dot_ext (d : Z) (u v u' v' : vec) :
  (forall a, within d a -> u a = u' a) -> (forall a, within d a -> v a = v' a) -> dot d u v = dot d u' v'.
Proof. intros E F. apply total_ext. intros a A. rewrite E, F by exact A. reflexivity. Qed.
Lemma dot_image (d : Z) (M : mat) (u v : vec) : dot d u (image d M v) = dot d (image d (transposed M) u) v.
Proof.
  unfold dot, image, transposed.
  rewrite (total_ext d _ (fun a => total d (fun b => u a * (M a b * v b))))
    by (intros; rewrite total_scale; reflexivity).
  rewrite total_swap. apply total_ext. intros b _. rewrite Rmult_comm, <- total_scale.
  apply total_ext. intros; ring.
Qed.
Lemma image_symmetric (d : Z) (M : mat) (u : vec) (a : nat) :
  Symmetric d M -> within d a -> image d (transposed M) u a = image d M u a.
Proof. intros S A. apply total_ext. intros b B. unfold transposed. rewrite (S a b A B). reflexivity. Qed.
Lemma dot_symmetric (d : Z) (M : mat) (u v : vec) :
  Symmetric d M -> dot d u (image d M v) = dot d v (image d M u).
Proof.
  intros S. rewrite dot_image, dot_sym. apply dot_ext; [reflexivity|]. intros a A. apply image_symmetric; assumption.
Qed.
Lemma image_product (d : Z) (A B : mat) (u : vec) (a : nat) :
  image d (mat_product d A B) u a = image d A (image d B u) a.
Proof.
  unfold image, mat_product.
  rewrite (total_ext d _ (fun b => total d (fun c => A a c * (B c b * u b))))
    by (intros; rewrite Rmult_comm, <- total_scale; apply total_ext; intros; ring).
  rewrite total_swap. apply total_ext. intros c _. rewrite total_scale. reflexivity.
Qed.
Lemma image_ext (d : Z) (A B : mat) (u v : vec) (a : nat) :
  within d a -> equal_mat d A B -> (forall b, within d b -> u b = v b) -> image d A u a = image d B v a.
Proof. intros W E F. apply total_ext. intros b B'. rewrite (E a b W B'), (F b B'). reflexivity. Qed.

Lemma dot_image_sum (d : Z) (A B : mat) (u v : vec) :
  dot d u (image d (mat_sum A B) v) = dot d u (image d A v) + dot d u (image d B v).
Proof.
  unfold dot. rewrite <- total_plus. apply total_ext. intros a _. unfold image, mat_sum.
  rewrite (total_ext d _ (fun b => A a b * v b + B a b * v b)) by (intros; ring). rewrite total_plus. ring.
Qed.
Lemma dot_image_scaled (d : Z) (c : R) (A : mat) (u v : vec) :
  dot d u (image d (mat_scaled c A) v) = c * dot d u (image d A v).
Proof.
  unfold dot. rewrite <- total_scale. apply total_ext. intros a _. unfold image, mat_scaled.
  rewrite (total_ext d _ (fun b => c * (A a b * v b))) by (intros; ring). rewrite total_scale. ring.
Qed.
Lemma dot_image_product (d : Z) (A B : mat) (u v : vec) :
  dot d u (image d (mat_product d A B) v) = dot d u (image d A (image d B v)).
Proof. apply dot_ext; [reflexivity|]. intros. apply image_product. Qed.
Lemma dot_transposed (d : Z) (A : mat) (u v : vec) :
  Symmetric d A -> dot d u (image d (transposed A) v) = dot d u (image d A v).
Proof. intros S. apply dot_ext; [reflexivity|]. intros. apply image_symmetric; assumption. Qed.
Lemma dot_equal (d : Z) (A B : mat) (u v : vec) :
  equal_mat d A B -> dot d u (image d A v) = dot d u (image d B v).
Proof. intros E. apply dot_ext; [reflexivity|]. intros. apply image_ext; [assumption | assumption | reflexivity]. Qed.
Lemma dot_equal_product (d : Z) (A B W : mat) (u v : vec) :
  equal_mat d (mat_product d A B) W -> dot d u (image d A (image d B v)) = dot d u (image d W v).
Proof. intros E. rewrite <- dot_image_product. apply dot_equal. exact E. Qed.
Lemma dot_reverse (d : Z) (A : mat) (u v : vec) : dot d u (image d A v) = dot d v (image d (transposed A) u).
Proof. rewrite dot_image, dot_sym. reflexivity. Qed.
Lemma dot_image_T (d : Z) (A : mat) (u v : vec) : dot d u (image d (transposed A) v) = dot d (image d A u) v.
Proof. rewrite dot_image. reflexivity. Qed.
Lemma dot_reverse2 (d : Z) (A B : mat) (u v : vec) :
  dot d u (image d A (image d B v)) = dot d v (image d (transposed B) (image d (transposed A) u)).
Proof. rewrite dot_image, dot_image, dot_sym. reflexivity. Qed.
Lemma mat_product_ext (d : Z) (A A' B B' : mat) :
  equal_mat d A A' -> equal_mat d B B' -> equal_mat d (mat_product d A B) (mat_product d A' B').
Proof. intros E F a b P Q. apply total_ext. intros c C. rewrite (E a c), (F c b) by assumption. reflexivity. Qed.
Lemma mat_product_assoc (d : Z) (A B C : mat) :
  equal_mat d (mat_product d (mat_product d A B) C) (mat_product d A (mat_product d B C)).
Proof.
  intros a b _ _. unfold mat_product.
  rewrite (total_ext d _ (fun c => total d (fun e => A a e * (B e c * C c b))))
    by (intros; rewrite Rmult_comm, <- total_scale; apply total_ext; intros; ring).
  rewrite total_swap. apply total_ext. intros c _. rewrite total_scale. reflexivity.
Qed.
Lemma sum_single (m j : nat) (f : nat -> R) :
  (j < m)%nat -> (forall i, (i < m)%nat -> i <> j -> f i = 0) -> sum m f = f j.
Proof.
  induction m as [|m IH]; intros J E; [lia|]. simpl. destruct (Nat.eq_dec j m) as [->|N].
  - rewrite (sum_ext m f (fun _ => 0)) by (intros i I; apply E; lia). rewrite sum_zero. ring.
  - rewrite IH by (try lia; intros i I K; apply E; lia). rewrite (E m) by lia. ring.
Qed.
Lemma mat_product_one (d : Z) (A : mat) : equal_mat d (mat_product d A mat_identity) A.
Proof.
  intros a b P Q. unfold mat_product, total. rewrite (sum_single _ b).
  - unfold mat_identity. rewrite Nat.eqb_refl. ring.
  - exact Q.
  - intros i _ N. unfold mat_identity. apply Nat.eqb_neq in N. rewrite N. ring.
Qed.
Lemma mat_product_cancel (d : Z) (W B C : mat) :
  equal_mat d (mat_product d C B) mat_identity -> equal_mat d (mat_product d (mat_product d W C) B) W.
Proof.
  intros E a b P Q. rewrite (mat_product_assoc d W C B a b P Q).
  rewrite (mat_product_ext d W W _ _ ltac:(intros x y X Y; reflexivity) E a b P Q). apply mat_product_one; assumption.
Qed.

Ltac conjuncts := repeat match goal with |- _ /\ _ => split end.
Ltac positivity := first [ assumption | lra | exact Rlt_0_1 | apply exp_pos
  | lazymatch goal with
    | |- 0 < ?a * ?b => apply Rmult_lt_0_compat; positivity
    | |- 0 < ?a + ?b => apply Rplus_lt_0_compat; positivity
    | |- 0 < / ?a => apply Rinv_0_lt_compat; positivity
    | |- 0 < ?a / ?b => apply Rmult_lt_0_compat; [positivity | apply Rinv_0_lt_compat; positivity]
    | |- 0 < sqrt ?a => apply sqrt_lt_R0; positivity
    | |- 0 < ?a ^ ?k => apply pow_lt; positivity
    | M : (forall i, within ?n i -> 0 < dot ?d (pushed ?n ?d ?V ?al ?x i) _) |- 0 < pushed_norm ?n ?d ?V ?al ?x ?i =>
        apply sqrt_lt_R0, M; assumption
    | |- 0 < total ?n ?f => apply total_pos; [assumption | intros; positivity]
    | |- 0 < IZR ?k => apply IZR_lt; lia
    | |- ?a > 0 => change (0 < a); positivity
    | |- ?a <> 0 => apply Rgt_not_eq; change (0 < a); positivity
    | |- 0 <> ?a => apply Rlt_not_eq; positivity
    end ].
(* Products of matrices with an inverse. *)
Ltac matrices := match goal with
  | E : forall M, Nonsingular ?d M -> equal_mat ?d (mat_product ?d (?inv M) M) mat_identity
    |- equal_mat ?d (mat_product ?d (mat_product ?d ?W (?inv ?B)) ?B) ?W =>
      apply mat_product_cancel; apply E; assumption end.
(* Equations between inner products with matrices. *)
Ltac forms := rewrite ?dot_image_sum, ?dot_image_scaled, ?dot_image_product, ?dot_image_scaled;
  repeat match goal with
  | S : Symmetric ?d ?A |- context [dot ?d ?u (image ?d (transposed ?A) ?v)] => rewrite (dot_transposed d A u v S)
  | E : equal_mat ?d (mat_product ?d ?A ?B) ?W |- context [dot ?d ?u (image ?d ?A (image ?d ?B ?v))] =>
      rewrite (dot_equal_product d A B W u v E)
  | S : forall i, within ?n i -> dot ?d (?x i) _ = 1 |- context [dot ?d (?x ?i) _] => rewrite (S i) by assumption
  end.

Ltac push_integers := repeat progress (rewrite ?plus_IZR, ?minus_IZR, ?mult_IZR, ?opp_IZR in *).
Ltac to_reals := repeat match goal with
  | H : (_ <= _)%Z |- _ => apply IZR_le in H
  | H : (_ < _)%Z |- _ => apply IZR_lt in H
  | H : @eq Z _ _ |- _ => apply (f_equal IZR) in H
  | H : not (@eq Z _ _) |- _ => apply IZR_neq in H
  end; push_integers.
Ltac parts := repeat match goal with H : _ /\ _ |- _ => destruct H end.
(* That a denominator is not zero, where a relation says so of it. *)
Ltac divisors := conjuncts; first
  [ assumption | (apply not_eq_sym; assumption)
  | (match goal with H : 0 <> ?p |- ?q <> 0 => let E := fresh in intro E; apply H; rewrite <- E; ring end)
  | lra | positivity | timeout 3 nra ].
Lemma abs_opposite (u v : R) : u = - v -> Rabs u = Rabs v. Proof. intros ->. apply Rabs_Ropp. Qed.
(* Two spellings of one real number. *)
Ltac equal_reals := first
  [ (lazymatch goal with |- ?a = ?a => reflexivity end)
  | (push_integers; first [ring | solve [field; divisors]])
  | (progress f_equal; solve [equal_reals])
  | (lazymatch goal with
      | |- Rabs _ = Rabs _ => apply abs_opposite; solve [equal_reals]
      | |- total ?n _ = total ?n _ => apply total_ext; intros; solve [equal_reals]
      | |- dot ?d ?u ?v = dot ?d ?v ?u => apply dot_sym
     end)
  | (repeat match goal with
      | |- context [Rabs ?u] => match goal with |- context [Rabs ?v] =>
          tryif constr_eq u v then fail else (replace (Rabs v) with (Rabs u) by (f_equal; solve [equal_reals])) end
      | |- context [exp ?u] => match goal with |- context [exp ?v] =>
          tryif constr_eq u v then fail else (replace (exp v) with (exp u) by (f_equal; solve [equal_reals])) end
      | |- context [sqrt ?u] => match goal with |- context [sqrt ?v] =>
          tryif constr_eq u v then fail else (replace (sqrt v) with (sqrt u) by (f_equal; solve [equal_reals])) end
     end; push_integers; first [ring | solve [field; divisors]]) ].
Ltac turned_forms := rewrite ?dot_image_T in *; do 4 try match goal with
  | H : context [dot ?d ?v ?u] |- context [dot ?d ?u ?v] => tryif constr_eq u v then fail else rewrite (dot_sym d u v) end.
Ltac turned_equation := match goal with H : @eq R ?a ?b |- @eq R _ _ =>
    do 4 try (match type of H with context [dot ?k ?u ?v] => tryif constr_eq u v then fail else
      match goal with |- context [dot k v u] => rewrite (dot_sym k v u) end end);
    lazymatch goal with |- @eq R ?c ?d =>
      let E := fresh in assert (E : c - d = a - b) by ring; clear - E H; lra end end.
Lemma same_lt (a b c d : R) : a = c -> b = d -> a < b -> c < d. Proof. intros -> -> H. exact H. Qed.
Lemma same_le (a b c d : R) : a = c -> b = d -> a <= b -> c <= d. Proof. intros -> -> H. exact H. Qed.
Lemma same_eq (a b c d : R) : a = c -> b = d -> a = b -> c = d. Proof. intros -> -> H. exact H. Qed.
Lemma same_ne (a b c d : R) : a = c -> b = d -> a <> b -> c <> d. Proof. intros -> -> H. exact H. Qed.
Ltac same_real := first
  [ assumption | exact I | lia | (apply Rmax_l)
  | lazymatch goal with
    | |- ?c < ?d => match goal with H : ?a < ?b |- _ => refine (same_lt a b c d _ _ H); solve [equal_reals] end
    | |- ?c <= ?d => match goal with H : ?a <= ?b |- _ => refine (same_le a b c d _ _ H); solve [equal_reals] end
    | |- @eq R ?c ?d => match goal with H : @eq R ?a ?b |- _ => first
        [ (refine (same_eq a b c d _ _ H); solve [equal_reals])
        | (refine (same_eq b a c d _ _ (eq_sym H)); solve [equal_reals]) ] end
    | |- not (@eq R ?c ?d) => match goal with H : not (@eq R ?a ?b) |- _ => first
        [ (refine (same_ne a b c d _ _ H); solve [equal_reals])
        | (refine (same_ne b a c d _ _ (not_eq_sym H)); solve [equal_reals]) ] end
    end
  | matrices | contradiction | (turned_forms; lra)
  | turned_equation | (to_reals; lra) | (to_reals; timeout 3 nra) ].
(* An atom in another spelling: a relation, with where its terms are defined. *)
Ltac same_atom A := first [ solve [clear - A; parts; conjuncts; same_real] | solve [parts; conjuncts; same_real] ].
(* What a scalar lemma asks for, from the premises. *)
Ltac given := first
  [ assumption | lra | (to_reals; first [assumption | lra]) | tauto | (to_reals; tauto) | (to_reals; timeout 3 nra)
  | (intros; parts; to_reals; first [assumption | lra | timeout 3 nra | tauto]) ].
Ltac integers := parts; first [ lia | nia | (conjuncts; first [lia | nia]) | (intuition (first [lia | nia])) ].
(* The end of a step of arithmetic, from the conclusion of its scalar lemma. *)
Ltac closing := first
  [ assumption | exact I | tauto
  | (parts; conjuncts; first [assumption | lra | (to_reals; lra)])
  | (intros; parts; first [assumption | lra | tauto | lia])
  | (apply lt_IZR; push_integers; lra) | (apply le_IZR; push_integers; lra) ].
(* That a value is of the sort of a letter, or satisfies a guard. *)
Ltac sorted := first
  [ assumption | exact I | lia | lra | (parts; first [assumption | lia | lra])
  | (apply within_first; assumption)
  | (parts; repeat first [apply Rmult_lt_0_compat | apply Rplus_lt_0_compat | apply Rinv_0_lt_compat | apply exp_pos]; lra)
  | (parts; to_reals; timeout 3 nra) ].
Ltac subst_indices := f_equal; first [assumption | lia | (apply eq_IZR; assumption) | (symmetry; assumption)].
Ltac connectives := first [ assumption | exact I | tauto ].
Ltac scalar := solve [ parts; first
  [ timeout 5 lra | timeout 5 (conjuncts; lra) | timeout 10 nra | timeout 10 (conjuncts; nra) ] ].
(* An equation between quantities, with where they are defined. *)
Ltac same_number := conjuncts; first [ assumption | equal_reals | sorted | positivity ].
(* The sum of a sum, of a multiple and of a constant. *)
Ltac sums_in H := repeat first
  [ rewrite total_plus in H | rewrite total_opp in H | rewrite total_const in H by lia | rewrite total_scale in H ].
(* Sums that differ in the order of inner products. *)
Ltac same_sums := repeat match goal with |- context [total ?n ?f] => match goal with |- context [total ?n ?g] =>
  tryif constr_eq f g then fail else replace (total n g) with (total n f)
    by (apply total_ext; intros; first [apply dot_sym | (apply total_ext; intros; apply dot_sym)]) end end.
Ltac reversed := match goal with
  | |- context [dot ?d ?u (image ?d (transposed ?B) (image ?d ?A ?v))] =>
      replace (dot d u (image d (transposed B) (image d A v))) with (dot d v (image d (transposed A) (image d B u)))
        by (symmetry; apply dot_reverse2) end.
Ltac sides := repeat match goal with
  | S : Symmetric ?d ?A |- dot ?d ?u (image ?d ?A ?v) * _ = dot ?d ?v (image ?d ?A ?u) * _ =>
      rewrite (dot_symmetric d A u v S)
  | S : Symmetric ?d ?A |- dot ?d ?u (image ?d ?A ?v) = dot ?d ?v (image ?d ?A ?u) => exact (dot_symmetric d A u v S)
  end.
Ltac inside_sums := first [ (apply total_ext; intros) | (f_equal; apply total_ext; intros) ].
Ltac reduced := parts; first
  [ same_number | (forms; same_number) | (forms; reversed; same_number)
  | (rewrite ?dot_image_T; forms; same_number)
  | (inside_sums; sides; same_number) ].
Lemma factor_lt (c a b : R) : 0 < c -> c * a < c * b -> a < b.
Proof. intros C P. apply Rmult_lt_reg_l with c; assumption. Qed.
"""
    + LOGARITHM
    + OJA
    + LYAPUNOV
    + BIPARTITE
    + BY_HAND
)
