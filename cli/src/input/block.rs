//! Answers of the RPC method getBlock, with or without the JSON-RPC envelope.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{Error, IgnoredAny, MapAccess, SeqAccess, Visitor},
};
use serde_json::value::RawValue;

/// A transaction of a block, as text.
#[derive(Debug)]
pub(crate) enum Encoded {
    Base58(String),
    Base64(String),
}

#[derive(Deserialize)]
struct Answer<'a> {
    #[serde(borrow)]
    error: Option<&'a RawValue>,
    result: Option<Block>,
    transactions: Option<Vec<Entry>>,
    signatures: Option<IgnoredAny>,
}

#[derive(Deserialize)]
struct Block {
    transactions: Option<Vec<Entry>>,
    signatures: Option<IgnoredAny>,
}

#[derive(Deserialize)]
struct Entry {
    transaction: Encoded,
}

/// Whether `line` begins with a whole answer; `None` if it is the beginning of an object that goes
/// on in the next line, of whatever kind.
pub(super) fn probe(line: &[u8]) -> Option<bool> {
    #[derive(Deserialize)]
    struct Keys {
        jsonrpc: Option<IgnoredAny>,
        result: Option<IgnoredAny>,
        transactions: Option<IgnoredAny>,
    }
    if !line.trim_ascii_start().starts_with(b"{") {
        return Some(false);
    }
    match serde_json::Deserializer::from_slice(line).into_iter::<Keys>().next()? {
        Ok(keys) => {
            Some([keys.jsonrpc, keys.result, keys.transactions].iter().any(Option::is_some))
        }
        Err(error) if error.is_eof() => None,
        Err(_) => Some(false),
    }
}

/// The blocks in `text`, each with the number of lines before it and its transactions, or why
/// it cannot be used. Nothing can be read after invalid JSON.
pub(super) fn parse(text: &[u8]) -> Vec<(u64, Result<Vec<Encoded>, String>)> {
    let mut answers = serde_json::Deserializer::from_slice(text).into_iter::<Answer<'_>>();
    let mut blocks = Vec::new();
    let mut start = 0;
    while let Some(answer) = answers.next() {
        let blank = text[start..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        let newlines = text[..start + blank].iter().filter(|&&byte| byte == b'\n').count() as u64;
        match answer {
            Ok(answer) => blocks.push((newlines, transactions(answer))),
            Err(error) => {
                blocks.push((error.line().saturating_sub(1) as u64, Err(describe(&error))));
                break;
            }
        }
        start = answers.byte_offset();
    }
    blocks
}

fn transactions(answer: Answer<'_>) -> Result<Vec<Encoded>, String> {
    if let Some(error) = answer.error {
        return Err(format!("the RPC node answered with an error: {error}"));
    }
    let block = answer
        .result
        .unwrap_or(Block { transactions: answer.transactions, signatures: answer.signatures });
    match block {
        Block { transactions: Some(entries), .. } => {
            Ok(entries.into_iter().map(|entry| entry.transaction).collect())
        }
        Block { signatures: Some(_), .. } => {
            Err("the block lists signatures only; ask getBlock for transactionDetails full".into())
        }
        _ => Err("not a block: no transactions (the result for a skipped slot is null)".into()),
    }
}

/// What serde_json says, without the line, which it counts from where parsing began.
pub(crate) fn describe(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    let what = text.strip_suffix(&place).unwrap_or(&text);
    let kind = if error.is_data() { "" } else { "invalid JSON, " };
    format!("{kind}column {}: {what}", error.column())
}

impl<'de> Deserialize<'de> for Encoded {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(EncodedVisitor)
    }
}

struct EncodedVisitor;

impl<'de> Visitor<'de> for EncodedVisitor {
    type Value = Encoded;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a transaction as [data, encoding] or as base58 text")
    }

    fn visit_str<E: Error>(self, data: &str) -> Result<Encoded, E> {
        Ok(Encoded::Base58(data.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut pair: A) -> Result<Encoded, A::Error> {
        let data: Option<String> = pair.next_element()?;
        let encoding: Option<String> = pair.next_element()?;
        let (Some(data), Some(encoding), None) =
            (data, encoding, pair.next_element::<IgnoredAny>()?)
        else {
            return Err(A::Error::custom("a transaction that is not [data, encoding]"));
        };
        match &*encoding {
            "base58" => Ok(Encoded::Base58(data)),
            "base64" => Ok(Encoded::Base64(data)),
            other => Err(A::Error::custom(format_args!(
                "a transaction in encoding {other}; ask getBlock for base64 (base58 is read, too)"
            ))),
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, _: A) -> Result<Encoded, A::Error> {
        Err(A::Error::custom(
            "a transaction in encoding json or jsonParsed, from which the signed bytes cannot be \
             recovered; ask getBlock for encoding base64",
        ))
    }
}
