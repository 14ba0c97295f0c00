//! Kernels that are told to stop do.

use crate::arms::random;
use ndarray::{Array2, Array3, Array4};
use rand::RngExt;
use restive::interrupt::{Interrupted, Interruption, Scope, catch};
use restive::{Reward, index};

fn arms(n: usize, m: usize) -> Array4<f64> {
    let mut random = random(71);
    let mut p = Array4::from_shape_simple_fn((n, m, 2, m), || random.random::<f64>());
    for mut row in p.rows_mut() {
        let sum = row.sum();
        row /= sum;
    }
    p
}

/// Run by the next test in a process of its own, because an interruption stops every kernel of a process.
#[test]
#[ignore = "stops every kernel of the process: run by the_kernels_stop_when_told_to"]
fn kernels() {
    let (p, reward) = (arms(20, 30), Reward::linear(30));
    let bisection = || {
        index::bisection::index(p.view(), reward.view(), 1.0 - 1e-12, Default::default());
    };
    let general = || loop {
        index::general::index(p.view(), reward.view(), 0.9);
    };
    let table = Array2::from_shape_fn((500, 2), |(i, s)| (i * 2 + s) as f64);
    let state = Array2::zeros((500, 500));
    let soft = || loop {
        restive::policy::soft_top_k::soft_top_k_many(table.view(), state.view(), 100.0, 0.1);
    };
    let owned = crate::planning_programme::Owned::plain(3000, 3, 9, 600.0, &mut random(72));
    let prices = || loop {
        restive::planning::prices(&owned.programme(), owned.initial.view());
    };
    let horizon = || loop {
        restive::planning::Horizon {
            transition: p.view(),
            reward: (&reward).into(),
            discount: &[0.99],
            decisions: 20,
            ending: restive::planning::Ending::State,
        }
        .index();
    };
    let several = Array3::from_shape_fn((1, 30, 2), |(_, s, _)| s as f64);
    let actions = || loop {
        let (transition, reward) = (p.view(), several.view());
        index::actions::Actions { transition, reward, cost: &[0.0, 1.0], discount: &[0.99] }.index();
    };
    let kernels: [&(dyn Fn() + Sync); 6] = [&bisection, &general, &soft, &prices, &horizon, &actions];
    for kernel in kernels {
        let ended = std::thread::scope(|threads| {
            let running = threads.spawn(|| catch(kernel));
            std::thread::sleep(std::time::Duration::from_millis(50));
            let _raised = Interruption::raise();
            running.join().unwrap()
        });
        assert_eq!(ended, Err(Interrupted));
    }
    // and afterwards they run to their end
    assert!(catch(|| index::general::index(p.view(), reward.view(), 0.9)).is_ok());
}

#[test]
fn the_kernels_stop_when_told_to() {
    let child = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "interrupt::kernels"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&child.stdout);
    assert!(child.status.success() && said.contains("1 passed"), "{said}");
    assert!(!String::from_utf8_lossy(&child.stderr).contains("panicked"));
}

#[test]
fn a_scope_stops_by_itself_and_nothing_else_does() {
    let (p, reward) = (arms(20, 30), Reward::linear(30));
    let once = || index::general::index(p.view(), reward.view(), 0.9);
    let expected = once();
    let endless = || {
        // rayon's threads work for it as well as the one that called
        while rayon::join(once, once).0 == expected {}
    };
    let [one, other] = [Scope::default(), Scope::default()];
    std::thread::scope(|threads| {
        let stopped = threads.spawn(|| catch(|| one.run(endless)));
        let others: Vec<_> = (0..3)
            .map(|k| {
                let (other, once) = (&other, &once);
                threads.spawn(move || {
                    let many = || (0..100).map(|_| once()).next_back();
                    // in another scope, and in none
                    catch(|| if k == 0 { other.run(many).unwrap() } else { many() })
                })
            })
            .collect();
        std::thread::sleep(std::time::Duration::from_millis(20));
        let raised = one.raise();
        assert!(one.is_raised() && !other.is_raised());
        assert!(matches!(stopped.join().unwrap(), Err(Interrupted)));
        // while it is raised, whatever begins outside of it runs to its end
        assert!(catch(once).is_ok_and(|found| found == expected));
        for one in others {
            assert!(one.join().unwrap().is_ok_and(|found| found.as_ref() == Some(&expected)));
        }
        drop(raised);
    });
    assert!(!one.is_raised());
    assert!(catch(|| one.run(once)).is_ok_and(|found| found.unwrap() == expected));
}

#[test]
fn a_panic_in_a_scope_passes_through() {
    let caught = std::panic::catch_unwind(|| catch(|| Scope::default().run(|| panic!("something else"))));
    assert_eq!(caught.unwrap_err().downcast_ref::<&str>(), Some(&"something else"));
}

#[test]
fn other_panics_pass_through() {
    let caught = std::panic::catch_unwind(|| catch(|| panic!("something else")));
    assert_eq!(caught.unwrap_err().downcast_ref::<&str>(), Some(&"something else"));
}
