//! What the compiler makes of the AVX2 and AVX-512 paths, read from the assembly text of a release build.
//!
//! Two things slow verification down and change no verdict. Code of lanes, or an intrinsic, is called
//! instead of inlined, because what calls it does not enable its CPU features: such is a closure in a
//! function that is to be inlined, unless it is inlined first. And vectors go to the stack and back,
//! because they no longer fit the registers. The first shows in what is called, the second in how
//! often the stack is accessed. What the kernels do is read in `tests/kernels.rs`.
//!
//! The text is that of `cargo build --release` but for three flags: names that tell the instances of
//! a generic function apart; the number of codegen units that rustc takes where it writes no text;
//! and calls by name, where it would rather keep addresses in registers. SHA-512 is inlined into
//! `verify_avx2` and `verify_avx512`, and counted there.
//!
//! Counts are those of one compiler, [`COMPILER`]. With another one, calls are checked, and counts
//! only printed. On other targets than x86-64 Linux nothing is read.

use std::{
    collections::{BTreeMap, BTreeSet},
    env, fs,
    path::Path,
    process::Command,
    sync::LazyLock,
};

/// What [`RECORDED`] was recorded with.
const COMPILER: &str = "rustc version 1.95.";

/// What was counted in each function with lanes; [`allowed`] says how much there may be. To print the
/// table anew:
///
/// ```text
/// OCTOSIG_CODEGEN_PRINT=1 cargo test --test codegen -- --nocapture
/// ```
#[rustfmt::skip]
const RECORDED: &[(&str, Counts)] = &[
    ("backend::verify_avx2", Counts { vectors: 1692, stack: 2416, copies: 118 }),
    ("backend::verify_avx512", Counts { vectors: 798, stack: 1265, copies: 37 }),
    ("edwards::DecompressNegated, 4 lanes", Counts { vectors: 339, stack: 481, copies: 2 }),
    ("edwards::DecompressNegated, 8 lanes", Counts { vectors: 616, stack: 987, copies: 11 }),
    ("edwards::DecompressNegated, AVX-512", Counts { vectors: 180, stack: 183, copies: 0 }),
    ("edwards::DecompressNegated, AVX-512 twice", Counts { vectors: 520, stack: 526, copies: 1 }),
    ("edwards::DoubleTimes, 4 lanes", Counts { vectors: 0, stack: 40, copies: 0 }),
    ("edwards::DoubleTimes, 8 lanes", Counts { vectors: 12, stack: 84, copies: 0 }),
    ("edwards::DoubleTimes, AVX-512", Counts { vectors: 0, stack: 0, copies: 0 }),
    ("field::SquareTimes, 4 lanes", Counts { vectors: 20, stack: 20, copies: 0 }),
    ("field::SquareTimes, 8 lanes", Counts { vectors: 15, stack: 20, copies: 3 }),
    ("field::SquareTimes, AVX-512", Counts { vectors: 0, stack: 0, copies: 0 }),
    ("field::SquareTimes, AVX-512 twice", Counts { vectors: 0, stack: 0, copies: 0 }),
    ("solo::Decide, 4 lanes", Counts { vectors: 810, stack: 838, copies: 0 }),
    ("solo::Decide, AVX-512", Counts { vectors: 307, stack: 380, copies: 0 }),
    ("straus::AddDigits, 4 lanes", Counts { vectors: 56, stack: 132, copies: 0 }),
    ("straus::AddDigits, 8 lanes", Counts { vectors: 177, stack: 312, copies: 0 }),
    ("straus::AddDigits, AVX-512", Counts { vectors: 164, stack: 172, copies: 0 }),
    ("straus::FillTable, 4 lanes", Counts { vectors: 762, stack: 883, copies: 6 }),
    ("straus::FillTable, 8 lanes", Counts { vectors: 1594, stack: 1749, copies: 15 }),
    ("straus::FillTable, AVX-512", Counts { vectors: 485, stack: 524, copies: 3 }),
    ("verify::Holds, 4 lanes", Counts { vectors: 110, stack: 186, copies: 1 }),
    ("verify::Holds, 8 lanes", Counts { vectors: 223, stack: 425, copies: 7 }),
    ("verify::Holds, AVX-512", Counts { vectors: 141, stack: 144, copies: 1 }),
];

