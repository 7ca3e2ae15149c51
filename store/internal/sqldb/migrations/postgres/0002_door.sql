-- Who may call, where a person is logged in, and where events go. Secrets and tokens are not here: only their SHA-256, in hexadecimal.
CREATE TABLE keys (
  tenant       TEXT COLLATE "C" NOT NULL,
  id           TEXT COLLATE "C" NOT NULL,
  revision     BIGINT NOT NULL,
  hash         TEXT COLLATE "C" NOT NULL,
  created_at   BIGINT NOT NULL,
  expires_at   BIGINT NOT NULL,
  last_used_at BIGINT NOT NULL,
  revoked_at   BIGINT NOT NULL,
  body         BYTEA NOT NULL, -- written once
  PRIMARY KEY (tenant, id)
);
CREATE UNIQUE INDEX keys_hash ON keys (hash);

CREATE TABLE logins (
  tenant     TEXT COLLATE "C" NOT NULL,
  hash       TEXT COLLATE "C" NOT NULL,
  kind       TEXT COLLATE "C" NOT NULL,
  created_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL,
  used_at    BIGINT NOT NULL,
  body       BYTEA NOT NULL,
  PRIMARY KEY (tenant, hash)
);
CREATE UNIQUE INDEX logins_hash ON logins (hash);
CREATE INDEX logins_age ON logins (expires_at);

CREATE TABLE webhooks (
  tenant     TEXT COLLATE "C" NOT NULL,
  id         TEXT COLLATE "C" NOT NULL,
  revision   BIGINT NOT NULL,
  disabled   TEXT COLLATE "C" NOT NULL, -- why, '' for one that is on
  read_to    BIGINT NOT NULL, -- position of the last event that was looked at
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  body       BYTEA NOT NULL,
  PRIMARY KEY (tenant, id)
);

-- What histories, statistics and pages of comments look for. All but the first hold few rows.
CREATE INDEX messages_time ON messages (tenant, session_id, created_at, seq);
CREATE INDEX messages_pinned ON messages (tenant, session_id, created_at, seq) WHERE pinned = 1;
CREATE INDEX requests_kind ON requests (tenant, kind, id) WHERE status = 'open' AND kind <> 'approval';
CREATE INDEX requests_lost ON requests (tenant, status, closed_at) WHERE status IN ('expired', 'canceled');
CREATE INDEX operations_unknown ON operations (tenant, id) WHERE status = 'unknown';
CREATE INDEX events_comments ON events (tenant, request_id) WHERE type = 'hitl.request.commented';
