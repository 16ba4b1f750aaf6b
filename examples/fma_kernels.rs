//! Prints `src/field/fma/kernels.rs`: the products of the FMA representation as assembly.
//!
//! ```text
//! cargo run --example fma_kernels > src/field/fma/kernels.rs
//! ```
//!
//! Why assembly: the compiler re-associates the integer sums of these formulas and spills every
//! product, and its schedule of the same source changes from build to build. Here the order is
//! fixed: columns 8 … 5 first, each folded by 2^255 = 19 into the register of column 3 … 0 as soon
//! as it is complete, so that five accumulators are alive at any time and everything fits the
//! sixteen registers.

/// Registers of the five columns of the result. Column k + 5 is summed in the register of column k and folded.
const COLUMN: [usize; 5] = [7, 8, 9, 10, 11];
/// Registers of C1 and C2.
const C1: usize = 5;
const C2: usize = 6;

/// Byte offsets into the table of constants, 32 bytes each.
#[derive(Clone, Copy)]
enum Constant {
    C1,
    C2,
    Mask,
    Exponent,
    Nineteen,
    Offset,
    Offset0,
    /// − (the constants in column k of a product)
    Mul,
    Square,
    /// The same plus the bias of the carry.
    MulCarry,
    SquareCarry,
}

impl Constant {
    fn at(self, index: usize) -> String {
        let position = match self {
            Self::C1 => 0,
            Self::C2 => 1,
            Self::Mask => 2,
            Self::Exponent => 3,
            Self::Nineteen => 4,
            Self::Offset => 5,
            Self::Offset0 => 6,
            Self::Mul => 7 + index,
            Self::Square => 12 + index,
            Self::MulCarry => 17 + index,
            Self::SquareCarry => 22 + index,
        };
        format!("[rip + {{k}} + {}]", 32 * position)
    }
}

/// The body of one kernel.
struct Kernel {
    lines: Vec<String>,
    /// Whether each column's register holds a sum already.
    started: [bool; 5],
    /// Two pairs of temporaries, used in turn.
    turn: bool,
}

impl Kernel {
    fn new() -> Self {
        let mut kernel = Self { lines: Vec::new(), started: [false; 5], turn: false };
        kernel.load(C1, &Constant::C1.at(0));
        kernel.load(C2, &Constant::C2.at(0));
        kernel
    }

    fn push(&mut self, line: String) {
        self.lines.push(line);
    }

    fn load(&mut self, register: usize, from: &str) {
        self.push(format!("vmovapd ymm{register}, {from}"));
    }

    /// Adds the split product of a register and an operand: lo into column `k`, hi into column `k + 1`.
    fn product(&mut self, factor: usize, operand: &str, k: usize) {
        let (hi, lo) = if self.turn { (12, 13) } else { (14, 15) };
        self.turn = !self.turn;
        // The first term of a column is made in the column's own register.
        let hi_at = self.term(k + 1, hi);
        let lo_at = self.term(k, lo);
        self.push(format!("vmovapd ymm{hi_at}, ymm{C1}"));
        self.push(format!("vfmadd231pd ymm{hi_at}, ymm{factor}, {operand}"));
        self.push(format!("vsubpd ymm{lo_at}, ymm{C2}, ymm{hi_at}"));
        self.push(format!("vfmadd231pd ymm{lo_at}, ymm{factor}, {operand}"));
        self.sum(k + 1, hi_at);
        self.sum(k, lo_at);
    }

    /// The register for a term of column `k`.
    fn term(&mut self, k: usize, temporary: usize) -> usize {
        if self.started[k % 5] {
            temporary
        } else {
            self.started[k % 5] = true;
            COLUMN[k % 5]
        }
    }

    fn sum(&mut self, k: usize, term: usize) {
        let column = COLUMN[k % 5];
        if term != column {
            self.push(format!("vpaddq ymm{column}, ymm{column}, ymm{term}"));
        }
    }

