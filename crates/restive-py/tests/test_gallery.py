"""The scripts of the gallery run, say what its page says, and make a picture that shows something."""

import os
import re
import struct
import subprocess
import sys
import zlib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs" / "gallery" / "README.md").read_text(encoding="utf-8")
NAMES = sorted(script.stem for script in (ROOT / "gallery").glob("*.py") if script.stem != "look")
NUMBER = re.compile(r"-?\d+\.?\d*")


def pixels(png):
    """How many different rows of pixels a picture has, and its width."""
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    at, data = 8, b""
    while at < len(png):
        length, kind = struct.unpack(">I4s", png[at : at + 8])
        if kind == b"IHDR":
            width, height = struct.unpack(">II", png[at + 8 : at + 16])
        if kind == b"IDAT":
            data += png[at + 8 : at + 8 + length]
        at += 12 + length
    rows = zlib.decompress(data)
    size = len(rows) // height
    return len({rows[k * size : (k + 1) * size] for k in range(height)}), width


def said(name):
    """What the page says that a script prints."""
    return re.search(rf"gallery/{name}\.py.*?```text\n(.*?)```", PAGE, re.DOTALL).group(1)


def test_the_page_shows_every_script_and_its_picture():
    assert len(NAMES) == 8
    for name in NAMES:
        assert f"(../../gallery/{name}.py)" in PAGE and f"({name}.png)" in PAGE
        assert (ROOT / "docs" / "gallery" / f"{name}.png").exists()


@pytest.mark.parametrize("name", NAMES)
def test_a_script_prints_what_its_page_says_and_draws(name, tmp_path):
    if name == "ope_beside_obp":
        pytest.importorskip("obp")
    here = {**os.environ, "PYTHONIOENCODING": "utf-8", "MPLCONFIGDIR": str(tmp_path / "config")}
    script = ROOT / "gallery" / f"{name}.py"
    run = subprocess.run([sys.executable, str(script), str(tmp_path)], capture_output=True, encoding="utf-8", env=here)
    assert run.returncode == 0, run.stderr
    expected = said(name)
    assert NUMBER.sub("#", run.stdout) == NUMBER.sub("#", expected)
    for found, number in zip(NUMBER.findall(run.stdout), NUMBER.findall(expected), strict=True):
        # another processor or another release of PyTorch rounds differently, and a training amplifies that
        assert float(found) == pytest.approx(float(number), rel=0.1, abs=3), f"{run.stdout} is not {expected}"
    rows, width = pixels((tmp_path / f"{name}.png").read_bytes())
    assert rows > 100 and width > 600
