//! Places of connections, and the connection that is closed when a new one finds none.
//!
//! | bound | connections |
//! |---|---|
//! | [`MOST`] | all |
//! | [`STRANGERS`] | whose latest request had no session; the other places are reserved for sessions |
//! | [`PER_NETWORK`] | of these from one network other than loopback |
//!
//! All browsers of this machine have the loopback address, and so has a proxy on it: loopback has no bound of its own.
//!
//! A new connection beyond a bound is not refused: the oldest stranger for whose bytes the server waits is closed, of the network that has
//! most strangers. A client that is silent, slow or never reads therefore loses its place as soon as another client needs it.

use super::network::network;
use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{Notify, oneshot};

/// Open connections.
const MOST: usize = 256;
/// Open connections without a session.
const STRANGERS: usize = 128;
/// Open connections without a session from one network.
const PER_NETWORK: usize = 32;

/// All places.
#[derive(Default)]
pub(crate) struct Places {
    table: Mutex<Table>,
    freed: Notify,
}

#[derive(Default)]
struct Table {
    /// Connections by number, the oldest first.
    taken: BTreeMap<u64, Taken>,
    next: u64,
}

struct Taken {
    network: IpAddr,
    has_session: bool,
    is_working: bool,
    /// dropped when the place is lost
    _keep: oneshot::Sender<()>,
}

/// Place of a connection until it is dropped.
pub(crate) struct Place {
    number: u64,
    places: Arc<Places>,
}

/// Resolves when a connection has lost its place.
pub(crate) type Lost = oneshot::Receiver<()>;

/// Result of a request for a place.
enum Entry {
    Taken(u64, Lost),
    /// Another connection has to end first.
    Full,
    /// The network has all its places in use.
    Refused,
}

impl Places {
    /// Returns a place for a connection; waits while every place is in use. `None`: the connection has to be closed.
    pub(crate) async fn enter(self: &Arc<Self>, from: IpAddr) -> Option<(Place, Lost)> {
        loop {
            let entry = self.table().enter(network(from));
            match entry {
                Entry::Taken(number, lost) => return Some((Place { number, places: self.clone() }, lost)),
                Entry::Full => self.freed.notified().await,
                Entry::Refused => return None,
            }
        }
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    fn enter(&mut self, network: IpAddr) -> Entry {
        let mut strangers: HashMap<IpAddr, usize> = HashMap::new();
        for taken in self.taken.values().filter(|taken| !taken.has_session) {
            *strangers.entry(taken.network).or_default() += 1;
        }
        if !network.is_loopback() && strangers.get(&network).is_some_and(|n| *n >= PER_NETWORK) {
            if !self.close_oldest(|taken| taken.network == network) {
                return Entry::Refused;
            }
        } else if self.taken.len() >= MOST || strangers.values().sum::<usize>() >= STRANGERS {
            let largest = strangers.into_iter().max_by_key(|(_, n)| *n).map(|(network, _)| network);
            if !self.close_oldest(|taken| Some(taken.network) == largest) && !self.close_oldest(|_| true) {
                return Entry::Full;
            }
        }
        let (keep, lost) = oneshot::channel();
        let taken = Taken { network, has_session: false, is_working: false, _keep: keep };
        self.next += 1;
        self.taken.insert(self.next, taken);
        Entry::Taken(self.next, lost)
    }

    /// Closes the oldest connection without a session that waits for its client; returns whether there was one.
    fn close_oldest(&mut self, is_it: impl Fn(&Taken) -> bool) -> bool {
        let mut all = self.taken.iter();
        let waits = |taken: &Taken| !taken.has_session && !taken.is_working && is_it(taken);
        let oldest = all.find(|(_, taken)| waits(taken)).map(|(number, _)| *number);
        oldest.and_then(|number| self.taken.remove(&number)).is_some()
    }
}

impl Place {
    /// Sets whether the latest request had a session.
    pub(crate) fn set_session(&self, has_session: bool) {
        self.change(|taken| taken.has_session = has_session);
    }

