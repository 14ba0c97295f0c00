"""Checks that every snapshot of a test suite belongs to a test."""
import pathlib
import re
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent


# the name of a snapshot: the first argument of an assertion, or the second of a pair in the table SNAPSHOTS
IN_ASSERTION = re.compile(r'\bassert_(?:output|snapshot!|page!|main|words|text)\(\s*(?:&?format!\()?"([^"]+)"')
IN_TABLE = re.compile(r'\bSNAPSHOTS:.*?\];', re.DOTALL)
IN_PAIR = re.compile(r'\("[^"]*", "([^"]+)"\)')


def names(source):
    """Return the names of snapshots in the source of a suite. A name such as "not_found_{role}" stands for several."""
    return IN_ASSERTION.findall(source) + [name for table in IN_TABLE.findall(source) for name in IN_PAIR.findall(table)]


def stale(root):
    """Return the snapshots below `root` that no test of their suite names."""
    found = []
    for folder in sorted(root.glob("crates/*/**/snapshots")):
        sources = "".join(path.read_text(encoding="utf-8") for path in sorted(folder.parent.rglob("*.rs")))
        patterns = [re.compile(re.sub(r"\\\{\w*\\\}", ".+", re.escape(name))) for name in names(sources)]
        for path in sorted(folder.glob("*.snap")):
            if not any(pattern.fullmatch(path.stem) for pattern in patterns):
                found.append(path)
    return found


class SnapshotsTest(unittest.TestCase):
    def test_every_snapshot_belongs_to_a_test(self):
        self.assertEqual([str(path.relative_to(ROOT)) for path in stale(ROOT)], [])

    def test_snapshot_without_a_test_is_found(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            snapshots = root / "crates" / "one" / "tests" / "cli" / "snapshots"
            snapshots.mkdir(parents=True)
            for name in ["plan", "plan-history", "page_caller", "help-plan", "train"]:
                (snapshots / f"{name}.snap").write_text("")
            (snapshots.parent / "plan.rs").write_text(
                'const SNAPSHOTS: [(&str, &str); 1] = [("plan", "help-plan")];\n'
                'assert_output("plan", &cli.run("train"));\n'
                'run(&["train"]);\n'
                'assert_output("plan-history", &run);\n'
                'assert_page!(&format!("page_{role}"), &page);\n'
            )
            self.assertEqual(stale(root), [snapshots / "train.snap"])


if __name__ == "__main__":
    unittest.main()
