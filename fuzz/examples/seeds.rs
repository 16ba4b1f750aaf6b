//! Writes seeds/ and src/transactions.bin from vectors/:
//!
//! ```text
//! cargo run --manifest-path fuzz/Cargo.toml --example seeds
//! ```
//!
//! The first inputs of each target, in its grammar: signatures and packets of the vectors, and a few
//! that name what the grammar has.

use std::{
    error::Error,
    fs::{self, File},
    io::{BufRead, BufReader, Read},
    path::{Path, PathBuf},
};

use base64::{Engine, prelude::BASE64_STANDARD};
use flate2::read::GzDecoder;
use octosig_cases::{Case, corpora::Corpus, edges, signing_key};
use octosig_fuzz::RAW;
use octosig_pipeline::solana_perf::{
    packet::{BytesPacket, Meta, PacketBatch},
    sigverify,
};
use serde_json::Value;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let write = |target: &str, seeds: Vec<Vec<u8>>| {
        let folder = root.join("seeds").join(target);
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        fs::create_dir_all(&folder)?;
        for (i, seed) in seeds.iter().enumerate() {
            fs::write(folder.join(format!("{i:02}")), seed)?;
        }
        println!("{target}: {} seeds", seeds.len());
        Result::Ok(())
    };
    let vectors = root.join("../vectors");
    let transactions = transactions(&vectors)?;
    let mut table = Vec::new();
    for transaction in &transactions {
        table.extend(u16::try_from(transaction.len())?.to_le_bytes());
        table.extend(transaction);
    }
    fs::write(root.join("src/transactions.bin"), table)?;
    let cases = sampled(&vectors)?;
    write("signatures", signatures(&cases))?;
    write("challenges", challenges(&cases))?;
    write("packets", packets(transactions.len()))?;
    write("sha512", sha512())?;
    write("scalars", scalars())
}

/// Every 97th case of the torsion lattice, and the short ones of RFC 8032, eleven to a seed.
fn sampled(vectors: &Path) -> Result<Vec<Vec<Case>>> {
    let (mut lattice, mut rfc8032) = (String::new(), String::new());
    open(vectors.join("torsion-lattice.jsonl.gz"))?.read_to_string(&mut lattice)?;
    File::open(vectors.join("rfc8032-7.1.jsonl"))?.read_to_string(&mut rfc8032)?;
    let lattice = Corpus::parse("torsion-lattice", &lattice).cases.into_iter().step_by(97);
    let rfc8032 = Corpus::parse("rfc8032", &rfc8032).cases;
    let cases: Vec<_> = lattice.chain(rfc8032).filter(|case| case.message.len() < 256).collect();
    Ok(cases.chunks(11).map(<[Case]>::to_vec).collect())
}

fn signatures(cases: &[Vec<Case>]) -> Vec<Vec<u8>> {
    let of_vectors = cases.iter().map(|cases| {
        let mut seed = vec![0];
        for case in cases {
            seed.extend([&[0xff][..], &case.public_key, &[0xff], &case.r(), &[0xff, 0]].concat());
            seed.extend([case.message.len() as u8, RAW]);
            seed.extend(&case.message);
            // Read after the message.
            seed.extend(case.s());
        }
        seed
    });
    // Points by their number, S solved; a call of 1, 2, 3 … of them, and of one again and again.
    let by_name = [1, 3, 8, 72].into_iter().map(|count: u8| {
        let one = |i: u8| [8 * (i % 3), 8 * ((i + 1) % 3), 0, 0, 32 * (i % 8), 0, i];
        [0].into_iter().chain((0..count).flat_map(one)).collect()
    });
    // One honest signature 72 times: 0x91 = 145 = 73 + 72.
    let again = [vec![0x91, 0, 8, 0, 0, 200, 0, 1]];
    of_vectors.chain(by_name).chain(again).collect()
}

