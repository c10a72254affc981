// SPDX-License-Identifier: Apache-2.0
//! Functions in Rust: a module that answers HTTP requests (docs/function-abi.md, "Reactor").
//!
//! ```ignore
//! use dormouse_function::{function, Request, Response};
//!
//! fn handle(r: &mut Request) -> Response {
//!     Response::new(200).field("content-type", "text/plain").body(format!("hello, {}\n", r.path()))
//! }
//! function!(handle);
//! ```
//!
//! Every request finds the memory as it is after initialisation (`function!(handle, init)`), unless
//! the function asks for `reuse`. Bodies are streams: [`Request`] is a [`Read`], and
//! [`Request::respond`] gives a [`Write`] instead of a [`Response`].

use std::fmt;
use std::io::{self, Read, Write};

#[cfg(target_arch = "wasm32")]
mod host {
    #[link(wasm_import_module = "dormouse_http_v1")]
    extern "C" {
        pub fn request_head(p: *mut u8, n: usize) -> i32;
        pub fn body_read(p: *mut u8, n: usize) -> i32;
        pub fn respond(status: u32, p: *const u8, n: usize) -> i32;
        pub fn body_write(p: *const u8, n: usize) -> i32;
        pub fn flush() -> i32;
        pub fn trailers(p: *const u8, n: usize) -> i32;
        pub fn secret_get(name: *const u8, name_n: usize, p: *mut u8, n: usize) -> i32;
        pub fn log(level: u32, p: *const u8, n: usize);
    }
}

/// So that what only parses can be tested natively.
#[cfg(not(target_arch = "wasm32"))]
mod host {
    macro_rules! absent {
        ($($name:ident($($arg:ident: $type:ty),*);)*) => {
            $(pub unsafe fn $name($(_: $type),*) -> i32 { -1 })*
        };
    }
    absent! {
        request_head(p: *mut u8, n: usize);
        body_read(p: *mut u8, n: usize);
        respond(status: u32, p: *const u8, n: usize);
        body_write(p: *const u8, n: usize);
        flush();
        trailers(p: *const u8, n: usize);
        secret_get(name: *const u8, name_n: usize, p: *mut u8, n: usize);
        log(level: u32, p: *const u8, n: usize);
    }
}

/// What the host refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// Not allowed now, or not well-formed.
    Invalid,
    NotFound,
    TooLarge,
    Timeout,
    /// The client is.
    Gone,
    Other(i32),
}

impl Error {
    fn of(code: i32) -> Error {
        match code {
            -1 => Error::Invalid,
            -2 => Error::NotFound,
            -5 => Error::TooLarge,
            -7 => Error::Timeout,
            -10 => Error::Gone,
            other => Error::Other(other),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Invalid => f.write_str("not allowed, or not well-formed"),
            Error::NotFound => f.write_str("not found"),
            Error::TooLarge => f.write_str("too large"),
            Error::Timeout => f.write_str("the deadline has passed"),
            Error::Gone => f.write_str("the client has gone"),
            Error::Other(code) => write!(f, "error {code}"),
        }
    }
}

impl std::error::Error for Error {}

impl From<Error> for io::Error {
    fn from(e: Error) -> io::Error {
        let kind = match e {
            Error::Timeout => io::ErrorKind::TimedOut,
            Error::Gone => io::ErrorKind::BrokenPipe,
            Error::NotFound => io::ErrorKind::NotFound,
            _ => io::ErrorKind::Other,
        };
        io::Error::new(kind, e)
    }
}

fn check(code: i32) -> Result<usize, Error> {
    usize::try_from(code).map_err(|_| Error::of(code))
}

/// One request. Its body is read from it.
pub struct Request {
    head: String,
    fields_at: usize,
    responded: bool,
}

impl Request {
    fn parse(head: String) -> Request {
        let mut fields_at = 0;
        for line in head.split_inclusive('\n') {
            if !line.starts_with(':') {
                break;
            }
            fields_at += line.len();
        }
        Request { head, fields_at, responded: false }
    }

    fn pseudo(&self, name: &str) -> &str {
        value_of(self.head[..self.fields_at].lines(), name).unwrap_or("")
    }

