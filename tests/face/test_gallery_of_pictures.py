"""The gallery in the documentation: every picture that the tool makes is there, is shown, and is small."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from eigentoken.cli import app

from ..commands import tool

ROOT = Path(__file__).resolve().parents[2]


def test_every_picture_is_there_shown_and_small() -> None:
    shots = tool("screenshots")
    page = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
    shown = re.findall(r"!\[([^\]]+)\]\(images/gallery/([\w-]+)\.png\)", page)
    assert shown == [(each.says, each.name) for each in shots.SHOTS]
    pictures = {path.stem: path.read_bytes() for path in shots.FOLDER.iterdir()}
    assert set(pictures) == {each.name for each in shots.SHOTS}
    for name, content in pictures.items():
        assert content.startswith(b"\x89PNG\r\n"), name
        assert len(content) <= shots.LARGEST, f"{name}.png is too large: python tools/screenshots.py {name}"
        assert int.from_bytes(content[16:20], "big") <= shots.WIDTH, name


def test_every_command_of_a_picture_exists_and_makes_what_is_opened() -> None:
    known = {each.name for each in app.registered_commands}
    shots = tool("screenshots")
    assert f"![{shots.FRONT.says}](docs/images/report.png)" in (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(shots.place_of(shots.FRONT)[0].read_bytes()) <= shots.LARGEST
    for shot in (shots.FRONT, *shots.SHOTS):
        program, command, *rest = shot.command.split()
        assert program == "eigentoken" and command in known
        made = rest[-1].removesuffix(".pdf")
        assert shot.opens.startswith(made), f"{shot.name}: {shot.opens} is not what {shot.command} writes"
        for path in rest:
            if path.startswith("examples/"):
                assert (ROOT / path).is_file()


def test_a_picture_is_made_small() -> None:
    image = pytest.importorskip("PIL.Image")
    import io

    import numpy as np

    noise = np.random.default_rng(0).integers(0, 255, (400, 2000, 3), dtype=np.uint8)
    made = io.BytesIO()
    image.fromarray(noise).save(made, "PNG")
    found = tool("screenshots").small(made.getvalue(), 500)
    assert image.open(io.BytesIO(found)).size == (500, 100) and len(found) < len(made.getvalue()) / 10
