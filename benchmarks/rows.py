"""Rows of the table: the size, the inputs and the measured command or call of each.

A row measures one build at a time and returns its seconds. If a later build names a command differently, `either` gives a row one form
for each build; the calls of kernels have theirs in `kernels/src`.
"""
import dataclasses
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import time
from typing import Callable

from builds import HERE, BenchmarkError, NotMeasured
from data import Data, linked
from web_pages import Servers


@dataclasses.dataclass
class Bench:
    """State of one comparison."""

    home: pathlib.Path
    is_quick: bool
    python: str
    data: Data
    servers: Servers

    def size(self, full, quick):
        return quick if self.is_quick else full


@dataclasses.dataclass(frozen=True)
class Row:
    """One row. `kind`: "kernel" or "program", which decides the limit. `measure(bench, build)` returns facts with `seconds`."""

    name: str
    kind: str
    about: str
    measure: Callable
    prepare: Callable = lambda bench, build: None
    warm_up: bool = True


def either(build, before, after):
    """The form of a command for a build."""
    return before if build.name == "before" else after


def timed(command, folder=None, environment=None):
    """Runs a command; returns seconds, processor seconds and peak memory in MiB."""
    with tempfile.TemporaryFile() as errors:
        begin = time.perf_counter()
        process = subprocess.Popen(
            command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors
        )
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - begin
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            errors.seek(0)
            text = errors.read().decode(errors="replace").strip()[-300:]
            raise BenchmarkError(f"{' '.join(map(str, command))}: exit status {process.returncode}: {text}")
    return {"seconds": seconds, "cpu_seconds": usage.ru_utime + usage.ru_stime, "peak_mib": round(usage.ru_maxrss / 1024)}


def answered(command, environment=None):
    """Runs a command that prints its measurement as JSON."""
    done = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600)
    if done.returncode:
        raise BenchmarkError(f"{' '.join(map(str, command))}: {done.stderr.strip()[-300:]}")
    return json.loads(done.stdout.strip().splitlines()[-1])


def kernel(name, about, full, quick):
    """A kernel of the library on one thread, measured by the program `kernels` in a process of its own."""

    def measure(bench, build):
        seconds = "0.1" if bench.is_quick else "0.5"
        return answered([build.kernels(), name, str(bench.size(full, quick)), seconds], dict(os.environ, RAYON_NUM_THREADS="1"))

    return Row(name, "kernel", about, measure, lambda bench, build: build.kernels(), warm_up=False)


def program(name, about, full, quick, words, prepare):
    """A command of the program, from its start to its end. `words(data, build, size, out)`: arguments; `out`: new folder."""

    def measure(bench, build):
        # beside the inputs, so that hard links are possible
        with tempfile.TemporaryDirectory(dir=bench.home) as folder:
            out = pathlib.Path(folder)
            return timed([build.program, *words(bench.data, build, bench.size(full, quick), out)])

    return Row(name, "program", about, measure, lambda bench, build: prepare(bench.data, build, bench.size(full, quick)))


