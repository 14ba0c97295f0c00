-- Version 2: what whoever made the call wrote beside an outcome, and all outcomes of one person without a look at everybody's.
ALTER TABLE outcomes ADD COLUMN note TEXT;
ALTER TABLE amended ADD COLUMN note TEXT;
CREATE INDEX outcomes_of ON outcomes (arm, plan);
