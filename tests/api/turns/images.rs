//! Images in results, each where its API takes them.

use serde_json::{Value, json};

use super::{FORMATS, post, said, with_camera};
use crate::support::TestSession;

const PNG: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/// Where the answer has the image's bytes, and where the text.
fn expected(format: &str) -> (&'static str, String, &'static str) {
    let url = format!("data:image/png;base64,{PNG}");
    match format {
        "openai" => ("/messages/1/content/1/image_url/url", url, "/messages/0/content"),
        "openai-responses" => ("/items/0/output/1/image_url", url, "/items/0/output/0/text"),
        "anthropic" => (
            "/messages/0/content/0/content/1/source/data",
            PNG.to_owned(),
            "/messages/0/content/0/content/0/text",
        ),
        _ => (
            "/messages/0/parts/0/functionResponse/parts/0/inlineData/data",
            PNG.to_owned(),
            "/messages/0/parts/0/functionResponse/response/output",
        ),
    }
}

#[tokio::test]
async fn an_image_stands_where_its_api_takes_it() {
    let (server, made) = with_camera();
    let session = TestSession::create(&server.agent(), &made).await;
    for format in FORMATS {
        let body = said(format, &[(format, "camera", json!({}))]);
        post(&session, format, "", &body).await.expect(202);
        let image = |kind: &str| json!({"media_type": kind, "data": PNG});
        let result = json!({"success": true, "result": "a door", "images": [image("image/png"), image("image/x-raw")]});
        session
            .client
            .post(&session.call_path(format, "/result"), &json!({ "result": result }))
            .await
            .expect(200);
        let answer = post(&session, format, "", &body).await.expect(200);
        let (at, bytes, text_at) = expected(format);
        assert_eq!(answer.pointer(at), Some(&Value::String(bytes)), "{format}: {answer}");
        let text = answer.pointer(text_at).and_then(Value::as_str).unwrap();
        assert!(text.starts_with("a door\n[an image of type image/x-raw is left out"), "{format}: {text}");
        assert_eq!(
            answer.to_string().matches("image/x-raw").count(),
            2,
            "once in the text, once in the call"
        );
    }
}
