//! `labelchain serve`: a model for programs and browsers.

use std::fs::File;
use std::io::Read as _;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use labelchain::data::Dataset;
use labelchain::error::{Error, Result};
use labelchain::{Method, Model};
use labelchain_serve::{BindError, Config, Limits, Server, Token, WriteLine};
use serde_json::{Map, Value};

use super::demo;
use crate::args::{AimArgs, Threads};
use crate::messages::{Failure, print_data, remark};
use crate::{interrupt, memory};

#[derive(Args)]
#[command(after_help = "Example:\n  labelchain serve yeast.labelchain --port 8080")]
pub(crate) struct Serve {
    /// The model, as written by labelchain train [default: trains what labelchain demo trains]
    #[arg(value_name = "MODEL")]
    model: Option<PathBuf>,

    #[command(flatten)]
    aim: AimArgs,

    /// The port to listen on; 0 is any free one. The address is printed
    #[arg(long, value_name = "N", default_value_t = 8080)]
    port: u16,

    /// The address to listen on; one that other machines can reach needs --token-file
    #[arg(long, value_name = "ADDRESS", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    listen: IpAddr,

    /// A file with the word that clients have to send as Authorization: Bearer WORD
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,

    /// Log nothing; else every request is a line of JSON on standard error
    #[arg(long)]
    quiet: bool,

    /// Refuse a model that needs more memory than this, such as 500M or 8G [default: three quarters
    /// of the machine's]
    #[arg(long, value_name = "AMOUNT", value_parser = memory::amount, help_heading = LIMITS)]
    max_memory: Option<u64>,

    /// How large the body of a request may be
    #[arg(long, value_name = "AMOUNT", value_parser = memory::amount, default_value = "8M", help_heading = LIMITS)]
    max_body: u64,

    /// How many rows a request may have
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = at_least_1(), help_heading = LIMITS)]
    max_rows: u32,

    /// How many rows a request may have explained
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = at_least_1(), help_heading = LIMITS)]
    max_explained: u32,

    /// How many requests may wait for a thread; further ones are answered 503
    #[arg(long, value_name = "N", default_value_t = 256, value_parser = at_least_1(), help_heading = LIMITS)]
    max_waiting: u32,

    /// How many connections may be open; further ones wait
    #[arg(long, value_name = "N", default_value_t = 2048, value_parser = at_least_1(), help_heading = LIMITS)]
    max_connections: u32,

    /// How long a client may take over its headers, over its body, and over taking its answer
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0, value_parser = seconds, help_heading = LIMITS)]
    timeout: f64,

    /// How long requests may still take after SIGTERM or Ctrl-C
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0, value_parser = seconds, help_heading = LIMITS)]
    grace: f64,

    #[command(flatten)]
    threads: Threads,
}

const LIMITS: &str = "Limits";

fn at_least_1() -> clap::builder::RangedI64ValueParser<u32> {
    clap::value_parser!(u32).range(1..=1_000_000)
}

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if (0.001..=1e6).contains(&seconds) => Ok(seconds),
        _ => Err("expected a number of seconds between 0.001 and 1000000".into()),
    }
}

impl Serve {
    pub(crate) fn run(&self) -> Result<(), Failure> {
        let token = self.token()?;
        self.threads.start()?;
        let config = Config { token, log: self.log(), limits: self.limits(), ..self.config()? };
        let address = SocketAddr::new(self.listen, self.port);
        let server = Server::bind(address, config).map_err(|error| match error {
            BindError::Model(error) => error,
            BindError::Listen(error) => Error::Setting {
                name: "--port",
                value: format!("{} on {}, and it cannot be had ({error})", self.port, self.listen),
                accepted: "a free one of an address of this machine; 0 takes any",
            },
        })?;
        interrupt::control(server.control());
        print_data(&format!("listening on http://{}/\n", server.address()))?;
        server.run();
        Ok(())
    }

    /// The model of the file, or that of the demo with the row that the demo explains.
    fn config(&self) -> Result<Config> {
        let aim = self.aim.aim;
        let aimed = move |model: Model| aim.into_iter().fold(model, Model::with_aim);
        let Some(path) = self.model.clone() else {
            if !self.quiet {
                remark("no model given: training that of labelchain demo");
            }
            let data = demo::generated(1)?;
            let (model, row) = demo::trained(Method::DEFAULT, &data, 1)?;
            return Ok(Config { example: Some(example(&row)), ..Config::new(aimed(model)) });
        };
        let max_memory = self.max_memory.unwrap_or_else(memory::three_quarters);
        let load = move || Model::load(&path, max_memory).map(aimed);
        Ok(Config { reload: Some(Box::new(load.clone())), ..Config::new(load()?) })
    }

    fn limits(&self) -> Limits {
        let usual = Limits::default();
        let body = usize::try_from(self.max_body).unwrap_or(usize::MAX).min(1 << 30);
        Limits {
            body,
            all_bodies: usual.all_bodies.max(body),
            rows: self.max_rows as usize,
            explained_rows: self.max_explained as usize,
            waiting: self.max_waiting as usize,
            connections: self.max_connections as usize,
            patience: Duration::from_secs_f64(self.timeout),
            grace: Duration::from_secs_f64(self.grace),
            threads: Threads::n_started(),
            ..usual
        }
    }

    fn log(&self) -> Option<WriteLine> {
        (!self.quiet).then(|| Box::new(remark) as WriteLine)
    }

    fn token(&self) -> Result<Option<Token>> {
        if self.token_file.is_none() && !self.listen.is_loopback() {
            return Err(Error::Setting {
                name: "--listen",
                value: format!("{}, which other machines can reach, without a token", self.listen),
                accepted: "given together with --token-file FILE, a file with a word that clients have to know",
            });
        }
        self.token_file.as_deref().map(read_token).transpose()
    }
}

fn read_token(path: &Path) -> Result<Token> {
    let unread = |source| Error::Io { path: path.into(), source };
    let mut text = String::new();
    File::open(path).and_then(|file| file.take(4096).read_to_string(&mut text)).map_err(unread)?;
    Token::new(&text).ok_or_else(|| Error::Setting {
        name: "--token-file",
        value: format!("{}, which does not hold a token", path.display()),
        accepted: "a file of one word of at least 16 letters, digits or signs; openssl rand -hex 32 makes one",
    })
}

/// The only row of a data set, as a request has it.
fn example(data: &Dataset) -> Map<String, Value> {
    let cell = |at: usize| {
        let cell = data.features().get(0, at);
        match data.attributes()[at].values() {
            None => cell.into(),
            Some(values) => values.get(cell as usize).cloned().into(),
        }
    };
    data.attributes().iter().enumerate().map(|(at, it)| (it.name.clone(), cell(at))).collect()
}
