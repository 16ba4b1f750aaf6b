//! Messages of every length class, alone and ragged.

use rand::{SeedableRng, rngs::StdRng, seq::SliceRandom};

use octosig_cases::{Case, Verdicts};

use crate::harness::{LANES, check, verifiers};

/// SHA-512 takes blocks of 128 bytes; before the message go 64 of R and A, after it at least 17
/// of padding and length.
fn lengths() -> Vec<usize> {
    let mut lengths: Vec<usize> = (0..=300).collect();
    for block in (384..=1_408).step_by(128) {
        for edge in [block - 64 - 17, block - 64] {
            lengths.extend(edge - 2..=edge + 2);
        }
        lengths.extend(block - 1..=block + 1);
    }
    lengths.extend([10_000, 65_535, 65_536, 100_003, 1 << 20]);
    lengths
}

/// For each length an honest signature, and one whose message lost or changed its last byte.
fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for (seed, len) in (0..).zip(lengths()) {
        let honest = Case::honest(seed, len);
        let mut cut = honest.clone();
        let mut changed = honest.clone();
        if cut.message.pop().is_some() {
            cut.name += ", last byte cut off";
            cut.verdicts = Verdicts::NONE;
            cases.push(cut);
            changed.message[len - 1] ^= 0x80;
            changed.name += ", last byte changed";
            changed.verdicts = Verdicts::NONE;
            cases.push(changed);
        }
        cases.push(honest);
    }
    cases
}

#[test]
fn ragged_lengths() {
    let mut cases = cases();
    let mut rng = StdRng::seed_from_u64(1);
    for mut verifier in verifiers() {
        check(&mut verifier, &cases);
        cases.shuffle(&mut rng);
        check(&mut verifier, &cases);
        for group in cases.chunks(LANES) {
            check(&mut verifier, group);
        }
    }
}

#[test]
fn equal_lengths() {
    for len in lengths() {
        let honest = Case::honest(len as u64, len);
        let broken = Case::broken(len as u64, len);
        for mut verifier in verifiers() {
            check(
                &mut verifier,
                [&honest, &broken, &honest, &honest, &broken, &broken, &honest, &honest, &broken],
            );
        }
    }
}

#[test]
fn one_long_message_among_short_ones() {
    let long = Case::honest(1, 100_000);
    let short: Vec<Case> = (0..LANES as u64 - 1).map(|seed| Case::honest(seed, 1)).collect();
    for mut verifier in verifiers() {
        for lane in 0..LANES {
            let (before, after) = short.split_at(lane);
            check(&mut verifier, before.iter().chain([&long]).chain(after));
        }
    }
}
