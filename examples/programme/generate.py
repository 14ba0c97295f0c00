#!/usr/bin/env python3
"""Writes the exports of an invented maternal messaging programme, as messy as real ones, and the truth behind them.

    python3 examples/programme/generate.py --out exports [--people 1000 --weeks 26 --calls 60 --seed 1]

    exports/registry.csv   who takes part: one row per registration
    exports/messages.csv   what the telephone provider logged: one row per automated message
    exports/calls.csv      what caseworkers wrote down: one row per service call
    exports/truth/         what no programme knows (README.md beside this file says what is in it)

Nobody here is real. A woman is *engaged* in a week if she heard 30 seconds or more of any message of that week. Weeks begin on
Monday; week 1 is that of 5 January 2026. She gets one or two messages a week from the Monday after she registered. On Monday of
week p, knowing who was engaged in week p - 1, the programme draws women by lot among those who got messages in week p - 1, have not
left and do not object to calls. They are called from Tuesday to Friday noon; messages go out from Friday afternoon to Sunday. So
a call of week p acts on the listening of week p, and on later weeks only through the state that it leaves:

    P(engaged in week p | engaged in week p - 1, called in week p)

In a study, therefore, row t holds the state of week t and the call of week t + 1. A call that reaches nobody does nothing. One
that does is of little use to most, and of much to women of little schooling who share a phone and have lapsed: `probabilities`.
Whoever was drawn counts as called, reached or not: that is what was dealt by lot. A call that was cancelled was never made, and
another woman was drawn in her place, so that as many are called every week.

The same bytes on every platform and from every Python since 3.10: all chance is `Random.random()`, whose sequence Python promises
to keep (it does not for `choice`, `shuffle` or `gauss`); nothing is computed but sums and products, dates never meet the system's
locale or time zone, and line ends are written out. What happens and how messily it is written down have streams of their own.
"""

import argparse
import csv
import io
from datetime import date, datetime, timedelta
from pathlib import Path
from random import Random

START = date(2026, 1, 5)  # the Monday of week 1
LISTENED = 30  # seconds of talk that make a week an engaged one
PROGRAMME_NUMBER = "02249990000"
MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()
MISSING = ["NA", "N/A", "nil", "---"]

FIRST_NAMES = """Aarti Asha Bhavna Chhaya Deepa Farida Gauri Hema Jyoti Kavita Lata Madhuri Meena Nasreen Neha Pooja Rekha Rukhsana
Sangita Seema Shabana Sunita Usha Vandana""".split()
# made from Hindi and Marathi words for sample, example, imaginary, supposed, copied
LAST_NAMES = "Namunekar Udaharan Kalpanik Misalkar Nakliwal Manlekar Sankalpi Pratirup".split()
CASEWORKERS = ["Inês Namunekar", "José Udaharan", "Renée Misalkar", "Zoë Kalpanik", "Conceição Manlekar", "André Pratirup"]
NOTES = ["phone of the husband", "call again after 5 o'clock", 'said "later", then hung up', "moved; new ward", "spoke for ½ hour",
         "asked about vaccination, iron tablets", "network bad", "mère / sister took the call"]

EDUCATION = [  # by level, each in the three ways in which it is written
    ["No schooling", "no schooling", "Unschooled"],
    ["Primary", "PRIMARY", "primary school"],
    ["Secondary", "secondary", "Sec. school"],
    ["Higher", "HIGHER", "higher education"],
]
PHONE_FORMS = ["+91 {0} {1}", "+91{0}{1}", "0{0}{1}", "0{0} {1}", "{0} {1}", "{0}{1}", "+91-{0}-{1}"]

# How many of each trap are planted; planted.csv repeats it with those that fall by chance
TWICE, UNKNOWN_NUMBERS, REPEATED_MESSAGES, EARLY_CALLS, UNKNOWN_IDS = 12, 25, 40, 6, 8

# What becomes of a call, and with a second attempt where nobody answered the first
REACHED, WRONG_NUMBER, TRIED_AGAIN, REACHED_THEN = 0.72, 0.03, 0.4, 0.6
REACHED_AT_ALL = REACHED + (1 - REACHED - WRONG_NUMBER) * TRIED_AGAIN * REACHED_THEN


