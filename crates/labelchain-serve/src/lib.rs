//! A model of [`labelchain`] behind HTTP, with a page to look at it.
//!
//! | request | answer |
//! |---|---|
//! | `GET /` | the page |
//! | `GET /v1/model` | what the model is, and which columns it takes |
//! | `POST /v1/predict` | the labels of rows, and how probable each is |
//! | `POST /v1/explain` | how the answer about each row comes about |
//! | `GET /healthz` | that it is there |
//! | `GET /metrics` | what happened so far, for Prometheus |
//!
//! One thread talks to all clients and never computes; as many threads compute as there are cores, each one
//! request at a time. So a request of many rows delays nobody's health check, and a row costs no hand-over
//! between the threads that compute. Everything that a stranger can make grow has a bound: [`Limits`].
//!
//! ```
//! use labelchain::{Dataset, LabelChain};
//! use labelchain_serve::{Config, Server};
//!
//! let data = Dataset::from_rows(1, &[1., 2., 8., 9.])?
//!     .with_label_indicators(&["high"], &[false, false, true, true])?;
//! let model = LabelChain::new("br-nb")?.fit(&data)?;
//! let server = Server::bind("127.0.0.1:0".parse()?, Config::new(model))?;
//! println!("http://{}/", server.address());
//! server.control().stop(); // somebody else does, later
//! server.run();
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod answer;
mod log;
mod metrics;
mod page;
mod refusal;
mod rows;
mod served;
mod service;
mod stream;
mod token;

pub use log::WriteLine;
pub use token::Token;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use labelchain::Model;
use serde_json::json;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{OwnedSemaphorePermit, watch};
use tokio::time::{sleep, timeout};

use service::Service;
use stream::PatientStream;

/// How much of everything a service takes.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Bytes of the body of a request.
    pub body: usize,
    /// Bytes of all bodies that are held at a time.
    pub all_bodies: usize,
    /// Bytes for the cells of a request.
    pub memory: u64,
    /// Rows of a request.
    pub rows: usize,
    /// Rows of a request for explanations, which are a thousand times as large as answers.
    pub explained_rows: usize,
    /// Requests that are computed or wait for a thread; further ones are told to come back.
    pub waiting: usize,
    /// Connections at a time; further ones wait.
    pub connections: usize,
    /// How long a client may take over its headers, over its body, and over taking a part of its answer.
    pub patience: Duration,
    /// How long requests may still take when the service is to stop.
    pub grace: Duration,
    /// Threads that compute.
    pub threads: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            body: 8 << 20,
            all_bodies: 64 << 20,
            memory: 1 << 30,
            rows: 1000,
            explained_rows: 16,
            waiting: 256,
            connections: 2048,
            patience: Duration::from_secs(10),
            grace: Duration::from_secs(10),
            threads: thread::available_parallelism().map_or(1, usize::from),
        }
    }
}

/// Loads a model again.
pub type Reload = Box<dyn Fn() -> labelchain::Result<Model> + Send>;

/// What is served, and how.
pub struct Config {
    /// The model.
    pub model: Model,
    /// A row that the page begins with; without one it begins with means.
    pub example: Option<serde_json::Map<String, serde_json::Value>>,
    /// Loads the model again; without it there is no other one.
    pub reload: Option<Reload>,
    /// What a client has to know; without it only clients on this machine are answered.
    pub token: Option<Token>,
    /// Writes a line of the log.
    pub log: Option<WriteLine>,
    /// How much of everything it takes.
    pub limits: Limits,
}

impl Config {
    /// A model on its own, with the limits that suit most.
    pub fn new(model: Model) -> Config {
        let limits = Limits::default();
        Config { model, example: None, reload: None, token: None, log: None, limits }
    }
}

/// A service that listens.
pub struct Server {
    runtime: Runtime,
    listener: TcpListener,
    address: SocketAddr,
    control: Control,
}

/// Stops a service, or has it load its model again, from another thread.
#[derive(Clone)]
pub struct Control {
    service: Arc<Service>,
    is_over: watch::Sender<bool>,
}

impl Control {
    /// Has the service stop: it takes no more connections, and finishes what it is doing.
    pub fn stop(&self) {
        self.is_over.send_replace(true);
    }

    /// Has the service load its model again, by a thread of its own.
    pub fn reload(&self) {
        let service = self.service.clone();
        let _ = thread::Builder::new().name("reload".into()).spawn(move || service.reload());
    }
}

