"""The examples of the docstrings."""

import doctest
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import restive._doctor
import restive._evidence
import restive._extras
import restive._programme
import restive._restive
import restive.convert
import restive.domains


def test_examples_run():
    for module in (restive._restive, restive._doctor, restive._extras, restive.convert, restive._evidence, restive._programme, restive.domains, restive.trial):
        found = doctest.testmod(module)
        assert found.attempted > 0 and found.failed == 0


def test_the_page_of_arrays_and_company_runs():
    """In a process of its own: JAX has threads, and who forks afterwards is warned of them."""
    pytest.importorskip("sklearn")
    pytest.importorskip("jax")
    page = (Path(__file__).parents[3] / "docs" / "python-company.md").read_text(encoding="utf-8")
    code = "\n".join(block.split("```")[0] for block in page.split("```python\n")[1:])
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", env={**os.environ, "PYTHONIOENCODING": "utf-8"})
    assert run.returncode == 0, run.stderr
    assert "Study(10 instances" in run.stdout and "(4, 2, 2, 2)" in run.stdout and "2700 2" in run.stdout
    first, last = map(float, re.search(r"sampling: (\S+) at first, (\S+) after 30 steps", run.stdout).groups())
    assert last > first + 1.0  # the training step of JAX climbs
