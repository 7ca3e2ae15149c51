-- The signed digest of a run's journal. A run without one is held.
ALTER TABLE runs ADD COLUMN recorded TEXT NOT NULL DEFAULT '';
