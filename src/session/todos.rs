//! `todos.json`: the tasks that a session's agent has set itself, in the session's folder.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;

use super::error::SessionError;
use super::principal::Principal;
use super::runtime::replace_file;
use super::service::Sessions;
use crate::domain::result::ToolError;
use crate::domain::todo::Todo;
use crate::permission::TodoList;

/// A session's `todos.json`: read by clients, written by TodoWrite.
#[derive(Debug)]
pub(super) struct TodoFile {
    path: PathBuf,
    /// Held while the file is written.
    writing: Arc<Mutex<()>>,
}

impl TodoFile {
    /// Over a file that may be there in the session's folder.
    pub(super) fn new(folder: &Path) -> Self {
        Self { path: folder.join("todos.json"), writing: Arc::default() }
    }

    /// The list; empty where none was ever written.
    fn read(&self) -> std::io::Result<Vec<Todo>> {
        match fs::read(&self.path) {
            Ok(text) => Ok(serde_json::from_slice(&text)?),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }
}

#[async_trait]
impl TodoList for TodoFile {
    async fn replace(&self, todos: Vec<Todo>) -> Result<(), ToolError> {
        let (path, writing) = (self.path.clone(), Arc::clone(&self.writing));
        let written = tokio::task::spawn_blocking(move || {
            let text = serde_json::to_vec_pretty(&todos)?;
            let _one_at_a_time = writing.lock().unwrap_or_else(PoisonError::into_inner);
            replace_file(&path, &text)
        });
        let written = written.await.map_err(|error| ToolError::Internal(error.to_string()))?;
        written.map_err(|error| {
            tracing::error!(%error, "todos.json could not be written");
            ToolError::Internal("the server could not keep the list; the one before still stands".to_owned())
        })
    }
}

impl Sessions {
    /// The tasks that a session's agent has set itself, also of one that has ended.
    pub async fn todos(&self, principal: &Principal, session_id: &str) -> Result<Vec<Todo>, SessionError> {
        let record = self.record(principal, session_id).await?;
        let file = TodoFile::new(&self.0.parts.folder.join(&record.session.session_id));
        let read = tokio::task::spawn_blocking(move || file.read()).await;
        let read = read.map_err(|error| SessionError::Internal(error.to_string()))?;
        read.map_err(|error| SessionError::Internal(format!("todos.json: {error}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::todo::TodoStatus;

    fn todo(content: &str) -> Todo {
        let content = content.to_owned();
        Todo { content, status: TodoStatus::Pending, active_form: None, id: None, priority: None }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn of_lists_at_once_one_stands_whole() {
        let folder = tempfile::tempdir().unwrap();
        let file = Arc::new(TodoFile::new(folder.path()));
        assert_eq!(file.read().unwrap(), []);
        let lists: Vec<Vec<Todo>> =
            (0..16).map(|list| (0..=list).map(|_| todo(&"x".repeat(list * 500))).collect()).collect();
        let writing = lists.iter().cloned().map(|list| {
            let file = Arc::clone(&file);
            tokio::spawn(async move { file.replace(list).await })
        });
        for written in futures_util::future::join_all(writing).await {
            written.unwrap().unwrap();
        }
        assert!(lists.contains(&file.read().unwrap()));
        assert_eq!(TodoFile::new(folder.path()).read().unwrap(), file.read().unwrap());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left beside it");
    }

    #[tokio::test]
    async fn what_cannot_be_kept_is_said() {
        let folder = tempfile::tempdir().unwrap();
        let file = TodoFile::new(&folder.path().join("gone"));
        assert!(matches!(file.replace(vec![todo("a")]).await, Err(ToolError::Internal(_))));
    }
}
