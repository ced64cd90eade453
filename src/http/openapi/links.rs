//! Links: what an answer names, and the operations that take it.

use serde_json::{Map, Value, json};

use super::operations;

/// From the answers of an operation to every operation that takes just these path parameters, each
/// with where its value stands.
struct Rule {
    from: &'static str,
    /// How the statuses of the answers begin.
    statuses: &'static str,
    parameters: &'static [(&'static str, &'static str)],
}

const RULES: &[Rule] = &[
    Rule { from: "createSession", statuses: "2", parameters: &[("sid", "$response.body#/session_id")] },
    Rule {
        from: "createCall",
        statuses: "2",
        parameters: &[("sid", "$request.path.sid"), ("cid", "$response.body#/call_id")],
    },
    // A call that waits for a decision names its approval.
    Rule { from: "createCall", statuses: "202", parameters: &[("aid", "$response.body#/approval_id")] },
    Rule {
        from: "listApprovals",
        statuses: "2",
        parameters: &[("aid", "$response.body#/items/0/approval_id")],
    },
    Rule { from: "listGrants", statuses: "2", parameters: &[("gid", "$response.body#/items/0/grant_id")] },
];

/// Adds the links. An operation that comes later gets its own by its path. A call's `turn` is left
/// out: a link cannot say «where there is one».
pub(super) fn add(document: &mut Value) {
    let targets: Vec<(String, Vec<String>)> = operations::all(document)
        .filter_map(|(path, _, operation)| Some((operation["operationId"].as_str()?.to_owned(), names(path))))
        .collect();
    for rule in RULES {
        let linked = targets.iter().filter(|(id, taken)| {
            id != rule.from && taken.iter().eq(rule.parameters.iter().map(|(name, _)| name))
        });
        let parameters: Value =
            rule.parameters.iter().map(|(name, value)| ((*name).to_owned(), json!(value))).collect();
        let links: Map<String, Value> = linked
            .map(|(id, _)| (id.clone(), json!({"operationId": id, "parameters": parameters})))
            .collect();
        set(document, rule, &links);
    }
}

/// The path parameters of a path, in order.
fn names(path: &str) -> Vec<String> {
    path.split('{').skip(1).filter_map(|rest| rest.split('}').next()).map(str::to_owned).collect()
}

fn set(document: &mut Value, rule: &Rule, links: &Map<String, Value>) {
    operations::each(document, |_, operation| {
        if operation["operationId"] != rule.from {
            return;
        }
        let responses = operation["responses"].as_object_mut().into_iter().flatten();
        for (_, response) in responses.filter(|(status, _)| status.starts_with(rule.statuses)) {
            if response["links"].is_null() {
                response["links"] = json!({});
            }
            response["links"].as_object_mut().into_iter().for_each(|all| all.extend(links.clone()));
        }
    });
}
