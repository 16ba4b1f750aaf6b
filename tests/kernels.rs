//! What `src/field/fma/kernels.rs` says under "Safety" about the naked functions, read from their
//! text. No sanitizer sees into them; but they are straight lines of eleven instructions without a
//! computed address, so that the text shows every access to memory.

use std::collections::HashSet;

const KERNELS: &str = include_str!("../src/field/fma/kernels.rs");

/// Bytes of a vector, of an operand and of the table of constants.
const VECTOR: usize = 32;
const OPERAND: usize = 5 * VECTOR;
const CONSTANTS: usize = 27 * VECTOR;

/// From registers and memory to a register: no flags, no jumps, no stack.
const ARITHMETIC: [&str; 9] =
    ["vaddpd", "vfmadd231pd", "vpaddq", "vpand", "vpmuludq", "vpor", "vpsllq", "vpsrlq", "vsubpd"];

#[derive(Clone, Copy, Debug, PartialEq)]
enum Operand<'a> {
    Register(usize),
    Count,
    /// A base and an offset in bytes.
    Memory(&'a str, usize),
}

impl<'a> Operand<'a> {
    fn parse(text: &'a str) -> Option<Self> {
        if let Some(number) = text.strip_prefix("ymm") {
            return number.parse().ok().filter(|number| *number < 16).map(Self::Register);
        }
        if let Some(address) = text.strip_prefix('[') {
            let (base, offset) = address.strip_suffix(']')?.rsplit_once(" + ")?;
            return Some(Self::Memory(base, offset.parse().ok()?));
        }
        text.parse::<u8>().ok().map(|_| Self::Count)
    }
}

/// Checks the lines of a function of `inputs` operands, from its first to `ret`.
fn check<'a>(name: &str, inputs: usize, lines: impl IntoIterator<Item = &'a str>) {
    let bases = &["rsi", "rdx"][..inputs];
    let mut written = HashSet::new();
    let mut stored = Vec::new();
    let mut read = HashSet::new();
    let mut returned = false;
    for line in lines {
        assert!(!returned, "{name}: {line} behind ret");
        if line == "ret" {
            returned = true;
            continue;
        }
        let (instruction, operands) = line.split_once(' ').expect("operands");
        let operands: Vec<Operand<'_>> = operands
            .split(", ")
            .map(|text| Operand::parse(text).unwrap_or_else(|| panic!("{name}: {line}")))
            .collect();
        let (&to, mut from) = operands.split_first().expect("an operand");
        match (instruction, to) {
            ("vmovapd", Operand::Memory("rdi", at)) => {
                assert!(matches!(from, [Operand::Register(_)]), "{name}: {line}");
                stored.push(at);
            }
            ("vmovapd", Operand::Register(_)) => assert_eq!(from.len(), 1, "{name}: {line}"),
            (_, Operand::Register(_)) => {
                assert!(ARITHMETIC.contains(&instruction), "{name}: {line}");
                assert_eq!(from.len(), 2, "{name}: {line}");
                if instruction == "vfmadd231pd" {
                    from = &operands;
                }
            }
            _ => panic!("{name}: {line}"),
        }
        for operand in from {
            match *operand {
                Operand::Register(number) => {
                    assert!(written.contains(&number), "{name}: {line} reads what the caller left");
                }
                Operand::Memory(base, at) => {
                    let size = if base == "rip + {k}" { CONSTANTS } else { OPERAND };
                    assert!(base == "rip + {k}" || bases.contains(&base), "{name}: {line}");
                    assert!(at % VECTOR == 0 && at + VECTOR <= size, "{name}: {line}");
                    assert!(stored.is_empty(), "{name}: {line} reads behind a store");
                    read.insert((base, at));
                }
                Operand::Count => {}
            }
        }
        if let Operand::Register(number) = to {
            written.insert(number);
        }
    }
    assert!(returned, "{name} returns");
    let vectors = || (0..OPERAND).step_by(VECTOR);
    assert_eq!(stored, Vec::from_iter(vectors()), "{name}: what is stored");
    for base in bases {
        assert!(vectors().all(|at| read.contains(&(*base, at))), "{name} ignores a limb of {base}");
    }
}

#[test]
fn kernels_touch_their_operands_alone() {
    assert!(KERNELS.contains("struct Constants([[u64; 4]; 27]);"));
    let mut names = Vec::new();
    for function in KERNELS.split("pub(super) unsafe extern \"sysv64\" fn ").skip(1) {
        let (name, rest) = function.split_once("(out: *mut [__m256").expect("parameters");
        let (parameters, rest) = rest.split_once('{').expect("a body");
        let (_, body) = rest.split_once("naked_asm!(").expect("assembly");
        let (body, _) = body.split_once("k = sym CONSTANTS,\n    )\n}").expect("its end");
        let lines = body.trim().lines().map(|line| {
            line.trim().strip_prefix('"').and_then(|l| l.strip_suffix("\",")).expect("one line")
        });
        check(name, parameters.matches(": &[__m256d; 5]").count(), lines);
        names.push(name);
    }
    assert_eq!(names, ["mul_loose", "mul", "square_loose", "square"]);
    assert_eq!(KERNELS.matches("asm!(").count(), names.len());
}
