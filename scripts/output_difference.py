"""Comparison of two folders of outputs: masks for the parts that must differ, and the first difference of each file.

Masked are durations, memory, the version of the program, the moment of writing and hashes that depend on it. A moment or a day is masked only
if it lies within the run of the build, so that dates in data are compared.
"""
import datetime
import io
import re
import sqlite3
import tempfile
import zipfile

TEXT = {".out", ".err", ".status", ".json", ".jsonl", ".csv", ".toml", ".html", ".md", ".svg", ".txt", ".xml", ".rels", ""}
MONTHS = "January February March April May June July August September October November December".split()
MASKS = [
    (rb"\b\d+(?:\.\d+)? ms\b|\b\d+\.\d+ s\b|\b\d+ min \d+ s\b", b"DURATION"),
    (rb'"(seconds|arms_per_second|peak_memory_bytes)": ?[-+0-9.e]+', rb'"\1": 0'),
    (rb"\brestive \d+\.\d+\.\d+\b", b"restive VERSION"),
    (rb'"(restive|version)": ?"\d+\.\d+\.\d+"', rb'"\1": "VERSION"'),
    # the last link of a ledger's chain depends on the moment of each entry
    (rb"(to be noted elsewhere: )[0-9a-f]{64}", rb"\1LINK"),
    (rb'"(head|link)": ?"[0-9a-f]{64}"', rb'"\1": "LINK"'),
]
MOMENT = re.compile(rb"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d)(:\d\d)?(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)?(?:\[[\w/+-]+\])?")
# columns of a ledger that depend on the moment of an entry
DERIVED = {("chain", "digest"), ("chain", "link")}
SHOWN_LINES, SHOWN_WIDTH = 5, 160


class Masker:
    """Masks of one run."""

    def __init__(self, run):
        margin = datetime.timedelta(seconds=2)
        self.begin, self.end = run.begin - margin, run.end + margin
        days = {self.begin.date(), self.end.date()}
        self.days = {day.isoformat().encode() for day in days}
        words = [f"{day.day} {MONTHS[day.month - 1]} {day.year}" for day in days]
        self.day = re.compile(b"|".join(re.escape(word) for word in [*self.days, *(word.encode() for word in words)]))

    def moment(self, found):
        day, minute, second = (part.decode() for part in (found[1], found[2], found[3] or b":00"))
        try:
            at = datetime.datetime.fromisoformat(f"{day}T{minute}{second}+00:00")
        except ValueError:
            return found[0]
        begin = self.begin if found[3] else self.begin.replace(second=0, microsecond=0)
        return b"MOMENT" if begin <= at <= self.end else found[0]

    def text(self, content):
        for pattern, replacement in MASKS:
            content = re.sub(pattern, replacement, content)
        return self.day.sub(b"DAY", MOMENT.sub(self.moment, content))

    def file(self, name, content):
        """Returns the content as it is compared: bytes."""
        suffix = name[name.rfind("."):] if "." in name.rsplit("/", 1)[-1] else ""
        if content.startswith(b"SQLite format 3\0"):
            return self.text(database_dump(content))
        if content.startswith(b"PK\x03\x04"):
            return self.archive(content)
        return self.text(content) if suffix in TEXT else content

    def archive(self, content):
        """The files of a ZIP archive or workbook, one after the other."""
        parts = []
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            for name in archive.namelist():
                parts.append(f"== {name}\n".encode() + self.file(name, archive.read(name)))
        return b"\n".join(parts).replace(b"><", b">\n<")

    def folder(self, folder):
        """Returns the files of a folder by their masked names."""
        files = sorted(path for path in folder.rglob("*") if path.is_file())
        return {self.text(str(path.relative_to(folder)).encode()).decode(): path for path in files}


def database_dump(content):
    """Schema and rows of an SQLite database as text."""
    with tempfile.NamedTemporaryFile(suffix=".db") as file:
        file.write(content)
        file.flush()
        connection = sqlite3.connect(file.name)
        try:
            return b"\n".join(dump_lines(connection))
        finally:
            connection.close()


def dump_lines(connection):
    connection.text_factory = bytes
    lines = []
    for name, sql in connection.execute("SELECT name, sql FROM sqlite_master ORDER BY type, name").fetchall():
        lines.append(b"schema " + name + b": " + (sql or b""))
    tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").fetchall()
    for (table,) in tables:
        table = table.decode()
        rows = connection.execute(f'SELECT * FROM "{table}"')
        names = [column[0] for column in rows.description]
        derived = {k for k, name in enumerate(names) if (table, name) in DERIVED}
        for row in rows:
            cells = ("DERIVED" if k in derived else cell_text(cell) for k, cell in enumerate(row))
            lines.append(f"{table}: ".encode() + " | ".join(cells).encode())
    return lines


def cell_text(cell):
    return cell.decode(errors="replace") if isinstance(cell, bytes) else repr(cell)


def first_difference(before, after):
    """Returns lines that show where two contents begin to differ."""
    old, new = before.splitlines(), after.splitlines()
    at = next((k for k, (a, b) in enumerate(zip(old, new)) if a != b), min(len(old), len(new)))
    if b"\0" in before[:1000] or b"\0" in after[:1000]:
        byte = next((k for k, (a, b) in enumerate(zip(before, after)) if a != b), min(len(before), len(after)))
        return [f"    byte {byte} of {len(before)} and {len(after)}"]
    shown = [f"    from line {at + 1}:"]
    if old == new:
        return shown + ["    the ends of lines differ"]
    for sign, lines, others in (("-", old, new), ("+", new, old)):
        for k, line in enumerate(lines[at : at + SHOWN_LINES], at):
            other = others[k] if k < len(others) else b""
            if line != other:
                shown.append(f"    {sign} {around(line, other)}")
    return shown


def around(line, other):
    """The part of a long line where it begins to differ from another."""
    at = next((k for k, (a, b) in enumerate(zip(line, other)) if a != b), min(len(line), len(other)))
    begin = max(0, at - SHOWN_WIDTH // 2) if len(line) > SHOWN_WIDTH else 0
    text = line[begin : begin + SHOWN_WIDTH].decode(errors="replace")
    return ("…" if begin else "") + text + ("…" if begin + SHOWN_WIDTH < len(line) else "")


def compare(before, after, is_ignored):
    """Returns the number of files compared, and a list (file name, lines) of those that differ.

    `before`, `after`: runs. `is_ignored`: whether a file is left out, by its masked name.
    """
    maskers = Masker(before), Masker(after)
    folders = [masker.folder(run.folder) for masker, run in zip(maskers, (before, after))]
    names = sorted(name for name in {**folders[0], **folders[1]} if not is_ignored(name))
    differences = []
    for name in names:
        if any(name not in folder for folder in folders):
            build = "before" if name in folders[0] else "after"
            differences.append((name, [f"    only in the outputs of the build {build}"]))
            continue
        raw = [folder[name].read_bytes() for folder in folders]
        if raw[0] == raw[1]:
            continue
        old, new = (masker.file(name, content) for masker, content in zip(maskers, raw))
        if old != new:
            differences.append((name, first_difference(old, new)))
    return len(names), differences
