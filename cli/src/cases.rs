//! Text → bytes: the cases of one chunk, decoded.

use std::{borrow::Cow, ops::Range};

use data_encoding::Encoding;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::input::{Chunk, Content, Encoded, describe};

/// The longest transaction in bytes, of any version.
pub(crate) const MAX_TRANSACTION: usize = 4_096;
/// The most characters in which base58 writes so many bytes. Decoding takes time quadratic in the
/// length.
const MAX_BASE58: usize = 5_594;

const HEX: (&str, &Encoding) = ("hex", &data_encoding::HEXLOWER_PERMISSIVE);
const BASE64: (&str, &Encoding) = ("base64", &data_encoding::BASE64);

/// The cases of one chunk. All ranges point into `bytes`.
#[derive(Debug, Default)]
pub(crate) struct Cases {
    pub(crate) bytes: Vec<u8>,
    pub(crate) cases: Vec<Case>,
    /// Lines that hold no case: where they are and what is wrong.
    pub(crate) broken: Vec<String>,
}

#[derive(Debug)]
pub(crate) struct Case {
    pub(crate) id: Id,
    pub(crate) payload: Payload,
}

/// How the output names a case.
#[derive(Debug)]
pub(crate) enum Id {
    /// The input's own `id`, a JSON value.
    Json(Box<RawValue>),
    /// Its line.
    Line(u64),
    /// Its index in its block, unless its first signature can be read.
    Transaction(usize),
}

#[derive(Clone, Debug)]
pub(crate) enum Payload {
    Signature { public_key: Range<usize>, message: Range<usize>, signature: Range<usize> },
    Transaction(Range<usize>),
    Packet(Range<usize>),
}

/// A line of a file. Borrows from it, unless the text is written with escapes.
#[derive(Deserialize)]
struct Record<'a> {
    id: Option<Box<RawValue>>,
    #[serde(borrow)]
    pk: Option<Text<'a>>,
    msg: Option<Text<'a>>,
    sig: Option<Text<'a>>,
    tx_base64: Option<Text<'a>>,
    packet_base64: Option<Text<'a>>,
}

/// serde borrows a `Cow` inside of an `Option` only through a type of its own.
#[derive(Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

impl Cases {
    /// Decodes `chunk`. Unless `keep_going`, ends with the first broken line.
    pub(crate) fn decode(chunk: Chunk, keep_going: bool) -> Self {
        let mut cases = Self::default();
        let Chunk { file, line, content, .. } = chunk;
        match content {
            Content::Broken(why) => cases.broken.push(format!("{file}:{line}: {why}")),
            Content::Lines(text) => {
                cases.bytes.reserve(text.len());
                for (line, text) in (line..).zip(text.split(|&byte| byte == b'\n')) {
                    if text.trim_ascii().is_empty() {
                        continue;
                    }
                    match cases.record(text) {
                        Ok((id, payload)) => {
                            let id = id.map_or(Id::Line(line), Id::Json);
                            cases.cases.push(Case { id, payload });
                        }
                        Err(why) => cases.broken.push(format!("{file}:{line}: {why}")),
                    }
                    if !keep_going && !cases.broken.is_empty() {
                        break;
                    }
                }
            }
            Content::Transactions(first, transactions) => {
                for (index, transaction) in (first..).zip(transactions) {
                    match cases.transaction(&transaction) {
                        Ok(bytes) => {
                            let payload = Payload::Transaction(bytes);
                            cases.cases.push(Case { id: Id::Transaction(index), payload });
                        }
                        Err(why) => cases.broken.push(format!(
                            "{file}:{line}: transaction {index} of the block: {why}"
                        )),
                    }
                    if !keep_going && !cases.broken.is_empty() {
                        break;
                    }
                }
            }
        }
        cases
    }

    fn record(&mut self, line: &[u8]) -> Result<(Option<Box<RawValue>>, Payload), String> {
        let record: Record<'_> = serde_json::from_slice(line).map_err(|error| describe(&error))?;
        let Record { id, pk, msg, sig, tx_base64, packet_base64 } = record;
        let payload = match (pk, msg, sig, tx_base64, packet_base64) {
            (Some(pk), Some(msg), Some(sig), None, None) => Payload::Signature {
                public_key: self.decoded(HEX, "pk", &pk.0)?,
                message: self.decoded(HEX, "msg", &msg.0)?,
                signature: self.decoded(HEX, "sig", &sig.0)?,
            },
            (None, None, None, Some(text), None) => {
                Payload::Transaction(self.decoded(BASE64, "tx_base64", &text.0)?)
            }
            (None, None, None, None, Some(text)) => {
                Payload::Packet(self.decoded(BASE64, "packet_base64", &text.0)?)
            }
            _ => return Err("needs either pk, msg and sig, or tx_base64, or packet_base64".into()),
        };
        Ok((id, payload))
    }

    fn transaction(&mut self, transaction: &Encoded) -> Result<Range<usize>, String> {
        match transaction {
            Encoded::Base64(text) => self.decoded(BASE64, "data", text),
            Encoded::Base58(text) => {
                let start = self.bytes.len();
                let text = text.as_bytes();
                // What is cut off here is too long for a transaction, and remains so.
                let text = text.get(..=MAX_BASE58).unwrap_or(text);
                let bytes = bs58::decode(text).into_vec();
                self.bytes.extend(bytes.map_err(|error| format!("data is not base58: {error}"))?);
                Ok(start..self.bytes.len())
            }
        }
    }

    /// Decodes `text`, the value of `key`, to the end of `bytes`.
    fn decoded(
        &mut self,
        (name, encoding): (&str, &Encoding),
        key: &str,
        text: &str,
    ) -> Result<Range<usize>, String> {
        let start = self.bytes.len();
        let text = text.as_bytes();
        let broken = |error| format!("{key} is not {name}: {error}");
        let length = encoding.decode_len(text.len()).map_err(broken)?;
        self.bytes.resize(start + length, 0);
        let length = encoding
            .decode_mut(text, &mut self.bytes[start..])
            .map_err(|partial| broken(partial.error))?;
        self.bytes.truncate(start + length);
        Ok(start..start + length)
    }
}
