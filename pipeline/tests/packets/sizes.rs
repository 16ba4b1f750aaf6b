//! Lengths: every truncation, trailing bytes, limits, and a `meta.size` that lies.

use octosig_pipeline::solana_perf::packet::PACKET_DATA_SIZE;

use crate::{
    harness::{Raw, Shape, batches, check, keeps},
    transactions::{Version, bytes, multisig, one_instruction, transfer, vote},
};

#[test]
fn every_truncation_and_trailing_bytes() {
    let whole = [
        bytes(transfer(1)),
        vote(Version::Legacy, 2, 2),
        one_instruction(Version::V0, 3, &[9; 40]),
        one_instruction(Version::V1, 4, &[9; 40]),
        multisig(Version::Legacy, 5, 12),
        multisig(Version::V0, 6, 3),
        multisig(Version::V1, 7, 3),
    ];
    for data in whole {
        let truncated = (0..data.len()).map(|len| Raw::from(data[..len].to_vec()));
        let longer = (1..=3).map(|extra| Raw::from([&data[..], &vec![0; extra]].concat()));
        let packets: Vec<_> = truncated.chain(longer).chain([Raw::from(data.clone())]).collect();
        for shape in Shape::ALL {
            let metas = check(&batches(&packets, shape, &[100]), false, true);
            let kept: Vec<_> = (0..metas.len()).filter(|&i| !metas[i].discard()).collect();
            assert_eq!(kept, [packets.len() - 1], "only the whole packet, {shape:?}");
        }
    }
}

#[test]
fn pinned_packets_end_at_meta_size() {
    let data = bytes(transfer(11));
    let len = data.len();
    let sizes =
        [0, 1, 2, len - 1, len, len + 1, PACKET_DATA_SIZE, PACKET_DATA_SIZE + 1, 5_000, usize::MAX];
    let packets = sizes.map(|size| Raw::from(data.clone()).with_size(size));
    for split in [&[usize::MAX][..], &[1]] {
        let metas = check(&batches(&packets, Shape::Pinned, split), false, false);
        for (meta, size) in metas.iter().zip(sizes) {
            assert_eq!(!meta.discard(), size == len, "meta.size {size}");
            assert_eq!(meta.size, size);
        }
    }
}

#[test]
fn bytes_packets_end_with_their_buffer() {
    let data = bytes(transfer(12));
    let packets = [0, 1, data.len() - 1, 5_000, usize::MAX]
        .map(|size| Raw::from(data.clone()).with_size(size));
    for shape in [Shape::Bytes, Shape::Single] {
        let metas = check(&batches(&packets, shape, &[2]), false, false);
        assert!(metas.iter().all(|meta| !meta.discard()));
    }
}

#[test]
fn longest_transactions() {
    for (version, limit) in [(Version::Legacy, 1_232), (Version::V0, 1_232), (Version::V1, 4_096)] {
        // The length of the data takes as many bytes here as in the longest transaction.
        let overhead = one_instruction(version, 21, &[0; 200]).len() - 200;
        let of_len = |len: usize| one_instruction(version, 21, &vec![3; len - overhead]);
        assert_eq!(of_len(limit).len(), limit);
        assert!(keeps(of_len(limit), false, true), "{version:?}");
        assert!(!keeps(of_len(limit + 1), false, true), "{version:?}");
    }
}

#[test]
fn buffers_of_any_size() {
    for first in [0, 1, 2, 12, 0x7f, 0x80, 0x81, 0x82, 0xff] {
        for len in [0, 1, 2, 64, 65, 4_095, 4_096, 65_535, 65_536, 65_600, 200_000] {
            let mut data = vec![1; len];
            data.iter_mut().take(1).for_each(|byte| *byte = first);
            assert!(!keeps(data, false, true), "{len} bytes beginning with {first}");
        }
    }
}
