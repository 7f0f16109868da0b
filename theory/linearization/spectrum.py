"""A spectrum with symbolic multiplicities: what it is, how it is counted, compared and evaluated."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import sympy as sp

from eigentoken.display import frame
from eigentoken.documents.spectrum_document import Extension, Family, Formula, SpectrumBody
from eigentoken.documents.spectrum_document import Verdict as VerdictDocument
from eigentoken.theory.exactness.numbers import exact_number
from eigentoken.theory.language.verdicts import Verdict, fails, holds
from eigentoken.theory.printing.plain_text import plain_text, plain_words
from eigentoken.theory.printing.scalars import formula
from eigentoken.theory.systems.algebra import Number

if TYPE_CHECKING:
    from pandas import DataFrame

    from eigentoken.theory.linearization.criterion import Criterion

__all__ = ["EigenvalueFamily", "Entry", "Spectrum", "entry_latex", "shown", "spectrum_latex"]


def shown(value: sp.Basic) -> Formula:
    """A formula as text that sympy reads, and as LaTeX."""
    return {"text": str(value), "latex": formula(value)}


@dataclass(frozen=True)
class EigenvalueFamily:
    """A symbol of an entry that runs over several values: ``lambda_ell`` over other eigenvalues, i over tokens."""

    symbol: sp.Symbol
    count: sp.Expr
    latex: str
    meaning: str


@dataclass(frozen=True)
class Entry:
    """One class of eigenvalues: the value (for each value of the running symbols) and its multiplicity there.

    ``block`` is the matrix whose eigenvalues a pair of entries are; ``tangent`` is false for directions off the
    manifold, and ``extension`` then says which continuation of the map they belong to.
    """

    value: sp.Expr
    multiplicity: sp.Expr
    runs: tuple[EigenvalueFamily, ...] = ()
    title: str = ""
    eigenvectors: str = ""
    tangent: bool = True
    extension: Extension | None = None
    block: sp.ImmutableMatrix | None = None

    @property
    def count(self) -> sp.Expr:
        """How many eigenvalues the entry stands for."""
        total = self.multiplicity
        for run in self.runs:
            total = total * run.count
        return sp.expand(total)

    def as_dict(self) -> Family:
        """One family of a ``spectrum`` document."""
        block = None if self.block is None else [[shown(each) for each in row] for row in self.block.tolist()]
        return {
            "class": self.title,
            "value": shown(self.value),
            "multiplicity": shown(self.multiplicity),
            "runs": [
                {"symbol": str(run.symbol), "count": shown(run.count), "over": run.latex, "meaning": run.meaning}
                for run in self.runs
            ],
            "eigenvectors": self.eigenvectors,
            "tangent": self.tangent,
            "extension": self.extension,
            "block": block,
        }


def _counted(verdict: Verdict) -> VerdictDocument:
    """A verdict by normal form: exact, without a certificate."""
    whole = verdict.as_dict()
    return {
        "verdict": whole["verdict"],
        "margin": whole["margin"],
        "unit": whole["unit"],
        "reason": whole["reason"],
        "certificate": None,
        "details": whole["details"],
    }


@dataclass(frozen=True, repr=False)
class Spectrum:
    """The eigenvalues of a linearization at a point.

    ``entries`` are the tangent classes first; ``dimension`` is what the multiplicities of those must add up to;
    ``conditions`` say where the formulas are valid; ``relations`` (such as ``n = p + q``) are used when counting and
    comparing; ``abbreviations`` are letters (``m_1``, ``b_1``) with what they stand for;
    ``notes`` are words with formulas between dollar signs.  ``criteria`` say when the point is
    stable; the front door (:func:`eigentoken.theory.linearization.at_points.spectrum`) fills them in.
    """

    system: str
    point: str
    entries: tuple[Entry, ...]
    dimension: sp.Expr
    flow: bool
    conditions: tuple[sp.Basic, ...] = ()
    relations: tuple[tuple[sp.Symbol, sp.Expr], ...] = ()
    abbreviations: tuple[tuple[sp.Symbol, sp.Expr], ...] = ()
    notes: tuple[str, ...] = ()
    criteria: tuple[Criterion, ...] = field(default=(), compare=False)

    def __iter__(self) -> Iterator[Entry]:
        """The classes that decide stability, one after the other."""
        return iter(self.tangent)

    def __getitem__(self, which: int) -> Entry:
        return self.tangent[which]

    @property
    def tangent(self) -> tuple[Entry, ...]:
        """The classes that decide stability."""
        return tuple(entry for entry in self.entries if entry.tangent)

    @property
    def eigenvalues(self) -> list[sp.Expr]:
        """The value of each class that decides stability, with abbreviations written out; :meth:`at` has numbers."""
        return [self.expanded(entry.value) for entry in self.tangent]

    @property
    def extrinsic(self) -> tuple[Entry, ...]:
        """The classes off the manifold: they depend on how the map is continued, and decide nothing."""
        return tuple(entry for entry in self.entries if not entry.tangent)

    def related(self, value: sp.Expr) -> sp.Expr:
        """The value with the relations used, in a normal form of rational functions."""
        return sp.cancel(sp.together(self.expanded(value).subs(self.relations)))

    def expanded(self, value: sp.Expr) -> sp.Expr:
        """The value with the abbreviations written out."""
        result = sp.sympify(value)
        for letter, meaning in self.abbreviations:
            result = result.xreplace({letter: meaning})
        return result

    def count_check(self) -> Verdict:
        """The multiplicities of the tangent classes add up to the dimension, symbolically."""
        total = sp.Add(*(entry.count for entry in self.tangent))
        excess = sp.expand(self.related(total - self.dimension))
        if excess == 0:
            return holds(f"the multiplicities add up to {self.dimension}")
        return fails(f"the multiplicities add up to {sp.expand(total)}, which exceeds {self.dimension} by {excess}")

    def same_as(self, other: Spectrum) -> bool:
        """Equal entries (value, multiplicity, runs) in any order, by the normal form of rational functions."""
        return _keys(self) == _keys(other)

    def at(
        self,
        values: Mapping[sp.Basic | str | float, sp.Basic | str | float] | None = None,
        runs: Mapping[sp.Basic | str | float, Sequence[sp.Basic | str | float]] | None = None,
        convert: Callable[[sp.Expr], Number] = sp.simplify,
        *,
        partial: bool = False,
        **letters: object,
    ) -> list[tuple[Number, int]]:
        """Numbers: ``(eigenvalue, multiplicity)`` of the tangent classes.

        ``values`` gives the symbols (by symbol or name), ``runs`` the list of values of each running symbol, all of them
        unless ``partial`` (one direction or token at a time).  Values at which the formulas are not valid are refused.
        Classes of multiplicity zero are left out.  Entries that are the roots of a block of three or more groups are
        computed from the block.  Both may be given by keyword, a list for a letter that runs.

        >>> from eigentoken.theory.linearization.at_points import spectrum
        >>> spectrum("oja-flow").at({"lambda_k": 2, "n": 3, "d": 3}, {"lambda_ell": [1, "-1/2"]})
        [(-1, 1), (-5/2, 1), (-2, 4)]
        >>> spectrum("oja-flow").at(lambda_k=2, n=3, d=3, lambda_ell=[1, "-1/2"])
        [(-1, 1), (-5/2, 1), (-2, 4)]
        """
        running = {run.symbol.name for entry in self.tangent for run in entry.runs}
        allowed = running | self._letters_named() if letters else running
        for name in letters:
            if name not in allowed:
                raise ValueError(f"{name} is no letter of this spectrum, which has {', '.join(sorted(allowed))}")
        named = {str(key): _number(str(key), value) for key, value in (values or {}).items()}
        listed = {str(key): _numbers(str(key), found) for key, found in (runs or {}).items()}
        named |= {name: _number(name, value) for name, value in letters.items() if name not in running}
        listed |= {name: _numbers(name, value) for name, value in letters.items() if name in running}
        self._check_valid(named)
        result = []
        for entry in self.tangent:
            from_block = entry.block is not None and entry.value in [run.symbol for run in entry.runs]
            free = [run.symbol for run in entry.runs if not (from_block and run.symbol == entry.value)]
            if not partial:
                self._check_counts([run for run in entry.runs if run.symbol in free], named, listed)
            for extra in _choices(free, listed):
                known = {**named, **extra}
                for name, expression in self.relations:
                    known.setdefault(str(name), expression.xreplace(_table(expression, known)))
                count = entry.multiplicity.xreplace(_table(entry.multiplicity, known))
                if count.free_symbols:
                    raise ValueError(f"values must name {sorted(map(str, count.free_symbols))} for the multiplicity")
                if not count.is_integer or count < 0:
                    raise ValueError(
                        f"values give the multiplicity {entry.multiplicity} = {count}: no such point exists"
                    )
                if count == 0:
                    continue
                for letter, meaning in reversed(self.abbreviations):
                    known[str(letter)] = meaning.xreplace(_table(meaning, known))
                if from_block and entry.block is not None:
                    numbers = _roots_of_block(entry.block.xreplace(_table(entry.block, known)))
                else:
                    numbers = [entry.value.xreplace(_table(entry.value, known))]
                for number in numbers:
                    if number.free_symbols:
                        missing = sorted(map(str, number.free_symbols))
                        raise ValueError(f"values must name {', '.join(missing)}, got only {', '.join(sorted(known))}")
                    result.append((convert(number), int(count)))
        return result

    def _letters_named(self) -> set[str]:
        """Every letter that a value, a multiplicity, a condition or what an abbreviation stands for speaks of."""
        said = [
            part for entry in self.tangent for part in (entry.value, entry.multiplicity, *(r.count for r in entry.runs))
        ]
        said += [part for entry in self.tangent if entry.block is not None for part in entry.block]
        said += [*self.conditions, *(meaning for _, meaning in (*self.relations, *self.abbreviations))]
        return {symbol.name for each in said for symbol in each.free_symbols} | {
            name.name for name, _ in self.relations
        }

    def _check_valid(self, named: Mapping[str, sp.Expr]) -> None:
        """Refuse values at which a condition of the formulas is false."""
        known = dict(named)
        for name, expression in self.relations:
            known.setdefault(str(name), expression.xreplace(_table(expression, known)))
        for condition in self.conditions:
            written = self.expanded(condition)
            found = written.xreplace(_table(written, known))
            if found == sp.false:
                raise ValueError(f"the formulas are valid where {plain_text(formula(condition))}, which is false here")

    def _check_counts(
        self, runs: Sequence[EigenvalueFamily], named: Mapping[str, sp.Expr], listed: Mapping[str, Sequence[sp.Expr]]
    ) -> None:
        """Refuse a list that is too short or too long for what its letter runs over."""
        for run in runs:
            wanted = run.count.xreplace(_table(run.count, named))
            given = listed.get(run.symbol.name)
            if given is not None and wanted.is_number and wanted != len(given):
                raise ValueError(
                    f"runs must list all {wanted} values of {run.symbol.name} ({plain_text(run.latex)}), got {len(given)}"
                )

    @property
    def latex(self) -> str:
        """The families as an array, with blocks, abbreviations and conditions under it (amsmath alone)."""
        return spectrum_latex(self)

    def as_dict(self) -> SpectrumBody:
        """The document ``eigentoken/spectrum``: families, where they are valid, and the criteria with their checked proofs."""
        return {
            "system": self.system,
            "point": self.point,
            "time": "flow" if self.flow else "map",
            "dimension": shown(self.dimension),
            "families": [each.as_dict() for each in self.entries],
            "conditions": [shown(each) for each in self.conditions],
            "relations": [{"letter": shown(name), "meaning": shown(value)} for name, value in self.relations],
            "abbreviations": [{"letter": shown(name), "meaning": shown(value)} for name, value in self.abbreviations],
            "notes": [plain_words(note) for note in self.notes],
            "count": _counted(self.count_check()),
            "criteria": [each.as_dict() for each in self.criteria],
        }

    def __str__(self) -> str:
        """One line a family, at most ten lines."""
        lines = [f"spectrum of {self.system} at {self.point}: {plain_text(formula(self.dimension))} eigenvalues"]
        lines += [
            f"  {value}" + (f"  ({runs})" if runs else "") + f"  x {count}" for value, runs, count in self.rows()[:5]
        ]
        where = [f"{name} = {meaning}" for name, meaning in self.letters()]
        if where:
            lines.append("  where " + ", ".join(where))
        if self.conditions:
            lines.append("  if " + ", ".join(self.plain_conditions()))
        lines += [f"  {plain_words(note)}" for note in self.notes[:1]]
        if self.criteria:
            lines.append(f"  stability: .criteria has {len(self.criteria)}")
        return "\n".join(line if len(line) <= 160 else f"{line[:157]}..." for line in lines)

    __repr__ = __str__

    def rows(self) -> list[tuple[str, str, str]]:
        """Value, what its letters run over, and multiplicity of each tangent family, in plain text; a block is named."""
        listed = []
        names = self.blocks()
        for entry in self.tangent:
            runs = [run for run in entry.runs if entry.block is None or run.symbol != entry.value]
            value = plain_text(formula(entry.value))
            count = plain_text(formula(entry.multiplicity))
            if entry.block is not None:
                value, count = f"eigenvalues of {plain_text(names[entry.block])}", f"{count} each"
            row = (value, ", ".join(plain_text(run.latex) for run in runs), count)
            if row not in listed or entry.block is None:
                listed.append(row)
        return listed

    def plain_conditions(self) -> list[str]:
        """Where the formulas are valid, in plain text."""
        return [plain_text(formula(each)) for each in self.conditions]

    def blocks(self) -> dict[sp.ImmutableMatrix, str]:
        """The blocks whose eigenvalues are families, with their names."""
        found = list(dict.fromkeys(entry.block for entry in self.entries if entry.block is not None))
        names = [r"B_\ell"] if len(found) == 1 else [rf"B_\ell^{{({place})}}" for place in range(1, len(found) + 1)]
        return dict(zip(found, names, strict=True))

    def letters(self) -> list[tuple[str, str]]:
        """Blocks and abbreviations with what they stand for, in plain text."""
        listed = []
        for block, name in self.blocks().items():
            rows = [", ".join(plain_text(formula(each)) for each in row) for row in block.tolist()]
            listed.append((plain_text(name), f"[{'; '.join(rows)}]"))
        return listed + [(plain_text(formula(a)), plain_text(formula(b))) for a, b in self.abbreviations]

    def to_frame(self) -> DataFrame:
        """One row a tangent family: value, what its letters run over, multiplicity, all as text (pandas)."""
        return frame({"value": value, "for": runs, "multiplicity": count} for value, runs, count in self.rows())

    def _repr_latex_(self) -> str:
        return f"$$\n{self.latex}\n$$"


def _roots_of_block(block: sp.ImmutableMatrix) -> list[sp.Expr]:
    """The eigenvalues of a block of numbers with their multiplicities: computed with 300 digits, so that a multiple one
    (which costs digits in proportion to its multiplicity) still has many."""
    if block.free_symbols:
        return [sp.Add(*block)]  # the caller names what is missing
    from mpmath import MPContext

    mp = MPContext()
    mp.dps = 300
    size = block.rows
    numbers = mp.matrix(size, size)
    for i in range(size):
        for j in range(size):
            real, imaginary = sp.N(block[i, j], 300).as_real_imag()
            numbers[i, j] = mp.mpc(str(real), str(imaginary)) if imaginary != 0 else mp.mpf(str(real))
    found = mp.eig(numbers, left=False, right=False)
    return [sp.Float(str(mp.re(value)), 90) + sp.I * sp.Float(str(mp.im(value)), 90) for value in found]


def _number(name: str, value: object) -> sp.Expr:
    """A number as it was given, a text by the grammar of exact numbers."""
    plain = value.item() if hasattr(value, "item") and getattr(value, "shape", None) == () else value
    if isinstance(plain, sp.Expr) and plain.is_number:
        return plain
    if isinstance(plain, int | float | complex) and not isinstance(plain, bool):
        return sp.sympify(plain)
    try:
        return exact_number(plain)
    except ValueError as problem:
        raise ValueError(f"{name} must be a number, got {str(value)[:60]!r}: {problem}") from None


def _numbers(name: str, values: object) -> list[sp.Expr]:
    entries = values.tolist() if hasattr(values, "tolist") else values
    if isinstance(entries, str) or not isinstance(entries, Iterable):
        raise ValueError(f"{name} runs over a list of numbers, got {str(values)[:60]!r}")
    return [_number(name, value) for value in entries]


def _table(expression: sp.Expr, known: Mapping[str, sp.Expr]) -> dict[sp.Symbol, sp.Expr]:
    return {symbol: known[symbol.name] for symbol in expression.free_symbols if symbol.name in known}


def _choices(symbols: Sequence[sp.Symbol], listed: Mapping[str, list[sp.Expr]]) -> list[dict[str, sp.Expr]]:
    found: list[dict[str, sp.Expr]] = [{}]
    for symbol in symbols:
        if symbol.name not in listed:
            raise ValueError(f"runs must list the values of {symbol.name}, got only {', '.join(listed) or 'nothing'}")
        found = [{**old, symbol.name: value} for old in found for value in listed[symbol.name]]
    return found


def _keys(spectrum: Spectrum) -> list[str]:
    return sorted(
        repr(
            (
                sp.srepr(spectrum.related(entry.value)),
                sp.srepr(sp.expand(spectrum.related(entry.multiplicity))),
                sorted(run.symbol.name for run in entry.runs),
                entry.tangent,
                entry.extension,
            )
        )
        for entry in spectrum.entries
    )


# -- LaTeX ------------------------------------------------------------------------------------------------------------


def entry_latex(entry: Entry) -> tuple[str, str]:
    """The value and the multiplicity of an entry."""
    runs = ",\\ ".join(run.latex for run in entry.runs)
    value = formula(entry.value).replace(r"\frac", r"\dfrac", 1)
    return value + (rf"\quad({runs})" if runs else ""), formula(entry.multiplicity)


def spectrum_latex(spectrum: Spectrum) -> str:
    """The spectrum as a table: class, value, multiplicity, eigenvectors; then the block and the abbreviations."""
    rows = []
    blocks = spectrum.blocks()
    told: set[sp.ImmutableMatrix] = set()
    for entry in spectrum.entries:
        if entry.block is None:
            value, multiplicity = entry_latex(entry)
        elif entry.block in told:
            continue
        else:
            told.add(entry.block)
            size = entry.block.rows
            runs = ",\\ ".join(run.latex for run in entry.runs if run.symbol != entry.value)
            which = rf"\text{{the {'two' if size == 2 else size} eigenvalues of }}{blocks[entry.block]}"
            value = which + (rf"\quad({runs})" if runs else "")
            multiplicity = rf"{formula(entry.multiplicity)}\text{{ each}}"
        title = entry.title.replace("+v_k", "$+v_k$").replace("-v_k", "$-v_k$").replace("to rho", r"to $\rho$")
        if not entry.tangent:
            title += f" ({entry.extension} extension)"
        rows.append(rf"\text{{{title}}} & {value} & {multiplicity} & {entry.eigenvectors}")
    header = r"\text{class} & \text{eigenvalue} & \text{multiplicity} & \text{eigenvectors} \\ \hline\rule{0pt}{16pt}"
    gap = " \\\\[7pt]\n"
    table = f"\\begin{{array}}{{llll}}\n{header}\n{gap.join(rows)}\n\\end{{array}}"
    after = [rf"{name}&={_matrix(block)}" for block, name in blocks.items()]
    after += [rf"{formula(letter)}&={formula(meaning)}" for letter, meaning in spectrum.abbreviations]
    if spectrum.conditions:
        after.append(r"&\text{where }" + ",\\quad ".join(formula(condition) for condition in spectrum.conditions))
    if not after:
        return table
    below = " \\\\\n".join(after)
    return f"\\begin{{gathered}}\n{table} \\\\[6pt]\n\\begin{{aligned}}\n{below}\n\\end{{aligned}}\n\\end{{gathered}}"


def _matrix(block: sp.ImmutableMatrix) -> str:
    rows = [
        " & ".join(
            rf"\dfrac{{{formula(sp.numer(e))}}}{{{formula(sp.denom(e))}}}" if sp.denom(e) != 1 else formula(e)
            for e in row
        )
        for row in block.tolist()
    ]
    return "\\begin{pmatrix}\n" + " \\\\[8pt]\n".join(rows) + "\n\\end{pmatrix}"