fn challenges(cases: &[Vec<Case>]) -> Vec<Vec<u8>> {
    let of_vectors = cases.iter().map(|cases| {
        let mut seed = vec![0];
        for case in cases {
            let k = edges::challenge(&case.r(), &case.public_key, &case.message).to_bytes();
            seed.extend([&[0xff][..], &case.public_key, &[0xff], &case.r()].concat());
            seed.extend([&[0xff][..], &case.s(), &[0xff], &k, &[0; 32], &[0xff, 0]].concat());
        }
        seed
    });
    // A and R near p, S and k near 0 and L and runs of bits; solved for R, and for A.
    let solved = [0, 0x70].into_iter().flat_map(|solve| {
        (0..4).map(move |i: u8| {
            let one = |j: u8| {
                let point = 82 + 28 * i + 2 * j;
                [point, point + 1, 0x20 * (i % 4), j, 0, 0x60 + i % 2, 7 * j, 252, solve, 0]
            };
            [0].into_iter().chain((0..8).flat_map(one)).collect()
        })
    });
    of_vectors.chain(solved).collect()
}

fn packets(transactions: usize) -> Vec<Vec<u8>> {
    const NEXT: u8 = 0xa0;
    let all = |edit: &[u8]| {
        let each = (1..transactions as u8).flat_map(|i| [&[NEXT, i], edit].concat());
        [0].into_iter().chain(edit.iter().copied()).chain(each).collect::<Vec<u8>>()
    };
    // The gates, the entry; the shape; two lengths of batches.
    let calls = [[2, 0x00, 3, 1], [0x0b, 0x40, 9, 0], [6, 0x80, 1, 1], [10, 0xc0, 255, 2]];
    // Nothing; and each edit, with operands.
    let edits = [
        &[][..],
        &[9, 1],
        &[0, 200, 0, 77],
        &[1, 30, 3],
        &[2, 90, 0],
        &[3, 1, 0, 0],
        &[4, 99, 0, 1],
        &[5, 99, 0],
        &[6, 2],
        &[7, 0, 0, 2, 10, 2],
        &[8, 0, 0, 1, 9, 2],
        &[10, 3, 11, 0, 0],
        &[10, 2, 0, 1],
        &[12, 0, 0, 0, 0, 0],
        &[12, 3, 0, 6, 0, 0, 12, 3, 0, 5, 0, 0],
        &[13, 1, 4],
        &[13, 9, 4],
        &[14, 100, 0],
    ];
    let seeds = edits.iter().enumerate().map(|(i, edit)| [&calls[i % 4][..], &all(edit)].concat());
    // More packets than a window, more signatures than a chunk.
    let many = [[2, 0x40, 255, 200, 0, 6, 0, 0xf8, 255, 0xf8, 255, NEXT, 3, 0xf8, 25]];
    seeds.chain(many.map(Vec::from)).collect()
}

/// The length of a message, of which `PATTERN` has the bytes from its number on.
fn sha512() -> Vec<Vec<u8>> {
    let message = |(i, len): (usize, usize)| {
        let [low, high] = (len as u16).to_le_bytes();
        [low, if len < 256 { 0 } else { high | 0x80 }, i as u8]
    };
    // 0x80 counts as 0x8000: it is taken modulo 1300.
    let seed = |lengths: &mut dyn Iterator<Item = usize>| {
        [0].into_iter().chain(lengths.enumerate().flat_map(message)).collect::<Vec<u8>>()
    };
    let mut seeds: Vec<_> =
        [1, 2, 3, 4, 5, 9].into_iter().map(|count| seed(&mut (0..count).map(|i| 45 + i))).collect();
    seeds.push(seed(&mut (0..64)));
    seeds.push(seed(&mut (0..64).map(|i| 4 * i)));
    seeds.push(seed(&mut (0..32).map(|i| 40 * i)));
    seeds.push([&[0xff][..], &seed(&mut [3, 19_000, 1_232, 64].into_iter())[1..]].concat());
    seeds
}

