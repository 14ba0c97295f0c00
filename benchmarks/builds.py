"""The two builds that are compared: found in a folder, or built from a commit.

A build is a folder with the program `restive` and, for some rows, the program `kernels` and a wheel or an unpacked package of the Python
module below `python`. Rows whose part is missing are not measured.
"""
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
HERE = pathlib.Path(__file__).resolve().parent


class BenchmarkError(Exception):
    """Fault that ends the comparison: usage, or a build that fails."""


class NotMeasured(Exception):
    """Reason for which a row is not measured."""


class Build:
    """One build. `name`: "before" or "after"."""

    def __init__(self, name, program, commit=None):
        self.name, self.program, self.folder, self.commit = name, program.resolve(), program.resolve().parent, commit
        with open(self.program, "rb") as file:
            self.digest = hashlib.sha256(file.read()).hexdigest()

    def kernels(self):
        for path in (self.folder / "kernels", self.folder / "kernels.exe"):
            if os.access(path, os.X_OK):
                return path
        raise NotMeasured(f"no program `kernels` in the folder of the build {self.name}")

    def python_path(self, home):
        """Folder to import the Python package from: `python` in the folder of the build, or the unpacked wheel."""
        wheels = sorted(self.folder.glob("restive-*.whl"))
        if wheels:
            with open(wheels[-1], "rb") as file:
                target = home / "wheels" / hashlib.sha256(file.read()).hexdigest()[:16]
            if not target.exists():
                unpacked = target.with_suffix(".new")
                shutil.rmtree(unpacked, ignore_errors=True)
                with zipfile.ZipFile(wheels[-1]) as archive:
                    archive.extractall(unpacked)
                unpacked.rename(target)
            return target
        if (self.folder / "python/restive").is_dir():
            return self.folder / "python"
        raise NotMeasured(f"no wheel in the folder of the build {self.name}")

    def described(self):
        """Facts of the build for the record."""
        done = subprocess.run([self.program, "--version"], capture_output=True, text=True)
        return {"commit": self.commit, "version": done.stdout.strip(), "sha256": self.digest}


def run(command, folder=ROOT, environment=None):
    print("$", " ".join(map(str, command)), file=sys.stderr, flush=True)
    if subprocess.run(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=sys.stderr).returncode:
        raise BenchmarkError(f"{' '.join(map(str, command))}: failed")


def git(*words):
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else None


def find(name, text, home, with_wheel):
    """Returns the build that `text` names: a program, a folder of a build, or a commit. None: the working tree."""
    if text is None:
        commit = git("rev-parse", "HEAD")
        if commit and git("status", "--porcelain", "--untracked-files=no"):
            commit += " with changes"
        return Build(name, make(ROOT, home / "builds/working-tree", home, with_wheel, fresh=True), commit)
    path = pathlib.Path(text)
    if path.is_file():
        return Build(name, path)
    if path.is_dir():
        if not (path / "restive").is_file():
            raise BenchmarkError(f"{path}: the folder contains no program `restive`")
        commit = path / "commit"
        return Build(name, path / "restive", commit.read_text().strip() if commit.exists() else None)
    commit = git("rev-parse", "--verify", "--quiet", text + "^{commit}")
    if commit is None:
        raise BenchmarkError(f"found {text}, expected a program, the folder of a build or a commit")
    return Build(name, make_commit(commit, home, with_wheel), commit)


def make_commit(commit, home, with_wheel):
    out = home / "builds" / commit
    if not (out / "restive").exists() or (with_wheel and maturin() and not list(out.glob("*.whl"))):
        tree = home / "worktrees" / commit
        if tree.exists():
            git("worktree", "remove", "--force", str(tree))
        run(["git", "worktree", "add", "--force", "--detach", tree, commit])
        make(tree, out, home, with_wheel)
        (out / "commit").write_text(commit + "\n")
        run(["git", "worktree", "remove", "--force", tree])
    return out / "restive"


def make(tree, out, home, with_wheel, fresh=False):
    """Builds program, kernels and, if maturin is there, the wheel of a tree into the folder `out`."""
    out.mkdir(parents=True, exist_ok=True)
    # one target folder for all commits: third-party crates are compiled once
    target = tree / "target" if fresh else home / "cargo"
    environment = dict(os.environ, CARGO_TARGET_DIR=str(target))
    run(["cargo", "build", "--release", "--locked", "-p", "restive-cli", "--bin", "restive"], tree, environment)
    shutil.copy2(target / "release/restive", out / "restive")
    package = kernels_package(tree, home)
    run(["cargo", "build", "--release", "--offline"], package, dict(environment, CARGO_TARGET_DIR=str(package / "target")))
    shutil.copy2(package / "target/release/kernels", out / "kernels")
    if with_wheel and maturin():
        for wheel in out.glob("*.whl"):
            wheel.unlink()
        manifest = next(path for path in (tree / "python/Cargo.toml", tree / "crates/restive-py/Cargo.toml") if path.exists())
        command = [maturin(), "build", "--release", "--locked", "--auditwheel", "skip"]
        run([*command, "--manifest-path", manifest, "--interpreter", sys.executable, "--out", out], tree, environment)
    return out / "restive"


def maturin():
    for path in (ROOT / "target/python/build/bin/maturin", shutil.which("maturin")):
        if path and os.access(path, os.X_OK):
            return path
    return None


def kernels_package(tree, home):
    """Writes the package of benchmarks/kernels for a tree: its library, its lock file, its release profile."""
    commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=tree, capture_output=True, text=True).stdout.strip()
    package = home / "kernels" / ("working-tree" if tree == ROOT else commit)
    source = package / "src"
    shutil.rmtree(source, ignore_errors=True)
    source.mkdir(parents=True)
    calls = HERE / f"kernels/src/calls_{commit[:7]}.rs"
    if tree == ROOT or not calls.exists():
        calls = HERE / "kernels/src/calls.rs"
    shutil.copy(HERE / "kernels/src/main.rs", source)
    shutil.copy(calls, source / "calls.rs")
    shutil.copy(tree / "Cargo.lock", package)
    manifest = (HERE / "kernels/Cargo.toml").read_text()
    library = str(tree / "crates/restive").replace("\\", "/")
    manifest = manifest.replace('"../../crates/restive"', f'"{library}"')
    (package / "Cargo.toml").write_text(manifest + "\n" + release_profile((tree / "Cargo.toml").read_text()))
    return package


def release_profile(manifest):
    """The sections of the release profile of a manifest."""
    sections = re.split(r"(?m)^(?=\[)", manifest)
    return "".join(section for section in sections if re.match(r"\[profile\.release[.\]]", section))
