//! From a request to a response: routes, limits, and who may ask.

use std::net::IpAddr;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant};

use http_body_util::{BodyExt as _, Full};
use hyper::body::{Body as _, Bytes, Incoming};
use hyper::header::{self, HeaderMap, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use labelchain::{Cancel, Result};
use serde_json::json;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::answer::{Task, answer};
use crate::log::Log;
use crate::metrics::Metrics;
use crate::page;
use crate::refusal::Refusal;
use crate::served::Served;
use crate::{Config, Limits, Reload, Token};

/// What a path is for.
#[derive(Clone, Copy)]
enum Route {
    File(&'static page::File),
    Model,
    Rows(Task),
    Health,
    Metrics,
}

/// All routes: path, method, what it is for.
const ROUTES: [(&str, Method, Route); 8] = [
    ("/", Method::GET, Route::File(&page::HTML)),
    ("/page.css", Method::GET, Route::File(&page::CSS)),
    ("/page.js", Method::GET, Route::File(&page::SCRIPT)),
    ("/v1/model", Method::GET, Route::Model),
    ("/v1/predict", Method::POST, Route::Rows(Task::Predict)),
    ("/v1/explain", Method::POST, Route::Rows(Task::Explain)),
    ("/healthz", Method::GET, Route::Health),
    ("/metrics", Method::GET, Route::Metrics),
];

/// The path of everything else, in metrics: what strangers make up must not fill the memory.
const OTHER: &str = "other";

impl Route {
    /// Whether whoever asks has to know the token. The page itself says nothing of the model, and asks for it.
    fn is_guarded(self) -> bool {
        !matches!(self, Route::File(_) | Route::Health)
    }
}

/// Everything that answers.
pub(crate) struct Service {
    served: RwLock<Arc<Served>>,
    /// Held while the model is loaded, so that of two wishes the later one has the later file.
    reload: Mutex<Option<Reload>>,
    limits: Limits,
    token: Option<Token>,
    metrics: Metrics,
    log: Log,
    /// The bytes of bodies that are held, of those that may be.
    bytes: Arc<Semaphore>,
    /// Requests that are computed or wait for a thread, of those that may.
    waiting: Arc<Semaphore>,
    /// Open connections, of those that may be.
    pub(crate) connections: Arc<Semaphore>,
}

/// What a client is sent, before it is a response of HTTP.
struct Content {
    status: StatusCode,
    kind: &'static str,
    body: Bytes,
    n_rows: Option<usize>,
}

impl Content {
    fn json(body: impl Into<Bytes>) -> Content {
        Content { status: StatusCode::OK, kind: JSON, body: body.into(), n_rows: None }
    }
}

const JSON: &str = "application/json";

/// Gives work up when nobody waits for it any more.
struct CancelOnDrop(Cancel);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// The body of a request, and the share of the memory for bodies that it takes.
type HeldBody = (Vec<u8>, Option<OwnedSemaphorePermit>);

impl Service {
    pub(crate) fn new(config: Config) -> Result<Service> {
        let Config { model, example, reload, token, log, limits } = config;
        Ok(Service {
            served: RwLock::new(Arc::new(Served::new(model, example.as_ref(), &limits)?)),
            reload: Mutex::new(reload),
            token,
            metrics: Metrics::default(),
            log: Log::new(log),
            bytes: Arc::new(Semaphore::new(limits.all_bodies.max(limits.body))),
            waiting: Arc::new(Semaphore::new(limits.waiting)),
            connections: Arc::new(Semaphore::new(limits.connections)),
            limits,
        })
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    fn served(&self) -> Arc<Served> {
        self.served.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Loads the model again. Requests that are being answered keep the old one, and so does everybody if the
    /// new one cannot be had.
    pub(crate) fn reload(&self) {
        let start = Instant::now();
        let reload = self.reload.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(load) = reload.as_ref() else {
            self.event(json!({ "event": "reload", "error": "there is no model file" }));
            return;
        };
        match load().and_then(|model| Served::new(model, None, &self.limits)) {
            Ok(served) => {
                *self.served.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(served);
                self.metrics.reloads.fetch_add(1, Ordering::Relaxed);
                self.event(json!({ "event": "reload", "ms": milliseconds(start.elapsed()) }));
            }
            Err(error) => {
                self.metrics.failed_reloads.fetch_add(1, Ordering::Relaxed);
                self.event(json!({ "event": "reload", "error": error.to_string() }));
            }
        }
    }

    /// Waits a moment for the log to be written.
    pub(crate) fn flush_log(&self) {
        self.log.flush(Duration::from_secs(1));
    }

    /// Logs what is no request.
    pub(crate) fn event(&self, fields: serde_json::Value) {
        if !self.log.line(&fields) {
            self.metrics.log_lines_lost.fetch_add(1, Ordering::Relaxed);
        }
    }

    pub(crate) async fn respond(&self, request: Request<Incoming>) -> Response<Full<Bytes>> {
        let start = Instant::now();
        let (method, path) = (request.method().clone(), request.uri().path().to_string());
        let route = ROUTES.iter().find(|(known, ..)| *known == path);
        let content = match route {
            Some((_, allowed, route)) => self.content(request, allowed, *route).await,
            None => Err(Refusal::new(StatusCode::NOT_FOUND, "there is nothing at this path")
                .help("GET / is a page; GET /v1/model, POST /v1/predict and POST /v1/explain are for programs")),
        };
        let error = content.as_ref().err().map(Refusal::message);
        let content = content.unwrap_or_else(|refusal| Content {
            status: refusal.status,
            ..Content::json(refusal.json())
        });
        let (status, took) = (content.status, start.elapsed());
        self.metrics.request(route.map_or(OTHER, |(path, ..)| *path), status, took);
        if self.log.is_on() {
            let mut line = json!({
                "method": method.as_str(),
                "path": path.chars().take(200).collect::<String>(),
                "status": status.as_u16(),
                "ms": milliseconds(took),
                "bytes": content.body.len(),
            });
            if let Some(n_rows) = content.n_rows {
                line["rows"] = n_rows.into();
            }
            if let Some(error) = error {
                line["error"] = error.into();
            }
            self.event(line);
        }
        let mut response = Response::new(Full::new(content.body));
        *response.status_mut() = status;
        add_headers(response.headers_mut(), content.kind, status, route.map(|(_, it, _)| it));
        response
    }

    async fn content(
        &self,
        request: Request<Incoming>,
        allowed: &Method,
        route: Route,
    ) -> Result<Content, Refusal> {
        self.admit(request.headers(), route)?;
        // A client that asks for the head of a page is sent the page, of which hyper sends the head.
        let is_head = request.method() == Method::HEAD && allowed == Method::GET;
        if request.method() != allowed && !is_head {
            let message = format!("{} is not for this path", request.method());
            let refusal = Refusal::new(StatusCode::METHOD_NOT_ALLOWED, message);
            return Err(refusal.help(format!("use {allowed}")));
        }
        match route {
            Route::File(file) => Ok(Content { kind: file.kind, ..Content::json(file.text) }),
            Route::Model => Ok(Content::json(self.served().description.clone())),
            Route::Health => Ok(Content::json("{\"status\":\"ok\"}")),
            Route::Metrics => {
                let taken = |of: usize, free: &Semaphore| of - free.available_permits().min(of);
                let n_connections = taken(self.limits.connections, &self.connections);
                let n_waiting = taken(self.limits.waiting, &self.waiting);
                let text = self.metrics.text(&self.served(), n_connections, n_waiting);
                Ok(Content { kind: "text/plain; version=0.0.4", ..Content::json(text) })
            }
            Route::Rows(task) => {
                let body = self.body(request.into_body()).await?;
                self.compute(task, body).await
            }
        }
    }

    /// Who may ask: with a token, whoever knows it; without, whoever addresses this machine as itself. A page
    /// of a stranger in a browser on this machine can have its own name lead here, but it cannot change the
    /// name that the browser sends.
    fn admit(&self, headers: &HeaderMap, route: Route) -> Result<(), Refusal> {
        if let Some(token) = &self.token {
            let given = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
            let given = given.and_then(|value| value.strip_prefix("Bearer "));
            if route.is_guarded() && !given.is_some_and(|given| token.is(given)) {
                let refusal =
                    Refusal::new(StatusCode::UNAUTHORIZED, "the token is missing or wrong");
                return Err(refusal.help("send it as Authorization: Bearer TOKEN"));
            }
            return Ok(());
        }
        // A program may leave the name out; a browser never does.
        let host = headers.get(header::HOST).map_or("localhost", |it| it.to_str().unwrap_or(""));
        if !is_this_machine(host) {
            let message = format!("this service answers on this machine only, not as {host:?}");
            let refusal = Refusal::new(StatusCode::FORBIDDEN, message);
            return Err(refusal.help("ask for localhost, or let it listen elsewhere with a token"));
        }
        Ok(())
    }

    /// The body, if it is not too large and arrives in time.
    async fn body(&self, mut body: Incoming) -> Result<HeldBody, Refusal> {
        let most = self.limits.body;
        let too_large = || {
            let message = format!("the body has more than the {most} bytes allowed");
            let refusal = Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, message);
            refusal.help("send the rows in several requests")
        };
        if body.size_hint().lower() > most as u64 {
            discard(body).await;
            return Err(too_large());
        }
        let mut bytes = Vec::new();
        let mut held: Option<OwnedSemaphorePermit> = None;
        let deadline = tokio::time::Instant::now() + self.limits.patience;
        loop {
            let frame = tokio::time::timeout_at(deadline, body.frame()).await.map_err(|_| {
                let seconds = self.limits.patience.as_secs_f64();
                let message = format!("the body did not arrive within {seconds} seconds");
                Refusal::new(StatusCode::REQUEST_TIMEOUT, message)
            })?;
            let Some(frame) = frame else { return Ok((bytes, held)) };
            let frame = frame.map_err(|error| {
                Refusal::new(StatusCode::BAD_REQUEST, format!("the body cannot be read: {error}"))
            })?;
            let Ok(data) = frame.into_data() else { continue };
            if bytes.len() + data.len() > most {
                drop(bytes);
                discard(body).await;
                return Err(too_large());
            }
            // A client that sends little and slowly holds little.
            let n = u32::try_from(data.len()).unwrap_or(u32::MAX);
            let more = self.bytes.clone().try_acquire_many_owned(n).map_err(|_| busy())?;
            match &mut held {
                Some(held) => held.merge(more),
                None => held = Some(more),
            }
            bytes.extend_from_slice(&data);
        }
    }

    /// Has a thread for computing answer. As many requests wait for one as may; others are sent away at once,
    /// for a client that is told to come back is better off than one that is forgotten.
    async fn compute(&self, task: Task, body: HeldBody) -> Result<Content, Refusal> {
        let place = self.waiting.clone().try_acquire_owned().map_err(|_| busy())?;
        let (served, limits) = (self.served(), self.limits.clone());
        let cancel = CancelOnDrop(Cancel::default());
        let is_unwanted = cancel.0.clone();
        let work = move || {
            let (bytes, _held) = body;
            let _place = place;
            is_unwanted.check()?;
            answer(task, &bytes, &served, &limits, &is_unwanted)
        };
        let answer = tokio::task::spawn_blocking(work).await.map_err(|_| {
            let message = "a bug in labelchain: the computation broke off";
            let refusal = Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, message);
            refusal.help("please report it, with the request and the model")
        })??;
        self.metrics.rows.fetch_add(answer.n_rows as u64, Ordering::Relaxed);
        Ok(Content { n_rows: Some(answer.n_rows), ..Content::json(answer.json) })
    }
}

fn busy() -> Refusal {
    let refusal = Refusal::new(StatusCode::SERVICE_UNAVAILABLE, "too many requests are waiting");
    refusal.help("try again in a second")
}

/// Takes what a client still sends, for a moment: one that is cut off while it writes does not read why.
async fn discard(mut body: Incoming) {
    let all = async { while let Some(Ok(_)) = body.frame().await {} };
    let _ = timeout(Duration::from_secs(1), all).await;
}

fn milliseconds(time: Duration) -> f64 {
    time.as_micros() as f64 / 1000.0
}

/// Whether the name that a client used, with or without a port, is one of this machine for itself.
fn is_this_machine(host: &str) -> bool {
    let is_port = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let name = match host.rsplit_once(':') {
        Some((name, port)) if is_port(port) => name,
        _ => host,
    };
    let address = name.trim_start_matches('[').trim_end_matches(']');
    name.eq_ignore_ascii_case("localhost")
        || address.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

fn add_headers(
    headers: &mut HeaderMap,
    kind: &'static str,
    status: StatusCode,
    allowed: Option<&Method>,
) {
    let mut add = |name, value| headers.insert(name, HeaderValue::from_static(value));
    add(header::CONTENT_TYPE, kind);
    add(header::CONTENT_SECURITY_POLICY, page::POLICY);
    add(header::X_CONTENT_TYPE_OPTIONS, "nosniff");
    add(header::REFERRER_POLICY, "no-referrer");
    // The page belongs to this version of the program, and answers to this model.
    add(header::CACHE_CONTROL, "no-store");
    match status {
        StatusCode::UNAUTHORIZED => drop(add(header::WWW_AUTHENTICATE, "Bearer")),
        StatusCode::SERVICE_UNAVAILABLE => drop(add(header::RETRY_AFTER, "1")),
        StatusCode::METHOD_NOT_ALLOWED if allowed == Some(&Method::POST) => {
            drop(add(header::ALLOW, "POST"));
        }
        StatusCode::METHOD_NOT_ALLOWED => drop(add(header::ALLOW, "GET, HEAD")),
        // Whoever was too slow, or sends too much, is not listened to any longer.
        StatusCode::REQUEST_TIMEOUT | StatusCode::PAYLOAD_TOO_LARGE => {
            drop(add(header::CONNECTION, "close"));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_this_machine_are_its_own() {
        for host in
            ["localhost", "LOCALHOST:8080", "127.0.0.1:80", "127.9.9.9", "[::1]:8080", "[::1]"]
        {
            assert!(is_this_machine(host), "{host}");
        }
        for host in
            ["", "example.org", "localhost.example.org", "10.0.0.1:8080", "127.0.0.1.nip.io"]
        {
            assert!(!is_this_machine(host), "{host}");
        }
    }
}