def import_words(data, build, events, out):
    mapping = data.import_exports(events // 10, 10) / "mapping.toml"
    return ["import", mapping, "--out", out / "programme", "--format", "parquet"]


def plan_words(data, build, people, out):
    return ["plan", data.model(build, min(people, 100_000)), data.study(people), "--out", out / "plan.csv"]


def plan_inputs(data, build, people):
    data.study(people)
    data.model(build, min(people, 100_000))


def train_effect_words(data, build, people, out):
    return ["train", data.study(people), "--predictor", "effect", "--out", out / "model"]


def train_auto_words(data, build, people, out):
    return ["train", data.study(people), "--out", out / "model"]


def evaluate_words(data, build, people, out):
    # evaluate counts looks in the folder of the study: each measurement has a folder of its own
    return ["evaluate", data.model(build, people), linked(data.study(people), out / "study")]


def index_words(data, build, arms, out):
    return ["index", data.arms(arms), "--out", out / "indices.parquet"]


def list_row(name, about, full, quick):
    """This week's list with rules and a workbook. The list is recorded, so each measurement has a copy of the programme."""

    def measure(bench, build):
        with tempfile.TemporaryDirectory(dir=bench.home) as folder:
            copied = pathlib.Path(folder) / "programme"
            shutil.copytree(bench.data.programme(build, bench.size(full, quick)), copied)
            return timed([build.program, "plan", copied, "--out", pathlib.Path(folder) / "list.xlsx"])

    return Row(name, "program", about, measure, lambda bench, build: bench.data.programme(build, bench.size(full, quick)))


def page(name, about, path):
    """One page of the web UI on loopback, 20 requests one after the other."""

    def measure(bench, build):
        return bench.servers.of(build, bench.size(100_000, 2_000)).seconds(path, 20)

    return Row(name, "program", about, measure, lambda bench, build: bench.servers.of(build, bench.size(100_000, 2_000)))


def python_row(name, about, arms):
    """A call from Python, in a process of its own with the package of the build."""

    def command(bench, build, *more):
        environment = dict(os.environ, PYTHONPATH=str(build.python_path(bench.home)), RAYON_NUM_THREADS="1", OMP_NUM_THREADS="1")
        return [bench.python, HERE / "python_calls.py", str(arms), *more], environment

    def prepare(bench, build):
        _, environment = command(bench, build)
        for module, reason in [
            ("numpy", f"no NumPy in {bench.python}; name an interpreter with --python"),
            ("restive._restive", f"no native module in the package of the build {build.name}"),
        ]:
            if subprocess.run([bench.python, "-c", f"import {module}"], env=environment, capture_output=True).returncode:
                raise NotMeasured(reason)

    return Row(name, "kernel", about, lambda bench, build: answered(*command(bench, build)), prepare, warm_up=False)


def gpu_row(name, about, full, quick):
    """A call on a graphics processor, timed as bench/device.py does."""

    def measure(bench, build):
        environment = dict(os.environ, PYTHONPATH=str(build.python_path(bench.home)))
        return answered([bench.python, HERE / "gpu_calls.py", name, str(bench.size(full, quick))], environment)

    def prepare(bench, build):
        if not has_gpu(bench.python):
            raise NotMeasured("no GPU")
        build.python_path(bench.home)

    return Row(name, "kernel", about, measure, prepare, warm_up=False)


def has_gpu(python):
    if not (shutil.which("nvidia-smi") or os.path.exists("/dev/nvidiactl")):
        return False
    check = "import sys, torch; sys.exit(not torch.cuda.is_available())"
    return subprocess.run([python, "-c", check], capture_output=True).returncode == 0


ROWS = [
    kernel("two-state-compact", "indices and gradient of 1,000,000 two-state arms, [N,4]", 1_000_000, 100_000),
    kernel("two-state-full", "indices and gradient of 1,000,000 two-state arms, [N,2,2,2]", 1_000_000, 100_000),
    kernel("index-5", "indices and gradient of 1,000 arms of 5 states", 1_000, 200),
    kernel("index-20", "indices and gradient of 200 arms of 20 states", 200, 20),
    kernel("index-100", "indices and gradient of 10 arms of 100 states", 10, 2),
    kernel("soft-top-k", "soft top-k of 1,000,000 scores, with gradient", 1_000_000, 100_000),
    kernel("step-published", "decision-focused step, importance sampling, 100 arms, 100 trajectories", 100, 100),
    kernel("step-fluid", "decision-focused step, fluid value, 10,000 arms", 10_000, 1_000),
    python_row("python-1", "whittle_index with gradient from Python, 1 arm", 1),
    python_row("python-100", "whittle_index with gradient from Python, 100 arms", 100),
    python_row("python-10000", "whittle_index with gradient from Python, 10,000 arms", 10_000),
    gpu_row("gpu-two-state", "indices and gradient of 10,000,000 two-state arms on the GPU", 10_000_000, 1_000_000),
    gpu_row("gpu-index-5", "indices and gradient of 1,000,000 arms of 5 states on the GPU", 1_000_000, 100_000),
    gpu_row("gpu-soft-top-k", "soft top-k of 10,000,000 scores on the GPU, with gradient", 10_000_000, 1_000_000),
    gpu_row("gpu-step", "decision-focused step of 1,000,000 arms on the GPU", 1_000_000, 100_000),
    program(
        "import-1m", "import of 1,000,000 events of 100,000 people", 1_000_000, 20_000, import_words,
        lambda data, build, events: data.import_exports(events // 10, 10),
    ),
    program("plan-100k", "plan of 100,000 people", 100_000, 2_000, plan_words, plan_inputs),
    program("plan-1m", "plan of 1,000,000 people", 1_000_000, 10_000, plan_words, plan_inputs),
    program("plan-10m", "plan of 10,000,000 people", 10_000_000, 20_000, plan_words, plan_inputs),
    program(
        "train-effect-1m", "train an effect model on 1,000,000 people", 1_000_000, 10_000, train_effect_words,
        lambda data, build, people: data.study(people),
    ),
    program(
        "train-auto-10k", "train with the default predictor on 10,000 people", 10_000, 1_000, train_auto_words,
        lambda data, build, people: data.study(people),
    ),
    program("evaluate-100k", "evaluate an effect model on 100,000 people", 100_000, 2_000, evaluate_words, plan_inputs),
    program(
        "index-10m", "indices of 10,000,000 two-state arms, Parquet to Parquet", 10_000_000, 100_000, index_words,
        lambda data, build, arms: data.arms(arms),
    ),
    list_row("list-100k", "this week's list of 100,000 people with rules, draw and workbook", 100_000, 2_000),
    page("web-week", "web page: this week's list, programme of 100,000 people", "/week"),
    page("web-person", "web page: one person, programme of 100,000 people", "/person/{id}"),
    page("web-outcomes", "web page: outcomes, programme of 100,000 people", "/outcomes"),
    page("web-capacity", "web page: capacity, programme of 100,000 people", "/capacity"),
    page("web-fairness", "web page: fairness, programme of 100,000 people", "/fairness"),
    page("web-record", "web page: record, programme of 100,000 people", "/record"),
]