    /// Sets whether the server computes a response, as opposed to waiting for the client.
    pub(crate) fn set_working(&self, is_working: bool) {
        self.change(|taken| taken.is_working = is_working);
    }

    /// Whether the latest request had a session.
    pub(crate) fn has_session(&self) -> bool {
        self.places.table().taken.get(&self.number).is_some_and(|taken| taken.has_session)
    }

    fn change(&self, change: impl FnOnce(&mut Taken)) {
        if let Some(taken) = self.places.table().taken.get_mut(&self.number) {
            change(taken);
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.places.table().taken.remove(&self.number);
        self.places.freed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOME: &str = "127.0.0.1";

    /// Returns a new place if there is one at once.
    async fn enter(places: &Arc<Places>, from: &str) -> Option<(Place, Lost)> {
        tokio::select! {
            biased;
            place = places.enter(from.parse().unwrap()) => place,
            () = std::future::ready(()) => None,
        }
    }

    fn is_lost(lost: &mut Lost) -> bool {
        matches!(lost.try_recv(), Err(oneshot::error::TryRecvError::Closed))
    }

    #[tokio::test]
    async fn oldest_stranger_that_waits_is_closed_for_a_new_connection() {
        let places = Arc::new(Places::default());
        let mut all = Vec::new();
        for _ in 0..STRANGERS {
            all.push(enter(&places, HOME).await.unwrap());
        }
        assert!(!all.iter_mut().any(|(_, lost)| is_lost(lost)));
        // the first has a session, the server works for the second
        all[0].0.set_session(true);
        all[1].0.set_working(true);
        let more = [enter(&places, HOME).await.unwrap(), enter(&places, HOME).await.unwrap()];
        let lost: Vec<bool> = all.iter_mut().map(|(_, lost)| is_lost(lost)).collect();
        assert_eq!(lost.iter().filter(|is_lost| **is_lost).count(), 1);
        assert!(lost[2]);
        drop(more);
    }

    #[tokio::test]
    async fn places_of_sessions_are_not_given_to_strangers() {
        let places = Arc::new(Places::default());
        let mut all = Vec::new();
        for _ in 0..MOST {
            let (place, lost) = enter(&places, HOME).await.unwrap();
            place.set_session(true);
            all.push((place, lost));
        }
        assert!(enter(&places, HOME).await.is_none());
        assert!(!all.iter_mut().any(|(_, lost)| is_lost(lost)));
        all.pop();
        assert!(enter(&places, HOME).await.is_some());
    }

    #[tokio::test]
    async fn one_network_closes_its_own_connections() {
        let places = Arc::new(Places::default());
        let (_other, mut other_lost) = enter(&places, "10.0.0.2").await.unwrap();
        let mut all = Vec::new();
        for _ in 0..=PER_NETWORK {
            all.push(enter(&places, "10.0.0.1").await.unwrap());
        }
        assert!(!is_lost(&mut other_lost) && is_lost(&mut all[0].1) && !is_lost(&mut all[1].1));
        // all of them work: the network has to wait, others have not
        all.iter().for_each(|(place, _)| place.set_working(true));
        assert!(places.enter("10.0.0.1".parse().unwrap()).await.is_none());
        assert!(enter(&places, "10.0.0.3").await.is_some());
    }

    #[tokio::test]
    async fn network_with_most_strangers_loses_a_place_first() {
        let places = Arc::new(Places::default());
        let (_first, mut first_lost) = enter(&places, "10.0.0.1").await.unwrap();
        let mut all = Vec::new();
        for _ in 1..STRANGERS {
            all.push(enter(&places, HOME).await.unwrap());
        }
        let _new = enter(&places, "10.0.0.2").await.unwrap();
        assert!(!is_lost(&mut first_lost) && is_lost(&mut all[0].1));
    }
}
