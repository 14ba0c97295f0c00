//! Exact sums, against additions bit by bit.
//!
//! The truth is a row of binary digits, one number to each, into which every summand is written bit by bit and in which a carry moves from
//! digit to digit as on paper. A sum is then judged by what rounding means: no neighbour of the answer is nearer, and where one is as near
//! the answer is even.

use proptest::prelude::*;
use rand::RngExt;
use rand::seq::SliceRandom;
use restive::random::stream;
use restive::sum::ExactSum;

/// Digits of 2⁻¹⁰⁷⁴, 2⁻¹⁰⁷³, … each of any size and sign until they are carried.
#[derive(Clone)]
struct Digits(Vec<i64>);

impl Digits {
    fn new() -> Self {
        Self(vec![0; 2300])
    }

    /// Adds `times` a finite number.
    fn add(&mut self, x: f64, times: i64) {
        let bits = x.abs().to_bits();
        let (exponent, fraction) = ((bits >> 52) as usize, bits & ((1 << 52) - 1));
        let times = if x < 0.0 { -times } else { times };
        for k in 0..52 {
            self.0[k + exponent.saturating_sub(1)] += times * (fraction >> k & 1) as i64;
        }
        if exponent > 0 {
            self.0[exponent + 51] += times;
        }
    }

    /// −1, 0 or 1, as a number has a sign.
    fn sign(&self) -> i64 {
        let (mut carry, mut is_zero) = (0i64, true);
        for digit in &self.0 {
            let sum = digit + carry;
            is_zero &= sum.rem_euclid(2) == 0;
            carry = sum.div_euclid(2);
        }
        if carry < 0 { -1 } else { i64::from(!is_zero || carry > 0) }
    }
}

/// Whether a sum of finite numbers is rounded to the nearest, ties to even.
fn check(numbers: &[f64], found: f64) {
    let mut twice = Digits::new();
    numbers.iter().for_each(|x| twice.add(*x, 2));
    let is_even = found.to_bits() & 1 == 0;
    assert!(!found.is_nan(), "{numbers:?}");
    // 2S − found − neighbour, on either side; beyond the largest number stands 2¹⁰²⁴
    for (neighbour, side) in [(found.next_up(), 1), (found.next_down(), -1)] {
        let mut beside = twice.clone();
        let mut minus = |x: f64| match x.is_infinite() {
            true => beside.0[1024 + 1074] -= if x > 0.0 { 1 } else { -1 },
            false => beside.add(x, -1),
        };
        if found.is_infinite() && neighbour == found {
            continue; // nothing lies beyond
        }
        minus(found);
        minus(neighbour);
        let sign = beside.sign() * side;
        assert!(sign < 0 || sign == 0 && is_even, "{numbers:?} is not {found:e} but nearer to {neighbour:e}");
    }
    assert!(found != 0.0 || found.is_sign_positive());
}

fn sum(numbers: &[f64]) -> ExactSum {
    numbers.iter().copied().collect()
}

/// All orders of a few numbers (Heap).
fn orders(numbers: &mut Vec<f64>, k: usize, each: &mut impl FnMut(&[f64])) {
    if k <= 1 {
        return each(numbers);
    }
    for i in 0..k {
        orders(numbers, k - 1, each);
        numbers.swap(if k.is_multiple_of(2) { i } else { 0 }, k - 1);
    }
}

const LEAST: f64 = f64::from_bits(1);

#[test]
fn sums_that_are_known_by_heart() {
    let half = f64::EPSILON / 2.0;
    for (numbers, expected) in [
        (&[][..], 0.0),
        (&[-0.0, -0.0], 0.0),
        (&[0.1, 0.2, -0.3], 2f64.powi(-55)), // what decimals leave
        (&[1e308, 1e308, -1e308], 1e308),
        (&[-1e308, -1e308, 1e308, 1e308, 3.0], 3.0),
        (&[f64::MAX, f64::MAX], f64::INFINITY),
        (&[-f64::MAX, -f64::MAX], f64::NEG_INFINITY),
        (&[f64::MAX, 2f64.powi(970)], f64::INFINITY), // half a unit more: a tie, and MAX is odd
        (&[f64::MAX, 2f64.powi(970).next_down()], f64::MAX),
        (&[1.0, half], 1.0),
        (&[1.0, half, LEAST], 1.0 + f64::EPSILON),
        (&[1.0 + f64::EPSILON, half], 1.0 + 2.0 * f64::EPSILON),
        (&[1e100, 1.0, -1e100, 1e-300], 1.0),
        (&[f64::MIN_POSITIVE, -LEAST], f64::MIN_POSITIVE - LEAST),
        (&[LEAST; 5], 5.0 * LEAST),
        (&[-f64::MAX, LEAST, f64::MAX], LEAST),
    ] {
        let found = sum(numbers).value();
        assert_eq!(found.to_bits(), expected.to_bits(), "{numbers:?}: {found:e}");
        check(numbers, found);
    }
}

#[test]
fn every_order_gives_the_same_bytes() {
    let sets: [&[f64]; 6] = [
        &[1e308, 1e308, -1e308, -1e308, LEAST, -1.5],
        &[1.0, f64::EPSILON, -1.0, 3e-17, 1e16, 0.1],
        &[f64::MAX, -f64::MAX, 1e-310, -3e-320, 2e-308, 7.0],
        &[f64::MAX, f64::MAX, f64::MAX, -f64::MAX, -1.0, LEAST],
        &[-1.0, -f64::EPSILON / 4.0, LEAST, -LEAST, 0.5, -1e-30],
        &[0.1, 0.2, 0.3, 0.4, 0.5, 0.6],
    ];
    for numbers in sets {
        let first = sum(numbers);
        check(numbers, first.value());
        orders(&mut numbers.to_vec(), numbers.len(), &mut |order| {
            let found = sum(order);
            assert!(found == first && found.to_bytes() == first.to_bytes());
            assert_eq!(found.value().to_bits(), first.value().to_bits());
        });
    }
}

