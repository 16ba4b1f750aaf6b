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

/// Registers of the five columns of a product. Column k + 5 is summed in the register of column k and
/// folded.
const COLUMN: [usize; 5] = [7, 8, 9, 10, 11];
/// Registers of C1 and C2.
const C1: usize = 5;
const C2: usize = 6;

/// Places in the table of constants, 32 bytes each. Those with a k are tables of five.
#[derive(Clone, Copy)]
enum Constant {
    C1,
    C2,
    M,
    Mask,
    Exponent,
    Nineteen,
    Offset,
    Offset0,
    /// 2^−51 and 19 · 2^−51.
    Quotient,
    Quotient0,
    /// The bias of a carry.
    Carry,
    /// − (the constants in column k of a product), a square.
    Mul(usize),
    Square(usize),
    /// The bias of a carry − the constants in column k of: a product, two and three of them, a square,
    /// minus one, two.
    CarryMul(usize),
    CarryTwoMuls(usize),
    CarryThreeMuls(usize),
    CarrySquare(usize),
    CarryMinusSquare(usize),
    CarryTwoSquares(usize),
    /// The same of 2z + a product, 2z − a product, where z was made an integer by adding M.
    CarryPlusMul(usize),
    CarryMinusMul(usize),
    /// The same lane by lane, for the steps of one point: of (F, G, E, H) after a doubling and after an
    /// addition, of (Z, X, X + Y, Y), and of (Z, T, Y − X, Y + X). A lane that was complemented in
    /// place of negated lacks 1, which is in here.
    CarryLoneDouble(usize),
    CarryLoneAdd(usize),
    CarryLoneDoubling(usize),
    CarryLoneAdding(usize),
    /// All bits of some lanes.
    Lanes02,
    Lanes12,
    Lane2,
    Lanes23,
    /// Shifts: left by 1 in lane 0, 0 in lane 2, all bits out in the others.
    Shifts,
}

impl Constant {
    fn at(self) -> String {
        let position = match self {
            Self::C1 => 0,
            Self::C2 => 1,
            Self::M => 2,
            Self::Mask => 3,
            Self::Exponent => 4,
            Self::Nineteen => 5,
            Self::Offset => 6,
            Self::Offset0 => 7,
            Self::Quotient => 8,
            Self::Quotient0 => 9,
            Self::Carry => 10,
            Self::Mul(k) => 11 + k,
            Self::Square(k) => 16 + k,
            Self::CarryMul(k) => 21 + k,
            Self::CarryTwoMuls(k) => 26 + k,
            Self::CarryThreeMuls(k) => 31 + k,
            Self::CarrySquare(k) => 36 + k,
            Self::CarryMinusSquare(k) => 41 + k,
            Self::CarryTwoSquares(k) => 46 + k,
            Self::CarryPlusMul(k) => 51 + k,
            Self::CarryMinusMul(k) => 56 + k,
            Self::CarryLoneDouble(k) => 61 + k,
            Self::CarryLoneAdd(k) => 66 + k,
            Self::CarryLoneDoubling(k) => 71 + k,
            Self::CarryLoneAdding(k) => 76 + k,
            Self::Lanes02 => 81,
            Self::Lanes12 => 82,
            Self::Lane2 => 83,
            Self::Lanes23 => 84,
            Self::Shifts => 85,
        };
        format!("[rip + {{k}} + {}]", 32 * position)
    }
}

/// The body of one kernel.
struct Kernel {
    lines: Vec<String>,
    /// Whether each column's register holds a sum already.
    started: [bool; 5],
}

/// Limb `i` of the element that `base` points to.
fn limb(base: &str, i: usize) -> String {
    format!("[{base} + {}]", 32 * i)
}

impl Kernel {
    fn new() -> Self {
        Self { lines: Vec::new(), started: [false; 5] }
    }

    /// With an element in the columns.
    fn with_columns(base: &str) -> Self {
        let mut kernel = Self::new();
        for (i, column) in COLUMN.into_iter().enumerate() {
            kernel.load(column, &limb(base, i));
        }
        kernel
    }

