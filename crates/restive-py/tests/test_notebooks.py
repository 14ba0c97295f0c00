"""Notebooks run, in an interpreter of their own, and print what their pages say."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from notebooks import PAGES, ROOT

NUMBER = re.compile(r"-?\d+\.?\d*")


def test_every_notebook_has_a_page():
    assert {file.stem for file in (ROOT / "notebooks").glob("*.py")} == set(PAGES)


@pytest.mark.parametrize("name", PAGES)
def test_a_notebook_prints_what_its_page_says(name):
    code = f"import sys, notebooks; sys.stdout.write(notebooks.page({name!r}))"
    here = {**os.environ, "PYTHONPATH": str(Path(__file__).parent), "PYTHONIOENCODING": "utf-8"}
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", env=here)
    assert run.returncode == 0, run.stderr
    expected = (ROOT / "docs" / PAGES[name]).read_text(encoding="utf-8")
    assert NUMBER.sub("#", run.stdout) == NUMBER.sub("#", expected)
    for found, number in zip(NUMBER.findall(run.stdout), NUMBER.findall(expected), strict=True):
        # another processor, or another release of PyTorch, may round differently, and a training amplifies that
        assert float(found) == pytest.approx(float(number), rel=0.02, abs=1e-3), "write the page anew: notebooks.py"
