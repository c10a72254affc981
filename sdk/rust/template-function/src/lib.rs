//! The function: one request, one answer. `sdk/function/src/lib.rs` says what there is.
use dormouse_function::{function, Request, Response};

fn handle(r: &mut Request) -> Response {
    let name = r.param("name").unwrap_or_else(|| "world".into());
    Response::new(200).field("content-type", "text/plain").body(format!("hello, {name}\n"))
}

function!(handle);
