-- Where an open request is looked for: one row for each seat from which it can be seen. A request has them while it is open.
CREATE TABLE seats (
  tenant  TEXT COLLATE "C" NOT NULL,
  seat    TEXT COLLATE "C" NOT NULL, -- r:role, u:user, o:owner, or - for what names nobody but its owner
  kind    BIGINT NOT NULL,
  urgency BIGINT NOT NULL,
  id      TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (tenant, seat, kind, urgency, id)
);

-- What became of requests for the same tool under the same rule.
CREATE TABLE alike (
  tenant    TEXT COLLATE "C" NOT NULL,
  facet     TEXT COLLATE "C" NOT NULL, -- a digest of the two
  closed_at BIGINT NOT NULL,
  id        TEXT COLLATE "C" NOT NULL,
  result    BIGINT NOT NULL,
  PRIMARY KEY (tenant, facet, closed_at, id)
);

CREATE INDEX requests_decided ON requests (tenant, closed_at, id) WHERE closed_at > 0;
CREATE INDEX decisions_actor ON decisions (tenant, actor_id, id);

-- Which words occur in which request.
CREATE TABLE documents (
  tenant TEXT COLLATE "C" NOT NULL,
  id     TEXT COLLATE "C" NOT NULL,
  words  TSVECTOR NOT NULL,
  PRIMARY KEY (tenant, id)
);
CREATE INDEX documents_words ON documents USING gin (words);