    fn push(&mut self, line: String) {
        self.lines.push(line);
    }

    /// A pointer from an array of them.
    fn pointer(&mut self, to: &str, array: &str, index: usize) {
        self.push(format!("mov {to}, [{array} + {}]", 8 * index));
    }

    fn load(&mut self, register: usize, from: &str) {
        self.push(format!("vmovapd ymm{register}, {from}"));
    }

    fn store(&mut self, base: &str, registers: [usize; 5]) {
        for (i, register) in registers.iter().enumerate() {
            self.push(format!("vmovapd {}, ymm{register}", limb(base, i)));
        }
    }

    /// One instruction `to = a ∘ b`.
    fn apply(&mut self, instruction: &str, to: usize, a: usize, b: &str) {
        self.push(format!("{instruction} ymm{to}, ymm{a}, {b}"));
    }

    /// Adds split products of registers and operands: lo into column `k`, hi into column `k + 1`. They
    /// are taken in pairs, the halves of which are added to each other before they reach the column:
    /// so a column is a shorter chain of additions.
    fn products(&mut self, terms: &[(usize, String)], k: usize) {
        for pair in terms.chunks(2) {
            let mut halves = Vec::new();
            for ((factor, operand), (hi, lo)) in pair.iter().zip([(12, 13), (14, 15)]) {
                self.push(format!("vmovapd ymm{hi}, ymm{C1}"));
                self.push(format!("vfmadd231pd ymm{hi}, ymm{factor}, {operand}"));
                halves.push((hi, lo));
            }
            for (hi, lo) in &halves {
                self.push(format!("vsubpd ymm{lo}, ymm{C2}, ymm{hi}"));
            }
            self.sum(k + 1, halves.iter().map(|(hi, _)| *hi));
            for ((factor, operand), (_, lo)) in pair.iter().zip(&halves) {
                self.push(format!("vfmadd231pd ymm{lo}, ymm{factor}, {operand}"));
            }
            self.sum(k, halves.iter().map(|(_, lo)| *lo));
        }
    }

