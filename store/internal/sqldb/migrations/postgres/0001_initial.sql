-- Times are microseconds since 1970, 0 for none; flags are 0 or 1; texts are '' for none and sort by their bytes. Payloads (fixed, body) have passed
-- the codec; an empty one was erased.

CREATE TABLE meta (
  name  TEXT COLLATE "C" PRIMARY KEY,
  value TEXT COLLATE "C" NOT NULL
);

CREATE TABLE tenants (
  id TEXT COLLATE "C" PRIMARY KEY,
  at BIGINT NOT NULL
);

CREATE TABLE sessions (
  tenant     TEXT COLLATE "C" NOT NULL,
  id         TEXT COLLATE "C" NOT NULL,
  revision   BIGINT NOT NULL,
  channel    TEXT COLLATE "C" NOT NULL,
  address    TEXT COLLATE "C" NOT NULL,
  mode       TEXT COLLATE "C" NOT NULL,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  ended_at   BIGINT NOT NULL,
  body       BYTEA NOT NULL,
  PRIMARY KEY (tenant, id)
);
CREATE UNIQUE INDEX sessions_current ON sessions (tenant, channel, address) WHERE address <> '' AND ended_at = 0;

CREATE TABLE messages (
  tenant      TEXT COLLATE "C" NOT NULL,
  id          TEXT COLLATE "C" NOT NULL,
  revision    BIGINT NOT NULL,
  session_id  TEXT COLLATE "C" NOT NULL,
  seq         BIGINT NOT NULL,
  external_id TEXT COLLATE "C" NOT NULL,
  pinned      BIGINT NOT NULL,
  created_at  BIGINT NOT NULL,
  body        BYTEA NOT NULL,
  PRIMARY KEY (tenant, id)
);
CREATE UNIQUE INDEX messages_order ON messages (tenant, session_id, seq);
CREATE UNIQUE INDEX messages_external ON messages (tenant, session_id, external_id) WHERE external_id <> '';
CREATE INDEX messages_age ON messages (created_at);

CREATE TABLE runs (
  tenant       TEXT COLLATE "C" NOT NULL,
  id           TEXT COLLATE "C" NOT NULL,
  revision     BIGINT NOT NULL,
  status       TEXT COLLATE "C" NOT NULL,
  session_id   TEXT COLLATE "C" NOT NULL,
  agent        TEXT COLLATE "C" NOT NULL,
  flow         TEXT COLLATE "C" NOT NULL,
  flow_version BIGINT NOT NULL,
  held_code    TEXT COLLATE "C" NOT NULL DEFAULT '',
  held_since   BIGINT NOT NULL DEFAULT 0,
  wake         BIGINT NOT NULL,
  epoch        BIGINT NOT NULL,
  lease_owner  TEXT COLLATE "C" NOT NULL,
  lease_until  BIGINT NOT NULL,
  claims       BIGINT NOT NULL,
  created_at   BIGINT NOT NULL,
  updated_at   BIGINT NOT NULL,
  ended_at     BIGINT NOT NULL,
  pruned       BIGINT NOT NULL DEFAULT 0, -- 1: journal and payloads went, 2: the records too
  fixed        BYTEA NOT NULL, -- written once
  body         BYTEA NOT NULL,
  PRIMARY KEY (tenant, id)
);
CREATE INDEX runs_ready ON runs (tenant, lease_until, id) WHERE status IN ('queued', 'running') AND held_code = '';
CREATE INDEX runs_status ON runs (tenant, status, id) WHERE status <> 'waiting';
CREATE INDEX runs_held ON runs (tenant, id) WHERE held_code <> '';
CREATE INDEX runs_session ON runs (tenant, session_id, id) WHERE session_id <> '';
CREATE INDEX runs_ended ON runs (pruned, ended_at) WHERE ended_at > 0;

CREATE TABLE journal (
  tenant     TEXT COLLATE "C" NOT NULL,
  run_id     TEXT COLLATE "C" NOT NULL,
  key        TEXT COLLATE "C" NOT NULL,
  attempt    BIGINT NOT NULL,
  kind       TEXT COLLATE "C" NOT NULL,
  hash       TEXT COLLATE "C" NOT NULL,
  started_at BIGINT NOT NULL,
  ended_at   BIGINT NOT NULL,
  body       BYTEA NOT NULL,
  PRIMARY KEY (tenant, run_id, key, attempt)
);

