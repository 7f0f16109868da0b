"""A registered statement is pickled as its id and the digest of its text; another one as its fields, or refused in one line."""

from __future__ import annotations

import copy
import pickle
import subprocess
from dataclasses import replace

import pytest

from eigentoken.theory.statements.registry import pickled, restored, statement, statements
from eigentoken.theory.statements.statement import Statement

from ..commands import tool


def test_every_statement_of_the_book_comes_back_as_itself() -> None:
    for each in statements():
        assert pickle.loads(pickle.dumps(each)) is each
        assert copy.deepcopy(each) is copy.copy(each) is each


def test_another_process_finds_the_statement() -> None:
    code = "import pickle, sys; print(pickle.load(sys.stdin.buffer).title)"
    ran = subprocess.run(
        [*tool("warm").command(), "-c", code], input=pickle.dumps(statement("PM-L4")), capture_output=True
    )
    assert ran.stdout.decode().strip() == statement("PM-L4").title, ran.stderr.decode()


def test_a_statement_whose_text_has_changed_is_not_taken_for_the_one_that_was_saved() -> None:
    key = pickled(statement("PM-L4"))
    assert key is not None
    assert restored(*key) is statement("PM-L4")
    with pytest.raises(ValueError, match="PM-L4 was pickled from another text than the one that is registered"):
        restored(key[0], "0" * 64)


def test_a_statement_that_nobody_registered_is_saved_by_its_fields_or_refused() -> None:
    book = statement("PM-L4")
    own = Statement("MY-1", book.kind, book.source, "mine", book.systems, book.conditions, book.claims)
    assert pickled(own) is None
    assert pickle.loads(pickle.dumps(own)) == own
    same_id = replace(own, id="PM-L4")  # not the registered one: it may not come back as that
    assert pickle.loads(pickle.dumps(same_id)).title == "mine"
    with pytest.raises(
        pickle.PicklingError, match=r"^statement MY-2 is not registered and its derive is a function"
    ) as said:
        pickle.dumps(replace(own, id="MY-2", derive=lambda: None))
    assert "\n" not in str(said.value)
