//! Tests of tables: against 40-digit arithmetic, published values and all sign patterns; and what has no answer.

use crate::golden::{cases, numbers};
use ndarray::Array2;
use restive::statistics::{
    Auc, TTest, Undefined, WithinRow, beta_cdf, beta_quantile, chi_square, holm, logistic, mean, median,
    paired_t, welch_t, wilcoxon, within,
};

fn assert_near(found: f64, truth: f64, tolerance: f64, what: &str) {
    assert!((found - truth).abs() <= tolerance * truth.abs(), "{what}: {found} not {truth}");
}

fn all(test: &TTest) -> [f64; 7] {
    [test.difference, test.standard_error, test.low, test.high, test.statistic, test.freedom, test.p]
}

#[test]
fn tests_equal_forty_digit_arithmetic() {
    let (mut exact, mut tables) = (0, 0);
    for case in cases("statistics") {
        if case["kind"] == "counts" {
            let rows = case["counts"].as_array().unwrap().len();
            let counts: Vec<u64> = numbers(&case["counts"]).into_iter().map(|c| c as u64).collect();
            let counts = Array2::from_shape_vec((rows, counts.len() / rows), counts).unwrap();
            let test = chi_square(counts.view()).unwrap();
            let truth = |name: &str| case[name].as_f64().unwrap();
            assert_eq!(test.freedom as f64, truth("freedom"));
            assert_near(test.statistic, truth("statistic"), 1e-13, "statistic");
            assert_near(test.smallest_expected, truth("smallest_expected"), 1e-15, "expected");
            // a p far in the tail moves by the rounding of χ² times its size
            assert_near(test.p, truth("p"), 1e-12, "p");
            tables += 1;
            continue;
        }
        let (first, second) = (numbers(&case["first"]), numbers(&case["second"]));
        let paired = paired_t(&first, &second).unwrap();
        let welch = welch_t(&first, &numbers(&case["welch_second"])).unwrap();
        for (test, name) in [(paired, "paired"), (welch, "welch")] {
            // means are differences of numbers of size 1: absolute to 1e-15, and t at a small mean loses as much
            for (found, truth) in all(&test).into_iter().zip(numbers(&case[name])) {
                assert!(
                    (found - truth).abs() < 1e-12 * truth.abs() + 1e-14,
                    "{name}: {found} not {truth}: {case}"
                );
            }
            let truth = numbers(&case[name])[6];
            assert_near(test.p, truth, 1e-11, name);
        }
        let (test, truth) = (wilcoxon(&first, &second).unwrap(), &case["wilcoxon"]);
        assert_eq!(test.positive, truth["positive"].as_f64().unwrap());
        assert_eq!(test.negative, truth["negative"].as_f64().unwrap());
        assert_eq!(test.is_exact, truth["is_exact"].as_bool().unwrap());
        assert_near(test.p, truth["p"].as_f64().unwrap(), 1e-13, "wilcoxon");
        exact += usize::from(test.is_exact);
    }
    assert!(exact >= 8 && tables >= 7, "{exact} {tables}");
}

#[test]
fn t_quantiles_are_those_of_the_printed_tables() {
    // Fisher and Yates, Table III: two-sided 0.05
    let table = [(1, 12.706), (2, 4.303), (5, 2.571), (10, 2.228), (30, 2.042), (120, 1.980)];
    for (freedom, quantile) in table {
        // n numbers ±1 around 0 … with a standard error that we divide out
        let values: Vec<f64> = (0..=freedom).map(f64::from).collect();
        let said = mean(&values).unwrap();
        let found = (said.high - said.mean) / said.standard_error;
        assert!((found - quantile).abs() < 6e-4, "freedom {freedom}: {found} not {quantile}");
    }
    // the normal limit, where the quantile is 1.959964
    let many: Vec<f64> = (0..200_000).map(f64::from).collect();
    let said = mean(&many).unwrap();
    assert!(((said.high - said.mean) / said.standard_error - 1.959_964).abs() < 2e-5);
}

#[test]
fn students_sleep_data_have_the_published_p() {
    // Student (1908), extra hours of sleep with two drugs: t = −4.0621, 9 degrees of freedom, p = 0.002833; Welch
    // t = −1.8608, 17.776 degrees of freedom, p = 0.07939 (R's `sleep`)
    let first = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0];
    let second = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4];
    let paired = paired_t(&first, &second).unwrap();
    assert!((paired.statistic + 4.0621).abs() < 5e-5 && (paired.p - 0.002833).abs() < 5e-7);
    assert!((paired.low + 2.4598858).abs() < 5e-8 && (paired.high + 0.7001142).abs() < 5e-8);
    let welch = welch_t(&first, &second).unwrap();
    assert!((welch.freedom - 17.776).abs() < 5e-4 && (welch.p - 0.07939).abs() < 5e-6);
}