/// The most that is allowed where so much was recorded: 15 % more.
const fn allowed(recorded: usize) -> usize {
    recorded * 115 / 100
}

/// The functions that enable the CPU features, and the beginnings of those that a routine is compiled
/// in.
const VERIFY: [&str; 2] = ["octosig::backend::verify_avx2", "octosig::backend::verify_avx512"];
const ROUTINES: [&str; 2] = [
    "<Avx2 as octosig::field::fma::Quad>::enter::run::<",
    "<Avx512 as octosig::field::ifma::Octet>::enter::run::<",
];
const KERNEL: &str = "octosig::field::fma::kernels::";
const INTRINSIC: &str = "core::core_arch::";
const COPIES: [&str; 3] = ["memcpy", "memmove", "memset"];

/// What else they may call: code without lanes, and panics. Names, or the beginnings of names where
/// they end in `:` or `<`.
const WITHOUT_LANES: [&str; 11] = [
    "<octosig::profile::Profile>::",
    "<octosig::scalar::Scalar>::",
    "<octosig::digits::Digits>::",
    "<octosig::verify::Plan>::new",
    "octosig::edwards::load_y",
    "octosig::sha512::digest",
    "<alloc::raw_vec::RawVec<",
    "core::slice::sort::",
    "core::panicking::panic_bounds_check",
    "core::panicking::panic_fmt",
    "core::slice::index::slice_index_fail",
];

/// Instructions with an operand on the stack that are a vector's, all of them, and calls of
/// [`COPIES`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Counts {
    vectors: usize,
    stack: usize,
    copies: usize,
}

#[derive(Debug)]
struct Function {
    name: String,
    /// The name of each function that it calls or ends in a jump to, once for each place.
    calls: Vec<String>,
    /// Calls of what a register or memory points to.
    indirect_calls: usize,
    /// Whether it names a register of lanes.
    has_lanes: bool,
    counts: Counts,
}

impl Function {
    fn parse(symbol: &str, instructions: &[&str]) -> Self {
        let mut function = Self {
            name: demangle(symbol),
            calls: Vec::new(),
            indirect_calls: 0,
            has_lanes: false,
            counts: Counts::default(),
        };
        // Else %rbp is a register as any other.
        let has_frame_pointer = instructions.contains(&"movq\t%rsp, %rbp");
        for instruction in instructions {
            let (mnemonic, operands) = instruction.split_once('\t').unwrap_or((instruction, ""));
            let is_call = mnemonic.starts_with("call");
            if is_call && operands.starts_with('*') {
                function.indirect_calls += 1;
            } else if is_call || mnemonic.starts_with('j') && !operands.starts_with(['.', '*']) {
                let symbol = operands.split([' ', '\t', '@']).next().unwrap_or(operands);
                function.calls.push(demangle(symbol));
            }
            let on_stack =
                operands.contains("(%rsp") || has_frame_pointer && operands.contains("(%rbp");
            if on_stack && !mnemonic.starts_with("lea") {
                function.counts.stack += 1;
                let is_vector =
                    ["%xmm", "%ymm", "%zmm"].iter().any(|register| operands.contains(register));
                function.counts.vectors += usize::from(is_vector);
            }
            function.has_lanes |= operands.contains("%ymm") || operands.contains("%zmm");
        }
        let is_copy = |callee: &&String| COPIES.contains(&&***callee);
        function.counts.copies = function.calls.iter().filter(is_copy).count();
        function
    }

    /// Whether it is known to have lanes, and has a line in [`RECORDED`].
    fn is_recorded(&self) -> bool {
        VERIFY.contains(&&*self.name) || is_routine(&self.name)
    }

    /// The name in [`RECORDED`].
    fn title(&self) -> String {
        let short = |path: &str| path.strip_prefix("octosig::").unwrap_or(path).to_owned();
        // Its parameters are the field and the routine.
        let parameters = ROUTINES.iter().find_map(|routine| self.name.strip_prefix(routine));
        match parameters.and_then(|parameters| parameters.split_once(", ")) {
            Some((field, routine)) => {
                let lanes = match field {
                    "Fma<Avx2>" => "4 lanes",
                    "Twice<Fma<Avx2>>" => "8 lanes",
                    "Ifma<Avx512>" => "AVX-512",
                    "Twice<Ifma<Avx512>>" => "AVX-512 twice",
                    other => other,
                };
                let (routine, _) = routine.split_once(['<', '>']).expect("an end");
                format!("{}, {lanes}", short(routine))
            }
            None => short(&self.name),
        }
    }

