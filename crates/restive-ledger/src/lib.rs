//! The record of a programme's plans: every list, every person's probability, every outcome, in one SQLite file.
