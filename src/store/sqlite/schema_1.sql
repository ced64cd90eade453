CREATE TABLE sessions (
    id INTEGER PRIMARY KEY,
    session_id TEXT NOT NULL UNIQUE,
    status TEXT NOT NULL,
    owner TEXT NOT NULL,
    workspace TEXT NOT NULL,
    workspace_root TEXT NOT NULL,
    labels TEXT NOT NULL,
    tools TEXT NOT NULL,
    runtime TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    session_token TEXT NOT NULL,
    created_at TEXT NOT NULL,
    ended_at TEXT
) STRICT;
CREATE INDEX sessions_of_owner ON sessions (owner, id);
CREATE INDEX sessions_active ON sessions (id) WHERE status = 'active';

-- `position` is the cursor of the whole log, `session` is 0 for events of no session, `body` is
-- what is streamed; where it does not end in `}`, the result of its call and a `}` follow.
CREATE TABLE events (
    position INTEGER PRIMARY KEY,
    session INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    call INTEGER,
    ends_call INTEGER NOT NULL,
    kind TEXT NOT NULL,
    body TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX events_of_session ON events (session, seq);

-- One row: the whole log is complete from the position after `dropped_to` on.
CREATE TABLE log_state (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    dropped_to INTEGER NOT NULL,
    probes INTEGER NOT NULL
) STRICT;
INSERT INTO log_state VALUES (1, 0, 0);

-- `id` is the session's id times 2^32 plus the call's number in its session, so that a session's
-- calls lie together in the order of their acceptance. `open` is 1 while something of the call may
-- still happen: until it ends, and for a backgrounded one until its end is in the log.
CREATE TABLE calls (
    id INTEGER PRIMARY KEY,
    session INTEGER NOT NULL,
    key TEXT NOT NULL,
    open INTEGER NOT NULL,
    status TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    tool_name TEXT NOT NULL,
    mutability TEXT NOT NULL,
    first_seq INTEGER NOT NULL,
    last_seq INTEGER NOT NULL,
    created_at TEXT NOT NULL,
    started_at TEXT,
    finished_at TEXT,
    approval_id TEXT,
    error TEXT,
    question TEXT,
    arguments TEXT,
    requested_arguments TEXT,
    details TEXT,
    result TEXT
) STRICT;
CREATE UNIQUE INDEX calls_by_key ON calls (session, key);
CREATE INDEX calls_open ON calls (id) WHERE open = 1;

-- Arguments too long for the call's own row, which each step writes again: the effective ones under
-- twice the call's id, the requested ones under that plus one.
CREATE TABLE long_arguments (
    id INTEGER PRIMARY KEY,
    body TEXT NOT NULL
) STRICT;

CREATE TABLE approvals (
    id INTEGER PRIMARY KEY,
    approval_id TEXT NOT NULL UNIQUE,
    session INTEGER NOT NULL,
    call INTEGER NOT NULL,
    status TEXT NOT NULL,
    spent INTEGER NOT NULL,
    decision TEXT,
    body TEXT NOT NULL
) STRICT;
CREATE INDEX approvals_of_session ON approvals (session, id);
CREATE INDEX approvals_of_call ON approvals (call);
CREATE INDEX approvals_pending ON approvals (session, id) WHERE status = 'pending';
CREATE UNIQUE INDEX approvals_open ON approvals (call) WHERE status = 'pending' OR (status = 'allowed' AND spent = 0);

CREATE TABLE grants (
    id INTEGER PRIMARY KEY,
    grant_id TEXT NOT NULL UNIQUE,
    body TEXT NOT NULL
) STRICT;
