//! The database file: its folder and lock, its tables, and how older ones are brought up to date.

use std::fs::{DirBuilder, File, OpenOptions, Permissions};
use std::io::{Read as _, Seek as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use rustix::fs::{FlockOperation, flock};

use crate::store::StoreError;

/// The database's name in its folder.
const FILE: &str = "toolgate.sqlite";
/// The lock that a server holds while it uses the folder.
const LOCK: &str = "toolgate.lock";
/// Marks the file as one of ours: `TGAT`.
const APPLICATION_ID: i64 = 0x5447_4154;
/// A file up to this size is checked whole when it is opened; in bytes.
const CHECK_MAX: u64 = 32 << 20;
/// How long a connection waits for a lock of another process (a backup, a shell).
const LOCK_WAIT: Duration = Duration::from_secs(5);

/// The steps from an empty file to the present version; `user_version` counts those that were
/// taken. A step is never changed once it was released.
const MIGRATIONS: &[&str] = &[
    include_str!("schema_1.sql"),
    include_str!("schema_2.sql"),
    include_str!("schema_3.sql"),
    include_str!("schema_4.sql"),
    include_str!("schema_5.sql"),
    include_str!("schema_6.sql"),
];

/// Makes the folder if need be, closes it to others, and locks it for this process.
pub(super) fn lock_folder(dir: &Path) -> Result<File, StoreError> {
    DirBuilder::new().recursive(true).mode(0o700).create(dir).map_err(|e| at(dir, "cannot be made", &e))?;
    std::fs::set_permissions(dir, Permissions::from_mode(0o700))
        .map_err(|e| at(dir, "cannot be closed to others", &e))?;
    let path = dir.join(LOCK);
    let mut file = private(&path)?;
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => {}
        Err(rustix::io::Errno::WOULDBLOCK) => return Err(held(&path, &mut file)),
        Err(error) => return Err(at(&path, "cannot be locked", &error)),
    }
    // The number only helps a person to find the holder; the lock itself is the kernel's.
    file.set_len(0)
        .and_then(|()| file.rewind())
        .and_then(|()| write!(file, "{}", std::process::id()))
        .map_err(|e| at(&path, "cannot be written", &e))?;
    Ok(file)
}

fn held(path: &Path, file: &mut File) -> StoreError {
    let mut holder = String::new();
    let known =
        file.take(20).read_to_string(&mut holder).is_ok() && holder.bytes().all(|b| b.is_ascii_digit());
    let who = if known && !holder.is_empty() { format!(" (process {holder})") } else { String::new() };
    StoreError::Failed(format!("another server{who} uses this folder: it holds {}", path.display()))
}

/// Opens the connection that writes, with the schema brought up to date.
pub(super) fn open_writer(dir: &Path) -> Result<Connection, StoreError> {
    let path = dir.join(FILE);
    // Made here first: SQLite gives its side files the mode that this one has.
    drop(private(&path)?);
    let mut db = connect(&path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    prepare(&mut db, &path).map_err(|error| unusable(&path, &error))?;
    Ok(db)
}

/// Opens another connection that may write: for checkpoints.
pub(super) fn open_second(dir: &Path) -> Result<Connection, StoreError> {
    connect(&dir.join(FILE), OpenFlags::SQLITE_OPEN_READ_WRITE)
}

/// Opens a connection that only reads.
/// The files that grow.
#[derive(Debug)]
pub(super) struct Files {
    database: PathBuf,
    wal: PathBuf,
}

impl Files {
    pub(super) fn of(dir: &Path) -> Self {
        Self { database: dir.join(FILE), wal: dir.join(format!("{FILE}-wal")) }
    }

    /// Bytes of the database and of its write-ahead log; 0 for a file that is not there.
    pub(super) fn sizes(&self) -> (u64, u64) {
        let size = |path: &Path| std::fs::metadata(path).map_or(0, |meta| meta.len());
        (size(&self.database), size(&self.wal))
    }
}

pub(super) fn open_reader(dir: &Path) -> Result<Connection, StoreError> {
    connect(&dir.join(FILE), OpenFlags::SQLITE_OPEN_READ_ONLY)
}

fn connect(path: &Path, flags: OpenFlags) -> Result<Connection, StoreError> {
    // No URI flag: a folder's name is a name, whatever it looks like.
    let flags = flags | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    // SQLite follows no link then, in no part of the path: the folder is resolved here.
    let real = path.canonicalize().map_err(|e| at(path, "cannot be found", &e))?;
    let db = Connection::open_with_flags(&real, flags).map_err(|e| at(path, "cannot be opened", &e))?;
    db.busy_timeout(LOCK_WAIT).map_err(|e| at(path, "cannot be opened", &e))?;
    db.set_prepared_statement_cache_capacity(64);
    // Plans do not depend on what is bound: without this SQLite plans a kept statement anew for each
    // value, where a partial index might fit.
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)
        .map_err(|e| at(path, "cannot be opened", &e))?;
    Ok(db)
}

