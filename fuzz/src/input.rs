//! The fuzzer's bytes, read from the front.

/// The bytes that are left. What is read beyond their end is 0.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    /// All of `bytes`.
    #[must_use]
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// Whether nothing is left.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The next `N` bytes.
    pub fn array<const N: usize>(&mut self) -> [u8; N] {
        let mut out = [0; N];
        let (taken, rest) = self.0.split_at(self.0.len().min(N));
        out[..taken.len()].copy_from_slice(taken);
        self.0 = rest;
        out
    }

    /// The next byte.
    pub fn byte(&mut self) -> u8 {
        self.array::<1>()[0]
    }

    /// An index below `len`, from two bytes; 0 if there is none.
    pub fn index(&mut self, len: usize) -> usize {
        usize::from(u16::from_le_bytes(self.array())) % len.max(1)
    }

    /// A message below `limit` bytes: for the most part a piece of [`PATTERN`] of less than 256
    /// bytes, else a longer one, or up to 255 bytes of the input.
    pub fn message(&mut self, limit: usize) -> Vec<u8> {
        let [low, high] = self.array();
        if high == RAW {
            return (0..low).map(|_| self.byte()).collect();
        }
        let len =
            if high < 0x80 { low.into() } else { usize::from(u16::from_le_bytes([low, high])) };
        let offset = usize::from(self.byte());
        PATTERN[offset..offset + len % limit].to_vec()
    }
}

/// The high byte of a length, for [`Input::message`], of bytes that follow.
pub const RAW: u8 = 0xff;

/// Bytes without a short period, for messages whose content does not matter.
pub static PATTERN: [u8; 0x1_0100] = {
    let mut pattern = [0; _];
    let (mut i, mut state) = (0, 1u32);
    while i < pattern.len() {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        pattern[i] = (state >> 24) as u8;
        i += 1;
    }
    pattern
};