impl Server {
    /// Listens on an address, and answers once it [runs](Server::run). Port 0 is any free one.
    pub fn bind(address: SocketAddr, config: Config) -> Result<Server, BindError> {
        let service = Arc::new(Service::new(config).map_err(BindError::Model)?);
        let listen = || -> io::Result<(Runtime, TcpListener)> {
            let runtime = runtime(service.limits().threads)?;
            raise_open_files(service.limits().connections);
            let within = runtime.enter();
            let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
            // After a restart the port is free at once, though old connections are still remembered.
            #[cfg(unix)]
            socket.set_reuseaddr(true)?;
            socket.bind(address)?;
            let listener = socket.listen(1024)?;
            drop(within);
            Ok((runtime, listener))
        };
        let (runtime, listener) = listen().map_err(BindError::Listen)?;
        let address = listener.local_addr().map_err(BindError::Listen)?;
        let control = Control { service, is_over: watch::Sender::new(false) };
        Ok(Server { runtime, listener, address, control })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What stops it.
    pub fn control(&self) -> Control {
        self.control.clone()
    }

    /// Answers until it is stopped.
    pub fn run(self) {
        let Server { runtime, listener, control, .. } = self;
        let is_over = control.is_over.subscribe();
        runtime.block_on(serve(listener, control.service.clone(), is_over));
        control.service.flush_log();
        // Computations that nobody waits for any more were cancelled, and end on their own.
        runtime.shutdown_background();
    }
}

/// Why a service does not listen.
#[derive(Debug)]
pub enum BindError {
    /// The model cannot be served.
    Model(labelchain::Error),
    /// The system refused.
    Listen(io::Error),
}

impl std::fmt::Display for BindError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            BindError::Model(error) => error.fmt(f),
            BindError::Listen(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for BindError {}

/// One thread for all clients, and so many that compute.
///
/// The library divides its work among the threads of the rayon pool that the caller belongs to. A computing
/// thread is a pool of its own, so that a request is computed where it arrives: handing a single row over
/// would take longer than labelling it, and requests are parallel to each other anyway.
fn runtime(n_threads: usize) -> io::Result<Runtime> {
    const A_YEAR: Duration = Duration::from_secs(365 * 24 * 3600);
    let alone = || {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread();
        // Where it fails, the work is divided among all threads: slower, and the same answer.
        let _ = pool.build();
    };
    Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .thread_name("compute")
        .max_blocking_threads(n_threads.max(1))
        // A pool stays as long as the process, so that its thread should, too.
        .thread_keep_alive(A_YEAR)
        .on_thread_start(alone)
        .build()
}

/// Asks for as many open files as connections need: a shell allows 1,024, which is soon reached.
fn raise_open_files(n_connections: usize) {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        let now = getrlimit(Resource::Nofile);
        let wanted = n_connections as u64 + 64;
        if let Some(current) = now.current.filter(|&current| current < wanted) {
            let most = now.maximum.unwrap_or(u64::MAX);
            let raised = Rlimit { current: Some(wanted.min(most).max(current)), ..now };
            // Where it is refused, connections wait until others are closed.
            let _ = setrlimit(Resource::Nofile, raised);
        }
    }
    #[cfg(not(unix))]
    let _ = n_connections;
}

/// Takes connections until it is over, then waits for those that are open.
async fn serve(listener: TcpListener, service: Arc<Service>, mut is_over: watch::Receiver<bool>) {
    let limits = service.limits().clone();
    let over = is_over.clone();
    let take = async {
        loop {
            match listener.accept().await {
                Ok((stream, _)) => {
                    // This one waits for a place, and the others until it has one.
                    let place = service.connections.clone().acquire_owned().await;
                    let Ok(place) = place else { return };
                    tokio::spawn(connection(stream, place, service.clone(), over.clone()));
                }
                // Too many open files, most likely: some will be closed.
                Err(error) => {
                    service.event(json!({ "event": "accept", "error": error.to_string() }));
                    sleep(Duration::from_millis(100)).await;
                }
            }
        }
    };
    tokio::select! {
        () = take => {}
        _ = is_over.wait_for(|&is_over| is_over) => {}
    }
    drop(listener);
    let all = u32::try_from(limits.connections).unwrap_or(u32::MAX);
    let ended = timeout(limits.grace, service.connections.acquire_many(all)).await;
    let what = if ended.is_ok() { "stopped" } else { "stopped with requests unanswered" };
    service.event(json!({ "event": what }));
}

/// Answers one client, whose `place` is free for another one afterwards.
async fn connection(
    stream: TcpStream,
    place: OwnedSemaphorePermit,
    service: Arc<Service>,
    mut is_over: watch::Receiver<bool>,
) {
    let _place = place;
    // Answers are sent whole: there is nothing to gain from waiting for more.
    let _ = stream.set_nodelay(true);
    let patience = service.limits().patience;
    let answer = service_fn(|request| {
        let service = service.clone();
        async move { Ok::<_, std::convert::Infallible>(service.respond(request).await) }
    });
    let stream = TokioIo::new(PatientStream::new(stream, patience));
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(patience)
        .max_buf_size(64 << 10)
        .serve_connection(stream, answer);
    let mut connection = std::pin::pin!(connection);
    // A client that goes away, or that does not speak HTTP, is nothing that could be mended here.
    tokio::select! {
        _ = connection.as_mut() => return,
        _ = is_over.wait_for(|&is_over| is_over) => connection.as_mut().graceful_shutdown(),
    }
    let _ = connection.await;
}
