//! Fits whose arms pass by in pieces, against those that hold them all, against a textbook's Newton, and there and back as bytes.

use crate::arms::random;
use crate::effect::{Textbook, counts, features};
use crate::hierarchical::made;
use ndarray::{Array2, Array4, Axis, s};
use restive::Error;
use restive::predictor::logistic::{
    Fit, FitStatus, Form, Passing, Penalties, Precision, Question, Sums, fit,
};

/// Features and counts.
type Arms = (Array2<f64>, Array4<f64>);

/// Answers every question by pieces of such sizes, in turn, and merges them as `order` says.
fn pass(arms: &Arms, held_out: Option<&Arms>, form: Form, sizes: &[usize], order: fn(&mut Vec<Sums>)) -> Fit {
    let (x, counts) = arms;
    let mut passing = Passing::new(x.ncols(), counts.shape()[1], form).unwrap();
    while let Some(question) = passing.question() {
        let (mut first, mut pieces) = (0, Vec::new());
        for size in sizes.iter().cycle() {
            let end = x.nrows().min(first + size);
            let mut sums = Sums::new(question);
            sums.add(question, x.slice(s![first..end, ..]), counts.slice(s![first..end, .., .., ..]));
            pieces.push(sums);
            first = end;
            if first == x.nrows() {
                break;
            }
        }
        if let Some((x, counts)) = held_out.filter(|_| question.asks_held_out()) {
            pieces[0].add_held_out(question, x.view(), counts.view());
        }
        order(&mut pieces);
        let mut sums = Sums::new(question);
        pieces.iter().for_each(|piece| sums.merge(piece).unwrap());
        assert_eq!(sums.arms(), x.nrows() as u64);
        passing.answer(sums).unwrap();
    }
    passing.finish()
}

fn near(found: &Fit, truth: &Fit) {
    assert_eq!((found.status, found.steps), (truth.status, truth.steps));
    for (j, (a, b)) in found.model.flat().iter().zip(truth.model.flat()).enumerate() {
        assert!((a - b).abs() < 1e-9 * b.abs().max(1.0), "parameter {j}: {a} not {b}");
    }
}

/// Numbers and a category; most arms were never pulled.
fn arms(n: usize, m: usize, seed: u64) -> Arms {
    let mut random = random(seed);
    let (x, mut counts) = (features(n, 3, 6, &mut random), counts(n, m, 9, &mut random));
    for i in (0..n).filter(|i| i % 5 > 0) {
        counts.slice_mut(s![i, .., 1, ..]).fill(0.0);
    }
    (x, counts)
}

#[test]
fn a_fit_in_pieces_is_the_fit_of_all_arms() {
    for m in [2, 3] {
        let (all, others) = (arms(9000, m, 81), arms(1500, m, 82));
        let forms: [Form; 4] = [
            Precision::Fixed(30.0).into(),
            Precision::HeldOut { cap: 300.0 }.into(),
            Penalties::Fixed([2.0, 20.0, 300.0]).into(),
            Penalties::Evidence.into(),
        ];
        for form in forms {
            let held_out = Some((others.0.view(), others.1.view()));
            let truth = fit(all.0.view(), all.1.view(), form, held_out).unwrap();
            let found = pass(&all, Some(&others), form, &[2500, 1, 777], |_| ());
            near(&found, &truth);
            assert_eq!(found.held_out.len(), truth.held_out.len());
            for (found, truth) in found.held_out.iter().zip(&truth.held_out) {
                // losses of some thousand nats, at weights that agree to 1e-9
                assert!(found.0 == truth.0 && (found.1 / truth.1 - 1.0).abs() < 1e-12);
            }
            let penalties = found.model.penalties().into_iter().flatten();
            for (found, truth) in penalties.zip(truth.model.penalties().into_iter().flatten()) {
                assert!((found / truth - 1.0).abs() < 1e-9, "{found} not {truth}");
            }
        }
    }
}

#[test]
fn a_fit_in_pieces_is_that_of_a_textbook() {
    let mut random = random(83);
    for (n, numbers, categories, m, precision) in
        [(80, 2, 9, 3, 10.0), (1500, 2, 4, 2, 30.0), (40, 0, 0, 4, 100.0)]
    {
        let x = features(n, numbers, categories, &mut random);
        let counts = counts(n, m, 9, &mut random);
        let found =
            pass(&(x.clone(), counts.clone()), None, Precision::Fixed(precision).into(), &[33], |_| ());
        assert_eq!(found.status, FitStatus::Converged);
        let truth = Textbook { x: &x, counts: &counts, precision, times: vec![1.0; x.ncols()] }.fit();
        for (j, (found, truth)) in found.model.flat().iter().zip(&truth).enumerate() {
            // two fits, each to the square of a short step
            assert!(
                (found - truth).abs() < 1e-9 * truth.abs().max(1.0),
                "{m} states, {j}: {found} not {truth}"
            );
        }
    }
}

#[test]
fn long_steps_are_cut_as_in_memory() {
    // nearly separated: from zero the first steps would change logits by far more than 10
    let x = Array2::from_shape_fn((400, 1), |(i, _)| if i % 40 == 0 { 60.0 } else { (i % 7) as f64 * 0.1 });
    let counts = Array4::from_shape_fn((400, 2, 2, 2), |(i, _, a, next)| {
        f64::from(i % 3 > 0 || a == 0) * f64::from((i % 7 > 3 || i % 40 == 0) == (next == 1))
            + f64::from(i == 9)
    });
    let form: Form = Precision::Fixed(1.0).into();
    let truth = fit(x.view(), counts.view(), form, None).unwrap();
    let arms = (x, counts);
    near(&pass(&arms, None, form, &[400], |_| ()), &truth);
    let mut passing = Passing::new(1, 2, form).unwrap();
    while let Some(question) = passing.question() {
        let mut sums = Sums::new(question);
        sums.add(question, arms.0.view(), arms.1.view());
        passing.answer(sums).unwrap();
    }
    // one pass to begin with, one for each step, and more for those that were cut
    assert!(passing.passes() > truth.steps as u64 + 1, "{} {}", passing.passes(), truth.steps);
}

