"""Run coqc: keep the lemmas that it accepts, and say of the others that it did not."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from eigentoken.files.writing import write_text
from eigentoken.proofs.coq.lemmas import CoqLemma, lemmas_of
from eigentoken.proofs.coq.terms import theorem_name
from eigentoken.theory.statements.statement import Statement

__all__ = ["PRELUDE", "Exported", "accepts", "export", "file_text"]

NO_COQ = "coqc is not installed (Debian: coq): only lemmas that it accepts are written, so there is nothing to write"
SECONDS = 60
PRELUDE = r"""From Coq Require Import Nsatz.
From Coq Require Import Reals Lra Psatz.
Open Scope R_scope.

(* Quotients: l - r = n / d, and what the sign of n * d says of l and r. *)
Lemma quot_gt (l r n d : R) : l - r = n / d -> d <> 0 -> n * d > 0 -> l > r.
Proof.
  intros E D P. assert (Q : n / d = (n * d) * (/ d * / d)) by (field; assumption).
  assert (0 < / d * / d) by (change (0 < Rsqr (/ d)); apply Rsqr_pos_lt, Rinv_neq_0_compat; assumption).
  assert (n / d > 0) by (rewrite Q; apply Rmult_gt_0_compat; lra). lra.
Qed.
Lemma quot_ge (l r n d : R) : l - r = n / d -> d <> 0 -> n * d >= 0 -> l >= r.
Proof.
  intros E D P. assert (Q : n / d = (n * d) * (/ d * / d)) by (field; assumption).
  assert (0 < / d * / d) by (change (0 < Rsqr (/ d)); apply Rsqr_pos_lt, Rinv_neq_0_compat; assumption).
  assert (n / d >= 0) by (rewrite Q; apply Rle_ge, Rmult_le_pos; lra). lra.
Qed.
Lemma quot_le (l r n d : R) : l - r = n / d -> d <> 0 -> n * d >= 0 -> r <= l.
Proof. intros E D P. apply Rge_le. exact (quot_ge l r n d E D P). Qed.
Lemma quot_eq (l r n d : R) : l - r = n / d -> d <> 0 -> n = 0 -> l = r.
Proof. intros E D P. subst n. unfold Rdiv in E. lra. Qed.
Lemma quot_ne (l r n d : R) : l - r = n / d -> d <> 0 -> n <> 0 -> l <> r.
Proof.
  intros E D P F. apply P. assert (n / d = 0) by lra.
  assert (n = n / d * d) by (field; assumption). rewrite H0, H. ring.
Qed.
Lemma quot_gt_inv (l r n d : R) : l - r = n / d -> d <> 0 -> l > r -> n * d > 0.
Proof.
  intros E D P. assert (n * d = (n / d) * (d * d)) by (field; assumption).
  assert (n / d > 0) by lra. assert (d * d > 0) by (change (0 < Rsqr d); apply Rsqr_pos_lt; assumption). nra.
Qed.
Lemma quot_ge_inv (l r n d : R) : l - r = n / d -> d <> 0 -> l >= r -> n * d >= 0.
Proof.
  intros E D P. assert (n * d = (n / d) * (d * d)) by (field; assumption).
  assert (n / d >= 0) by lra. assert (d * d > 0) by (change (0 < Rsqr d); apply Rsqr_pos_lt; assumption). nra.
Qed.
Lemma quot_le_inv (l r n d : R) : l - r = n / d -> d <> 0 -> r <= l -> n * d >= 0.
Proof. intros E D P. apply (quot_ge_inv l r n d E D). apply Rle_ge. exact P. Qed.
Lemma quot_eq_inv (l r n d : R) : l - r = n / d -> d <> 0 -> l = r -> n = 0.
Proof.
  intros E D P. assert (n / d = 0) by lra.
  assert (n = n / d * d) by (field; assumption). rewrite H0, H. ring.
Qed.
Lemma quot_ne_inv (l r n d : R) : l - r = n / d -> d <> 0 -> l <> r -> n <> 0.
Proof. intros E D P F. apply P. subst n. unfold Rdiv in E. lra. Qed.
Lemma exp_to_nat (x : R) (k : nat) : exp x ^ k = exp (INR k * x).
Proof.
  induction k as [|k IH]; [simpl; rewrite Rmult_0_l, exp_0; reflexivity|].
  rewrite S_INR. simpl pow. rewrite IH, <- exp_plus. f_equal. ring.
Qed.

