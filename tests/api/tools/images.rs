//! Read of images: they reach the caller as images, beside the text.

use serde_json::json;

use crate::support::TestServer;

/// Three by two red pixels.
const PNG: &[u8] = include_bytes!("../../../src/tools/file_info/pixel.png");

#[tokio::test]
async fn an_image_comes_with_its_text_and_in_the_event() {
    let server = TestServer::start();
    let session = server.session().await;
    std::fs::write(session.file("shot"), PNG).unwrap();
    let call = session.call("r", "Read", json!({"file_path": "shot"})).await.expect(200);
    assert_eq!(call["status"], "completed", "{call}");
    let text = format!("[shot: PNG image, 3 x 2 pixels, {} B.]", PNG.len());
    assert_eq!(call["result"]["result"], text, "{call}");
    let image = &call["result"]["images"][0];
    assert_eq!(image["media_type"], "image/png");
    assert!(image["data"].as_str().unwrap().starts_with("iVBORw0KGgo"), "{image}");
    assert_eq!(
        call["details"]["shown"],
        json!({"media_type": "image/png", "width": 3, "height": 2, "bytes": PNG.len()})
    );
    assert_eq!(session.event("r", "tool_complete").await["result"]["images"][0], *image);
}

#[tokio::test]
async fn what_looks_like_an_image_and_is_none_is_an_error_with_text() {
    let server = TestServer::start();
    let session = server.session().await;
    std::fs::write(session.file("shot.png"), &PNG[..50]).unwrap();
    let call = session.call("r", "Read", json!({"file_path": "shot.png"})).await.expect(200);
    assert_eq!(call["status"], "failed", "{call}");
    assert!(call["result"]["result"].as_str().unwrap().contains("cannot be decoded"), "{call}");
    assert!(call["result"].get("images").is_none(), "{call}");
    server.assert_alive().await;
}
