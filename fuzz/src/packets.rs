//! Packets: real transactions, edited, signed again or not, in batches of every shape.

use std::sync::LazyLock;

use ed25519_dalek::{Signer, SigningKey};
use octosig_cases::{
    edges::{L, add, challenge, small_order},
    signing_key,
};
use octosig_pipeline::solana_perf::packet::{
    BytesPacket, Meta, PACKET_DATA_SIZE, Packet, PacketBatch, PacketFlags, RecycledPacketBatch,
};

use crate::Input;

/// The most packets of an input: more than the pipeline's window of 512.
const MAX_PACKETS: usize = 600;
/// The most signatures, more than its chunk of 256, by the packets' own count.
const MAX_SIGNATURES: usize = 300;

/// Transactions of every version and form, of all of which solana-perf keeps a packet. Each follows
/// two bytes, its length. Written by `examples/seeds.rs` from vectors/.
static TRANSACTIONS: LazyLock<Vec<&[u8]>> = LazyLock::new(|| {
    let mut rest = &include_bytes!("transactions.bin")[..];
    let mut transactions = Vec::new();
    while let Some((len, after)) = rest.split_first_chunk() {
        let (transaction, after) = after.split_at(u16::from_le_bytes(*len).into());
        transactions.push(transaction);
        rest = after;
    }
    transactions
});

/// The batches of an input.
#[must_use]
pub fn read(input: &mut Input<'_>) -> Vec<PacketBatch> {
    let shape = input.byte();
    let split: [u8; 2] = input.array();
    let packets = read_packets(input);
    let mut rest = &packets[..];
    let mut batches = Vec::new();
    for turn in 0.. {
        if rest.is_empty() {
            break;
        }
        // A batch may be empty, but not every one.
        let len = usize::from(split[turn % 2]).max(turn % 2);
        let (batch, after) = rest.split_at(len.min(rest.len()));
        rest = after;
        match (shape, turn % 3) {
            (0..0x40, _) | (0xc0.., 0) => batches.push(PacketBatch::from(
                RecycledPacketBatch::new(batch.iter().map(Raw::pinned).collect()),
            )),
            (0x40..0x80, _) | (0xc0.., 1) => {
                batches.push(batch.iter().map(Raw::bytes).collect::<Vec<_>>().into());
            }
            _ => batches.extend(batch.iter().map(|raw| PacketBatch::Single(raw.bytes()))),
        }
    }
    batches
}

/// A packet before it gets the shape of a batch.
#[derive(Clone)]
struct Raw {
    data: Vec<u8>,
    meta: Meta,
    /// Whether `meta.size` is not that of the data.
    size: Option<usize>,
}

impl Raw {
    fn transaction(number: u8) -> Self {
        let data = TRANSACTIONS[usize::from(number) % TRANSACTIONS.len()].to_vec();
        Self { data, meta: Meta::default(), size: None }
    }

    fn meta(&self) -> Meta {
        let mut meta = self.meta.clone();
        meta.size = self.size.unwrap_or(self.data.len());
        meta
    }

    fn bytes(&self) -> BytesPacket {
        BytesPacket::new(self.data.clone().into(), self.meta())
    }

    /// What does not fit is cut off, but still counted by `meta.size`.
    fn pinned(&self) -> Packet {
        let mut buffer = [0; PACKET_DATA_SIZE];
        let len = self.data.len().min(PACKET_DATA_SIZE);
        buffer[..len].copy_from_slice(&self.data[..len]);
        Packet::new(buffer, self.meta())
    }

