//! What a caller decides for each call.

use octosig::Profile;

/// Which packets are kept. Chosen with each call, and remembered by none: nothing here is global.
///
/// A validator takes its rules from its bank. `enable_tx_v1` is a feature of the cluster; so would
/// be SIMD-0376, a proposal, and a validator would choose [`Profile::Simd0376`] where the bank's
/// feature set has it active and [`Profile::DalekStrict`] where it has not.
///
/// The default keeps what Agave 4.2 keeps without vote-only mode and without version 1.
///
/// ```
/// use octosig_pipeline::{Profile, Rules};
///
/// let simd0376_is_active = false; // says the bank's feature set
/// let profile = if simd0376_is_active { Profile::Simd0376 } else { Profile::DalekStrict };
/// let rules = Rules { profile, reject_non_vote: false, enable_tx_v1: true };
/// assert_eq!(rules, Rules { enable_tx_v1: true, ..Rules::default() });
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Rules {
    /// Which signatures are valid.
    pub profile: Profile,
    /// Discard whatever is not a simple vote: a legacy transaction of one or two signatures whose
    /// only instruction calls the vote program.
    pub reject_non_vote: bool,
    /// Let transactions of version 1 pass.
    pub enable_tx_v1: bool,
}

impl Rules {
    /// What the arguments of solana-perf's functions mean.
    pub(crate) const fn agave(reject_non_vote: bool, enable_tx_v1: bool) -> Self {
        Self { profile: Profile::DalekStrict, reject_non_vote, enable_tx_v1 }
    }
}
