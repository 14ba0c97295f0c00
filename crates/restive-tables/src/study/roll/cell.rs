//! What was logged of a person at a step, in one byte: the state in the lower six bits, the action in the upper two.

use restive::instance::{NO_ACTION, UNSEEN};

/// The most states that fit.
pub(super) const MOST_STATES: usize = 60;

/// No row has spoken of it.
pub(super) const NO_ROW: u8 = 0xff;

const NO_STATE: u8 = 63;

/// Packs what a row says.
#[inline]
pub(super) fn pack(state: u16, action: u8) -> u8 {
    let state = if state == UNSEEN { NO_STATE } else { state as u8 };
    state | action.min(2) << 6
}

/// The state, or [`UNSEEN`].
#[inline]
pub(super) fn state(cell: u8) -> u16 {
    match cell & NO_STATE {
        NO_STATE => UNSEEN,
        state => u16::from(state),
    }
}

/// The action, or [`NO_ACTION`].
#[inline]
pub(super) fn action(cell: u8) -> u8 {
    if cell >> 6 < 2 { cell >> 6 } else { NO_ACTION }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_come_back_and_are_never_no_row() {
        for s in (0..MOST_STATES as u16).chain([UNSEEN]) {
            for a in [0, 1, NO_ACTION] {
                let cell = pack(s, a);
                assert_eq!((state(cell), action(cell)), (s, a));
                assert_ne!(cell, NO_ROW);
            }
        }
        assert_eq!((state(NO_ROW), action(NO_ROW)), (UNSEEN, NO_ACTION));
    }
}
