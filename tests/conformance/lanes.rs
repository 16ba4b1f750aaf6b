//! The verdict of a lane never depends on the other seven.

use rand::{Rng, SeedableRng, rngs::StdRng, seq::SliceRandom};

use octosig::Profile;
use octosig_cases::Case;

use crate::harness::{LANES, check, verifiers};

/// Inputs that fail at every step of the verification.
fn poison() -> Vec<Case> {
    let honest = Case::honest(1, 100);
    let (a, r, s, message) = (honest.public_key, honest.r(), honest.s(), &honest.message[..]);
    let mut undecodable = [0; 32];
    undecodable[0] = 2;
    let mut identity = [0; 32];
    identity[0] = 1;
    let cases = vec![
        Case::from_parts("all bits set", [0xff; 32], [0xff; 32], [0xff; 32], [0xff; 300]),
        Case::from_parts("all bits clear", [0; 32], [0; 32], [0; 32], ""),
        Case::from_parts("A undecodable", undecodable, r, s, message),
        Case::from_parts("R undecodable", a, undecodable, s, message),
        Case::from_parts("A of small order", identity, r, s, message),
        Case::from_parts("R of small order", a, identity, s, message),
        Case::from_parts("S out of range", a, r, [0xff; 32], message),
        Case::from_parts("S zero", a, r, [0; 32], message),
        Case::from_parts("another message", a, r, s, vec![0; 5_000]),
        Case::broken(2, 0),
    ];
    assert!(cases.iter().all(|case| !case.verdicts.of(Profile::DalekStrict)));
    cases
}

#[test]
fn seven_poisoned_lanes() {
    let honest = Case::honest(3, 200);
    for mut verifier in verifiers() {
        for poison in &poison() {
            for lane in 0..LANES {
                check(&mut verifier, (0..LANES).map(|i| if i == lane { &honest } else { poison }));
                check(&mut verifier, (0..LANES).map(|i| if i == lane { poison } else { &honest }));
            }
        }
    }
}

/// Signatures that share one inversion: a lane's denominators are multiplied over many groups.
#[test]
fn undecodable_keys_among_many() {
    let honest = Case::honest(4, 32);
    let undecodable: Vec<Case> = (2..=255)
        .map(|y| {
            let mut key = honest.public_key;
            (key[0], key[31]) = (y, key[31] & 0x80 | y >> 1);
            Case::from_parts(format!("A {y}"), key, honest.r(), honest.s(), &honest.message[..])
        })
        .filter(|case| ed25519_dalek::VerifyingKey::from_bytes(&case.public_key).is_err())
        .collect();
    assert!(undecodable.len() > 64);
    for mut verifier in verifiers() {
        for stride in [2, 3, 7, 8, 9, 63, 64, 65] {
            check(
                &mut verifier,
                undecodable.iter().enumerate().flat_map(|(i, case)| {
                    std::iter::once(case).chain((i % stride == 0).then_some(&honest))
                }),
            );
        }
    }
}

#[test]
fn every_pattern_of_verdicts() {
    let honest: Vec<Case> = (0..LANES as u64).map(|seed| Case::honest(seed, 32)).collect();
    let broken: Vec<Case> = (0..LANES as u64).map(|seed| Case::broken(seed, 32)).collect();
    for mut verifier in verifiers() {
        for pattern in 0..1_u32 << LANES {
            let choose = |i: usize| if pattern >> i & 1 == 1 { &honest[i] } else { &broken[i] };
            check(&mut verifier, (0..LANES).map(choose));
        }
    }
}

#[test]
fn permutations() {
    let mut rng = StdRng::seed_from_u64(8);
    let mut cases = poison();
    cases.extend((0..10).map(|seed| Case::honest(seed, 40 * seed as usize)));
    for mut verifier in verifiers() {
        for _ in 0..200 {
            cases.shuffle(&mut rng);
            let count = rng.random_range(1..=cases.len());
            check(&mut verifier, &cases[..count]);
        }
    }
}

/// Keys that a verifier might decode only once, with good and bad signatures below each.
#[test]
fn repeated_keys() {
    let mut rng = StdRng::seed_from_u64(9);
    for mut verifier in verifiers() {
        for keys in [1, 2, 3, 8, 9, 33] {
            for count in [2, 7, 8, 9, 16, 64, 65] {
                let mut cases: Vec<Case> = (0..count)
                    .map(|i| match rng.random_range(0..4) {
                        0 => Case::broken(i as u64 % keys, 10 + i),
                        _ => Case::honest(i as u64 % keys, 10 + i),
                    })
                    .collect();
                cases.extend(poison().into_iter().flat_map(|case| [case.clone(), case]));
                // Nearly the same keys: one bit of the last byte, or of the first.
                for bit in [(31, 0x80), (31, 1), (0, 1)] {
                    let (mut key, case) = (cases[0].public_key, &cases[0]);
                    key[bit.0] ^= bit.1;
                    let twin = Case::from_parts("twin", key, case.r(), case.s(), &case.message[..]);
                    cases.extend([twin.clone(), twin]);
                }
                cases.shuffle(&mut rng);
                check(&mut verifier, &cases);
            }
        }
    }
}

/// What a verifier keeps from one call must not reach the next.
#[test]
fn calls_do_not_depend_on_earlier_ones() {
    let honest: Vec<Case> = (0..65).map(|seed| Case::honest(seed, 200)).collect();
    let broken: Vec<Case> = (0..65).map(|seed| Case::broken(seed, 200)).collect();
    for mut verifier in verifiers() {
        for count in [65, 1, 64, 2, 17, 3, 9, 8, 4] {
            check(&mut verifier, &honest[..count]);
            check(&mut verifier, &broken[..count]);
        }
    }
}
