//! The page: three files that the program carries, which need nothing from elsewhere.

/// A file of the page.
pub(crate) struct File {
    pub(crate) kind: &'static str,
    pub(crate) text: &'static str,
}

pub(crate) static HTML: File =
    File { kind: "text/html; charset=utf-8", text: include_str!("page/page.html") };

pub(crate) static CSS: File =
    File { kind: "text/css; charset=utf-8", text: include_str!("page/page.css") };

pub(crate) static SCRIPT: File =
    File { kind: "text/javascript; charset=utf-8", text: include_str!("page/page.js") };

/// The content security policy of every answer: a browser obeys the style and the script that this service
/// sends as files, whatever stands in a name, talks to this service only, and shows the page in no other.
pub(crate) const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
     connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