/// Why a file was not taken.
#[derive(Debug, thiserror::Error)]
enum Unusable {
    #[error("it belongs to another program")]
    Foreign,
    #[error(
        "it was written by a newer version of Toolgate (schema {0}, this version knows {known})",
        known = MIGRATIONS.len()
    )]
    Newer(usize),
    #[error("it is damaged ({0}); put a backup in its place, or move it away to begin anew")]
    Damaged(String),
    #[error("{0}")]
    Sql(#[from] rusqlite::Error),
}

fn prepare(db: &mut Connection, path: &Path) -> Result<(), Unusable> {
    let pragma =
        |name: &str| -> Result<i64, rusqlite::Error> { db.pragma_query_value(None, name, |row| row.get(0)) };
    let version = usize::try_from(pragma("user_version")?).unwrap_or(usize::MAX);
    let application = pragma("application_id")?;
    let tables: i64 = db.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    if application != APPLICATION_ID && (application != 0 || version != 0 || tables != 0) {
        return Err(Unusable::Foreign);
    }
    if version > MIGRATIONS.len() {
        return Err(Unusable::Newer(version));
    }
    if std::fs::metadata(path).is_ok_and(|meta| meta.len() <= CHECK_MAX) {
        let found: String = db.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
        if found != "ok" {
            return Err(Unusable::Damaged(found));
        }
    }
    db.pragma_update(None, "journal_mode", "WAL")?;
    db.pragma_update(None, "synchronous", "FULL")?;
    for (step, number) in MIGRATIONS.iter().zip(1_i64..).skip(version) {
        let tx = db.transaction()?;
        tx.execute_batch(step)?;
        tx.pragma_update(None, "application_id", APPLICATION_ID)?;
        tx.pragma_update(None, "user_version", number)?;
        tx.commit()?;
    }
    db.pragma_update(None, "synchronous", "NORMAL")?;
    // Checkpoints are another thread's work; the writer does one itself only when the log of
    // changes has grown to 64 MiB, and gives the space back then.
    db.pragma_update(None, "wal_autocheckpoint", 16_384)?;
    db.pragma_update(None, "journal_size_limit", 64 << 20)?;
    db.pragma_update(None, "cache_size", -16_384)?;
    Ok(())
}

fn unusable(path: &Path, error: &Unusable) -> StoreError {
    let damaged = matches!(error, Unusable::Sql(sql)
        if matches!(sql.sqlite_error_code(), Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt)));
    if damaged {
        return unusable(path, &Unusable::Damaged(error.to_string()));
    }
    StoreError::Failed(format!("the database {} cannot be used: {error}", path.display()))
}

/// Opens a file that only its owner may read, makes it if need be.
fn private(path: &Path) -> Result<File, StoreError> {
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .custom_flags(libc::O_NOFOLLOW)
        .open(path)
        .map_err(|e| at(path, "cannot be opened", &e))?;
    file.set_permissions(Permissions::from_mode(0o600))
        .map_err(|e| at(path, "cannot be closed to others", &e))?;
    Ok(file)
}

