"""One aligned table: task, size, our time, their time, the peer, the ratio; and the share of copy bandwidth.

Our times come from the `timings` example as one JSON object per line. A row pairs a peer with our record of
the same kernel, number of states, discount and number of arms. Where we were timed at another number of arms,
our time is scaled per arm and marked `~` (rows that are per arm by nature carry no mark); where there is no
record at all, the row says `–` rather than guess.
"""

import json


def read_ours(path):
    with open(path) as lines:
        return [json.loads(line) for line in lines if line.lstrip().startswith("{")]


def find_ours(ours, kernel, n, m, discount):
    """Our seconds for n arms, and whether they were scaled from another number of arms."""
    def fits(record):
        return record["kernel"] == kernel and all(
            want is None or record.get(name) is None or abs(record[name] - want) < 1e-12
            for name, want in (("m", m), ("discount", discount))
        )

    records = [record for record in ours if fits(record)]
    if not records:
        return None, False
    nearest = min(records, key=lambda record: abs(record["n"] - n))
    return nearest["seconds"] * n / nearest["n"], nearest["n"] != n


def duration(seconds):
    """Three significant digits and a unit."""
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6), ("ns", 1e-9)):
        if seconds >= scale:
            break
    value = seconds / scale
    return f"{value:.{max(0, 2 - len(str(int(value))) + 1)}f} {unit}"


def pair(ours, theirs):
    """Each peer's record with our seconds beside it."""
    rows = []
    for record in theirs:
        seconds, is_scaled = find_ours(ours, record["kernel"], record["n"], record["m"], record["discount"])
        is_scaled &= record["kernel"] != "general-forward"
        ratio = record["seconds"] / seconds if seconds else None
        rows.append({**record, "ours": seconds, "is_scaled": is_scaled, "ratio": ratio})
    return rows


def render(rows):
    cells = [("task", "size", "ours", "theirs", "peer", "ratio")]
    for row in rows:
        ours = "–" if row["ours"] is None else ("~" if row["is_scaled"] else "") + duration(row["ours"])
        ratio = "–" if row["ratio"] is None else f"{row['ratio']:.{2 if row['ratio'] < 10 else 0}f} ×"
        cells.append((row["task"], row["size"], ours, duration(row["seconds"]), row["peer"], ratio))
    widths = [max(len(line[column]) for line in cells) for column in range(6)]
    right = {2, 3, 5}
    lines = []
    for number, line in enumerate(cells):
        padded = [x.rjust(w) if i in right else x.ljust(w) for i, (x, w) in enumerate(zip(line, widths))]
        lines.append("  ".join(padded).rstrip())
        if number == 0:
            lines.append("  ".join("─" * w for w in widths))
        elif number < len(rows) and rows[number]["task"] != rows[number - 1]["task"]:
            lines.append("")
    return "\n".join(lines)


# Bytes that must cross the memory bus once per two-state arm: transitions and cotangent in, indices and gradient out.
TRAFFIC = {"two-state-compact": 32 + 16 + 16 + 32, "two-state-full": 64 + 16 + 16 + 64}
TRAFFIC |= {f"{kernel}-fused": traffic for kernel, traffic in TRAFFIC.items()}


def bandwidth(ours):
    """What share of the speed of a plain copy the two-state kernels reach (a copy counts bytes read and written)."""
    copies = [record["gb_per_s"] for record in ours if record["kernel"] == "copy"]
    shares = []
    for record in ours:
        if record["kernel"] in TRAFFIC and copies:
            rate = TRAFFIC[record["kernel"]] * record["n"] / record["seconds"] / 1e9
            shares.append({
                "kernel": record["kernel"], "n": record["n"], "bytes_per_arm": TRAFFIC[record["kernel"]],
                "gb_per_s": rate, "copy_gb_per_s": max(copies), "fraction_of_copy": rate / max(copies),
            })
    return shares


def render_bandwidth(shares):
    return "\n".join(
        f"{share['kernel']}, N = {share['n']:,}: {share['gb_per_s']:.1f} GB/s of {share['copy_gb_per_s']:.1f} GB/s "
        f"that a copy reaches, {100 * share['fraction_of_copy']:.0f} %"
        for share in shares
    )
