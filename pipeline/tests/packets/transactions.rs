//! Transactions built with the Solana SDK; every key follows from a number.

use solana_sdk::{
    hash::Hash,
    instruction::{AccountMeta, Instruction},
    message::{
        Message, MessageHeader, VersionedMessage, compiled_instruction::CompiledInstruction, v0, v1,
    },
    pubkey::Pubkey,
    signature::{Keypair, Signature, Signer},
    transaction::{Transaction, VersionedTransaction},
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Version {
    Legacy,
    V0,
    V1,
}

impl Version {
    pub(crate) const ALL: [Self; 3] = [Self::Legacy, Self::V0, Self::V1];
}

pub(crate) fn keypair(number: u64) -> Keypair {
    let mut seed = [7; 32];
    seed[..8].copy_from_slice(&number.to_le_bytes());
    Keypair::new_from_array(seed)
}

pub(crate) fn address(number: u64) -> Pubkey {
    keypair(number).pubkey()
}

pub(crate) fn hash(number: u64) -> Hash {
    Hash::new_from_array(address(number).to_bytes())
}

pub(crate) fn bytes(transaction: impl Into<VersionedTransaction>) -> Vec<u8> {
    wincode::serialize(&transaction.into()).expect("a transaction")
}

pub(crate) fn transfer(number: u64) -> Transaction {
    solana_system_transaction::transfer(&keypair(number), &address(number + 1), 42, hash(number))
}

/// `instructions` compiled for payer `number` and signed by the keys `number..number + signers`.
pub(crate) fn signed(
    version: Version,
    number: u64,
    signers: u64,
    instructions: &[Instruction],
) -> Vec<u8> {
    let (payer, hash) = (address(number), hash(number));
    let message = match version {
        Version::Legacy => {
            VersionedMessage::Legacy(Message::new_with_blockhash(instructions, Some(&payer), &hash))
        }
        Version::V0 => VersionedMessage::V0(
            v0::Message::try_compile(&payer, instructions, &[], hash).expect("compiles"),
        ),
        Version::V1 => VersionedMessage::V1(
            v1::Message::try_compile(&payer, instructions, hash).expect("compiles"),
        ),
    };
    sign(message, number, signers)
}

fn sign(message: VersionedMessage, number: u64, signers: u64) -> Vec<u8> {
    let keypairs: Vec<_> = (number..number + signers).map(keypair).collect();
    let keypairs: Vec<_> = keypairs.iter().collect();
    bytes(VersionedTransaction::try_new(message, &keypairs).expect("all signers"))
}

/// One instruction with `data` that writes to one account.
pub(crate) fn one_instruction(version: Version, number: u64, data: &[u8]) -> Vec<u8> {
    signed(version, number, 1, &[instruction(address(number + 1), number + 2, data)])
}

pub(crate) fn instruction(program_id: Pubkey, account: u64, data: &[u8]) -> Instruction {
    let accounts = vec![AccountMeta::new(address(account), false)];
    Instruction { program_id, accounts, data: data.to_vec() }
}

/// A message that calls one program, small enough that 12 signatures fit a packet.
pub(crate) fn message(
    version: Version,
    number: u64,
    signers: &[Pubkey],
    program: Pubkey,
) -> VersionedMessage {
    let count = u8::try_from(signers.len()).expect("few signers");
    let legacy = Message {
        header: MessageHeader {
            num_required_signatures: count,
            num_readonly_signed_accounts: 0,
            num_readonly_unsigned_accounts: 1,
        },
        account_keys: [signers, &[program]].concat(),
        recent_blockhash: hash(number),
        instructions: vec![CompiledInstruction {
            program_id_index: count,
            accounts: vec![0],
            data: vec![1],
        }],
    };
    match version {
        Version::Legacy => VersionedMessage::Legacy(legacy),
        Version::V0 => VersionedMessage::V0(v0::Message {
            header: legacy.header,
            account_keys: legacy.account_keys,
            recent_blockhash: legacy.recent_blockhash,
            instructions: legacy.instructions,
            address_table_lookups: Vec::new(),
        }),
        Version::V1 => VersionedMessage::V1(v1::Message {
            header: legacy.header,
            config: v1::TransactionConfig::default(),
            lifetime_specifier: legacy.recent_blockhash,
            account_keys: legacy.account_keys,
            instructions: legacy.instructions,
        }),
    }
}

/// A valid transaction of the given version with `signers` signatures.
pub(crate) fn multisig(version: Version, number: u64, signers: u8) -> Vec<u8> {
    let keys: Vec<_> = (0..u64::from(signers)).map(|i| address(number + i)).collect();
    sign(message(version, number, &keys, address(number + 1_000)), number, signers.into())
}

/// Where signature `i` of `count` begins in the bytes of a transaction.
pub(crate) fn signature_offset(version: Version, len: usize, count: usize, i: usize) -> usize {
    match version {
        Version::Legacy | Version::V0 => 1 + 64 * i,
        Version::V1 => len - 64 * (count - i),
    }
}

/// A transaction that calls the vote program once, with `signers` signatures.
pub(crate) fn vote(version: Version, number: u64, signers: u64) -> Vec<u8> {
    let accounts = (number..number + signers).map(|i| AccountMeta::new(address(i), true)).collect();
    let program_id = solana_sdk_ids::vote::ID;
    signed(version, number, signers, &[Instruction { program_id, accounts, data: vec![1, 2, 3] }])
}

/// A legacy transaction whose header and signatures do not fit together.
pub(crate) fn inconsistent(
    header: MessageHeader,
    account_keys: Vec<Pubkey>,
    signatures: Vec<Signature>,
) -> Vec<u8> {
    let message = Message { header, account_keys, recent_blockhash: hash(1), instructions: vec![] };
    bytes(Transaction { signatures, message })
}
