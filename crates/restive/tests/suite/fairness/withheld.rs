//! Printed tables, against all tables of counts that they leave open.

use super::cases::{Case, groups, random_groups};
use rand::RngExt;
use restive::fairness::{Count, Crossing, Groups, LEAST, Row, Table, audit, cross, suppress, table};
use restive::random::{Random, stream};
use std::collections::BTreeMap;

const CROSSING: Crossing = Crossing { table: 2, of: [0, 1] };

/// People, who could be called, who was listed; none where withheld.
type Printed = [Option<u64>; 3];

fn printed(row: &Row) -> Printed {
    let population = row.population.as_ref();
    [population.map(|of| of.people), population.map(|of| of.could), row.lists.as_ref().map(|of| of.people)]
}

/// A sum that must be, over some of the unknown cells.
#[derive(Debug)]
struct Sum {
    cells: Vec<usize>,
    whole: Printed,
}

/// Calls back for all counts of the finest cells that fit what is printed of these and of sums over them.
fn all(
    cells: &[Printed],
    sums: &[Sum],
    most: u64,
    so_far: &mut Vec<[u64; 3]>,
    found: &mut dyn FnMut(&[[u64; 3]]),
) {
    let fits = sums.iter().all(|sum| {
        let inside = sum.cells.iter().filter(|cell| **cell < so_far.len());
        let is_whole = sum.cells.iter().all(|cell| *cell < so_far.len());
        let mut load = [0; 3];
        inside.for_each(|cell| (0..3).for_each(|kind| load[kind] += so_far[*cell][kind]));
        let is_within = |kind: usize| {
            let whole = sum.whole[kind];
            whole.is_none_or(|whole| load[kind] <= whole && (!is_whole || load[kind] == whole))
        };
        // the cells to come leave out nobody twice: what is left out so far is at most what the whole leaves out
        let is_rest_within = |kind: usize| match (sum.whole[kind - 1], sum.whole[kind]) {
            (Some(before), Some(whole)) => load[kind - 1] - load[kind] <= before - whole,
            _ => true,
        };
        (0..3).all(is_within) && (1..3).all(is_rest_within)
    });
    if !fits {
        return;
    }
    let Some(cell) = cells.get(so_far.len()) else { return found(so_far) };
    let range = |kind: usize, most: u64| match cell[kind] {
        Some(count) => count..=count,
        None => 0..=most,
    };
    for people in range(0, most) {
        for could in range(1, people).filter(|could| *could <= people) {
            for listed in range(2, could).filter(|listed| *listed <= could) {
                so_far.push([people, could, listed]);
                all(cells, sums, most, so_far, found);
                so_far.pop();
            }
        }
    }
}

/// A random week of few people.
fn week(random: &mut Random, n: usize, all_could: bool) -> Case {
    let mut case = Case::listed(1, &vec![0; n]);
    let (could, listed) = (if all_could { 1.0 } else { 0.7 }, random.random_range(0.2..0.9));
    for i in 0..n {
        case.could[i] = u32::from(random.random::<f64>() < could);
        case.listed[i] = case.could[i] * u32::from(random.random::<f64>() < listed);
    }
    case
}

/// The ranges of all withheld counts by enumeration, by table and row, and checks that the audit says the same.
fn check(full: &[Table], crossings: &[Crossing], least: u64) -> usize {
    let out = suppress(full, crossings, least).unwrap();
    let total = printed(&out[0].total);
    let fine = out.len() - 1; // the crossing, or the only table
    let cells: Vec<Printed> = out[fine].rows.iter().map(printed).collect();
    let mut sums = vec![Sum { cells: (0..cells.len()).collect(), whole: total }];
    let mut places: Vec<(usize, usize, Vec<usize>)> =
        (0..cells.len()).map(|row| (fine, row, vec![row])).collect();
    if let Some(pairs) = &out[fine].pairs {
        for side in 0..2 {
            for (row, of) in out[side].rows.iter().enumerate() {
                let cells: Vec<usize> =
                    (0..pairs.len()).filter(|k| pairs[*k][side] as usize == row).collect();
                sums.push(Sum { cells: cells.clone(), whole: printed(of) });
                places.push((side, row, cells));
            }
        }
    }
    if total[0].is_none() {
        assert!(out.iter().flat_map(|table| &table.rows).all(|row| printed(row) == [None; 3]));
        return 0;
    }
    let mut ranges: BTreeMap<(usize, usize, usize), (u64, u64)> = BTreeMap::new();
    all(&cells, &sums, total[0].unwrap(), &mut Vec::new(), &mut |counts| {
        for (table, row, cells) in &places {
            for kind in 0..3 {
                let x = cells.iter().map(|cell| counts[*cell][kind]).sum();
                let range = ranges.entry((*table, *row, kind)).or_insert((x, x));
                *range = (range.0.min(x), range.1.max(x));
            }
        }
    });
    let truth = |table: usize, row: usize| printed(&full[table].rows[row]).map(Option::unwrap);
    let all_people = printed(&full[0].total).map(Option::unwrap);
    let small = |x: u64| 0 < x && x < least;
    let mut withheld = 0;
    let audited = audit(&out, crossings).unwrap();
    for (&(table, row, kind), &(low, high)) in &ranges {
        let (said, counts) = (printed(&out[table].rows[row]), truth(table, row));
        if said[kind].is_some() || total[kind].is_none() {
            // nothing small is printed, nor few who were not listed
            assert!(
                said[kind].is_none() || !(small(counts[kind]) || (kind == 2 && small(counts[1] - counts[2])))
            );
            continue;
        }
        withheld += 1;
        let count = [Count::People, Count::Could, Count::Listed][kind];
        let entry = audited.iter().find(|w| (w.table, w.row, w.count) == (table, row, count)).unwrap();
        assert_eq!((entry.low, entry.high), (low, high), "table {table}, row {row}, {count:?}");
        let is_no_secret = all_people[kind] == 0 || (kind > 0 && all_people[kind] == all_people[kind - 1]);
        let few_missed = kind == 2 && said[1].is_some() && small(counts[1] - counts[2]);
        let wanted = if small(counts[kind]) || few_missed { least.div_ceil(2) } else { 1 };
        assert!(is_no_secret || high - low >= wanted, "table {table}, row {row}, {count:?}: {low} to {high}");
    }
    withheld
}

