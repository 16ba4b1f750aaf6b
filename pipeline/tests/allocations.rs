//! Nothing is allocated per packet beyond what parsing it takes solana-perf too. In a program of
//! its own, because it replaces the global allocator.

use octosig_pipeline::{
    Rules, Sigverifier,
    solana_perf::{
        packet::{BytesPacket, Meta, PacketBatch},
        sigverify,
    },
};
use solana_sdk::{
    hash::Hash, pubkey::Pubkey, signature::Keypair, transaction::VersionedTransaction,
};

fn single(number: u8) -> PacketBatch {
    let payer = Keypair::new_from_array([number; 32]);
    let to = Pubkey::new_from_array([number; 32]);
    let transfer = solana_system_transaction::transfer(&payer, &to, 1, Hash::default());
    let data = wincode::serialize(&VersionedTransaction::from(transfer)).expect("a transaction");
    PacketBatch::Single(BytesPacket::new(data.into(), Meta::default()))
}

#[test]
fn no_allocation_per_packet() {
    let mut batches: Vec<_> = (0..=255).map(single).cycle().take(1_500).collect();
    let reference = allocation_counter::measure(|| {
        for batch in &mut batches {
            sigverify::ed25519_verify_serial(batch, false, false);
        }
    });
    assert_eq!(reference.count_total, 1_500, "the parser's list of instructions");

    let mut sigverifier = Sigverifier::default();
    sigverifier.verify_batches(&mut batches, Rules::default());
    let together = allocation_counter::measure(|| {
        sigverifier.verify_batches(&mut batches, Rules::default());
    });
    assert_eq!(together.count_total, reference.count_total);
    let one_by_one = allocation_counter::measure(|| {
        for batch in &mut batches {
            sigverifier.verify_batches(std::slice::from_mut(batch), Rules::default());
        }
    });
    assert_eq!(one_by_one.count_total, reference.count_total);
    assert_eq!(sigverify::count_valid_packets(&batches), 1_500);
}
