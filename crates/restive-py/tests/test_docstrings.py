"""The examples of the docstrings."""

import doctest

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


def test_the_page_of_arrays_and_company_runs(capsys):
    pytest.importorskip("sklearn")
    pytest.importorskip("jax")
    page = (Path(__file__).parents[3] / "docs" / "python-company.md").read_text(encoding="utf-8")
    found = {}
    for block in page.split("```python\n")[1:]:
        exec(block.split("```")[0], found)
    said = capsys.readouterr().out
    assert "Study(10 instances" in said and "(4, 2, 2, 2)" in said and "2700 2" in said
    assert found["worths"][-1] > found["worths"][0] + 1.0  # the training step of JAX climbs
