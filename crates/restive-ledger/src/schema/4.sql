-- Version 4: an outcome can be withdrawn. What is withdrawn is kept among the amended, and nothing is known of its person any more, or what
-- was before holds again: an amended one is of a person, whether or not an outcome of her holds.
ALTER TABLE amended RENAME TO amended_3;

CREATE TABLE amended (
    number INTEGER PRIMARY KEY,
    plan INTEGER NOT NULL,
    arm TEXT NOT NULL,
    code TEXT NOT NULL,
    day TEXT,
    note TEXT,
    source TEXT NOT NULL,
    received_at TEXT NOT NULL,
    FOREIGN KEY (plan, arm) REFERENCES people (plan, arm)
) STRICT;

INSERT INTO amended (number, plan, arm, code, day, note, source, received_at)
    SELECT number, plan, arm, code, day, note, source, received_at FROM amended_3 ORDER BY number;
DROP TABLE amended_3;

CREATE INDEX amended_of ON amended (plan, arm);

CREATE TRIGGER amended_stay BEFORE UPDATE ON amended BEGIN
    SELECT raise(ABORT, 'what an outcome was before is never changed');
END;

CREATE TRIGGER amended_remain BEFORE DELETE ON amended BEGIN
    SELECT raise(ABORT, 'what an outcome was before is never removed');
END;

DROP TRIGGER outcomes_remain;

CREATE TRIGGER outcomes_remain BEFORE DELETE ON outcomes WHEN NOT EXISTS (
    SELECT 1 FROM amended WHERE amended.plan = old.plan AND amended.arm = old.arm
    AND (amended.code, amended.day, amended.note, amended.source, amended.received_at)
    IS (old.code, old.day, old.note, old.source, old.received_at)
) BEGIN
    SELECT raise(ABORT, 'an outcome is never removed, but for one that is withdrawn and kept among the amended');
END;
