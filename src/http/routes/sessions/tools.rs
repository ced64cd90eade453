//! `GET /v1/sessions/{sid}/tools`: what the session can call now, in a model API's shape.

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{ArrayBuilder, ObjectBuilder, OneOfBuilder, Schema, Type};

use crate::http::auth::Caller;
use crate::http::error::ApiError;
use crate::http::formats::{self, ToolFormat};
use crate::http::params::{PathParams, QueryParams, SessionPath};
use crate::session::Sessions;

#[derive(Default, Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(in crate::http) struct ToolsQuery {
    /// The API whose shape to answer in.
    #[serde(default)]
    #[param(inline)]
    format: ToolFormat,
}

/// What a session can call.
#[derive(Serialize, ToSchema)]
pub(in crate::http) struct ToolsAnswer {
    /// One for each tool.
    #[schema(schema_with = shapes)]
    tools: Vec<Value>,
}

/// The shapes of the model APIs, told apart by what they must have.
fn shapes() -> RefOr<Schema> {
    let text = || ObjectBuilder::new().schema_type(Type::String);
    let json_schema = || ObjectBuilder::new().description(Some("A JSON Schema with `type: object`"));
    let described = |object: ObjectBuilder| {
        let object = object.property("name", text()).required("name");
        object.property("description", text()).required("description")
    };
    let function = || text().enum_values(Some(["function"]));
    let typed = || ObjectBuilder::new().property("type", function()).required("type");
    let inner = described(ObjectBuilder::new()).property("parameters", json_schema()).required("parameters");
    let strict = ObjectBuilder::new().schema_type(Type::Boolean);
    let openai = typed().property("function", inner).required("function");
    let responses = described(typed()).property("parameters", json_schema()).required("parameters");
    let responses = responses.property("strict", strict).required("strict");
    let named =
        |schema: &str| described(ObjectBuilder::new()).property(schema, json_schema()).required(schema);
    let declared = described(ObjectBuilder::new()).property("parameters", json_schema());
    let gemini = ObjectBuilder::new()
        .property("functionDeclarations", ArrayBuilder::new().items(declared))
        .required("functionDeclarations");
    let shapes = OneOfBuilder::new()
        .item(openai.title(Some("openai")))
        .item(responses.title(Some("openai-responses")))
        .item(named("input_schema").title(Some("anthropic")))
        .item(gemini.title(Some("gemini")))
        .item(named("inputSchema").title(Some("mcp")));
    ArrayBuilder::new().items(shapes).into()
}

/// List the tools of a session
///
/// What it can call now, in the shape of a model's API: hand the list to the model unchanged.
#[utoipa::path(
    get,
    path = "/v1/sessions/{sid}/tools",
    operation_id = "listTools",
    tag = "sessions",
    params(SessionPath, ToolsQuery),
    responses((status = OK, description = "The tools, all in the shape that was asked for", body = ToolsAnswer)),
    security(("bearer" = ["agent"])),
    extensions(("x-problems" = json!(["session_ended", "workspace_unavailable", "shutting_down"]))),
)]
pub(in crate::http) async fn tools(
    State(sessions): State<Sessions>,
    Caller(principal): Caller,
    PathParams(SessionPath { sid }): PathParams<SessionPath>,
    QueryParams(query): QueryParams<ToolsQuery>,
) -> Result<Json<ToolsAnswer>, ApiError> {
    let schemas = sessions.tools(&principal, &sid).await?;
    Ok(Json(ToolsAnswer { tools: formats::tools(query.format, &schemas) }))
}
