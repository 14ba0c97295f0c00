//! The joint problem: dense matrices, all policies, rollouts; gradients against differences; what does not fit is refused.

use crate::arms::{Kind, random, transitions};
use crate::gradients::{derivative, tangent, uniform as draw};
use crate::oracle::solve;
use ndarray::{Array1, Array2, Array4, ArrayView4};
use restive::data::domain::Domain;
use restive::instance::{Instance, Parts, Reward};
use restive::joint::{
    Cost, Joint, JointSettings, JointTask, Limit, Objective, Plan, PlanStatus, Planner, best_value, greedy,
    optimum, plan, policy_value, strict, train, uniform,
};
use restive::policy::Policy;
use restive::predictor::{Architecture, Predictor, PredictorKind};
use restive::simulation::{Initial, Setting, values};

/// Sizes (N, M, K) that dense matrices can hold.
const SIZES: [(usize, usize, usize); 6] = [(2, 2, 1), (3, 2, 1), (3, 2, 2), (4, 2, 1), (4, 2, 2), (3, 3, 1)];

fn reward(m: usize) -> Reward {
    // a pull costs, and differently in every state
    Reward::of_state_and_action(Array2::from_shape_fn((m, 2), |(s, a)| s as f64 - 0.1 * (a * (s + 1)) as f64))
        .unwrap()
}

fn joint((n, m, k): (usize, usize, usize), discount: f64) -> Joint {
    Joint::new(&reward(m), n, k, discount, &Limit::default()).unwrap()
}

fn arms((n, m, _): (usize, usize, usize), seed: u64) -> Array4<f64> {
    transitions(Kind::Dense, n, m, &mut random(seed))
}

/// The joint transitions and rewards of every joint action, entry by entry: `[X,X]` and `[X]`.
fn dense(joint: &Joint, m: usize, p: ArrayView4<f64>) -> Vec<(Array2<f64>, Array1<f64>)> {
    let (x, table) = (joint.joint_states(), reward(m));
    let one = |a: usize| {
        let pull = joint.action(a);
        let matrix = Array2::from_shape_fn((x, x), |(from, to)| {
            let (from, to) = (joint.state(from), joint.state(to));
            let arm = |i: usize| p[[i, from[i] as usize, usize::from(pull[i]), to[i] as usize]];
            (0..pull.len()).map(arm).product()
        });
        let earned = Array1::from_shape_fn(x, |from| {
            let state = joint.state(from);
            (0..pull.len()).map(|i| table.view()[[state[i] as usize, usize::from(pull[i])]]).sum()
        });
        (matrix, earned)
    };
    (0..joint.joint_actions()).map(one).collect()
}

fn near(found: &[f64], truth: &[f64], tolerance: f64) {
    assert_eq!(found.len(), truth.len());
    for (found, truth) in found.iter().zip(truth) {
        assert!((found - truth).abs() < tolerance * (1.0 + truth.abs()), "{found} not {truth}");
    }
}

#[test]
fn numbers_of_joint_states_and_actions_are_one_to_one() {
    for size in SIZES {
        let joint = joint(size, 0.9);
        assert_eq!(joint.joint_states() as f64, joint.cost().joint_states);
        assert_eq!(joint.joint_actions() as f64, joint.cost().joint_actions);
        for x in 0..joint.joint_states() {
            assert_eq!(joint.state_code(&joint.state(x)), x);
        }
        for a in 0..joint.joint_actions() {
            let pull = joint.action(a);
            assert_eq!(pull.iter().filter(|p| **p).count(), size.2);
            assert_eq!(joint.action_code(&pull), Some(a));
        }
        assert_eq!(joint.action_code(&vec![true; size.0]), None);
    }
}

