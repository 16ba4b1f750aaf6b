//! Signatures in one flat buffer, found by offsets.

use std::fmt;

use octosig::Item;
use solana_perf::packet::bytes::Bytes;

/// Where the signatures of a [`FlatBatch`] lie in its buffer, in bytes from its beginning: entry i of each
/// array belongs to signature i. Entries may overlap: many signatures may share a message.
///
/// These are the arrays that the CUDA verifier of Agave before 4.0 took (`ed25519_verify_many`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Offsets {
    /// Of the public keys, 32 bytes each.
    pub public_keys: Vec<u32>,
    /// Of the signatures, 64 bytes each.
    pub signatures: Vec<u32>,
    /// Of the messages.
    pub messages: Vec<u32>,
    /// The lengths of the messages.
    pub message_lengths: Vec<u32>,
}

/// A buffer and the signatures in it. [`FlatBatch::new`] has checked every offset.
#[derive(Clone, Debug)]
pub struct FlatBatch {
    buffer: Bytes,
    offsets: Offsets,
}

/// What is wrong with offsets.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OffsetError {
    /// The arrays have different lengths.
    LengthMismatch,
    /// Signature `index` points outside of the buffer.
    OutOfBounds {
        /// The position in the arrays.
        index: usize,
    },
}

impl fmt::Display for OffsetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LengthMismatch => f.write_str("the arrays of offsets have different lengths"),
            Self::OutOfBounds { index } => {
                write!(f, "signature {index} points outside of the buffer")
            }
        }
    }
}

impl std::error::Error for OffsetError {}

impl FlatBatch {
    /// Takes the buffer without copying it.
    ///
    /// # Errors
    ///
    /// If the arrays differ in length, or if any key, signature or message is not wholly in the buffer.
    pub fn new(buffer: Bytes, offsets: Offsets) -> Result<Self, OffsetError> {
        let len = offsets.signatures.len();
        let others =
            [&offsets.public_keys, &offsets.messages, &offsets.message_lengths].map(Vec::len);
        if others != [len; 3] {
            return Err(OffsetError::LengthMismatch);
        }
        let batch = Self { buffer, offsets };
        match (0..len).find(|index| batch.item(*index).is_none()) {
            Some(index) => Err(OffsetError::OutOfBounds { index }),
            None => Ok(batch),
        }
    }

    /// The number of signatures.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.offsets.signatures.len()
    }

    /// Whether there is no signature.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The buffer.
    #[must_use]
    pub const fn buffer(&self) -> &Bytes {
        &self.buffer
    }

    /// The offsets.
    #[must_use]
    pub const fn offsets(&self) -> &Offsets {
        &self.offsets
    }

    /// Signature `index`; `None` beyond the end.
    pub(crate) fn item(&self, index: usize) -> Option<Item<'_>> {
        let from = |offsets: &[u32]| self.buffer.get(usize::try_from(*offsets.get(index)?).ok()?..);
        let length = usize::try_from(*self.offsets.message_lengths.get(index)?).ok()?;
        Some(Item {
            public_key: from(&self.offsets.public_keys)?.first_chunk()?,
            signature: from(&self.offsets.signatures)?.first_chunk()?,
            message: from(&self.offsets.messages)?.get(..length)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offsets(public_key: u32, signature: u32, message: u32, length: u32) -> Offsets {
        Offsets {
            public_keys: vec![0, public_key],
            signatures: vec![0, signature],
            messages: vec![0, message],
            message_lengths: vec![0, length],
        }
    }

    #[test]
    fn offsets_have_to_lie_in_the_buffer() {
        let buffer = Bytes::from(vec![7; 100]);
        let new = |offsets| FlatBatch::new(buffer.clone(), offsets).map(|batch| batch.len());
        for (public_key, signature, message, length) in
            [(68, 36, 0, 100), (0, 0, 100, 0), (1, 2, 99, 1), (68, 36, 50, 50)]
        {
            assert_eq!(new(offsets(public_key, signature, message, length)), Ok(2));
        }
        for (public_key, signature, message, length) in [
            (69, 0, 0, 0),
            (0, 37, 0, 0),
            (0, 0, 101, 0),
            (0, 0, 0, 101),
            (0, 0, 51, 50),
            (u32::MAX, 0, 0, 0),
            (0, u32::MAX, 0, 0),
            (0, 0, u32::MAX, 1),
            (0, 0, 1, u32::MAX),
        ] {
            let error = Err(OffsetError::OutOfBounds { index: 1 });
            assert_eq!(new(offsets(public_key, signature, message, length)), error);
        }
        let mut uneven = offsets(0, 0, 0, 0);
        uneven.messages.push(0);
        assert_eq!(new(uneven), Err(OffsetError::LengthMismatch));
        assert_eq!(new(Offsets::default()), Ok(0));
    }
}
