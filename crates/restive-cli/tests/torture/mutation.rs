//! What can happen to a file: bits flip, pieces go, come twice or come from another file, numbers become absurd.

use rand::RngExt;
use restive::random::Random;

/// Words that parsers dislike.
const WORDS: [&str; 24] = [
    "",
    "NaN",
    "-inf",
    "1e308",
    "-1e-320",
    "18446744073709551616",
    "-1",
    "0x10",
    "1,5",
    "\u{202e}",
    "\u{0}",
    "\u{1b}[2J",
    "=1+1",
    "\"",
    "\"\"\"",
    "\r\n",
    "\n\n",
    "\t",
    "{",
    "]",
    "null",
    "true",
    "\u{feff}",
    "99999999999999999999999999999999",
];

/// Changes some bytes, one to four times; `other` lends pieces.
pub(crate) fn mutate(bytes: &mut Vec<u8>, other: &[u8], random: &mut Random) {
    for _ in 0..random.random_range(1..=4) {
        let at = random.random_range(0..=bytes.len());
        let end = (at + random.random_range(1..=16)).min(bytes.len());
        match random.random_range(0..10) {
            0 if at < bytes.len() => bytes[at] ^= 1 << random.random_range(0..8),
            1 if at < bytes.len() => bytes[at] = random.random(),
            2 => bytes.truncate(at),
            3 => drop(bytes.drain(at..end)),
            4 => {
                let piece = bytes[at..end].to_vec();
                bytes.splice(at..at, piece);
            }
            5 => {
                let from = random.random_range(0..=other.len());
                let to = (from + random.random_range(1..=64)).min(other.len());
                bytes.splice(at..at, other[from..to].iter().copied());
            }
            6 => {
                let word = WORDS[random.random_range(0..WORDS.len())];
                bytes.splice(at..end, word.bytes());
            }
            7 => {
                // a number where one stands
                let digits = bytes.iter().skip(at).position(u8::is_ascii_digit).map(|k| at + k);
                if let Some(start) = digits {
                    let length = bytes[start..].iter().take_while(|b| b.is_ascii_digit()).count();
                    let word = WORDS[random.random_range(1..9)];
                    bytes.splice(start..start + length, word.bytes());
                }
            }
            8 => {
                // lengths and offsets of binary formats
                let value: u64 = [0, 1, u64::from(u32::MAX), u64::MAX, 1 << 40][random.random_range(0..5)];
                let end = (at + 8).min(bytes.len());
                bytes.splice(at..end, value.to_le_bytes());
            }
            _ => {
                let (first, second) = (at.min(end), at.max(end));
                bytes[first..second].reverse();
            }
        }
    }
}