#[test]
fn plans_and_values_equal_those_of_dense_matrices() {
    for (seed, size) in SIZES.into_iter().enumerate() {
        let (joint, p) = (joint(size, 0.9), arms(size, seed as u64));
        let dense = dense(&joint, size.1, p.view());
        let q = |value: &Array1<f64>| -> Vec<Array1<f64>> {
            dense.iter().map(|(matrix, earned)| earned + &(matrix.dot(value) * 0.9)).collect()
        };
        let temperature = 0.3;
        let soften = |q: &[Array1<f64>]| -> Array1<f64> {
            let sum = q.iter().fold(Array1::zeros(joint.joint_states()), |sum: Array1<f64>, q| {
                sum + q.mapv(|q| (q / temperature).exp())
            });
            sum.mapv(|sum| temperature * sum.ln())
        };
        // 400 plain sweeps: 0.9⁴⁰⁰ is 5e-19
        let (mut value, mut after_five, mut over_nine) = (Array1::zeros(joint.joint_states()), None, None);
        for sweeps in 0..400 {
            if sweeps == 4 {
                after_five = Some(q(&value));
            }
            value = soften(&q(&value));
        }
        let fixed = plan(&joint, p.view(), temperature, Planner::Implicit);
        assert_eq!(fixed.status, PlanStatus::Converged);
        near(&fixed.value, value.as_slice().unwrap(), 1e-11);
        for (found, truth) in fixed.q.outer_iter().zip(q(&value)) {
            near(&found.to_vec(), truth.as_slice().unwrap(), 1e-11);
        }
        let five = plan(&joint, p.view(), temperature, Planner::Unrolled { sweeps: 5 });
        for (found, truth) in five.q.outer_iter().zip(after_five.unwrap()) {
            near(&found.to_vec(), truth.as_slice().unwrap(), 1e-12);
        }
        for plan in [&fixed, &five] {
            assert!(plan.policy.sum_axis(ndarray::Axis(0)).iter().all(|sum| (sum - 1.0).abs() < 1e-13));
        }
        // the value of a soft policy and the best over nine steps
        let (mut of_policy, mut best) =
            (Array1::zeros(joint.joint_states()), Array1::zeros(joint.joint_states()));
        for _ in 0..9 {
            let (next, best_next) = (q(&of_policy), q(&best));
            of_policy = Array1::from_shape_fn(joint.joint_states(), |x| {
                next.iter().enumerate().map(|(a, q)| five.policy[[a, x]] * q[x]).sum()
            });
            best = Array1::from_shape_fn(joint.joint_states(), |x| {
                best_next.iter().map(|q| q[x]).fold(f64::MIN, f64::max)
            });
            over_nine = Some(of_policy.clone());
        }
        near(
            &policy_value(&joint, p.view(), five.policy.view(), 9),
            over_nine.unwrap().as_slice().unwrap(),
            1e-12,
        );
        near(&best_value(&joint, p.view(), 9), best.as_slice().unwrap(), 1e-12);
    }
}

#[test]
fn the_optimum_is_the_best_of_all_policies() {
    for (seed, size) in [(2, 2, 1), (3, 2, 1)].into_iter().enumerate() {
        let (joint, p) = (joint(size, 0.95), arms(size, 50 + seed as u64));
        let (x, actions) = (joint.joint_states(), joint.joint_actions());
        let dense = dense(&joint, 2, p.view());
        let mut best = vec![f64::MIN; x];
        for code in 0..actions.pow(x as u32) {
            let action = |s: usize| code / actions.pow(s as u32) % actions;
            let system = Array2::from_shape_fn((x, x), |(from, to)| {
                f64::from(from == to) - 0.95 * dense[action(from)].0[[from, to]]
            });
            let earned = Array2::from_shape_fn((x, 1), |(from, _)| dense[action(from)].1[from]);
            let value = solve(system, earned);
            best.iter_mut().zip(&value).for_each(|(best, v)| *best = best.max(*v));
        }
        let found = optimum(&joint, p.view());
        assert_eq!(found.status, PlanStatus::Converged);
        near(&found.value, &best, 1e-11);
    }
}

