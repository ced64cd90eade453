-- The audit log: append-only. `session` is 0 for what belongs to none, `who`, `tool` and `call` are
-- what lists are filtered by, `body` is the entry but for its number and time.
CREATE TABLE audit (
    id INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    session INTEGER NOT NULL,
    kind TEXT NOT NULL,
    decision TEXT NOT NULL,
    who TEXT NOT NULL,
    tool TEXT,
    call TEXT,
    body TEXT NOT NULL
) STRICT;
CREATE INDEX audit_of_session ON audit (session, id);

-- One row: entries before `kept_from` may be dropped. It only grows, and never past the last entry.
CREATE TABLE audit_state (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    kept_from INTEGER NOT NULL
) STRICT;
INSERT INTO audit_state VALUES (1, 1);

CREATE TRIGGER audit_is_not_changed BEFORE UPDATE ON audit
BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
CREATE TRIGGER audit_is_not_cut BEFORE DELETE ON audit
WHEN OLD.id >= (SELECT kept_from FROM audit_state WHERE id = 1)
BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
CREATE TRIGGER audit_kept_from_grows BEFORE UPDATE ON audit_state
WHEN NEW.id <> 1 OR NEW.kept_from < OLD.kept_from OR NEW.kept_from > (SELECT max(id) FROM audit)
BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
CREATE TRIGGER audit_state_stays BEFORE DELETE ON audit_state
BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
