//! The loop that counts instructions, for programs that run in the emulator of ci/emulator/.

use std::hint::black_box;
use std::{env, str::FromStr};

use ed25519_dalek::{Signer, SigningKey};
use rand::{RngCore, SeedableRng, rngs::StdRng};

/// Signatures of messages of one length, each under a key of its own; the same ones in every program.
#[derive(Debug)]
pub struct Signed {
    pub public_keys: Vec<[u8; 32]>,
    pub signatures: Vec<[u8; 64]>,
    pub messages: Vec<Vec<u8>>,
}

impl Signed {
    fn new(count: usize, len: usize) -> Self {
        let mut rng = StdRng::seed_from_u64(0);
        let mut signed = Self { public_keys: vec![], signatures: vec![], messages: vec![] };
        for _ in 0..count {
            let mut secret = [0; 32];
            rng.fill_bytes(&mut secret);
            let key = SigningKey::from_bytes(&secret);
            let mut message = vec![0; len];
            rng.fill_bytes(&mut message);
            signed.public_keys.push(key.verifying_key().to_bytes());
            signed.signatures.push(key.sign(&message).to_bytes());
            signed.messages.push(message);
        }
        signed
    }

    /// (public key, signature, message), one after the other.
    pub fn each(&self) -> impl Iterator<Item = (&[u8; 32], &[u8; 64], &[u8])> {
        let pairs = self.public_keys.iter().zip(&self.signatures);
        pairs.zip(&self.messages).map(|((key, signature), message)| (key, signature, &message[..]))
    }
}

/// Counts for each `COUNT:LENGTH` of the command line, and prints them as `name COUNT LENGTH instructions`.
/// `verify` fills in the verdicts.
pub fn count(name: &str, mut verify: impl FnMut(&Signed, &mut [bool])) -> Result<(), String> {
    const RUNS: usize = 11;
    let interrupts = interrupts();
    for row in env::args().skip(1) {
        let bad = || format!("{row}: not COUNT:LENGTH");
        let (count, len) = row.split_once(':').ok_or_else(bad)?;
        let number = |text| usize::from_str(text).map_err(|_| bad());
        let (count, len) = (number(count)?, number(len)?);
        let mut signed = Signed::new(count, len);
        let mut verdicts = vec![false; count];
        let mut measure = |signed: &Signed, expected: &dyn Fn(usize) -> bool| {
            let mut ticks: Vec<u64> = (0..RUNS)
                .map(|_| {
                    let before = executed();
                    verify(black_box(signed), &mut verdicts);
                    executed() - before
                })
                .collect();
            ticks.sort_unstable();
            if verdicts.iter().enumerate().any(|(i, verdict)| *verdict != expected(i)) {
                return Err(format!("{name}: a wrong verdict among {count} of {len} bytes"));
            }
            Ok(ticks[RUNS / 2] as f64)
        };
        let instructions = measure(&signed, &|_| true)? / interrupts / count as f64;
        signed.signatures[count / 2][40] ^= 1;
        measure(&signed, &|i| i != count / 2)?;
        println!("{name}\t{count}\t{len}\t{instructions:.0}");
    }
    Ok(())
}

/// Ticks for an instruction, above 1 for what the timer's interrupts execute.
fn interrupts() -> f64 {
    const INSTRUCTIONS: u64 = 10_000_000;
    let mut ticks: Vec<u64> = (0..21)
        .map(|_| {
            let before = executed();
            two_instructions_each(INSTRUCTIONS / 2);
            executed() - before
        })
        .collect();
    ticks.sort_unstable();
    ticks[10] as f64 / INSTRUCTIONS as f64
}

#[inline(never)]
#[allow(unsafe_code)]
fn two_instructions_each(n: u64) {
    // SAFETY: counts a register down; touches nothing else.
    unsafe {
        std::arch::asm!("2:", "dec {0}", "jnz 2b", inout(reg) n => _, options(nomem, nostack));
    }
}

/// The time-stamp counter, which the emulator advances by one for each instruction.
#[allow(unsafe_code)]
fn executed() -> u64 {
    // SAFETY: every x86-64 CPU has the instruction, which changes nothing.
    unsafe { std::arch::x86_64::_rdtsc() }
}
