//! Every word that a page says, by key, in every language.
//!
//! `words/en/week.toml` has the English words of the page *This week*, `words/es/week.toml` the Spanish ones: `title = "This week"` there is
//! `week.title` here. A word with something to fill in has its name in braces: `{n} people`. The tests refuse a key that a template
//! or a source names and a language lacks, one that nobody names, and two languages that fill in different things.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::fmt::Display;
use std::sync::OnceLock;

/// The words of a language.
pub struct Words {
    /// as in HTML
    pub code: &'static str,
    by_key: HashMap<String, String>,
}

macro_rules! files {
    ($($name:literal),+ $(,)?) => {
        /// The files, each in every language: name, English, Spanish.
        const FILES: &[(&str, &str, &str)] = &[$((
            $name,
            include_str!(concat!("../../words/en/", $name, ".toml")),
            include_str!(concat!("../../words/es/", $name, ".toml")),
        )),+];
    };
}

// a page with words of its own has a line here
files![
    "capacity", "data", "desk", "door", "evidence", "fairness", "job", "outcomes", "person", "record",
    "refusal", "spoken", "week"
];

/// The languages, each with its own name for itself.
pub(crate) const LANGUAGES: [(&str, &str); 2] = [("en", "English"), ("es", "Español")];

/// The cookie that has the language.
pub(crate) const COOKIE: &str = "restive-language";

fn all() -> &'static [Words; 2] {
    static ALL: OnceLock<[Words; 2]> = OnceLock::new();
    ALL.get_or_init(|| [Words::read("en", |file| file.1), Words::read("es", |file| file.2)])
}

impl Words {
    fn read(code: &'static str, pick: fn(&(&str, &'static str, &'static str)) -> &'static str) -> Self {
        let mut by_key = HashMap::new();
        for file in FILES {
            let table: toml::Table = toml::from_str(pick(file)).unwrap_or_default();
            for (key, word) in table {
                if let toml::Value::String(word) = word {
                    by_key.insert(format!("{}.{key}", file.0), word);
                }
            }
        }
        Self { code, by_key }
    }

    /// Those of a language; English where nobody knows it.
    pub fn of(code: &str) -> &'static Words {
        all().iter().find(|words| words.code == code).unwrap_or(&all()[0])
    }

    /// The word of a key.
    pub fn t<'a>(&'a self, key: &'a str) -> &'a str {
        // no key is missing: the tests have looked; a page shows a key rather than nothing
        self.by_key.get(key).map_or(key, String::as_str)
    }

    /// The word of a key, with one thing filled in.
    pub fn f1(&self, key: &str, name: &str, value: impl Display) -> String {
        self.t(key).replace(&format!("{{{name}}}"), &value.to_string())
    }

    /// The word of a key, with two things filled in, in one pass: what is filled in is not looked at again.
    pub fn f2(&self, key: &str, a: &str, x: impl Display, b: &str, y: impl Display) -> String {
        let (first, second) = (format!("{{{a}}}"), format!("{{{b}}}"));
        let parts: Vec<String> =
            self.t(key).split(&first).map(|part| part.replace(&second, &y.to_string())).collect();
        parts.join(&x.to_string())
    }

    /// `n` of something: the key with `_one` where it is one.
    pub fn n(&self, key: &str, n: impl Borrow<usize>) -> String {
        let n = *n.borrow();
        let one = format!("{key}_one");
        match n == 1 && self.by_key.contains_key(&one) {
            true => self.f1(&one, "n", n),
            false => self.f1(key, "n", n),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::path::Path;

    fn sources(folder: &Path, into: &mut String) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => sources(&path, into),
                false => into.push_str(&std::fs::read_to_string(&path).unwrap()),
            }
        }
    }

    /// Every text in quotes that begins like a key.
    fn named(text: &str) -> BTreeSet<String> {
        let files: Vec<&str> = FILES.iter().map(|file| file.0).collect();
        text.split('"')
            .filter(|word| {
                word.split_once('.').is_some_and(|(file, key)| {
                    files.contains(&file)
                        && !key.is_empty()
                        && key.bytes().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'_')
                        // names of files and hosts
                        && !["html", "jsonl", "example"].contains(&key)
                })
            })
            .map(Into::into)
            .collect()
    }

    fn holes(text: &str) -> BTreeSet<&str> {
        text.split('{').skip(1).filter_map(|part| part.split_once('}')).map(|(name, _)| name).collect()
    }

    #[test]
    fn every_word_is_there_in_every_language() {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut text = String::new();
        sources(&here.join("src"), &mut text);
        sources(&here.join("templates"), &mut text);
        let named = named(&text);
        assert!(named.len() > 50);
        for words in all() {
            let missing: Vec<&String> = named.iter().filter(|key| !words.by_key.contains_key(*key)).collect();
            assert!(missing.is_empty(), "{}: missing {missing:?}", words.code);
            let unused: Vec<&String> = words
                .by_key
                .keys()
                .filter(|key| !named.contains(*key) && !named.contains(key.trim_end_matches("_one")))
                .collect();
            assert!(unused.is_empty(), "{}: nobody says {unused:?}", words.code);
        }
        for (key, word) in &all()[0].by_key {
            let other = all()[1].by_key.get(key).unwrap_or_else(|| panic!("es: missing {key}"));
            assert_eq!(holes(word), holes(other), "{key}");
            assert!(!word.trim().is_empty() && !other.trim().is_empty(), "{key}");
        }
        assert_eq!(all()[0].by_key.len(), all()[1].by_key.len());
    }

    #[test]
    fn what_is_filled_in_is_not_looked_at_again() {
        let words = Words { code: "en", by_key: [("k".into(), "{a} and {b}".into())].into() };
        assert_eq!(words.f2("k", "a", "{b}", "b", "{a}"), "{b} and {a}");
    }
}
