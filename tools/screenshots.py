"""The pictures of docs/gallery.md and README.md: ``python tools/screenshots.py`` makes what they show, and photographs it.

Needs Chromium and ``pip install 'eigentoken[browser]'``; the derivation also LaTeX and pdftoppm.  Each picture is scaled to
:data:`WIDTH`, and given a palette where it would not stay below :data:`LARGEST` bytes.
``python tools/screenshots.py NAME...`` makes some.
"""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "images" / "gallery"
WIDTH, LARGEST = 960, 160_000
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
CHOOSE = (
    "const w = document.querySelector('.which'); w.value = [...w.options].findIndex(each => each.text.includes('{0}'));"
)
CHANGED = "w.dispatchEvent(new Event('change'));"


@dataclass(frozen=True)
class Shot:
    """A picture: what it shows, the command that makes it, the file that is opened, and what is done to the page first."""

    name: str
    says: str
    command: str
    opens: str
    script: str = ""
    height: int = 900
    colours: str = "light"


SHOTS = (
    Shot(
        "report",
        "The report of a check: what applies, what is near and what is far, before any detail.",
        "eigentoken check sample:rxnmapper --html report.html",
        "report.html",
    ),
    Shot(
        "statements",
        "The statements of the report in groups, each with what is in the way and how far it is.",
        "eigentoken check sample:rxnmapper --html report.html",
        "report.html",
        "document.querySelector('#statements').scrollIntoView()",
    ),
    Shot(
        "atlas",
        "The atlas of statements: which rests on which, by paper.",
        "eigentoken atlas PM-L15 -o atlas",
        "atlas/index.html",
    ),
    Shot(
        "counterexample",
        "A page of the atlas: the lemma, what is wrong in print, and the counterexample, nudged and run.",
        "eigentoken atlas PM-L15 -o atlas",
        "atlas/PM-L15.html",
        "document.querySelector('.alive').click()",
    ),
    Shot(
        "head",
        "A head of a trained model on the same page, in the invariant space of three of its eigenvalues.",
        "eigentoken atlas PM-L15 -o atlas",
        "atlas/PM-L15.html",
        CHOOSE.format("a complex pair leads") + CHANGED + "document.querySelector('.run').click()",
    ),
    Shot(
        "refutation",
        "A conjecture that falls: the exact counterexample, as matrices.",
        "eigentoken refute examples/conjectures/polygonal_instability.py --instances 20000 --html refutation.html",
        "refutation.html",
        height=700,
    ),
    Shot(
        "training",
        "Steps of a training beside each other: what changed, and where it is certified.",
        "eigentoken compare examples/byte_lm/step00000.safetensors examples/byte_lm/step00400.safetensors "
        "examples/byte_lm/step03000.safetensors --html compare.html",
        "compare.html",
    ),
    Shot(
        "derivation",
        "A derivation as a paper, printed from what the kernel proved.",
        "eigentoken derive PM-L4 --format pdf -o pm-l4",
        "pm-l4.pdf",
    ),
    Shot(
        "papers",
        "A page of the papers' figures, run again, in the dark: what agrees, what differs, and why.",
        "eigentoken reproduce li-altafini-13b --quick -o figures",
        "figures/index.html",
        colours="dark",
    ),
    Shot(
        "figure",
        "A figure of a paper, run again: fractions of trials with their intervals.",
        "eigentoken reproduce li-altafini-13b --quick -o figures",
        "figures/li-altafini-13b.png",
    ),
)


#: The picture of README.md, in docs/images.
FRONT = Shot(
    "front",
    "A report of eigentoken check: which theorems apply to a causal language model, and how far the others are",
    "eigentoken check sample:microformer --html front.html",
    "front.html",
    height=1120,
)


def place_of(shot: Shot) -> tuple[Path, int]:
    """Where a picture is kept, and how wide it is."""
    return (FOLDER.parent / "report.png", 1280) if shot is FRONT else (FOLDER / f"{shot.name}.png", WIDTH)


def small(picture: bytes, width: int = WIDTH) -> bytes:
    """A PNG scaled down to a width; with a palette where it would be too large without: on a shaded sphere one is seen."""
    from PIL import Image

    image = Image.open(io.BytesIO(picture)).convert("RGB")
    if image.width > width:
        image = image.resize((width, round(image.height * width / image.width)), Image.Resampling.LANCZOS)
    for each in (image, image.quantize(256, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)):
        made = io.BytesIO()
        each.save(made, "PNG", optimize=True)
        if made.tell() <= LARGEST:
            break
    return made.getvalue()


def taken(shot: Shot, folder: Path, browser: object) -> bytes:
    """What the file of a shot looks like: a page in the browser, the first page of a PDF, or a picture."""
    path = folder / shot.opens
    if path.suffix == ".png":
        return path.read_bytes()
    if path.suffix == ".pdf":
        command = [
            "pdftoppm",
            "-png",
            "-r",
            "110",
            "-f",
            "1",
            "-l",
            "1",
            "-singlefile",
            str(path),
            str(path.with_suffix("")),
        ]
        subprocess.run(command, check=True)
        return path.with_suffix(".png").read_bytes()
    page = browser.new_page(  # type: ignore[attr-defined]
        viewport={"width": 1280 if shot is FRONT else 1400, "height": shot.height}, color_scheme=shot.colours
    )
    page.goto(path.as_uri())
    page.wait_for_timeout(1500)
    if shot.script:
        page.evaluate(f"(() => {{ {shot.script} }})()")
        page.wait_for_timeout(1500)
    picture: bytes = page.screenshot()
    page.close()
    return picture


def main(wanted: list[str]) -> int:
    from playwright.sync_api import sync_playwright

    chosen = [each for each in (FRONT, *SHOTS) if not wanted or each.name in wanted]
    FOLDER.mkdir(parents=True, exist_ok=True)
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    with tempfile.TemporaryDirectory() as place, sync_playwright() as driver:
        folder = Path(place)
        (folder / "examples").symlink_to(ROOT / "examples")
        browser = driver.chromium.launch(executable_path=chromium, args=FLAGS)
        for command in dict.fromkeys(each.command for each in chosen):
            words = [sys.executable, "-m", *command.split()]
            ran = subprocess.run(words, cwd=folder, capture_output=True, text=True, env=dict(os.environ))
            if ran.returncode not in (0, 1):  # a refuted conjecture is an answer
                print(f"{command}: {ran.stderr.strip()[-300:]}", file=sys.stderr)
                return 1
        for each in chosen:
            path, width = place_of(each)
            picture = small(taken(each, folder, browser), width)
            path.write_bytes(picture)
            print(f"{path.name}: {len(picture)} bytes" + ("" if len(picture) <= LARGEST else ", too large"))
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