    /// Multiplies the complete column `k + 5` by 19, where it becomes part of column `k`.
    fn fold(&mut self, k: usize) {
        let column = COLUMN[k];
        self.push(format!("vpsllq ymm12, ymm{column}, 4"));
        self.push(format!("vpaddq ymm13, ymm{column}, ymm{column}"));
        self.push(format!("vpaddq ymm{column}, ymm{column}, ymm12"));
        self.push(format!("vpaddq ymm{column}, ymm{column}, ymm13"));
    }

    /// The columns without their constants.
    fn finish_loose(&mut self, constants: Constant) {
        for (k, column) in COLUMN.iter().enumerate() {
            self.push(format!("vpaddq ymm{column}, ymm{column}, {}", constants.at(k)));
        }
    }

    /// One carry of all columns in parallel.
    fn finish_carried(&mut self, constants: Constant) {
        let (mask, exponent) = (0, 1);
        self.load(mask, &Constant::Mask.at(0));
        self.load(exponent, &Constant::Exponent.at(0));
        let carry = [2, 3, 4, 5, 6];
        for k in 0..5 {
            let column = COLUMN[k];
            self.push(format!("vpaddq ymm{column}, ymm{column}, {}", constants.at(k)));
            self.push(format!("vpsrlq ymm{}, ymm{column}, 51", carry[k]));
            self.push(format!("vpand ymm{column}, ymm{column}, ymm{mask}"));
            self.push(format!("vpor ymm{column}, ymm{column}, ymm{exponent}"));
        }
        self.push(format!("vpmuludq ymm{0}, ymm{0}, {1}", carry[4], Constant::Nineteen.at(0)));
        for k in 0..5 {
            let column = COLUMN[k];
            let offset = if k == 0 { Constant::Offset0 } else { Constant::Offset };
            self.push(format!("vpaddq ymm{column}, ymm{column}, ymm{}", carry[(k + 4) % 5]));
            self.push(format!("vsubpd ymm{column}, ymm{column}, {}", offset.at(0)));
        }
    }

    fn print(&self, out: &mut String, name: &str, parameters: [&str; 2], doc: &str) {
        let parameters = parameters.join(", ");
        let mut line = |text: &str| {
            out.push_str(text);
            out.push('\n');
        };
        line("");
        line(&format!("/// {doc}"));
        line("///");
        line("/// # Safety");
        line("///");
        line("/// The CPU has AVX2 and FMA, and `out` may be written.");
        line("#[unsafe(naked)]");
        line("#[allow(improper_ctypes_definitions)] // pointers only");
        line(&format!("pub(super) unsafe extern \"sysv64\" fn {name}({parameters}) {{"));
        line("    naked_asm!(");
        for instruction in &self.lines {
            line(&format!("        \"{instruction}\","));
        }
        for (k, column) in COLUMN.iter().enumerate() {
            line(&format!("        \"vmovapd [rdi + {}], ymm{column}\",", 32 * k));
        }
        line("        \"ret\",");
        line("        k = sym CONSTANTS,");
        line("    )");
        line("}");
    }
}

/// Columns 8 … 5, each folded when complete, then columns 4 … 0.
fn multiply() -> Kernel {
    let mut kernel = Kernel::new();
    for i in 0..5 {
        kernel.load(i, &format!("[rsi + {}]", 32 * i));
    }
    for k in (0..9usize).rev() {
        for i in k.saturating_sub(4)..=k.min(4) {
            kernel.product(i, &format!("[rdx + {}]", 32 * (k - i)), k);
        }
        if k >= 4 {
            kernel.fold(k - 4);
        }
    }
    kernel
}

