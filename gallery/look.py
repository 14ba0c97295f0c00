"""How the pictures of the gallery look, and where they go: `docs/gallery`, or the folder named on the command line."""

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

# told apart by people who see few colours, and in black and white by their lines
COLOURS = ["#0b559f", "#c8501e", "#3a7d44", "#7a4fa3", "#5c5c5c"]
LINES = ["-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1))]

plt.rcParams.update({
    "figure.dpi": 130, "figure.figsize": (7.2, 3.8), "figure.constrained_layout.use": True, "font.size": 9.5,
    "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True, "grid.color": "#e4e4e4", "axes.axisbelow": True,
    "axes.titlesize": 10.5, "axes.titlelocation": "left", "legend.frameon": False,
    "axes.prop_cycle": plt.cycler(color=COLOURS, linestyle=LINES),
})  # fmt: skip


def save(figure):
    """Writes the picture of the script that runs: NAME.py makes NAME.png."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent / "docs" / "gallery"
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / f"{Path(sys.argv[0]).stem}.png")
