-- What the pages of people look for. Sessions are listed by activity, to the minute: an entry moves once in a minute in which something
-- happens in its session. The others hold few rows, and cost nothing where all is well.
ALTER TABLE sessions ADD COLUMN active INTEGER NOT NULL DEFAULT 0; -- updated_at, to the minute
ALTER TABLE sessions ADD COLUMN owner TEXT NOT NULL DEFAULT ''; -- a digest of its user; '' for a row of before, '-' for nobody
UPDATE sessions SET active = updated_at - updated_at % 60000000, owner = CASE WHEN length(body) = 0 THEN '-' ELSE '' END;
CREATE INDEX sessions_activity ON sessions (tenant, active, id);
CREATE INDEX sessions_owner ON sessions (tenant, owner, active, id);
CREATE INDEX sessions_manned ON sessions (tenant, active, id) WHERE mode <> 'ai';
CREATE INDEX operations_lost ON operations (tenant, started_at, id) WHERE status = 'unknown' AND settled = 0;
CREATE INDEX outbox_trouble ON outbox (tenant, status, channel, created_at) WHERE status IN ('parked', 'dead');
