"""What is not installed is asked for by the name of its extra. Packages are blocked in a fresh interpreter: they are installed here."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

PYPROJECT = Path(__file__).parents[1] / "pyproject.toml"

STUDY = "restive.generate('two-state', instances=1, arms=5, budget=1, trajectories=1)"
ASKED = [
    ("torch", "import restive.torch", "restive.torch", "torch"),
    ("jax", "import restive.jax", "restive.jax", "jax"),
    ("gymnasium", "import restive.gym", "restive.gym", "gym"),
    ("pyspark", "import restive.spark; restive.spark.plan(None, None, study='', step=1)", "restive.spark", "spark"),
    ("ray", "import restive.ray; restive.ray.score(None, None, '')", "restive.ray", "ray"),
    ("pyarrow", "import restive.arrow; restive.arrow._pyarrow()", "restive.arrow", "arrow"),
    ("pandas", f"{STUDY}.to_study().to_pandas()", "to_pandas()", "pandas"),
    ("polars", f"{STUDY}.to_study().to_polars()", "to_polars()", "polars"),
    ("pyarrow", f"{STUDY}.to_study().to_arrow()", "to_arrow()", "arrow"),
    ("minari", f"import restive.convert; restive.convert.to_minari({STUDY}[0], 'x-v0')", "restive.convert.to_minari", "minari"),
    ("d3rlpy", f"import restive.convert; restive.convert.to_d3rlpy({STUDY}[0])", "restive.convert.to_d3rlpy", "d3rlpy"),
]


@pytest.mark.parametrize(("package", "code", "what", "extra"), ASKED, ids=[asked[2] for asked in ASKED])
def test_the_extra_is_named(package, code, what, extra):
    blocked = f"import sys; sys.modules[{package!r}] = None; import restive; {code}"
    ended = subprocess.run([sys.executable, "-c", blocked], capture_output=True, text=True, check=False)
    last = ended.stderr.strip().splitlines()[-1]
    expected = f'{what} needs the package {package}: found none, expected it installed, pip install "restive[{extra}]"'
    assert ended.returncode == 1 and last == f"ModuleNotFoundError: {expected}"
    listed = PYPROJECT.read_text().partition("[project.optional-dependencies]")[2].partition("\n[")[0]
    assert re.search(rf'^{extra} = \[.*"{package}\b', listed, re.MULTILINE)


def test_a_package_that_is_there_and_broken_says_so_itself(tmp_path):
    (tmp_path / "minari.py").write_text("import what_it_needs")
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); from restive._extras import need; need('minari', 'x')"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ended.stderr.strip().endswith("ModuleNotFoundError: No module named 'what_it_needs'")
