//! Why a request is not answered: a status, and an object that says what is wrong, where and what to do.

use hyper::StatusCode;
use labelchain::{Error, ErrorKind};
use serde_json::json;

/// Why a request is not answered.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) status: StatusCode,
    pub(crate) message: String,
    /// The row of the request that is wrong, counted from 0.
    pub(crate) row: Option<usize>,
    pub(crate) help: Option<String>,
}

impl Refusal {
    pub(crate) fn new(status: StatusCode, message: impl Into<String>) -> Refusal {
        Refusal { status, message: message.into(), row: None, help: None }
    }

    pub(crate) fn help(self, help: impl Into<String>) -> Refusal {
        Refusal { help: Some(help.into()), ..self }
    }

    /// The same about one row, which the message begins with.
    pub(crate) fn in_row(self, row: usize) -> Refusal {
        Refusal { message: format!("row {row}: {}", self.message), row: Some(row), ..self }
    }

    /// What is wrong, in a length that somebody would read: a message repeats names that a client sent, which
    /// may be as long as its body.
    pub(crate) fn message(&self) -> String {
        const LONGEST: usize = 500;
        match self.message.char_indices().nth(LONGEST) {
            Some((end, _)) => format!("{} …", &self.message[..end]),
            None => self.message.clone(),
        }
    }

    pub(crate) fn json(&self) -> String {
        let mut answer = json!({ "error": self.message() });
        if let Some(row) = self.row {
            answer["row"] = row.into();
        }
        if let Some(help) = &self.help {
            answer["help"] = help.as_str().into();
        }
        answer.to_string()
    }
}

/// The library's message, and its remedy. What the client can mend is its fault.
impl From<Error> for Refusal {
    fn from(error: Error) -> Refusal {
        let status = match error.kind() {
            ErrorKind::Content | ErrorKind::Request | ErrorKind::Data => {
                StatusCode::UNPROCESSABLE_ENTITY
            }
            ErrorKind::Limit => StatusCode::PAYLOAD_TOO_LARGE,
            ErrorKind::Busy | ErrorKind::Cancelled => StatusCode::SERVICE_UNAVAILABLE,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        let row = match &error {
            Error::Cell { row, .. } => Some(*row),
            _ => None,
        };
        let help = error.remedy().map(|remedy| remedy.to_string());
        Refusal { status, message: error.to_string(), row, help }
    }
}
