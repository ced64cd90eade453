-- Asks that workers forward. Their approvals stand in `approvals` among all others, of session 0, as
-- events of no session do, and of a call that is the negative of their own id, since they have none
-- here. `open` is 1 while the approval waits; `expires_at` is in milliseconds.
CREATE TABLE worker_asks (
    approval INTEGER PRIMARY KEY,
    token TEXT NOT NULL,
    ask_id TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    expires_at INTEGER NOT NULL,
    open INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX worker_asks_by_id ON worker_asks (token, ask_id);
CREATE INDEX worker_asks_open ON worker_asks (token) WHERE open = 1;
CREATE INDEX worker_asks_due ON worker_asks (expires_at) WHERE open = 1;
