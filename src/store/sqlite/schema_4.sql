-- Grants end: `expires_at` is in milliseconds, as in `body`. Those of older versions have none until the
-- database is opened with a config that says how long grants hold. `session_id` is there for those of a session.
ALTER TABLE grants ADD COLUMN expires_at INTEGER;
ALTER TABLE grants ADD COLUMN session_id TEXT;
UPDATE grants SET session_id = json_extract(body, '$.session_id');
CREATE INDEX grants_due ON grants (expires_at);
CREATE INDEX grants_of_session ON grants (session_id) WHERE session_id IS NOT NULL;
