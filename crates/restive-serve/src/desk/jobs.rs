//! Work that lasts: a plan, an import, a training.
//!
//! A job runs by itself, on threads of its own. Its page tells how far it is, can be left and come back to, and has a button that stops it: the
//! job is asked at its next word, and the kernels of the library that work for it, and for nobody else, at their next look. One job runs at a
//! time; whoever asks for another is sent to the one that runs. What became of the last [`KEPT`] is kept as long as the program runs.

use super::{App, Desk};
use crate::error::Error;
use crate::security::session::Session;
use jiff::Timestamp;
use restive::interrupt::{Interrupted, Interruption, Scope, catch};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

/// So many are remembered.
const KEPT: usize = 50;

/// A job as a page shows it.
#[derive(Debug, Clone)]
pub struct Job {
    /// from 1
    pub id: u64,
    /// what it does: the key of its words
    pub kind: &'static str,
    /// who asked for it
    pub who: Arc<str>,
    /// when it began
    pub begun: Timestamp,
    /// where to go when it is done
    pub next: &'static str,
    /// how far it is, from 0 to 1
    pub share: f64,
    /// what it is doing
    pub sentence: String,
    /// how it stands
    pub standing: Standing,
}

/// How a job stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// it runs
    Running,
    /// it was told to stop and has not yet
    Stopping,
    /// it is done, with what it has to say
    Done(String),
    /// it could not be done, and why
    Failed(String),
    /// it was stopped; nothing was written
    Stopped,
}

impl Job {
    /// Whether it is still at work.
    pub fn is_running(&self) -> bool {
        matches!(self.standing, Standing::Running | Standing::Stopping)
    }

    /// How far it is, in per cent.
    pub fn percent(&self) -> u32 {
        (100.0 * self.share.clamp(0.0, 1.0)).round() as u32
    }
}

struct Kept {
    job: Job,
    scope: Scope,
    /// while a job is told to stop
    raised: Option<Interruption>,
}

#[derive(Default)]
struct Board {
    last: u64,
    kept: VecDeque<Kept>,
}

/// All jobs.
#[derive(Clone, Default)]
pub(super) struct Jobs(Arc<Mutex<Board>>);

/// By which a job tells how far it is.
pub struct Progress {
    jobs: Jobs,
    id: u64,
    scope: Scope,
}

impl Progress {
    /// Tells; where the job was told to stop it ends here, as kernels do.
    pub fn say(&self, share: f64, sentence: &str) {
        self.jobs.change(self.id, |kept| {
            kept.job.share = share;
            kept.job.sentence.clear();
            kept.job.sentence.push_str(sentence);
        });
        if self.scope.is_raised() {
            std::panic::resume_unwind(Box::new(Interrupted));
        }
    }
}

impl Jobs {
    fn change(&self, id: u64, change: impl FnOnce(&mut Kept)) {
        if let Ok(mut board) = self.0.lock()
            && let Some(kept) = board.kept.iter_mut().find(|kept| kept.job.id == id)
        {
            change(kept);
        }
    }
}

impl Desk {
    /// Begins a job, and says where its page is. Where another one runs, this one is not begun, and the page of the other says so. `writes` is whether it writes to the ledger: then nobody else does until it is done. What it
    /// returns is said to whoever looks.
    pub fn start(
        self: &App,
        session: &Session,
        kind: &'static str,
        next: &'static str,
        writes: bool,
        work: impl FnOnce(&Desk, &Progress) -> crate::Result<String> + Send + 'static,
    ) -> String {
        let Ok(mut board) = self.jobs.0.lock() else { return "/".into() };
        if let Some(running) = board.kept.iter().find(|kept| kept.job.is_running()) {
            // the same asked for twice is asked for once
            let is_same = (running.job.kind, &running.job.who) == (kind, &session.who);
            return format!("/job/{}{}", running.job.id, if is_same { "" } else { "?instead=1" });
        }
        board.last += 1;
        let (id, scope) = (board.last, Scope::default());
        let job = Job {
            id,
            kind,
            who: session.who.clone(),
            begun: Timestamp::now(),
            next,
            share: 0.0,
            sentence: String::new(),
            standing: Standing::Running,
        };
        board.kept.push_back(Kept { job, scope: scope.clone(), raised: None });
        if board.kept.len() > KEPT {
            board.kept.pop_front();
        }
        drop(board);
        let (desk, session, jobs) = (self.clone(), session.clone(), self.jobs.clone());
        let running = tokio::task::spawn_blocking(move || {
            let place = writes.then(|| desk.writer());
            let progress = Progress { jobs: desk.jobs.clone(), id, scope: scope.clone() };
            let done = catch(|| scope.run(|| work(&desk, &progress)).map_err(Error::io("a job", "begin"))?);
            drop(place);
            if let Ok(Ok(_)) = &done {
                desk.record.add(&session, kind, &id.to_string());
            }
            desk.look();
            done
        });
        tokio::spawn(async move {
            let standing = match running.await {
                Ok(Ok(Ok(said))) => Standing::Done(said),
                Ok(Ok(Err(error))) => Standing::Failed(error.to_string()),
                Ok(Err(Interrupted)) => Standing::Stopped,
                Err(_) => Standing::Failed("an internal error; please report it".into()),
            };
            jobs.change(id, |kept| {
                kept.raised = None;
                kept.job.standing = standing;
            });
        });
        format!("/job/{id}")
    }

    /// A job, by its number.
    pub fn job(&self, id: u64) -> Option<Job> {
        let board = self.jobs.0.lock().ok()?;
        board.kept.iter().find(|kept| kept.job.id == id).map(|kept| kept.job.clone())
    }

    /// The last job of a kind.
    pub fn latest_job(&self, kind: &str) -> Option<Job> {
        let board = self.jobs.0.lock().ok()?;
        board.kept.iter().rev().map(|kept| &kept.job).find(|job| job.kind == kind).cloned()
    }

    /// The job that runs.
    pub fn running_job(&self) -> Option<Job> {
        let board = self.jobs.0.lock().ok()?;
        board.kept.iter().map(|kept| &kept.job).find(|job| job.is_running()).cloned()
    }

    /// Tells a job to stop.
    pub fn stop(&self, id: u64) {
        self.jobs.change(id, |kept| {
            if kept.job.standing == Standing::Running {
                kept.raised = Some(kept.scope.raise());
                kept.job.standing = Standing::Stopping;
            }
        });
    }
}
