//! Files of the workspace's `vectors/`. The benches read the blocks through this file too.

use std::{fs::File, io::BufReader, path::Path};

use base64::{Engine, prelude::BASE64_STANDARD};
use flate2::read::GzDecoder;
use serde_json::Value;

pub(crate) fn open(name: &str) -> BufReader<GzDecoder<File>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../vectors").join(name);
    let file = File::open(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    BufReader::new(GzDecoder::new(file))
}

pub(crate) fn base64(value: &Value) -> Vec<u8> {
    BASE64_STANDARD.decode(value.as_str().expect("a string")).expect("base64")
}

/// The bytes of every transaction of a mainnet block, in order.
pub(crate) fn mainnet_block(slot: u64) -> Vec<Vec<u8>> {
    let file = open(&format!("blocks/mainnet-{slot}.json.gz"));
    let block: Value = serde_json::from_reader(file).expect("getBlock JSON");
    let transactions = block["result"]["transactions"].as_array().expect("transactions");
    transactions.iter().map(|transaction| base64(&transaction["transaction"][0])).collect()
}
