"""Checks that every snapshot of a test suite belongs to a test."""
import pathlib
import re
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent


def stale(root):
    """Return the snapshots below `root` whose name is in no string literal of their suite.

    A literal such as "not_found_{role}" names all snapshots that begin with "not_found_".
    """
    found = []
    for folder in sorted(root.glob("crates/*/**/snapshots")):
        sources = "".join(path.read_text(encoding="utf-8") for path in folder.parent.rglob("*.rs"))
        begins = tuple(re.findall(r'"([\w-]{4,})\{\w*\}"', sources))
        for path in sorted(folder.glob("*.snap")):
            if f'"{path.stem}"' not in sources and not path.stem.startswith(begins):
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
            for name in ["plan", "plan-history", "page_caller", "train"]:
                (snapshots / f"{name}.snap").write_text("")
            (snapshots.parent / "plan.rs").write_text(
                'assert_output("plan", &run); // train\n'
                'assert_output("plan-history", &run);\n'
                'assert_page!(&format!("page_{role}"), &page);\n'
            )
            self.assertEqual(stale(root), [snapshots / "train.snap"])


if __name__ == "__main__":
    unittest.main()