#[test]
fn no_withheld_count_can_be_worked_out_of_one_table() {
    let mut withheld = 0;
    for run in 0..150 {
        let mut random = stream(run, &[74]);
        let n = random.random_range(4..12);
        let count = random.random_range(2..5);
        let case = week(&mut random, n, run % 2 == 0);
        let full =
            table(&groups(&random_groups(&mut random, n, count), count), &case.period(), None).unwrap();
        withheld += check(&[full], &[], random.random_range(2..5));
    }
    assert!(withheld > 150, "{withheld}");
}

#[test]
fn no_withheld_count_can_be_worked_out_of_a_crossing() {
    let (mut withheld, mut some) = (0, 0);
    for run in 0..40 {
        let mut random = stream(run, &[75]);
        let n = random.random_range(5..9);
        let case = week(&mut random, n, run % 4 != 0);
        let (a, b) = (random_groups(&mut random, n, 3), random_groups(&mut random, n, 2));
        let (a, b) = (groups(&a, 3), groups(&b, 2));
        let full = [&a, &b, &cross(&a, &b)].map(|of| table(of, &case.period(), None).unwrap());
        let found = check(&full, &[CROSSING], 2);
        withheld += found;
        some += usize::from(found > 0);
    }
    assert!(withheld > 100 && some > 15, "{withheld} {some}");
}

#[test]
fn news_stays_and_few_people_go() {
    // group 0: none of 40 listed; group 1: 20 of 40; group 2: 3 of 40; group 3: 15 of 30
    let sizes = [(40, 0), (40, 20), (40, 3), (30, 15)];
    let mut of = Vec::new();
    let mut listed = Vec::new();
    for (g, (size, called)) in sizes.into_iter().enumerate() {
        of.extend(vec![g as u32; size]);
        listed.extend((0..size).map(|i| u32::from(i < called)));
    }
    let case = Case::listed(1, &listed);
    let full = table(&groups(&of, 4), &case.period(), None).unwrap();
    assert!(full.overall.is_some());
    let full = [full];
    let out = suppress(&full, &[], LEAST).unwrap().remove(0);
    // nobody of forty is printed; three of forty are not, and the smallest other list with them
    let is_listed: Vec<bool> = out.rows.iter().map(|row| row.lists.is_some()).collect();
    assert_eq!(is_listed, [true, true, false, false]);
    assert!(out.rows.iter().all(|row| row.population.is_some()));
    assert!(out.overall.is_none() && out.lowest_to_highest.is_none());
    // Holm over the two that are printed
    let p = |row: usize| out.rows[row].lists.unwrap().chance.unwrap();
    assert!(p(0).p < p(1).p && (p(0).p_corrected - 2.0 * p(0).p).abs() < 1e-15);
    // nothing is small: nothing is withheld
    assert_eq!(suppress(&full, &[], 2).unwrap(), full);
    // few people in all: nothing is printed
    let few = table(&groups(&[0, 1, 1], 2), &Case::listed(1, &[1, 0, 1]).period(), None).unwrap();
    let out = suppress(&[few], &[], LEAST).unwrap().remove(0);
    assert!(out.total.population.is_none() && out.rows.iter().all(|row| row.population.is_none()));
}

#[test]
fn tables_that_do_not_belong_together_are_refused() {
    let case = Case::listed(1, &[1, 0, 1, 0, 1, 1]);
    let (a, b) = (groups(&[0, 0, 1, 1, 2, 2], 3), groups(&[0, 1, 0, 1, 0, 1], 2));
    let of = |of: &Groups| table(of, &case.period(), None).unwrap();
    let tables = [of(&a), of(&b), of(&cross(&a, &b))];
    assert!(suppress(&tables, &[CROSSING], 2).is_ok());
    assert!(suppress(&[], &[], 2).is_err());
    assert!(suppress(&tables, &[], 2).is_err(), "a crossing of unknown tables");
    assert!(suppress(&tables, &[Crossing { table: 2, of: [0, 2] }], 2).is_err());
    assert!(suppress(&tables, &[Crossing { table: 2, of: [1, 0] }], 2).is_err());
    let other = table(&groups(&[0, 1], 2), &Case::listed(1, &[1, 0]).period(), None).unwrap();
    assert!(suppress(&[tables[0].clone(), other], &[], 2).is_err());
    // two crossings of three groupings are a path, three a circle
    let c = groups(&[0, 0, 0, 1, 1, 1], 2);
    let mut all = vec![of(&a), of(&b), of(&c), of(&cross(&a, &b)), of(&cross(&b, &c))];
    let mut ties = vec![Crossing { table: 3, of: [0, 1] }, Crossing { table: 4, of: [1, 2] }];
    assert!(suppress(&all, &ties, 2).is_ok());
    all.push(of(&cross(&a, &c)));
    ties.push(Crossing { table: 5, of: [0, 2] });
    assert!(suppress(&all, &ties, 2).is_err());
    let once = suppress(&tables, &[CROSSING], 4).unwrap();
    assert!(suppress(&once, &[CROSSING], 4).is_err(), "suppressed already");
}
