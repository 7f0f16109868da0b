"""JUnit XML of ``eigentoken verify``: a suite a statement, a case a step, vector, counterexample or property."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING
from xml.etree import ElementTree

if TYPE_CHECKING:
    from eigentoken.proofs.verify import Verified

__all__ = ["to_junit"]


def to_junit(results: Sequence[Verified]) -> str:
    """The XML of a list of :class:`eigentoken.proofs.verify.Verified`."""
    root = ElementTree.Element("testsuites", name="eigentoken verify")
    for each in results:
        bad = [line for line in each.lines if not line.good]
        counts = {"name": each.id, "tests": str(len(each.lines)), "failures": str(len(bad))}
        suite = ElementTree.SubElement(root, "testsuite", counts)
        for line in each.lines:
            case = ElementTree.SubElement(
                suite, "testcase", classname=each.id, name=_clean(f"{line.what}: {line.name}")
            )
            if not line.good:
                message = _clean(f"{line.answer}: {line.reason}")
                ElementTree.SubElement(case, "failure", message=message).text = message
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _clean(text: str) -> str:
    """Characters that XML 1.0 can hold."""
    return "".join(letter for letter in text if letter >= " " or letter in "\t\n")
