-- Where an open request is looked for: one row for each seat from which it can be seen. A request has them while it is open.
CREATE TABLE seats (
  tenant  TEXT NOT NULL,
  seat    TEXT NOT NULL, -- r:role, u:user, o:owner, or - for what names nobody but its owner
  kind    INTEGER NOT NULL,
  urgency INTEGER NOT NULL,
  id      TEXT NOT NULL,
  PRIMARY KEY (tenant, seat, kind, urgency, id)
) STRICT, WITHOUT ROWID;

-- What became of requests for the same tool under the same rule.
CREATE TABLE alike (
  tenant    TEXT NOT NULL,
  facet     TEXT NOT NULL, -- a digest of the two
  closed_at INTEGER NOT NULL,
  id        TEXT NOT NULL,
  result    INTEGER NOT NULL,
  PRIMARY KEY (tenant, facet, closed_at, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX requests_decided ON requests (tenant, closed_at, id) WHERE closed_at > 0;
CREATE INDEX decisions_actor ON decisions (tenant, actor_id, id);

-- Which words occur in which request, by the row's number in requests. The words themselves can be removed, and then nothing of them is left.
CREATE VIRTUAL TABLE search USING fts5(words, content='', columnsize=0, detail=none, tokenize="ascii tokenchars '_'");
INSERT INTO search (search, rank) VALUES ('secure-delete', 1);
