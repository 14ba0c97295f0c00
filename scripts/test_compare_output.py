"""Tests of scripts/compare-output on small programs in the place of two builds."""
import datetime
import pathlib
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import command_list
import output_difference
from command_list import ListError

# A program that prints its arguments, durations and the time. `fail` ends with 3, `out FILE TEXT` writes a file.
PROGRAM = """#!PYTHON
import datetime, json, pathlib, sys
words = sys.argv[1:]
print(json.dumps(dict(words=words, seconds=0.5, made=datetime.datetime.now(datetime.timezone.utc).isoformat())))
print("2.5 ms", "GREETING", file=sys.stderr)
if words[0] == "out":
    pathlib.Path(words[1]).write_text("first\\n" + words[2] + "\\n")
if words[0] == "generate":
    out = pathlib.Path(words[words.index("--out") + 1])
    out.mkdir()
    (out / "registry.csv").write_text("id\\nA\\nB\\n")
if words[0] == "list":
    pathlib.Path(words[1]).write_text("id,outcome,day\\n0,,\\n1,,\\n2,,\\n")
sys.exit(3 if words[0] == "fail" else 0)
"""
LIST = """
# a comment
write rules.toml <<END
budget = 3
END
replace rules.toml more.toml "budget = 3" "budget = 4"
exports exports --people 5
restive list list.csv
fill list.csv filled.csv
restive print "two words" [--json]
restive out a.csv OLD || restive out a.csv OLD
restive new || -
fails restive fail
"""


class ListFormat(unittest.TestCase):
    def test_forms_options_and_texts_are_read(self):
        steps = command_list.parse(LIST)
        names = [step.name for step in steps]
        self.assertIn("restive print 'two words'", names)
        self.assertIn("restive print 'two words' --json", names)
        self.assertEqual(steps[0].text, "budget = 3\n")
        self.assertTrue(steps[-1].must_fail)
        self.assertEqual([step.words for step in steps if step.words[1] is None], [(("restive", "new"), None)])

    def test_faulty_lines_are_named(self):
        for text, words in [
            ("resitve plan", "line 1: found 'resitve plan'"),
            ("\nrestive a || restive b || restive c", "line 2"),
            ("restive 'a", "line 1: No closing quotation"),
            ("write a <<END\nb", "has no end END"),
            ("fails copy a", "found fails copy"),
        ]:
            with self.subTest(text), self.assertRaisesRegex(ListError, words):
                command_list.parse(text)

    def test_the_list_of_the_repository_is_valid(self):
        steps = command_list.parse((HERE / "compare-output.commands").read_text())
        commands = [step.words[0] or step.words[1] for step in steps if step.kind == "restive"]
        found = {words[1] for words in commands if len(words) > 1}
        self.assertLessEqual({"import", "train", "plan", "outcomes", "audit", "fairness", "trial", "report", "index"}, found)


class Masks(unittest.TestCase):
    def masker(self):
        begin = datetime.datetime(2026, 11, 19, 10, 0, tzinfo=datetime.timezone.utc)
        return output_difference.Masker(mock.Mock(begin=begin, end=begin + datetime.timedelta(minutes=5)))

    def test_only_parts_that_must_differ_are_masked(self):
        masked = self.masker().text
        for same in (b"12.5 %", b"3 seconds of talk", b"2026-07-06T10:02:00Z", b"2026-07-06", b'"weeks": 8', b"a" * 64):
            self.assertEqual(masked(same), same)
        for text, expected in [
            (b"took 1.25 s", b"took DURATION"),
            (b"in 2 min 5 s", b"in DURATION"),
            (b'"seconds": 0.25,', b'"seconds": 0,'),
            (b"made at 2026-11-19T10:02:03.123456Z", b"made at MOMENT"),
            (b"made at 2026-11-19 10:02", b"made at MOMENT"),
            (b"made at 2026-11-19T23:02:03Z", b"made at DAYT23:02:03Z"),
            (b"on 19 November 2026", b"on DAY"),
            (b"restive 0.1.0", b"restive VERSION"),
            (b"to be noted elsewhere: " + b"0a" * 32, b"to be noted elsewhere: LINK"),
        ]:
            self.assertEqual(masked(text), expected)

    def test_first_difference_is_shown_in_long_lines(self):
        lines = output_difference.first_difference(b"a\nb\n", b"a\nc\n")
        self.assertEqual(lines, ["    from line 2:", "    - b", "    + c"])
        long = [b"x" * 5000 + end + b"y" * 5000 for end in (b"before", b"after")]
        lines = "\n".join(output_difference.first_difference(*long))
        self.assertIn("before", lines)
        self.assertLess(len(lines), 500)


class Programs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "commands").write_text(LIST)

    def program(self, name, *changes):
        text = PROGRAM.replace("PYTHON", sys.executable)
        for old, new in changes:
            self.assertIn(old, text)
            text = text.replace(old, new)
        path = self.folder / name
        path.write_text(text)
        path.chmod(0o755)
        return path

    def compare(self, before, after, **environment):
        command = [sys.executable, HERE / "compare-output", before, after, "--commands", self.folder / "commands"]
        return subprocess.run(command, cwd=self.folder, env=environment, capture_output=True, text=True)

    def test_builds_that_differ_in_durations_alone_are_equal(self):
        done = self.compare(self.program("one"), self.program("two", ("seconds=0.5", "seconds=0.75"), ("2.5 ms", "3.5 ms")))
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        self.assertIn("no difference", done.stdout)

    def test_a_changed_word_and_a_changed_file_are_found(self):
        done = self.compare(self.program("one"), self.program("two", ("GREETING", "greeting"), ('"first', '"First')))
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("- DURATION GREETING", done.stdout)
        self.assertIn("a.csv\n    from line 1:\n    - first\n    + First", done.stdout)
        self.assertIn("restive print 'two words' --json (line 10)", done.stdout)

    def test_a_missing_file_and_another_status_are_found(self):
        changes = ('words[0] == "list"', 'words[0] == "lists"'), ("sys.exit(3", "sys.exit(4")
        done = self.compare(self.program("one"), self.program("two", *changes))
        self.assertEqual(done.returncode, 1)
        self.assertIn("filled.csv\n    only in the outputs of the build before", done.stdout)
        self.assertIn(".status: restive fail", done.stdout)

    def test_a_command_that_the_build_before_lacks_makes_the_comparison_invalid(self):
        broken = self.program("one", ('words[0] == "fail"', 'words[0] in ("fail", "print")'))
        done = self.compare(broken, broken)
        self.assertEqual(done.returncode, 2)
        self.assertIn("restive print 'two words': BEFORE ended with 3, expected 0", done.stderr)

    def test_outputs_are_kept_in_work(self):
        program = self.program("one")
        self.assertEqual(self.compare(program, program, WORK="kept").returncode, 0)
        filled = (self.folder / "kept" / "after" / "filled.csv").read_text()
        self.assertEqual(filled, "id,outcome,day\n0,reached,\n1,no answer,\n2,reached,\n")
        self.assertEqual((self.folder / "kept" / "before" / "more.toml").read_text(), "budget = 4\n")
        self.assertEqual(self.compare(program, program, WORK="kept").returncode, 2)

    def test_usage_ends_with_2(self):
        self.assertEqual(self.compare(self.folder / "nowhere", self.program("two")).returncode, 2)


if __name__ == "__main__":
    unittest.main()
