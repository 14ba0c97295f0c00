//! The facts as a page: six parts, each of which opens with the sentence that carries it.
//!
//! The page is for somebody who knows no statistics and has two minutes: no p-values, no losses, no policies by name. Intervals stand
//! as `between … and …`. What is the model's own belief says so.

use super::groups::{Group, Grouped};
use super::learnt::{ByState, Moves};
use super::list::Typical;
use super::words::{listed, percent, sentence};
use super::{Report, worth};
use crate::effects::not_stated_of_people;
use crate::status::people_counted;
use restive_pipeline::PlanCertificate;
use restive_pipeline::words::{counted, grouped};
use restive_report::number::fixed;
use restive_report::table::{Cell, Column, Row, Table};
use restive_report::{Block, Fact, Page, Section};

/// Chances that differ by less are hardly better.
const HARDLY: f64 = 0.01;

impl Report {
    /// Comparison of the list with the bound of all lists, if effects are stated.
    pub(super) fn certificate(&self) -> Option<&PlanCertificate> {
        self.effects.identified()?.certificate.as_ref()
    }

    /// Sentence with the reason why effects are not stated; `None` if they are.
    pub(super) fn not_stated(&self) -> Option<String> {
        let said = not_stated_of_people(self.effects.identification())?;
        Some(sentence(&format!("Effects of calls: {said}")))
    }

    /// The page.
    pub fn page(&self) -> Page {
        let section = |heading: &str, blocks: Vec<Block>| Section { heading: heading.into(), blocks };
        Page {
            title: format!("Whom to call, and what it brings: {}", self.name),
            verdict: worth::verdict(self),
            sections: vec![
                section("In short", worth::in_short(self)),
                section("What was learnt", self.what_was_learnt()),
                section("Whom the list calls, and why", self.whom_it_calls()),
                section("What it brings, and how sure that is", worth::brings(self)),
                section("Whom the list serves", self.whom_it_serves()),
                section("What nobody knows yet", self.what_is_unknown()),
            ],
            footer: self.footer(),
        }
    }

    fn footer(&self) -> String {
        let [model, fingerprint] = &self.model;
        let until = self.until.as_ref().map_or(String::new(), |day| format!(", records until {day}"));
        format!(
            "restive {}, seed {}; model {model} ({fingerprint}); study {}{until}. No names and no ids; groups of fewer than ten people, \
             and what would give them away, are withheld.",
            self.restive, self.seed, self.study_fingerprint
        )
    }

    fn what_was_learnt(&self) -> Vec<Block> {
        let learnt = &self.learnt;
        let from = format!(
            "{}, {} and {} were learnt from",
            people_counted(learnt.people),
            counted(learnt.periods as u64, &self.period),
            counted(learnt.calls, "call")
        );
        let well = match learnt.chance {
            None => "how well the model foretells people whom it has not seen is not on record".into(),
            Some([model, frequencies, guess]) => {
                let [m, f, g] = [model, frequencies, guess].map(|x| format!("{} %", fixed(100.0 * x, 1)));
                match model > frequencies {
                    true if model - frequencies < HARDLY => format!(
                        "of people whom it had not seen, the model gave a chance of {m} to what they did next, hardly more than the {f} of \
                         bare frequencies; guessing gives {g}"
                    ),
                    true => format!(
                        "of people whom it had not seen, the model gave a chance of {m} to what they did next, where bare frequencies gave {f} \
                         and guessing {g}"
                    ),
                    false => format!(
                        "the model does not foretell people better than the bare frequencies of what people do: it gave a chance of {m} \
                         to what they did next, frequencies {f}, guessing {g}"
                    ),
                }
            }
        };
        let record = learnt.record.as_ref().map(|record| match record.helps {
            true => "A person's own record counts beside what people like them do: with it, what they did later was foretold better.".into(),
            false => format!("A person's own record is left out: {}.", record.why),
        });
        let mut text = format!("{}: {well}.", sentence(&from).trim_end_matches('.'));
        text.extend(record.into_iter().map(|record| format!(" {record}")));
        let mut blocks = vec![Block::Text(text)];
        if !learnt.by_state.is_empty() {
            let said: Vec<String> = learnt.by_state.iter().map(|found| self.in_state(found)).collect();
            blocks.push(Block::Text(sentence(&format!("by the model, {}", said.join("; ")))));
        }
        if !learnt.moves.is_empty() {
            blocks.push(Block::Table(moves(&learnt.moves)));
        }
        blocks
    }

