//! Fingerprints of both readers against recorded values.
//!
//! The cards of models contain fingerprints. If one of these constants changes, models no longer belong to their studies.

use restive_tables::{Roll, Study};
use restive_testkit::random_study::{Observed, RandomStudy};
use restive_testkit::{StudyFixture, StudyOptions};
use std::path::Path;

/// Studies of the repository, below `restive-cli/tests/stored`.
const STORED: [(&str, &str); 2] =
    [("study", "a004a3c901f1401878a6faa643a1906d"), ("labels", "7e91a171bd596b9841e660ede7ab7246")];

/// Random studies with states of all rows, by seed.
const RANDOM: [(u64, &str); 4] = [
    (0, "3da87324b9a5490a13cffbdd63bb50d5"),
    (1, "8f10e85a4e3a11e2434c1dca50ebb5fe"),
    (2, "02f4d603e95095c39aa79af6d96b5351"),
    (3, "1202559e12d7add12511d07190193d44"),
];

/// Random studies with states of pulled arms only, by seed.
const AT_PULLS: [(u64, &str); 3] = [
    (0, "a481be0ceddbb1d47104ec537de95a70"),
    (1, "c128fbad36feb5c3e4188980ac0275cd"),
    (2, "41716496f10f7b43466b723f4a686574"),
];

/// The study fixture with default options.
const FIXTURE: &str = "3a9aff9982e18493998a3ff7cd071fa6";

fn in_memory(folder: &Path) -> String {
    Study::read(folder).unwrap().fingerprint()
}

fn of_stream(folder: &Path) -> String {
    Roll::read(folder).unwrap().fingerprint().unwrap()
}

#[test]
fn fingerprints_in_memory_are_the_recorded_ones() {
    let stored = Path::new(env!("CARGO_MANIFEST_DIR")).join("../restive-cli/tests/stored");
    let folder = tempfile::tempdir().unwrap();
    for (name, recorded) in STORED {
        assert_eq!(in_memory(&stored.join(name)), recorded, "{name}");
    }
    for (observed, studies) in [(Observed::Always, &RANDOM[..]), (Observed::AtPulls, &AT_PULLS)] {
        for (seed, recorded) in studies {
            RandomStudy::new(*seed, observed).write(folder.path());
            assert_eq!(in_memory(folder.path()), *recorded, "{observed:?}, seed {seed}");
        }
    }
    StudyFixture::new(&StudyOptions::default()).write(folder.path());
    assert_eq!(in_memory(folder.path()), FIXTURE);
}

/// Streams have studies with states of all rows only.
#[test]
fn fingerprints_of_a_stream_are_the_recorded_ones() {
    let stored = Path::new(env!("CARGO_MANIFEST_DIR")).join("../restive-cli/tests/stored");
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(of_stream(&stored.join(STORED[0].0)), STORED[0].1);
    for (seed, recorded) in RANDOM {
        RandomStudy::new(seed, Observed::Always).write(folder.path());
        assert_eq!(of_stream(folder.path()), recorded, "seed {seed}");
    }
    StudyFixture::new(&StudyOptions::default()).write(folder.path());
    assert_eq!(of_stream(folder.path()), FIXTURE);
}