fn scalars() -> Vec<Vec<u8>> {
    let mut seeds = vec![vec![0], vec![0xd0], vec![0xcf], [&[0][..], &[0xff; 64]].concat()];
    seeds.push([&[0][..], &edges::L].concat());
    seeds.push([&[0xd0][..], &[0xff; 63]].concat());
    for (first, last) in [(0u16, 251u16), (100, 511)] {
        let run = [first.to_le_bytes(), last.to_le_bytes()].concat();
        seeds.push([&[0x60][..], &[0; 64], &run].concat());
        seeds.push([&[0x61][..], &[0xff; 64], &run].concat());
    }
    seeds
}

/// Transactions of every form.
fn transactions(vectors: &Path) -> Result<Vec<Vec<u8>>> {
    let mut transactions = Vec::new();
    // Legacy of 1, 2, 3 and 12 signatures, version 0 with and without lookup tables, votes and what
    // is nearly a vote.
    const IDS: [&str; 15] = [
        "pk-00000", "pk-00001", "pk-00002", "pk-00011", "pk-00012", "pk-00013", "pk-00015",
        "pk-00016", "pk-00018", "pk-00019", "pk-00020", "pk-00021", "pk-00022", "pk-00617",
        "pk-00665",
    ];
    for line in BufReader::new(open(vectors.join("packets.jsonl.gz"))?).lines() {
        let packet: Value = serde_json::from_str(&line?)?;
        if packet["id"].as_str().is_some_and(|id| IDS.contains(&id)) {
            transactions.push(base64(&packet["packet_base64"])?);
        }
    }
    // From a block: its shortest and longest, and the first of each number of signatures and
    // version.
    let block = open(vectors.join("blocks/mainnet-254170888.json.gz"))?;
    let block: Value = serde_json::from_reader(BufReader::new(block))?;
    let block = block["result"]["transactions"].as_array().ok_or("no transactions")?;
    let mut block =
        block.iter().map(|one| base64(&one["transaction"][0])).collect::<Result<Vec<_>>>()?;
    block.sort_by_key(Vec::len);
    transactions.extend(block.first().cloned());
    transactions.extend(block.last().cloned());
    let form = |one: &[u8]| (one[0], one[1 + 64 * usize::from(one[0])] & 0x80);
    block.sort_by_key(|one| form(one));
    block.dedup_by_key(|one| form(one));
    transactions.extend(block);
    transactions.extend([version_1(1), version_1(3)]);
    for transaction in &transactions {
        let mut meta = Meta::default();
        meta.size = transaction.len();
        let mut batch = PacketBatch::Single(BytesPacket::new(transaction.clone().into(), meta));
        sigverify::ed25519_verify_serial(&mut batch, false, true);
        if batch.iter().any(|packet| packet.meta().discard()) {
            return Err("a transaction that is discarded".into());
        }
    }
    Ok(transactions)
}

/// A transaction of version 1, which the vectors do not have: one instruction, and a signature each
/// by the keys 0, 1, …
fn version_1(signers: u8) -> Vec<u8> {
    use ed25519_dalek::Signer;
    let keys: Vec<_> = (0..signers).map(|seed| signing_key(seed.into())).collect();
    // Version, header, no configuration, lifetime, one instruction, keys and the program's.
    let mut data = vec![0x81, signers, 0, 1, 0, 0, 0, 0];
    data.extend([5; 32]);
    data.extend([1, signers + 1]);
    data.extend(keys.iter().flat_map(|key| key.verifying_key().to_bytes()));
    data.extend([6; 32]);
    // Program, one account, three bytes of data; the account, the data.
    data.extend([signers, 1, 3, 0, 0, 1, 2, 3]);
    let signatures: Vec<_> = keys.iter().flat_map(|key| key.sign(&data).to_bytes()).collect();
    [data, signatures].concat()
}

fn open(path: PathBuf) -> Result<impl Read> {
    let file = File::open(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(GzDecoder::new(file))
}

fn base64(value: &Value) -> Result<Vec<u8>> {
    Ok(BASE64_STANDARD.decode(value.as_str().ok_or("no string")?)?)
}