#[test]
fn both_planners_reach_the_optimum_as_the_temperature_falls() {
    for (seed, size) in [(3, 2, 1), (5, 2, 1), (5, 2, 2), (3, 3, 1)].into_iter().enumerate() {
        let (joint, p) = (joint(size, 0.9), arms(size, 70 + seed as u64));
        let best = optimum(&joint, p.view());
        // for ever, nearly: 0.9⁴⁰⁰
        let for_ever = |q: &Array2<f64>| policy_value(&joint, p.view(), greedy(q.view()).view(), 400);
        let top = for_ever(&best.q);
        near(&top, &best.value, 1e-11);
        for temperature in [0.1, 1e-3, 1e-6] {
            // a soft maximum is above the maximum, by at most τ ln A a step
            let margin = temperature * (joint.joint_actions() as f64).ln() / 0.1;
            for planner in [Planner::Implicit, Planner::Unrolled { sweeps: 400 }] {
                let soft = plan(&joint, p.view(), temperature, planner);
                for (soft, best) in soft.value.iter().zip(&best.value) {
                    assert!((-1e-10..=margin + 1e-10).contains(&(soft - best)), "{soft} {best} {planner:?}");
                }
                if temperature < 1e-5 {
                    near(&for_ever(&soft.q), &top, 1e-9);
                    near(&policy_value(&joint, p.view(), soft.policy.view(), 400), &top, 1e-4);
                }
            }
        }
    }
}

/// Σ u·Q + Σ w·π, and its cotangent of Q.
fn functional(plan: &Plan<'_>, u: &Array2<f64>, w: &Array2<f64>) -> (f64, Array2<f64>) {
    let d_policy: Vec<_> = w.indexed_iter().map(|((a, x), &d)| (x, a, d)).collect();
    ((u * &plan.q).sum() + (w * &plan.policy).sum(), plan.through_policy(&d_policy) + u)
}

#[test]
fn pullbacks_of_plans_are_their_derivatives() {
    for (seed, size) in SIZES.into_iter().enumerate() {
        for (discount, temperature) in [(0.9, 0.2), (0.99, 1.0), (0.5, 0.05)] {
            let (joint, p) = (joint(size, discount), arms(size, 90 + seed as u64));
            let mut noise = random(seed as u64);
            let dim = (joint.joint_actions(), joint.joint_states());
            let u = Array2::from_shape_simple_fn(dim, || draw(&mut noise));
            let w = Array2::from_shape_simple_fn(dim, || draw(&mut noise));
            let direction = tangent(&p, 1e-3, &mut noise);
            for planner in
                [Planner::Implicit, Planner::Unrolled { sweeps: 2 }, Planner::Unrolled { sweeps: 8 }]
            {
                let here = plan(&joint, p.view(), temperature, planner);
                let pulled = here.pullback(functional(&here, &u, &w).1.view());
                assert_eq!(pulled.status, PlanStatus::Converged);
                let along = (&pulled.d_transition * &direction).sum();
                let difference = derivative(
                    |h| {
                        let moved = &p + &(&direction * h);
                        functional(&plan(&joint, moved.view(), temperature, planner), &u, &w).0
                    },
                    1e-3 * temperature.min(0.5),
                );
                // Richardson leaves h⁴ of the fifth derivative; values of size 100 are good to 1e-10
                let size = pulled.d_transition.iter().map(|d| d * d).sum::<f64>().sqrt();
                assert!(
                    (along - difference).abs() < 1e-7 * size,
                    "{planner:?} {discount} {temperature} {:?}: {along} {difference} of {size}",
                    SIZES[seed]
                );
            }
        }
    }
}

fn instances(states: usize, arms: usize, budget: usize) -> Vec<Instance> {
    let size = Domain { instances: 2, trajectories: 25, horizon: 6, ..Domain::two_state() };
    Domain { states, arms, budget, ..size }.generate(5).unwrap()
}

const PLANNERS: [Planner; 2] = [Planner::Implicit, Planner::Unrolled { sweeps: 6 }];

