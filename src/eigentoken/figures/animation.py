"""Tokens that move: a run of ``simulate`` as an animated GIF, or as a page that plays, stops and steps through it."""

from __future__ import annotations

import base64
import io
from collections.abc import Callable, Sequence
from dataclasses import replace
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eigentoken.files.writing import write_bytes, write_text
from eigentoken.pages import page

if TYPE_CHECKING:
    from eigentoken.numerics.dynamics.charts import SpherePaths
    from eigentoken.numerics.dynamics.simulate import Simulation
    from eigentoken.theory.systems.system import System

__all__ = ["animate", "can_move"]

FRAMES, MILLISECONDS = 48, 90

STYLE = """.film { max-width: 44rem; margin: 0 auto; } #frame { background: #fff; width: 100%; }
#time { width: 60%; vertical-align: middle; }"""
PLAYER = """
const frames = JSON.parse(document.getElementById("frames").textContent), image = document.getElementById("frame");
const slider = document.getElementById("time"), button = document.getElementById("play"), said = document.getElementById("said");
let timer = null;
const show = k => { image.src = frames[k].image; slider.value = k; said.textContent = frames[k].said; };
const stop = () => { clearInterval(timer); timer = null; button.textContent = "play"; };
const play = () => { button.textContent = "stop"; if (+slider.value === frames.length - 1) show(0);
  timer = setInterval(() => { if (+slider.value + 1 < frames.length) show(+slider.value + 1); else stop(); }, MS); };
button.addEventListener("click", () => timer === null ? play() : stop());
slider.addEventListener("input", () => { stop(); show(+slider.value); });
show(0);
if (!matchMedia("(prefers-reduced-motion: reduce)").matches) play();
"""


def can_move(system: System, d: int) -> None:
    """Tokens of such a system are shown moving, or it is refused: they have two or three dimensions and a sphere."""
    from eigentoken.theory.systems.system import Space

    if d not in (2, 3) or system.space is Space.EUCLIDEAN:
        raise ValueError(
            f"an animation shows tokens on a circle or sphere (d = 2 or 3); {system.name} has d = {d}, space {system.space.value}"
        )


def animate(run: Simulation, path: str | Path, watch: Callable[[int, int], None] = lambda _made, _all: None) -> Path:
    """Write the tokens of the first start as ``.gif`` or ``.html``; they have two or three dimensions and a sphere.

    ``watch`` is called before each frame with how many are made, and of how many."""
    from eigentoken.numerics.dynamics.charts import SpherePaths

    target = Path(path)
    if target.suffix not in (".gif", ".html"):
        raise ValueError(f"an animation is written as .gif or .html, got {target.name!r}")
    can_move(run.system, run.states.shape[-1])
    (panel,) = [panel for panel in run.chart().panels if isinstance(panel, SpherePaths)]
    kept = _kept(len(run.times))
    unit = "layer" if run.system.time.value == "map" else "time"
    said = [f"{unit} {run.times[k]:.4g}" for k in kept]
    pictures: list[bytes] = []
    for k, text in zip(kept, said, strict=True):
        watch(len(pictures), len(kept))
        pictures.append(_frame(panel, k, text))
    if target.suffix == ".gif":
        write_bytes(target, _gif(pictures))
    else:
        write_text(target, _page(f"{run.system.title}: tokens of the first start", pictures, said))
    return target


def _kept(count: int) -> list[int]:
    """At most :data:`FRAMES` of the times, the first and the last among them."""
    if count <= FRAMES:
        return list(range(count))
    return sorted({round(k * (count - 1) / (FRAMES - 1)) for k in range(FRAMES)})


def _frame(panel: SpherePaths, last: int, said: str) -> bytes:
    from eigentoken.numerics.dynamics.charts import Chart
    from eigentoken.numerics.dynamics.drawing import draw

    picture = io.BytesIO()
    part = replace(panel, paths=panel.paths[: last + 1], title=said)
    figure = draw(Chart("", (part,), columns=1))
    figure.savefig(picture, format="png", dpi=110, metadata={"Software": None})
    return picture.getvalue()


def _gif(pictures: Sequence[bytes]) -> bytes:
    """The frames with one palette, the colours that the last has most of: a mixture would make patches of the shades."""
    from PIL import Image

    whole: list[Any] = [Image.open(io.BytesIO(each)).convert("RGB") for each in pictures]
    met = sorted(whole[-1].getcolors(whole[-1].width * whole[-1].height), reverse=True)[:256]
    palette = Image.new("P", (1, 1))
    palette.putpalette([part for _, colour in met for part in colour])
    images = [each.quantize(palette=palette, dither=Image.Dither.NONE) for each in whole]
    film = io.BytesIO()
    waits = [MILLISECONDS] * (len(images) - 1) + [1500]
    images[0].save(film, format="GIF", save_all=True, append_images=images[1:], duration=waits, loop=0)
    return film.getvalue()


def _page(title: str, pictures: Sequence[bytes], said: Sequence[str]) -> str:
    import json

    frames = [
        {"image": "data:image/png;base64," + base64.b64encode(each).decode(), "said": text}
        for each, text in zip(pictures, said, strict=True)
    ]
    body = (
        f'<main><h1>{escape(title)}</h1><figure class="film"><img id="frame" class="figure" alt="{escape(title)}">'
        '<figcaption><button type="button" id="play">play</button> '
        f'<label>time <input type="range" id="time" min="0" max="{len(frames) - 1}" value="0"></label> '
        '<span id="said" aria-live="off"></span></figcaption></figure></main>'
        f'<script type="application/json" id="frames">{json.dumps(frames)}</script>'
    )
    return page(
        title,
        body,
        style=STYLE,
        scripts=(PLAYER.replace("MS", str(MILLISECONDS)),),
        mathematics=False,
    )
