"""Tests of benchmarks/compare: interval, verdict, inputs, and a comparison of two small programs."""
import importlib.machinery
import importlib.util
import json
import math
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import builds
import data
import median_interval
import parquet_writer
import rows
import web_pages

PROGRAM = """#!/bin/sh
if [ "$1" = --version ]; then echo restive 0.0.0; else sleep SLEEP; fi
"""

# `restive serve` with a ticket, a cookie and three pages; the page /slow takes longer
SERVER = """#!PYTHON
import http.server, time
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_GET(self):
        is_known = self.headers.get("Cookie") == "session=1"
        text = '<a href="/person/B7?x=1">B7</a>' if is_known or self.path == "/enter/1" else ""
        self.send_response(200 if text and self.path != "/missing" else 404)
        if self.path == "/enter/1":
            self.send_header("Set-Cookie", "session=1; HttpOnly")
        if self.path == "/slow":
            time.sleep(0.02)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())
    def log_message(self, *words): pass
server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
print("http://127.0.0.1:%d/enter/1" % server.server_port, flush=True)
server.serve_forever()
"""


def load_compare():
    loader = importlib.machinery.SourceFileLoader("compare", str(HERE / "compare"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("compare", loader))
    loader.exec_module(module)
    return module


class MedianInterval(unittest.TestCase):
    def test_ranks_are_those_of_the_binomial_distribution(self):
        # tables of the sign test: rank of the lower end of an interval of at least 95 %
        for n, k in {6: 1, 8: 1, 9: 2, 12: 3, 15: 4, 17: 5, 20: 6, 25: 8, 30: 10, 50: 18}.items():
            found, coverage = median_interval.rank(n)
            self.assertEqual(found, k, n)
            below = sum(math.comb(n, i) for i in range(k)) / 2**n
            self.assertAlmostEqual(coverage, 1 - 2 * below)
        self.assertRaises(ValueError, median_interval.rank, 5)

    def test_interval_covers_the_median_as_often_as_it_states(self):
        draw = random.Random(7)
        covered = 0
        for _ in range(4000):
            _, low, high = median_interval.interval([draw.lognormvariate(0.1, 1.0) for _ in range(15)])
            covered += low <= math.exp(0.1) <= high
        # 96.5 % with a standard error of 0.3 %
        self.assertAlmostEqual(covered / 4000, 0.965, delta=0.012)

    def test_median_and_ends(self):
        ratios = [1.0 + k / 100 for k in range(15)]
        draw = random.Random(1)
        draw.shuffle(ratios)
        self.assertEqual(median_interval.interval(ratios), (1.07, 1.03, 1.11))

    def test_verdicts(self):
        for low, high, kind, expected in [
            (1.04, 1.10, "kernel", "slower"),
            (1.04, 1.10, "program", "undecided"),
            (1.06, 1.10, "program", "slower"),
            (1.03, 1.10, "kernel", "undecided"),
            (0.99, 1.02, "kernel", "not slower"),
            (0.99, 1.04, "kernel", "undecided"),
            (0.80, 0.99, "kernel", "faster"),
            (0.80, 1.20, "program", "undecided"),
        ]:
            self.assertEqual(median_interval.verdict(low, high, kind), expected, (low, high, kind))


class Rows(unittest.TestCase):
    def test_names_are_unique_and_patterns_choose(self):
        names = [row.name for row in rows.ROWS]
        self.assertEqual(len(names), len(set(names)))
        compare = load_compare()
        self.assertEqual([row.name for row in compare.chosen_rows(["index-5", "plan-*"])][:2], ["index-5", "plan-100k"])
        self.assertRaises(builds.BenchmarkError, compare.chosen_rows, ["nothing-*"])

    def test_every_kernel_is_in_the_kernel_program(self):
        source = (HERE / "kernels/src/main.rs").read_text()
        names = ["two-state-compact", "two-state-full", "index-5", "index-20", "index-100", "soft-top-k", "step-published", "step-fluid"]
        for name in names:
            self.assertIn(f'"{name}"', source)
            self.assertIn(name, [row.name for row in rows.ROWS])

    def test_pairs_alternate_and_ratios_are_paired(self):
        compare, calls = load_compare(), []
        before, after = mock.Mock(), mock.Mock()
        before.name, after.name = "before", "after"
        seconds = {"before": 1.0, "after": 1.2}

        def measured(bench, build):
            calls.append(build.name)
            return {"seconds": seconds[build.name] * len(calls), "check": 1.0}

        row = rows.Row("a", "program", "test", measured, warm_up=False)
        record = compare.measure(row, None, [before, after], 6)
        self.assertEqual(calls[:6], ["before", "after", "after", "before", "before", "after"])
        expected = [1.2 * 2 / 1, 1.2 * 3 / 4, 1.2 * 6 / 5, 1.2 * 7 / 8, 1.2 * 10 / 9, 1.2 * 11 / 12]
        self.assertEqual(record["ratios"], expected)
        self.assertEqual(record["ratio"], statistics.median(expected))
        self.assertNotIn("note", record)

    def test_rows_without_their_part_are_not_measured(self):
        compare, build = load_compare(), mock.Mock()
        prepare = mock.Mock(side_effect=builds.NotMeasured("no GPU"))
        record = compare.measure(rows.Row("a", "kernel", "test", None, prepare), None, [build, build], 6)
        self.assertEqual(record["not_measured"], "no GPU")


class Inputs(unittest.TestCase):
    def test_release_profile_is_taken_from_the_manifest(self):
        manifest = '[package]\nname = "a"\n[profile.dev]\nopt-level = 3\n[profile.release]\nlto = "thin"\n[profile.release.package.a]\nopt-level = 1\n'
        self.assertEqual(builds.release_profile(manifest), manifest[manifest.index("[profile.release]") :])

    def test_varints_and_zigzag(self):
        self.assertEqual(parquet_writer.varint(300), b"\xac\x02")
        self.assertEqual([parquet_writer.integer(n) for n in (0, -1, 1, 64)], [b"\0", b"\1", b"\2", b"\x80\1"])

    def test_study_has_every_person_in_every_period(self):
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(data, "DISTINCT", 40):
            study = pathlib.Path(folder) / "study"
            data.write_study(study, 100)
            log = (study / "trajectories.parquet").read_bytes()
            self.assertEqual(log[:4] + log[-4:], b"PAR1PAR1")
            for person in (0, 39, 40, 99):
                self.assertEqual(log.count(b"P%08d" % person), data.PERIODS + 1)
            self.assertEqual((study / "arms.parquet").read_bytes().count(b"P00000099"), 1)


class WebPages(unittest.TestCase):
    def test_pages_are_requested_as_the_planner(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            (folder / "programme").mkdir()
            program = folder / "restive"
            program.write_text(SERVER.replace("PYTHON", sys.executable))
            program.chmod(0o755)
            server = web_pages.Server(builds.Build("after", program), folder / "programme", folder)
            try:
                self.assertEqual(server.person, "B7")
                self.assertGreater(server.seconds("/slow", 3)["seconds"], 0.02)
                self.assertGreater(server.seconds("/person/{id}", 3)["seconds"], 0)
                self.assertRaises(builds.BenchmarkError, server.seconds, "/missing", 3)
            finally:
                server.close()
            self.assertIsNotNone(server.process.poll())


class Script(unittest.TestCase):
    def run_compare(self, sleeps, *more):
        with tempfile.TemporaryDirectory() as folder:
            return self.run_in(pathlib.Path(folder), sleeps, *more)

    def run_in(self, folder, sleeps, *more):
        for name, sleep in zip(("before", "after"), sleeps):
            (folder / name).mkdir(exist_ok=True)
            program = folder / name / "restive"
            program.write_text(PROGRAM.replace("SLEEP", str(sleep)))
            program.chmod(0o755)
        command = [sys.executable, HERE / "compare", "--before", folder / "before", "--after", folder / "after", "--json", folder / "a.json"]
        done = subprocess.run([*command, *more], cwd=folder, capture_output=True, text=True)
        return done, json.loads((folder / "a.json").read_text()) if (folder / "a.json").exists() else None

    def test_rows_of_an_earlier_table_of_the_same_builds_stay(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            for name in ("soft-top-k", "index-5", "soft-top-k"):
                done, table = self.run_in(folder, (0, 0), "--quick", "--rows", name)
                self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual([row["name"] for row in table["rows"]], ["index-5", "soft-top-k"])
            done, kept = self.run_in(folder, (0, 0.001), "--quick", "--rows", "index-5")
            self.assertEqual((done.returncode, kept), (2, table))
            self.assertIn("another `after`", done.stderr)

    def test_a_slower_program_is_found(self):
        done, table = self.run_compare((0, 0.5), "--quick", "--rows", "index-10m", "--rows", "index-5")
        self.assertEqual(done.returncode, 1, done.stderr)
        by_name = {row["name"]: row for row in table["rows"]}
        self.assertEqual(by_name["index-10m"]["verdict"], "slower")
        self.assertGreater(by_name["index-10m"]["low"], 1.05)
        self.assertEqual(by_name["index-5"]["not_measured"], "no program `kernels` in the folder of the build before")
        self.assertIn("load", by_name["index-10m"])
        self.assertEqual(table["before"]["version"], "restive 0.0.0")

    def test_usage_is_refused(self):
        self.assertEqual(self.run_compare((0, 0), "--pairs", "5")[0].returncode, 2)
        self.assertEqual(self.run_compare((0, 0), "--rows", "nothing")[0].returncode, 2)


if __name__ == "__main__":
    unittest.main()
