//! The header of a `.npy` file: a few fixed bytes and a Python dictionary in text.
//!
//! The parser reads exactly the dictionaries that NumPy writes, keys in any order, and refuses everything else.

use crate::show::quoted;
use std::io::Read;

/// What stands before the numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Header {
    /// the type of the numbers, such as `<f8`
    pub(crate) descr: String,
    pub(crate) is_fortran: bool,
    pub(crate) shape: Vec<usize>,
    /// bytes up to the first number
    pub(crate) bytes: u64,
}

impl Header {
    /// Reads the header, or says in words what is wrong with it.
    pub(crate) fn read(reader: &mut impl Read) -> Result<Self, String> {
        const LONGEST: usize = 1 << 16;
        let mut exactly = |count: usize| {
            let mut bytes = vec![0; count];
            reader.read_exact(&mut bytes).map_err(|_| "it ends within the header".to_string())?;
            Ok::<_, String>(bytes)
        };
        let start = exactly(8)?;
        if start[..6] != *b"\x93NUMPY" {
            return Err("it does not start as one".into());
        }
        // Version 1 counts the header in two bytes, later versions in four.
        let digits = if start[6] == 1 { 2 } else { 4 };
        let length = exactly(digits)?.iter().rev().fold(0, |n, byte| n << 8 | usize::from(*byte));
        if length > LONGEST {
            return Err(format!("its header would have {length} bytes"));
        }
        let text = String::from_utf8(exactly(length)?).map_err(|_| "its header is not text")?;
        let (descr, is_fortran, shape) = parse_dictionary(&text)
            .ok_or_else(|| format!("its header is {}", quoted(text.trim_end().as_bytes())))?;
        Ok(Self { descr, is_fortran, shape, bytes: (8 + digits + length) as u64 })
    }
}

/// Reads `{'descr': '<f8', 'fortran_order': False, 'shape': (3, 2, 2, 2), }`, keys in any order.
fn parse_dictionary(text: &str) -> Option<(String, bool, Vec<usize>)> {
    let mut rest = text.trim().strip_prefix('{')?.strip_suffix('}')?.trim_start();
    let (mut descr, mut is_fortran, mut shape) = (None, None, None);
    while !rest.is_empty() {
        let (key, after) = parse_quoted(rest)?;
        let value = after.trim_start().strip_prefix(':')?.trim_start();
        rest = match key {
            "descr" => {
                let (kind, after) = parse_quoted(value)?;
                descr = Some(kind.to_owned());
                after
            }
            "fortran_order" => {
                let word_end = value.find(|c: char| !c.is_ascii_alphabetic())?;
                is_fortran = Some(match &value[..word_end] {
                    "True" => true,
                    "False" => false,
                    _ => return None,
                });
                &value[word_end..]
            }
            "shape" => {
                let (axes, after) = value.strip_prefix('(')?.split_once(')')?;
                let axes = axes.trim().trim_end_matches(',');
                let axes = axes.split(',').filter(|axis| !axis.trim().is_empty());
                shape = Some(axes.map(|axis| axis.trim().parse().ok()).collect::<Option<Vec<usize>>>()?);
                after
            }
            _ => return None,
        };
        rest = rest.trim_start();
        rest = rest.strip_prefix(',').or(rest.is_empty().then_some(rest))?.trim_start();
    }
    Some((descr?, is_fortran?, shape?))
}

/// A word in quotes, and what follows it.
fn parse_quoted(text: &str) -> Option<(&str, &str)> {
    let quote = text.chars().next().filter(|c| "'\"".contains(*c))?;
    text[1..].split_once(quote)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn header(text: &str) -> Vec<u8> {
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((text.len() as u16).to_le_bytes());
        bytes.extend(text.as_bytes());
        bytes
    }

    #[test]
    fn headers_as_numpy_writes_them_are_read() {
        let text = "{'descr': '<f4', 'fortran_order': False, 'shape': (10, 3, 2, 3), }          \n";
        let read = Header::read(&mut &header(text)[..]).unwrap();
        assert_eq!(
            (read.descr.as_str(), read.is_fortran, &read.shape[..]),
            ("<f4", false, &[10, 3, 2, 3][..])
        );
        assert_eq!(read.bytes, 10 + text.len() as u64);
        for (text, axes) in [("()", 0), ("(5,)", 1), ("(5, 4)", 2)] {
            let text = format!("{{'shape': {text}, 'fortran_order': True, 'descr': '|b1'}}");
            let (_, is_fortran, shape) = parse_dictionary(&text).unwrap();
            assert!(is_fortran && shape.len() == axes);
        }
    }

    #[test]
    fn other_headers_are_refused_in_words() {
        let refused = |bytes: &[u8]| Header::read(&mut &bytes[..]).unwrap_err();
        assert_eq!(refused(b"PK\x03\x04 and more"), "it does not start as one");
        assert_eq!(refused(b"\x93NUM"), "it ends within the header");
        assert_eq!(refused(b"\x93NUMPY\x02\x00\xff\xff\xff\xff"), "its header would have 4294967295 bytes");
        for text in
            ["", "{}", "{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,)}", "{'shape': (-1,)}"]
        {
            assert!(refused(&header(text)).starts_with("its header is "), "{text}");
        }
    }

    proptest! {
        #![proptest_config(proptest::test_runner::Config { rng_seed: proptest::test_runner::RngSeed::Fixed(1), failure_persistence: None, ..Default::default() })]

        #[test]
        fn no_bytes_make_the_parser_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = Header::read(&mut &bytes[..]);
        }

        #[test]
        fn no_text_makes_the_parser_panic(text in "[{}'\":(), a-z0-9]{0,60}|\\PC{0,60}") {
            let _ = Header::read(&mut &header(&text)[..]);
        }
    }
}