    pub fn method(&self) -> &str {
        self.pseudo(":method")
    }
    /// Path and query, as sent.
    pub fn target(&self) -> &str {
        self.pseudo(":target")
    }
    pub fn path(&self) -> &str {
        self.target().split('?').next().unwrap_or("")
    }
    pub fn query(&self) -> &str {
        self.target().split_once('?').map_or("", |(_, q)| q)
    }
    /// The value of a parameter of the query, decoded.
    pub fn param(&self, name: &str) -> Option<String> {
        self.query().split('&').find_map(|part| {
            let (key, value) = part.split_once('=').unwrap_or((part, ""));
            (decode(key) == name).then(|| decode(value))
        })
    }
    pub fn authority(&self) -> &str {
        self.pseudo(":authority")
    }
    pub fn is_https(&self) -> bool {
        self.pseudo(":scheme") == "https"
    }
    /// `address:port` of the client.
    pub fn peer(&self) -> &str {
        self.pseudo(":peer")
    }
    pub fn call_id(&self) -> &str {
        self.pseudo(":call-id")
    }
    /// The first field of this name, which is in lower case.
    pub fn field(&self, name: &str) -> Option<&str> {
        value_of(self.head[self.fields_at..].lines(), name)
    }
    pub fn fields(&self) -> impl Iterator<Item = (&str, &str)> {
        self.head[self.fields_at..].lines().filter_map(|l| l.split_once(": "))
    }

    /// All of the body, at most `max` bytes.
    pub fn body(&mut self, max: usize) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.take(max as u64 + 1).read_to_end(&mut bytes)?;
        if bytes.len() > max {
            return Err(Error::TooLarge.into());
        }
        Ok(bytes)
    }

    /// Begins the answer; what is written to it leaves as it comes. The handler's own [`Response`]
    /// is ignored then.
    pub fn respond(&mut self, status: u16, fields: &[(&str, &str)]) -> Result<Answer, Error> {
        let mut lines = String::new();
        for (name, value) in fields {
            lines.push_str(name);
            lines.push_str(": ");
            lines.push_str(value);
            lines.push('\n');
        }
        check(unsafe { host::respond(status.into(), lines.as_ptr(), lines.len()) })?;
        self.responded = true;
        Ok(Answer(()))
    }
}

fn value_of<'a>(mut lines: impl Iterator<Item = &'a str>, name: &str) -> Option<&'a str> {
    lines.find_map(|l| l.strip_prefix(name)?.strip_prefix(": "))
}

fn decode(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut i = 0;
    while i < bytes.len() {
        let pair = bytes.get(i + 1..i + 3).and_then(|h| std::str::from_utf8(h).ok());
        match (bytes[i], pair.and_then(|h| u8::from_str_radix(h, 16).ok())) {
            (b'%', Some(byte)) => {
                out.push(byte);
                i += 2;
            }
            (b'+', _) => out.push(b' '),
            (byte, _) => out.push(byte),
        }
        i += 1;
    }
    String::from_utf8_lossy(&out).into_owned()
}

impl Read for Request {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        Ok(check(unsafe { host::body_read(to.as_mut_ptr(), to.len()) })?)
    }
}

/// An answer that was begun.
pub struct Answer(());

impl Answer {
    /// Fields behind the body, which is complete.
    pub fn trailers(self, fields: &[(&str, &str)]) -> Result<(), Error> {
        let lines: String = fields.iter().map(|(n, v)| format!("{n}: {v}\n")).collect();
        check(unsafe { host::trailers(lines.as_ptr(), lines.len()) }).map(drop)
    }
}

impl Write for Answer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        check(unsafe { host::body_write(bytes.as_ptr(), bytes.len()) })?;
        Ok(bytes.len())
    }
    /// What was written leaves now.
    fn flush(&mut self) -> io::Result<()> {
        check(unsafe { host::flush() })?;
        Ok(())
    }
}

