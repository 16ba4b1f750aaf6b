//! Every profile: packets on which the profiles disagree, and calls that must not disturb each
//! other.

use std::{iter, thread};

use octosig_pipeline::{
    Profile, Rules, Sigverifier, ed25519_verify, ed25519_verify_batches, ed25519_verify_serial,
    solana_perf::packet::{Meta, PacketBatch},
    verify_batches, verify_batches_on,
};
use solana_sdk::pubkey::Pubkey;

use crate::{
    crafted::{Kind, packet},
    harness::{Raw, Shape, batches, check_profiles, metas, pool},
    transactions::{Version, address},
};

/// A packet and the kinds of its signatures.
type Crafted = (Raw, Vec<Kind>);

fn crafted(version: Version, number: u64, kinds: Vec<Kind>, program: Pubkey) -> Crafted {
    (packet(version, number, &kinds, program), kinds)
}

/// Whether each packet is to be discarded for the sake of its signatures.
fn expected(packets: &[Crafted], profile: Profile) -> Vec<bool> {
    let valid = |kinds: &[Kind]| kinds.iter().all(|kind| kind.is_valid_under(profile));
    packets.iter().map(|(_, kinds)| !valid(kinds)).collect()
}

fn discarded(metas: &[Meta]) -> Vec<bool> {
    metas.iter().map(|meta| meta.discard()).collect()
}

/// One signature of each kind at each place of packets of up to 12 signatures.
fn one_at_each_place(version: Version) -> Vec<Crafted> {
    let mut packets = Vec::new();
    for signers in [1, 2, 3, 5, 12] {
        for place in 0..signers {
            for kind in Kind::ALL {
                let mut kinds = vec![Kind::Honest; signers];
                kinds[place] = kind;
                let number = 20 * packets.len() as u64;
                packets.push(crafted(version, number, kinds, address(number)));
            }
        }
    }
    packets
}

#[test]
fn one_signature_decides_at_each_place() {
    for version in Version::ALL {
        let packets = one_at_each_place(version);
        let raw: Vec<_> = packets.iter().map(|(raw, _)| raw.clone()).collect();
        for (shape, split) in [(Shape::Bytes, &[usize::MAX][..]), (Shape::Mixed, &[1, 30, 5])] {
            for (profile, metas) in check_profiles(&batches(&raw, shape, split), false, true) {
                assert_eq!(discarded(&metas), expected(&packets, profile), "{profile} {version:?}");
            }
        }
    }
}

#[test]
fn every_pair_of_signatures() {
    let mut packets = Vec::new();
    for version in Version::ALL {
        for kinds in Kind::ALL.iter().flat_map(|a| Kind::ALL.map(|b| vec![*a, b])) {
            let number = 20 * packets.len() as u64;
            packets.push(crafted(version, number, kinds, address(number)));
        }
    }
    let raw: Vec<_> = packets.iter().map(|(raw, _)| raw.clone()).collect();
    for (profile, metas) in check_profiles(&batches(&raw, Shape::Single, &[1]), false, true) {
        assert_eq!(discarded(&metas), expected(&packets, profile), "{profile}");
    }
}

/// The gates and the flag of a vote are the same under every profile.
#[test]
fn votes_are_marked_whatever_the_profile_says_of_their_signatures() {
    let programs = [solana_sdk_ids::vote::ID, address(9)];
    let packets = programs.iter().flat_map(|&program| {
        Kind::ALL.map(|kind| crafted(Version::Legacy, 1, vec![kind, Kind::Honest], program))
    });
    let packets: Vec<_> = packets.collect();
    let raw: Vec<_> = packets.iter().map(|(raw, _)| raw.clone()).collect();
    let batches = batches(&raw, Shape::Bytes, &[5]);
    for reject_non_vote in [false, true] {
        for (profile, metas) in check_profiles(&batches, reject_non_vote, false) {
            for (i, (meta, invalid)) in iter::zip(metas, expected(&packets, profile)).enumerate() {
                let is_vote = i < Kind::ALL.len();
                assert_eq!(meta.is_simple_vote_tx(), is_vote, "{profile}, packet {i}");
                assert_eq!(meta.discard(), invalid || reject_non_vote && !is_vote, "{profile} {i}");
            }
        }
    }
}

/// Each profile after each, and Agave's entries in between.
#[test]
fn a_call_leaves_nothing_to_the_next() {
    let packets = one_at_each_place(Version::Legacy);
    let raw: Vec<_> = packets.iter().map(|(raw, _)| raw.clone()).collect();
    let batches = batches(&raw, Shape::Mixed, &[7, 1, 40]);
    let run = |profile, entry: &str, run: &mut dyn FnMut(&mut [PacketBatch], Rules)| {
        let mut batches = batches.clone();
        run(&mut batches, Rules { profile, ..Rules::default() });
        assert_eq!(discarded(&metas(&batches)), expected(&packets, profile), "{profile}, {entry}");
    };
    let mut sigverifier = Sigverifier::default();
    for (&first, &second) in
        Profile::ALL.iter().flat_map(|first| Profile::ALL.iter().map(move |second| (first, second)))
    {
        for profile in [first, second] {
            run(profile, "Sigverifier", &mut |b, rules| sigverifier.verify_batches(b, rules));
        }
        for profile in [first, second] {
            run(profile, "verify_batches", &mut verify_batches);
        }
        for profile in [first, second] {
            run(profile, "pool", &mut |b, rules| verify_batches_on(pool(2), b, rules));
        }
    }
    for &profile in Profile::ALL {
        run(profile, "verify_batches", &mut verify_batches);
        run(profile, "pool", &mut |b, rules| verify_batches_on(pool(2), b, rules));
        run(Profile::DalekStrict, "ed25519_verify_serial", &mut |b, _| {
            b.iter_mut().for_each(|batch| ed25519_verify_serial(batch, false, false));
        });
        run(Profile::DalekStrict, "ed25519_verify_batches", &mut |b, _| {
            ed25519_verify_batches(b, false, false);
        });
        run(Profile::DalekStrict, "ed25519_verify", &mut |b, _| {
            ed25519_verify(pool(2), b, false, 0, false);
        });
    }
}

/// The jobs of four calls share the threads of one pool.
#[test]
fn calls_at_the_same_time_keep_their_own_profile() {
    let packets = one_at_each_place(Version::V0);
    let raw: Vec<_> = packets.iter().map(|(raw, _)| raw.clone()).collect();
    let batches = batches(&raw, Shape::Bytes, &[usize::MAX]);
    thread::scope(|scope| {
        for &profile in Profile::ALL {
            let (packets, batches) = (&packets, &batches);
            scope.spawn(move || {
                for _ in 0..5 {
                    let mut batches = batches.clone();
                    let rules = Rules { profile, ..Rules::default() };
                    verify_batches_on(pool(3), &mut batches, rules);
                    assert_eq!(
                        discarded(&metas(&batches)),
                        expected(packets, profile),
                        "{profile}"
                    );
                }
            });
        }
    });
}