fn at(path: &Path, what: &str, error: &dyn std::fmt::Display) -> StoreError {
    StoreError::Failed(format!("{} {what}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt as _;

    use super::super::fixture::{Fixture, open_in};
    use super::super::{SqliteOptions, SqliteStore};
    use super::*;
    use crate::domain::clock::{SystemClock, Timestamp};
    use crate::store::{GrantStore as _, PageRequest};

    fn refusal(dir: &Path) -> String {
        let clock = std::sync::Arc::new(SystemClock);
        SqliteStore::open(dir, clock, &SqliteOptions::default()).unwrap_err().to_string()
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn the_folder_is_its_owners_alone() {
        let outer = tempfile::tempdir().unwrap();
        let dir = outer.path().join("a/data?mode=memory&x=#");
        let store = open_in(&dir, &SqliteOptions::default());
        assert_eq!(std::fs::metadata(&dir).unwrap().mode() & 0o777, 0o700);
        for name in [FILE, LOCK, "toolgate.sqlite-wal", "toolgate.sqlite-shm"] {
            assert_eq!(std::fs::metadata(dir.join(name)).unwrap().mode() & 0o777, 0o600, "{name}");
        }
        drop(store);
        // Also when it was not before.
        for (name, mode) in [(".", 0o755), (FILE, 0o644)] {
            std::fs::set_permissions(dir.join(name), Permissions::from_mode(mode)).unwrap();
        }
        let _store = open_in(&dir, &SqliteOptions::default());
        assert_eq!(std::fs::metadata(&dir).unwrap().mode() & 0o777, 0o700);
        assert_eq!(std::fs::metadata(dir.join(FILE)).unwrap().mode() & 0o777, 0o600);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn one_server_holds_the_folder() {
        let f = Fixture::new().await;
        let text = refusal(f.dir.path());
        let holder = format!("another server (process {})", std::process::id());
        assert!(text.contains(&holder) && text.contains(LOCK), "{text}");
        let f = f.reopened().await;
        assert_eq!(f.kinds("s").await, ["session_started"]);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn what_an_older_version_left_has_an_end() {
        let dir = tempfile::tempdir().unwrap();
        let old = Connection::open(dir.path().join(FILE)).unwrap();
        for step in &MIGRATIONS[..3] {
            old.execute_batch(step).unwrap();
        }
        old.pragma_update(None, "application_id", APPLICATION_ID).unwrap();
        old.pragma_update(None, "user_version", 3).unwrap();
        for (id, ended) in [("live", "NULL"), ("over", "'2100-01-02T00:00:00Z'")] {
            old.execute_batch(&format!(
                "INSERT INTO sessions (session_id, status, owner, workspace, workspace_root, labels, tools, runtime,
                    fingerprint, session_token, created_at, ended_at)
                 VALUES ('{id}', 'active', 'agent', '/w/s', '/w', '{{}}', '[]', '{{}}', '', '', '', {ended})"
            ))
            .unwrap();
        }
        for (id, forwarded) in [("apr_1", "true"), ("apr_2", "false")] {
            let body = format!(r#"{{"expires_at":"2100-01-01T00:00:00Z","forwarded":{forwarded}}}"#);
            let sql = "INSERT INTO approvals (approval_id, session, call, status, spent, body)
                VALUES (?1, 1, length(?2), 'pending', 0, ?2)";
            old.execute(sql, (id, body)).unwrap();
        }
        for (id, scope) in [
            ("g1", r#""always""#),
            ("g2", r#""session","session_id":"live""#),
            ("g3", r#""session","session_id":"over""#),
        ] {
            let body = format!(
                r#"{{"grant_id":"{id}","pattern":"WebFetch(domain:x)","scope":{scope},"agent":"agent","workspace_root":"/w",
                    "approval_id":"a","granted_by":"operator","created_at":"2100-01-01T00:00:00Z"}}"#
            );
            old.execute("INSERT INTO grants (grant_id, body) VALUES (?1, ?2)", (id, body)).unwrap();
        }
        drop(old);
        let week = SqliteOptions { grants_hold: Duration::from_hours(7 * 24), ..SqliteOptions::default() };
        let ends = async |options: &SqliteOptions| -> Vec<String> {
            let store = open_in(dir.path(), options);
            let listed = store.grants(PageRequest { cursor: None, limit: 9 }).await.unwrap();
            listed.items.iter().map(|grant| format!("{} {}", grant.grant_id, grant.expires_at)).collect()
        };
        let dated = ["g1 2100-01-08T00:00:00Z", "g2 2100-01-08T00:00:00Z", "g3 2100-01-02T00:00:00Z"];
        assert_eq!(ends(&week).await, dated);
        // Once: what they got then is theirs.
        assert_eq!(ends(&SqliteOptions::default()).await, dated);
        let reader = open_reader(dir.path()).unwrap();
        let forwarded = reader.query_row("SELECT approval, expires_at FROM forwarded_asks", [], |row| {
            Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?))
        });
        let end: Timestamp = "2100-01-01T00:03:00Z".parse().unwrap();
        assert_eq!(forwarded.unwrap(), (1, end.as_millisecond()), "it is taken back once it waits no more");
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn what_an_older_version_granted_for_no_place_ends() {
        let dir = tempfile::tempdir().unwrap();
        let old = Connection::open(dir.path().join(FILE)).unwrap();
        for step in &MIGRATIONS[..4] {
            old.execute_batch(step).unwrap();
        }
        old.pragma_update(None, "application_id", APPLICATION_ID).unwrap();
        old.pragma_update(None, "user_version", 4).unwrap();
        for (id, pattern, scope) in [
            ("g1", "Bash(x)", "session"),
            ("g2", "Bash(x)", "always"),
            ("g3", "Edit(./a)", "session"),
            ("g4", "Edit(./a)", "always"),
            ("g5", "Edit(/w/a)", "always"),
            ("g6", "mcp__a__b", "always"),
        ] {
            let end: Timestamp = "2222-02-22T00:00:00Z".parse().unwrap();
            let body = format!(
                r#"{{"grant_id":"{id}","pattern":"{pattern}","scope":"{scope}","session_id":"s","agent":"agent",
                    "workspace_root":"/w","approval_id":"a","granted_by":"operator",
                    "created_at":"2020-01-01T00:00:00Z","expires_at":"{end}"}}"#
            );
            let sql = "INSERT INTO grants (grant_id, expires_at, body) VALUES (?1, ?2, ?3)";
            old.execute(sql, (id, end.as_millisecond(), body)).unwrap();
        }
        drop(old);
        let store = open_in(dir.path(), &SqliteOptions::default());
        let listed = store.grants(PageRequest { cursor: None, limit: 9 }).await.unwrap();
        let left: Vec<&str> = listed.items.iter().map(|grant| grant.grant_id.as_str()).collect();
        assert_eq!(left, ["g3", "g5", "g6"]);
    }

    #[test]
    fn what_is_not_ours_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(FILE);
        let check = |says: &str| {
            let before = std::fs::read(&path).unwrap();
            let text = refusal(dir.path());
            assert!(text.contains(says) && text.contains(FILE), "{text}");
            assert_eq!(std::fs::read(&path).unwrap(), before, "unchanged");
        };
        std::fs::write(&path, "not a database, but long enough to look like one".repeat(100)).unwrap();
        check("it is damaged");
        std::fs::remove_file(&path).unwrap();
        Connection::open(&path).unwrap().execute_batch("CREATE TABLE theirs (x)").unwrap();
        check("it belongs to another program");
        std::fs::remove_file(&path).unwrap();
        drop(open_in(dir.path(), &SqliteOptions::default()));
        Connection::open(&path).unwrap().pragma_update(None, "user_version", 99).unwrap();
        check("newer version");
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_damaged_database_is_refused() {
        let f = Fixture::new().await;
        f.store.close().await;
        let Fixture { store, dir } = f;
        drop(store);
        let path = dir.path().join(FILE);
        let mut bytes = std::fs::read(&path).unwrap();
        let half = bytes.len() / 2;
        bytes[4096..half].fill(0x5a);
        std::fs::write(&path, bytes).unwrap();
        let text = refusal(dir.path());
        assert!(text.contains("it is damaged"), "{text}");
    }

    #[test]
    fn a_link_in_the_databases_place_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let elsewhere = dir.path().join("elsewhere");
        std::fs::write(&elsewhere, "").unwrap();
        std::os::unix::fs::symlink(&elsewhere, dir.path().join(FILE)).unwrap();
        let text = refusal(dir.path());
        assert!(text.contains("cannot be opened"), "{text}");
        assert_eq!(std::fs::read(&elsewhere).unwrap(), b"");
    }
}
