"""Tests of scripts/deliberate-faults: the tests that count as oracles."""
import importlib.machinery
import importlib.util
import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent


def load():
    loader = importlib.machinery.SourceFileLoader("deliberate_faults", str(ROOT / "scripts" / "deliberate-faults"))
    spec = importlib.util.spec_from_loader(loader.name, loader)
    module = importlib.util.module_from_spec(spec)
    sys.modules[loader.name] = module
    sys.dont_write_bytecode, before = True, sys.dont_write_bytecode
    loader.exec_module(module)
    sys.dont_write_bytecode = before
    return module


faults = load()

OUTPUT = """
running 6 tests
test oracle::differences_are_found ... FAILED
test oracle::models::model_of_a_study_without_one_row_is_not_the_recorded_one ... FAILED
test oracle::models::record_models ... ignored, writes the records anew
test oracle::plans::plans_in_memory_are_the_recorded_ones ... ok
test oracle::plans::plans_of_a_stream_are_the_recorded_ones ... FAILED
test oracle::plans::plans_of_studies_without_one_arm_are_not_the_recorded_ones ... FAILED
test oracle::plans::rules_that_cannot_be_met_are_refused_by_every_mode ... FAILED

failures:

---- oracle::plans::plans_of_a_stream_are_the_recorded_ones stdout ----
"""


class DeliberateFaultsTest(unittest.TestCase):
    def test_only_comparisons_with_records_are_oracles(self):
        expected = {
            "oracle::plans::plans_in_memory_are_the_recorded_ones": "ok",
            "oracle::plans::plans_of_a_stream_are_the_recorded_ones": "FAILED",
        }
        self.assertEqual(faults.oracle_tests(OUTPUT), expected)

    def test_the_pipeline_has_oracles_for_plans_and_models_of_each_mode(self):
        suite = ROOT / "crates/restive-pipeline/tests/suite/oracle"
        for kind in ["plans", "models"]:
            source = (suite / f"{kind}.rs").read_text(encoding="utf-8")
            for mode in ["in_memory", "of_a_stream", "of_partitions"]:
                self.assertIn(f"\nfn {kind}_{mode}_are_the_recorded_ones()", source)


if __name__ == "__main__":
    unittest.main()
