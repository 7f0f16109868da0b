"""The one error of this room: a checkpoint, a configuration or a source that cannot be used as it stands."""

from __future__ import annotations


class ModelError(ValueError):
    """What is wrong, where, what was expected and what to do, on one line.

    >>> str(ModelError("first\\nsecond"))
    'first second'
    """

    def __init__(self, message: str) -> None:
        super().__init__(" ".join(message.split()))


def brief(error: BaseException, limit: int = 160) -> str:
    """The first line of another library's error, short enough to be quoted in ours."""
    text = " ".join(str(error).split()) or type(error).__name__
    return text if len(text) <= limit else text[: limit - 3] + "..."


def some(names: object, limit: int = 6) -> str:
    """A few of the names, for messages: ``a, b, c (and 9 more)``.

    >>> some(["a", "b", "c"], limit=2)
    'a, b (and 1 more)'
    """
    listed = [str(name)[:120] for name in names] if hasattr(names, "__iter__") else [str(names)]
    if not listed:
        return "nothing"
    more = len(listed) - limit
    return ", ".join(listed[:limit]) + (f" (and {more} more)" if more > 0 else "")
