//! Keys, as a few lines of Python compute them.

use restive::allocation::tie_key;

#[test]
fn keys_are_what_the_essay_says() {
    for (seed, period, id, key) in GOLDEN {
        assert_eq!(tie_key(seed, period, id), key, "{seed}/{period}/{id}");
    }
}

/// From Python: `h = 0xcbf29ce484222325`, `h = (h ^ b) * 0x100000001b3 & M` per byte, then the three lines of the finaliser.
const GOLDEN: [(u64, &str, &str, u64); 5] = [
    (0, "", "", 0x04170ea9f1fb3f44),
    (7, "2026-W03", "a-17", 0xc52c97f780b2df33),
    (7, "2026-W04", "a-17", 0x4dd05dd31e760c1b),
    (18446744073709551615, "12", "Nandi Ó", 0xc13f4f6e1889422a),
    (42, "3", "अ/1", 0x6420c4b8f1e806f8),
];