Lemma Rpower_positive (b x : R) : Rpower b x > 0. Proof. apply exp_pos. Qed.
Lemma Rpower_one_minus (b x : R) : b > 0 -> Rpower b (1 + - x) = b / Rpower b x.
Proof.
  intros B. unfold Rpower. replace ((1 + - x) * ln b) with (ln b + - (x * ln b)) by ring.
  rewrite exp_plus, exp_Ropp, exp_ln by exact B. reflexivity.
Qed.

(* Coq's own proof of this goes through the theorem of the mean value and the axiom of excluded middle: ours by the series. *)
Lemma exp_tangent (x : R) : 0 < x -> 1 + x <= exp x.
Proof.
  intros P. unfold exp. destruct (exist_exp x) as [l L]. simpl. unfold exp_in in L.
  assert (S : sum_f_R0 (fun i => / INR (fact i) * x ^ i) 1 <= l).
  { apply sum_incr.
    - intros e E. destruct (L e E) as [N M]. exists N. exact M.
    - intros n. apply Rmult_le_pos; left; [apply Rinv_0_lt_compat, INR_fact_lt_0 | apply pow_lt; exact P]. }
  simpl in S. lra.
Qed.
Lemma exp_above_one (x : R) : 0 < x -> 1 < exp x.
Proof. intros P. assert (T := exp_tangent x P). lra. Qed.
Lemma exp_rising (a b : R) : a < b -> exp a < exp b.
Proof.
  intros L. replace b with (a + (b - a)) by ring. rewrite exp_plus.
  assert (1 < exp (b - a)) by (apply exp_above_one; lra). assert (P := exp_pos a). nra.
Qed.
Lemma exp_monotone (a b : R) : a <= b -> exp a <= exp b.
Proof. intros [H|H]; [left; apply exp_rising; exact H | right; rewrite H; reflexivity]. Qed.
Lemma exp_below_one (a : R) : a < 0 -> exp a < 1.
Proof. intros H. rewrite <- exp_0. apply exp_rising. exact H. Qed.

Lemma opposite_pos (a : R) : a < 0 -> - a > 0. Proof. lra. Qed.
Lemma opposite_neg (a : R) : a > 0 -> - a < 0. Proof. lra. Qed.
Lemma opposite_ge (a : R) : a <= 0 -> - a >= 0. Proof. lra. Qed.
Lemma opposite_le (a : R) : a >= 0 -> - a <= 0. Proof. lra. Qed.
Lemma product_pos (a b : R) : a > 0 -> b > 0 -> a * b > 0. Proof. intros; nra. Qed.
Lemma product_pos_neg (a b : R) : a < 0 -> b < 0 -> a * b > 0. Proof. intros; nra. Qed.
Lemma product_neg (a b : R) : a > 0 -> b < 0 -> a * b < 0. Proof. intros; nra. Qed.
Lemma product_neg_pos (a b : R) : a < 0 -> b > 0 -> a * b < 0. Proof. intros; nra. Qed.
Lemma product_ge (a b : R) : a >= 0 -> b >= 0 -> a * b >= 0. Proof. intros; nra. Qed.
Lemma product_ge_le (a b : R) : a <= 0 -> b <= 0 -> a * b >= 0. Proof. intros; nra. Qed.
Lemma product_le (a b : R) : a >= 0 -> b <= 0 -> a * b <= 0. Proof. intros; nra. Qed.
Lemma product_le_ge (a b : R) : a <= 0 -> b >= 0 -> a * b <= 0. Proof. intros; nra. Qed.
Lemma sum_pos (a b : R) : a > 0 -> b > 0 -> a + b > 0. Proof. lra. Qed.
Lemma square_pos (a : R) : a <> 0 -> a ^ 2 > 0.
Proof. intros H. assert (P := Rsqr_pos_lt a H). unfold Rsqr in P. simpl. lra. Qed.
Lemma square_ge (a : R) : a ^ 2 >= 0. Proof. nra. Qed.
Lemma factor_pos (a b : R) : a > 0 -> a * b > 0 -> b > 0.
Proof. intros A P. destruct (Rlt_or_le 0 b) as [B|B]; [exact B | exfalso]. assert (a * (- b) >= 0) by nra. lra. Qed.
Lemma factor_ge (a b : R) : a > 0 -> a * b >= 0 -> b >= 0.
Proof. intros A P. destruct (Rle_or_lt 0 b) as [B|B]; [lra | exfalso]. assert (a * (- b) > 0) by nra. lra. Qed.
Lemma both_pos (a b : R) : a * b > 0 -> a + b > 0 -> a > 0 /\ b > 0.
Proof. intros P Q. split; destruct (Rlt_or_le a 0); destruct (Rlt_or_le b 0); nra. Qed.
Lemma in_box (a b : R) : a > -1 /\ a < 1 -> b > -1 /\ b < 1 -> 1 + a * b > 0.
Proof.
  intros [A1 A2] [B1 B2]. assert ((1 + a) * (1 + b) > 0) by nra. assert ((1 - a) * (1 - b) > 0) by nra. lra.
Qed.
Lemma square_le (x y : R) : y >= 0 -> y ^ 2 - x ^ 2 >= 0 -> x <= y.
Proof. intros Y P. destruct (Rle_or_lt x y) as [A|A]; [exact A | exfalso]. nra. Qed.
Lemma abs_bounds (x b : R) : Rabs x <= b -> - b <= x /\ x <= b.
Proof. unfold Rabs. destruct (Rcase_abs x); lra. Qed.
Lemma abs_product (x y a b : R) : Rabs x <= a -> Rabs y <= b -> Rabs (x * y) <= a * b.
Proof. intros A B. rewrite Rabs_mult. apply Rmult_le_compat; try apply Rabs_pos; assumption. Qed.
Lemma abs_over_pos (u v : R) : v > 0 -> Rabs (u / v) = Rabs u / v.
Proof. intros V. unfold Rdiv. rewrite Rabs_mult, Rabs_inv, (Rabs_right v) by lra. reflexivity. Qed.
Lemma abs_over_neg (u v : R) : v < 0 -> Rabs (u / v) = Rabs u / - v.
Proof. intros V. unfold Rdiv. rewrite Rabs_mult, Rabs_inv, (Rabs_left v) by lra. reflexivity. Qed.
Lemma quotient_pos (a b : R) : a > 0 -> b > 0 -> a / b > 0.
Proof. intros A B. apply Rmult_gt_0_compat; [exact A | apply Rinv_0_lt_compat; exact B]. Qed.
Lemma quotient_ge (a b : R) : a >= 0 -> b > 0 -> a / b >= 0.
Proof. intros A B. apply product_ge; [exact A | left; apply Rinv_0_lt_compat; exact B]. Qed.
Lemma div_le (x a g : R) : a > 0 -> x <= g * a -> x / a <= g.
Proof.
  intros A B. apply Rmult_le_reg_r with a; [exact A |]. replace (x / a * a) with x by (field; lra). exact B.
Qed.
Lemma div_ge (x a g : R) : a > 0 -> g * a <= x -> g <= x / a.
Proof.
  intros A B. apply Rmult_le_reg_r with a; [exact A |]. replace (x / a * a) with x by (field; lra). exact B.
Qed.
Lemma div_below_one (x a : R) : a > 0 -> x < a -> x / a < 1.
Proof.
  intros A B. apply Rmult_lt_reg_r with a; [exact A |]. replace (x / a * a) with x by (field; lra). lra.
Qed.
Lemma power_pos (a : R) (k : nat) : a > 0 -> a ^ k > 0. Proof. intros; apply pow_lt; lra. Qed.

Ltac hypotheses := repeat match goal with H : _ /\ _ |- _ => destruct H | H : _ \/ _ |- _ => destruct H end.
Ltac cases := hypotheses; unfold Rabs, Rmax, Rmin in *;
  repeat match goal with
    | |- context [Rcase_abs ?x] => destruct (Rcase_abs x)
    | H : context [Rcase_abs ?x] |- _ => destruct (Rcase_abs x)
    | |- context [Rle_dec ?x ?y] => destruct (Rle_dec x y)
    | H : context [Rle_dec ?x ?y] |- _ => destruct (Rle_dec x y)
  end.
Ltac linear := timeout 6 lra.
Ltac products := timeout 15 nra.
(* The sign of a product from the signs of its factors. *)
Ltac sign := first [ assumption | linear | lazymatch goal with
  | |- ?a * ?b > 0 => first [ solve [apply product_pos; sign] | solve [apply product_pos_neg; sign] ]
  | |- ?a * ?b < 0 => first [ solve [apply product_neg; sign] | solve [apply product_neg_pos; sign] ]
  | |- ?a * ?b >= 0 => first [ solve [apply product_ge; sign] | solve [apply product_ge_le; sign] ]
  | |- ?a * ?b <= 0 => first [ solve [apply product_le; sign] | solve [apply product_le_ge; sign] ]
  | |- - ?a > 0 => apply opposite_pos; sign
  | |- - ?a < 0 => apply opposite_neg; sign
  | |- - ?a >= 0 => apply opposite_ge; sign
  | |- - ?a <= 0 => apply opposite_le; sign
  | |- ?a ^ 2 >= 0 => apply square_ge
  | |- ?a ^ 2 > 0 => first [ solve [apply power_pos; sign] | solve [apply square_pos; sign] ]
  | |- ?a ^ ?k > 0 => apply power_pos; sign
  | |- ?a + ?b > 0 => first [ solve [apply sum_pos; sign] | products ]
  | |- ?a <> 0 => first [ solve [apply Rgt_not_eq; sign] | solve [apply Rlt_not_eq; sign] ]
  | |- _ => products
  end ].
Ltac simple_polynomial := first [ assumption | linear | products | (let F := fresh in intro F; first [ linear | products ]) ].
(* The same without products of hypotheses: quick. *)
Ltac quick_sign := first [ assumption | linear | lazymatch goal with
  | |- ?a * ?b > 0 => first [ solve [apply product_pos; quick_sign] | solve [apply product_pos_neg; quick_sign] ]
  | |- ?a * ?b < 0 => first [ solve [apply product_neg; quick_sign] | solve [apply product_neg_pos; quick_sign] ]
  | |- ?a * ?b >= 0 => first [ solve [apply product_ge; quick_sign] | solve [apply product_ge_le; quick_sign] ]
  | |- ?a * ?b <= 0 => first [ solve [apply product_le; quick_sign] | solve [apply product_le_ge; quick_sign] ]
  | |- - ?a > 0 => apply opposite_pos; quick_sign
  | |- - ?a < 0 => apply opposite_neg; quick_sign
  | |- - ?a >= 0 => apply opposite_ge; quick_sign
  | |- - ?a <= 0 => apply opposite_le; quick_sign
  | |- ?a ^ 2 >= 0 => apply square_ge
  | |- ?a ^ 2 > 0 => first [ solve [apply power_pos; quick_sign] | solve [apply square_pos; quick_sign] ]
  | |- ?a ^ ?k > 0 => apply power_pos; quick_sign
  | |- ?a + ?b > 0 => apply sum_pos; quick_sign
  | |- ?a <> 0 => first [ solve [apply Rgt_not_eq; quick_sign] | solve [apply Rlt_not_eq; quick_sign] ]
  | |- _ => linear
  end ].
(* A hypothesis whose sign contradicts the signs of its factors. *)
Ltac clash := exfalso; match goal with
  | H : ?x > 0 |- _ => assert (x <= 0) by (solve [quick_sign]); lra
  | H : ?x >= 0 |- _ => assert (x < 0) by (solve [quick_sign]); lra
  | H : ?x < 0 |- _ => assert (x >= 0) by (solve [quick_sign]); lra
  | H : ?x <= 0 |- _ => assert (x > 0) by (solve [quick_sign]); lra
  | H : ?x = 0 |- _ => assert (x > 0) by (solve [quick_sign]); lra
  | H : ?x = 0 |- _ => assert (x < 0) by (solve [quick_sign]); lra
  end.
Ltac polynomial := first [ solve [quick_sign] | solve [clash] | solve [sign] | solve [simple_polynomial] ].
Ltac nonzero := repeat split; repeat first
  [ assumption | apply Rmult_integral_contrapositive_currified | apply pow_nonzero | apply Rinv_neq_0_compat ];
  first
  [ assumption
  | (apply Rgt_not_eq; linear) | (apply Rlt_not_eq; linear)
  | solve [apply Rgt_not_eq; sign] | solve [apply Rlt_not_eq; sign]
  | (match goal with H : ?p <> 0 |- ?q <> 0 => let F := fresh in intro F; apply H; first [ linear | products ] end)
  | (match goal with H : ?p <> 0 |- ?q <> 0 => let F := fresh in intro F; apply H; solve [timeout 5 nsatz] end)
  | (apply Rgt_not_eq; products) | (apply Rlt_not_eq; products)
  | (let F := fresh in intro F; first [ linear | products ]) ].
Ltac by_signs x := destruct (Rtotal_order x 0) as [?|[?|?]].
Ltac exponents := rewrite ?exp_to_nat, <- ?exp_Ropp, <- ?exp_plus; f_equal; simpl INR; field.
"""


@dataclass(frozen=True)
class Exported:
    """What came of one statement's lemmas: accepted, refused (coqc did not accept), missing (no form in Coq)."""

    id: str
    path: Path
    accepted: tuple[str, ...]
    refused: tuple[str, ...]
    missing: tuple[str, ...]


def accepts(text: str, seconds: int = SECONDS, library: Path | None = None) -> bool:
    """Does coqc accept this file?  A file with ``Admitted`` or an axiom of its own is never accepted.

    ``library`` is a folder whose compiled modules the file may name (``From Eigentoken Require Import ...``).
    """
    if any(word in text for word in ("Admitted", "Axiom", "Parameter", "admit")):
        return False
    known = [] if library is None else ["-Q", str(library), "Eigentoken"]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "lemma.v"
        path.write_text(text, encoding="utf-8")
        try:
            ran = subprocess.run(["coqc", "-q", *known, path.name], cwd=folder, capture_output=True, timeout=seconds)
        except subprocess.TimeoutExpired:
            return False
        return ran.returncode == 0


#: What a file says instead of the prelude where the prelude is compiled.
SHORT = """From Coq Require Import Nsatz.
From Coq Require Import Reals Lra Psatz.
From Eigentoken Require Import Prelude.
Open Scope R_scope.
"""


@contextmanager
def compiled_prelude() -> Iterator[Path]:
    """A folder with the compiled prelude, so that it is not proved again for every lemma."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "Prelude.v").write_text(PRELUDE, encoding="utf-8")
        subprocess.run(
            ["coqc", "-q", "-Q", ".", "Eigentoken", "Prelude.v"], cwd=folder, capture_output=True, check=True
        )
        yield Path(folder)


def proved(lemma: CoqLemma, seconds: int = SECONDS, library: Path | None = None) -> CoqLemma | None:
    """The lemma with the first of its scripts that coqc accepts, or none."""
    head = PRELUDE if library is None else SHORT
    for script in (lemma.proof, *lemma.others()):
        tried = replace(lemma, proof=script)
        if accepts(f"{head}\n{tried.text()}", seconds, library):
            return tried
    return None


def _all_at_once(lemmas: Sequence[CoqLemma], seconds: int, library: Path) -> bool:
    """Are all lemmas accepted with their first scripts, in one file?"""
    text = "\n".join([SHORT, *(each.text() for each in lemmas)])
    return bool(lemmas) and accepts(text, seconds * (1 + len(lemmas) // 4), library)


def file_text(told: Statement, accepted: Sequence[CoqLemma], others: Sequence[tuple[CoqLemma, str]]) -> str:
    """One file: the prelude, the lemmas that coqc accepted, and the others as comments that say so."""
    head = (
        f"(* {told.id}: {told.title.replace('(*', '( *')}\n   {told.source}.\n"
        "   Written by eigentoken: every lemma that is stated below was accepted by coqc. *)\n"
    )
    remarks = [f"(* NOT PROVED HERE: {each.name}, {each.source}: {why}. *)\n" for each, why in others]
    return "\n".join([head, PRELUDE, *(each.text() for each in accepted), *remarks])


def export(
    statements: Iterable[Statement],
    folder: Path,
    *,
    jobs: int = 2,
    seconds: int = SECONDS,
    watch: Callable[[str], None] = lambda _title: None,
    done: Callable[[], None] = lambda: None,
) -> list[Exported]:
    """Write ``ID.v`` for every statement with scalar lemmas; only what coqc accepts is written as proved.

    ``watch`` is called with the title of each statement that begins, ``done`` when it is through."""
    if shutil.which("coqc") is None:
        raise ValueError(NO_COQ)
    folder.mkdir(parents=True, exist_ok=True)
    with compiled_prelude() as library:
        return list(_exported(_watched(statements, watch), folder, library, jobs, seconds, done))


def _watched(statements: Iterable[Statement], watch: Callable[[str], None]) -> Iterator[Statement]:
    for told in statements:
        watch(told.called)
        yield told


def _exported(
    statements: Iterable[Statement], folder: Path, library: Path, jobs: int, seconds: int, done: Callable[[], None]
) -> Iterator[Exported]:
    for told in statements:
        lemmas = lemmas_of(told)
        tried = [each for each in lemmas if not each.missing]
        good: dict[CoqLemma, CoqLemma | None]
        if _all_at_once(tried, seconds, library):
            good = {each: each for each in tried}
        else:
            with ThreadPoolExecutor(jobs) as pool:
                good = dict(zip(tried, pool.map(lambda each: proved(each, seconds, library), tried), strict=True))
        done()
        if not lemmas:
            continue
        accepted = [found for each in tried if (found := good[each]) is not None]
        others = [
            (each, each.missing or "coqc did not accept the proof within its time limit")
            for each in lemmas
            if not good.get(each)
        ]
        path = folder / f"{theorem_name(told.id)}.v"
        write_text(path, file_text(told, accepted, others))
        yield Exported(
            told.id,
            path,
            tuple(each.name for each in accepted),
            tuple(each.name for each in tried if good[each] is None),
            tuple(each.name for each in lemmas if each.missing),
        )
