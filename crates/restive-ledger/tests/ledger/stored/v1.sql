-- A ledger of version 1, as the first release wrote it. It stays as it is, whatever later versions look like.
PRAGMA application_id = 0x72737476;

CREATE TABLE plans (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE CHECK (id <> ''),
    status TEXT NOT NULL CHECK (status IN ('current', 'replaced')),
    made_at TEXT NOT NULL,
    period INTEGER NOT NULL,
    period_start TEXT NOT NULL,
    period_end TEXT NOT NULL CHECK (period_end >= period_start),
    restive TEXT NOT NULL,
    model TEXT NOT NULL,
    model_fingerprint TEXT NOT NULL,
    study_fingerprint TEXT NOT NULL,
    words_fingerprint TEXT NOT NULL,
    rules TEXT NOT NULL,
    policy TEXT NOT NULL,
    budget INTEGER NOT NULL CHECK (budget >= 0),
    places INTEGER NOT NULL CHECK (places >= 0),
    explore_places INTEGER NOT NULL CHECK (explore_places >= 0),
    seed TEXT NOT NULL CHECK (seed <> '' AND seed NOT GLOB '*[^0-9]*'), -- decimal: an integer here ends at 2^63 - 1
    steps INTEGER NOT NULL CHECK (steps >= 0),
    inclusion TEXT NOT NULL,
    value REAL NOT NULL,
    summary TEXT NOT NULL,
    people INTEGER NOT NULL CHECK (people >= 0) -- how many rows of people belong to it
) STRICT;

CREATE UNIQUE INDEX plans_current ON plans (period) WHERE status = 'current';

CREATE TABLE people (
    plan INTEGER NOT NULL REFERENCES plans (number),
    arm TEXT NOT NULL CHECK (arm <> ''),
    probability REAL NOT NULL CHECK (probability BETWEEN 0 AND 1),
    how TEXT CHECK (how = 'rank' OR how = 'draw' OR how = 'must'), -- null: not listed; IN would build a table for every row
    rank INTEGER CHECK (rank >= 1),
    state INTEGER,
    value REAL NOT NULL,
    "group" TEXT,
    "row" TEXT CHECK ("row" IS NULL OR how IS NOT NULL), -- what the list said
    PRIMARY KEY (plan, arm)
) STRICT, WITHOUT ROWID;

CREATE INDEX people_listed ON people (plan) WHERE how IS NOT NULL;

CREATE TRIGGER people_stay BEFORE UPDATE ON people BEGIN
    SELECT raise(ABORT, 'what a plan said of a person is never changed');
END;

CREATE TRIGGER people_remain BEFORE DELETE ON people BEGIN
    SELECT raise(ABORT, 'what a plan said of a person is never removed');
END;

CREATE TABLE overrides (
    number INTEGER PRIMARY KEY,
    plan INTEGER NOT NULL,
    arm TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('added', 'removed')),
    who TEXT NOT NULL CHECK (who <> ''),
    why TEXT NOT NULL CHECK (why <> ''),
    at TEXT NOT NULL,
    FOREIGN KEY (plan, arm) REFERENCES people (plan, arm)
) STRICT;

CREATE INDEX overrides_of ON overrides (plan, arm);

CREATE TABLE outcomes (
    plan INTEGER NOT NULL,
    arm TEXT NOT NULL,
    code TEXT NOT NULL CHECK (code IN (
        'reached', 'no_answer', 'not_found', 'wrong_number', 'refused', 'moved', 'later', 'not_called')),
    day TEXT,
    source TEXT NOT NULL,
    received_at TEXT NOT NULL,
    PRIMARY KEY (plan, arm),
    FOREIGN KEY (plan, arm) REFERENCES people (plan, arm)
) STRICT, WITHOUT ROWID;

-- what an outcome was before it was amended
CREATE TABLE amended (
    number INTEGER PRIMARY KEY,
    plan INTEGER NOT NULL,
    arm TEXT NOT NULL,
    code TEXT NOT NULL,
    day TEXT,
    source TEXT NOT NULL,
    received_at TEXT NOT NULL,
    FOREIGN KEY (plan, arm) REFERENCES outcomes (plan, arm)
) STRICT;

CREATE INDEX amended_of ON amended (plan, arm);

-- the last word on everybody of whom there is one
CREATE VIEW overridden AS
    SELECT plan, arm, kind FROM overrides AS this
    WHERE number = (SELECT max(number) FROM overrides AS any WHERE any.plan = this.plan AND any.arm = this.arm);

-- who is on a list, overrides applied
CREATE VIEW listed AS
    SELECT plan, arm FROM people INDEXED BY people_listed
    WHERE how IS NOT NULL AND NOT EXISTS (
        SELECT 1 FROM overridden AS last
        WHERE last.plan = people.plan AND last.arm = people.arm AND last.kind = 'removed')
    UNION ALL
    SELECT people.plan, people.arm FROM overridden AS last
    JOIN people ON people.plan = last.plan AND people.arm = last.arm
    WHERE last.kind = 'added' AND people.how IS NULL;

INSERT INTO plans VALUES (1, '2026-03-09', 'replaced', '2026-03-06T09:00:00Z', 10, '2026-03-09', '2026-03-15', '0.1.0', 'spring',
    'm1', 's1', 'w1', 'calls = 2', 'whittle', 2, 2, 0, '18446744073709551615', 12, 'exact', 0.5, '{}', 2);
INSERT INTO plans VALUES (2, '2026-03-09-2', 'current', '2026-03-06T10:00:00Z', 10, '2026-03-09', '2026-03-15', '0.1.0', 'spring',
    'm1', 's2', 'w1', 'calls = 2', 'whittle', 2, 2, 1, '8', 12, 'simulated, 1000 repetitions', 0.75, '{"a":1}', 3);
INSERT INTO people VALUES (1, 'B1', 1, 'rank', 1, 0, 0.5, NULL, '{}');
INSERT INTO people VALUES (1, 'B2', 0, NULL, 2, 1, 0.1, NULL, NULL);
INSERT INTO people VALUES (2, 'B1', 1, 'rank', 1, 0, 0.5, 'Asha', '{"name":"Ada"}');
INSERT INTO people VALUES (2, 'B2', 0.5, 'draw', 2, NULL, 0.25, 'Asha', '{"name":"Ben"}');
INSERT INTO people VALUES (2, 'B3', 0.5, NULL, 3, NULL, 0.125, NULL, NULL);
INSERT INTO overrides VALUES (1, 2, 'B2', 'removed', 'Meera', 'in hospital', '2026-03-09T07:00:00Z');
INSERT INTO outcomes VALUES (2, 'B1', 'reached', '2026-03-11', 'calls.csv', '2026-03-16T08:00:00Z');
INSERT INTO amended VALUES (1, 2, 'B1', 'no_answer', '2026-03-10', 'calls.csv', '2026-03-12T08:00:00Z');
PRAGMA user_version = 1;
