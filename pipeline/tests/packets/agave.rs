//! The behaviours that the tests of Agave's sigverify assert, from 1.18 to 4.2.

use octosig_pipeline::solana_perf::packet::PacketFlags;
use solana_sdk::{
    instruction::Instruction,
    message::MessageHeader,
    pubkey::Pubkey,
    signature::{Signature, Signer},
    transaction::Transaction,
};

use crate::{
    harness::{Raw, Shape, batches, check, keeps},
    transactions::{
        Version, address, bytes, hash, inconsistent, instruction, keypair, multisig,
        one_instruction, signature_offset, signed, transfer, vote,
    },
};

fn keeps_legacy(data: Vec<u8>) -> bool {
    keeps(data, false, false)
}

fn header(signers: u8, readonly_signed: u8, readonly_unsigned: u8) -> MessageHeader {
    MessageHeader {
        num_required_signatures: signers,
        num_readonly_signed_accounts: readonly_signed,
        num_readonly_unsigned_accounts: readonly_unsigned,
    }
}

/// One signature by key 1 over `transaction`'s own message, `count` times.
fn signed_by_key_1(mut transaction: Transaction, count: usize) -> Vec<u8> {
    let signature = keypair(1).sign_message(&transaction.message_data());
    transaction.signatures = vec![signature; count];
    bytes(transaction)
}

/// `copies` of a packet in each of two batches; all are to be kept or all discarded.
fn all_alike(copies: usize, tampered: bool) {
    let mut data = bytes(transfer(1));
    if tampered {
        data[20] = data[20].wrapping_add(10);
    }
    let packets = vec![Raw::from(data); 2 * copies];
    for shape in [Shape::Bytes, Shape::Pinned] {
        let metas = check(&batches(&packets, shape, &[copies]), false, false);
        assert_eq!(metas.len(), 2 * copies);
        assert!(metas.iter().all(|meta| meta.discard() == tampered), "{copies} copies");
    }
}

#[test]
fn no_packets_at_all() {
    all_alike(0, false);
    let empty: Vec<Raw> = Vec::new();
    assert!(check(&batches(&empty, Shape::Bytes, &[1]), false, false).is_empty());
    let empty_batches = [Vec::new().into(), Vec::new().into()];
    assert!(check(&empty_batches, true, true).is_empty());
}

#[test]
fn any_number_of_valid_packets() {
    for copies in [1, 71, 128, 4_096] {
        all_alike(copies, false);
    }
}

#[test]
fn any_number_of_tampered_packets() {
    for copies in [1, 5, 128, 4_096] {
        all_alike(copies, true);
    }
}

#[test]
fn header_that_needs_more_signatures_than_sent() {
    let data = inconsistent(header(14, 12, 11), Vec::new(), vec![Signature::default(); 5]);
    assert!(!keeps_legacy(data));
}

#[test]
fn two_bytes() {
    assert!(!keeps_legacy(vec![0xff, 0xff]));
}

#[test]
fn more_signatures_than_keys() {
    for keys in 0..=3 {
        for signatures in [17, 18] {
            let mut transaction = transfer(1);
            transaction.message.account_keys = vec![address(1); keys];
            transaction.message.header.num_required_signatures = signatures;
            let data = signed_by_key_1(transaction, signatures.into());
            assert!(!keeps_legacy(data), "{signatures} signatures, {keys} keys");
        }
    }
}

#[test]
fn huge_counts() {
    // Of signatures in one byte and in four, and of keys.
    for (offset, bytes_there) in [(0, &[0x7f][..]), (0, &[0xff; 4]), (1 + 64 + 3, &[0x7f])] {
        let mut data = bytes(transfer(1));
        data[offset..offset + bytes_there.len()].copy_from_slice(bytes_there);
        assert!(!keeps_legacy(data), "{bytes_there:x?} at {offset}");
    }
}

#[test]
fn readonly_fee_payer() {
    let mut transaction = transfer(1);
    transaction.message.header = header(1, 1, 1);
    assert!(!keeps_legacy(signed_by_key_1(transaction.clone(), 1)));
    transaction.message.header = header(1, 0, 1);
    assert!(keeps_legacy(signed_by_key_1(transaction, 1)));
    assert!(!keeps_legacy(inconsistent(header(1, 1, 1), vec![], vec![Signature::default()])));
}

#[test]
fn unknown_message_version() {
    for version in 1..0x80 {
        let mut data = one_instruction(Version::V0, 1, &[1]);
        assert_eq!(data[65], 0x80);
        data[65] |= version;
        assert!(!keeps(data, false, true), "version {version}");
    }
}

#[test]
fn dropped_signature() {
    let mut transaction = transfer(1);
    transaction.signatures.clear();
    assert!(!keeps_legacy(bytes(transaction)));
}

#[test]
fn only_the_tampered_multisig_packet_is_discarded() {
    let whole = multisig(Version::Legacy, 1, 2);
    let mut tampered = whole.clone();
    tampered[40] = tampered[40].wrapping_add(8);
    let mut packets = vec![Raw::from(whole); 13];
    packets[4] = Raw::from(tampered);
    for shape in Shape::ALL {
        let metas = check(&batches(&packets, shape, &[5, 4, 4]), false, false);
        for (i, meta) in metas.iter().enumerate() {
            assert_eq!(meta.discard(), i == 4, "packet {i}");
        }
    }
}

