//! Sentences of an answer, the same in the text and on the page.

use super::said::{Fairness, Floor, FloorStep, Named, Table};
use restive_tables::show;

impl Fairness {
    /// What came out, in one sentence.
    pub fn verdict(&self) -> String {
        let name = |named: &Named| format!("{} {}", show::name(&named.column), show::name(&named.group));
        let silent = self.tables.iter().flat_map(|table| &table.groups);
        let silent = silent.filter(|group| group.lists.is_none() && group.verdict.is_none()).count();
        let told = match self.passed_over.is_empty() {
            true if silent > 0 => "No group of which it can be told is passed over beyond chance.".into(),
            true => "No group is passed over beyond chance.".into(),
            false => {
                let names: Vec<String> = self.passed_over.iter().map(name).collect();
                format!("Passed over beyond chance: {}.", names.join("; "))
            }
        };
        match silent {
            0 => told,
            1 => format!("{told} Of 1 group nothing can be told: its places are withheld."),
            silent => format!("{told} Of {silent} groups nothing can be told: their places are withheld."),
        }
    }

    /// How to read a table, in a few sentences.
    pub fn read_it(&self) -> Vec<String> {
        let mut all = vec![
            "Callable: who could be called; listed: the part of those who were.".to_string(),
            "By chance: the places that a lottery among those who could be called gives the group, nineteen times of twenty.".to_string(),
            "A list by worth should not be a lottery: more or fewer than chance is a question, and no accusation.".into(),
            "Left alone: what one of them is expected to bring next period without a call; the lower, the greater the need.".into(),
            format!("Worth: what calls to one who was listed are predicted to bring, over these lists, in {}.", show::plain(&self.unit)),
        ];
        if let (Some(first), true) = (self.before.first(), self.tables.iter().any(Table::has_change)) {
            let last = self.before.last().filter(|last| *last != first);
            let until = last.map_or(String::new(), |last| format!(" to {last}"));
            all.push(format!("Change: in percentage points of the rate, since {first}{until}."));
        }
        all
    }

    /// Whether anything is withheld.
    pub fn is_withheld(&self) -> bool {
        self.tables.iter().any(|table| table.is_withheld)
    }

    /// What a dash means.
    pub fn withheld(&self) -> String {
        format!(
            "– withheld: a count of fewer than {} people that is not 0, or one from which such a count could be worked out here; answers over \
             other lists could be subtracted, so pass on one of them.",
            self.least
        )
    }
}

impl Floor {
    /// What it would cost to give the group as many places as chance would; nothing where nothing more can be said than that.
    pub fn sentence(&self) -> Option<String> {
        let group = format!("{} {}", show::name(&self.column), show::name(&self.group));
        if self.steps.is_empty() {
            return Some(format!(
                "{group}: {} of {} places, and the rules leave it no more.",
                self.places, self.of
            ));
        }
        let step = self.fair()?;
        let about = if step.is_proven { "" } else { "about " };
        let unit = if self.is_index { "of the index" } else { &self.unit };
        let percent = step.percent.map_or(String::new(), |percent| format!(" ({percent:.1} %)"));
        Some(format!(
            "{group}: a floor of {} of {} places, {} without one, costs {about}{:.2} {}{percent}; {}.",
            step.floor,
            self.of,
            self.places,
            step.lost,
            unit,
            step.pays()
        ))
    }
}

impl Floor {
    /// What a floor of so many places costs: by the step that gives the group at least as many.
    pub fn price(&self, floor: usize) -> String {
        let group = format!("{} {}", show::name(&self.column), show::name(&self.group));
        let (places, of) = (self.places, self.of);
        if floor <= places {
            return format!(
                "{group}: a floor of {floor} of {of} places costs nothing, it has {places} without one."
            );
        }
        let Some(step) = self.steps.iter().find(|step| step.floor >= floor) else {
            let most = self.most.max(places);
            return format!(
                "{group}: the rules leave it no more than {most} of {of} places; it has {places} without a floor."
            );
        };
        let about = if step.is_proven { "" } else { "about " };
        let percent = step.percent.map_or(String::new(), |percent| format!(" ({percent:.1} %)"));
        let unit = if self.is_index { "of the score that people are ranked by" } else { &self.unit };
        let (floor, lost, pays) = (step.floor, step.lost, step.pays());
        format!(
            "{group}: at least {floor} of {of} places, {places} without a floor, cost {about}{lost:.2} {unit}{percent}; {pays}."
        )
    }
}

impl FloorStep {
    /// Who has fewer places for it.
    pub fn pays(&self) -> String {
        let one = |(name, more): &(Option<String>, i64)| {
            let name = name.as_ref().map_or("others".into(), |name| show::name(name));
            let sign = if *more < 0 { "−" } else { "+" };
            format!("{name} {sign}{}", more.unsigned_abs())
        };
        match self.change.is_empty() {
            true => "nobody has fewer".into(),
            false => self.change.iter().map(one).collect::<Vec<_>>().join(", "),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_floor_is_priced_by_the_step_that_reaches_it() {
        let step = |floor, lost| FloorStep {
            floor,
            lost,
            percent: Some(10.0 * lost),
            change: vec![(Some("north".into()), -1)],
            is_proven: true,
        };
        let floor = Floor {
            column: "district".into(),
            group: "south".into(),
            is_asked: true,
            places: 2,
            of: 10,
            by_chance: Some(4.0),
            most: 6,
            value: 5.0,
            unit: "engaged weeks".into(),
            is_index: false,
            steps: vec![step(4, 0.25), step(6, 0.5)],
        };
        assert!(floor.price(2).contains("costs nothing"));
        let said = "district south: at least 4 of 10 places, 2 without a floor, cost 0.25 engaged weeks (2.5 %); north −1.";
        assert_eq!([floor.price(3), floor.price(4)], [said, said]);
        assert!(floor.price(5).contains("at least 6"));
        let ranked = Floor { is_index: true, unit: "index".into(), ..floor.clone() };
        assert!(ranked.price(4).contains("cost 0.25 of the score that people are ranked by (2.5 %)"));
        assert!(floor.price(7).contains("no more than 6 of 10"));
    }
}