    fn edit(&mut self, kind: u8, input: &mut Input<'_>) {
        let data = &mut self.data;
        match kind {
            // Bytes anywhere.
            0 => {
                let at = input.index(data.len());
                put(data, at, &[input.byte()]);
            }
            1 => {
                let bit = input.index(8 * data.len());
                if let Some(byte) = data.get_mut(bit / 8) {
                    *byte ^= 1 << (bit % 8);
                }
            }
            2 => data.truncate(input.index(data.len() + 1)),
            3 => data.resize(data.len() + input.index(PACKET_DATA_SIZE), input.byte()),
            4 => data.insert(input.index(data.len() + 1), input.byte()),
            5 => {
                let at = input.index(data.len());
                data.drain(at..data.len().min(at + 1));
            }
            // Counters: of signatures, in the header, of keys; those near the keys' end.
            6 => put(data, 0, &[input.byte()]),
            7 => {
                let Layout { message, .. } = Layout::of(data);
                put(data, message + input.index(8), &[input.byte()]);
            }
            8 => {
                let Layout { keys, .. } = Layout::of(data);
                let count = data.get(keys.wrapping_sub(1)).copied().unwrap_or(0);
                put(data, keys + 32 * (usize::from(count) + 1) + input.index(8), &[input.byte()]);
            }
            // Signatures.
            9 => sign(data, input.byte(), |key, message| key.sign(message).to_bytes()),
            // By an R of small order, of which the rule alone rejects it.
            10 => {
                let encodings = small_order();
                let r = &encodings[input.index(encodings.len())];
                sign(data, input.byte(), |key, message| {
                    let k = challenge(r, key.verifying_key().as_bytes(), message);
                    let s = (k * key.to_scalar()).to_bytes();
                    std::array::from_fn(|i| if i < 32 { r[i] } else { s[i - 32] })
                });
            }
            11 => {
                let Layout { signatures, .. } = Layout::of(data);
                let s = signatures + 64 * input.index(4) + 32;
                if let Some(s) = data.get_mut(s..).and_then(<[u8]>::first_chunk_mut) {
                    *s = add(*s, L).0;
                }
            }
            12 => {
                let Layout { signatures, keys, .. } = Layout::of(data);
                let encodings = small_order();
                let encoding = &encodings[input.index(encodings.len())];
                // R, the key and S = 0 of one signer: all three may solve the equation.
                let (not, signer) = (input.byte(), input.index(4));
                let places = [
                    (signatures + 64 * signer, encoding),
                    (keys + 32 * signer, encoding),
                    (signatures + 64 * signer + 32, &[0; 32]),
                ];
                for (i, (at, bytes)) in places.into_iter().enumerate() {
                    if not >> i & 1 == 0 {
                        put(data, at, bytes);
                    }
                }
            }
            // What stands beside the bytes.
            13 => {
                self.meta.flags = PacketFlags::from_bits_truncate(input.byte());
                self.meta.port = input.byte().into();
            }
            _ => self.size = Some(input.index(2 * PACKET_DATA_SIZE)),
        }
    }
}

/// A packet, edits of it, and again. What is pushed stays as it is, and the next one begins as a
/// copy or anew.
fn read_packets(input: &mut Input<'_>) -> Vec<Raw> {
    let mut packets = Vec::new();
    let mut signatures = 0;
    let mut packet = Raw::transaction(input.byte());
    let mut push = |packet: &Raw, copies: u8| {
        for _ in 0..copies {
            signatures += match packet.data.first() {
                Some(&count @ 1..=12) => count.into(),
                Some(0x81) => packet.data.get(1).copied().unwrap_or(0).into(),
                _ => 0,
            };
            if packets.len() < MAX_PACKETS && signatures <= MAX_SIGNATURES {
                packets.push(packet.clone());
            }
        }
    };
    while !input.is_empty() {
        match input.byte() {
            kind @ 0..0xa0 => packet.edit(kind & 0x0f, input),
            0xa0..0xe0 => {
                push(&packet, 1);
                packet = Raw::transaction(input.byte());
            }
            0xe0..0xf8 => push(&packet, 1),
            0xf8.. => push(&packet, input.byte()),
        }
    }
    push(&packet, 1);
    packets
}

/// Where the parts of a transaction begin, if the first bytes say true.
struct Layout {
    signatures: usize,
    count: usize,
    message: usize,
    message_end: usize,
    keys: usize,
}

impl Layout {
    fn of(data: &[u8]) -> Self {
        let byte = |at| data.get(at).copied().map_or(0, usize::from);
        if byte(0) & 0x80 != 0 {
            // Version 1: signatures are last, and keys follow 42 bytes.
            let count = byte(1);
            let signatures = data.len().saturating_sub(64 * count);
            return Self { signatures, count, message: 0, message_end: signatures, keys: 42 };
        }
        let count = byte(0);
        let message = 1 + 64 * count;
        // Version 0 has a byte more in front of the header.
        let keys = message + if byte(message) & 0x80 == 0 { 4 } else { 5 };
        Self { signatures: 1, count, message, message_end: data.len(), keys }
    }
}

/// Puts keys of our own in place of the signers' and signs the message as it is.
fn sign(data: &mut [u8], first: u8, by: impl Fn(&SigningKey, &[u8]) -> [u8; 64]) {
    static KEYS: LazyLock<[SigningKey; 16]> =
        LazyLock::new(|| std::array::from_fn(|seed| signing_key(seed as u64)));
    let Layout { signatures, count, message, message_end, keys } = Layout::of(data);
    let signers = || (0..count).zip(KEYS.iter().cycle().skip(usize::from(first) % KEYS.len()));
    for (i, key) in signers() {
        put(data, keys + 32 * i, key.verifying_key().as_bytes());
    }
    let message = data.get(message..message_end).unwrap_or_default().to_vec();
    for (i, key) in signers().take(KEYS.len()) {
        put(data, signatures + 64 * i, &by(key, &message));
    }
}

/// Where there is room.
fn put(data: &mut [u8], at: usize, bytes: &[u8]) {
    if let Some(place) = data.get_mut(at..at + bytes.len()) {
        place.copy_from_slice(bytes);
    }
}
