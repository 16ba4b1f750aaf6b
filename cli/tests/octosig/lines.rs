//! Files of one case per line.

use std::fs;

use serde_json::{Value, json};

use crate::{
    args,
    harness::{
        Folder, expected, gzip, json_lines, octosig, octosig_with_input, read, some_vectors,
        vectors, verdicts,
    },
};

#[test]
fn verdicts_go_to_a_file_and_the_summary_to_standard_output() {
    let folder = Folder::new("verdicts");
    let (input, output) = (vectors("torsion-lattice.jsonl.gz"), folder.path("verdicts.jsonl"));
    let run = octosig(args!["verify", "--verdicts", &output, &input]);
    assert_eq!((run.code, &*run.stderr), (Some(1), ""));
    let expected = expected(&read(&input), "dalek_strict");
    assert!(verdicts(&fs::read_to_string(output).unwrap()) == expected);
    assert_eq!(run.count("cases"), 5_326);
    assert_eq!(run.count("signatures"), 5_326);
    assert_eq!(run.count("valid"), expected.iter().filter(|case| case.1).count() as u64);
    assert_eq!(run.count("invalid"), expected.iter().filter(|case| !case.1).count() as u64);
    for row in ["profile", "backend", "threads", "verification", "throughput"] {
        assert!(run.stdout.contains(&format!("\n{row} ")), "{}", run.stdout);
    }
}

#[test]
fn kinds_may_change_from_file_to_file_and_from_line_to_line() {
    let folder = Folder::new("kinds");
    let block: Value =
        serde_json::from_slice(&read(&vectors("blocks/mainnet-254170887.json.gz"))).unwrap();
    let transactions: Vec<_> = block["result"]["transactions"]
        .as_array()
        .unwrap()
        .iter()
        .enumerate()
        .map(|(index, entry)| {
            json!({"id": format!("t{index}"), "tx_base64": entry["transaction"][0]}).to_string()
        })
        .collect();
    let packet = json_lines(&read(&vectors("packets.jsonl.gz")))[0].to_string();
    let vector = some_vectors()[0].clone();
    let mixed = folder.write("mixed", [&*packet, &vector, &transactions[0], &packet].join("\n"));
    let lines = folder.write("transactions", gzip(transactions.join("\n").as_bytes()));
    let run = octosig(args![
        "verify",
        "--verdicts",
        "-",
        vectors("rfc8032-7.1.jsonl"),
        mixed,
        vectors("blocks/mainnet-254170887.json.gz"),
        lines
    ]);
    let verdicts = run.verdicts();
    assert_eq!(verdicts.len(), 5 + 4 + 602 + 602);
    assert!(verdicts.iter().all(|case| case.1));
    assert_eq!(run.code, Some(0));
    let ids: Vec<_> = verdicts.iter().map(|case| case.0.as_str().unwrap()).collect();
    assert_eq!(ids[5..9], ["pk-00000", "rfc8032-1", "t0", "pk-00000"]);
    assert_eq!(ids[611], "t0");
    assert_eq!(ids[1_212], "t601");
}

#[test]
fn a_case_without_an_id_is_named_by_its_line() {
    let mut vectors: Vec<Value> =
        some_vectors().iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    vectors[0].as_object_mut().unwrap().remove("id");
    vectors[1]["id"] = json!(17);
    vectors[2]["id"] = Value::Null;
    vectors[3]["id"] = json!("quoted \"ä\" \n");
    let [a, b, c, d] = &vectors[..] else { panic!() };
    let text = format!("\n{a}\r\n  \n{b}\n{c}\n\n{d}");
    let folder = Folder::new("ids");
    let path = folder.write("a \"b\".jsonl", text);
    let name = path.to_str().unwrap();
    let run = octosig(args!["verify", "--verdicts", "-", name]);
    let expected = [
        json!(format!("{name}-2")),
        json!(17),
        json!(format!("{name}-5")),
        json!("quoted \"ä\" \n"),
    ];
    assert_eq!(run.verdicts(), expected.map(|id| (id, true)));
}

#[test]
fn keys_and_signatures_of_other_lengths_are_invalid_and_not_broken() {
    let line: Value = serde_json::from_str(&some_vectors()[1]).unwrap();
    let (key, signature) = (line["pk"].as_str().unwrap(), line["sig"].as_str().unwrap());
    let mut lines = vec![line.to_string()];
    for (pk, sig) in [
        ("", signature),
        (&key[2..], signature),
        (&format!("{key}00"), signature),
        (key, ""),
        (key, &signature[..126]),
        (key, &format!("{signature}00")),
    ] {
        lines.push(json!({"pk": pk, "msg": line["msg"], "sig": sig}).to_string());
    }
    lines.push(line.to_string().replace(key, &key.to_uppercase()));
    let run = octosig_with_input(["verify", "--verdicts", "-", "-"], lines.join("\n").as_bytes());
    let verdicts: Vec<_> = run.verdicts().into_iter().map(|case| case.1).collect();
    assert_eq!(verdicts, [true, false, false, false, false, false, false, true]);
    assert_eq!((run.code, run.count("signatures")), (Some(1), 2));
    assert!(run.stderr.contains("of which 6: pk or sig of the wrong length"), "{}", run.stderr);
}

#[test]
fn json_escapes_are_understood() {
    let line = json_lines(&read(&vectors("packets.jsonl.gz")))
        .into_iter()
        .find(|line| {
            line["agave_4_2_2"] == true && line["packet_base64"].as_str().unwrap().contains('/')
        })
        .unwrap();
    let escaped = line.to_string().replace('/', "\\/");
    let run = octosig_with_input(["verify", "--verdicts", "-", "-"], escaped.as_bytes());
    assert_eq!(run.verdicts(), [(line["id"].clone(), true)]);
}

/// Far more input than the bound on memory, all of which is read before the peak is.
#[test]
#[cfg(target_os = "linux")]
fn memory_does_not_grow_with_the_input() {
    use std::{
        io::{BufWriter, Read, Write},
        process::{Command, Stdio},
    };

    const LINES: u64 = 400_000;
    const LIMIT_KIB: u64 = 64 << 10;
    let line = format!("{{\"pk\":\"00\",\"msg\":\"{}\",\"sig\":\"\"}}\n", "ab".repeat(250));
    let mut child = Command::new(env!("CARGO_BIN_EXE_octosig"))
        .args(["verify", "--threads", "2", "--verdicts", "/dev/null", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = BufWriter::new(child.stdin.take().unwrap());
    for _ in 0..LINES {
        input.write_all(line.as_bytes()).unwrap();
    }
    input.flush().unwrap();
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    drop(input);
    let mut summary = String::new();
    child.stdout.take().unwrap().read_to_string(&mut summary).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(1));
    assert!(summary.contains("400,000"), "{summary}");
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let peak: u64 = peak.trim().trim_end_matches("kB").trim().parse().unwrap();
    assert!(LINES * line.len() as u64 / 1024 > 3 * LIMIT_KIB);
    assert!(peak < LIMIT_KIB, "{peak} KiB");
}
