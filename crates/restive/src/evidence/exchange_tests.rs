//! Tests: exchanges keep the invariants of the random assignment and reach every assignment that it could have made.

use super::*;
use crate::evidence::design::Recorded;
use crate::random::stream;
use ndarray::Array2;

/// A deal with propensities if they are `given`.
fn deal(is_called: Array2<bool>, is_eligible: Array2<bool>, given: Option<Array2<f64>>) -> Deal {
    let is_recorded = vec![given.is_some(); is_called.nrows()];
    Deal { is_called, is_eligible, given, is_recorded, is_complete: true, recorded: Recorded::default() }
}

/// Sizes of 30 clusters, 1 to 4, and the cluster of each person; members are not adjacent.
fn clusters() -> Vec<usize> {
    let mut of = Vec::new();
    for round in 0..4 {
        of.extend((0..30).filter(|cluster| cluster % 4 >= round));
    }
    of
}

#[test]
fn exchanges_keep_clusters_together_and_calls_by_size() {
    let (all, decisions) = (clusters(), 3);
    let (of, n) = (all.as_slice(), all.len());
    let mut random = stream(1, &[1]);
    let is_eligible = Array2::from_shape_simple_fn((decisions, n), || random.random::<f64>() < 0.7);
    let chosen = Array2::from_shape_simple_fn((decisions, 30), || random.random::<f64>() < 0.4);
    // a person who was not eligible may have a call, which stays
    let is_called = Array2::from_shape_fn((decisions, n), |(d, i)| match is_eligible[[d, i]] {
        true => chosen[[d, of[i]]],
        false => i % 5 == 0,
    });
    let logged = deal(is_called, is_eligible, None);
    let exchange = Exchange::new(&logged, of, Design::Uniform).unwrap();
    // (eligible members, calls) of each cluster at a decision
    let counted = |deal: &Deal, d: usize| -> Vec<(usize, usize)> {
        let members = |cluster: usize| (0..n).filter(move |i| of[*i] == cluster);
        let eligible = |cluster: usize| members(cluster).filter(|i| deal.is_eligible[[d, *i]]);
        let both = |c: usize| (eligible(c).count(), eligible(c).filter(|i| deal.is_called[[d, *i]]).count());
        (0..30).map(both).collect()
    };
    let mut was_called = [false; 30];
    let mut is_other = false;
    for _ in 0..40 {
        let mut dealt = logged.clone();
        exchange.apply(&mut dealt, &mut random);
        is_other |= dealt.is_called != logged.is_called;
        assert_eq!(dealt.is_eligible, logged.is_eligible);
        for d in 0..decisions {
            let (mut before, mut after) = (counted(&logged, d), counted(&dealt, d));
            for (cluster, (members, calls)) in after.iter().enumerate() {
                assert!(*calls == 0 || calls == members, "cluster {cluster}: {calls} of {members}");
                was_called[cluster] |= *calls > 0;
            }
            before.sort_unstable();
            after.sort_unstable();
            assert_eq!(before, after);
            let others = (0..n).filter(|i| !logged.is_eligible[[d, *i]]);
            others.for_each(|i| assert_eq!(dealt.is_called[[d, i]], logged.is_called[[d, i]]));
        }
    }
    // some of the smallest may never have been eligible
    assert!(is_other && was_called.iter().filter(|called| **called).count() >= 25);
}

#[test]
fn exchange_is_refused_if_one_member_was_called_alone() {
    let of = [0, 0, 1, 1, 2];
    let eligible = Array2::from_elem((1, 5), true);
    let one = |called: [bool; 5], eligible: &Array2<bool>| {
        let is_called = Array2::from_shape_fn((1, 5), |(_, i)| called[i]);
        Exchange::new(&deal(is_called, eligible.clone(), None), &of, Design::Uniform).is_some()
    };
    assert!(one([true, true, false, false, true], &eligible));
    assert!(!one([true, false, false, false, true], &eligible));
    // the other member could not be called
    let mut only = eligible.clone();
    only[[0, 1]] = false;
    assert!(one([true, false, false, false, true], &only));
}

#[test]
fn every_deal_of_clusters_is_equally_likely() {
    let of = [0, 1, 2, 3, 3, 2, 1, 0];
    let is_called = Array2::from_shape_fn((1, 8), |(_, i)| of[i] < 2);
    let logged = deal(is_called, Array2::from_elem((1, 8), true), None);
    let exchange = Exchange::new(&logged, &of, Design::Uniform).unwrap();
    let (mut random, deals) = (stream(2, &[2]), 6000);
    let mut found: HashMap<Vec<bool>, usize> = HashMap::new();
    for _ in 0..deals {
        let mut dealt = logged.clone();
        exchange.apply(&mut dealt, &mut random);
        *found.entry(dealt.is_called.row(0).to_vec()).or_default() += 1;
    }
    // two clusters of four; each deal 1000 times, ± 29
    assert_eq!(found.len(), 6);
    assert!(found.values().all(|count| count.abs_diff(1000) < 115), "{found:?}");
}

#[test]
fn few_clusters_of_a_propensity_are_drawn_and_certain_calls_stay() {
    // the last cluster was sure to be called; its members and the others have recorded propensities
    let of = [0, 0, 1, 1, 2, 2];
    let is_called = Array2::from_shape_fn((1, 6), |(_, i)| of[i] != 1);
    let given = Array2::from_shape_fn((1, 6), |(_, i)| [0.25, 0.6, 1.0][of[i]]);
    let logged = deal(is_called, Array2::from_elem((1, 6), true), Some(given));
    let exchange = Exchange::new(&logged, &of, Design::Logged).unwrap();
    let (mut random, deals) = (stream(3, &[3]), 4000);
    let mut calls = [0; 6];
    for _ in 0..deals {
        let mut dealt = logged.clone();
        exchange.apply(&mut dealt, &mut random);
        (0..6).for_each(|i| calls[i] += usize::from(dealt.is_called[[0, i]]));
    }
    assert!(calls[0] == calls[1] && calls[2] == calls[3]);
    assert_eq!(calls[4..], [deals, deals]);
    // standard deviations of 27 and 31
    assert!(calls[0].abs_diff(1000) < 110 && calls[2].abs_diff(2400) < 125, "{calls:?}");
}

#[test]
fn schedules_of_clusters_change_hands_as_a_whole() {
    let of = [0, 0, 1, 1, 2, 2, 3];
    let turn = |d: usize, i: usize| of[i] == d;
    let is_called = Array2::from_shape_fn((4, 7), |(d, i)| turn(d, i));
    let logged = deal(is_called.clone(), is_called, None);
    let exchange = Exchange::new(&logged, &of, Design::Rota).unwrap();
    let mut random = stream(4, &[4]);
    let mut is_other = false;
    for _ in 0..20 {
        let mut dealt = logged.clone();
        exchange.apply(&mut dealt, &mut random);
        assert_eq!(dealt.is_called, dealt.is_eligible);
        assert_eq!(dealt.is_called.column(6), logged.is_called.column(6));
        for pair in [[0, 1], [2, 3], [4, 5]] {
            assert_eq!(dealt.is_called.column(pair[0]), dealt.is_called.column(pair[1]));
        }
        let calls = |deal: &Deal| {
            deal.is_called
                .rows()
                .into_iter()
                .map(|row| row.iter().filter(|c| **c).count())
                .collect::<Vec<_>>()
        };
        assert_eq!(calls(&dealt), calls(&logged));
        is_other |= dealt.is_called != logged.is_called;
    }
    assert!(is_other);
}
