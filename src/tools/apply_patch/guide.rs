//! When to patch and when not.

use super::ApplyPatch;
use crate::tools::{GuideExample, ToolGuide};

impl ToolGuide for ApplyPatch {
    fn tool_name(&self) -> &'static str {
        "ApplyPatch"
    }

    fn when_to_use(&self) -> &'static str {
        "to change several places or several files that belong together, to move or delete files that you have read, \
         or to apply a diff that you were given"
    }

    fn when_not_to_use(&self) -> &'static str {
        "for one small change (Edit), a whole new file (Write), binary files or whole folders (Bash)"
    }

    fn examples(&self) -> Vec<GuideExample> {
        vec![
            GuideExample::new(
                "Change a function and its caller",
                r#"{"patch":"*** Begin Patch\n*** Update File: src/lib.rs\n@@ impl Port {\n-    fn new(n: u16) -> Self {\n+    fn of(n: u16) -> Self {\n*** Update File: src/main.rs\n-    let port = Port::new(80);\n+    let port = Port::of(80);\n*** End Patch"}"#,
            ),
            GuideExample::new(
                "Move a file and change it",
                r#"{"patch":"*** Begin Patch\n*** Update File: a.py\n*** Move to: lib/a.py\n-import b\n+from lib import b\n*** End Patch"}"#,
            ),
            GuideExample::new(
                "A unified diff",
                r#"{"patch":"--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,2 @@\n import os\n-print(1)\n+print(2)\n"}"#,
            ),
        ]
    }

    fn related_tools(&self) -> Vec<&str> {
        vec!["Read", "Edit", "Write"]
    }
}
