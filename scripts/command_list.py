"""List of commands of scripts/compare-output: its format, and how it is run with one build.

One step per line; empty lines and lines that begin with # are skipped. Words are split as a POSIX shell splits them, and nothing is expanded.

- `restive ARGUMENTS`: command that must exit with 0.
- `fails restive ARGUMENTS`: command that must exit with another status.
- `A || B`: form A for the build before, B for the build after; `-`: this build lacks the command.
- `[--json]`: last word of a command: the command runs without and with this option.
- `copy PATH…`: copies files or folders of the repository into the working folder.
- `write FILE <<END … END`: writes the lines up to END into FILE.
- `replace FILE NEW OLD-TEXT NEW-TEXT`: copies a file and replaces one text in it.
- `exports FOLDER ARGUMENTS`: exports of a synthetic programme, made once by `restive generate programme` and copied for both builds.
- `fill LIST FILE`: copies a caller's list (CSV) and fills in the column `outcome` of most rows.
"""
import csv
import dataclasses
import datetime
import os
import pathlib
import re
import shlex
import shutil
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
SECONDS = 900
# outcomes that `fill` writes, row by row; an empty one leaves the row as it is
OUTCOMES = ["reached", "no answer", "reached", "", "refused", "reached", "wrong number", "later", "reached", "not called"]


class ListError(Exception):
    """Fault of the list of commands, or of its fit to a build."""


@dataclasses.dataclass(frozen=True)
class Step:
    """One step: `words` for each build, `text` of a file to write."""

    line: int
    kind: str
    words: tuple
    text: str = ""
    must_fail: bool = False

    @property
    def name(self):
        forms = [shlex.join(words) for words in self.words if words]
        return " || ".join(dict.fromkeys(forms))


@dataclasses.dataclass(frozen=True)
class Run:
    """Outputs of one build: the folder, and when they were written."""

    folder: pathlib.Path
    begin: datetime.datetime
    end: datetime.datetime
    unexpected: list


def parse(text):
    """Returns the steps of a list."""
    steps, lines = [], enumerate(text.splitlines(), 1)
    for number, line in lines:
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        if found := re.fullmatch(r"write (\S+) <<(\w+)", line):
            content = []
            for _, more in lines:
                if more.strip() == found[2]:
                    break
                content.append(more)
            else:
                raise ListError(f"line {number}: the text of {found[1]} has no end {found[2]}")
            words = (("write", found[1]),) * 2
            steps.append(Step(number, "write", words, "\n".join(content) + "\n"))
        else:
            steps += parse_line(number, line)
    return steps


def parse_line(number, line):
    must_fail = line.startswith("fails ")
    try:
        forms = [shlex.split(part) for part in re.split(r"\s\|\|\s", line.removeprefix("fails "))]
    except ValueError as error:
        raise ListError(f"line {number}: {error}") from None
    kinds = {words[0] for words in forms if words != ["-"] and words}
    known = {"restive", "copy", "replace", "exports", "fill"}
    if len(forms) > 2 or len(kinds) != 1 or not kinds <= known:
        expected = "restive, copy, write, replace, exports or fill, in one or two forms"
        raise ListError(f"line {number}: found {line!r}, expected {expected}")
    kind = kinds.pop()
    if must_fail and kind != "restive":
        raise ListError(f"line {number}: found fails {kind}, expected fails restive")
    forms = [None if words == ["-"] else tuple(words) for words in forms]
    if len(forms) == 1:
        forms *= 2
    option = next((words[-1] for words in forms if words and re.fullmatch(r"\[--\S+\]", words[-1])), None)
    if option is None:
        return [Step(number, kind, tuple(forms), must_fail=must_fail)]
    bare = [words and (words[:-1] if words[-1] == option else words) for words in forms]
    return [
        Step(number, kind, tuple(words and words + more for words in bare), must_fail=must_fail)
        for more in ((), (option[1:-1],))
    ]


def fill(source, target):
    """Fills in the outcomes of a caller's list, by the number of the row."""
    with open(source, newline="", encoding="utf-8") as file:
        table = list(csv.reader(file))
    column = table[0].index("outcome")
    for number, row in enumerate(table[1:]):
        row[column] = OUTCOMES[number % len(OUTCOMES)]
    with open(target, "w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows(table)


def replace(source, target, old, new):
    text = source.read_text()
    if text.count(old) != 1:
        raise ValueError(f"{source.name}: found {old!r} {text.count(old)} times, expected 1")
    target.write_text(text.replace(old, new))


def make_exports(steps, generator, given, folder):
    """Makes the exports of the list, once for both builds.

    `given`: folder of exports that takes the place of generated ones, or None.
    """
    for step in steps:
        if step.kind != "exports":
            continue
        words = step.words[0]
        out = folder / words[1]
        if out.exists():
            raise ListError(f"line {step.line}: {words[1]} already exists; choose another folder")
        out.parent.mkdir(parents=True, exist_ok=True)
        if given is not None:
            shutil.copytree(given, out)
            continue
        command = [generator, "generate", "programme", "--out", out, *words[2:]]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if done.returncode:
            raise ListError(
                f"{shlex.join(map(str, command))}: {done.stderr.strip()}\n"
                "name a build that has this command with --generator, or a folder of exports with --exports"
            )


def run_list(steps, build, program, folder, exports):
    """Runs all steps with one build (0 before, 1 after) in a new folder, and keeps what every command prints below `printed`."""
    if folder.exists():
        shutil.rmtree(folder)
    (folder / "printed").mkdir(parents=True)
    environment = dict(os.environ, LC_ALL="C.UTF-8", TZ="UTC", NO_COLOR="1")
    begin, unexpected = datetime.datetime.now(datetime.timezone.utc), []
    for number, step in enumerate(steps, 1):
        words = step.words[build]
        if words is None:
            continue
        printed = folder / "printed" / f"{number:03d}"
        try:
            if step.kind == "restive":
                status = run_command([program, *words[1:]], folder, environment, printed)
                if (status == "0") == step.must_fail:
                    unexpected.append((step, status, printed.with_suffix(".err").read_text(errors="replace")))
            elif step.kind == "copy":
                for word in words[1:]:
                    copy(ROOT / word, folder / pathlib.Path(word).name)
            elif step.kind == "write":
                (folder / words[1]).parent.mkdir(parents=True, exist_ok=True)
                (folder / words[1]).write_text(step.text)
            elif step.kind == "replace":
                replace(folder / words[1], folder / words[2], *words[3:])
            elif step.kind == "exports":
                shutil.copytree(exports / words[1], folder / words[1])
            elif step.kind == "fill":
                fill(folder / words[1], folder / words[2])
        except (OSError, ValueError, IndexError, StopIteration) as error:
            printed.with_suffix(".err").write_text(f"{step.name}: {type(error).__name__}\n")
            unexpected.append((step, type(error).__name__, str(error)))
    return Run(folder, begin, datetime.datetime.now(datetime.timezone.utc), unexpected)


def run_command(command, folder, environment, printed):
    with open(printed.with_suffix(".out"), "wb") as out, open(printed.with_suffix(".err"), "wb") as err:
        try:
            done = subprocess.run(
                command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=out, stderr=err, timeout=SECONDS
            )
            status = str(done.returncode)
        except subprocess.TimeoutExpired:
            status = f"stopped after {SECONDS} seconds"
    printed.with_suffix(".status").write_text(status + "\n")
    return status


def copy(source, target):
    if source.is_dir():
        shutil.copytree(source, target)
    else:
        shutil.copy(source, target)
