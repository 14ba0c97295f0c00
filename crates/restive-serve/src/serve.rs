//! From what was asked on the command line to a server that runs.

use crate::desk::{App, Desk, Doors};
use crate::error::{Error, Result};
use crate::pages;
use crate::security::entry::Entry;
use crate::security::hosts::Hosts;
use crate::security::passwords::Passwords;
use crate::security::session::{Cookie, Sessions};
use crate::security::throttle::Throttle;
use crate::security::tls::{self, Tls};
use crate::security::user_file::UserFile;
use crate::security::{address, listen};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

/// The port that is taken where it is free.
const PORT: u16 = 8421;

/// How the desk is to be opened.
#[derive(Debug, Clone)]
pub struct Opened {
    /// the folder of the programme
    pub programme: PathBuf,
    /// where it listens
    pub address: IpAddr,
    /// at which port; absent: 8421, or a free one
    pub port: Option<u16>,
    /// other names that lead here
    pub hosts: Vec<String>,
    /// who may enter; absent: one planner
    pub users: Option<PathBuf>,
    /// what the one planner is called
    pub planner: String,
    /// a certificate and its key
    pub tls: Option<(PathBuf, PathBuf)>,
    /// whether others may come in over an open way
    pub insecure_http: bool,
    /// Receives warnings while the server runs, such as a file of users that cannot be read. Default: they are dropped.
    pub warn: fn(&str),
}

impl Opened {
    /// The desk of one planner on this machine.
    pub fn new(programme: impl Into<PathBuf>) -> Self {
        Self {
            programme: programme.into(),
            address: Ipv4Addr::LOCALHOST.into(),
            port: None,
            hosts: Vec::new(),
            users: None,
            planner: "planner".into(),
            tls: None,
            insecure_http: false,
            warn: |_| {},
        }
    }
}

/// A desk that is open.
#[derive(Clone)]
pub struct Server {
    desk: App,
    listener: Arc<TcpListener>,
    address: SocketAddr,
    tls: Option<Tls>,
}

impl Server {
    /// Looks at the programme, takes the port, and is ready to answer.
    pub fn open(asked: &Opened) -> Result<Self> {
        address::check(asked.address, asked.users.is_some(), asked.tls.is_some(), asked.insecure_http)?;
        let users = asked.users.as_deref().map(|path| UserFile::open(path, asked.warn)).transpose()?;
        let tls = asked.tls.as_ref().map(|(certificate, key)| tls::read(certificate, key)).transpose()?;
        let bind = |port: u16| TcpListener::bind((asked.address, port));
        let listener = match asked.port {
            Some(port) => bind(port),
            None => bind(PORT).or_else(|_| bind(0)),
        };
        let place = format!("{} port {}", asked.address, asked.port.unwrap_or(PORT));
        let listener = listener.map_err(Error::io(&place, "listen there"))?;
        listener.set_nonblocking(true).map_err(Error::io(&place, "listen there"))?;
        let address = listener.local_addr().map_err(Error::io(&place, "listen there"))?;
        let doors = Doors {
            hosts: Hosts::new(address, &asked.hosts),
            tokens: Entry::default(),
            sessions: Sessions::default(),
            cookie: Cookie::new(address.port(), tls.is_some()),
            users,
            throttle: Throttle::default(),
            passwords: Passwords::default(),
            planner: asked.planner.as_str().into(),
        };
        let desk = Arc::new(Desk::open(&asked.programme, doors)?);
        Ok(Self { desk, listener: Arc::new(listener), address, tls })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// An address to enter by: once, where there are no users.
    pub fn entrance(&self) -> Result<String> {
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        let host = match self.address.ip().is_unspecified() {
            true => format!("localhost:{}", self.address.port()),
            false => self.address.to_string(),
        };
        if self.desk.doors.users.is_some() {
            return Ok(format!("{scheme}://{host}/login"));
        }
        let token = self.desk.doors.tokens.give(Instant::now());
        let token = token.ok_or_else(|| Error::Refused("the system gives no random numbers".into()))?;
        Ok(format!("{scheme}://{host}/enter/{token}"))
    }

    /// Number of people whose page has been computed from model and ledger; tests compare the steps of requests by it.
    pub fn people_computed(&self) -> u64 {
        self.desk.people_computed()
    }

    /// Answers until the program ends.
    pub fn run(self) -> Result<()> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .max_blocking_threads(32)
            .enable_all()
            .build()
            .map_err(Error::io("the desk", "begin"))?;
        runtime.block_on(async {
            let listener = self.listener.try_clone().and_then(tokio::net::TcpListener::from_std);
            let listener = listener.map_err(Error::io(self.address, "listen there"))?;
            tokio::spawn(self.desk.clone().keep_looking());
            listen::listen(listener, pages::router(self.desk.clone()), self.tls.clone()).await;
            Ok(())
        })
    }
}
