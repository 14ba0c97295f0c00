-- Version 3: what a plan was made of, whom rules kept out, trials, and a chain that shows whether anything was changed later.
ALTER TABLE plans ADD COLUMN asked TEXT NOT NULL DEFAULT '';
ALTER TABLE plans ADD COLUMN inputs TEXT NOT NULL DEFAULT '[]';
ALTER TABLE plans ADD COLUMN certificate TEXT NOT NULL DEFAULT '';
ALTER TABLE plans ADD COLUMN trial TEXT REFERENCES trials (id);
ALTER TABLE plans ADD COLUMN cuts TEXT NOT NULL DEFAULT '';

ALTER TABLE people ADD COLUMN score REAL; -- null in plans of earlier versions, which ranked by value
ALTER TABLE people ADD COLUMN tie INTEGER; -- the bits of an unsigned number
ALTER TABLE people ADD COLUMN trial TEXT; -- the group in the trial

-- whom a rule kept from being chosen
CREATE TABLE excluded (
    plan INTEGER NOT NULL REFERENCES plans (number),
    arm TEXT NOT NULL CHECK (arm <> ''),
    why TEXT NOT NULL CHECK (why <> ''),
    PRIMARY KEY (plan, arm)
) STRICT, WITHOUT ROWID;

CREATE TABLE trials (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE CHECK (id <> ''),
    status TEXT NOT NULL CHECK (status IN ('running', 'ended')),
    made_at TEXT NOT NULL,
    starts TEXT NOT NULL, -- the first day of its first period
    weeks INTEGER NOT NULL CHECK (weeks >= 1),
    protocol TEXT NOT NULL,
    protocol_digest TEXT NOT NULL,
    seed TEXT NOT NULL CHECK (seed <> '' AND seed NOT GLOB '*[^0-9]*')
) STRICT;

CREATE UNIQUE INDEX trials_running ON trials (status) WHERE status = 'running';

CREATE TABLE assigned (
    trial INTEGER NOT NULL REFERENCES trials (number),
    arm TEXT NOT NULL CHECK (arm <> ''),
    "group" TEXT NOT NULL CHECK ("group" <> ''),
    stratum TEXT,
    cluster TEXT,
    PRIMARY KEY (trial, arm)
) STRICT, WITHOUT ROWID;

CREATE TABLE chain (
    number INTEGER PRIMARY KEY,
    at TEXT NOT NULL,
    event TEXT NOT NULL,
    subject TEXT NOT NULL,
    content TEXT NOT NULL,
    digest TEXT NOT NULL,
    link TEXT NOT NULL
) STRICT;

CREATE TRIGGER plans_stay BEFORE UPDATE ON plans WHEN NOT (
    old.status = 'current' AND new.status = 'replaced'
    AND (old.number, old.id, old.made_at, old.period, old.period_start, old.period_end, old.restive, old.model,
        old.model_fingerprint, old.study_fingerprint, old.words_fingerprint, old.rules, old.policy, old.budget, old.places,
        old.explore_places, old.seed, old.steps, old.inclusion, old.value, old.summary, old.people, old.asked, old.inputs,
        old.certificate, old.trial, old.cuts)
    IS (new.number, new.id, new.made_at, new.period, new.period_start, new.period_end, new.restive, new.model,
        new.model_fingerprint, new.study_fingerprint, new.words_fingerprint, new.rules, new.policy, new.budget, new.places,
        new.explore_places, new.seed, new.steps, new.inclusion, new.value, new.summary, new.people, new.asked, new.inputs,
        new.certificate, new.trial, new.cuts)
) BEGIN
    SELECT raise(ABORT, 'a plan is never changed, but for a current one that is replaced');
END;

CREATE TRIGGER plans_remain BEFORE DELETE ON plans BEGIN
    SELECT raise(ABORT, 'a plan is never removed');
END;

CREATE TRIGGER excluded_stay BEFORE UPDATE ON excluded BEGIN
    SELECT raise(ABORT, 'whom a rule kept out is never changed');
END;

CREATE TRIGGER excluded_remain BEFORE DELETE ON excluded BEGIN
    SELECT raise(ABORT, 'whom a rule kept out is never removed');
END;

CREATE TRIGGER overrides_stay BEFORE UPDATE ON overrides BEGIN
    SELECT raise(ABORT, 'an override is never changed');
END;

CREATE TRIGGER overrides_remain BEFORE DELETE ON overrides BEGIN
    SELECT raise(ABORT, 'an override is never removed');
END;

CREATE TRIGGER outcomes_remain BEFORE DELETE ON outcomes BEGIN
    SELECT raise(ABORT, 'an outcome is never removed');
END;

CREATE TRIGGER amended_stay BEFORE UPDATE ON amended BEGIN
    SELECT raise(ABORT, 'what an outcome was before is never changed');
END;

CREATE TRIGGER amended_remain BEFORE DELETE ON amended BEGIN
    SELECT raise(ABORT, 'what an outcome was before is never removed');
END;

CREATE TRIGGER trials_stay BEFORE UPDATE ON trials WHEN NOT (
    old.status = 'running' AND new.status = 'ended'
    AND (old.number, old.id, old.made_at, old.starts, old.weeks, old.protocol, old.protocol_digest, old.seed)
    IS (new.number, new.id, new.made_at, new.starts, new.weeks, new.protocol, new.protocol_digest, new.seed)
) BEGIN
    SELECT raise(ABORT, 'a trial is never changed, but for a running one that ends');
END;

CREATE TRIGGER trials_remain BEFORE DELETE ON trials BEGIN
    SELECT raise(ABORT, 'a trial is never removed');
END;

CREATE TRIGGER assigned_stay BEFORE UPDATE ON assigned BEGIN
    SELECT raise(ABORT, 'who was assigned is never changed');
END;

CREATE TRIGGER assigned_remain BEFORE DELETE ON assigned BEGIN
    SELECT raise(ABORT, 'who was assigned is never removed');
END;

CREATE TRIGGER chain_stay BEFORE UPDATE ON chain BEGIN
    SELECT raise(ABORT, 'a link is never changed');
END;

CREATE TRIGGER chain_remain BEFORE DELETE ON chain BEGIN
    SELECT raise(ABORT, 'a link is never removed');
END;