    /// Whether it may call `callee`. Code without lanes may call everything but intrinsics: a
    /// closure that calls them need not name a register of lanes.
    fn may_call(&self, callee: &str) -> bool {
        if !self.is_recorded() {
            return !callee.starts_with(INTRINSIC);
        }
        callee.starts_with(KERNEL)
            || is_routine(callee)
            || COPIES.contains(&callee)
            || WITHOUT_LANES.iter().any(|name| {
                callee == *name || name.ends_with([':', '<']) && callee.starts_with(name)
            })
    }
}

fn is_routine(name: &str) -> bool {
    ROUTINES.iter().any(|routine| name.starts_with(routine))
}

/// The name of a symbol, without the paths of the types that are in most names.
fn demangle(symbol: &str) -> String {
    format!("{:#}", rustc_demangle::demangle(symbol))
        .replace("octosig::field::fma::avx2::Avx2", "Avx2")
        .replace("octosig::field::fma::Fma", "Fma")
        .replace("octosig::field::ifma::avx512::Avx512", "Avx512")
        .replace("octosig::field::ifma::Ifma", "Ifma")
        .replace("octosig::field::twice::Twice", "Twice")
}

/// The functions that hold instructions.
fn functions(text: &str) -> Vec<Function> {
    let mut functions = Vec::new();
    let (mut symbol, mut instructions) = ("", Vec::new());
    for line in text.lines() {
        if let Some(instruction) = line.strip_prefix('\t') {
            if !instruction.starts_with(['.', '#']) {
                instructions.push(instruction);
            }
        } else if let Some(label) = line.strip_suffix(':')
            && (!label.starts_with(".L") || label.starts_with(".Lfunc_end"))
        {
            if !instructions.is_empty() {
                functions.push(Function::parse(symbol, &instructions));
                instructions.clear();
            }
            symbol = label;
        }
    }
    functions
}

/// The functions of both paths with all that they reach within the library, and what compiled
/// them.
struct Compiled {
    compiler: String,
    functions: Vec<Function>,
}

static COMPILED: LazyLock<Compiled> = LazyLock::new(|| {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("codegen");
    // Text of an earlier build may lie there under names that this one does not write to.
    if target.exists() {
        fs::remove_dir_all(&target).expect("the folder of an earlier build");
    }
    let output = Command::new(env!("CARGO"))
        .args(["rustc", "--locked", "--release", "--lib", "--target-dir"])
        .arg(&target)
        .args(["--", "--emit=asm", "-Csymbol-mangling-version=v0"])
        .args(["-Ccodegen-units=16", "-Crelro-level=partial"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        // Flags of the tests are not those of a release build.
        .env("CARGO_ENCODED_RUSTFLAGS", "")
        .output()
        .expect("cargo");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));

    let mut text = String::new();
    for entry in fs::read_dir(target.join("release/deps")).expect("the build") {
        let path = entry.expect("an entry").path();
        if path.extension().is_some_and(|extension| extension == "s") {
            text += &fs::read_to_string(path).expect("assembly");
        }
    }
    let (_, compiler) = text.split_once("\t.ident\t\"").expect("the compiler");
    let (compiler, _) = compiler.split_once('"').expect("its end");
    let functions = reached(functions(&text));
    for name in VERIFY {
        assert!(functions.iter().any(|function| function.name == name), "no {name}");
    }
    Compiled { compiler: compiler.to_owned(), functions }
});

/// Those that are recorded, and all that they call, but for kernels.
fn reached(functions: Vec<Function>) -> Vec<Function> {
    let mut names = BTreeSet::new();
    let recorded = functions.iter().filter(|function| function.is_recorded());
    let mut next: Vec<String> = recorded.map(|function| function.name.clone()).collect();
    while let Some(name) = next.pop() {
        if !name.starts_with(KERNEL) && !names.contains(&name) {
            // An inline function may be there once for each codegen unit.
            for function in functions.iter().filter(|function| function.name == name) {
                next.extend_from_slice(&function.calls);
            }
            names.insert(name);
        }
    }
    functions.into_iter().filter(|function| names.contains(&function.name)).collect()
}

