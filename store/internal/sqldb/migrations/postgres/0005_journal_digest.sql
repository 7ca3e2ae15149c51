-- The signed digest of a run's journal. '' for a run of before: it gets one when it is written next.
ALTER TABLE runs ADD COLUMN recorded TEXT NOT NULL DEFAULT '';
