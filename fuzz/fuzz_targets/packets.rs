//! The whole `Meta` of every packet after each entry of octosig-pipeline, and on every backend,
//! beside what solana-perf 4.2.2 leaves there.
#![no_main]

use std::{cell::RefCell, sync::LazyLock};

use libfuzzer_sys::fuzz_target;
use octosig_fuzz::{Input, count_compared, packets, verifiers};
use octosig_pipeline::{
    Rules, Sigverifier, ed25519_verify, ed25519_verify_batches, ed25519_verify_serial,
    octosig::Profile,
    solana_perf::{packet::PacketBatch, sigverify},
};
use rayon::{ThreadPool, ThreadPoolBuilder};

thread_local! {
    static SIGVERIFIERS: RefCell<Vec<Sigverifier>> =
        RefCell::new(verifiers().into_iter().map(Sigverifier::new).collect());
}

static POOL: LazyLock<ThreadPool> =
    LazyLock::new(|| ThreadPoolBuilder::new().num_threads(2).build().expect("two threads"));

fuzz_target!(|data: &[u8]| {
    let mut input = Input::new(data);
    let call = input.byte();
    let (reject_non_vote, enable_tx_v1) = (call & 1 != 0, call & 2 != 0);
    let batches = packets::read(&mut input);

    let mut expected = batches.clone();
    for batch in &mut expected {
        sigverify::ed25519_verify_serial(batch, reject_non_vote, enable_tx_v1);
    }
    let same = |entry: &str, run: &mut dyn FnMut(&mut [PacketBatch])| {
        let mut got = batches.clone();
        run(&mut got);
        for (i, (got, expected)) in got.iter().flatten().zip(expected.iter().flatten()).enumerate()
        {
            assert_eq!(got.meta(), expected.meta(), "{entry}, packet {i}");
            count_compared(1);
        }
        assert!(got == expected, "{entry} changed something else than flags");
    };
    SIGVERIFIERS.with_borrow_mut(|sigverifiers| {
        let rules = Rules { profile: Profile::DalekStrict, reject_non_vote, enable_tx_v1 };
        for sigverifier in sigverifiers {
            same(sigverifier.verifier().backend().name(), &mut |batches| {
                sigverifier.verify_batches(batches, rules);
            });
        }
    });
    match call >> 2 & 3 {
        0 => same("ed25519_verify_serial", &mut |batches| {
            for batch in batches {
                ed25519_verify_serial(batch, reject_non_vote, enable_tx_v1);
            }
        }),
        1 => same("ed25519_verify_batches", &mut |batches| {
            ed25519_verify_batches(batches, reject_non_vote, enable_tx_v1);
        }),
        2 => same("ed25519_verify", &mut |batches| {
            let packet_count = sigverify::count_packets_in_batches(batches);
            ed25519_verify(&POOL, batches, reject_non_vote, packet_count, enable_tx_v1);
        }),
        _ => {}
    }
});
