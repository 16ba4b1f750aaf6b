//! Bytes → items: what has to be verified for each case of a chunk.

use std::ops::Range;

use agave_transaction_view::transaction_view::UnsanitizedTransactionView;
use octosig::Item;
use solana_perf::packet::{BytesPacket, Meta, bytes::Bytes};

use crate::{
    cases::{Cases, MAX_TRANSACTION, Payload},
    summary::Tally,
};

/// A transaction that parsed.
pub(crate) type View<'a> = UnsanitizedTransactionView<&'a [u8]>;

/// How a case gets its verdict.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Check {
    /// All of these items have to be valid.
    Items(Range<usize>),
    /// This packet has to be kept.
    Packet(usize),
    /// Nothing can make it valid.
    Invalid,
}

/// Everything that has to be verified for a chunk, gathered over its cases so that lanes fill.
pub(crate) struct Plan<'a> {
    pub(crate) items: Vec<Item<'a>>,
    pub(crate) packets: Vec<BytesPacket>,
    /// One per case.
    pub(crate) checks: Vec<Check>,
}

/// For each case its transaction, if it is one that parses.
pub(crate) fn views(cases: &Cases) -> Vec<Option<View<'_>>> {
    let view = |payload: &Payload| {
        let Payload::Transaction(range) = payload else { return None };
        let bytes = &cases.bytes[range.clone()];
        (bytes.len() <= MAX_TRANSACTION).then(|| View::try_new_unsanitized(bytes).ok()).flatten()
    };
    cases.cases.iter().map(|case| view(&case.payload)).collect()
}

impl<'a> Plan<'a> {
    /// `tally` counts why cases are invalid from the outset.
    pub(crate) fn new(cases: &'a Cases, views: &'a [Option<View<'_>>], tally: &mut Tally) -> Self {
        let mut plan = Self { items: Vec::new(), packets: Vec::new(), checks: Vec::new() };
        for (case, view) in cases.cases.iter().zip(views) {
            let first = plan.items.len();
            let reason = match (&case.payload, view) {
                (Payload::Packet(bytes), _) => {
                    let bytes = Bytes::copy_from_slice(&cases.bytes[bytes.clone()]);
                    plan.checks.push(Check::Packet(plan.packets.len()));
                    plan.packets.push(BytesPacket::new(bytes, Meta::default()));
                    continue;
                }
                (Payload::Signature { public_key, message, signature }, _) => {
                    let public_key = cases.bytes[public_key.clone()].try_into();
                    let signature = cases.bytes[signature.clone()].try_into();
                    if let (Ok(public_key), Ok(signature)) = (public_key, signature) {
                        let message = &cases.bytes[message.clone()];
                        plan.items.push(Item { public_key, signature, message });
                        None
                    } else {
                        Some(&mut tally.wrong_length)
                    }
                }
                (Payload::Transaction(_), None) => Some(&mut tally.unparsed),
                (Payload::Transaction(_), Some(view)) if !counts_match(view) => {
                    Some(&mut tally.miscounted)
                }
                (Payload::Transaction(_), Some(view)) => {
                    let message = view.message_data();
                    plan.items.extend(
                        view.signatures().iter().zip(view.static_account_keys()).map(
                            |(signature, key)| Item {
                                public_key: key.as_array(),
                                signature: signature.as_array(),
                                message,
                            },
                        ),
                    );
                    None
                }
            };
            plan.checks.push(match reason {
                None => Check::Items(first..plan.items.len()),
                Some(count) => {
                    *count += 1;
                    Check::Invalid
                }
            });
        }
        plan
    }
}

/// Whether a transaction brings the signatures its header requires and a key for each, as Agave's
/// replay wants it.
fn counts_match(view: &View<'_>) -> bool {
    let count = view.num_signatures();
    count > 0 && count == view.num_required_signatures() && count <= view.num_static_account_keys()
}