    fn in_state(&self, found: &ByState) -> String {
        format!(
            "of {} people in “{}” {} are in “{}” the next {} if left alone, and {} if called",
            grouped(found.people as u64),
            found.state,
            percent(found.left_alone),
            self.good,
            self.period,
            percent(found.called)
        )
    }

    fn whom_it_calls(&self) -> Vec<Block> {
        let list = &self.list;
        let of = list.of.as_ref().map_or(String::new(), |days| format!(" of {days}"));
        let kind = if list.is_recorded { "on record" } else { "as it would be made now" };
        let out = match list.left_out {
            0 => String::new(),
            out => format!("; {} cannot be called or are kept out by a rule", grouped(out as u64)),
        };
        let alone = match list.alone {
            0 => String::new(),
            alone => format!("; {} are left alone by a trial", grouped(alone as u64)),
        };
        let out = format!("{out}{alone}");
        let mut how = Vec::new();
        how.extend((list.drawn > 0).then(|| format!("{} of them drawn by lot", grouped(list.drawn as u64))));
        how.extend(
            (list.must > 0).then(|| format!("{} put on it by a rule or by hand", grouped(list.must as u64))),
        );
        let how = if how.is_empty() { String::new() } else { format!(", {}", listed(&how)) };
        let mut blocks = vec![Block::Text(format!(
            "The list{of}, {kind}, has {}{how}, among {} who could be called{out}.",
            people_counted(list.listed),
            grouped(list.could as u64)
        ))];
        if !(list.more.is_empty() && list.fewer.is_empty()) {
            blocks.push(Block::Table(shares(&list.more, &list.fewer)));
        } else if list.listed > 0 {
            blocks.push(Block::Text(
                "In what is known of them, those on the list are much like everybody else, or their groups are too small to be shown.".into(),
            ));
        }
        if !list.typical.is_empty() {
            blocks.push(Block::Table(self.typical()));
        }
        let no = self.unknown.no_reasons.iter().filter(|_| self.effects.identified().is_some());
        blocks.extend(no.map(|why| Block::Note(sentence(&format!("reasons cannot be told: {why}")))));
        blocks
    }

    fn typical(&self) -> Table {
        let listed = self.list.listed;
        let row = |found: &Typical| {
            let why = match &found.because {
                Some((column, value)) => format!("{}; {column}: {value}", found.state),
                None => found.state.clone(),
            };
            Row::new(vec![
                Cell::text(why),
                Cell::text(format!("{} of {}", grouped(found.people as u64), grouped(listed as u64))),
                Cell::text(format!("from {} to {}", percent(found.left_alone), percent(found.called))),
            ])
        };
        Table {
            caption: "Typical reasons".into(),
            columns: vec![
                Column::text("reason"),
                Column::text("on the list"),
                Column::text(format!("a call raises the chance of “{}”, by the model", self.good)),
            ],
            rows: self.list.typical.iter().map(row).collect(),
        }
    }

    fn whom_it_serves(&self) -> Vec<Block> {
        if self.fairness.iter().all(|by| by.groups.iter().all(|group| group.on_list.is_none())) {
            return vec![Block::Text(
                "Nothing can be shown: there are no columns with groups of ten or more people on the list and off it.".into(),
            )];
        }
        let (fewer, more) = (self.unequal(-1), self.unequal(1));
        let said = match (fewer.is_empty(), more.is_empty()) {
            (true, true) => {
                "No group that can be shown has fewer or more places than lots might have dealt it".into()
            }
            (true, false) => {
                format!(
                    "More places than lots would deal go to {}; no group that can be shown has surely fewer",
                    listed(&more)
                )
            }
            (false, true) => format!("Fewer places than lots would deal go to {}", listed(&fewer)),
            (false, false) => format!(
                "Fewer places than lots would deal go to {}; more go to {}",
                listed(&fewer),
                listed(&more)
            ),
        };
        let hidden = |grouped: &Grouped| {
            grouped.withheld + grouped.groups.iter().filter(|group| group.on_list.is_none()).count()
        };
        let withheld = match self.fairness.iter().map(hidden).sum::<usize>() {
            0 => String::new(),
            some => format!(
                " {} not shown: fewer than ten of them are on the list or off it, or they would give such a group away.",
                if some == 1 { "One group is".into() } else { format!("{some} groups are") }
            ),
        };
        let text = format!(
            "{said}. A list that goes where calls do most is unequal; whether that is fair is for people to say.{withheld}"
        );
        vec![Block::Text(text), Block::Table(served(&self.fairness))]
    }

