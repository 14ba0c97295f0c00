"""Inputs of the rows, made once: exports, studies and arms for both builds below `data`, what a build makes of them below `prepared`.

Everything here is synthetic. Studies and arms are written only by this file, so that they do not depend on a build; exports by the generators
of the import and list benchmarks. Programmes and models are made by each build for itself, because their format may change.
"""
import array
import importlib.util
import math
import os
import random
import shutil
import struct
import subprocess

from builds import HERE, ROOT, BenchmarkError
from parquet_writer import Writer, doubles, integers, strings

# people with features of their own; more people repeat them, apart from the first feature
DISTINCT = 100_000
FEATURES = 15
PERIODS = 8
WEIGHTS = [0.5, -0.4, 0.3, 0.02, 0.0, 0.2]
SETTINGS = 'states = 2\ndiscount = 0.95\nbudget = {budget}\nhorizon = {periods}\nbehaviour = "uniform"\n'


def generator(name):
    """A module of the import or list benchmark, from `benchmarks` or `bench`."""
    for folder in (HERE, ROOT / "bench"):
        if (folder / f"{name}.py").exists():
            spec = importlib.util.spec_from_file_location(name, folder / f"{name}.py")
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            return module
    raise BenchmarkError(f"found no {name}.py in benchmarks or bench")


