-- Grants of commands hold in the directory that they were given in; those of older versions tell none. Grants of files for
-- always name the whole path; older ones counted from whichever workspace the call was in. Neither says where it was seen:
-- they end with this start, which tells so.
UPDATE grants
SET expires_at = CAST(strftime('%s', 'now') AS INTEGER) * 1000,
    body = json_set(body, '$.expires_at', strftime('%Y-%m-%dT%H:%M:%SZ', 'now'))
WHERE json_extract(body, '$.pattern') LIKE 'Bash(%'
   OR (json_extract(body, '$.scope') = 'always' AND json_extract(body, '$.pattern') LIKE '%(./%');
