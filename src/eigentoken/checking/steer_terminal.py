"""What an edit does, on a terminal: certified lines first, then what was measured."""

from __future__ import annotations

from eigentoken.checking.steer import GUARANTEE, SteerReport, damage_text, strength_text
from eigentoken.output import say, table

__all__ = ["show_steering"]


def show_steering(found: SteerReport) -> None:
    """The edit, its eigenpair, the tokens with the side on which they end, and the damage by strength."""
    report = found.document
    changed = ", ".join(map(str, report["layers_changed"]))
    say(f"wrote {report['folder']}; strength {report['strength']:.4g}; layers changed: {changed}", "bold")
    for name, verdict in report["verdicts"].items():
        say(f"{name}: {verdict['verdict']} ({verdict['reason']})")
    cosine = report["cosine_of_leading_eigenvector_with_direction"]
    eigenvalue, bound = report["leading_eigenvalue"], report["cosine_at_least"]
    if eigenvalue is not None and eigenvalue.get("radius") is not None:
        say(f"new leading eigenvalue: {eigenvalue['re']:.6g}, within {eigenvalue['radius']:.2g} (certified)")
    if cosine is not None:
        certified = "" if bound is None else f"; at least {bound:.6f} is certified"
        say(f"|cos| of that eigenvector with the wanted direction w, which is another vector: {cosine:.6f}{certified}")
    _tokens(found)
    _damage(found)


def _tokens(found: SteerReport) -> None:
    seen, prompts = found.document["tokens"], found.document["prompts"]
    given = found.document["states"]
    of = (
        ("random tokens" if given is None else f"the {given['tokens']} states of {given['source']}")
        if prompts is None
        else f"the {prompts['tokens']} tokens of {prompts['source']} ({prompts['read_by']})"
    )
    before, after = seen["before"], seen["after"]
    say(
        f"{of} after the layer (measured): |cos| with w {before['mean']:.3f} before the edit, {after['mean']:.3f} after; "
        f"cos with its sign {before['signed_mean']:+.3f} and {after['signed_mean']:+.3f}"
    )
    told = seen["guaranteed"]
    bound, middle = told["largest_tangent_bound"], told["median_tangent_bound"]
    far = "" if bound is None else f"; tangent of the angle at most {middle:.3g} for half of these, {bound:.3g} for all"
    say(
        f"{GUARANTEE} for {told['tokens']} tokens, certified: holds for {told['holds']}, of which {told['towards']} end "
        f"on the side of +w and {told['away']} of -w; fails for {told['fails']}, undecided for {told['undecided']}{far}"
    )
    say(f"strength {strength_text(found.document['suggested'])}")


def _damage(found: SteerReport) -> None:
    output = found.document["output"]
    say(f"next token: {damage_text(output)}")
    rows = [
        (f"{each['strength']:.4g}", f"{each['mean_kl']:.3g}", f"{each['largest_kl']:.3g}", f"{each['top1_kept']:.0%}")
        for each in output["curve"]
    ]
    if rows:
        table("damage by strength", ("strength", "mean KL (nats)", "largest KL", "likeliest kept"), rows)
