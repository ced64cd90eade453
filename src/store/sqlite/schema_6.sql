-- What a session was allowed to change, for whoever decides on it next: found without looking through what it read.
CREATE INDEX audit_of_changes ON audit (session, id)
    WHERE kind = 'verdict' AND decision = 'allow' AND tool IN ('Write', 'Edit', 'ApplyPatch', 'Bash');