#[test]
fn the_value_is_importance_sampling_of_joint_actions() {
    let instance = &instances(2, 4, 2)[0];
    let (log, truth) = (instance.trajectories(), instance.truth().unwrap());
    let objective = Objective::new(instance, Planner::Implicit, 0.4, &Limit::default()).unwrap();
    let joint = objective.joint();
    let soft = plan(joint, truth.view(), 0.4, Planner::Implicit);
    let found = objective.objective(truth.view());
    // the formula, plainly
    let (mut ratio, mut value) = (vec![1.0; 25], 0.0);
    for t in 0..6 {
        let mut sums = [0.0; 2];
        for j in 0..25 {
            let state: Vec<u16> = (0..4).map(|i| log.state()[[j, t, i]]).collect();
            let pull: Vec<bool> = (0..4).map(|i| log.action()[[j, t, i]] == 1).collect();
            ratio[j] *= 6.0 * soft.policy[[joint.action_code(&pull).unwrap(), joint.state_code(&state)]];
            sums[0] += ratio[j] * state.iter().map(|s| f64::from(*s)).sum::<f64>();
            sums[1] += ratio[j];
        }
        value += 0.99f64.powi(t as i32) * sums[0] / sums[1];
    }
    assert!((found.value - value).abs() < 1e-10, "{} not {value}", found.value);
    // a policy as indifferent as the behaviour: the mean of the log
    let flat = Objective::new(instance, Planner::Implicit, 1e9, &Limit::default()).unwrap();
    let found = flat.objective(truth.view());
    let mean: f64 = (0..6)
        .map(|t| {
            let total: f64 =
                (0..25).map(|j| (0..4).map(|i| f64::from(log.state()[[j, t, i]])).sum::<f64>()).sum();
            0.99f64.powi(t as i32) * total / 25.0
        })
        .sum();
    assert!((found.value - mean).abs() < 1e-6 && (found.effective_sample_size - 25.0).abs() < 1e-6);
}

#[test]
fn the_gradient_of_the_value_is_its_derivative_by_transitions_and_parameters() {
    for (states, arms, budget) in [(2, 2, 1), (2, 3, 1), (2, 4, 1), (2, 4, 2), (3, 3, 1)] {
        let instance = &instances(states, arms, budget)[0];
        let mut noise = random(3);
        for planner in PLANNERS {
            let settings = JointSettings { temperature: 0.5, ..JointSettings::published(planner) };
            let objective = Objective::new(instance, planner, 0.5, &Limit::default()).unwrap();
            let p = transitions(Kind::Dense, arms, states, &mut noise);
            let here = objective.objective(p.view());
            let direction = tangent(&p, 1e-3, &mut noise);
            let along = (&here.d_transition * &direction).sum();
            let moved = |h: f64| objective.objective((&p + &(&direction * h)).view()).value;
            let difference = derivative(moved, 2e-4);
            let size = here.d_transition.iter().map(|d| d * d).sum::<f64>().sqrt();
            assert!(size > 1e-3 && here.status == PlanStatus::Converged);
            assert!((along - difference).abs() < 1e-7 * size, "{planner:?}: {along} {difference} of {size}");
            // and behind a network without kinks
            let kind = PredictorKind::Network { hidden: vec![], dropout: 0.0 };
            let mut predictor = Predictor::new(&Architecture { features: 16, states, kind }, 4).unwrap();
            let lesson = JointTask::new(instance, &settings).unwrap();
            let said = lesson.objective(&predictor);
            let direction: Vec<f64> = said.gradient.iter().map(|_| draw(&mut noise)).collect();
            let along: f64 = said.gradient.iter().zip(&direction).map(|(g, d)| g * d).sum();
            let start = predictor.flat().to_vec();
            let predictor = std::cell::RefCell::new(&mut predictor);
            let difference = derivative(
                |h| {
                    let mut predictor = predictor.borrow_mut();
                    predictor.update(|flat| {
                        let flat = flat.iter_mut().zip(&start).zip(&direction);
                        flat.for_each(|((x, start), d)| *x = start + h * d);
                    });
                    lesson.objective(&predictor).objective
                },
                2e-4,
            );
            let length = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>().sqrt();
            let size = length(&said.gradient) * length(&direction);
            assert!((along - difference).abs() < 1e-7 * size, "{planner:?}: {along} {difference} of {size}");
        }
    }
}