    fn what_is_unknown(&self) -> Vec<Block> {
        let unknown = &self.unknown;
        let mut said = vec![format!(
            "Nobody knows what one person will do: chances are of people alike, and a call can fail. What changes outside the records – \
             seasons, networks, a new message – is not seen until it is in them"
        )];
        let granted = unknown.granted.iter();
        said.extend(granted.map(|granted| format!("taken for granted, and not shown: {granted}")));
        said.extend(unknown.cautions.iter().cloned());
        let said: Vec<String> = said.iter().map(|said| sentence(said)).collect();
        let mut blocks = vec![Block::Text(said.join(" "))];
        let lots = match unknown.by_lot {
            share if share >= 0.05 => format!(
                "Keep drawing places by lot ({} of this list): they are what shows, week by week, what calls do.",
                percent(share)
            ),
            _ => "What would tell: draw a tenth of the places by lot (explore = 0.1 in rules.toml). It costs little, and shows what calls do."
                .into(),
        };
        blocks.push(Block::Note(format!(
            "{lots} A trial, in which lots decide who is called at all, tells most: restive trial design says how many people it needs."
        )));
        blocks
    }
}

fn points(x: f64) -> String {
    let sign = if x > 0.0 { "+" } else { "" };
    format!("{sign}{}", fixed(x, 0))
}

fn moves(all: &[Moves]) -> Table {
    let row = |moves: &Moves| {
        let side = |(name, x): &(String, f64)| Cell::text(format!("{name} ({})", points(*x)));
        Row::new(vec![Cell::text(&moves.column), side(&moves.most), side(&moves.least)])
    };
    Table {
        caption:
            "What most moves the worth of a call, by the model: percentage points against a typical person"
                .into(),
        columns: vec![Column::text(""), Column::text("a call does most for"), Column::text("least for")],
        rows: all.iter().map(row).collect(),
    }
}

fn shares(more: &[(String, Group)], fewer: &[(String, Group)]) -> Table {
    let row = |(column, group): &(String, Group)| {
        let of_list = group.on_list.map_or(f64::NAN, |on| on.share_of_list);
        let cells = vec![
            Cell::text(format!("{column}: {}", group.name)),
            Cell::Number(100.0 * of_list),
            Cell::Number(100.0 * group.share_of_all),
        ];
        if of_list > group.share_of_all { Row::highlighted(cells) } else { Row::new(cells) }
    };
    Table {
        caption:
            "Who is on the list more often than among all who could be called (marked), and who less often"
                .into(),
        columns: vec![
            Column::text("group"),
            Column::number("% of the list", 0),
            Column::number("% of all", 0),
        ],
        rows: more.iter().chain(fewer).map(row).collect(),
    }
}

fn served(all: &[Grouped]) -> Table {
    let row = |grouped: &Grouped, group: &Group| {
        let mut cells =
            vec![Cell::text(format!("{}: {}", grouped.column, group.name)), Cell::Number(group.could as f64)];
        match group.on_list {
            None => cells.extend(["not shown", "", ""].map(Cell::text)),
            Some(on) => cells.extend([
                Cell::text(fixed(on.people as f64, 0)),
                Cell::text(percent(on.rate[0])),
                Cell::text(on.by_lot.map_or("–".into(), |[_, low, high]| {
                    format!("{} to {}", fixed(low, 0), fixed(high, 0))
                })),
            ]),
        }
        let is_fewer = group.on_list.is_some_and(|on| on.sign < 0);
        if is_fewer { Row::highlighted(cells) } else { Row::new(cells) }
    };
    let rows = all.iter().flat_map(|grouped| grouped.groups.iter().map(move |group| row(grouped, group)));
    Table {
        caption: "Places on the list, by group; marked: fewer than lots would deal".into(),
        columns: vec![
            Column::text("group"),
            Column::number("could be called", 0),
            Column::text("on the list"),
            Column::text("share"),
            Column::text("lots would deal"),
        ],
        rows: rows.collect(),
    }
}

/// A number in large letters.
pub(super) fn fact(value: impl Into<String>, name: impl Into<String>) -> Fact {
    Fact { value: value.into(), name: name.into() }
}
