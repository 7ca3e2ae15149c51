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
