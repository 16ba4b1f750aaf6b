//! What a verifier allocates: its scratch memory once, and nothing in a call.

use allocation_counter::measure;
use ed25519_dalek::{Signer, SigningKey};
use octosig::{Backend, Item, Profile, Verifier};

/// Bytes of heap that the documentation states, rounded up.
const fn stated(backend: Backend) -> u64 {
    match backend {
        Backend::Portable => 57_000,
        Backend::Avx2 => 107_000,
        _ => 80_000,
    }
}

#[test]
fn a_verifier_allocates_once() {
    let key = SigningKey::from_bytes(&[7; 32]);
    let public_key = &key.verifying_key().to_bytes();
    let signature = &key.sign(&[1; 1_232]).to_bytes();
    let message = &[1; 1_232];
    let items = vec![Item { public_key, signature, message }; 130];
    let mut verdicts = vec![false; items.len()];
    for &backend in Backend::ALL.iter().filter(|backend| backend.is_available()) {
        // The first one in a process pays for the self-test.
        let _ = Verifier::with_backend(backend).expect("available");
        let mut verifier = None;
        let made = measure(|| {
            verifier = Verifier::with_backend(backend).ok();
        });
        println!("{backend}: {} bytes", made.bytes_current);
        assert!(made.bytes_current > 0);
        assert!(made.bytes_max <= stated(backend), "{backend}: {made:?}");

        let mut verifier = verifier.expect("available");
        for (&profile, count) in Profile::ALL.iter().flat_map(|profile| {
            (0..=20).chain([63, 64, 65, 130]).map(move |count| (profile, count))
        }) {
            let mut valid = false;
            let call = measure(|| {
                let (items, verdicts) = (&items[..count], &mut verdicts[..count]);
                verifier.verify_many(profile, items, verdicts).expect("as many verdicts as items");
                valid = verifier.all_valid(profile, items);
                valid &= verifier.verify(profile, public_key, signature, message);
            });
            assert_eq!(call.count_total, 0, "{backend}, {profile}, {count} items");
            assert!(valid && verdicts[..count].iter().all(|verdict| *verdict));
        }
    }
}

/// A call on a thread with the stack that the documentation states; more would abort the process.
#[test]
fn a_call_needs_little_stack() {
    let key = SigningKey::from_bytes(&[7; 32]);
    let (public_key, signature) = (key.verifying_key().to_bytes(), key.sign(b"stack").to_bytes());
    for &backend in Backend::ALL.iter().filter(|backend| backend.is_available()) {
        let mut verifier = Verifier::with_backend(backend).expect("available");
        let thread = std::thread::Builder::new().stack_size(64 << 10);
        let call = move || {
            let item = Item { public_key: &public_key, signature: &signature, message: b"stack" };
            (1..=16).chain([130]).all(|count| {
                let items = vec![item; count];
                Profile::ALL.iter().all(|&profile| {
                    let mut verdicts = vec![false; count];
                    verifier
                        .verify_many(profile, &items, &mut verdicts)
                        .expect("as many verdicts as items");
                    verdicts.iter().all(|verdict| *verdict)
                })
            })
        };
        assert!(thread.spawn(call).expect("a thread").join().expect("no panic"), "{backend}");
    }
}