    /// Adds one term or two to column `k`.
    fn sum(&mut self, k: usize, terms: impl Iterator<Item = usize>) {
        let terms: Vec<usize> = terms.collect();
        let column = COLUMN[k % 5];
        let started = std::mem::replace(&mut self.started[k % 5], true);
        match (&terms[..], started) {
            (&[a, b], false) => self.push(format!("vpaddq ymm{column}, ymm{a}, ymm{b}")),
            (&[a, b], true) => {
                self.push(format!("vpaddq ymm{a}, ymm{a}, ymm{b}"));
                self.push(format!("vpaddq ymm{column}, ymm{column}, ymm{a}"));
            }
            (&[a], false) => self.push(format!("vmovapd ymm{column}, ymm{a}")),
            (&[a], true) => self.push(format!("vpaddq ymm{column}, ymm{column}, ymm{a}")),
            _ => unreachable!("a pair at most"),
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

    /// The columns plus constants.
    fn add_constants(&mut self, registers: [usize; 5], constants: impl Fn(usize) -> Constant) {
        for (k, register) in registers.into_iter().enumerate() {
            self.apply("vpaddq", register, register, &constants(k).at());
        }
    }

    /// One carry of all limbs in parallel, after the constants were added. `spare` are registers that
    /// it changes.
    fn carry(&mut self, limbs: [usize; 5], spare: [usize; 5]) {
        for k in (0..5).rev() {
            let limb = limbs[k];
            self.apply("vpsrlq", spare[k], limb, "51");
            if k == 4 {
                self.apply("vpmuludq", spare[4], spare[4], &Constant::Nineteen.at());
            }
            self.apply("vpand", limb, limb, &Constant::Mask.at());
            self.apply("vpor", limb, limb, &Constant::Exponent.at());
        }
        for k in (0..5).rev() {
            let limb = limbs[k];
            let offset = if k == 0 { Constant::Offset0 } else { Constant::Offset };
            self.apply("vpaddq", limb, limb, &format!("ymm{}", spare[(k + 4) % 5]));
            self.apply("vsubpd", limb, limb, &offset.at());
        }
    }

    /// Adds the constants to the columns and carries.
    fn carry_columns(&mut self, constants: impl Fn(usize) -> Constant) {
        self.add_constants(COLUMN, constants);
        self.carry(COLUMN, [2, 3, 4, 5, 6]);
    }

    /// The same, and stores.
    fn finish(&mut self, out: &str, constants: impl Fn(usize) -> Constant) {
        self.carry_columns(constants);
        self.store(out, COLUMN);
    }

    /// The same with the columns plus or minus (`instruction`) another loose element, and the columns
    /// left as they are.
    fn finish_copy(
        &mut self,
        out: &str,
        instruction: &str,
        other: &str,
        constants: impl Fn(usize) -> Constant,
    ) {
        let copy = [0, 1, 2, 3, 4];
        for k in 0..5 {
            self.apply(instruction, copy[k], COLUMN[k], &limb(other, k));
        }
        self.add_constants(copy, constants);
        self.carry(copy, [5, 6, 12, 13, 14]);
        self.store(out, copy);
    }

    /// The same with the place of the result minus the columns.
    fn finish_difference(&mut self, out: &str, constants: impl Fn(usize) -> Constant) {
        let difference = [0, 1, 2, 3, 4];
        for k in 0..5 {
            self.load(difference[k], &limb(out, k));
            self.apply("vpsubq", difference[k], difference[k], &format!("ymm{}", COLUMN[k]));
        }
        self.add_constants(difference, constants);
        self.carry(difference, [5, 6, 12, 13, 14]);
        self.store(out, difference);
    }

    /// The columns plus or minus another loose element.
    fn combine(&mut self, instruction: &str, other: &str) {
        for (k, column) in COLUMN.into_iter().enumerate() {
            self.apply(instruction, column, column, &limb(other, k));
        }
    }

    /// The columns of a · b, a in registers 0 … 4: columns 8 … 5, each folded when complete, then
    /// columns 4 … 0. `b` names limb j of b for column k.
    fn multiply_loaded(&mut self, b: impl Fn(usize, usize) -> String) {
        self.load(C1, &Constant::C1.at());
        self.load(C2, &Constant::C2.at());
        self.started = [false; 5];
        for k in (0..9usize).rev() {
            let terms = k.saturating_sub(4)..=k.min(4);
            let terms: Vec<_> = terms.map(|i| (i, b(k - i, k))).collect();
            self.products(&terms, k);
            if k >= 4 {
                self.fold(k - 4);
            }
        }
    }

    /// The columns of a · b.
    fn multiply(&mut self, a: &str, b: &str) {
        for i in 0..5 {
            self.load(i, &limb(a, i));
        }
        self.multiply_loaded(|j, _| limb(b, j));
    }

    /// The columns of (a ± a') · b, the sign being that of `instruction`.
    fn multiply_sum(&mut self, instruction: &str, [a, other]: [&str; 2], b: &str) {
        for i in 0..5 {
            self.load(i, &limb(a, i));
        }
        for i in 0..5 {
            self.apply(instruction, i, i, &limb(other, i));
        }
        self.multiply_loaded(|j, _| limb(b, j));
    }

    /// The columns of a², with cross terms 2 a_i · a_j taken once; registers 0 … 3 hold 2 a_i.
    fn square(&mut self, a: &str) {
        self.load(C1, &Constant::C1.at());
        self.load(C2, &Constant::C2.at());
        self.started = [false; 5];
        for i in 0..4 {
            self.load(i, &limb(a, i));
            self.apply("vaddpd", i, i, &format!("ymm{i}"));
        }
        for k in (0..9usize).rev() {
            let mut terms = Vec::new();
            for i in k.saturating_sub(4)..=k / 2 {
                let j = k - i;
                if i == j {
                    self.load(4, &limb(a, j));
                    terms.push((4, "ymm4".to_string()));
                } else {
                    terms.push((i, limb(a, j)));
                }
            }
            self.products(&terms, k);
            if k >= 4 {
                self.fold(k - 4);
            }
        }
    }

    /// out = a + b, carried in floating point.
    fn carried_sum(&mut self, out: &str, a: &str, b: &str) {
        let (limbs, quotients) = ([0, 1, 2, 3, 4], [5, 6, 7, 8, 9]);
        let c1 = 10;
        self.load(c1, &Constant::C1.at());
        for i in 0..5 {
            self.load(limbs[i], &limb(a, i));
            self.apply("vaddpd", limbs[i], limbs[i], &limb(b, i));
            self.apply("vaddpd", quotients[i], limbs[i], &format!("ymm{c1}"));
            self.apply("vsubpd", quotients[i], quotients[i], &format!("ymm{c1}"));
            self.apply("vsubpd", limbs[i], limbs[i], &format!("ymm{}", quotients[i]));
        }
        for i in 0..5 {
            let factor = if i == 0 { Constant::Quotient0 } else { Constant::Quotient };
            self.apply("vfmadd231pd", limbs[i], quotients[(i + 4) % 5], &factor.at());
        }
        self.store(out, limbs);
    }

    /// One instruction `to = ∘ a`, with an immediate operand.
    fn shuffle(&mut self, instruction: &str, to: usize, a: usize, control: u8) {
        self.apply(instruction, to, a, &control.to_string());
    }

    /// The products of two arrangements of the lanes of the element in the columns, in the columns. The
    /// second waits in the result's place; its highest limbs are needed first, before they can be read
    /// back, and stay in the registers of columns that begin later.
    fn multiply_arranged(&mut self, [first, second]: [(&str, u8); 2]) {
        for (i, column) in COLUMN.into_iter().enumerate().rev() {
            self.shuffle(first.0, i, column, first.1);
            self.shuffle(second.0, column, column, second.1);
        }
        self.store("rdi", COLUMN);
        let [fourth, third] = [COLUMN[0], COLUMN[1]];
        self.load(fourth, &format!("ymm{}", COLUMN[4]));
        self.load(third, &format!("ymm{}", COLUMN[3]));
        self.multiply_loaded(|j, k| match (j, k) {
            (4, 6..) => format!("ymm{fourth}"),
            (3, 6..) => format!("ymm{third}"),
            _ => limb("rdi", j),
        });
    }

    fn print(&self, out: &mut String, name: &str, parameters: &str, doc: &str) {
        let mut line = |text: &str| {
            out.push_str(text);
            out.push('\n');
        };
        line("");
        line(&format!("/// {doc}"));
        line("///");
        line("/// # Safety");
        line("///");
        line(
            "/// The CPU has AVX2 and FMA. All pointers, those in arrays too, are to elements. Results may be",
        );
        line("/// written; none of them overlaps another result or an operand.");
        line("#[unsafe(naked)]");
        line("#[allow(improper_ctypes_definitions)] // pointers only");
        line(&format!("pub(super) unsafe extern \"sysv64\" fn {name}({parameters}) {{"));
        line("    naked_asm!(");
        for instruction in &self.lines {
            line(&format!("        \"{instruction}\","));
        }
        line("        \"ret\",");
        line("        k = sym CONSTANTS,");
        line("    )");
        line("}");
    }
}

/// (E, F, G, H) of the double of (X, Y, Z), as `edwards::double`. What is still uncarried waits in
/// the places of the results: (X + Y) in H, X² in G, (X + Y)² − X² in E, then Y² − X² in F.
fn double() -> Kernel {
    let mut kernel = Kernel::new();
    let [e, f, g, h] = ["r8", "r9", "r10", "r11"];
    for (i, place) in [e, f, g, h].into_iter().enumerate() {
        kernel.pointer(place, "rdi", i);
    }
    let [x, y, z] = ["rax", "rcx", "rdx"];
    for (i, coordinate) in [x, y, z].into_iter().enumerate() {
        kernel.pointer(coordinate, "rsi", i);
    }
    kernel.carried_sum(h, x, y);
    kernel.square(x);
    kernel.store(g, COLUMN);
    kernel.square(h);
    kernel.combine("vpsubq", g);
    kernel.store(e, COLUMN);
    kernel.square(y);
    kernel.finish_copy(h, "vpaddq", g, Constant::CarryTwoSquares);
    kernel.finish_difference(e, Constant::CarryMinusSquare);
    kernel.combine("vpsubq", g);
    kernel.store(f, COLUMN);
    kernel.finish(g, |_| Constant::Carry);
    kernel.square(z);
    for column in COLUMN {
        kernel.apply("vpaddq", column, column, &format!("ymm{column}"));
    }
    kernel.combine("vpsubq", f);
    kernel.finish(f, Constant::CarryTwoSquares);
    kernel
}

/// (X, Y, Z) = (E F, G H, F G).
fn complete() -> Kernel {
    let mut kernel = Kernel::new();
    let [x, y, z] = ["r8", "r9", "r10"];
    for (i, place) in [x, y, z].into_iter().enumerate() {
        kernel.pointer(place, "rdi", i);
    }
    let [e, f, g, h] = ["rax", "rcx", "rdx", "r11"];
    for (i, operand) in [e, f, g, h].into_iter().enumerate() {
        kernel.pointer(operand, "rsi", i);
    }
    for (out, a, b) in [(x, e, f), (y, g, h), (z, f, g)] {
        kernel.multiply(a, b);
        kernel.finish(out, Constant::CarryMul);
    }
    kernel
}

/// (E, F, G, H) of (X, Y, Z, T) + (Y+X, Y−X, Z, 2dT), or with an affine second point, which has no
/// Z; as `edwards::add_projective` and `add_affine`. (Y − X)(Y₂ − X₂) waits in E, T · 2dT₂ in F.
fn add(affine: bool) -> Kernel {
    let mut kernel = Kernel::new();
    let [e, f, g, h] = ["r8", "r9", "r10", "r11"];
    for (i, place) in [e, f, g, h].into_iter().enumerate() {
        kernel.pointer(place, "rdi", i);
    }
    let [x, y, operand] = ["rax", "rcx", "rdi"];
    kernel.pointer(x, "rsi", 0);
    kernel.pointer(y, "rsi", 1);
    kernel.pointer(operand, "rdx", 1);
    kernel.multiply_sum("vsubpd", [y, x], operand);
    kernel.store(e, COLUMN);
    kernel.pointer(operand, "rdx", 0);
    kernel.multiply_sum("vaddpd", [y, x], operand);
    kernel.finish_copy(h, "vpaddq", e, Constant::CarryTwoMuls);
    kernel.combine("vpsubq", e);
    kernel.finish(e, |_| Constant::Carry);
    kernel.pointer(x, "rsi", 3);
    kernel.pointer(operand, "rdx", if affine { 2 } else { 3 });
    kernel.multiply(x, operand);
    kernel.store(f, COLUMN);
    kernel.pointer(x, "rsi", 2);
    if affine {
        kernel.load(0, &Constant::M.at());
        for (k, column) in COLUMN.into_iter().enumerate() {
            kernel.apply("vaddpd", column, 0, &limb(x, k));
        }
    } else {
        kernel.pointer(operand, "rdx", 2);
        kernel.multiply(x, operand);
    }
    for column in COLUMN {
        kernel.apply("vpaddq", column, column, &format!("ymm{column}"));
    }
    let [plus, minus]: [fn(usize) -> Constant; 2] = if affine {
        [Constant::CarryPlusMul, Constant::CarryMinusMul]
    } else {
        [Constant::CarryThreeMuls, Constant::CarryMul]
    };
    kernel.finish_copy(g, "vpaddq", f, plus);
    kernel.combine("vpsubq", f);
    kernel.finish(f, minus);
    kernel
}

/// The control of `vpermpd` that puts lane `a` first, then `b`, `c` and `d`.
const fn lanes(a: u8, b: u8, c: u8, d: u8) -> u8 {
    a | b << 2 | c << 4 | d << 6
}

/// The control of `vpermilpd` that puts lane `a` of the low half first, then `b` of it, then `c` and
/// `d` of the high half.
const fn in_halves(a: u8, b: u8, c: u8, d: u8) -> u8 {
    a | b << 1 | c << 2 | d << 3
}

/// (F, G, E, H) of the double of (Z, X, X + Y, Y), as `solo::double`, in the columns.
fn lone_double() -> Kernel {
    let mut kernel = Kernel::new();
    kernel.square("rsi");
    // (2Z², 0, (X+Y)², 0) + (X², −X², −Y², Y²) + (−Y², Y², −X², X²)
    let (first, second) = (12, 13);
    for column in COLUMN {
        kernel.apply("vpunpckhqdq", first, column, &format!("ymm{column}"));
        kernel.push(format!("vperm2i128 ymm{second}, ymm{first}, ymm{first}, 1"));
        kernel.apply("vpsllvq", column, column, &Constant::Shifts.at());
        // Lane 1 is −X², lane 2 −Y²; then lanes 0 and 2.
        kernel.apply("vpxor", first, first, &Constant::Lanes12.at());
        kernel.apply("vpxor", second, second, &Constant::Lanes02.at());
        kernel.apply("vpaddq", column, column, &format!("ymm{first}"));
        kernel.apply("vpaddq", column, column, &format!("ymm{second}"));
    }
    kernel.carry_columns(Constant::CarryLoneDouble);
    kernel
}

/// (F, G, E, H) of (Z, T, Y − X, Y + X) + (2Z, 2dT, Y − X, Y + X), as `solo::add`.
fn lone_add() -> Kernel {
    let mut kernel = Kernel::new();
    kernel.multiply("rsi", "rdx");
    // From (D, C, A, B): (D, D, B, B) + (−C, C, −A, A)
    let other = 12;
    for column in COLUMN {
        kernel.shuffle("vpermilpd", other, column, in_halves(1, 1, 0, 0));
        kernel.shuffle("vpermilpd", column, column, in_halves(0, 0, 1, 1));
        kernel.apply("vpxor", other, other, &Constant::Lanes02.at());
        kernel.apply("vpaddq", column, column, &format!("ymm{other}"));
    }
    kernel.finish("rdi", Constant::CarryLoneAdd);
    kernel
}

/// (Z, X, X + Y, Y) of (F, G, E, H), as `solo::doubling`. `kernel` has the latter in the columns.
fn lone_doubling(mut kernel: Kernel) -> Kernel {
    let first = ("vpermilpd", in_halves(0, 0, 0, 1));
    kernel.multiply_arranged([first, ("vpermpd", lanes(1, 2, 0, 1))]);
    // From (Z, X, X, Y): + (0, 0, Y, 0)
    let other = 12;
    for column in COLUMN {
        kernel.shuffle("vpsrldq", other, column, 8);
        kernel.apply("vpand", other, other, &Constant::Lane2.at());
        kernel.apply("vpaddq", column, column, &format!("ymm{other}"));
    }
    kernel.finish("rdi", Constant::CarryLoneDoubling);
    kernel
}

/// (Z, T, Y − X, Y + X) of (F, G, E, H), as `solo::adding`.
fn lone_adding() -> Kernel {
    let mut kernel = Kernel::with_columns("rsi");
    let (first, second) = (lanes(0, 2, 2, 1), lanes(1, 3, 0, 3));
    kernel.multiply_arranged([("vpermpd", first), ("vpermpd", second)]);
    // From (Z, T, X, Y): (Z, T, Y, Y) + (0, 0, −X, X)
    let other = 12;
    for column in COLUMN {
        kernel.apply("vpunpcklqdq", other, column, &format!("ymm{column}"));
        kernel.shuffle("vpermilpd", column, column, in_halves(0, 1, 1, 1));
        kernel.apply("vpxor", other, other, &Constant::Lane2.at());
        kernel.apply("vpand", other, other, &Constant::Lanes23.at());
        kernel.apply("vpaddq", column, column, &format!("ymm{other}"));
    }
    kernel.finish("rdi", Constant::CarryLoneAdding);
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
//! `rdi`, `rsi` and `rdx`, and are pointers to operands and to the places of results, or to arrays
//! of such pointers. It reads the 160 bytes of each operand and CONSTANTS, writes the 160 bytes of
//! each result, all of them aligned to 32 as their types are, and touches no other memory but the
//! arrays. A result's place may be written before the last read of an operand, and is read only
//! where it has been written. The registers it changes, `ymm0` to `ymm15`, `rax`, `rcx`, `rdx`,
//! `rdi` and `r8` to `r11`, belong to the callee. It neither unwinds nor uses the stack.

use super::{
    BITS_2_52, C1, C2, CARRY_BIAS, CARRY_OFFSET, CARRY_OFFSET_0, M, MASK51, MUL_CONSTANTS,
    SQUARE_CONSTANTS, TWO_POW_MINUS_51,
};
use core::arch::naked_asm;
use core::arch::x86_64::{__m256d, __m256i};

/// One constant per 32 bytes, most of them in every lane.
#[repr(C, align(32))]
struct Constants([[u64; 4]; 86]);

static CONSTANTS: Constants = Constants(constants());

const fn constants() -> [[u64; 4]; 86] {
    const ALL: u64 = u64::MAX;
    let mut out = [[0; 4]; 86];
    out[0] = [C1.to_bits(); 4];
    out[1] = [C2.to_bits(); 4];
    out[2] = [M.to_bits(); 4];
    out[3] = [MASK51; 4];
    out[4] = [BITS_2_52; 4];
    out[5] = [19; 4];
    out[6] = [CARRY_OFFSET.to_bits(); 4];
    out[7] = [CARRY_OFFSET_0.to_bits(); 4];
    out[8] = [TWO_POW_MINUS_51.to_bits(); 4];
    out[9] = [(19.0 * TWO_POW_MINUS_51).to_bits(); 4];
    out[10] = [CARRY_BIAS; 4];
    let two_m = M.to_bits().wrapping_mul(2);
    let mut k = 0;
    while k < 5 {
        let (mul, square) = (MUL_CONSTANTS[k], SQUARE_CONSTANTS[k]);
        out[11 + k] = [mul.wrapping_neg(); 4];
        out[16 + k] = [square.wrapping_neg(); 4];
        out[21 + k] = [CARRY_BIAS.wrapping_sub(mul); 4];
        out[26 + k] = [CARRY_BIAS.wrapping_sub(mul.wrapping_mul(2)); 4];
        out[31 + k] = [CARRY_BIAS.wrapping_sub(mul.wrapping_mul(3)); 4];
        out[36 + k] = [CARRY_BIAS.wrapping_sub(square); 4];
        out[41 + k] = [CARRY_BIAS.wrapping_add(square); 4];
        out[46 + k] = [CARRY_BIAS.wrapping_sub(square.wrapping_mul(2)); 4];
        out[51 + k] = [CARRY_BIAS.wrapping_sub(two_m.wrapping_add(mul)); 4];
        out[56 + k] = [CARRY_BIAS.wrapping_sub(two_m.wrapping_sub(mul)); 4];
        let one_mul = CARRY_BIAS.wrapping_sub(mul);
        let two_muls = CARRY_BIAS.wrapping_sub(mul.wrapping_mul(2));
        let two_squares = CARRY_BIAS.wrapping_sub(square.wrapping_mul(2));
        let minus_square = CARRY_BIAS.wrapping_add(square);
        out[61 + k] = [two_squares + 1, CARRY_BIAS + 1, minus_square + 2, two_squares];
        out[66 + k] = [CARRY_BIAS + 1, two_muls, CARRY_BIAS + 1, two_muls];
        out[71 + k] = [one_mul, one_mul, two_muls, one_mul];
        out[76 + k] = [one_mul, one_mul, CARRY_BIAS + 1, two_muls];
        k += 1;
    }
    out[81] = [ALL, 0, ALL, 0];
    out[82] = [0, ALL, ALL, 0];
    out[83] = [0, 0, ALL, 0];
    out[84] = [0, 0, ALL, ALL];
    out[85] = [1, 64, 0, 64];
    out
}
";

/// The whole file.
pub(crate) fn generate() -> String {
    let mut out = HEADER.to_string();
    let one = "a: &[__m256d; 5]";
    let two = "a: &[__m256d; 5], b: &[__m256d; 5]";
    let loose = "out: *mut [__m256i; 5]";
    let carried = "out: *mut [__m256d; 5]";
    let places = |n: usize| format!("out: &[*mut [__m256d; 5]; {n}]");
    let operands = |name: &str, n: usize| format!("{name}: &[*const [__m256d; 5]; {n}]");

    let mut kernel = Kernel::new();
    kernel.multiply("rsi", "rdx");
    kernel.add_constants(COLUMN, Constant::Mul);
    kernel.store("rdi", COLUMN);
    kernel.print(&mut out, "mul_loose", &format!("{loose}, {two}"), "a · b, uncarried.");

    let mut kernel = Kernel::new();
    kernel.multiply("rsi", "rdx");
    kernel.finish("rdi", Constant::CarryMul);
    kernel.print(&mut out, "mul", &format!("{carried}, {two}"), "a · b, carried.");

    let mut kernel = Kernel::new();
    kernel.square("rsi");
    kernel.add_constants(COLUMN, Constant::Square);
    kernel.store("rdi", COLUMN);
    kernel.print(&mut out, "square_loose", &format!("{loose}, {one}"), "a², uncarried.");

    let mut kernel = Kernel::new();
    kernel.square("rsi");
    kernel.finish("rdi", Constant::CarrySquare);
    kernel.print(&mut out, "square", &format!("{carried}, {one}"), "a², carried.");

    let parameters = [places(4), operands("point", 3)].join(", ");
    double().print(&mut out, "double", &parameters, "(E, F, G, H) of the double of (X, Y, Z).");

    let parameters = [places(3), operands("completed", 4)].join(", ");
    complete().print(&mut out, "complete", &parameters, "(X, Y, Z) of (E, F, G, H).");

    let parameters = [places(4), operands("point", 4), operands("niels", 4)].join(", ");
    let doc = "(E, F, G, H) of (X, Y, Z, T) + (Y+X, Y−X, Z, 2dT).";
    add(false).print(&mut out, "add_projective", &parameters, doc);

    let parameters = [places(4), operands("point", 4), operands("niels", 3)].join(", ");
    let doc = "(E, F, G, H) of (X, Y, Z, T) + (y+x, y−x, 2dxy).";
    add(true).print(&mut out, "add_affine", &parameters, doc);

    let parameters = format!("{carried}, {one}");
    let doc = "(F, G, E, H) of the double of (Z, X, X+Y, Y).";
    let mut kernel = lone_double();
    kernel.store("rdi", COLUMN);
    kernel.print(&mut out, "lone_double", &parameters, doc);
    let doc = "(F, G, E, H) of (Z, T, Y−X, Y+X) + (2Z, 2dT, Y−X, Y+X).";
    lone_add().print(&mut out, "lone_add", &format!("{carried}, {two}"), doc);
    let doc = "(Z, X, X+Y, Y) of (F, G, E, H).";
    let kernel = lone_doubling(Kernel::with_columns("rsi"));
    kernel.print(&mut out, "lone_doubling", &parameters, doc);
    let doc = "(Z, X, X+Y, Y) of the double of (Z, X, X+Y, Y).";
    lone_doubling(lone_double()).print(&mut out, "lone_double_doubling", &parameters, doc);
    let doc = "(Z, T, Y−X, Y+X) of (F, G, E, H).";
    lone_adding().print(&mut out, "lone_adding", &parameters, doc);
    out
}

fn main() {
    print!("{}", generate());
}