CREATE TABLE requests (
  tenant     TEXT COLLATE "C" NOT NULL,
  id         TEXT COLLATE "C" NOT NULL,
  revision   BIGINT NOT NULL,
  status     TEXT COLLATE "C" NOT NULL,
  kind       TEXT COLLATE "C" NOT NULL,
  urgency    BIGINT NOT NULL, -- 0 critical … 3 low
  session_id TEXT COLLATE "C" NOT NULL,
  run_id     TEXT COLLATE "C" NOT NULL,
  step       TEXT COLLATE "C" NOT NULL,
  assignee   TEXT COLLATE "C" NOT NULL,
  created_at BIGINT NOT NULL,
  due_at     BIGINT NOT NULL, -- 9223372036854775807 for never, so that it sorts last
  closed_at  BIGINT NOT NULL,
  fixed      BYTEA NOT NULL, -- written once: what was asked
  body       BYTEA NOT NULL,
  PRIMARY KEY (tenant, id)
);
CREATE INDEX requests_urgency ON requests (tenant, urgency, id) WHERE status = 'open';
CREATE INDEX requests_due ON requests (tenant, due_at, id) WHERE status = 'open';
CREATE INDEX requests_assignee ON requests (tenant, assignee, id) WHERE status = 'open' AND assignee <> '';
CREATE UNIQUE INDEX requests_step ON requests (tenant, run_id, step) WHERE status = 'open' AND run_id <> '';
CREATE INDEX requests_run ON requests (tenant, run_id, id) WHERE run_id <> '';
CREATE INDEX requests_closed ON requests (closed_at) WHERE closed_at > 0 AND run_id = '';
CREATE INDEX requests_session ON requests (tenant, session_id, id) WHERE session_id <> '';

CREATE TABLE decisions (
  tenant     TEXT COLLATE "C" NOT NULL,
  id         TEXT COLLATE "C" NOT NULL,
  request_id TEXT COLLATE "C" NOT NULL,
  vote       BIGINT NOT NULL,
  actor_id   TEXT COLLATE "C" NOT NULL,
  nonce      TEXT COLLATE "C" NOT NULL,
  key_id     TEXT COLLATE "C" NOT NULL,
  mac        TEXT COLLATE "C" NOT NULL,
  at         BIGINT NOT NULL,
  body       BYTEA NOT NULL,
  PRIMARY KEY (tenant, id)
);
CREATE UNIQUE INDEX decisions_one ON decisions (tenant, request_id) WHERE vote = 0;
CREATE UNIQUE INDEX decisions_vote ON decisions (tenant, request_id, actor_id) WHERE vote = 1;

CREATE TABLE decision_uses (
  tenant       TEXT COLLATE "C" NOT NULL,
  decision_id  TEXT COLLATE "C" NOT NULL,
  call_id      TEXT COLLATE "C" NOT NULL,
  operation_id TEXT COLLATE "C" NOT NULL,
  at           BIGINT NOT NULL,
  PRIMARY KEY (tenant, decision_id, call_id)
);

CREATE TABLE operations (
  tenant       TEXT COLLATE "C" NOT NULL,
  id           TEXT COLLATE "C" NOT NULL,
  revision     BIGINT NOT NULL,
  run_id       TEXT COLLATE "C" NOT NULL,
  request_id   TEXT COLLATE "C" NOT NULL,
  step_id      TEXT COLLATE "C" NOT NULL,
  capability   TEXT COLLATE "C" NOT NULL,
  args_hash    TEXT COLLATE "C" NOT NULL,
  status       TEXT COLLATE "C" NOT NULL,
  attempt      BIGINT NOT NULL,
  nonce        TEXT COLLATE "C" NOT NULL,
  success      BIGINT NOT NULL,
  settled      BIGINT NOT NULL,
  result_hash  TEXT COLLATE "C" NOT NULL,
  external_ids TEXT COLLATE "C" NOT NULL,
  started_at   BIGINT NOT NULL,
  deadline     BIGINT NOT NULL,
  closed_at    BIGINT NOT NULL,
  PRIMARY KEY (tenant, id)
);
CREATE INDEX operations_run ON operations (tenant, run_id, id);
CREATE INDEX operations_request ON operations (tenant, request_id) WHERE run_id = '';

CREATE TABLE timers (
  tenant  TEXT COLLATE "C" NOT NULL,
  kind    TEXT COLLATE "C" NOT NULL,
  subject TEXT COLLATE "C" NOT NULL,
  key     TEXT COLLATE "C" NOT NULL,
  due_at  BIGINT NOT NULL,
  PRIMARY KEY (tenant, kind, subject, key)
);
CREATE INDEX timers_due ON timers (tenant, due_at);

CREATE TABLE outbox (
  tenant      TEXT COLLATE "C" NOT NULL,
  id          TEXT COLLATE "C" NOT NULL,
  revision    BIGINT NOT NULL,
  key         TEXT COLLATE "C" NOT NULL,
  status      TEXT COLLATE "C" NOT NULL,
  channel     TEXT COLLATE "C" NOT NULL,
  session_id  TEXT COLLATE "C" NOT NULL,
  seq         BIGINT NOT NULL,
  ordered     BIGINT NOT NULL,
  due_at      BIGINT NOT NULL,
  epoch       BIGINT NOT NULL,
  lease_owner TEXT COLLATE "C" NOT NULL,
  lease_until BIGINT NOT NULL,
  created_at  BIGINT NOT NULL,
  closed_at   BIGINT NOT NULL,
  body        BYTEA NOT NULL,
  PRIMARY KEY (tenant, id)
);
CREATE UNIQUE INDEX outbox_key ON outbox (tenant, key);
CREATE INDEX outbox_due ON outbox (tenant, due_at) WHERE status IN ('queued', 'sending', 'parked');
CREATE INDEX outbox_order ON outbox (tenant, session_id, seq) WHERE status IN ('queued', 'sending', 'parked');
CREATE INDEX outbox_closed ON outbox (closed_at) WHERE closed_at > 0;

