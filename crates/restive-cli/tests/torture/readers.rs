//! Mutated files, read in this process by the code that the program reads them with.
//!
//! Every kind of file that restive reads: tables of arms as CSV, NPY and Parquet; studies of CSV and of Parquet tables with their
//! settings; cards and weights of models; checkpoints. What can be read is planned with, as `restive plan` would. A reader answers
//! or refuses; it never panics and never takes long. An input that was answered otherwise is kept, and its path is told.

use super::folder::Prepared;
use super::mutation::mutate;
use super::{HANG, Plan, Tally};
use rand::RngExt;
use restive::Layout;
use restive::random::stream;
use restive_pipeline::{Applied, PlanAsked, Trained};
use restive_tables::{ArmReader, Model, Study};
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// Files to mutate, where they were prepared, and the code that reads them.
const FILES: [(&str, Reader); 14] = [
    ("arms.csv", Reader::Arms),
    ("arms.npy", Reader::Arms),
    ("parquet/truth.parquet", Reader::Arms),
    ("study/arms.csv", Reader::Study("study")),
    ("study/trajectories.csv", Reader::Study("study")),
    ("study/truth.csv", Reader::Study("study")),
    ("study/study.toml", Reader::Study("study")),
    ("parquet/arms.parquet", Reader::Study("parquet")),
    ("parquet/trajectories.parquet", Reader::Study("parquet")),
    ("model/card.json", Reader::Model("model")),
    ("model/weights.safetensors", Reader::Model("model")),
    ("effect/card.json", Reader::Model("effect")),
    ("effect/weights.safetensors", Reader::Model("effect")),
    ("checkpoint", Reader::Checkpoint),
];

#[derive(Clone, Copy)]
enum Reader {
    Arms,
    /// the study in this folder
    Study(&'static str),
    /// the model in this folder
    Model(&'static str),
    Checkpoint,
}

/// What a file is mutated from, and what it is planned with.
struct Sound {
    files: Vec<Vec<u8>>,
    study: Study,
    model: Trained,
}

pub(crate) fn run(plan: &Plan, prepared: &Prepared, tally: &mut Tally) {
    if plan.inputs == 0 {
        return;
    }
    let sound = Sound::new(prepared);
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let (panics, hangs) = (Mutex::new(Vec::new()), Mutex::new(Vec::new()));
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get());
    // panics are counted here, not printed by their hundreds
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let folder = prepared.copied();
                loop {
                    let input = next.fetch_add(1, Ordering::Relaxed);
                    if input >= plan.inputs || !plan.has_time() {
                        return;
                    }
                    let mut random = stream(plan.seed, &[2, input as u64]);
                    let at = random.random_range(0..FILES.len());
                    let mut bytes = sound.files[at].clone();
                    let other = &sound.files[random.random_range(0..FILES.len())];
                    mutate(&mut bytes, other, &mut random);
                    let (name, reader) = FILES[at];
                    let path = folder.path().join(name);
                    fs::write(&path, &bytes).expect("a temporary folder");
                    let start = Instant::now();
                    let answer = catch_unwind(AssertUnwindSafe(|| reader.read(folder.path(), &path, &sound)));
                    if let Err(payload) = answer {
                        let said = payload.downcast_ref::<String>().map(String::as_str);
                        let said = said.or(payload.downcast_ref::<&str>().copied()).unwrap_or("?");
                        let kept = keep(name, input, &bytes);
                        panics
                            .lock()
                            .expect("no panic here")
                            .push(format!("{name}: {said}, kept as {}", kept.display()));
                    }
                    if start.elapsed() > HANG {
                        let kept = keep(name, input, &bytes);
                        hangs
                            .lock()
                            .expect("no panic here")
                            .push(format!("{name}, kept as {}", kept.display()));
                    }
                    fs::write(&path, &sound.files[at]).expect("a temporary folder");
                    done.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    });
    std::panic::set_hook(hook);
    tally.inputs += done.into_inner();
    tally.panics.extend(panics.into_inner().expect("no panic here"));
    tally.hangs.extend(hangs.into_inner().expect("no panic here"));
}

impl Sound {
    fn new(prepared: &Prepared) -> Self {
        let here = prepared.path();
        let model = Trained::read(&here.join("model")).expect("it was trained");
        model.model.write_checkpoint(&here.join("checkpoint"), false).expect("a temporary folder");
        let files = FILES.iter().map(|(name, _)| fs::read(here.join(name)).expect(name)).collect();
        Self { files, study: Study::read(&here.join("study")).expect("it was generated"), model }
    }

    /// As `restive plan` does; whether it can is not the question.
    fn plan(&self, model: &Trained, study: &Study) {
        if let Ok(applied) = Applied::new(model, study, "model", "study") {
            let _plan_or_refusal = applied.plan(&PlanAsked::default());
        }
    }
}

impl Reader {
    fn read(self, folder: &Path, path: &Path, sound: &Sound) {
        match self {
            Reader::Arms => {
                if let Ok(mut arms) = ArmReader::open(path, Layout::Nsas) {
                    while let Ok(Some(_)) = arms.next_batch() {}
                }
            }
            Reader::Study(name) => {
                if let Ok(study) = Study::read(&folder.join(name)) {
                    sound.plan(&sound.model, &study);
                }
            }
            Reader::Model(name) => {
                if let Ok(model) = Trained::read(&folder.join(name)) {
                    sound.plan(&model, &sound.study);
                }
            }
            Reader::Checkpoint => drop(Model::read_checkpoint(path)),
        }
    }
}

/// Keeps an input for whoever mends what it broke.
fn keep(name: &str, input: usize, bytes: &[u8]) -> PathBuf {
    let folder = std::env::temp_dir().join("restive-torture");
    let path = folder.join(format!("{input}-{}", name.replace('/', "-")));
    fs::create_dir_all(&folder).and_then(|()| fs::write(&path, bytes)).expect("a temporary folder");
    path
}
