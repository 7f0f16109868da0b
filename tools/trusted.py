"""How much code a proof of the kernel rests on: lines of propositions, of matching and of rules, without comments and imports.

    python tools/trusted.py

Outside of the count, since nothing that is proved rests on it: print, the class that derivations call the rules through, the
second opinions of other solvers, and a type that has no code.  Programs of rules prove nothing themselves (a test reads that).
Beside the kernel stand the engines that its rules ask (the calculus, the linearization, the decision procedures), and the
theorems of books: these are trusted, too, and are counted apart.
"""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[1] / "src" / "eigentoken"
KERNEL = SOURCE / "theory" / "kernel"
#: What each part is for.
PARTS = {
    "propositions and matching": ("propositions", "proved", "refused", "defined", "closed", "tensors", "eigenvalues"),
    "logic and arithmetic": ("logic", "arithmetic", "books"),
    "rules about tokens and dynamics": ("structure", "sums", "order", "dynamics", "spectra", "multipliers"),
    "what words mean": ("words", "forms", "observables", "instances"),
    "acceptance": ("kernel",),
}
#: Programs of rules: what they give was proved by a rule that is counted.
PROGRAMS = ("quantities",)
#: Modules of print, and the functions and classes of others on which no proof rests.
PRINT = ("formulas", "__init__")
OUTSIDE = {
    "kernel": ("Kernel", "modus_ponens", "conjunction", "part", "cases", "iff"),
    "arithmetic": ("second_opinion",),
    "books": ("Stated",),
    "tensors": (
        "_latex",
        "plain_latex",
        "precedence",
        "is_sum",
        "is_product",
        "_one_product",
        "is_negative_term",
        "_sympystr",
        "_one_square",
        "in_brackets",
        "made_of_tokens",
    ),
    "instances": ("latex_velocity_is", "latex_from", "_matrix", "_column", "_factor"),
    "proved": ("said", "rests_on", "argued", "scope", "left", "right", "_digits"),
}
ENGINES = ("theory/calculus", "theory/linearization", "theory/proving", "proofs/steps")


def lines_of_code(path: Path, without: tuple[str, ...] = ()) -> int:
    """Lines with code on them: no comments, no docstrings, no imports, no list of names, none of the definitions left out."""
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    blank = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
    tokens = [each for each in tokenize.generate_tokens(io.StringIO(text).readline) if each.type not in blank]
    found = {line for each in tokens for line in range(each.start[0], each.end[0] + 1)}
    for node in _left_out(tree, without):
        found -= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return len(found)


def _left_out(tree: ast.AST, without: tuple[str, ...]) -> Iterator[ast.stmt]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            yield node
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name in without:
            yield node


def table() -> dict[str, int]:
    """Lines by part."""
    return {
        part: sum(lines_of_code(KERNEL / f"{name}.py", OUTSIDE.get(name, ())) for name in names)
        for part, names in PARTS.items()
    }


def main() -> None:
    """Print the table, with the engines beside it."""
    found = table()
    for part, lines in found.items():
        print(f"{lines:6}  {part}: {', '.join(PARTS[part])}")
    print(
        f"{sum(found.values()):6}  in all, of {sum(map(lines_of_code, KERNEL.glob('*.py')))} lines of code in theory/kernel"
    )
    print(
        f"{sum(lines_of_code(KERNEL / f'{name}.py') for name in PROGRAMS):6}  programs of rules: {', '.join(PROGRAMS)}"
    )
    for room in ENGINES:
        print(f"{sum(map(lines_of_code, (SOURCE / room).glob('*.py'))):6}  beside it: {room}")


if __name__ == "__main__":
    main()
