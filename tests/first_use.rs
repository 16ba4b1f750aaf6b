//! Threads that verify before any self-test has finished. A process of its own: only its first
//! use of a backend can show this.

use std::{sync::Barrier, thread};

use ed25519_dalek::{Signer, SigningKey};
use octosig::{Backend, Item, Profile, Verifier};

#[test]
fn eight_threads_at_first_use() {
    const THREADS: usize = 8;
    let key = SigningKey::from_bytes(&[7; 32]);
    let public_key = &key.verifying_key().to_bytes();
    let signature = &key.sign(b"first").to_bytes();
    let start = &Barrier::new(THREADS);
    thread::scope(|scope| {
        for thread in 0..THREADS {
            scope.spawn(move || {
                start.wait();
                let mut verifier = match Backend::ALL.get(thread / 2) {
                    Some(&backend) if backend.is_available() => {
                        Verifier::with_backend(backend).expect("available")
                    }
                    _ => Verifier::new(),
                };
                let items: [Item<'_>; 13] = std::array::from_fn(|i| Item {
                    public_key,
                    signature,
                    message: if i % 3 == thread % 3 { b"first" } else { b"other" },
                });
                let mut verdicts = [false; 13];
                verifier
                    .verify_many(Profile::default(), &items, &mut verdicts)
                    .expect("as many verdicts as items");
                let expected = std::array::from_fn(|i| i % 3 == thread % 3);
                assert_eq!(verdicts, expected, "{:?}", verifier.backend());
            });
        }
    });
}