#[test]
fn exact_values_are_the_means_of_rollouts() {
    let instance = &instances(2, 5, 2)[0];
    let truth = instance.truth().unwrap();
    let joint = Joint::from_instance(instance, &Limit::default()).unwrap();
    let start = joint.start(Initial::Uniform.mass(5, 2).view());
    assert!((start.iter().sum::<f64>() - 1.0).abs() < 1e-14);
    let mut noise = random(8);
    let index = Array2::from_shape_simple_fn((5, 2), || draw(&mut noise));
    let setting = Setting {
        motion: truth.view().into(),
        reward: instance.reward().into(),
        discount: 0.99,
        budget: 2,
        horizon: 9,
    };
    for (policy, exact) in
        [(Policy::Random, uniform(&joint)), (Policy::Strict(index.clone()), strict(&joint, index.view()))]
    {
        let value = policy_value(&joint, truth.view(), exact.view(), 9);
        let exact: f64 = value.iter().zip(&start).map(|(v, p)| v * p).sum();
        let rolled = values(&setting, &Initial::Uniform, &policy, 20_000, 1);
        let error = rolled.std(1.0) / 20_000f64.sqrt();
        let mean = rolled.mean().unwrap();
        assert!((mean - exact).abs() < 4.0 * error, "{mean} ± {error}, exactly {exact}");
    }
}

#[test]
fn training_climbs_and_is_the_same_every_time() {
    let all = instances(2, 3, 1);
    let kind = PredictorKind::Network { hidden: vec![16], dropout: 0.0 };
    let predictor = Predictor::new(&Architecture { features: 16, states: 2, kind }, 1).unwrap();
    for planner in PLANNERS {
        let settings = JointSettings { epochs: 15, ..JointSettings::published(planner) };
        let trained = train(&all, predictor.clone(), &settings).unwrap();
        assert_eq!(trained.status, PlanStatus::Converged);
        assert!(trained.history[14] > trained.history[0], "{:?}", trained.history);
        assert_eq!(trained, train(&all, predictor.clone(), &settings).unwrap());
    }
}

#[test]
fn what_does_not_fit_is_refused_with_the_cost() {
    let refused = |joint: restive::Result<Joint>| joint.unwrap_err().to_string();
    assert_eq!(
        refused(Joint::new(&Reward::linear(2), 30, 3, 0.9, &Limit::default())),
        "joint problem of 30 arms with 2 states and 3 pulls (1.1e9 joint states, 4.1e3 joint actions): found a need \
         for 1.1e14 bytes of memory, expected at most 4.0e9"
    );
    assert!(refused(Joint::new(&Reward::linear(5), 63, 3, 0.9, &Limit::default())).contains("bytes"));
    assert!(refused(Joint::new(&Reward::linear(2), 3, 1, 1.0, &Limit::default())).contains("below 1"));
    let instance = &instances(2, 4, 1)[0];
    let hasty = Limit { operations: 1e4, ..Limit::default() };
    let error = Objective::new(instance, Planner::Implicit, 0.1, &hasty).err().unwrap().to_string();
    assert!(error.ends_with("operations per gradient step, expected at most 1.0e4"), "{error}");
    let endless = Planner::Unrolled { sweeps: 1_000_000_000 };
    let error = Objective::new(instance, endless, 0.1, &Limit::default()).err().unwrap().to_string();
    assert!(error.contains("bytes of memory"), "{error}");
    // one pull where the budget is two: not a joint action
    let loose = Instance::new(Parts { budget: 2, ..instance.parts().clone() }).unwrap();
    assert!(Objective::new(&loose, Planner::Implicit, 0.1, &Limit::default()).is_err());
    assert!(Objective::new(instance, Planner::Implicit, f64::NAN, &Limit::default()).is_err());
    assert!(train(&[], untrained(), &JointSettings::published(Planner::Implicit)).is_err());
    // the estimate of edges is the walk's: 4 arms, one pull: levels of 2, 3, 4 and 4 nodes
    assert_eq!(Cost::new(4, 2, 1).edges, 13.0);
}

fn untrained() -> Predictor {
    let kind = PredictorKind::Network { hidden: vec![], dropout: 0.0 };
    Predictor::new(&Architecture { features: 16, states: 2, kind }, 1).unwrap()
}