def below(chance, n):
    return int(chance.random() * n)


def pick(chance, items, shares=None):
    """One of the items, each with its share; without shares all alike."""
    if shares is None:
        return items[below(chance, len(items))]
    left = chance.random()
    for item, share in zip(items, shares):
        left -= share
        if left < 0:
            return item
    return items[-1]


def draw(chance, items, n):
    """n of the items by lot: those with the smallest of so many random numbers."""
    tickets = [chance.random() for _ in items]
    return [items[i] for i in sorted(range(len(items)), key=tickets.__getitem__)[:n]]


def day(week, weekday):
    return START + timedelta(days=7 * (week - 1) + weekday)


def probabilities(chance, woman):
    """P(engaged) from lapsed alone, lapsed called, engaged alone, engaged called; and, by state, what reaching her adds."""
    level, shares_phone = woman["level"], woman["phone_owner"] != "woman"
    own = 0.12 * (chance.random() + chance.random() - 1)
    better = (0.025 * (level - 1.5) + 0.03 * (woman["income"] > 12000) - 0.04 * shares_phone
              - 0.015 * (woman["children"] - 2) + 0.003 * (woman["age"] - 26) + own)
    alone = [min(0.45, max(0.04, 0.17 + better)), min(0.93, max(0.45, 0.74 + better))]
    woman["treatable"] = level <= 1 and shares_phone
    effect = [0.42 + 0.1 * chance.random(), 0.05] if woman["treatable"] else [0.03 * chance.random(), 0.01]
    truth = []
    for p, gain in zip(alone, effect):
        truth += [round(p, 6), round(p + REACHED_AT_ALL * gain, 6)]
    return truth, effect


def income(chance, level):
    """Rupees a month: more with schooling, and much more for a few."""
    luck = chance.random()
    return 2500 + int((9000 + 4000 * level) * (chance.random() + luck * luck * luck))


def make_people(chance, options):
    people = []
    for i in range(options.people):
        level = pick(chance, [0, 1, 2, 3], [0.16, 0.32, 0.36, 0.16])
        owner = pick(chance, ["woman", "husband", "family"], [0.52, 0.34, 0.14] if level <= 1 else [0.78, 0.17, 0.05])
        age_days = 18 * 365 + below(chance, 11 * 365) + below(chance, 11 * 365)
        is_late = chance.random() < 1 / 3
        first_week = 2 + below(chance, min(10, options.weeks - 2) - 1) if is_late else 1
        # she registers in the week before that of her first messages, or long before the records begin
        registered = day(first_week - 1, below(chance, 7)) - timedelta(days=0 if is_late else below(chance, 84))
        woman = {
            "name": f"{pick(chance, FIRST_NAMES)} {pick(chance, LAST_NAMES)}",
            "phone": f"99999{(7919 * i + 1234) % 10000:05d}",  # no two alike: 7919 and 10000 share no factor
            "registered": registered, "born": registered - timedelta(days=age_days), "age": age_days // 365,
            "level": level,
            "income": income(chance, level) + pick(chance, [0, 0, 0.5]),
            "children": pick(chance, [0, 1, 2, 3, 4], [0.3, 0.3, 0.22, 0.12, 0.06]),
            "language": pick(chance, ["Hindi", "Marathi", "Gujarati"], [0.56, 0.36, 0.08]),
            "phone_owner": owner,
            "dnd": chance.random() < 0.03,
            "first_week": first_week, "last_week": options.weeks, "exit": None, "second": None,
        }
        if chance.random() < 0.05 and first_week + 3 < options.weeks:
            woman["last_week"] = first_week + 3 + below(chance, options.weeks - first_week - 3)
            woman["exit"] = day(woman["last_week"] + 1, below(chance, 4))
        woman["truth"], woman["effect"] = probabilities(chance, woman)
        people.append(woman)

    settled = [w for w in people if not w["dnd"] and not w["exit"]]
    registrations = [(w["registered"], i, w, "id") for i, w in enumerate(people)]
    for i, woman in enumerate(draw(chance, settled, TWICE)):
        woman["second"] = woman["registered"] + timedelta(days=14 + below(chance, 40))
        registrations.append((woman["second"], len(people) + i, woman, "second_id"))
    for number, (_, _, woman, which) in enumerate(sorted(registrations, key=lambda r: r[:2]), 1):
        woman[which] = f"MB-{number:05d}"
    return sorted(people, key=lambda w: w["id"])


