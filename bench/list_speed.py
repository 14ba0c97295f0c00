"""How long this week's list takes: 100,000 people, caps for 500 workers, households within workers, 5,000 places, reasons and a workbook.

    python3 bench/list_speed.py [--binary target/release/restive] [--people 100000]

Everything is invented. A programme is imported and a model trained once; what is timed is `restive plan` with rules, a draw and all formats of
the list, from reading the folder to the last byte, for the number of people asked for and a tenth of it. Only the standard library is
needed. The time per person should not rise with their number.
"""

import argparse
import datetime
import pathlib
import random
import subprocess
import tempfile
import time

MAPPING = """\
period = { every = "week" }
state = { at_least = 30, silence = "lowest", names = ["not engaged", "engaged"] }
study = { unit = "engaged weeks", budget = BUDGET }
[people]
file = "registry.csv"
id = "id"
keep = ["name", "phone", "worker", "household"]
features.age = "number"
features.district = "text"
features.education = "text"
features.income = "number"
[[events]]
file = "messages.csv"
person = "id"
time = "when"
value = "talk"
[actions]
file = "calls.csv"
person = "id"
time = "date"
"""

RULES = """\
explore = 0.1
[[limit]]
by = "worker"
at_most = 15
[[limit]]
by = "household"
at_most = 1
[[cool_down]]
periods = 1
"""

WEEKS = 10


def write(folder: pathlib.Path, people: int, workers: int, budget: int) -> None:
    luck = random.Random(1)
    school = [luck.randrange(4) for _ in range(people)]
    day = lambda week, weekday: (datetime.date(2026, 1, 5) + datetime.timedelta(days=7 * week + weekday)).isoformat()
    with open(folder / "registry.csv", "w", newline="\n") as out:
        out.write("id,name,phone,worker,household,age,district,education,income\n")
        for i in range(people):
            household = i // 3
            out.write(
                f"B{i},Name {i},0{i:09d},W{household % workers},H{household},{18 + i % 30},d{i % 40},"
                f"e{school[i]},{luck.randrange(2000, 40000)}\n"
            )
    engaged = [luck.random() < 0.5 for _ in range(people)]
    with open(folder / "messages.csv", "w", newline="\n") as messages, open(folder / "calls.csv", "w", newline="\n") as calls:
        messages.write("id,when,talk\n")
        calls.write("id,date\n")
        for week in range(WEEKS):
            called = set(luck.sample(range(people), budget)) if week else set()
            calls.writelines(f"B{i},{day(week, 1)}\n" for i in sorted(called))
            for i in range(people):
                chance = 0.2 + 0.3 * engaged[i] + 0.08 * school[i] + ((0.25, 0.15, 0.1, 0.02)[school[i]] if i in called else 0.0)
                engaged[i] = luck.random() < chance
            messages.writelines(f"B{i},{day(week, 3)},{60 if engaged[i] else 5}\n" for i in range(people))
    (folder / "mapping.toml").write_text(MAPPING.replace("BUDGET", str(budget)))


def measure(binary: str, people: int) -> None:
    workers, budget = max(1, people // 200), people // 20
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write(folder, people, workers, budget)
        run = lambda *arguments: subprocess.run([binary, *arguments], cwd=folder, check=True, capture_output=True, text=True)
        run("import", "mapping.toml", "--out", "programme")
        run("train", "programme", "--predictor", "effect")
        (folder / "programme" / "rules.toml").write_text(RULES)
        start = time.perf_counter()
        said = run("plan", "programme", "--out", "list.xlsx")
        seconds = time.perf_counter() - start
        places = next(line for line in said.stdout.splitlines() if line.strip().startswith("places"))
        print(f"{people:>9,} people  {workers:>5,} workers {places}  {seconds:6.2f} s  {1e6 * seconds / people:6.1f} µs a person", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default="target/release/restive")
    parser.add_argument("--people", type=int, default=100_000)
    asked = parser.parse_args()
    binary = str(pathlib.Path(asked.binary).resolve())
    for people in (asked.people // 10, asked.people):
        measure(binary, people)


if __name__ == "__main__":
    main()
