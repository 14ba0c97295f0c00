"""The examples of the docstrings."""

import doctest

import restive._doctor
import restive._evidence
import restive._programme
import restive._restive
import restive.domains


def test_examples_run():
    for module in (restive._restive, restive._doctor, restive._evidence, restive._programme, restive.domains, restive.trial):
        found = doctest.testmod(module)
        assert found.attempted > 0 and found.failed == 0