class Data:
    """Inputs below `home`."""

    def __init__(self, home):
        self.home = home

    def once(self, path, make):
        """Returns a folder or file that `make` writes if it is not there."""
        if not path.exists():
            unfinished = path.with_name(path.name + ".unfinished")
            shutil.rmtree(unfinished, ignore_errors=True)
            unfinished.parent.mkdir(parents=True, exist_ok=True)
            make(unfinished)
            unfinished.rename(path)
        return path

    def study(self, people):
        return self.once(self.home / f"data/study-{people}", lambda folder: write_study(folder, people))

    def arms(self, count):
        return self.once(self.home / f"data/arms-{count}.parquet", lambda path: write_arms(path, count))

    def import_exports(self, people, events):
        def make(folder):
            folder.mkdir()
            generator("import_speed").write(folder, people, events)

        return self.once(self.home / f"data/exports-{people}-{events}", make)

    def list_exports(self, people):
        module = generator("list_speed")

        def make(folder):
            folder.mkdir()
            module.write(folder, people, max(1, people // 200), people // 20)

        return self.once(self.home / f"data/list-{people}", make)

    def made(self, build, name, make):
        return self.once(self.home / "prepared" / build.digest[:16] / name, make)

    def model(self, build, people):
        """A hierarchical-effect model of the study of `people`, trained by the build."""
        study = self.study(people)
        return self.made(build, f"model-{people}", lambda out: call(build, "train", study, "--predictor", "effect", "--out", out))

    def programme(self, build, people):
        """A programme with a model and rules, without a list."""
        exports = self.list_exports(people)

        def make(out):
            call(build, "import", exports / "mapping.toml", "--out", out)
            call(build, "train", out, "--predictor", "effect")
            (out / "rules.toml").write_text(generator("list_speed").RULES)

        return self.made(build, f"programme-{people}", make)

    def planned(self, build, people):
        """A programme with a recorded list."""
        source = self.programme(build, people)

        def make(out):
            shutil.copytree(source, out)
            call(build, "plan", out, "--rows", "0")

        return self.made(build, f"planned-{people}", make)

    def clean(self, builds):
        """Removes what other builds prepared."""
        kept = {build.digest[:16] for build in builds}
        for folder in (self.home / "prepared").glob("*"):
            if folder.name not in kept:
                shutil.rmtree(folder)


def call(build, *words):
    done = subprocess.run([build.program, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode:
        raise BenchmarkError(f"restive {' '.join(map(str, words))}: {done.stderr.strip()}")


def write_arms(path, count):
    """Two-state arms in compact columns; a block of arms is repeated."""
    names = ["p_0_0_1", "p_0_1_1", "p_1_0_1", "p_1_1_1"]
    draw = random.Random(1).random
    block = min(count, DISTINCT)
    columns = {name: doubles([draw() for _ in range(block)]) for name in names}
    writer = Writer(path, {name: "double" for name in names})
    for start in range(0, count, block):
        rows = min(block, count - start)
        writer.write(rows, {name: values[: 8 * rows] for name, values in columns.items()})
    writer.close()


def write_study(folder, people):
    """A study of two states, 15 numbers and a district for each person, 8 periods in which 2 % are called at random."""
    folder.mkdir()
    (folder / "study.toml").write_text(SETTINGS.format(budget=max(1, people // 50), periods=PERIODS))
    count = min(people, DISTINCT)
    columns, districts, states, actions = simulate(count)
    names = [f"x{k}" for k in range(FEATURES)]
    encoded = {name: doubles(column) for name, column in zip(names, columns)}
    encoded["district"] = strings(districts)
    widths = [0]
    for district in districts:
        widths.append(widths[-1] + 4 + len(district))
    arms = Writer(folder / "arms.parquet", {"arm": "string", **{name: "double" for name in names}, "district": "string"})
    shift, blocks = random.Random(2).random, []
    for start in range(0, people, count):
        rows = min(count, people - start)
        arm = b"".join(struct.pack("<I9s", 9, b"P%08d" % (start + k)) for k in range(rows))
        blocks.append((rows, arm))
        block = {name: encoded[name][: 8 * rows] for name in names}
        if start:
            block["x0"] = doubles([x + 0.1 * shift() for x in columns[0][:rows]])
        arms.write(rows, {"arm": arm, **block, "district": encoded["district"][: widths[rows]]})
    arms.close()
    write_log(folder / "trajectories.parquet", blocks, states, actions)


def write_log(path, blocks, states, actions):
    columns = {"trajectory": "string", "t": "integer", "arm": "string", "state": "integer", "action": "integer"}
    writer = Writer(path, columns, optional=["action"])
    for t, state in enumerate(states):
        for rows, arm in blocks:
            writer.write(
                rows,
                {
                    "trajectory": strings(["1"]) * rows,
                    "t": integers([t]) * rows,
                    "arm": arm,
                    "state": integers(state[:rows]),
                    "action": integers(actions[t][:rows]) if t < PERIODS else None,
                },
            )
    writer.close()


def simulate(count):
    """Features by column, districts, states of each period and one more, actions of each period."""
    draw = random.Random(1).random
    columns = [array.array("d", bytes(8 * count)) for _ in range(FEATURES)]
    districts, states = [], [array.array("B", bytes(count)) for _ in range(PERIODS + 1)]
    actions = [array.array("B", bytes(count)) for _ in range(PERIODS)]
    for person in range(count):
        score = 0.0
        for f, column in enumerate(columns):
            x = 2.0 * (draw() + draw() + draw() - 1.5)
            column[person] = x = float(round(10 * x)) if f % 4 == 3 else x
            score += x * WEIGHTS[f % 6] / (1.0 + f / 6.0)
        district = int(50 * draw() ** 2)
        districts.append(f"district {district:02d}")
        base, effect = score - 1.0 + (district % 5) / 10.0, 0.8 + 0.4 * columns[0][person]
        state = int(draw() < 0.4)
        for t in range(PERIODS + 1):
            states[t][person] = state
            if t < PERIODS:
                action = actions[t][person] = int(draw() < 0.02)
                state = int(draw() < 1.0 / (1.0 + math.exp(-base - 1.8 * state - effect * action)))
    return columns, districts, states, actions


def linked(source, target):
    """A folder with hard links to the files of another, so that new files do not reach the other folder."""
    target.mkdir()
    for path in source.iterdir():
        try:
            os.link(path, target / path.name)
        except OSError:
            shutil.copy2(path, target / path.name)
    return target
