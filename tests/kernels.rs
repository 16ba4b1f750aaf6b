//! What `src/field/fma/kernels.rs` says under "Safety" about the naked functions, read from their
//! text. No sanitizer sees into them; but they are straight lines of a few instructions without a
//! computed address, so that the text shows every access to memory.

use std::collections::{BTreeMap, BTreeSet, HashSet};

const KERNELS: &str = include_str!("../src/field/fma/kernels.rs");

/// Bytes of a vector, of an element and of the table of constants.
const VECTOR: usize = 32;
const ELEMENT: usize = 5 * VECTOR;
const CONSTANTS: usize = 86 * VECTOR;

/// From registers and memory to a register: no flags, no jumps, no stack.
const ARITHMETIC: [&str; 12] = [
    "vaddpd",
    "vfmadd231pd",
    "vpaddq",
    "vpand",
    "vpmuludq",
    "vpor",
    "vpsllvq",
    "vpsubq",
    "vpunpckhqdq",
    "vpunpcklqdq",
    "vpxor",
    "vsubpd",
];
/// The same with a constant as the last operand.
const WITH_CONSTANT: [&str; 6] =
    ["vperm2i128", "vpermilpd", "vpermpd", "vpsllq", "vpsrldq", "vpsrlq"];

/// The registers for integers that belong to the callee.
const POINTERS: [&str; 9] = ["rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11"];

/// What a parameter, or an entry of an array of pointers, points to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Place {
    /// An array of so many pointers, which is parameter 0, 1 or 2.
    Array(usize, usize),
    /// Of an element: the parameter and the index in its array.
    Element(usize, usize),
}

impl Place {
    /// The places of results are named by the first parameter.
    fn is_result(self) -> bool {
        matches!(self, Self::Element(0, _))
    }
}

/// `out: *mut [__m256d; 5]`, `a: &[__m256d; 5]`, or `name: &[*const [__m256d; 5]; 4]`.
fn parameter(number: usize, text: &str) -> Place {
    match text.split_once("&[*mut ").or(text.split_once("&[*const ")) {
        Some((_, array)) => {
            let (_, len) = array.rsplit_once("; ").expect("a length");
            Place::Array(number, len.trim_end_matches(']').parse().expect("a number"))
        }
        None => Place::Element(number, 0),
    }
}

/// The base and the offset in bytes.
fn memory(text: &str) -> Option<(&str, usize)> {
    let (base, offset) = text.strip_prefix('[')?.strip_suffix(']')?.rsplit_once(" + ")?;
    Some((base, offset.parse().ok()?))
}

fn vector(text: &str) -> Option<usize> {
    text.strip_prefix("ymm")?.parse().ok().filter(|number| *number < 16)
}

