// SPDX-License-Identifier: Apache-2.0
//! A function: greets whoever ?name= says, answers a POST with what it got, counts to show that no
//! request sees what the one before it did.
use std::io;
use std::sync::atomic::{AtomicU32, Ordering};

use dormouse_function::{function, Request, Response};

static COUNT: AtomicU32 = AtomicU32::new(0);

fn handle(r: &mut Request) -> io::Result<Response> {
    if r.path() != "/" {
        return Ok(Response::new(404).field("content-type", "text/plain").body("there is only /\n"));
    }
    if r.method() == "POST" {
        let mut answer = r.respond(200, &[("content-type", "text/plain")])?;
        io::copy(r, &mut answer)?;
        return Ok(Response::default());
    }
    let name = r.param("name").unwrap_or_else(|| "world".into());
    let again = if COUNT.fetch_add(1, Ordering::Relaxed) == 0 { "" } else { " again" };
    Ok(Response::new(200).field("content-type", "text/plain").body(format!("hello, {name}{again}\n")))
}

function!(handle);
