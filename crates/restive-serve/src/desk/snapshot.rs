//! The programme as it stood a moment ago.
//!
//! Pages are made of a picture that is never changed: a new one takes its place whole, after every write and whenever the files of the
//! programme have changed, by whomever. So no page waits for an import, a training or a plan, and every page is of one moment. What only an
//! import changes (people, words) is taken over from the picture before where its files are as they were.

use super::Desk;
use crate::error::Result;
use jiff::Zoned;
use jiff::civil::Date;
use restive_programme::{Backdrop, Draft, Programme, Status};
use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, SystemTime};

/// How often the files are looked at.
const PAUSE: Duration = Duration::from_secs(2);

/// The programme at a moment.
pub struct Snapshot {
    /// which picture this is, from 1
    pub number: u64,
    /// its folder, and what the last import said
    pub programme: Programme,
    /// where it stands
    pub status: Status,
    /// people, words and names of states
    pub backdrop: Arc<Backdrop>,
    /// the latest list; nothing where there is none
    pub draft: Option<Arc<Draft>>,
    /// the day on which it was taken
    pub today: Date,
    /// why a later picture could not be taken, where that is so
    pub trouble: Option<String>,
    stamps: Stamps,
}

/// When files were changed, and how long they are.
type Stamp = Option<(SystemTime, u64)>;

#[derive(Clone, PartialEq, Eq)]
struct Stamps {
    /// what an import and an editor change
    files: Vec<Stamp>,
    /// what plans and outcomes change
    ledger: Vec<Stamp>,
}

impl Stamps {
    fn of(folder: &Path) -> Self {
        let stamp = |name: &&str| {
            let found = folder.join(name).metadata().ok()?;
            Some((found.modified().ok()?, found.len()))
        };
        let files = ["current", "words.toml", "rules.toml", "models"];
        let ledger = ["ledger.db", "ledger.db-wal"];
        // an evaluation writes its refusal into the folder of a model
        let models = std::fs::read_dir(folder.join("models")).into_iter().flatten().flatten();
        let mut models: Vec<String> =
            models.filter_map(|model| Some(format!("models/{}", model.file_name().to_str()?))).collect();
        models.sort_unstable();
        let models = models.iter().map(|name| stamp(&name.as_str()));
        Self {
            files: files.iter().map(stamp).chain(models).collect(),
            ledger: ledger.iter().map(stamp).collect(),
        }
    }
}

impl Snapshot {
    /// Takes a picture; one before it saves reading what has not changed.
    pub(super) fn take(folder: &Path, before: Option<&Snapshot>) -> Result<Self> {
        let stamps = Stamps::of(folder);
        let programme = Programme::open(folder)?;
        let today = Zoned::now().date();
        let backdrop = match before.filter(|before| before.stamps.files == stamps.files) {
            Some(before) => before.backdrop.clone(),
            None => Arc::new(programme.backdrop()?),
        };
        let status = programme.status_before(&backdrop, today)?;
        let before_it = before.filter(|before| Arc::ptr_eq(&before.backdrop, &backdrop));
        let draft = match before_it.and_then(|before| before.draft.as_deref()) {
            Some(draft) => programme.draft_after(&backdrop, draft)?,
            None => programme.draft(&backdrop, None)?,
        };
        let draft = draft.map(Arc::new);
        let number = before.map_or(1, |before| before.number + 1);
        Ok(Self { number, programme, status, backdrop, draft, today, trouble: None, stamps })
    }

    /// Whether the list is of the period that is next.
    pub fn is_planned(&self) -> bool {
        self.status.is_planned
    }
}

impl Desk {
    /// The programme, to write to: it knows its people from the picture where their file is as it was.
    pub(super) fn programme(&self) -> restive_programme::Result<Programme> {
        let (now, programme) = (self.snapshot(), Programme::open(&self.folder)?);
        match Stamps::of(&self.folder).files == now.stamps.files {
            true => Ok(programme.knowing(now.backdrop.clone())),
            false => Ok(programme),
        }
    }

    /// Takes the next picture, or waits for one that was begun after this was called: of many who write at once, most find that somebody
    /// has looked for them. It blocks: not for handlers.
    pub(crate) fn look(&self) {
        let mine = self.changes.fetch_add(1, Ordering::SeqCst) + 1;
        let mut shown = self.looking.lock().unwrap_or_else(PoisonError::into_inner);
        if *shown >= mine {
            return;
        }
        let shows = self.changes.load(Ordering::SeqCst);
        let before = self.snapshot();
        let next = match Snapshot::take(&self.folder, Some(&before)) {
            Ok(next) => next,
            Err(error) => Snapshot {
                number: before.number + 1,
                programme: before.programme.clone(),
                status: before.status.clone(),
                backdrop: before.backdrop.clone(),
                draft: before.draft.clone(),
                today: before.today,
                trouble: Some(error.to_string()),
                // what was wrong may be gone the next time somebody touches a file
                stamps: Stamps::of(&self.folder),
            },
        };
        if let Ok(mut now) = self.snapshot.write() {
            *now = Arc::new(next);
        }
        *shown = shows;
    }

    /// Looks at the files now and then, and takes a new picture where they have changed.
    pub(crate) async fn keep_looking(self: Arc<Self>) {
        let desk = self.clone();
        // nobody should have to wait for what the first question about somebody needs
        let _ = tokio::task::spawn_blocking(move || desk.read_cases()).await;
        loop {
            tokio::time::sleep(PAUSE).await;
            let desk = self.clone();
            let _ = tokio::task::spawn_blocking(move || {
                let now = desk.snapshot();
                if Stamps::of(&desk.folder) != now.stamps || Zoned::now().date() != now.today {
                    desk.look();
                }
            })
            .await;
        }
    }
}