/// Checks the lines of a function from its first to `ret`.
fn check<'a>(name: &str, parameters: &[Place], lines: impl IntoIterator<Item = &'a str>) {
    let mut pointers: BTreeMap<&str, Place> =
        ["rdi", "rsi", "rdx"].into_iter().zip(parameters.iter().copied()).collect();
    let mut elements: BTreeSet<Place> = BTreeSet::new();
    for (number, parameter) in parameters.iter().enumerate() {
        match *parameter {
            Place::Array(_, len) => elements.extend((0..len).map(|i| Place::Element(number, i))),
            element @ Place::Element(..) => drop(elements.insert(element)),
        }
    }
    let mut registers = HashSet::new();
    let (mut read, mut written) = (HashSet::new(), HashSet::new());
    let mut returned = false;
    for line in lines {
        assert!(!returned, "{name}: {line} behind ret");
        if line == "ret" {
            returned = true;
            continue;
        }
        let (instruction, operands) = line.split_once(' ').expect("operands");
        let operands: Vec<&str> = operands.split(", ").collect();
        let (to, mut from) = (operands[0], &operands[1..]);

        if instruction == "mov" {
            let (base, at) = memory(from[0]).unwrap_or_else(|| panic!("{name}: {line}"));
            let Some(Place::Array(number, len)) = pointers.get(base).copied() else {
                panic!("{name}: {line} reads no array of pointers");
            };
            assert!(from.len() == 1 && at.is_multiple_of(8) && at / 8 < len, "{name}: {line}");
            assert!(POINTERS.contains(&to), "{name}: {line} changes what belongs to the caller");
            pointers.insert(to, Place::Element(number, at / 8));
            continue;
        }
        // A limb of an element.
        let limb = |base: &str, at: usize| {
            let element = pointers.get(base).copied();
            let element = element.filter(|element| elements.contains(element));
            assert!(at.is_multiple_of(VECTOR) && at < ELEMENT, "{name}: {line}");
            (element.unwrap_or_else(|| panic!("{name}: {line}: {base} points to nothing")), at)
        };
        if let Some((base, at)) = memory(to) {
            assert!(instruction == "vmovapd" && vector(from[0]).is_some(), "{name}: {line}");
            let (element, at) = limb(base, at);
            assert!(element.is_result(), "{name}: {line} writes to an operand");
            written.insert((element, at));
        } else if instruction == "vmovapd" {
            assert_eq!(from.len(), 1, "{name}: {line}");
        } else if WITH_CONSTANT.contains(&instruction) {
            let (constant, rest) = from.split_last().expect("operands");
            assert!(constant.parse::<u8>().is_ok() && !rest.is_empty(), "{name}: {line}");
            from = rest;
        } else {
            assert!(ARITHMETIC.contains(&instruction) && from.len() == 2, "{name}: {line}");
            if instruction == "vfmadd231pd" {
                from = &operands;
            }
        }
        for operand in from {
            if let Some(number) = vector(operand) {
                assert!(registers.contains(&number), "{name}: {line} reads what the caller left");
            } else if let Some(("rip + {k}", at)) = memory(operand) {
                assert!(at.is_multiple_of(VECTOR) && at < CONSTANTS, "{name}: {line}");
            } else if let Some((base, at)) = memory(operand) {
                let (element, at) = limb(base, at);
                let ready = !element.is_result() || written.contains(&(element, at));
                assert!(ready, "{name}: {line} reads a result before it is written");
                read.insert((element, at));
            } else {
                panic!("{name}: {line}");
            }
        }
        if memory(to).is_none() {
            registers.insert(vector(to).unwrap_or_else(|| panic!("{name}: {line}")));
        }
    }
    assert!(returned, "{name} returns");
    for element in elements {
        let done = if element.is_result() { &written } else { &read };
        for at in (0..ELEMENT).step_by(VECTOR) {
            assert!(done.contains(&(element, at)), "{name} leaves out {element:?}, byte {at}");
        }
    }
}

#[test]
fn kernels_touch_their_operands_alone() {
    assert!(KERNELS.contains(&format!("struct Constants([[u64; 4]; {}]);", CONSTANTS / VECTOR)));
    let mut names = Vec::new();
    for function in KERNELS.split("pub(super) unsafe extern \"sysv64\" fn ").skip(1) {
        let (name, rest) = function.split_once('(').expect("parameters");
        let (parameters, rest) = rest.split_once(") {").expect("a body");
        let (_, body) = rest.split_once("naked_asm!(").expect("assembly");
        let (body, _) = body.split_once("k = sym CONSTANTS,\n    )\n}").expect("its end");
        let lines = body.trim().lines().map(|line| {
            line.trim().strip_prefix('"').and_then(|l| l.strip_suffix("\",")).expect("one line")
        });
        let parameters: Vec<Place> =
            parameters.split(", ").enumerate().map(|(i, text)| parameter(i, text)).collect();
        check(name, &parameters, lines);
        names.push(name);
    }
    let products = ["mul_loose", "mul", "square_loose", "square"];
    let formulas = ["double", "complete", "add_projective", "add_affine"];
    let of_one_point =
        ["lone_double", "lone_add", "lone_doubling", "lone_double_doubling", "lone_adding"];
    assert_eq!(names, [&products[..], &formulas, &of_one_point].concat());
    assert_eq!(KERNELS.matches("asm!(").count(), names.len());
}
