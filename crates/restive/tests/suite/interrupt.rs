//! Kernels that are told to stop do.

use crate::arms::random;
use ndarray::{Array2, Array4};
use rand::RngExt;
use restive::interrupt::{Interrupted, Interruption, catch};
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
    let kernels: [&(dyn Fn() + Sync); 4] = [&bisection, &general, &soft, &prices];
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
fn other_panics_pass_through() {
    let caught = std::panic::catch_unwind(|| catch(|| panic!("something else")));
    assert_eq!(caught.unwrap_err().downcast_ref::<&str>(), Some(&"something else"));
}
