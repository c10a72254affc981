// SPDX-License-Identifier: Apache-2.0
use serde_json::Value;
use std::fmt;
use std::time::Duration;

/// What a call of the host, the API server or the operator itself found wrong.
#[derive(Debug)]
pub enum Error {
    /// The API server's answer, or the host's in its place.
    Api(Box<Status>),
    /// The host could not do it at all.
    Host { code: HostCode, message: String },
    /// An object does not look as the operator's types say.
    Json(serde_json::Error),
    /// Anything else.
    Other(String),
    /// A failure that trying again does not mend: the key waits until something changes.
    Permanent(Box<Error>),
    /// What was being done, and what went wrong.
    Context(String, Box<Error>),
}

pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Kubernetes' `Status`.
#[derive(Debug, Clone, Default)]
pub struct Status {
    /// Of HTTP.
    pub code: u16,
    /// "NotFound", "Conflict", "AlreadyExists", "Invalid", ...; may be empty.
    pub reason: String,
    pub message: String,
    pub retry_after: Option<Duration>,
    pub causes: Vec<Cause>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cause {
    pub reason: String,
    pub message: String,
    pub field: String,
}

/// Error codes of the ABI.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum HostCode {
    Invalid,
    NotFound,
    Forbidden,
    NotDeclared,
    TooLarge,
    Limited,
    Timeout,
    Unavailable,
    Expired,
    Cancelled,
    NotSynced,
    /// A newer host's.
    Unknown(i64),
}

const HOST_CODES: [(HostCode, &str); 11] = [
    (HostCode::Invalid, "invalid"),
    (HostCode::NotFound, "not-found"),
    (HostCode::Forbidden, "forbidden"),
    (HostCode::NotDeclared, "not-declared"),
    (HostCode::TooLarge, "too-large"),
    (HostCode::Limited, "limited"),
    (HostCode::Timeout, "timeout"),
    (HostCode::Unavailable, "unavailable"),
    (HostCode::Expired, "expired"),
    (HostCode::Cancelled, "cancelled"),
    (HostCode::NotSynced, "not-synced"),
];

impl HostCode {
    fn of(code: i64) -> HostCode {
        usize::try_from(-1 - code)
            .ok()
            .and_then(|i| HOST_CODES.get(i))
            .map_or(HostCode::Unknown(code), |row| row.0)
    }
}

impl fmt::Display for HostCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match HOST_CODES.iter().find(|row| row.0 == *self) {
            Some(row) => f.write_str(row.1),
            None => f.write_str("error of the host"),
        }
    }
}

impl Error {
    /// Do not try again until something changes.
    pub fn permanent(error: impl Into<Error>) -> Error {
        Error::Permanent(Box::new(error.into()))
    }

    pub fn is_permanent(&self) -> bool {
        match self {
            Error::Permanent(_) => true,
            Error::Context(_, inner) => inner.is_permanent(),
            _ => false,
        }
    }

    fn root(&self) -> &Error {
        match self {
            Error::Permanent(inner) | Error::Context(_, inner) => inner.root(),
            other => other,
        }
    }

    /// The API server's answer, if it is one.
    pub fn status(&self) -> Option<&Status> {
        match self.root() {
            Error::Api(status) => Some(status),
            _ => None,
        }
    }

    fn is(&self, status: u16, code: HostCode) -> bool {
        match self.root() {
            Error::Api(s) => s.code == status,
            Error::Host { code: c, .. } => *c == code,
            _ => false,
        }
    }

    pub fn is_not_found(&self) -> bool {
        self.is(404, HostCode::NotFound)
    }
    pub fn is_forbidden(&self) -> bool {
        self.is(403, HostCode::Forbidden)
    }
    pub fn is_invalid(&self) -> bool {
        self.is(422, HostCode::Invalid) || self.is(400, HostCode::Invalid)
    }
    pub fn is_expired(&self) -> bool {
        self.is(410, HostCode::Expired)
    }
    /// A write may have happened.
    pub fn is_timeout(&self) -> bool {
        self.is(504, HostCode::Timeout)
    }
    pub fn is_already_exists(&self) -> bool {
        self.status().is_some_and(|s| s.code == 409 && s.reason == "AlreadyExists")
    }
    /// Somebody else wrote in between, or a precondition does not hold.
    pub fn is_conflict(&self) -> bool {
        self.status().is_some_and(|s| s.code == 409 && s.reason != "AlreadyExists")
    }
    pub fn retry_after(&self) -> Option<Duration> {
        self.status().and_then(|s| s.retry_after)
    }

    pub(crate) fn of_host(code: i64, text: &[u8]) -> Error {
        Error::Host { code: HostCode::of(code), message: String::from_utf8_lossy(text).into_owned() }
    }

    pub(crate) fn of_answer(code: u16, retry_after: Option<u64>, body: &[u8]) -> Error {
        let v: Value = serde_json::from_slice(body).unwrap_or_default();
        let text = |v: &Value| v.as_str().unwrap_or_default().to_owned();
        let message = match v["message"].as_str() {
            Some(message) => message.to_owned(),
            None => format!("HTTP status {code}"),
        };
        let causes = v["details"]["causes"].as_array().map(Vec::as_slice).unwrap_or_default();
        Error::Api(Box::new(Status {
            code,
            reason: text(&v["reason"]),
            message,
            retry_after: v["details"]["retryAfterSeconds"].as_u64().or(retry_after).map(Duration::from_secs),
            causes: causes
                .iter()
                .map(|c| Cause {
                    reason: text(&c["reason"]),
                    message: text(&c["message"]),
                    field: text(&c["field"]),
                })
                .collect(),
        }))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Api(s) if s.reason.is_empty() => f.write_str(&s.message),
            Error::Api(s) => write!(f, "{}: {}", s.reason, s.message),
            Error::Host { code, message } => write!(f, "{code}: {message}"),
            Error::Json(e) => write!(f, "{e}"),
            Error::Other(text) => f.write_str(text),
            Error::Permanent(inner) => write!(f, "{inner}"),
            Error::Context(what, inner) => write!(f, "{what}: {inner}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Json(e) => Some(e),
            Error::Permanent(inner) | Error::Context(_, inner) => Some(inner),
            _ => None,
        }
    }
}

impl From<serde_json::Error> for Error {
    fn from(e: serde_json::Error) -> Error {
        Error::Json(e)
    }
}
impl From<String> for Error {
    fn from(text: String) -> Error {
        Error::Other(text)
    }
}
impl From<&str> for Error {
    fn from(text: &str) -> Error {
        Error::Other(text.to_owned())
    }
}

/// Say what was being done: `api.create(&x).context("create the namespace")?`.
pub trait WithContext<T> {
    fn context(self, what: impl Into<String>) -> Result<T>;
}

impl<T, E: Into<Error>> WithContext<T> for Result<T, E> {
    fn context(self, what: impl Into<String>) -> Result<T> {
        self.map_err(|e| Error::Context(what.into(), Box::new(e.into())))
    }
}

/// An object that need not be there.
pub trait Optional<T> {
    /// `Ok(None)` for "not found".
    fn optional(self) -> Result<Option<T>>;
}

impl<T> Optional<T> for Result<T> {
    fn optional(self) -> Result<Option<T>> {
        match self {
            Ok(v) => Ok(Some(v)),
            Err(e) if e.is_not_found() => Ok(None),
            Err(e) => Err(e),
        }
    }
}
