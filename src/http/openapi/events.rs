//! Events in the document: a union of named schemas, told apart by `type`, and how they are sent.

use serde_json::{Value, json};
use utoipa::openapi::RefOr;
use utoipa::openapi::extensions::Extensions;
use utoipa::openapi::schema::{ObjectBuilder, Schema, Type};
use utoipa::{PartialSchema, ToSchema};

use super::{flatten, reference, rename};
use crate::domain::event::{AgentEvent, LoggedEvent};

/// A page of events.
#[derive(ToSchema)]
#[expect(dead_code, reason = "it describes what is put together from the log's own texts")]
pub(in crate::http) struct EventsPage {
    /// In order.
    events: Vec<LoggedEvent>,
    /// What `after` may be next: past everything that the filter left out.
    next_after: u64,
    /// The latest there is; while `next_after` is below it there is more to look at.
    latest_seq: u64,
    /// Where events after `after` were dropped.
    resync_required: Option<ResyncRequired>,
}

/// From where on events are kept.
#[derive(ToSchema)]
#[expect(dead_code, reason = "it describes what is put together as text")]
struct ResyncRequired {
    /// The earliest that is still there.
    earliest: u64,
}

/// One message of an event stream. Comments and `retry` stand between them.
pub(in crate::http) enum EventStreamMessage {}

impl PartialSchema for EventStreamMessage {
    fn schema() -> RefOr<Schema> {
        let text = || ObjectBuilder::new().schema_type(Type::String);
        // As OpenAPI describes server-sent events: `data` is text, and JSON in it.
        let data = |schema: &str| {
            let data = text().content_media_type("application/json");
            let content = json!({"$ref": reference(schema)});
            data.extensions(Some(Extensions::builder().add("contentSchema", content).build()))
        };
        let event = ObjectBuilder::new()
            .title(Some("EventMessage"))
            .property("id", text().pattern(Some("^[0-9]+$")).description(Some("The place to go on from")))
            .property("event", EventType::schema())
            .property("data", data("LoggedEvent"))
            .required("id")
            .required("event")
            .required("data");
        let about = "What comes next is no continuation of what the client has; without `id`";
        let resync = ObjectBuilder::new()
            .title(Some("ResyncMessage"))
            .description(Some(about))
            .property("event", text().enum_values(Some(["resync_required"])))
            .property("data", data("ResyncRequired"))
            .required("event")
            .required("data");
        let message = utoipa::openapi::schema::OneOfBuilder::new().item(event).item(resync);
        message.description(Some("A message; comments and `retry` stand between them")).into()
    }
}

impl ToSchema for EventStreamMessage {}

/// The types of events.
pub(in crate::http) enum EventType {}

impl PartialSchema for EventType {
    fn schema() -> RefOr<Schema> {
        let types = ObjectBuilder::new().schema_type(Type::String).enum_values(Some(AgentEvent::KINDS));
        types.description(Some("The type of an event")).into()
    }
}

impl ToSchema for EventType {}

/// Makes a schema of its own of each event, with the fields that all have, and `Event` their union.
pub(super) fn name_each(document: &mut Value) {
    let Some(schemas) = document["components"]["schemas"].as_object_mut() else { return };
    let (Some(union), Some(logged)) = (schemas.remove("AgentEvent"), schemas.get("LoggedEvent").cloned())
    else {
        return;
    };
    let place = logged["allOf"].as_array().into_iter().flatten().find(|part| part["type"] == "object");
    let place = place.cloned().unwrap_or_default();
    let (mut choices, mut mapping) = (Vec::new(), json!({}));
    for variant in union["oneOf"].as_array().into_iter().flatten() {
        let Some(kind) = variant["properties"]["type"]["enum"][0].as_str() else { continue };
        let name = format!("{}Event", pascal(kind));
        let mut event = variant.clone();
        event.as_object_mut().into_iter().for_each(|event| flatten::add(event, &place));
        choices.push(json!({"$ref": reference(&name)}));
        mapping[kind] = json!(reference(&name));
        schemas.insert(name, event);
    }
    schemas.insert(
        "LoggedEvent".to_owned(),
        json!({
            "description": "Something that happened, with its place in the log.",
            "oneOf": choices,
            "discriminator": {"propertyName": "type", "mapping": mapping},
        }),
    );
    rename(document, "LoggedEvent", "Event");
}

fn pascal(snake: &str) -> String {
    let words = snake.split('_').filter_map(|word| word.split_at_checked(1));
    words.map(|(first, rest)| first.to_ascii_uppercase() + rest).collect()
}
