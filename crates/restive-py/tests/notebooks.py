"""Percent scripts as pages: prose, code, and what the code printed.

    python crates/restive-py/tests/notebooks.py      writes the pages in docs/ anew

A cell begins with a line `# %%`; `# %% [markdown]` begins one of prose, in comments. The pages are written from the scripts, so
that what they show is what was run.
"""

import contextlib
import io
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
PAGES = {
    "index_of_an_arm": "python-index.md",
    "learn_through_the_plan": "python-torch.md",
    "evaluate_a_table": "python-evaluation.md",
}


def cells(script):
    """(whether it is prose, text) of each cell."""
    for part in re.split(r"^# %%", script.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
        head, _, text = part.partition("\n")
        yield "[markdown]" in head, text.strip("\n")


def page(name):
    """Runs a notebook in this interpreter: its page."""
    script, scope = ROOT / "notebooks" / f"{name}.py", {"__name__": "__main__"}
    blocks = []
    for is_prose, text in cells(script):
        if is_prose:
            blocks.append(re.sub(r"^# ?", "", text, flags=re.MULTILINE))
            continue
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            exec(compile(text, script, "exec"), scope)
        blocks.append(f"```python\n{text}\n```")
        if said.getvalue():
            blocks.append(f"```text\n{said.getvalue().rstrip()}\n```")
    title, *rest = blocks
    source = f"*This page is [`notebooks/{name}.py`](../notebooks/{name}.py), run by the tests.*"
    return "\n\n".join([title, source, *rest]) + "\n"


if __name__ == "__main__":
    for name, file in PAGES.items():
        (ROOT / "docs" / file).write_text(page(name), encoding="utf-8")
