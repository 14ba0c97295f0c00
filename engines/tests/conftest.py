"""What the tests of all engines share: one programme, and the plan that the program makes of it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "crates/restive-py/tests"))

import people  # noqa: E402

PEOPLE = int(os.environ.get("RESTIVE_ENGINES_PEOPLE", "20000"))


class Programme:
    """Where everything is, and what the plan must be."""

    def __init__(self, folder):
        self.folder = folder
        people.make(folder, PEOPLE, files=7)
        self.model, self.study, self.rules = folder / "model", folder / "study", folder / "rules.toml"
        self.people = str(folder / "people")
        self.files = f"{self.people}/*.parquet"
        command = [os.environ["RESTIVE_PROGRAM"], "plan", self.model, self.study, "--rules", self.rules, "--json"]
        self.truth = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)

    def check(self, plan):
        """The plan of the program, number for number."""
        assert json.loads(plan.json) == self.truth


@pytest.fixture(scope="session")
def programme(tmp_path_factory):
    return Programme(tmp_path_factory.mktemp("programme"))


@pytest.fixture(scope="session")
def asked():
    return {"step": people.STEP}