def live(chance, people, options):
    """Plays the weeks: everybody's states and calls by week, and one record for each woman who was called in a week."""
    calls = []
    for woman in people:
        woman["states"], woman["called"] = {}, set()
    for week in range(1, options.weeks + 1):
        # nobody is drawn before there is a week to know her by
        present = [w for w in people if w["first_week"] < week <= w["last_week"]]
        lot = draw(chance, [w for w in present if not w["dnd"]], options.calls + options.calls // 12)
        drawn, cancelled = lot[: options.calls], lot[options.calls :]  # those whose call is cancelled are replaced
        calls += [{"week": week, "woman": w, "outcomes": ["cancelled"]} for w in cancelled]
        outcomes = {}
        for woman in drawn:
            outcome = pick(chance, ["reached", "wrong number", "no answer"], [REACHED, WRONG_NUMBER, 1])
            outcomes[woman["id"]] = [outcome]
            if outcome == "no answer" and chance.random() < TRIED_AGAIN:
                outcomes[woman["id"]].append("reached" if chance.random() < REACHED_THEN else "no answer")
        for woman in people:
            luck = chance.random()
            if woman["first_week"] == week:
                woman["states"][week] = int(luck < 0.45 + 0.05 * woman["level"])
            elif woman["first_week"] < week <= woman["last_week"]:
                before = woman["states"][week - 1]
                p = woman["truth"][2 * before]
                done = outcomes.get(woman["id"], [])
                after = int(luck < p + ("reached" in done) * woman["effect"][before])
                woman["states"][week] = after
                if done:
                    woman["called"].add(week)
                    calls.append({"week": week, "woman": woman, "outcomes": done, "before": before, "after": after,
                                  "without": int(luck < p)})
    return calls


def table(path, header, rows, delimiter=",", encoding="utf-8", end="\n"):
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=delimiter, lineterminator=end)
    writer.writerow(header)
    writer.writerows(rows)
    path.write_bytes(text.getvalue().encode(encoding))
    return len(rows)


def untidy(chance, text):
    """Some cells end in a space or a non-breaking one."""
    return text + pick(chance, ["", " ", "\u00a0"], [0.8, 0.1, 0.1])


def phone(chance, number):
    return pick(chance, PHONE_FORMS).format(number[:5], number[5:])


def day_first(when):
    return f"{when.day:02d}/{when.month:02d}/{when.year}"


def rupees(amount):
    whole = f"{int(amount):,}".replace(",", ".")
    return f"₹ {whole},50" if amount % 1 else f"₹ {whole}"


