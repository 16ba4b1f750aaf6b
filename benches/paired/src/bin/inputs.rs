//! Writes signed messages: public key, signature, message, one after the other.

use std::{
    env,
    io::{self, BufWriter, Write},
};

use ed25519_dalek::{Signer, SigningKey};
use rand::{RngCore, SeedableRng, rngs::StdRng};

fn main() -> Result<(), String> {
    let args: Vec<usize> = env::args().skip(1).filter_map(|arg| arg.parse().ok()).collect();
    let &[signatures, len, keys] = &args[..] else {
        return Err("arguments: SIGNATURES LEN KEYS; keys take turns".into());
    };
    write(signatures, len, keys).map_err(|error| error.to_string())
}

fn write(signatures: usize, len: usize, keys: usize) -> io::Result<()> {
    let mut rng = StdRng::seed_from_u64(0);
    let keys: Vec<SigningKey> = (0..keys)
        .map(|_| {
            let mut secret = [0; 32];
            rng.fill_bytes(&mut secret);
            SigningKey::from_bytes(&secret)
        })
        .collect();
    let mut out = BufWriter::new(io::stdout().lock());
    let mut message = vec![0; len];
    for key in keys.iter().cycle().take(signatures) {
        rng.fill_bytes(&mut message);
        out.write_all(key.verifying_key().as_bytes())?;
        out.write_all(&key.sign(&message).to_bytes())?;
        out.write_all(&message)?;
    }
    out.flush()
}
