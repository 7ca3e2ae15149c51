-- What the pages of people look for. Sessions are listed by activity: each entry moves when something happens in its session. The others
-- hold few rows, and cost nothing where all is well.
ALTER TABLE sessions ADD COLUMN owner TEXT NOT NULL DEFAULT ''; -- a digest of its user; '' for a row of before, '-' for nobody
UPDATE sessions SET owner = '-' WHERE length(body) = 0; -- erased
CREATE INDEX sessions_activity ON sessions (tenant, updated_at, id);
CREATE INDEX sessions_owner ON sessions (tenant, owner, updated_at, id);
CREATE INDEX sessions_manned ON sessions (tenant, updated_at, id) WHERE mode <> 'ai';
CREATE INDEX operations_lost ON operations (tenant, started_at, id) WHERE status = 'unknown' AND settled = 0;
CREATE INDEX outbox_trouble ON outbox (tenant, status, channel, created_at) WHERE status IN ('parked', 'dead');
