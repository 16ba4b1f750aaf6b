//! bytes → packets: what one packet asks to be verified.
//!
//! Which bytes are a transaction is for agave-transaction-view alone to say; this file adds the
//! gates of Agave 4.2.2's sigverify and its notion of a simple vote.

use agave_transaction_view::{
    transaction_version::TransactionVersion, transaction_view::SanitizedTransactionView,
};
use octosig::Item;
use solana_runtime_transaction::sanitize_config::sanitize_config;

use crate::rules::Rules;

/// A packet that parsed and passed the gates.
#[derive(Debug)]
pub(crate) struct Transaction<'a> {
    pub(crate) is_simple_vote: bool,
    signatures: &'a [[u8; 64]],
    signers: &'a [[u8; 32]],
    message: &'a [u8],
}

impl<'a> Transaction<'a> {
    /// `None` if the packet is to be discarded whatever its signatures say.
    pub(crate) fn parse(data: &'a [u8], rules: Rules) -> Option<Self> {
        let view =
            SanitizedTransactionView::try_new_sanitized(data, &sanitize_config(true)).ok()?;
        if !rules.enable_tx_v1 && matches!(view.version(), TransactionVersion::V1) {
            return None;
        }
        let is_simple_vote = is_simple_vote(&view);
        if rules.reject_non_vote && !is_simple_vote {
            return None;
        }
        let count = view.signatures().len();
        let signature = view.signatures().first()?.as_array();
        let signer = view.static_account_keys().first()?.as_array();
        let message = view.message_data();
        Some(Self {
            is_simple_vote,
            signatures: starting_at(data, signature)?.as_chunks().0.get(..count)?,
            signers: starting_at(data, signer)?.as_chunks().0.get(..count)?,
            message: starting_at(data, message)?.get(..message.len())?,
        })
    }

    /// One item per signature, at least one.
    pub(crate) fn items(&self) -> impl Iterator<Item = Item<'a>> {
        let message = self.message;
        self.signatures.iter().zip(self.signers).map(move |(signature, public_key)| Item {
            public_key,
            signature,
            message,
        })
    }
}

/// A legacy transaction of one or two signatures whose only instruction calls the vote program.
fn is_simple_vote(view: &SanitizedTransactionView<&[u8]>) -> bool {
    if view.num_signatures() > 2
        || !matches!(view.version(), TransactionVersion::Legacy)
        || view.num_instructions() != 1
    {
        return false;
    }
    view.instructions_iter()
        .next()
        .and_then(|instruction| {
            view.static_account_keys().get(usize::from(instruction.program_id_index))
        })
        .is_some_and(|program| *program == solana_sdk_ids::vote::ID)
}

/// `data` from the place where `part`, a piece of it, begins.
///
/// A view lends its pieces no longer than it lives itself; this lends them as long as `data`, so
/// that the views of earlier packets need not be kept while lanes fill.
fn starting_at<'a>(data: &'a [u8], part: &[u8]) -> Option<&'a [u8]> {
    data.get(part.as_ptr().addr().checked_sub(data.as_ptr().addr())?..)
}
