//! The encoding of text, and text in any encoding as UTF-8.
//!
//! What was declared is believed, but a byte-order mark is believed before it. Without either, the first MiB decides:
//! it is UTF-16 if nearly every second byte is zero and the others are not, what is valid is UTF-8, and the rest is guessed
//! from the frequency of letters, which is noted. A few broken bytes among many sound characters of UTF-8 do not make another encoding: guessing
//! there would spoil every name of the file, while the rows with those bytes can be set aside.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{CoderResult, Decoder, Encoding, UTF_8, UTF_16BE, UTF_16LE};
use std::io::{self, Read};

/// How much of a file is looked at.
pub(super) const HEAD: usize = 1 << 20;

/// Encodings of more than a byte for each letter.
pub(super) enum Wide {
    Utf16(&'static Encoding),
    Utf32,
}

/// Encoding of a text without a byte-order mark of which nearly every letter is one of ASCII, by the places of its zero bytes.
fn wide_by_zeros(head: &[u8]) -> Option<Wide> {
    let groups = head.len() / 4;
    let mut zeros = [0; 4];
    for group in head.chunks_exact(4) {
        zeros.iter_mut().zip(group).for_each(|(count, byte)| *count += usize::from(*byte == 0));
    }
    let are = |pattern: [bool; 4]| {
        let is = |(count, is_zero): (&usize, bool)| match is_zero {
            true => 10 * count >= 9 * groups,
            false => 10 * count <= groups,
        };
        groups > 0 && zeros.iter().zip(pattern).all(is)
    };
    match () {
        () if are([false, true, false, true]) => Some(Wide::Utf16(UTF_16LE)),
        () if are([true, false, true, false]) => Some(Wide::Utf16(UTF_16BE)),
        () if are([false, true, true, true]) || are([true, true, true, false]) => Some(Wide::Utf32),
        () => None,
    }
}

/// Whether a text is in UTF-32, which no decoder of this crate reads.
pub(super) fn is_utf32(head: &[u8]) -> bool {
    let has_mark = head.starts_with(b"\xff\xfe\0\0") || head.starts_with(b"\0\0\xfe\xff");
    has_mark || matches!(wide_by_zeros(head), Some(Wide::Utf32))
}

/// The encoding of a text by its beginning, and whether it was guessed. The head is whole where the text is no longer.
pub(super) fn recognise(head: &[u8], is_whole: bool) -> (&'static Encoding, bool) {
    if let Some((encoding, _)) = Encoding::for_bom(head) {
        return (encoding, false);
    }
    match wide_by_zeros(head) {
        Some(Wide::Utf16(encoding)) => return (encoding, true),
        Some(Wide::Utf32) | None => {}
    }
    let (mut broken, mut sound, mut seen) = (0, 0, 0);
    for chunk in head.utf8_chunks() {
        seen += chunk.valid().len() + chunk.invalid().len();
        // the last character may be cut
        broken += usize::from(!chunk.invalid().is_empty() && (is_whole || seen + 3 < head.len()));
        sound += chunk.valid().chars().filter(|c| !c.is_ascii()).count();
    }
    if broken == 0 || sound > 10 * broken {
        return (UTF_8, false);
    }
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(head, is_whole);
    (detector.guess(None, Utf8Detection::Deny), true)
}

/// Text in some encoding, read as UTF-8. What cannot be decoded becomes U+FFFD.
pub(super) struct Decoded<R> {
    bytes: R,
    decoder: Decoder,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    is_last: bool,
}

/// The least room that any decoder needs for a character and its marks.
const LEAST_ROOM: usize = 16;

impl<R: Read> Decoded<R> {
    pub(super) fn new(bytes: R, encoding: &'static Encoding) -> Self {
        let buffer = vec![0; 1 << 16];
        Self { bytes, decoder: encoding.new_decoder(), buffer, start: 0, end: 0, is_last: false }
    }
}

impl<R: Read> Read for Decoded<R> {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        if room.len() < LEAST_ROOM {
            return Err(io::Error::other("the buffer has no room for a character"));
        }
        loop {
            if self.start == self.end && !self.is_last {
                self.start = 0;
                self.end = self.bytes.read(&mut self.buffer)?;
                self.is_last = self.end == 0;
            }
            let given = &self.buffer[self.start..self.end];
            let (result, read, written, _) = self.decoder.decode_to_utf8(given, room, self.is_last);
            self.start += read;
            let is_over = self.is_last && matches!(result, CoderResult::InputEmpty);
            if is_over {
                // a decoder must not be used after its end
                self.decoder = UTF_8.new_decoder_without_bom_handling();
            }
            if written > 0 || is_over {
                return Ok(written);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use encoding_rs::WINDOWS_1252;

    #[test]
    fn encodings_are_told_by_the_beginning() {
        let le = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
        let be = |text: &str| text.encode_utf16().flat_map(u16::to_be_bytes).collect::<Vec<u8>>();
        let cases: [(Vec<u8>, &Encoding, bool); 9] = [
            (b"plain".to_vec(), UTF_8, false),
            ("\u{feff}plain".into(), UTF_8, false),
            ("Ñandú अनिता".into(), UTF_8, false),
            (le("\u{feff}id"), UTF_16LE, false),
            (be("\u{feff}id"), UTF_16BE, false),
            (le("id,name\n1,Anita\n2,अनि\n3,Bina\n4,Chitra\n5,Devi"), UTF_16LE, true),
            (be("id,name\n1,Anita\n2,अनि\n3,Bina\n4,Chitra\n5,Devi"), UTF_16BE, true),
            (b"nom\nAndr\xe9 Lef\xe8vre\n\xc9milie".to_vec(), WINDOWS_1252, true),
            ([&"अनिता देवी ".repeat(9).into_bytes()[..], b"\xe9 and on"].concat(), UTF_8, false),
        ];
        for (bytes, encoding, guessed) in cases {
            assert_eq!(recognise(&bytes, true), (encoding, guessed), "{bytes:?}");
        }
        assert_eq!(recognise(&"नि".as_bytes()[..4], false), (UTF_8, false));
        // a zero byte here and there makes no UTF-16, on whichever side of a pair it is
        for text in [
            "id;name\nB1;Sita Dev\0i\n",
            "id;name\nB1;Sita De\0vi\n",
            "i\0d\0;name;phone\nB1;Sita Devi;1\n",
            "a\0",
            "\0a\0\0",
        ] {
            assert_eq!(recognise(text.as_bytes(), true), (UTF_8, false), "{text:?}");
            assert!(!is_utf32(text.as_bytes()), "{text:?}");
        }
        let wide: Vec<u8> = "id,name".chars().flat_map(|c| (c as u32).to_be_bytes()).collect();
        assert!(is_utf32(&wide));
    }

    #[test]
    fn decoding_goes_on_over_the_ends_of_buffers() {
        let text = "é₹𝄞 ".repeat(40_000);
        let bytes: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        let mut decoded = Decoded::new(&bytes[..], UTF_16BE);
        let (mut whole, mut room) = (Vec::new(), [0; 1021]);
        loop {
            match decoded.read(&mut room).expect("memory can be read") {
                0 => break,
                count => whole.extend_from_slice(&room[..count]),
            }
        }
        assert_eq!(decoded.read(&mut room).expect("still at the end"), 0);
        assert!(whole == text.as_bytes());
    }
}