#[test]
fn exact_p_counts_every_pattern_of_signs() {
    for n in 2..=12usize {
        // sizes 1 … n have the ranks 1 … n; each pattern's p is the share of patterns at least as unequal
        let unequal = |signs: usize| -> i64 {
            (0..n).map(|k| (k as i64 + 1) * if signs >> k & 1 == 1 { 1 } else { -1 }).sum::<i64>().abs()
        };
        for signs in (0..1usize << n).step_by(1 + (1 << n) / 300) {
            let first: Vec<f64> =
                (0..n).map(|k| (k as f64 + 1.0) * if signs >> k & 1 == 1 { 1.0 } else { -1.0 }).collect();
            let test = wilcoxon(&first, &vec![0.0; n]).unwrap();
            let as_unequal = (0..1usize << n).filter(|other| unequal(*other) >= unequal(signs)).count();
            assert!(test.is_exact);
            assert_eq!(test.p, as_unequal as f64 / (1u64 << n) as f64, "{n} {signs:b}");
        }
    }
}

#[test]
fn what_has_no_answer_says_why() {
    let nan = [1.0, f64::NAN];
    assert_eq!(mean(&[1.0]), Err(Undefined::TooFew { found: 1, expected: 2 }));
    assert_eq!(mean(&nan), Err(Undefined::NotFinite { position: 1 }));
    assert_eq!(median(&[]), Err(Undefined::TooFew { found: 0, expected: 1 }));
    assert_eq!(median(&[3.0, 1.0, 2.0, 10.0]), Ok(2.5));
    assert_eq!(paired_t(&[1.0], &[2.0]), Err(Undefined::TooFew { found: 1, expected: 2 }));
    assert_eq!(paired_t(&[0.1, 0.2, 0.3], &[0.1, 0.2, 0.3]), Err(Undefined::NoSpread));
    assert_eq!(paired_t(&[3.0, 4.0], &[1.0, 2.0]), Err(Undefined::NoSpread));
    assert_eq!(paired_t(&nan, &[1.0, 1.0]), Err(Undefined::NotFinite { position: 1 }));
    assert_eq!(welch_t(&[1.0, 1.0], &[2.0, 2.0]), Err(Undefined::NoSpread));
    assert_eq!(welch_t(&[1.0, 2.0], &[2.0]), Err(Undefined::TooFew { found: 1, expected: 2 }));
    assert_eq!(wilcoxon(&[1.0, 2.0], &[1.0, 2.0]), Err(Undefined::NoSpread));
    assert_eq!(wilcoxon(&[1.0], &[2.0]), Err(Undefined::TooFew { found: 1, expected: 2 }));
    let one_column = chi_square(ndarray::array![[1, 0], [2, 0]].view());
    assert_eq!(one_column, Err(Undefined::OneCategory { rows: 2, columns: 1 }));
    assert_eq!(
        Undefined::NoSpread.to_string(),
        "found numbers that are all the same, expected some that differ"
    );
    // all equal in size: one big tie, half of it each way, is no evidence at all
    assert_eq!(wilcoxon(&[1.0, -1.0, 1.0, -1.0], &[0.0; 4]).unwrap().p, 1.0);
    // one sample without spread is enough for Welch, two are not
    assert!(welch_t(&[1.0, 1.0, 1.0], &[2.0, 2.5]).unwrap().p.is_finite());
}

#[test]
fn several_p_values_are_corrected_as_holm_says() {
    // four hypotheses at 0.05: 0.005 < 0.05/4 and 0.01 < 0.05/3 are rejected, 0.03 > 0.05/2 ends it
    let corrected = holm(&[0.01, 0.04, 0.03, 0.005]);
    for (found, expected) in corrected.iter().zip([0.03, 0.06, 0.06, 0.02]) {
        assert_near(*found, expected, 1e-15, "corrected");
    }
    // one alone stays as it is, none exceeds 1, equals stay equal
    assert_eq!(holm(&[0.2]), [0.2]);
    assert_eq!(holm(&[0.9, 0.7, 0.7]), [1.0, 1.0, 1.0]);
    assert!(holm(&[]).is_empty());
}