/// A whole answer.
#[derive(Default)]
pub struct Response {
    status: u16,
    fields: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Response {
    pub fn new(status: u16) -> Response {
        Response { status, ..Response::default() }
    }
    pub fn field(mut self, name: &str, value: &str) -> Response {
        self.fields.push((name.into(), value.into()));
        self
    }
    pub fn body(mut self, body: impl Into<Vec<u8>>) -> Response {
        self.body = body.into();
        self
    }
}

/// What a handler may return.
pub trait IntoResponse {
    fn into_response(self) -> Response;
}

impl IntoResponse for Response {
    fn into_response(self) -> Response {
        self
    }
}

/// For handlers that have responded themselves; 204 otherwise.
impl IntoResponse for () {
    fn into_response(self) -> Response {
        Response::new(204)
    }
}

/// An error is logged, and answered with 500.
impl<T: IntoResponse, E: fmt::Display> IntoResponse for Result<T, E> {
    fn into_response(self) -> Response {
        self.map_or_else(
            |e| {
                log(Level::Error, &e.to_string());
                Response::new(500)
            },
            IntoResponse::into_response,
        )
    }
}

/// The secret file of this path.
pub fn secret(path: &str) -> Result<Vec<u8>, Error> {
    let mut bytes = vec![0; 4096];
    loop {
        let n =
            check(unsafe { host::secret_get(path.as_ptr(), path.len(), bytes.as_mut_ptr(), bytes.len()) })?;
        let had_room = n <= bytes.len();
        bytes.resize(n, 0);
        if had_room {
            return Ok(bytes);
        }
    }
}

#[derive(Clone, Copy)]
pub enum Level {
    Debug,
    Info,
    Warn,
    Error,
}

pub fn log(level: Level, text: &str) {
    unsafe {
        host::log(level as u32, text.as_ptr(), text.len());
    }
}

#[doc(hidden)]
pub fn run<T: IntoResponse>(handle: impl FnOnce(&mut Request) -> T) -> i32 {
    let mut head = vec![0; 4096];
    loop {
        let Ok(n) = check(unsafe { host::request_head(head.as_mut_ptr(), head.len()) }) else {
            return 1;
        };
        let had_room = n <= head.len();
        head.resize(n, 0);
        if had_room {
            break;
        }
    }
    let mut request = Request::parse(String::from_utf8_lossy(&head).into_owned());
    let response = handle(&mut request).into_response();
    if request.responded {
        return 0;
    }
    let fields: Vec<(&str, &str)> = response.fields.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
    let answered = request
        .respond(response.status, &fields)
        .map_err(io::Error::from)
        .and_then(|mut a| a.write_all(&response.body));
    match answered {
        Ok(()) => 0,
        Err(e) if e.kind() == io::ErrorKind::BrokenPipe => 0,
        Err(e) => {
            log(Level::Error, &format!("answer: {e}"));
            1
        }
    }
}

/// Makes `handle` the function of this module; `init`, where given, runs once, before any request.
#[macro_export]
macro_rules! function {
    ($handle:expr) => {
        #[export_name = "dormouse_http_v1_handle"]
        pub extern "C" fn dormouse_http_v1_handle() -> i32 {
            $crate::run($handle)
        }
    };
    ($handle:expr, $init:expr) => {
        $crate::function!($handle);
        #[export_name = "dormouse_http_v1_init"]
        pub extern "C" fn dormouse_http_v1_init() -> i32 {
            $init();
            0
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request() -> Request {
        Request::parse(
            ":method: GET\n:target: /a/b?x=1&name=J%c3%bc+rgen\n:authority: h:80\n:scheme: https\n\
             :peer: 1.2.3.4:5\n:call-id: c\naccept: a: b\nx-empty: \n"
                .into(),
        )
    }

    #[test]
    fn a_head_is_taken_apart() {
        let r = request();
        assert_eq!((r.method(), r.path(), r.authority()), ("GET", "/a/b", "h:80"));
        assert!(r.is_https());
        assert_eq!(r.field("accept"), Some("a: b"));
        assert_eq!(r.field("x-empty"), Some(""));
        assert_eq!(r.field("x-none"), None);
        assert_eq!(r.field(":method"), None);
        assert_eq!(r.fields().count(), 2);
    }

    #[test]
    fn parameters_are_decoded() {
        let r = request();
        assert_eq!(r.param("name").as_deref(), Some("Jü rgen"));
        assert_eq!(r.param("x").as_deref(), Some("1"));
        assert_eq!(r.param("y"), None);
        assert_eq!(decode("100%"), "100%");
        assert_eq!(decode("%zz"), "%zz");
    }
}
