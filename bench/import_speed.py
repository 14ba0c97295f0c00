"""How long `restive import` takes, and how much memory: 10 million events of 1 million people, and a tenth and a third of both.

    python3 bench/import_speed.py [--binary target/release/restive] [--people 1000000] [--threads 2]

Everything is invented: a registry with telephone numbers in three spellings, a log of messages that names people by their number, a log
of calls that names them by their id. Only the standard library is needed. What is printed is the wall time, the peak of the memory, and
the time per event, which should not rise with their number.
"""

import argparse
import datetime
import os
import pathlib
import random
import resource
import subprocess
import tempfile
import time

MAPPING = """\
country = "IN"
period = { every = "week", from = 2026-01-05, until = 2026-03-16 }
state = { at_least = 30, silence = "lowest" }
[people]
file = "registry.csv"
id = "id"
keep = ["name", "phone"]
joined = "registered"
features.age = "number"
features.district = "text"
[[events]]
file = "messages.csv"
person = { column = "To", is = "phone", as = "phone" }
time = "StartTime"
key = "CallSid"
value = "ConversationDuration"
[actions]
file = "calls.csv"
person = "id"
time = { column = "date", format = "%d/%m/%Y" }
"""


def number(i: int, form: int) -> str:
    digits = f"{7_000_000_000 + i}"
    return (digits, f"0{digits}", f"+91 {digits[:5]} {digits[5:]}")[form]


def write(folder: pathlib.Path, people: int, events_each: int) -> int:
    draw = random.Random(1)
    with open(folder / "registry.csv", "w", newline="\n") as out:
        out.write("id,name,phone,registered,age,district\n")
        out.writelines(
            f"B{i},Name {i},{number(i, i % 3)},2025-12-{1 + i % 28:02d},{18 + i % 30},d{i % 40}\n" for i in range(people)
        )
    with open(folder / "messages.csv", "w", newline="\n") as out:
        out.write("CallSid,From,To,Direction,Status,StartTime,Duration,ConversationDuration\n")
        for week in range(events_each):
            day = datetime.date(2026, 1, 5) + datetime.timedelta(weeks=week)
            lines = []
            for i in range(people):
                talk = int(draw.random() * 60)
                lines.append(
                    f"c{week}x{i:x},02249990000,{number(i, (i + week) % 3)},outbound-api,completed,"
                    f"{day} {8 + i % 10:02d}:{i % 60:02d}:00,{talk + 14},{talk}\n"
                )
            out.writelines(lines)
    with open(folder / "calls.csv", "w", newline="\n") as out:
        out.write("id,date\n")
        out.writelines(f"B{draw.randrange(people)},{1 + k % 28:02d}/0{1 + k % 2}/2026\n" for k in range(people // 20))
    (folder / "mapping.toml").write_text(MAPPING)
    return people * events_each


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default="target/release/restive")
    parser.add_argument("--people", type=int, default=1_000_000)
    parser.add_argument("--threads", type=int, default=2)
    asked = parser.parse_args()
    print(f"{'people':>10} {'events':>12} {'MB':>7} {'seconds':>8} {'GiB':>6} {'ns/event':>9}")
    for share in (10, 3, 1):
        people = asked.people // share
        with tempfile.TemporaryDirectory() as place:
            folder = pathlib.Path(place)
            events = write(folder, people, 10)
            size = sum(file.stat().st_size for file in folder.iterdir()) / 1e6
            environment = dict(os.environ, RAYON_NUM_THREADS=str(asked.threads))
            command = [asked.binary, "import", folder / "mapping.toml", "--out", folder / "programme", "--format", "parquet"]
            start = time.perf_counter()
            subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL)
            seconds = time.perf_counter() - start
            # the peak of all children so far: the largest run comes last
            peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 2**20
            print(f"{people:>10,} {events:>12,} {size:>7.0f} {seconds:>8.1f} {peak:>6.2f} {seconds / events * 1e9:>9.0f}", flush=True)


if __name__ == "__main__":
    main()
