-- Times are microseconds since 1970, 0 for none; flags are 0 or 1; texts are '' for none. Payloads (fixed, body) have passed
-- the codec; an empty one was erased.

CREATE TABLE meta (
  name  TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE tenants (
  id TEXT PRIMARY KEY,
  at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE sessions (
  tenant     TEXT NOT NULL,
  id         TEXT NOT NULL,
  revision   INTEGER NOT NULL,
  channel    TEXT NOT NULL,
  address    TEXT NOT NULL,
  mode       TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  ended_at   INTEGER NOT NULL,
  body       BLOB NOT NULL,
  PRIMARY KEY (tenant, id)
) STRICT;
CREATE UNIQUE INDEX sessions_current ON sessions (tenant, channel, address) WHERE address <> '' AND ended_at = 0;

CREATE TABLE messages (
  tenant      TEXT NOT NULL,
  id          TEXT NOT NULL,
  revision    INTEGER NOT NULL,
  session_id  TEXT NOT NULL,
  seq         INTEGER NOT NULL,
  external_id TEXT NOT NULL,
  pinned      INTEGER NOT NULL,
  created_at  INTEGER NOT NULL,
  body        BLOB NOT NULL,
  PRIMARY KEY (tenant, id)
) STRICT;
CREATE UNIQUE INDEX messages_order ON messages (tenant, session_id, seq);
CREATE UNIQUE INDEX messages_external ON messages (tenant, session_id, external_id) WHERE external_id <> '';
CREATE INDEX messages_age ON messages (created_at);

CREATE TABLE runs (
  tenant       TEXT NOT NULL,
  id           TEXT NOT NULL,
  revision     INTEGER NOT NULL,
  status       TEXT NOT NULL,
  session_id   TEXT NOT NULL,
  agent        TEXT NOT NULL,
  flow         TEXT NOT NULL,
  flow_version INTEGER NOT NULL,
  held_code    TEXT NOT NULL DEFAULT '',
  held_since   INTEGER NOT NULL DEFAULT 0,
  wake         INTEGER NOT NULL,
  epoch        INTEGER NOT NULL,
  lease_owner  TEXT NOT NULL,
  lease_until  INTEGER NOT NULL,
  claims       INTEGER NOT NULL,
  created_at   INTEGER NOT NULL,
  updated_at   INTEGER NOT NULL,
  ended_at     INTEGER NOT NULL,
  pruned       INTEGER NOT NULL DEFAULT 0, -- 1: journal and payloads went, 2: the records too
  fixed        BLOB NOT NULL, -- written once
  body         BLOB NOT NULL,
  PRIMARY KEY (tenant, id)
) STRICT;
CREATE INDEX runs_ready ON runs (tenant, lease_until, id) WHERE status IN ('queued', 'running') AND held_code = '';
CREATE INDEX runs_status ON runs (tenant, status, id) WHERE status <> 'waiting';
CREATE INDEX runs_held ON runs (tenant, id) WHERE held_code <> '';
CREATE INDEX runs_session ON runs (tenant, session_id, id) WHERE session_id <> '';
CREATE INDEX runs_ended ON runs (pruned, ended_at) WHERE ended_at > 0;

CREATE TABLE journal (
  tenant     TEXT NOT NULL,
  run_id     TEXT NOT NULL,
  key        TEXT NOT NULL,
  attempt    INTEGER NOT NULL,
  kind       TEXT NOT NULL,
  hash       TEXT NOT NULL,
  started_at INTEGER NOT NULL,
  ended_at   INTEGER NOT NULL,
  body       BLOB NOT NULL,
  PRIMARY KEY (tenant, run_id, key, attempt)
) STRICT, WITHOUT ROWID;

CREATE TABLE requests (
  tenant     TEXT NOT NULL,
  id         TEXT NOT NULL,
  revision   INTEGER NOT NULL,
  status     TEXT NOT NULL,
  kind       TEXT NOT NULL,
  urgency    INTEGER NOT NULL, -- 0 critical … 3 low
  session_id TEXT NOT NULL,
  run_id     TEXT NOT NULL,
  step       TEXT NOT NULL,
  assignee   TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  due_at     INTEGER NOT NULL, -- 9223372036854775807 for never, so that it sorts last
  closed_at  INTEGER NOT NULL,
  fixed      BLOB NOT NULL, -- written once: what was asked
  body       BLOB NOT NULL,
  PRIMARY KEY (tenant, id)
) STRICT;
CREATE INDEX requests_urgency ON requests (tenant, urgency, id) WHERE status = 'open';
CREATE INDEX requests_due ON requests (tenant, due_at, id) WHERE status = 'open';
CREATE INDEX requests_assignee ON requests (tenant, assignee, id) WHERE status = 'open' AND assignee <> '';
CREATE UNIQUE INDEX requests_step ON requests (tenant, run_id, step) WHERE status = 'open' AND run_id <> '';
CREATE INDEX requests_run ON requests (tenant, run_id, id) WHERE run_id <> '';
CREATE INDEX requests_closed ON requests (closed_at) WHERE closed_at > 0 AND run_id = '';
CREATE INDEX requests_session ON requests (tenant, session_id, id) WHERE session_id <> '';

CREATE TABLE decisions (
  tenant     TEXT NOT NULL,
  id         TEXT NOT NULL,
  request_id TEXT NOT NULL,
  vote       INTEGER NOT NULL,
  actor_id   TEXT NOT NULL,
  nonce      TEXT NOT NULL,
  key_id     TEXT NOT NULL,
  mac        TEXT NOT NULL,
  at         INTEGER NOT NULL,
  body       BLOB NOT NULL,
  PRIMARY KEY (tenant, id)
) STRICT;
CREATE UNIQUE INDEX decisions_one ON decisions (tenant, request_id) WHERE vote = 0;
CREATE UNIQUE INDEX decisions_vote ON decisions (tenant, request_id, actor_id) WHERE vote = 1;

CREATE TABLE decision_uses (
  tenant       TEXT NOT NULL,
  decision_id  TEXT NOT NULL,
  call_id      TEXT NOT NULL,
  operation_id TEXT NOT NULL,
  at           INTEGER NOT NULL,
  PRIMARY KEY (tenant, decision_id, call_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE operations (
  tenant       TEXT NOT NULL,
  id           TEXT NOT NULL,
  revision     INTEGER NOT NULL,
  run_id       TEXT NOT NULL,
  request_id   TEXT NOT NULL,
  step_id      TEXT NOT NULL,
  capability   TEXT NOT NULL,
  args_hash    TEXT NOT NULL,
  status       TEXT NOT NULL,
  attempt      INTEGER NOT NULL,
  nonce        TEXT NOT NULL,
  success      INTEGER NOT NULL,
  settled      INTEGER NOT NULL,
  result_hash  TEXT NOT NULL,
  external_ids TEXT NOT NULL,
  started_at   INTEGER NOT NULL,
  deadline     INTEGER NOT NULL,
  closed_at    INTEGER NOT NULL,
  PRIMARY KEY (tenant, id)
) STRICT;
CREATE INDEX operations_run ON operations (tenant, run_id, id);
CREATE INDEX operations_request ON operations (tenant, request_id) WHERE run_id = '';

CREATE TABLE timers (
  tenant  TEXT NOT NULL,
  kind    TEXT NOT NULL,
  subject TEXT NOT NULL,
  key     TEXT NOT NULL,
  due_at  INTEGER NOT NULL,
  PRIMARY KEY (tenant, kind, subject, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX timers_due ON timers (tenant, due_at);

CREATE TABLE outbox (
  tenant      TEXT NOT NULL,
  id          TEXT NOT NULL,
  revision    INTEGER NOT NULL,
  key         TEXT NOT NULL,
  status      TEXT NOT NULL,
  channel     TEXT NOT NULL,
  session_id  TEXT NOT NULL,
  seq         INTEGER NOT NULL,
  ordered     INTEGER NOT NULL,
  due_at      INTEGER NOT NULL,
  epoch       INTEGER NOT NULL,
  lease_owner TEXT NOT NULL,
  lease_until INTEGER NOT NULL,
  created_at  INTEGER NOT NULL,
  closed_at   INTEGER NOT NULL,
  body        BLOB NOT NULL,
  PRIMARY KEY (tenant, id)
) STRICT;
CREATE UNIQUE INDEX outbox_key ON outbox (tenant, key);
CREATE INDEX outbox_due ON outbox (tenant, due_at) WHERE status IN ('queued', 'sending', 'parked');
CREATE INDEX outbox_order ON outbox (tenant, session_id, seq) WHERE status IN ('queued', 'sending', 'parked');
CREATE INDEX outbox_closed ON outbox (closed_at) WHERE closed_at > 0;

CREATE TABLE inbound (
  tenant     TEXT NOT NULL,
  channel    TEXT NOT NULL,
  address    TEXT NOT NULL,
  key        TEXT NOT NULL,
  id         TEXT NOT NULL,
  revision   INTEGER NOT NULL,
  body_hash  TEXT NOT NULL,
  session_id TEXT NOT NULL,
  routed     INTEGER NOT NULL,
  at         INTEGER NOT NULL,
  body       BLOB NOT NULL,
  PRIMARY KEY (tenant, id)
) STRICT;
CREATE UNIQUE INDEX inbound_key ON inbound (tenant, channel, address, key);
CREATE INDEX inbound_unrouted ON inbound (tenant, at) WHERE routed = 0;
CREATE INDEX inbound_routed ON inbound (at) WHERE routed = 1;
CREATE INDEX inbound_session ON inbound (tenant, session_id) WHERE session_id <> '';

CREATE TABLE replays (
  tenant    TEXT NOT NULL,
  scope     TEXT NOT NULL,
  key       TEXT NOT NULL,
  body_hash TEXT NOT NULL,
  status    INTEGER NOT NULL,
  at        INTEGER NOT NULL,
  body      BLOB NOT NULL,
  PRIMARY KEY (tenant, scope, key)
) STRICT;
CREATE INDEX replays_age ON replays (at);

-- One writer at a time: the position is the order of commits. An event of a run has the run as its stream.
CREATE TABLE events (
  pos        INTEGER PRIMARY KEY,
  tenant     TEXT NOT NULL,
  id         TEXT NOT NULL,
  type       TEXT NOT NULL,
  stream     TEXT NOT NULL,
  seq        INTEGER NOT NULL,
  prev       BLOB NOT NULL,
  at         INTEGER NOT NULL,
  session_id TEXT NOT NULL,
  request_id TEXT NOT NULL,
  trace      TEXT NOT NULL,
  flow       TEXT NOT NULL,
  actor      TEXT NOT NULL,
  channel    TEXT NOT NULL,
  code       TEXT NOT NULL,
  data       BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX events_stream ON events (tenant, stream, seq);
CREATE INDEX events_session ON events (tenant, session_id, pos) WHERE session_id <> '';
CREATE INDEX events_tenant ON events (tenant, pos);

CREATE TABLE bodies (
  tenant     TEXT NOT NULL,
  digest     TEXT NOT NULL,
  session_id TEXT NOT NULL,
  run_id     TEXT NOT NULL,
  salt       BLOB NOT NULL,
  body       BLOB NOT NULL,
  PRIMARY KEY (tenant, digest)
) STRICT;
CREATE INDEX bodies_session ON bodies (tenant, session_id) WHERE session_id <> '';
CREATE INDEX bodies_run ON bodies (tenant, run_id) WHERE run_id <> '';

CREATE TABLE seals (
  number    INTEGER PRIMARY KEY,
  from_pos  INTEGER NOT NULL,
  to_pos    INTEGER NOT NULL,
  root      BLOB NOT NULL,
  prev      BLOB NOT NULL,
  at        INTEGER NOT NULL,
  key_id    TEXT NOT NULL,
  signature BLOB NOT NULL
) STRICT;

CREATE TABLE counters (
  tenant TEXT NOT NULL,
  name   TEXT NOT NULL,
  value  INTEGER NOT NULL,
  PRIMARY KEY (tenant, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE leases (
  name  TEXT PRIMARY KEY,
  owner TEXT NOT NULL,
  epoch INTEGER NOT NULL,
  until INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