#[test]
fn a_slope_within_groups_is_least_squares_with_a_mean_for_each() {
    let row = |group, cluster, x, y| WithinRow { group, cluster, x, y };
    let rows = [
        row(0, 0, 0.0, 1.0),
        row(0, 1, 1.0, 2.5),
        row(0, 2, 1.0, 1.5),
        row(2, 0, 2.0, 7.0),
        row(2, 1, 4.0, 8.0),
        row(1, 2, 3.0, 99.0), // alone in its group: says nothing
    ];
    let found = within(&rows).unwrap();
    // x~: -2/3 1/3 1/3 -1 1; y~: -2/3 5/6 -1/6 -1/2 1/2; Sxx = 8/3, Sxy = 5/3
    assert_near(found.slope, 0.625, 1e-14, "slope");
    let e =
        [-2.0 / 3.0 + 0.625 * 2.0 / 3.0, 5.0 / 6.0 - 0.625 / 3.0, -1.0 / 6.0 - 0.625 / 3.0, 0.125, -0.125];
    let u = [-2.0 / 3.0 * e[0] - e[3], e[1] / 3.0 + e[4], e[2] / 3.0].map(|u| u / (8.0 / 3.0));
    let error = (5.0 / 2.0 * u.iter().map(|u| u * u).sum::<f64>()).sqrt();
    assert_near(found.error, error, 1e-13, "error");
    assert_eq!((found.rows, found.less(&found)), (5, 0.0));
    assert_eq!(within(&[]), Err(Undefined::TooFew { found: 0, expected: 2 }));
    let flat = [row(0, 0, 0.0, 1.0), row(0, 1, 1.0, 1.0), row(0, 2, 1.0, 1.0)];
    assert_eq!(within(&flat), Err(Undefined::NoSpread));
    assert_eq!(within(&[row(0, 0, f64::NAN, 1.0)]), Err(Undefined::NotFinite { position: 0 }));
}

#[test]
fn log_odds_are_where_the_gradient_vanishes_and_pairs_are_counted() {
    let x = Array2::from_shape_fn((40, 2), |(i, f)| if f == 0 { 1.0 } else { (i % 7) as f64 - 3.0 });
    let yes: Vec<bool> = (0..40).map(|i| (i * 5) % 11 < i % 7 + 2).collect();
    let offset: Vec<f64> = (0..40).map(|i| 0.1 * f64::from(i % 3)).collect();
    let w = logistic(x.view(), &yes, &offset, 0.5);
    for f in 0..2 {
        let slope: f64 = (0..40)
            .map(|i| {
                let e = 1.0 / (1.0 + (-(x.row(i).dot(&w) + offset[i])).exp());
                (f64::from(u8::from(yes[i])) - e) * x[[i, f]]
            })
            .sum();
        // the last step is below 1e-6, and Newton's method squares it
        assert!((slope - 0.5 * w[f]).abs() < 1e-8, "{slope}");
    }
    let mut auc = Auc::default();
    assert_eq!((auc.value(), auc.z()), (None, None));
    auc.add(&mut [(1.0, false), (2.0, true), (2.0, false), (3.0, true)]);
    assert_eq!((auc.value(), auc.pairs), (Some(3.5 / 4.0), 4.0));
    auc.add(&mut [(9.0, true), (1.0, true)]);
    assert_eq!(auc.pairs, 4.0);
}

#[test]
fn beta_quantiles_are_where_closed_forms_and_binomial_sums_say() {
    for p in [0.05, 0.3, 0.95] {
        for a in [0.2, 1.0, 3.7, 250.0] {
            // P(X < x) is xᵃ for b = 1, and 1 − (1 − x)ᵇ for a = 1
            assert!((beta_quantile(p, a, 1.0) - f64::powf(p, 1.0 / a)).abs() < 1e-12, "{p} {a}");
            let by_b = 1.0 - f64::powf(1.0 - p, 1.0 / a);
            assert!((beta_quantile(p, 1.0, a) - by_b).abs() < 1e-12, "{p} {a}");
            assert!((beta_quantile(0.5, a, a) - 0.5).abs() < 1e-12);
        }
        for (a, b) in [(2u32, 3u32), (7, 1), (12, 40), (90, 60)] {
            let x = beta_quantile(p, a.into(), b.into());
            // as likely as at least a of a + b − 1 draws below x
            let n = a + b - 1;
            let choose = |k: u32| (0..k).fold(1.0, |c, j| c * f64::from(n - j) / f64::from(j + 1));
            let at_least: f64 =
                (a..=n).map(|k| choose(k) * x.powi(k as i32) * (1.0 - x).powi((n - k) as i32)).sum();
            assert!((at_least - p).abs() < 1e-11, "{a} {b} {p}: {at_least}");
        }
    }
    assert!(beta_quantile(0.05, 1e-3, 2.0) < 1e-15); // nearly all of it at 0
    assert!((beta_cdf(0.5, 1e5, 1e5) - 0.5).abs() < 1e-9);
    assert_eq!([beta_cdf(0.0, 2.0, 3.0), beta_cdf(1.0, 2.0, 3.0)], [0.0, 1.0]);
}