CREATE TABLE inbound (
  tenant     TEXT COLLATE "C" NOT NULL,
  channel    TEXT COLLATE "C" NOT NULL,
  address    TEXT COLLATE "C" NOT NULL,
  key        TEXT COLLATE "C" NOT NULL,
  id         TEXT COLLATE "C" NOT NULL,
  revision   BIGINT NOT NULL,
  body_hash  TEXT COLLATE "C" NOT NULL,
  session_id TEXT COLLATE "C" NOT NULL,
  routed     BIGINT NOT NULL,
  at         BIGINT NOT NULL,
  body       BYTEA NOT NULL,
  PRIMARY KEY (tenant, id)
);
CREATE UNIQUE INDEX inbound_key ON inbound (tenant, channel, address, key);
CREATE INDEX inbound_unrouted ON inbound (tenant, at) WHERE routed = 0;
CREATE INDEX inbound_routed ON inbound (at) WHERE routed = 1;
CREATE INDEX inbound_session ON inbound (tenant, session_id) WHERE session_id <> '';

CREATE TABLE replays (
  tenant    TEXT COLLATE "C" NOT NULL,
  scope     TEXT COLLATE "C" NOT NULL,
  key       TEXT COLLATE "C" NOT NULL,
  body_hash TEXT COLLATE "C" NOT NULL,
  status    BIGINT NOT NULL,
  at        BIGINT NOT NULL,
  body      BYTEA NOT NULL,
  PRIMARY KEY (tenant, scope, key)
);
CREATE INDEX replays_age ON replays (at);

-- Row numbers are handed out before commit, so they are not the order of commits: the sequencer gives positions afterwards. An event of
-- a run has the run as its stream.
CREATE TABLE events (
  ins        BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  pos        BIGINT,
  tenant     TEXT COLLATE "C" NOT NULL,
  id         TEXT COLLATE "C" NOT NULL,
  type       TEXT COLLATE "C" NOT NULL,
  stream     TEXT COLLATE "C" NOT NULL,
  seq        BIGINT NOT NULL,
  prev       BYTEA NOT NULL,
  at         BIGINT NOT NULL,
  session_id TEXT COLLATE "C" NOT NULL,
  request_id TEXT COLLATE "C" NOT NULL,
  trace      TEXT COLLATE "C" NOT NULL,
  flow       TEXT COLLATE "C" NOT NULL,
  actor      TEXT COLLATE "C" NOT NULL,
  channel    TEXT COLLATE "C" NOT NULL,
  code       TEXT COLLATE "C" NOT NULL,
  data       BYTEA NOT NULL
);
CREATE UNIQUE INDEX events_pos ON events (pos) WHERE pos IS NOT NULL;
CREATE INDEX events_unstamped ON events (ins) WHERE pos IS NULL;
CREATE UNIQUE INDEX events_stream ON events (tenant, stream, seq);
CREATE INDEX events_session ON events (tenant, session_id, pos) WHERE session_id <> '';
CREATE INDEX events_tenant ON events (tenant, pos);

CREATE TABLE bodies (
  tenant     TEXT COLLATE "C" NOT NULL,
  digest     TEXT COLLATE "C" NOT NULL,
  session_id TEXT COLLATE "C" NOT NULL,
  run_id     TEXT COLLATE "C" NOT NULL,
  salt       BYTEA NOT NULL,
  body       BYTEA NOT NULL,
  PRIMARY KEY (tenant, digest)
);
CREATE INDEX bodies_session ON bodies (tenant, session_id) WHERE session_id <> '';
CREATE INDEX bodies_run ON bodies (tenant, run_id) WHERE run_id <> '';

CREATE TABLE seals (
  number    BIGINT PRIMARY KEY,
  from_pos  BIGINT NOT NULL,
  to_pos    BIGINT NOT NULL,
  root      BYTEA NOT NULL,
  prev      BYTEA NOT NULL,
  at        BIGINT NOT NULL,
  key_id    TEXT COLLATE "C" NOT NULL,
  signature BYTEA NOT NULL
);

CREATE TABLE counters (
  tenant TEXT COLLATE "C" NOT NULL,
  name   TEXT COLLATE "C" NOT NULL,
  value  BIGINT NOT NULL,
  PRIMARY KEY (tenant, name)
);

CREATE TABLE leases (
  name  TEXT COLLATE "C" PRIMARY KEY,
  owner TEXT COLLATE "C" NOT NULL,
  epoch BIGINT NOT NULL,
  until BIGINT NOT NULL
);

-- A commit whose answer was lost is looked up here. One that was settled as never to happen has void = 1.
CREATE TABLE commits (
  nonce TEXT COLLATE "C" PRIMARY KEY,
  at    BIGINT NOT NULL,
  void  BIGINT NOT NULL
);
CREATE INDEX commits_age ON commits (at);