#[test]
fn what_is_not_finite_follows_the_rules_in_every_order() {
    let (up, down) = (f64::INFINITY, f64::NEG_INFINITY);
    let is = |numbers: &[f64], holds: fn(f64) -> bool| {
        let first = sum(numbers);
        orders(&mut numbers.to_vec(), numbers.len(), &mut |order| {
            assert!(holds(sum(order).value()), "{order:?}");
            assert!(sum(order) == first && sum(order).to_bytes() == first.to_bytes());
        });
        assert!(holds(ExactSum::from_bytes(&first.to_bytes()).unwrap().value()));
    };
    is(&[up, 1.0, -f64::MAX, -f64::MAX], |x| x == f64::INFINITY);
    is(&[down, f64::MAX, f64::MAX, up.min(3.0)], |x| x == f64::NEG_INFINITY);
    is(&[up, down, 1.0], f64::is_nan);
    is(&[f64::NAN, 1.0, up], f64::is_nan);
    is(&[-f64::NAN, 1.0], f64::is_nan);
    assert_ne!(sum(&[up]), sum(&[down]));
    assert_eq!(sum(&[up, 1.0]), sum(&[2.0, up]));
}

#[test]
fn many_additions_and_merges_are_those_of_one_sum() {
    let mut random = stream(5, &[91]);
    for run in 0..60 {
        let range = [1, 40, 900][run % 3];
        let numbers: Vec<f64> = (0..5_000)
            .map(|_| (random.random::<f64>() - 0.5) * 2f64.powi(random.random_range(-range..=range)))
            .collect();
        let whole = sum(&numbers);
        check(&numbers, whole.value());
        let mut shuffled = numbers.clone();
        shuffled.shuffle(&mut random);
        let mut parts: Vec<ExactSum> = Vec::new();
        let mut rest = &shuffled[..];
        while !rest.is_empty() {
            let (part, later) = rest.split_at(random.random_range(1..=rest.len().min(1_500)));
            parts.push(ExactSum::from_bytes(&sum(part).to_bytes()).unwrap());
            rest = later;
        }
        parts.shuffle(&mut random);
        // two by two, so that merged sums are merged
        while parts.len() > 1 {
            let last = parts.pop().unwrap();
            let k = random.random_range(0..parts.len());
            parts[k].merge(&last);
            parts[k].add(0.0);
        }
        assert_eq!(parts[0], whole);
        assert_eq!(parts[0].to_bytes(), whole.to_bytes());
    }
    // long runs at one exponent, where carries matter
    for x in [f64::MAX, -f64::MAX, 1.0 - f64::EPSILON, -LEAST] {
        let mut long = ExactSum::default();
        (0..100_000).for_each(|_| long.add(x));
        let mut back = long.clone();
        (0..99_999).for_each(|_| back.add(-x));
        assert_eq!(back.value(), x);
        let mut both = long.clone();
        both.merge(&long);
        assert_eq!(both, std::iter::repeat_n(x, 200_000).collect());
    }
}

#[test]
fn bytes_that_no_sum_has_are_refused() {
    let bytes = sum(&[1.0, -3e300]).to_bytes();
    assert_eq!(ExactSum::from_bytes(&bytes), Some(sum(&[-3e300, 1.0])));
    assert_eq!(ExactSum::from_bytes(&[]), None);
    assert_eq!(ExactSum::from_bytes(&bytes[1..]), None);
    assert_eq!(ExactSum::from_bytes(&[&bytes[..], &[0]].concat()), None);
    let with = |place: usize, byte: u8| {
        let mut other = bytes.clone();
        other[place] = byte;
        ExactSum::from_bytes(&other)
    };
    assert_eq!(with(0, 4), None);
    assert_eq!(with(0, 1), None); // an infinity beside what it has swallowed
    assert_eq!(with(bytes.len() - 1, 0x7f), None); // more than 2⁶⁴ numbers can sum to
    assert_ne!(with(1, 1), None);
}

/// Numbers near to each other or anywhere, of every exponent.
fn numbers() -> impl Strategy<Value = Vec<f64>> {
    let anywhere = any::<u64>().prop_map(f64::from_bits).prop_filter("finite", |x| x.is_finite());
    let near =
        (-40i64..40, any::<bool>()).prop_map(|(k, is_small)| k as f64 * if is_small { LEAST } else { 0.25 });
    let ties =
        (0i32..200, any::<bool>()).prop_map(|(k, is_up)| 2f64.powi(100 - k) * if is_up { 1.0 } else { -1.0 });
    prop::collection::vec(prop_oneof![anywhere, near, ties], 0..12)
}

proptest! {
    #[test]
    fn any_sum_is_the_nearest_number_in_any_order_and_split(mut numbers in numbers(), cut in 0usize..12, repeat in any::<bool>()) {
        if repeat {
            // what cancels all but the last
            let back: Vec<f64> = numbers.iter().skip(1).map(|x| -x).collect();
            numbers.extend(back);
        }
        let whole = sum(&numbers);
        check(&numbers, whole.value());
        let (left, right) = numbers.split_at(cut.min(numbers.len()));
        let mut merged = sum(right);
        merged.merge(&sum(left));
        prop_assert_eq!(&merged, &whole);
        prop_assert_eq!(merged.to_bytes(), whole.to_bytes());
        prop_assert_eq!(ExactSum::from_bytes(&whole.to_bytes()), Some(whole));
    }
}
