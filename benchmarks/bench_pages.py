"""The report in a browser: its size, and how long until a reader can use it.

The issue asks: under 3 MB for a 12-layer, 12-head model, interactive within a second for 48 layers x 25 heads.
*Interactive* is measured as what a reader feels: from the start of the navigation until a key press on the heat map
has shown another head's verdict, as the page's own clock reads it, the median of several fresh pages.  The processor
time of the page's main thread stands beside it: on a loaded machine the first is the load's, the second the page's.

    python benchmarks/bench_pages.py [--report FILE.html]

With ``--report`` the given file (say, of a real model) is measured too.  Needs Chromium and ``eigentoken[browser]``.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

from large_report import page

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
PRESS = """() => new Promise(done => {
  const cell = document.querySelectorAll('#heat button')[1];
  new MutationObserver(() => requestAnimationFrame(() => setTimeout(() => done(performance.now()), 0)))
    .observe(document.getElementById('detail'), { childList: true });
  cell.focus();
  cell.click();
})"""


def milliseconds(browser: Any, path: Path, repeats: int = 7) -> tuple[float, float]:
    """Median times from the start of the navigation to a painted answer to a click: on the wall, and of the processor."""
    times, busy = [], []
    for _ in range(repeats):
        tab = browser.new_page()
        clock = tab.context.new_cdp_session(tab)
        clock.send("Performance.enable", {"timeDomain": "threadTicks"})
        tab.goto(path.as_uri(), wait_until="domcontentloaded")
        before = tab.locator("#detail").inner_text()
        times.append(float(tab.evaluate(PRESS)))
        metrics = clock.send("Performance.getMetrics")["metrics"]
        busy.append(next(1000 * float(each["value"]) for each in metrics if each["name"] == "TaskDuration"))
        if tab.locator("#detail").inner_text() == before:
            raise RuntimeError(f"{path.name}: the click changed nothing, so the time means nothing")
        tab.close()
    return statistics.median(times), statistics.median(busy)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--report", type=Path)
    options = parser.parse_args()
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        chromium = None
    if chromium is None:
        print("bench_pages: needs Chromium (Debian: chromium) and pip install 'eigentoken[browser]': not run")
        return 0
    missed = 0
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=FLAGS)
        cases: list[tuple[str, Path, float | None, float | None]] = []
        for layers, heads, size, wait in ((12, 12, 3e6, None), (48, 25, None, 1000.0)):
            path = Path(folder) / f"{layers}x{heads}.html"
            path.write_text(page(layers, heads, 768 if layers == 12 else 1600), encoding="utf-8")
            cases.append((f"{layers} layers x {heads} heads", path, size, wait))
        if options.report is not None:
            cases.append((options.report.name, options.report.resolve(), 3e6, 1000.0))
        print(
            f"{'report':24} {'bytes':>10} {'limit':>9} {'interactive, ms':>16} {'limit':>6} {'processor, ms':>14}  met"
        )
        for name, path, size, wait in cases:
            bytes_, (time, busy) = path.stat().st_size, milliseconds(browser, path)
            met = (size is None or bytes_ < size) and (wait is None or time < wait)
            missed += not met
            limits = f"{size:9.0f}" if size else " " * 9, f"{wait:6.0f}" if wait else " " * 6
            print(
                f"{name:24} {bytes_:10d} {limits[0]} {time:16.0f} {limits[1]} {busy:14.0f}  {'yes' if met else 'MISSED'}"
            )
        browser.close()
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
