//! getBlock answers in every shape.

use data_encoding::BASE64;
use serde_json::{Value, json};

use crate::{
    args,
    harness::{Folder, Run, gzip, octosig, octosig_with_input, read, vectors},
};

const BLOCK: &str = "blocks/mainnet-254170888.json.gz";

fn verify(text: impl AsRef<[u8]>) -> Run {
    octosig_with_input(["verify", "--verdicts", "-", "-"], text.as_ref())
}

/// The block, cut to its first transactions.
fn block(transactions: usize) -> Value {
    let mut block: Value = serde_json::from_slice(&read(&vectors(BLOCK))).unwrap();
    block["result"]["transactions"].as_array_mut().unwrap().truncate(transactions);
    block
}

fn bytes(entry: &Value) -> Vec<u8> {
    BASE64.decode(entry["transaction"][0].as_str().unwrap().as_bytes()).unwrap()
}

/// The first signatures of the transactions, in base58.
fn ids(block: &Value) -> Vec<String> {
    let entries = block["result"]["transactions"].as_array().unwrap();
    entries.iter().map(|entry| bs58::encode(&bytes(entry)[1..65]).into_string()).collect()
}

#[track_caller]
fn assert_all_valid(run: &Run, ids: &[String]) {
    let expected: Vec<_> = ids.iter().map(|id| (json!(id), true)).collect();
    assert!(run.verdicts() == expected, "{}", run.stderr);
    assert_eq!(run.code, Some(0));
}

#[test]
fn both_blocks_of_mainnet_are_valid() {
    for (name, transactions, signatures) in
        [("blocks/mainnet-254170887.json.gz", 602, 607), (BLOCK, 1_910, 1_915)]
    {
        let run = octosig(args!["verify", "--oracle", vectors(name)]);
        assert_eq!((run.code, &*run.stderr), (Some(0), ""));
        assert_eq!(run.count("cases"), transactions);
        assert_eq!(run.count("valid"), transactions);
        assert_eq!(run.count("signatures"), signatures);
        assert_eq!(run.count("differences"), 0);
    }
}

#[test]
fn any_layout_of_the_json_gives_the_same() {
    let block = block(600);
    let ids = ids(&block);
    let pretty = serde_json::to_string_pretty(&block).unwrap();
    let bare = block["result"].clone();
    let twice = [ids.clone(), ids.clone()].concat();
    assert_all_valid(&verify(block.to_string()), &ids);
    assert_all_valid(&verify(gzip(block.to_string().as_bytes())), &ids);
    assert_all_valid(&verify(&pretty), &ids);
    assert_all_valid(&verify(gzip(pretty.as_bytes())), &ids);
    assert_all_valid(&verify(bare.to_string()), &ids);
    assert_all_valid(
        &verify(format!("\u{feff}\n\n{}", serde_json::to_string_pretty(&bare).unwrap())),
        &ids,
    );
    assert_all_valid(&verify(format!("{block}\n\n{bare}\n")), &twice);
    assert_all_valid(&verify(format!("{pretty}\n{pretty}")), &twice);
    assert_all_valid(&verify(format!("{block}{bare}")), &twice);
}

#[test]
fn base58_gives_the_same() {
    let mut block = block(40);
    let ids = ids(&block);
    for (index, entry) in
        block["result"]["transactions"].as_array_mut().unwrap().iter_mut().enumerate()
    {
        let text = bs58::encode(bytes(entry)).into_string();
        entry["transaction"] = if index % 2 == 0 { json!(text) } else { json!([text, "base58"]) };
    }
    assert_all_valid(&verify(block.to_string()), &ids);
}

#[test]
fn a_broken_signature_or_transaction_spoils_its_own_verdict_only() {
    let mut block = block(5);
    let mut ids = ids(&block).into_iter().map(Value::from).collect::<Vec<_>>();
    let entries = &mut block["result"]["transactions"];
    let mut bad = bytes(&entries[1]);
    *bad.last_mut().unwrap() ^= 1;
    entries[1]["transaction"][0] = json!(BASE64.encode(&bad));
    entries[3]["transaction"][0] = json!(BASE64.encode(b"no transaction"));
    // More base58 than any transaction has, which would take long to decode.
    entries[4]["transaction"] = json!("z".repeat(1 << 20));
    (ids[3], ids[4]) = (json!("3"), json!("4"));
    let run = verify(block.to_string());
    let verdicts: Vec<_> = ids.into_iter().zip([true, false, true, false, false]).collect();
    assert_eq!(run.verdicts(), verdicts);
    assert_eq!(run.code, Some(1));
    assert!(run.stderr.contains("of which 2: not a transaction"), "{}", run.stderr);
}

#[test]
fn a_transaction_needs_a_signature_for_every_signer_of_its_header() {
    // The header's count of signers, raised from one to two.
    let mut block = block(1);
    let mut bytes = bytes(&block["result"]["transactions"][0]);
    assert_eq!((bytes[0], bytes[65]), (1, 1));
    bytes[65] = 2;
    block["result"]["transactions"][0]["transaction"][0] = json!(BASE64.encode(&bytes));
    let run = verify(block.to_string());
    assert_eq!((run.code, run.count("signatures")), (Some(1), 0));
    assert!(run.stderr.contains("of which 1: number of signatures"), "{}", run.stderr);
}

#[test]
fn what_holds_no_signed_bytes_is_refused_with_the_reason() {
    let parsed = |transaction: Value| {
        let mut block = block(2);
        block["result"]["transactions"][1]["transaction"] = transaction;
        block.to_string()
    };
    for (text, reason) in [
        (parsed(json!({"message": {}, "signatures": []})), "json or jsonParsed"),
        (parsed(json!(["", "base64+zstd"])), "base64+zstd"),
        (parsed(json!(["", "base64", 1])), "[data, encoding]"),
        (parsed(json!(["A", "base64"])), "transaction 1 of the block: data is not base64"),
        (parsed(json!("0")), "transaction 1 of the block: data is not base58"),
        (json!({"jsonrpc": "2.0", "result": null}).to_string(), "skipped slot"),
        (json!({"jsonrpc": "2.0", "error": {"code": -32009}}).to_string(), "-32009"),
        (json!({"result": {"signatures": ["1"]}}).to_string(), "transactionDetails full"),
        (serde_json::to_string_pretty(&block(3)).unwrap()[..1_000].to_owned(), "EOF"),
    ] {
        let folder = Folder::new("refused");
        let path = folder.write("block.json", &text);
        let run = octosig(args!["verify", &path]);
        assert_eq!(run.code, Some(2), "{reason}");
        assert_eq!(run.stderr.lines().count(), 1, "{}", run.stderr);
        assert!(run.stderr.contains("block.json:"), "{}", run.stderr);
        assert!(run.stderr.contains(reason), "{}", run.stderr);
        let run = octosig(args!["verify", "--keep-going", &path, vectors("rfc8032-7.1.jsonl")]);
        assert_eq!((run.code, run.count("broken")), (Some(2), 1), "{reason}");
        assert!(run.count("valid") >= 5, "{reason}");
    }
}