def write_registry(chance, people, path):
    def perhaps(text):
        return text if chance.random() < 0.975 else pick(chance, MISSING)

    def row(woman, is_second):
        name = woman["name"].upper() if is_second else woman["name"]
        return [woman["second_id"] if is_second else woman["id"], untidy(chance, name), phone(chance, woman["phone"]),
                day_first(woman["second"] if is_second else woman["registered"]), perhaps(day_first(woman["born"])),
                perhaps(untidy(chance, pick(chance, EDUCATION[woman["level"]]))), perhaps(rupees(woman["income"])),
                perhaps(woman["children"]), untidy(chance, woman["language"]), perhaps(woman["phone_owner"]),
                "yes" if woman["dnd"] else "", day_first(woman["exit"]) if woman["exit"] else ""]

    rows = sorted([row(w, False) for w in people] + [row(w, True) for w in people if w["second"]])
    rows[len(rows) // 5][4] = "31/02/1998"
    rows.insert(len(rows) // 2, rows[len(rows) // 3])
    header = """beneficiary_id name phone registered date_of_birth education income children language phone_owner dnd
        exit_date""".split()
    return {
        "rows": table(path, header, rows, ";", "utf-8-sig", "\r\n"), "rows repeated exactly": 1, "impossible dates of birth": 1,
        "second registrations with the same phone": sum(bool(w["second"]) for w in people),
        "cells with a word for missing": sum(cell in MISSING for r in rows for cell in r),
        "do not call": sum(r[10] == "yes" for r in rows), "exits": sum(r[11] != "" for r in rows),
    }


def write_messages(chance, people, path):
    midnight = datetime(START.year, START.month, START.day)

    def message(week, number, seconds=None):
        """One row; without seconds of talk nobody took the call."""
        weekday, hour = pick(chance, [(4, 16), (5, 9), (5, 14), (6, 9), (6, 14)])  # and up to five hours later
        created = midnight + timedelta(days=7 * (week - 1) + weekday, seconds=3600 * hour + below(chance, 5 * 3600))
        started = created + timedelta(seconds=1 + below(chance, 4))
        ringing = 4 + below(chance, 40)
        ended = started + timedelta(seconds=ringing + (seconds or 0))
        status = "completed" if seconds else pick(chance, ["no-answer", "busy", "failed"], [0.6, 0.25, 0.15])
        return [f"CA{int(chance.random() * 2**53):014x}", str(created), PROGRAMME_NUMBER, phone(chance, number), "outbound-api",
                status, str(started), str(ended), ringing + seconds if seconds else "", seconds or ""]

    rows = []
    for woman in people:
        for week, state in woman["states"].items():
            heard = [bool(state)]
            if chance.random() < 0.4:
                heard.insert(below(chance, 2), bool(state) and chance.random() < 0.5)
            for is_heard in heard:
                short = 1 + below(chance, LISTENED - 1) if chance.random() < 0.5 else None
                rows.append(message(week, woman["phone"], LISTENED + below(chance, 91) if is_heard else short))
    weeks = max(max(w["states"]) for w in people)
    for _ in range(UNKNOWN_NUMBERS):
        rows.append(message(1 + below(chance, weeks), f"999991{below(chance, 10000):04d}", 20 + below(chance, 60)))
    rows += [rows[below(chance, len(rows))] for _ in range(REPEATED_MESSAGES)]
    rows.sort(key=lambda r: (r[1], r[0]))
    header = "CallSid DateCreated From To Direction Status StartTime EndTime Duration ConversationDuration".split()
    return {
        "rows": table(path, header, rows), "rows repeated exactly": REPEATED_MESSAGES, "rows with unknown numbers": UNKNOWN_NUMBERS,
        "rows without durations": sum(r[8] == "" for r in rows),
        f"rows with Duration >= {LISTENED} > ConversationDuration": sum(r[8] != "" and r[8] >= LISTENED > r[9] for r in rows),
    }


def write_calls(chance, people, calls, path):
    rows = []

    def call(when, identity, outcome):
        minutes = below(chance, 300) if when.weekday() < 4 else below(chance, 180)
        clock = f"{9 + minutes // 60:02d}:{minutes % 60:02d}"
        written = identity if chance.random() < 0.9 else identity.lower()
        written = pick(chance, ["{}", "{} ", " {} "], [0.9, 0.05, 0.05]).format(written)
        note = pick(chance, NOTES) if chance.random() < 0.15 else ""
        rows.append((when, clock, [f"{when.day:02d}-{MONTHS[when.month - 1]}-{when.year} {clock}", written,
                                   pick(chance, CASEWORKERS), outcome, note]))

    for record in calls:
        woman, weekday = record["woman"], 1 + below(chance, 5 - len(record["outcomes"]))  # Tuesday to Friday
        for outcome in record["outcomes"]:
            when = day(record["week"], weekday)
            is_second = woman["second"] and woman["second"] < when and chance.random() < 0.5
            call(when, woman["second_id"] if is_second else woman["id"], outcome)
            weekday += 1
    late = [w for w in people if w["first_week"] > 3]
    for woman in draw(chance, late, EARLY_CALLS):
        call(day(woman["first_week"] - 2 - below(chance, 2), 1 + below(chance, 4)), woman["id"], "reached")
    weeks = max(r["week"] for r in calls)
    for _ in range(UNKNOWN_IDS):
        call(day(2 + below(chance, weeks - 1), 1 + below(chance, 4)), f"MB-{90000 + below(chance, 1000)}", "reached")
    rows.sort(key=lambda r: r[:2])
    rows = [cells for _, _, cells in rows]
    return {
        "rows": table(path, ["Call Date", "Beneficiary", "Caseworker", "Outcome", "Notes"], rows, "\t", "iso-8859-1", "\r\n"),
        "cancelled": sum(r[3] == "cancelled" for r in rows),
        "second attempts in a week": sum(len(r["outcomes"]) > 1 for r in calls),
        "before enrolment": min(EARLY_CALLS, len(late)), "unknown ids": UNKNOWN_IDS,
        "ids in lower case or with spaces": sum(r[1] != r[1].strip().upper() for r in rows),
    }


def write_truth(people, calls, folder, planted, options):
    def by_week(woman, letter):
        return "".join(letter(week) if week in woman["states"] else "." for week in range(1, options.weeks + 1))

    table(folder / "truth.csv", ["arm", "p_0_0_1", "p_0_1_1", "p_1_0_1", "p_1_1_1"], [[w["id"], *w["truth"]] for w in people])
    plain = "age income children language phone_owner first_week last_week".split()
    header = ["id", "second_id", "phone", "registered", "date_of_birth", "exit_date", "dnd", "treatable", "education", *plain]
    rows = []
    for w in people:
        listened = by_week(w, lambda week: "nL"[w["states"][week]])
        called = by_week(w, lambda week: "C" if week in w["called"] else "-")
        rows.append([w["id"], w.get("second_id", ""), "+91" + w["phone"], w["registered"], w["born"], w["exit"] or "",
                     "yes" if w["dnd"] else "no", "yes" if w["treatable"] else "no", EDUCATION[w["level"]][0],
                     *(w[name] for name in plain), listened, called])
    table(folder / "people.csv", [*header, "listened", "called"], rows)
    made = [[c["week"], c["woman"]["id"], int("reached" in c["outcomes"]), c["before"], c["after"], c["without"],
             c["after"] - c["without"]] for c in calls if "before" in c]
    table(folder / "calls.csv", ["week", "id", "reached", "engaged_before", "engaged_after", "engaged_without", "helped"], made)
    traps = [[name, *trap] for name, counts in planted.items() for trap in counts.items()]
    table(folder / "planted.csv", ["file", "what", "count"], traps)


def main():
    parser = argparse.ArgumentParser(description="Writes the exports of an invented programme, and the truth behind them.")
    parser.add_argument("--out", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--people", type=int, default=1000, help="100 to 10000 [1000]")
    parser.add_argument("--weeks", type=int, default=26, help="8 to 100 [26]")
    parser.add_argument("--calls", type=int, help="women called a week, at most a third of all [6 %% of them]")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    options.calls = options.people * 6 // 100 if options.calls is None else options.calls
    if not (100 <= options.people <= 10000 and 8 <= options.weeks <= 100 and 1 <= options.calls <= options.people // 3):
        parser.error("wanted: 100 to 10000 people, 8 to 100 weeks, and calls for at most a third of the people")

    def stream(name):
        return Random(f"{options.seed} {name}")

    people = make_people(stream("people"), options)
    calls = live(stream("weeks"), people, options)
    truth = options.out / "truth"
    truth.mkdir(parents=True, exist_ok=True)
    planted = {
        "registry.csv": write_registry(stream("registry"), people, options.out / "registry.csv"),
        "messages.csv": write_messages(stream("messages"), people, options.out / "messages.csv"),
        "calls.csv": write_calls(stream("calls"), people, calls, options.out / "calls.csv"),
    }
    write_truth(people, calls, truth, planted, options)
    for name, counts in planted.items():
        print(f"{name}: " + ", ".join(f"{count:,} {what}" for what, count in counts.items()))


if __name__ == "__main__":
    main()
