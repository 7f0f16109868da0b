"""sympy expressions and relations as Coq text over ``R``."""

from __future__ import annotations

import re
from typing import Any

import sympy as sp

__all__ = ["Names", "NotExportable", "condition", "term", "theorem_name"]

RESERVED = frozenset(
    ("R", "E", "PI", "exp", "ln", "sqrt", "sin", "cos", "tan", "in", "at", "as", "let", "fix", "fun", "if", "then", "else",
     "match", "end", "return", "forall", "exists", "where", "with", "using", "Type", "Prop", "Set", "IZR", "INR", "Rabs",
     "Rmax", "Rmin", "pow", "cosh", "sinh", "tanh", "up", "pos", "nonneg", "id", "fst", "snd", "D", "C", "N", "Z", "Q", "I",
     "S", "O", "sum", "total", "dot", "image", "vec", "mat", "within", "inverse", "parts", "given", "integers",
     "not", "eq", "conj", "True",
     "False", "by", "do", "mod", "of", "for", "cofix", "nat")
)  # fmt: skip
_RELATIONS = {
    sp.StrictGreaterThan: ">",
    sp.GreaterThan: ">=",
    sp.StrictLessThan: "<",
    sp.LessThan: "<=",
    sp.Equality: "=",
    sp.Unequality: "<>",
}


def theorem_name(identifier: str) -> str:
    """``PM-N4'`` and ``PM-T2+`` as names in Coq, also of files.

    >>> theorem_name("PM-N4'"), theorem_name("PM-T2+"), theorem_name("AB-L4.1")
    ('PM_N4_prime', 'PM_T2_plus', 'AB_L4_1')
    """
    return re.sub(r"\W+", "_", identifier.replace("'", "_prime").replace("+", "_plus"))


class NotExportable(ValueError):
    """A part of the lemma has no form in Coq here; the message says which."""


class Names:
    """Coq names of symbols, each its own."""

    def __init__(self) -> None:
        self._names: dict[Any, str] = {}

    def of(self, symbol: sp.Symbol) -> str:
        if symbol not in self._names:
            stem = symbol.name.replace("+", "plus").replace("-", "minus").replace("'", "_prime")
            stem = re.sub(r"\W+", "_", stem.replace("*", "star")).strip("_") or "v"
            stem = stem if stem.isascii() and stem[0].isalpha() else f"v_{len(self._names)}"
            stem = f"{stem}_" if stem in RESERVED else stem
            while stem in self._names.values():
                stem += "_"
            self._names[symbol] = stem
        return self._names[symbol]

    def all(self) -> list[str]:
        return list(self._names.values())

    def symbols(self) -> list[sp.Symbol]:
        """The symbols that have a name, in the order of the names."""
        return list(self._names)


def term(node: Any, names: Names) -> str:
    """An expression; quotients keep their form, so that the reader sees the formula of the book.

    >>> a, b = sp.symbols("a b")
    >>> term(a**2 / (1 - b) - sp.Rational(3, 2), Names())
    '((a ^ 2 / (1 + (- b))) + (-3/2))'
    """
    if node.is_Integer:
        return str(node) if node >= 0 else f"({node})"
    if node.is_Rational:
        return f"({node.p}/{node.q})"
    if node.is_Symbol:
        return names.of(node)
    if node.is_Add:
        ordered = sorted(node.args, key=lambda each: (each.could_extract_minus_sign(), sp.default_sort_key(each)))
        return "(" + " + ".join(term(part, names) for part in ordered) + ")"
    if node.is_Mul or (isinstance(node, sp.Pow) and node.exp.is_Integer):
        return _product(node, names)
    if isinstance(node, sp.exp):
        return f"(exp {term(node.args[0], names)})"
    if isinstance(node, sp.log):
        return f"(ln {term(node.args[0], names)})"
    if isinstance(node, sp.sinh | sp.cosh | sp.tanh | sp.sin | sp.cos):
        return f"({node.func.__name__} {term(node.args[0], names)})"
    if isinstance(node, sp.Abs):
        return f"(Rabs {term(node.args[0], names)})"
    if isinstance(node, sp.Pow) and node.exp.is_Rational and node.exp.q == 2:
        root = f"(sqrt {term(node.base, names)})"
        return _raised(root, int(node.exp.p))
    if isinstance(node, sp.Pow) and node.exp.free_symbols:
        return f"(Rpower {term(node.base, names)} {term(node.exp, names)})"
    if isinstance(node, sp.Max | sp.Min):
        function = "Rmax" if isinstance(node, sp.Max) else "Rmin"
        parts = [term(part, names) for part in node.args]
        text = parts[-1]
        for part in reversed(parts[:-1]):
            text = f"({function} {part} {text})"
        return text
    raise NotExportable(f"{node.func.__name__} has no form here")


def _raised(text: str, power: int) -> str:
    if power == 1:
        return text
    return f"({text} ^ {power})" if power > 0 else f"(/ {_raised(text, -power)})"


def _product(node: Any, names: Names) -> str:
    top, bottom = sp.fraction(node, exact=True)
    if bottom != 1 and node.is_Mul and node.args[0].is_Rational and not node.args[0].is_Integer:
        scale = node.args[0]
        top, bottom = sp.fraction(
            sp.Mul(*node.args[1:], evaluate=False) if len(node.args) > 2 else node.args[1], exact=True
        )
        top, bottom = scale.p * top if scale.p != 1 else top, scale.q * bottom
    if bottom != 1:
        return f"({_factors(top, names)} / {_factors(bottom, names)})"
    return _factors(node, names)


def _factors(node: Any, names: Names) -> str:
    if node.is_Mul:
        coefficient, rest = node.as_coeff_Mul()
        if coefficient == -1:
            return f"(- {_factors(rest, names)})"
        return "(" + " * ".join(_factors(part, names) for part in node.args) + ")"
    if isinstance(node, sp.Pow) and node.exp.is_Integer:
        base = term(node.base, names)
        return base if node.exp == 1 else f"{base} ^ {node.exp}" if node.exp > 0 else f"(/ ({base} ^ {-node.exp}))"
    return term(node, names)


def condition(node: Any, names: Names) -> str:
    """A relation or Boolean as a proposition."""
    if node in (sp.true, sp.false):
        return "True" if node is sp.true else "False"
    if node.is_Relational:
        return f"{term(node.lhs, names)} {_RELATIONS[node.func]} {term(node.rhs, names)}"
    parts = [f"({condition(part, names)})" for part in node.args]
    if isinstance(node, sp.And | sp.Or):
        return (r" /\ " if isinstance(node, sp.And) else r" \/ ").join(parts)
    if isinstance(node, sp.Not):
        return f"~ {parts[0]}"
    if isinstance(node, sp.Implies):
        return f"{parts[0]} -> {parts[1]}"
    if isinstance(node, sp.Equivalent) and len(parts) == 2:
        return f"{parts[0]} <-> {parts[1]}"
    raise NotExportable(f"{node.func.__name__} has no form here")
