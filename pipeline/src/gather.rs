//! packets → lanes: signatures of any number of packets, in order, until there are enough to
//! verify at once.

use arrayvec::ArrayVec;
use octosig::{Item, Profile, Verifier};

use crate::scatter::Outcome;

/// Signatures verified at once: whole groups, and enough to make what a call costs small.
pub(crate) const CHUNK: usize = 256;

/// Whatever gives every signature its verdict.
pub(crate) trait Verify {
    /// Sets `verdicts[i]` to whether `items[i]` is valid. Both have one length.
    fn set_verdicts(&mut self, profile: Profile, items: &[Item<'_>], verdicts: &mut [bool]);
}

impl Verify for Verifier {
    fn set_verdicts(&mut self, profile: Profile, items: &[Item<'_>], verdicts: &mut [bool]) {
        // Equal lengths leave no error; were there one, the verdicts would be what the caller set.
        let _ = self.verify_many(profile, items, verdicts);
    }
}

/// Signatures that wait for their lanes, each with the place of its packet among the outcomes.
pub(crate) struct Chunk<'a> {
    profile: Profile,
    items: ArrayVec<Item<'a>, CHUNK>,
    owners: ArrayVec<usize, CHUNK>,
}

impl<'a> Chunk<'a> {
    pub(crate) const fn new(profile: Profile) -> Self {
        Self { profile, items: ArrayVec::new_const(), owners: ArrayVec::new_const() }
    }

    /// Verifies under another profile from here on, and what has gathered under the one before.
    pub(crate) fn set_profile(
        &mut self,
        profile: Profile,
        verifier: &mut (impl Verify + ?Sized),
        outcomes: &mut [Outcome],
    ) {
        if self.profile != profile {
            self.verify(verifier, outcomes);
            self.profile = profile;
        }
    }

    /// Adds a signature of packet `owner`; a full chunk is verified first.
    pub(crate) fn push(
        &mut self,
        item: Item<'a>,
        owner: usize,
        verifier: &mut (impl Verify + ?Sized),
        outcomes: &mut [Outcome],
    ) {
        if self.items.is_full() {
            self.verify(verifier, outcomes);
        }
        self.items.push(item);
        self.owners.push(owner);
    }

    /// Verifies what has gathered and empties the chunk. A packet stays kept only while each of its
    /// signatures is valid, in whichever chunks they lie.
    pub(crate) fn verify(
        &mut self,
        verifier: &mut (impl Verify + ?Sized),
        outcomes: &mut [Outcome],
    ) {
        let mut verdicts = [false; CHUNK];
        let Some(verdicts) = verdicts.get_mut(..self.items.len()) else { return };
        verifier.set_verdicts(self.profile, &self.items, verdicts);
        for (owner, verdict) in self.owners.drain(..).zip(verdicts) {
            if let Some(outcome) = outcomes.get_mut(owner) {
                outcome.keep &= *verdict;
            }
        }
        self.items.clear();
    }
}