#[test]
fn sizes_of_pieces_and_the_order_of_merging_do_not_matter() {
    let all = arms(6000, 2, 84);
    let form: Form = Penalties::Evidence.into();
    let whole = pass(&all, None, form, &[6000], |_| ());
    let backwards: fn(&mut Vec<Sums>) = |pieces| pieces.reverse();
    let pairs: fn(&mut Vec<Sums>) = |pieces| {
        while pieces.len() > 1 {
            let last = pieces.pop().unwrap();
            pieces.first_mut().unwrap().merge(&last).unwrap();
            pieces.rotate_left(1);
        }
    };
    let ways: [(&[usize], _); 4] =
        [(&[1000], backwards), (&[1, 4096, 13], pairs), (&[1025], pairs), (&[0, 600], backwards)];
    for (sizes, order) in ways {
        near(&pass(&all, None, form, sizes, order), &whole);
    }
}

#[test]
fn threads_do_not_change_a_bit() {
    let all = arms(30_000, 3, 85);
    let with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| pass(&all, None, Precision::DEFAULT.into(), &[30_000], |_| ()))
    };
    assert_eq!(with(1), with(3));
}

#[test]
fn questions_and_sums_travel_as_bytes() {
    let (x, counts) = made(60, 3, 3);
    let mut passing = Passing::new(3, 3, Penalties::Fixed([3.0, 20.0, 150.0])).unwrap();
    let mut bytes = Vec::new();
    while let Some(asked) = passing.question() {
        let question = Question::from_bytes(&asked.to_bytes()).unwrap();
        assert_eq!(&question, asked);
        let mut sums = Sums::new(&question);
        for (x, counts) in x.axis_chunks_iter(Axis(0), 7).zip(counts.axis_chunks_iter(Axis(0), 7)) {
            let mut part = Sums::new(&question);
            part.add(&question, x, counts);
            let sent = Sums::from_bytes(&part.to_bytes()).unwrap();
            assert_eq!(sent, part);
            sums.merge(&sent).unwrap();
        }
        bytes = sums.to_bytes();
        passing.answer(sums).unwrap();
        // every beginning of the bytes, and more than them, is refused
        let sent = asked_again(&passing);
        for end in (0..sent.len()).step_by(5) {
            assert!(Question::from_bytes(&sent[..end]).is_err());
        }
    }
    for end in (0..bytes.len()).step_by(11) {
        assert!(matches!(Sums::from_bytes(&bytes[..end]), Err(Error::Unsuitable { .. })));
    }
    let more = [&bytes[..], &[0]].concat();
    assert!(Sums::from_bytes(&more).is_err() && Question::from_bytes(&bytes).is_err());
    // a byte that was changed is refused or another number, and nothing else happens
    for at in 0..bytes.len().min(200) {
        let mut wrong = bytes.clone();
        wrong[at] ^= 0x55;
        let _ = Sums::from_bytes(&wrong);
    }
    let truth = fit(x.view(), counts.view(), Penalties::Fixed([3.0, 20.0, 150.0]), None).unwrap();
    near(&passing.finish(), &truth);
}

fn asked_again(passing: &Passing) -> Vec<u8> {
    passing.question().map_or(Vec::new(), Question::to_bytes)
}

#[test]
fn answers_that_are_none_are_refused() {
    let (x, counts) = made(60, 2, 2);
    let mut passing = Passing::new(2, 2, Precision::HeldOut { cap: 3.0 }).unwrap();
    let first = passing.question().unwrap().clone();
    assert!(first.asks_held_out() && first.number() == 1);
    let mut sums = Sums::new(&first);
    sums.add(&first, x.view(), counts.view());
    let missing = passing.answer(sums.clone()).unwrap_err();
    assert!(missing.to_string().contains("held-out arms"), "{missing}");
    sums.add_held_out(&first, x.view(), counts.view());
    passing.answer(sums.clone()).unwrap();
    let stale = passing.answer(sums.clone()).unwrap_err();
    assert!(stale.to_string().contains("question 1") && stale.to_string().contains("question 2"), "{stale}");
    assert!(Sums::new(passing.question().unwrap()).merge(&sums).is_err());

    assert!(matches!(Passing::new(3, 0, Precision::DEFAULT), Err(Error::Range { .. })));
    assert!(matches!(Passing::new(3, 2, Precision::Fixed(-1.0)), Err(Error::Range { .. })));
    let large = Passing::new(5000, 2, Precision::DEFAULT).err().unwrap();
    assert!(large.to_string().contains("5000 encoded features"), "{large}");
    // with one state there is nothing to ask
    let passing = Passing::new(3, 1, Penalties::Evidence).unwrap();
    assert!(passing.question().is_none() && passing.finish().status == FitStatus::Converged);
}

#[test]
fn progress_goes_from_nothing_to_all() {
    let all = arms(500, 2, 86);
    let mut passing = Passing::new(9, 2, Penalties::Evidence).unwrap();
    let mut shares = Vec::new();
    while let Some(question) = passing.question() {
        shares.push(passing.progress().share);
        let mut sums = Sums::new(question);
        sums.add(question, all.0.view(), all.1.view());
        passing.answer(sums).unwrap();
    }
    assert!(shares[0] == 0.0 && shares.iter().all(|share| (0.0..1.0).contains(share)), "{shares:?}");
    assert_eq!(passing.progress().share, 1.0);
}