fn is_read_here() -> bool {
    let here = cfg!(all(target_arch = "x86_64", target_os = "linux"));
    if !here {
        println!("not read: the code of this target");
    }
    here
}

#[test]
fn compiled_code_calls_what_it_should() {
    if !is_read_here() {
        return;
    }
    let mut kernels = BTreeSet::new();
    let mut faults = BTreeSet::new();
    for function in &COMPILED.functions {
        let title = function.title();
        kernels.extend(function.calls.iter().filter(|callee| callee.starts_with(KERNEL)));
        let unexpected: BTreeSet<&str> = function
            .calls
            .iter()
            .map(|callee| &**callee)
            .filter(|callee| !function.may_call(callee))
            .collect();
        if !unexpected.is_empty() {
            let unexpected: Vec<&str> = unexpected.into_iter().collect();
            faults.insert(format!("{title} calls\n      {}", unexpected.join("\n      ")));
        }
        if function.is_recorded() && function.indirect_calls > 0 {
            faults.insert(format!("{title} calls through {} pointers", function.indirect_calls));
        }
        // Who calls an intrinsic is named above.
        let is_intrinsic = function.name.starts_with(INTRINSIC);
        if function.has_lanes && !function.is_recorded() && !is_intrinsic {
            faults.insert(format!("{title} has lanes, and is neither inlined nor a routine"));
        }
    }
    assert!(!kernels.is_empty(), "calls are seen");
    assert!(
        faults.is_empty(),
        "{}\n\n\
        Code of lanes is #[inline(always)], up to a function that enables their CPU features. A \
        closure in it is a function of its own, without them: use a loop, or a macro.\n\
        Code without lanes that they may call is named in WITHOUT_LANES, in {}.",
        lines(faults),
        file!(),
    );
}

#[test]
fn compiled_code_accesses_the_stack_as_recorded() {
    if !is_read_here() {
        return;
    }
    let measured: BTreeMap<String, Counts> = COMPILED
        .functions
        .iter()
        .filter(|function| function.is_recorded())
        .map(|function| (function.title(), function.counts))
        .collect();
    let has_compiler = COMPILED.compiler.starts_with(COMPILER);
    if !has_compiler {
        println!("not checked: counts of {}; recorded are those of {COMPILER}*", COMPILED.compiler);
    }
    if !has_compiler || env::var_os("OCTOSIG_CODEGEN_PRINT").is_some() {
        let table: String = measured.iter().map(|line| format!("    {line:?},\n")).collect();
        println!("\n{table}");
    }
    assert!(measured.values().any(|counts| counts.vectors > 0), "accesses to the stack are seen");
    if !has_compiler {
        return;
    }

    let recorded: BTreeMap<&str, Counts> = RECORDED.iter().copied().collect();
    let mut faults = Vec::new();
    for (title, measured) in &measured {
        let Some(recorded) = recorded.get(&**title) else {
            faults.push(format!("{title} is not recorded: {measured:?}"));
            continue;
        };
        for (what, measured, recorded) in [
            ("vector instructions on the stack", measured.vectors, recorded.vectors),
            ("instructions on the stack", measured.stack, recorded.stack),
            ("calls that copy or fill memory", measured.copies, recorded.copies),
        ] {
            let allowed = allowed(recorded);
            if measured > allowed {
                faults.push(format!(
                    "{title} has {measured} {what}; recorded are {recorded}, allowed {allowed}"
                ));
            }
        }
    }
    for title in recorded.keys().filter(|title| !measured.contains_key(**title)) {
        faults.push(format!("{title} is recorded, and is no function any more"));
    }
    assert!(
        faults.is_empty(),
        "{}\n\n\
        If speed was measured and is what it should be, record the new counts: print the table with\n    \
        OCTOSIG_CODEGEN_PRINT=1 cargo test --test codegen -- --nocapture\n\
        and put it into RECORDED, in {}.",
        lines(faults),
        file!(),
    );
}

fn lines(faults: impl IntoIterator<Item = String>) -> String {
    faults.into_iter().map(|fault| format!("\n  {fault}")).collect()
}
