-- Grants end: `expires_at` is in milliseconds, as in `body`. Those of older versions have none until the
-- database is opened with a config that says how long grants hold. `session_id` is there for those of a session.
ALTER TABLE grants ADD COLUMN expires_at INTEGER;
ALTER TABLE grants ADD COLUMN session_id TEXT;
UPDATE grants SET session_id = json_extract(body, '$.session_id');
CREATE INDEX grants_due ON grants (expires_at);
CREATE INDEX grants_of_session ON grants (session_id) WHERE session_id IS NOT NULL;

-- Asks that this server forwarded and that may still wait at its host: they are taken back there once their approval
-- waits no more. `expires_at` is in milliseconds: from then on the host has ended them by itself.
CREATE TABLE forwarded_asks (
    approval INTEGER PRIMARY KEY,
    expires_at INTEGER NOT NULL
) STRICT;
INSERT INTO forwarded_asks
    SELECT id, (CAST(strftime('%s', json_extract(body, '$.expires_at')) AS INTEGER) + 180) * 1000
    FROM approvals WHERE status = 'pending' AND json_extract(body, '$.forwarded');

-- Asks of workers that are over make way: the oldest of a token, and those whose own time is long over.
CREATE INDEX worker_asks_over ON worker_asks (token, approval) WHERE open = 0;
CREATE INDEX worker_asks_past ON worker_asks (expires_at) WHERE open = 0;
