//! Who can still get a place, when people stream by: the best of every class.
//!
//! # What it is
//! People of one *class* are in the same groups of all families, cost the same, and all of them must be called or none: no rule can tell
//! them apart. A class can have m places at most: K, or the smallest cap of its groups where that is less.
//!
//! **Lemma.** Whoever is worth less than the (m + 1)-th best *value* of their class is on no optimal list, whatever floors, caps, costs and
//! must-calls there are, and whether places are filled first or not.
//!
//! *Proof.* Let d be such a person, on a list that keeps the rules. At most m of the class are on it, so that of the m + 1 people of the class who are
//! worth more than d one is not. Put that one in the place of d: every group has as many places as before, the list costs as much, as
//! many places are filled, and nobody who must be called was sent away, because in a class of must-calls whoever is left out breaks the rules. The
//! list is worth more, so the first was not optimal. ∎
//!
//! So everybody below that value can be dropped, and optimal lists stay what they were, all of them; they are lists still, because a list of
//! the people who are left is one of all people. Those who tie with the (m + 1)-th value are kept, however many they are: ties share
//! chances, and with fewer of them everybody's would change. One more than m is kept so that whoever asks who comes next, or whether a tie decides, is
//! answered as before, and so that rules that cannot be met stay so.
//!
//! Nothing of this holds for a [draw](super::Draw) of `explore` > 0, in which everybody has a chance.
//!
//! # What else sees the people who were dropped
//! - Caps that others make idle: a group of 50 places, made of 20 households of one place each, has no rule left where at most two of each household are
//!   kept. Optimal lists do not change, but crossing rules may become nested ones, whose chances are exact in place of simulated, and ties
//!   then meet in another order. With m = K or the *largest* cap of a class's groups, where that is less, this cannot happen: of a group that has more
//!   people than its cap, more stay than its cap.
//! - Flows round values to 2⁻⁵² of the largest absolute value: somebody dropped who would lose far more than anybody gains makes that
//!   coarser. Values that differ by less may then tie.
//! - Integer programmes return any list within their gap, and call chances simulated where any two people tie, be they dropped or not.
//! - The most repetitions of a simulation are fewer for more people, and a [`Conflict`](super::Conflict) counts must-calls: offer those who must be
//!   called with `most` = `usize::MAX`.
//!
//! # How it is computed
//! Of a class that has once been full the (m + 1)-th best value so far is known, and whoever is below it is turned away at one comparison.
//! The others are appended, and when they have become twice as many, the class is cut back (quickselect): O(1) a person, amortised. What is left
//! in the end is a matter of who was offered, and not of their order or of how they were split and merged.
//!
//! ```
//! use restive::allocation::Contest;
//!
//! let mut contest = Contest::new();
//! for (id, value) in [("asha", 0.9), ("bela", 0.2), ("chitra", 0.5), ("devi", 0.5), ("esha", 0.1)] {
//!     contest.offer("north", 1, value, id);
//! }
//! let mut people: Vec<&str> = contest.into_people().map(|(_, _, id)| id).collect();
//! people.sort();
//! assert_eq!(people, ["asha", "chitra", "devi"]); // the best, and the two who tie for the next place
//! ```

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::Hash;

/// The best of every class, with all who tie with the last of them.
#[derive(Debug, Clone)]
pub struct Contest<C, T> {
    classes: HashMap<C, Class<T>>,
}

/// The people of one class who may be among the best.
#[derive(Debug, Clone)]
struct Class<T> {
    /// m + 1
    kept: usize,
    /// at least `kept` people are worth as much
    least: f64,
    people: Vec<(f64, T)>,
    /// how many people there are when it is cut back
    limit: usize,
}

impl<T> Class<T> {
    fn new(most: usize) -> Self {
        let kept = most.saturating_add(1);
        Self { kept, least: f64::NEG_INFINITY, people: Vec::new(), limit: kept.saturating_mul(2) }
    }

    /// Leaves those who are worth no less than the last of the best.
    fn cut(&mut self) {
        if self.people.len() > self.kept {
            let (_, last, _) = self.people.select_nth_unstable_by(self.kept - 1, |a, b| b.0.total_cmp(&a.0));
            // a NaN is above all others and stays, for whoever makes the list to refuse it
            let last = last.0;
            self.least = self.least.max(last);
            self.people.retain(|(value, _)| !(*value < last));
        }
        self.limit = self.people.len().max(self.kept).saturating_mul(2);
    }

    fn cut_if_long(&mut self) {
        if self.people.len() >= self.limit {
            self.cut();
        }
    }
}

impl<C, T> Default for Contest<C, T> {
    fn default() -> Self {
        Self { classes: HashMap::new() }
    }
}

impl<C: Clone + Eq + Hash, T> Contest<C, T> {
    /// Nobody yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Offers a person. `most` is how many places the class can have, the same for all of a class; one more is kept, for whoever asks who
    /// comes next.
    #[inline]
    pub fn offer(&mut self, class: C, most: usize, value: f64, item: T) {
        let class = self.classes.entry(class).or_insert_with(|| Class::new(most));
        if value < class.least {
            return;
        }
        class.people.push((value, item));
        class.cut_if_long();
    }

    /// Takes over everybody whom another contest holds.
    pub fn merge(&mut self, other: Self) {
        for (class, theirs) in other.classes {
            match self.classes.entry(class) {
                Entry::Vacant(place) => {
                    place.insert(theirs);
                }
                Entry::Occupied(mut ours) => {
                    let ours = ours.get_mut();
                    let least = ours.least.max(theirs.least);
                    ours.people.extend(theirs.people.into_iter().filter(|(value, _)| !(*value < least)));
                    ours.least = least;
                    ours.cut_if_long();
                }
            }
        }
    }

    /// How many people are held now: those of [`into_people`](Self::into_people), and perhaps others who are yet to be cut; fewer than twice
    /// as many as the best and those who tied with them when a class was last cut.
    pub fn len(&self) -> usize {
        self.classes.values().map(|class| class.people.len()).sum()
    }

    /// Whether nobody was offered.
    pub fn is_empty(&self) -> bool {
        self.classes.is_empty()
    }

    /// The best of every class and whoever ties with the last of them, in no order that matters: class, value, and what was kept of the person.
    pub fn into_people(self) -> impl Iterator<Item = (C, f64, T)> {
        self.classes.into_iter().flat_map(|(class, mut best)| {
            best.cut();
            best.people.into_iter().map(move |(value, item)| (class.clone(), value, item))
        })
    }
}
