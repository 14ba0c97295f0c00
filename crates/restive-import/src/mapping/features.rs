//! What a mapping says of features: `language = "text"`, `age = { born = "date_of_birth", format = "%d/%m/%Y" }`.

use super::log::{Context, TimeRule};
use super::text::{At, Section};
use super::{decimal, formats};
use crate::error::Result;
use crate::matching::folded;

/// A feature and the column of the registry that it comes from.
#[derive(Debug, Clone)]
pub(crate) struct Feature {
    pub(crate) name: String,
    pub(crate) column: At<String>,
    pub(crate) kind: FeatureKind,
    /// words that mean something of their own though others take them for missing
    pub(crate) apart: Vec<String>,
}

/// What a column is made into.
#[derive(Debug, Clone)]
pub(crate) enum FeatureKind {
    /// a category
    Text {
        /// whether capitals are made small
        is_lower: bool,
        synonyms: Vec<Synonym>,
    },
    /// a number
    Number { decimal: u8 },
    /// a number made into categories, by where they begin
    Binned { decimal: u8, bins: Vec<f64> },
    /// whether the question was answered, left blank or not asked
    Asked,
    /// a date made into an age in years, when the person joined or the periods begin
    Born { time: Box<TimeRule> },
}

/// Another form of a category.
#[derive(Debug, Clone)]
pub(crate) struct Synonym {
    /// folded
    pub(crate) plain: String,
    pub(crate) spelling: String,
    /// the category
    pub(crate) word: String,
}

/// The features of `[people.features]`, in the order of their names.
pub(crate) fn parse(people: &Section<'_>, context: &Context<'_>) -> Result<Vec<Feature>> {
    let Some(section) = people.section("features")? else { return Ok(Vec::new()) };
    let mut features = Vec::new();
    for key in section.table.keys() {
        let read = feature(&section, key.get_ref(), key.span().start, context)?;
        // a number has no room for what was not asked: that is a feature of its own
        if !read.apart.is_empty()
            && matches!(read.kind, FeatureKind::Number { .. } | FeatureKind::Born { .. })
        {
            let name = format!("{} asked", read.name);
            features.push(Feature { name, kind: FeatureKind::Asked, ..read.clone() });
        }
        features.push(read);
    }
    Ok(features)
}

fn feature(section: &Section<'_>, name: &str, at: usize, context: &Context<'_>) -> Result<Feature> {
    const RESERVED: [&str; 3] = ["instance", "arm", "split"];
    if RESERVED.contains(&name) || name.trim().is_empty() {
        let found = format!(
            "found a feature called {name:?}, expected another name: the study has a column of its own by it"
        );
        return Err(section.text.fault(at, found));
    }
    let own = At { value: name.to_string(), at };
    let plain = FeatureKind::Text { is_lower: false, synonyms: Vec::new() };
    let number = FeatureKind::Number { decimal: context.decimal };
    let inner = match section.text_or_section(name)? {
        None => unreachable!("a key of the section"),
        Some(Ok(word)) => {
            let kind = match &*word.value {
                "text" => plain,
                "number" => number,
                other => {
                    let found = format!(
                        "{name}: found {other:?}, expected \"text\", \"number\" or a table such as {{ text = \"COLUMN\" }}"
                    );
                    return Err(section.text.fault(word.at, found));
                }
            };
            return Ok(Feature { name: name.into(), column: own, kind, apart: Vec::new() });
        }
        Some(Err(inner)) => inner,
    };
    let kinds = ["text", "number", "born"];
    let found: Vec<&str> = kinds.into_iter().filter(|kind| inner.get(kind).is_some()).collect();
    let [kind] = found[..] else {
        let found = format!(
            "{name}: found {} of text, number and born, expected one of them: what the column is made into",
            found.len()
        );
        return Err(inner.text.fault(inner.at, found));
    };
    let column = inner.need_text(kind, "a column")?;
    let apart: Vec<String> =
        inner.texts("apart")?.unwrap_or_default().into_iter().map(|word| word.value).collect();
    let kind = match kind {
        "text" => {
            inner.only(&["text", "case", "synonyms", "apart"])?;
            let expected = "\"lower\" or \"as it is\"";
            let is_lower = inner.read("case", expected, |value| match value.as_str()? {
                "lower" => Some(true),
                "as it is" => Some(false),
                _ => None,
            })?;
            let mut synonyms: Vec<Synonym> = Vec::new();
            if let Some(table) = inner.section("synonyms")? {
                for key in table.table.keys() {
                    let word = key.get_ref();
                    let own = At { value: word.to_string(), at: key.span().start };
                    for spelling in std::iter::once(own).chain(table.texts(word)?.unwrap_or_default()) {
                        let At { value: spelling, at } = spelling;
                        let plain = folded(&spelling);
                        if let Some(other) =
                            synonyms.iter().find(|known| known.plain == plain && known.word != **word)
                        {
                            let found = format!(
                                "found {spelling:?} as a spelling of {word:?} and of {:?}, expected one of them",
                                other.word
                            );
                            return Err(inner.text.fault(at, found));
                        }
                        if apart.iter().all(|word| folded(word) != plain) {
                            context.refuse_missing(&table, "synonyms", &spelling, at)?;
                        }
                        synonyms.push(Synonym { plain, spelling, word: word.to_string() });
                    }
                }
            }
            FeatureKind::Text { is_lower: is_lower.is_some_and(|lower| lower.value), synonyms }
        }
        "number" => {
            inner.only(&["number", "decimal", "bins", "apart"])?;
            let decimal = decimal(&inner)?.unwrap_or(context.decimal);
            match inner.numbers("bins")? {
                None => FeatureKind::Number { decimal },
                Some(bins) => {
                    if let Some(pair) = bins.windows(2).find(|pair| !(pair[0].value < pair[1].value)) {
                        return Err(inner.text.fault(
                            pair[1].at,
                            "bins: found numbers that do not rise, expected rising ones",
                        ));
                    }
                    FeatureKind::Binned { decimal, bins: bins.into_iter().map(|bin| bin.value).collect() }
                }
            }
        }
        _ => {
            inner.only(&["born", "format", "apart"])?;
            let time = TimeRule::of(&inner, "born", column.clone(), formats(&inner)?, None, context)?;
            FeatureKind::Born { time: Box::new(time) }
        }
    };
    Ok(Feature { name: name.into(), column, kind, apart })
}

/// The category of a number among bins.
pub(crate) fn bin(bins: &[f64], number: f64) -> String {
    match bins.iter().rposition(|start| number >= *start) {
        None => bins.first().map_or_else(|| "any".into(), |first| format!("below {first}")),
        Some(last) if last + 1 == bins.len() => format!("{} and more", bins[last]),
        Some(k) => format!("{} to below {}", bins[k], bins[k + 1]),
    }
}
