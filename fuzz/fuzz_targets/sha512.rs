//! SHA-512(R ‖ A ‖ M) of many messages in lanes, and of each alone, beside `sha2` on the whole.
#![no_main]

use libfuzzer_sys::fuzz_target;
use octosig::{Item, fuzzing};
use octosig_fuzz::{Input, PATTERN, count_compared};
use sha2::{Digest, Sha512};

/// As many as the verifier hashes in one call.
const MAX: usize = 64;
/// The bytes after which no message follows.
const MAX_BYTES: usize = 0x4_0000;

fuzz_target!(|data: &[u8]| {
    let mut input = Input::new(data);
    let kind = input.byte();
    // Now and then beyond 2^16 bytes, too.
    let (limit, repeat) = if kind < 0xf0 { (1_300, 1) } else { (0x1_0000, 1 << (kind & 3)) };
    let (mut messages, mut bytes) = (Vec::new(), 0);
    while messages.is_empty() || messages.len() < MAX && bytes < MAX_BYTES && !input.is_empty() {
        let message = input.message(limit).repeat(repeat);
        bytes += message.len();
        messages.push(message);
    }
    let items = messages.iter().map(|message| {
        let (_, pattern) = PATTERN.split_at(message.len() % 0x100);
        let (public_key, pattern) = pattern.split_first_chunk().expect("32 bytes");
        let (signature, _) = pattern.split_first_chunk().expect("64 bytes");
        Item { public_key, signature, message }
    });
    let items: Vec<_> = items.collect();
    let expected = items.iter().map(|item| {
        let hash = Sha512::new().chain_update(&item.signature[..32]).chain_update(item.public_key);
        <[u8; 64]>::from(hash.chain_update(item.message).finalize())
    });
    let expected: Vec<_> = expected.collect();
    assert_eq!(fuzzing::digest(&items[0]), expected[0]);
    for digests in fuzzing::digests(&items) {
        assert_eq!(digests, expected);
        count_compared(items.len());
    }
    count_compared(1);
});