#[test]
fn simple_votes() {
    let vote_instruction = |account| instruction(solana_sdk_ids::vote::ID, account, &[0, 1]);
    let cases = [
        ("transfer", bytes(transfer(1)), false),
        ("vote of one", vote(Version::Legacy, 1, 1), true),
        ("vote of two", vote(Version::Legacy, 1, 2), true),
        ("vote of three", vote(Version::Legacy, 1, 3), false),
        ("version 0 vote", vote(Version::V0, 1, 1), false),
        ("version 1 vote", vote(Version::V1, 1, 1), false),
        (
            "two votes",
            signed(Version::Legacy, 1, 1, &[vote_instruction(3), vote_instruction(4)]),
            false,
        ),
        (
            "vote and another",
            signed(Version::Legacy, 1, 1, &[vote_instruction(3), instruction(address(9), 4, &[2])]),
            false,
        ),
        ("no instruction", signed(Version::Legacy, 1, 1, &[]), false),
    ];
    for (name, data, is_vote) in cases {
        let packets = [Raw::from(data)];
        for shape in [Shape::Bytes, Shape::Pinned, Shape::Single] {
            let batches = batches(&packets, shape, &[1]);
            let open = &check(&batches, false, true)[0];
            assert_eq!(open.is_simple_vote_tx(), is_vote, "{name}");
            assert!(!open.discard(), "{name}");
            let votes_only = &check(&batches, true, true)[0];
            assert_eq!(votes_only.is_simple_vote_tx(), is_vote, "{name}");
            assert_eq!(votes_only.discard(), !is_vote, "{name}");
        }
    }
}

#[test]
fn a_vote_with_a_bad_signature_is_discarded_but_marked() {
    let mut data = vote(Version::Legacy, 1, 2);
    let at = signature_offset(Version::Legacy, data.len(), 2, 1);
    data[at] ^= 1;
    for shape in [Shape::Bytes, Shape::Pinned, Shape::Single] {
        for reject_non_vote in [false, true] {
            let batches = batches(&[Raw::from(data.clone())], shape, &[1]);
            let meta = &check(&batches, reject_non_vote, false)[0];
            assert!(meta.discard() && meta.is_simple_vote_tx());
        }
    }
}

#[test]
fn a_vote_flag_set_before_lets_nothing_pass() {
    let packet = Raw::from(bytes(transfer(1))).with_flags(PacketFlags::SIMPLE_VOTE_TX);
    let batches = batches(&[packet], Shape::Bytes, &[1]);
    let meta = &check(&batches, true, false)[0];
    assert!(meta.discard() && meta.is_simple_vote_tx());
    assert!(!check(&batches, false, false)[0].discard());
}

#[test]
fn discard_flag_set_before_is_final() {
    let whole = [bytes(transfer(1)), vote(Version::Legacy, 1, 1), vec![1, 2, 3], Vec::new()];
    let packets = whole.map(|data| Raw::from(data).with_flags(PacketFlags::DISCARD));
    for shape in Shape::ALL {
        for meta in check(&batches(&packets, shape, &[2]), false, false) {
            assert_eq!(meta.flags, PacketFlags::DISCARD);
        }
    }
}

#[test]
fn at_most_64_instructions() {
    for version in Version::ALL {
        for (count, kept) in [(63, true), (64, true), (65, false)] {
            let program = address(900);
            let instructions: Vec<Instruction> =
                (0..count).map(|i| instruction(program, 901, &[i])).collect();
            let data = signed(version, 1, 1, &instructions);
            assert_eq!(keeps(data, false, true), kept, "{count} instructions, {version:?}");
        }
    }
}

#[test]
fn version_1_only_where_enabled() {
    for data in [one_instruction(Version::V1, 1, &[1]), multisig(Version::V1, 1, 12)] {
        assert!(keeps(data.clone(), false, true));
        assert!(!keeps(data.clone(), false, false));
        assert!(!keeps(data, true, true));
    }
}

#[test]
fn at_most_12_signatures() {
    for signers in 1..=14 {
        let data = multisig(Version::V1, 1, signers);
        assert_eq!(keeps(data, false, true), signers <= 12, "{signers} signers");
    }
}

#[test]
fn signatures_under_small_order_keys() {
    // S = 0, R and A the neutral element: the equation holds, and dalek's plain `verify` accepts.
    let neutral = std::array::from_fn(|i| u8::from(i == 0));
    let mut transaction = transfer(1);
    transaction.message.account_keys[0] = Pubkey::new_from_array(neutral);
    let signature = std::array::from_fn(|i| u8::from(i == 0));
    transaction.signatures = vec![Signature::from(signature)];
    assert!(!keeps_legacy(bytes(transaction)));
}

#[test]
fn scalars_not_reduced() {
    // 2^252 + 27742317777372353535851937790883648493, little-endian.
    const L: [u8; 32] = [
        0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde,
        0x14, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10,
    ];
    let mut data = bytes(transfer(1));
    assert!(keeps_legacy(data.clone()));
    let mut carry = 0;
    for (s, l) in data[33..65].iter_mut().zip(L) {
        let sum = u16::from(*s) + u16::from(l) + carry;
        *s = sum as u8;
        carry = sum >> 8;
    }
    assert!(!keeps_legacy(data));
}

#[test]
fn duplicate_keys_are_accepted() {
    let mut transaction = transfer(1);
    transaction.message.account_keys[1] = address(1);
    transaction.message.recent_blockhash = hash(2);
    assert!(keeps_legacy(signed_by_key_1(transaction, 1)));
}