/// The same with cross terms 2 a_i · a_j taken once; registers 0 … 3 hold 2 a_i.
fn square() -> Kernel {
    let mut kernel = Kernel::new();
    for i in 0..4 {
        kernel.load(i, &format!("[rsi + {}]", 32 * i));
        kernel.push(format!("vaddpd ymm{i}, ymm{i}, ymm{i}"));
    }
    for k in (0..9usize).rev() {
        for i in k.saturating_sub(4)..=k / 2 {
            let j = k - i;
            let operand = format!("[rsi + {}]", 32 * j);
            if i == j {
                kernel.load(4, &operand);
                kernel.product(4, "ymm4", k);
            } else {
                kernel.product(i, &operand, k);
            }
        }
        if k >= 4 {
            kernel.fold(k - 4);
        }
    }
    kernel
}

/// What comes before the kernels.
const HEADER: &str = r"//! The products of the FMA representation, four lanes each.
//!
//! DO NOT EDIT: printed by `cargo run --example fma_kernels`, which explains the order. A test
//! compares.
//!
//! # Safety
//!
//! Each function is a leaf that follows the System V calling convention: its arguments come in
//! `rdi`, `rsi` and `rdx`. It reads the 160 bytes of each operand and CONSTANTS, writes the 160
//! bytes of the result after its last read, all of them aligned to 32 as their types are, and
//! touches no other memory. The registers it changes, `ymm0` to `ymm15`, belong to the callee. It
//! neither unwinds nor uses the stack.

use super::{
    BITS_2_52, C1, C2, CARRY_BIAS, CARRY_OFFSET, CARRY_OFFSET_0, MASK51, MUL_CONSTANTS,
    SQUARE_CONSTANTS,
};
use core::arch::naked_asm;
use core::arch::x86_64::{__m256d, __m256i};

/// One constant per 32 bytes, in every lane.
#[repr(C, align(32))]
struct Constants([[u64; 4]; 27]);

static CONSTANTS: Constants = Constants(constants());

const fn constants() -> [[u64; 4]; 27] {
    let mut out = [[0; 4]; 27];
    out[0] = [C1.to_bits(); 4];
    out[1] = [C2.to_bits(); 4];
    out[2] = [MASK51; 4];
    out[3] = [BITS_2_52; 4];
    out[4] = [19; 4];
    out[5] = [CARRY_OFFSET.to_bits(); 4];
    out[6] = [CARRY_OFFSET_0.to_bits(); 4];
    let mut k = 0;
    while k < 5 {
        out[7 + k] = [MUL_CONSTANTS[k].wrapping_neg(); 4];
        out[12 + k] = [SQUARE_CONSTANTS[k].wrapping_neg(); 4];
        out[17 + k] = [CARRY_BIAS.wrapping_sub(MUL_CONSTANTS[k]); 4];
        out[22 + k] = [CARRY_BIAS.wrapping_sub(SQUARE_CONSTANTS[k]); 4];
        k += 1;
    }
    out
}
";

/// Parameters of the kernels.
const LOOSE_OUT: &str = "out: *mut [__m256i; 5]";
const CARRIED_OUT: &str = "out: *mut [__m256d; 5]";
const ONE: &str = "a: &[__m256d; 5]";
const TWO: &str = "a: &[__m256d; 5], b: &[__m256d; 5]";

/// The whole file.
pub(crate) fn generate() -> String {
    let mut out = HEADER.to_string();
    let mut kernel = multiply();
    kernel.finish_loose(Constant::Mul);
    kernel.print(&mut out, "mul_loose", [LOOSE_OUT, TWO], "a · b, uncarried.");
    let mut kernel = multiply();
    kernel.finish_carried(Constant::MulCarry);
    kernel.print(&mut out, "mul", [CARRIED_OUT, TWO], "a · b, carried.");
    let mut kernel = square();
    kernel.finish_loose(Constant::Square);
    kernel.print(&mut out, "square_loose", [LOOSE_OUT, ONE], "a², uncarried.");
    let mut kernel = square();
    kernel.finish_carried(Constant::SquareCarry);
    kernel.print(&mut out, "square", [CARRIED_OUT, ONE], "a², carried.");
    out
}

fn main() {
    print!("{}", generate());
}
