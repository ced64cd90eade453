//! Kinds of things that kubectl takes behind a subcommand. Source: kubernetes.io, "kubectl api-resources".

use crate::permission::commands::names::Names;

/// Those that take kinds of things behind a subcommand.
pub(super) static TAKE_KINDS: Names = Names::of(&["kubectl oc"]);

/// Kinds by their short names (`kubectl api-resources`).
const KINDS: &[(&str, &str)] = &[
    ("cj", "cronjob"),
    ("cm", "configmap"),
    ("crd", "customresourcedefinition"),
    ("csr", "certificatesigningrequest"),
    ("cs", "componentstatus"),
    ("dc", "deploymentconfig"),
    ("deploy", "deployment"),
    ("ds", "daemonset"),
    ("ep", "endpoint"),
    ("ev", "event"),
    ("hpa", "horizontalpodautoscaler"),
    ("ing", "ingress"),
    ("limits", "limitrange"),
    ("netpol", "networkpolicy"),
    ("no", "node"),
    ("ns", "namespace"),
    ("pc", "priorityclass"),
    ("pdb", "poddisruptionbudget"),
    ("po", "pod"),
    ("pv", "persistentvolume"),
    ("pvc", "persistentvolumeclaim"),
    ("quota", "resourcequota"),
    ("rc", "replicationcontroller"),
    ("rs", "replicaset"),
    ("sa", "serviceaccount"),
    ("sc", "storageclass"),
    ("sts", "statefulset"),
    ("svc", "service"),
];

/// What kubectl takes `all` for.
pub(super) const ALL_KINDS: &[&str] = &[
    "pod",
    "service",
    "deployment",
    "replicaset",
    "replicationcontroller",
    "statefulset",
    "daemonset",
    "job",
    "cronjob",
    "horizontalpodautoscaler",
];

/// The kinds that a word names (`po`, `pods,secrets`, `deployments.v1.apps`, `pod/`), each by one name.
pub(super) fn kinds(word: &str) -> impl Iterator<Item = String> {
    word.split(',').map(|kind| {
        let kind = kind.split(['/', '.']).next().unwrap_or_default().to_ascii_lowercase();
        if let Some((_, long)) = KINDS.iter().find(|(short, _)| *short == kind) {
            return (*long).to_owned();
        }
        // Both are brought to one form; that it is a word does not matter.
        match (kind.strip_suffix("ies"), kind.strip_suffix("sses"), kind.strip_suffix('s')) {
            (Some(one), ..) => format!("{one}y"),
            (_, Some(one), _) => format!("{one}ss"),
            (.., Some(one)) if !one.ends_with('s') => one.to_owned(),
            _ => kind,
        }
    })
}

/// Whether the word names kinds that every cluster has, so that names follow.
pub(super) fn is_known(word: &str) -> bool {
    const OTHERS: [&str; 4] = ["secret", "event", "lease", "role"];
    let known = |kind: &str| {
        ALL_KINDS.contains(&kind) || OTHERS.contains(&kind) || KINDS.iter().any(|(_, long)| *long == kind)
    };
    word.ends_with('/') || kinds(word).any(|kind| known(&kind))
}
