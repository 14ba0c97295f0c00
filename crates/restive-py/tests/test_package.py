"""What is tested is what a user would install, and importing it imports NumPy and nothing else."""

import pathlib
import subprocess
import sys

import restive

OTHERS = ["torch", "jax", "pandas", "polars", "pyarrow", "sklearn", "gymnasium", "scipy"]


def test_the_package_under_test_is_the_installed_one():
    assert "site-packages" in pathlib.Path(restive.__file__).parts


def test_importing_restive_imports_none_of_the_libraries_it_can_talk_to():
    code = f"import sys, restive; print([name for name in {OTHERS} if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_everything_public_exists_and_has_a_docstring():
    for name in restive.__all__:
        assert name.startswith("__") or getattr(restive, name).__doc__, name
