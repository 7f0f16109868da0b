"""LaTeX: a standalone document that compiles with amsmath, amsthm and hyperref, and fits the page.

A formula wider than the line is broken (:mod:`eigentoken.theory.printing.plain_text`); if one line is still too wide it is
scaled to the line by ``\\fitted``, so displays are never overfull.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from eigentoken.proofs.bibliography import Reference
from eigentoken.proofs.typeset.document import (
    Block,
    Display,
    End,
    Figure,
    Heading,
    Items,
    Paragraph,
    PrintedArgument,
    PrintedDocument,
    PrintedTable,
    StatementBox,
    sentence,
)
from eigentoken.theory.printing.plain_text import WIDE, broken, plain_text
from eigentoken.theory.printing.scalars import fraction_levels, width

__all__ = ["escape", "to_latex"]

KINDS = (
    "lemma", "theorem", "proposition", "definition", "remark", "extension", "counterexample", "conjecture",
)  # fmt: skip
#: An inline formula longer than this is displayed: it could not be broken over two lines.
LONG = 37
PREAMBLE = r"""\documentclass[11pt,a4paper]{article}
\usepackage[T1]{fontenc}
\usepackage[utf8]{inputenc}
\usepackage{lmodern}
\usepackage[margin=27mm]{geometry}
\usepackage{amsmath,amssymb,amsthm,graphicx,microtype,booktabs,array,longtable}
\usepackage[hidelinks]{hyperref}
% a statement has a title, and its id beside it: "Lemma (title), PM-L4."
\newtheoremstyle{named}{8pt plus 2pt}{8pt plus 2pt}{\itshape}{}{\bfseries}{.}{.5em}{\thmname{#1}#3}
\newtheoremstyle{namedupright}{8pt plus 2pt}{8pt plus 2pt}{}{}{\bfseries}{.}{.5em}{\thmname{#1}#3}
\theoremstyle{named}
\newtheorem*{lemma}{Lemma}
\newtheorem*{theorem}{Theorem}
\newtheorem*{proposition}{Proposition}
\newtheorem*{extension}{Extension}
\newtheorem*{conjecture}{Conjecture}
\theoremstyle{namedupright}
\newtheorem*{definition}{Definition}
\newtheorem*{remark}{Remark}
\newtheorem*{counterexample}{Counterexample}
% a step: its number, its justification in words, then what it says
% its lines may end early, so that none ends inside a formula
\newcommand{\step}[2]{\par\addvspace{6pt plus 2pt}\rightskip=0pt plus 30em\relax
  \noindent\textbf{Step #1} {\small\itshape(#2)}\textbf{.}\enspace\ignorespaces}
\newcommand{\stepend}{\par\rightskip=0pt\relax}
\newcommand{\needs}[1]{\par\nobreak\noindent{\small #1}\par}
\newcommand{\parthead}[1]{\par\addvspace{10pt plus 3pt}\noindent{\bfseries\itshape #1.}\par\nobreak\addvspace{3pt}}
\newenvironment{conditions}{\begin{list}{\textbullet}{\setlength{\itemsep}{1pt}\setlength{\parsep}{0pt}%
  \setlength{\topsep}{3pt}\setlength{\leftmargin}{2.2em}}}{\end{list}}
% scale a box that is wider than the line (the ratio goes to the log), or higher than a page
\newsavebox{\fitbox}
\newcommand{\fitted}[2][0.92]{\sbox{\fitbox}{$\displaystyle #2$}%
  \ifdim\wd\fitbox>#1\linewidth\wlog{fitted \the\wd\fitbox\space to \the\linewidth}%
  \resizebox{#1\linewidth}{!}{\usebox{\fitbox}}\else
  \ifdim\dimexpr\ht\fitbox+\dp\fitbox\relax>0.85\textheight\ensuremath{\vcenter{\hbox{%
  \resizebox*{!}{0.85\textheight}{\usebox{\fitbox}}}}}\else\usebox{\fitbox}\fi\fi}
\setlength{\emergencystretch}{6em} \tolerance=3000 \hbadness=3000
% no line ends inside a formula, nor a page inside the words before one
\relpenalty=10000 \binoppenalty=10000 \clubpenalty=10000 \widowpenalty=10000 \displaywidowpenalty=10000
% a heading has some lines of what follows on its page
\newcommand{\room}{\par\ifdim\dimexpr\pagegoal-\pagetotal\relax<7\baselineskip\ifdim\pagetotal>0pt\vfil\break\fi\fi}
\makeatletter\@beginparpenalty=10000\makeatother % no page break between a heading and its list
\allowdisplaybreaks
"""


def to_latex(document: PrintedDocument, *, contents: bool = False) -> str:
    """The whole file, ready for latexmk."""
    render = _Renderer(document)
    lines = [PREAMBLE, rf"\title{{{escape(document.title)}}}", r"\author{eigentoken}", r"\date{}"]
    lines += [r"\begin{document}", r"\maketitle"]
    if contents:
        lines += [CONTENTS, r"\tableofcontents", r"\clearpage"]
    lines += [render.block(each) for each in document.blocks]
    lines += _bibliography(document.bibliography.values())
    lines.append(r"\end{document}")
    return "\n".join(lines) + "\n"


def _bibliography(entries: Collection[Reference]) -> list[str]:
    """The reference list, and the BibTeX it was made from as comments."""
    if not entries:
        return []
    items = [rf"\bibitem{{{each.key}}} {escape(sentence(each))}" for each in entries]
    comments = ["% " + line for each in entries for line in each.text.splitlines()]
    return [r"\begin{thebibliography}{99}", *items, r"\end{thebibliography}", "% The same as BibTeX:", *comments]


def _breakable(name: str) -> str:
    """A long name of a system may be broken after its hyphens."""
    return re.sub(r"(?<=[a-z])-(?=[a-z])", r"-\\allowbreak{}", name)


def escape(text: str) -> str:
    """Escape what is special outside mathematics, leaving dollar-delimited parts and commands alone.

    >>> escape("50% of $x_1$ with l <= 3 (see `eigentoken verify`)")
    '50\\\\% of $x_1$ with l $\\\\leq$ 3 (see \\\\texttt{eigentoken verify})'
    """
    return "".join(part if part.startswith("$") else _escaped(part) for part in re.split(r"(\$[^$]*\$)", text))


#: Room for numbers of four digits ("14.13") before the titles in the contents, and for three-digit pages behind them.
CONTENTS = (
    r"\makeatletter\renewcommand*\l@subsection{\@dottedtocline{2}{1.5em}{3em}}"
    r"\renewcommand{\@pnumwidth}{2.2em}\renewcommand{\@tocrmarg}{3.6em plus 1fil}\makeatother"
)
#: Commands that were put into a text before it is escaped.
_COMMAND = re.compile(r"(\\(?:cite|label|hyperref|ref|eqref)(?:\[[^\]]*\])?\{[^}]*\})")


def _escaped(words: str) -> str:
    parts = re.split(r"(?<![`])`([^`']+)`", words)
    return "".join(_code(part) if k % 2 else _prose(part) for k, part in enumerate(parts))


def _code(text: str) -> str:
    """What stands in backquotes, letter by letter: it may be a formula in plain text.

    >>> print(_code("e^{-t} x_i"))
    \\texttt{e\\^{}\\{-t\\} x\\_i}
    """
    special = {"\\": r"\textbackslash{}", "^": r"\^{}", "~": r"\~{}", **{each: rf"\{each}" for each in "_{}%&#$"}}
    parts = _COMMAND.split(text)
    parts[::2] = [_breakable("".join(special.get(each, each) for each in part)) for part in parts[::2]]
    return rf"\texttt{{{''.join(parts)}}}"


def _prose(words: str) -> str:
    words = re.sub(r"(?<!\\)([%&#])", r"\\\1", words)
    parts = _COMMAND.split(words)
    for index in range(0, len(parts), 2):
        parts[index] = re.sub(r"(?<!\\)_", r"\\_", parts[index])
        parts[index] = re.sub(r"(?<!\\)\^(\w|\([^)]*\))", r"$^{\1}$", parts[index])
        parts[index] = parts[index].replace("<=", r"$\leq$").replace(">=", r"$\geq$")
    return re.sub(r'"([^"]*)"', r"``\1''", "".join(parts))


class _Renderer:
    """Blocks as LaTeX; ids of statements that have a place in this document become links to it."""

    def __init__(self, document: PrintedDocument) -> None:
        labels = [each.label for each in document.blocks if isinstance(each, Heading) and each.label]
        longest_first = sorted(labels, key=len, reverse=True)
        self._ids = (
            re.compile(rf"(?<![\w-])({'|'.join(map(re.escape, longest_first))})(?![\w.'-]*[\w'])") if labels else None
        )

    def text(self, words: str) -> str:
        if self._ids is None:
            return escape(words)
        parts = re.split(r"(\$[^$]*\$)", words)
        linked = [each if each.startswith("$") else self._ids.sub(r"\\hyperref[\1]{\1}", each) for each in parts]
        return escape("".join(linked))

    def flowing(self, words: str) -> str:
        """Words in which a formula that is too long for a line stands by itself, with the punctuation that follows."""
        parts = re.split(r"(\$[^$]*\$[.,;:]?)", words)
        for index in range(1, len(parts), 2):
            formula, mark = parts[index].rsplit("$", 1)
            if width(formula[1:]) > LONG or r"\displaystyle" in formula or fraction_levels(formula) > 1:
                label = re.search(r"\(A\d+\) \Z", parts[index - 1])  # it stands with what it is the label of
                parts[index - 1] = parts[index - 1].removesuffix(label.group() if label else "")
                name = rf"\text{{{label.group().strip()}}}\quad " if label else ""
                parts[index] = "\n" + rf"\[{name}\fitted{{{_ended(broken(formula[1:]), mark)}}}\]" + "\n"
            else:
                parts[index] = words_apart(formula[1:]) + mark
        return "".join(part if index % 2 else self.text(part) for index, part in enumerate(parts))

    def block(self, block: Block) -> str:
        if isinstance(block, Heading):
            return _heading(block)
        if isinstance(block, Paragraph):
            strong = rf"\noindent\textbf{{{escape(block.strong)}}} " if block.strong else r"\noindent "
            return f"\n\\par\\smallskip{strong}{self.flowing(block.text)}\n"
        if isinstance(block, PrintedArgument):
            return self._argument(block)
        if isinstance(block, Display):
            return _display(block.latex, block.label)
        if isinstance(block, Items):
            items = "\n".join(rf"\item {self._item(each)}" for each in block.items)
            kind = "enumerate" if block.numbered else "conditions"
            return rf"\begin{{{kind}}}" + f"\n{items}\n" + rf"\end{{{kind}}}"
        if isinstance(block, Figure):
            picture = rf"\includegraphics[width=\linewidth,height=0.85\textheight,keepaspectratio]{{{block.name}}}"
            shown = rf"\IfFileExists{{{block.name}}}{{{picture}}}{{(the picture {escape(block.name)} is not here)}}"
            return rf"\begin{{figure}}[htbp]\centering {shown}\caption{{{self.text(block.caption)}}}\end{{figure}}"
        if isinstance(block, PrintedTable):
            return self._table(block)
        if isinstance(block, End):
            return r"\nopagebreak\hfill$\square$\par"
        return self._box(block)

    def _table(self, block: PrintedTable) -> str:
        """A table over pages, its columns as wide as what stands in them asks for."""
        longest = [
            max(min(len(plain_text(row[place])), WIDE) + 6 for row in block.rows) for place in range(len(block.head))
        ]
        share = [0.9 * each / sum(longest) for each in longest]
        columns = "".join(rf">{{\raggedright\arraybackslash}}p{{{each:.3f}\linewidth}}" for each in share)
        head = " & ".join(rf"\textbf{{{self.text(each)}}}" for each in block.head)
        rows = [" & ".join(map(self._cell, row, share)) + r" \\[3pt]" for row in block.rows]
        begin, end = rf"{{\small{IN_A_CELL}\begin{{longtable}}{{{columns}}}", r"\end{longtable}}"
        return "\n".join((begin, rf"{head} \\ \hline \endhead", *rows, end))

    def _cell(self, text: str, share: float) -> str:
        """A cell that is one formula is broken, or scaled, to its column, which has this share of the line."""
        one = re.fullmatch(r"\$([^$]*)\$", text)
        wide = int(WIDE * share)
        if one and r"\text{" in one.group(1):
            flowing = words_apart(one.group(1))
            if all(width(each) <= wide for each in flowing.split("$")[1::2]):
                return flowing
        if not one:
            return self.text(text)
        shown = broken(one.group(1), wide).replace("aligned}", "aligned}[t]", 1)
        return rf"\fitted[0.98]{{{shown}}}"

    def _argument(self, block: PrintedArgument) -> str:
        text = rf"\step{{{block.number}}}{{{self.text(block.how)}}} {self.flowing(block.says)}"
        if block.formula:
            text += "\n" + _display(block.formula, block.label)
        return text + (rf"\needs{{{self.flowing(block.after)}}}" if block.after else "") + r"\stepend"

    def _box(self, block: StatementBox) -> str:
        kind = block.kind if block.kind in KINDS else "remark"
        # a list directly after the head would begin beside it
        inside = "\n".join(self.block(each) for each in block.blocks).replace(r"\par\smallskip\noindent ", "", 1)
        title = rf"{{\normalfont({escape(block.title)})}}, " if block.title else ""
        head = rf"\ {title}{escape(block.name)}"
        return rf"\begin{{{kind}}}[{{{head}}}]" + f"\n{inside.strip()}\n" + rf"\end{{{kind}}}"

    def _item(self, text: str) -> str:
        """An item that is one formula, and perhaps words after it, may be too wide: break or scale it like a display."""
        formula = re.fullmatch(r"([^$]*)\$([^$]*)\$([^$]*)", text)
        first_line = formula is not None and len(formula.group(1)) < LEAD  # else it stands in a line of its paragraph
        if (
            formula
            and first_line
            and (width(f"${formula.group(2)}$") > WIDE - len(formula.group(1)) or fraction_levels(formula.group(2)) > 1)
        ):
            shown = broken(formula.group(2), WIDE - len(formula.group(1))).replace("aligned}", "aligned}[t]", 1)
            before, after = self.text(formula.group(1)), self.text(formula.group(3))
            return rf"{before}\fitted[{0.99 - len(formula.group(1)) / 60:.2f}]{{{shown}}}{after}"
        return self.text(text)


#: A column is narrow: there a line may end inside a formula.
IN_A_CELL = r"\relpenalty=500 \binoppenalty=700 "
#: Words before a formula that leave it room in the first line of an item.
LEAD = 45


def words_apart(formula: str) -> str:
    r"""An inline formula with the words in it as words, between which a line may end.

    >>> print(words_apart(r"\bigl(\text{for every } i\text{: } x_{\text{old}} = 0\bigr)"))
    $\bigl($for every $i$: $x_{\text{old}} = 0\bigr)$
    """
    depth, begun, place, out = 0, 0, 0, []
    while place < len(formula):
        word = re.compile(r"\\text\{([^{}$]*)\}").match(formula, place) if depth == 0 else None
        if word:
            out += [formula[begun:place], word[1]]
            begun = place = word.end()
            continue
        depth += {"{": 1, "}": -1}.get(formula[place], 0) if place == 0 or formula[place - 1] != "\\" else 0
        depth += formula.startswith(r"\left", place) - formula.startswith(r"\right", place)
        place += 1
    out.append(formula[begun:])
    return "".join((f"${part.strip()}$" if part.strip() else "") if k % 2 == 0 else part for k, part in enumerate(out))


def _ended(formula: str, mark: str) -> str:
    """The punctuation after a formula stands on its last line."""
    lines, end, rest = formula.rpartition(r" \end{aligned}")
    return f"{lines}{mark}{end}" if end and not rest else f"{formula}{mark}"


def _heading(block: Heading) -> str:
    label = rf"\label{{{block.label}}}" if block.label else ""
    if block.level == 3:
        return rf"\parthead{{{escape(block.text)}}}{label}"
    command = {1: "section", 2: "subsection"}[block.level]
    plain = re.sub(r"[\\{}$%&#_^~]", "", plain_text(block.text))
    return rf"\room\{command}{{\texorpdfstring{{{escape(block.text)}}}{{{plain}}}}}{label}"


#: A display of more lines may go on over the page: else it could leave half a page empty.
LINES = 5
_ALIGNED = re.compile(r"\\begin\{aligned\} & (.*) \\end\{aligned\}", re.DOTALL)


def _display(latex: str, label: str) -> str:
    """A numbered formula; a long one may go on over the page, but not behind its first line nor before its last."""
    name = rf"\label{{{label}}}" if label else ""
    shown = broken(latex)
    whole = _ALIGNED.fullmatch(shown)
    lines = whole[1].split(r" \\ & ") if whole and r"\begin" not in whole[1] else []
    if len(lines) <= LINES or max(map(width, lines)) > WIDE:
        return rf"\begin{{equation}}{name}" + "\n" + rf"\fitted{{{shown}}}" + "\n" + r"\end{equation}"
    last = len(lines) - 1
    ends = [rf" \notag \\{'*' if place in (0, last - 1) else ''}" for place in range(last)]
    shown = "\n".join(f"& {line}{end}" for line, end in zip(lines, [*ends, name], strict=True))
    return r"\begin{align}" + "\n" + shown + "\n" + r"\end{align}"
