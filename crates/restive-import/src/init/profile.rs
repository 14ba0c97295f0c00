//! Profiles: what is known of the exports of one system, as data.
//!
//! A profile is a small file under `profiles/`: the columns that it is recognised by, what its tables are (`role`), and the lines of a
//! mapping that follow, each with the trap that it avoids. The first of several `columns` that is there is used: systems rename theirs.
//! A line with `decide` is written as a comment: a person must decide it.

use serde::Deserialize;
use std::sync::LazyLock;

/// What a table is to a programme.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Role {
    People,
    Events,
    Actions,
    /// joins a log to people and is nothing by itself
    Through,
    /// to be told from the cells
    Any,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Profile {
    pub(super) name: String,
    pub(super) role: Role,
    /// one of each must be a column
    required: Vec<Vec<String>>,
    /// none of these is
    #[serde(default)]
    absent: Vec<String>,
    /// comments above the section
    #[serde(default)]
    pub(super) notes: Vec<String>,
    /// columns that are no features
    #[serde(default)]
    pub(super) known: Vec<String>,
    /// a word for missing that may say something of its own
    pub(super) asks_apart: Option<String>,
    /// what stands before a quotation mark within quotes
    pub(super) escape: Option<String>,
    /// the columns of a file without a header
    #[serde(default)]
    pub(super) header: Vec<String>,
    /// where such a file has ids that the system made, and how long they are
    #[serde(default)]
    ids_at: Vec<usize>,
    #[serde(default)]
    id_length: usize,
    pub(super) through: Option<Via>,
    #[serde(default)]
    pub(super) lines: Vec<Line>,
    pub(super) words: Option<Words>,
}

/// The file that a log is joined to.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Via {
    /// the name of its profile
    pub(super) profile: String,
    /// the columns here and there
    pub(super) on: Vec<Vec<String>>,
}

/// A line of a mapping.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Line {
    pub(super) key: String,
    pub(super) columns: Vec<String>,
    /// further columns of a list
    #[serde(default)]
    pub(super) with_columns: Vec<String>,
    /// what stands beside the column in its table
    #[serde(default)]
    pub(super) with: String,
    /// what stands after the = instead
    #[serde(default)]
    pub(super) written: String,
    #[serde(default)]
    pub(super) note: String,
    #[serde(default)]
    pub(super) decide: String,
    /// the column whose words are shown to whom decides
    #[serde(default)]
    pub(super) lists: String,
    /// whether its times say where they are on the globe
    #[serde(default)]
    pub(super) is_absolute: bool,
    /// whether the format is told from the cells
    #[serde(default)]
    pub(super) is_sniffed: bool,
}

/// Parts of the names of columns, and what they say.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Words {
    pub(super) kept: Vec<String>,
    pub(super) id: Vec<String>,
    pub(super) born: Vec<String>,
    pub(super) joined: Vec<String>,
    pub(super) left: Vec<String>,
    pub(super) never: Vec<String>,
    pub(super) outcome: Vec<String>,
    pub(super) time: Vec<String>,
    pub(super) value: Vec<String>,
    pub(super) missing: Vec<String>,
}

static PROFILES: LazyLock<Vec<Profile>> = LazyLock::new(|| {
    let texts = [
        include_str!("../../profiles/exotel.toml"),
        include_str!("../../profiles/twilio.toml"),
        include_str!("../../profiles/commcare_cases.toml"),
        include_str!("../../profiles/commcare_forms.toml"),
        include_str!("../../profiles/cht_reports.toml"),
        include_str!("../../profiles/dhis2_events.toml"),
        include_str!("../../profiles/dhis2_enrolments.toml"),
        include_str!("../../profiles/odk_submissions.toml"),
        include_str!("../../profiles/odk_repeats.toml"),
        include_str!("../../profiles/kobo.toml"),
        include_str!("../../profiles/kobo_repeats.toml"),
        include_str!("../../profiles/rapidpro_messages.toml"),
        include_str!("../../profiles/rapidpro_runs.toml"),
        include_str!("../../profiles/fhir_tasks.toml"),
        include_str!("../../profiles/plain.toml"),
    ];
    texts.iter().map(|text| toml::from_str(text).expect("a profile of ours")).collect()
});

/// The table that nobody knows.
pub(super) fn plain() -> &'static Profile {
    PROFILES.last().expect("there are profiles")
}

/// Parts of the names of columns.
pub(super) fn words() -> &'static Words {
    plain().words.as_ref().expect("the plain profile has words")
}

/// The profile that knows most of these columns; none where no system is recognised.
pub(super) fn recognise(header: &[String]) -> Option<&'static Profile> {
    let known = PROFILES.iter().filter(|profile| !profile.required.is_empty() && profile.fits(header));
    known.max_by_key(|profile| profile.required.len())
}

/// The profile of a file whose first line is no header but ids of that system.
pub(super) fn recognise_headless(first: &[String]) -> Option<&'static Profile> {
    PROFILES.iter().find(|profile| !profile.ids_at.is_empty() && profile.fits_headless(first))
}

impl Profile {
    fn fits(&self, header: &[String]) -> bool {
        let has = |name: &String| header.contains(name);
        self.required.iter().all(|names| names.iter().any(has)) && !self.absent.iter().any(has)
    }

    fn fits_headless(&self, first: &[String]) -> bool {
        let is_id = |cell: &String| {
            cell.len() == self.id_length
                && cell.bytes().all(|byte| byte.is_ascii_alphanumeric())
                && cell.bytes().any(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase())
        };
        first.len() == self.header.len() && self.ids_at.iter().all(|k| first.get(*k).is_some_and(is_id))
    }
}

/// The first of several columns that is there.
pub(super) fn first<'a>(columns: &'a [String], header: &[String]) -> Option<&'a String> {
    columns.iter().find(|column| header.contains(column))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_profile_reads_and_recognises_itself() {
        for profile in PROFILES.iter().filter(|profile| !profile.required.is_empty()) {
            let header: Vec<String> = profile.required.iter().map(|names| names[0].clone()).collect();
            assert_eq!(recognise(&header).map(|found| &*found.name), Some(&*profile.name));
            let via = profile.through.as_ref().map(|via| &via.profile);
            assert!(
                via.is_none_or(|name| PROFILES.iter().any(|other| other.name == *name)),
                "{}",
                profile.name
            );
        }
        assert!(recognise(&["a".into(), "b".into()]).is_none());
        assert_eq!(plain().role, Role::Any);
        assert!(words().id.iter().all(|word| *word == word.to_lowercase()));
    }
}
