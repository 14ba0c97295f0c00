//! Plans of one processor verified on another: the second one is the same machine without vector instructions and fused multiply-adds.

use crate::harness::Cli;
use crate::programme::{Programme, options};
use serde_json::Value;
use std::collections::BTreeSet;

const RULES: &str =
    "budget = 24\nexplore = 0.25\n[[limit]]\nby = \"worker\"\nat_most = 4\n[[cool_down]]\nperiods = 2\n";

/// Returns the program on a processor without AVX2, AVX-512 and FMA: its own loops by its own variable, exponentials and logarithms by
/// that of the C library (GNU, under two names of the same features).
fn portable(programme: &Programme) -> Cli {
    let tunables =
        "glibc.cpu.hwcaps=-AVX2,-FMA,-FMA4,-AVX512F,-AVX2_Usable,-FMA_Usable,-FMA4_Usable,-AVX512F_Usable";
    Cli::clone(programme).env("RESTIVE_PORTABLE", "1").env("GLIBC_TUNABLES", tunables)
}

/// Whether results of the two processors differ on this machine.
fn rounds_differently() -> bool {
    #[cfg(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu"))]
    return std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma");
    #[cfg(not(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu")))]
    return false;
}

/// Returns what a plan states of the people on its list, by person.
fn rows(plan: &Value) -> BTreeSet<String> {
    plan["rows"].as_array().unwrap().iter().map(Value::to_string).collect()
}

#[test]
fn plan_of_one_processor_is_confirmed_on_another() {
    let programme = Programme::cached(&options(), &(), |programme| programme.train());
    programme.write("programme/rules.toml", RULES);
    let (native, portable) = (Cli::clone(&programme), portable(&programme));
    let mut differing = 0;
    for policy in ["--policy whittle", "--remaining 12"] {
        let planned = [&native, &portable]
            .map(|cli| cli.run(&format!("plan programme {policy} --again --json")).success().json());
        let [one, other] = planned.each_ref().map(rows);
        assert_eq!(one.len(), other.len());
        differing += one.difference(&other).count();
    }
    // otherwise this test could not fail
    assert!(differing > 0 || !rounds_differently());
    // each verifies the plans of both
    for (name, cli) in [("native", &native), ("portable", &portable)] {
        let verified = cli.run("audit verify programme --json").success().json();
        assert_eq!(verified["faults"].as_array().unwrap().len(), 0, "{name}: {verified}");
        let found: Vec<&str> = verified["plans"]
            .as_array()
            .unwrap()
            .iter()
            .map(|plan| plan["found"].as_str().unwrap())
            .collect();
        assert_eq!(found, ["same"; 4], "{name}: {verified}");
    }
}
