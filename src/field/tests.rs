//! Field operations against big integers, at the bound of every class, in every lane; the CPU
//! against its model; the formulas on intervals.

use super::fma::intervals::{self, Biased, Interval, Intervals};
use super::fma::model::Model;
use super::fma::{self, BASE_TABLES, CARRIED_BOUND, Fma, ProjectiveRow, Quad};
use super::ifma::{self, Ifma};
use super::portable::{self, CARRIED_LIMIT, Portable};
use super::{Field, LaneMask, Limbs, TABLE_ROWS, Twice};
use num_bigint::{BigInt, Sign};

pub(crate) fn p() -> BigInt {
    (BigInt::from(1) << 255) - 19
}

pub(crate) fn value(limbs: &[i128; 5]) -> BigInt {
    let mut sum = BigInt::from(0);
    for (i, limb) in limbs.iter().enumerate() {
        sum += BigInt::from(*limb) << (51 * i);
    }
    ((sum % p()) + p()) % p()
}

fn integer(limbs: &Limbs) -> BigInt {
    value(&limbs.map(i128::from))
}

/// xorshift64*: reproducible inputs without a dependency.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }
    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }
    /// A limb of at most `bound` in absolute value, often at or near an edge.
    fn limb(&mut self, bound: i64) -> i64 {
        let near = (self.next() % 3) as i64;
        match self.next() % 8 {
            0 => bound - near,
            1 => near - bound,
            2 => near - 1,
            _ => (self.next() % (2 * bound as u64 + 1)) as i64 - bound,
        }
    }
    fn limbs(&mut self, bound: i64) -> [i64; 5] {
        core::array::from_fn(|_| self.limb(bound))
    }
}

/// Canonical limbs: edges of the field and random elements.
fn elements(count: usize) -> Vec<Limbs> {
    let edges: [i64; 12] = [0, 1, 2, 18, 19, 20, -1, -2, -18, -19, -20, 1 << 40];
    let mut out: Vec<Limbs> =
        edges.iter().map(|&edge| to_limbs(&(((BigInt::from(edge) % p()) + p()) % p()))).collect();
    for shift in 0..255 {
        out.push(to_limbs(&(BigInt::from(1) << shift)));
        out.push(to_limbs(&(p() - (BigInt::from(1) << shift))));
    }
    let mut random = Random::new(1);
    while out.len() < count {
        let bytes: Vec<u8> = (0..40).map(|_| random.next() as u8).collect();
        out.push(to_limbs(&(BigInt::from_bytes_le(Sign::Plus, &bytes) % p())));
    }
    out
}

fn to_limbs(x: &BigInt) -> Limbs {
    let mask = BigInt::from((1u64 << 51) - 1);
    core::array::from_fn(|i| u64::try_from((x.clone() >> (51 * i)) & &mask).expect("51 bits"))
}

fn unpack<F: Field>(f: F, a: &F::Carried) -> Vec<BigInt> {
    let mut limbs = vec![[0; 5]; F::LANES];
    f.unpack(a, &mut limbs);
    limbs
        .iter()
        .map(|limbs| {
            let x = integer(limbs);
            assert_eq!(&to_limbs(&x), limbs, "not canonical");
            x
        })
        .collect()
}

/// Every operation of a field on canonical inputs, different ones in each lane.
fn against_big_integers<F: Field>(f: F) {
    let elements = elements(1200);
    let at = |i: usize| elements[i % elements.len()];
    for i in 0..elements.len() {
        let (a, b): (Vec<Limbs>, Vec<Limbs>) =
            (0..F::LANES).map(|lane| (at(i + lane), at(31 * i + 7 * lane + 5))).unzip();
        let (x, y) = (f.pack(&a), f.pack(&b));
        let (p, mask) = (p(), (i * 0x101 % 0x1_0000) as LaneMask);
        let check = |name: &str, got: &F::Carried, want: &dyn Fn(BigInt, BigInt) -> BigInt| {
            for (lane, got) in unpack(f, got).into_iter().enumerate() {
                let want = want(integer(&a[lane]), integer(&b[lane]));
                let want = ((want % &p) + &p) % &p;
                assert_eq!(got, want, "{name}, lane {lane}, {:?} {:?}", a[lane], b[lane]);
            }
        };
        check("pack", &x, &|a, _| a);
        check("mul", &f.mul(&x, &y), &|a, b| a * b);
        check("square", &f.square(&x), &|a, _| &a * &a);
        check("add", &f.carry_sum(&f.add(&x, &y)), &|a, b| a + b);
        check("sub", &f.carry_sum(&f.sub(&x, &y)), &|a, b| a - b);
        check("mul_loose", &f.carry(&f.mul_loose(&x, &y)), &|a, b| a * b);
        check("square_loose", &f.carry(&f.square_loose(&x)), &|a, _| &a * &a);
        check("loosen", &f.carry(&f.loosen(&x)), &|a, _| a);
        let (sum, difference) = (f.add(&x, &y), f.sub(&x, &y));
        check("sum · b", &f.carry(&f.mul_sum_loose(&sum, &y)), &|a, b| (a + &b) * &b);
        check("difference · b", &f.carry(&f.mul_sum_loose(&difference, &y)), &|a, b| {
            (a - &b) * &b
        });
        // The largest combination: 2a² − b² + ab.
        let (aa, bb, ab) = (f.square_loose(&x), f.square_loose(&y), f.mul_loose(&x, &y));
        let four = f.add_loose(&f.sub_loose(&f.add_loose(&aa, &aa), &bb), &ab);
        check("four terms", &f.carry(&four), &|a, b| 2 * &a * &a - &b * &b + &a * &b);
        let nested = f.sub_loose(&f.add_loose(&aa, &aa), &f.sub_loose(&bb, &ab));
        check("nested", &f.carry(&nested), &|a, b| 2 * &a * &a - &b * &b + &a * &b);
        for (lane, got) in unpack(f, &f.select(mask, &x, &y)).into_iter().enumerate() {
            let want = if mask >> lane & 1 == 1 { &a[lane] } else { &b[lane] };
            assert_eq!(got, integer(want), "select, lane {lane}");
        }
        for (lane, got) in unpack(f, &f.negate_where(mask, &x)).into_iter().enumerate() {
            let a = integer(&a[lane]);
            let want = if mask >> lane & 1 == 1 { (&p - a) % &p } else { a };
            assert_eq!(got, want, "negate_where, lane {lane}");
        }
        if i % 32 == 0 {
            check("invert", &f.invert(&x), &|a, _| a.modpow(&(&p - 2), &p));
            check("pow_p58", &f.pow_p58(&x), &|a, _| a.modpow(&((&p - 5) / 8), &p));
        }
    }
}

#[test]
fn portable_field_is_exact() {
    against_big_integers(Portable);
}

#[test]
fn portable_field_is_exact_in_two_lanes() {
    against_big_integers(Twice(Portable));
}

/// Limbs at the bound of the carried class, which canonical inputs do not reach. The tests are built
/// with overflow checks.
#[test]
fn portable_field_is_exact_at_its_bounds() {
    let (f, mut random) = (Portable, Random::new(4));
    for _ in 0..20_000 {
        let mut carried = || {
            portable::Carried(core::array::from_fn(|_| match random.next() % 4 {
                0 => CARRIED_LIMIT - 1,
                1 => 0,
                _ => random.next() % CARRIED_LIMIT,
            }))
        };
        let (a, b) = (carried(), carried());
        let (x, y) = (integer(&a.0), integer(&b.0));
        let check = |got: portable::Carried, want: BigInt| {
            assert!(got.0.iter().all(|limb| *limb < CARRIED_LIMIT), "{got:?}");
            assert_eq!(unpack(f, &got), [((want % p()) + p()) % p()], "{a:?} {b:?}");
        };
        check(a, x.clone());
        check(f.mul(&a, &b), &x * &y);
        check(f.square(&a), &x * &x);
        check(f.carry_sum(&f.sub(&a, &b)), &x - &y);
        check(f.negate_where(1, &a), -&x);
        let (sum, difference) = (f.add(&a, &b), f.sub(&a, &b));
        check(f.carry(&f.mul_sum_loose(&sum, &b)), (&x + &y) * &y);
        check(f.carry(&f.mul_sum_loose(&difference, &b)), (&x - &y) * &y);
        // Loose elements need not be products.
        let (l, m) = (f.loosen(&a), f.loosen(&b));
        let (two_l, two_m) = (f.add_loose(&l, &l), f.add_loose(&m, &m));
        check(f.carry(&f.add_loose(&two_l, &two_m)), 2 * &x + 2 * &y);
        check(f.carry(&f.sub_loose(&two_l, &two_m)), 2 * &x - 2 * &y);
        let minus = f.sub_loose(&f.sub_loose(&l, &l), &m);
        check(f.carry(&f.sub_loose(&f.sub_loose(&minus, &m), &m)), -3 * &y);
    }
}

#[test]
fn fma_model_is_exact() {
    against_big_integers(Fma(Model));
    against_big_integers(Twice(Fma(Model)));
}

#[cfg(target_arch = "x86_64")]
#[test]
fn fma_on_the_cpu_is_exact() {
    let Some(avx2) = fma::avx2::Avx2::detect() else { return };
    against_big_integers(Fma(avx2));
    against_big_integers(Twice(Fma(avx2)));
}

#[test]
fn ifma_model_is_exact() {
    against_big_integers(Ifma(ifma::model::Model));
    against_big_integers(Twice(Ifma(ifma::model::Model)));
}

#[cfg(target_arch = "x86_64")]
#[test]
fn ifma_on_the_cpu_is_exact() {
    let Some(avx512) = ifma::avx512::Avx512::detect() else { return };
    against_big_integers(Ifma(avx512));
    against_big_integers(Twice(Ifma(avx512)));
}

/// Products at the bound of each class against big integers, and the CPU's limbs against the
/// model's.
#[cfg(target_arch = "x86_64")]
#[test]
fn fma_kernels_equal_the_model_limb_for_limb() {
    let Some(avx2) = fma::avx2::Avx2::detect() else { return };
    let mut random = Random::new(2);
    for round in 0..200_000 {
        // A factor that is carried or a sum, and a carried one.
        let factor_bound = if round % 2 == 0 { CARRIED_BOUND } else { 2 * CARRIED_BOUND };
        let a: [[i64; 5]; 4] = core::array::from_fn(|_| random.limbs(factor_bound));
        let b: [[i64; 5]; 4] = core::array::from_fn(|_| random.limbs(CARRIED_BOUND));
        let lanes = |x: &[[i64; 5]; 4]| -> [[f64; 4]; 5] {
            core::array::from_fn(|limb| core::array::from_fn(|lane| x[lane][limb] as f64))
        };
        let (model_a, model_b) = (lanes(&a), lanes(&b));
        let cpu = |x: [[f64; 4]; 5]| x.map(|limb| avx2.load(limb));
        let (cpu_a, cpu_b) = (cpu(model_a), cpu(model_b));

        let bits = |pair: (_, _)| [pair.0, pair.1].map(|x| avx2.store(avx2.float(x)));
        let (hi, lo) = Model.product(model_a[0], model_b[0]);
        let expected = [hi, lo].map(|x| Model.float(x));
        assert_eq!(bits(avx2.product(cpu_a[0], cpu_b[0])), expected);
        let product = Model.mul(&model_a, &model_b);
        assert_eq!(avx2.mul(&cpu_a, &cpu_b).map(|limb| avx2.store(limb)), product);
        let loose = Model.mul_loose(&model_a, &model_b);
        assert_eq!(
            fma::carry(avx2, &avx2.mul_loose(&cpu_a, &cpu_b)).map(|limb| avx2.store(limb)),
            product
        );
        let square = Model.square(&model_b);
        assert_eq!(avx2.square(&cpu_b).map(|limb| avx2.store(limb)), square);
        assert_eq!(
            fma::carry(avx2, &avx2.square_loose(&cpu_b)).map(|limb| avx2.store(limb)),
            square
        );

        for lane in 0..4 {
            let (x, y) = (a[lane].map(i128::from), b[lane].map(i128::from));
            let want = (value(&x) * value(&y)) % p();
            assert_eq!(value(&product.map(|limb| limb[lane] as i128)), want);
            assert_eq!(value(&loose.map(|limb| i128::from(limb[lane] as i64))), want);
            let want = (value(&y) * value(&y)) % p();
            assert_eq!(value(&square.map(|limb| limb[lane] as i128)), want);
            for limb in 0..5 {
                assert!(product[limb][lane].abs() <= CARRIED_BOUND as f64);
                assert!(square[limb][lane].abs() <= CARRIED_BOUND as f64);
            }
        }
    }
}

/// The steps of a point's formulas in one kernel each, beside the formulas over the model, at the
/// bound of the carried class.
#[cfg(target_arch = "x86_64")]
#[test]
fn fma_formulas_equal_the_model_limb_for_limb() {
    let Some(avx2) = fma::avx2::Avx2::detect() else { return };
    let mut random = Random::new(5);
    for _ in 0..100_000 {
        let operands: [[[f64; 4]; 5]; 8] = core::array::from_fn(|_| {
            core::array::from_fn(|_| core::array::from_fn(|_| random.limb(CARRIED_BOUND) as f64))
        });
        let (expected, got) = (formulas(Model, &operands), formulas(avx2, &operands));
        assert_eq!(expected, got, "{operands:?}");
    }
}

/// The same for the steps of one point in four lanes.
#[cfg(target_arch = "x86_64")]
#[test]
fn fma_formulas_of_one_point_equal_the_model_limb_for_limb() {
    let Some(avx2) = fma::avx2::Avx2::detect() else { return };
    let mut random = Random::new(6);
    for _ in 0..100_000 {
        let operands: [[[f64; 4]; 5]; 2] = core::array::from_fn(|_| {
            core::array::from_fn(|_| core::array::from_fn(|_| random.limb(CARRIED_BOUND) as f64))
        });
        let (expected, got) = (lone_formulas(Model, &operands), lone_formulas(avx2, &operands));
        assert_eq!(expected, got, "{operands:?}");
    }
}

#[cfg(target_arch = "x86_64")]
fn lone_formulas<Q: Quad>(q: Q, operands: &[[[f64; 4]; 5]; 2]) -> [[[f64; 4]; 5]; 5] {
    let [a, b] = operands.map(|limbs| fma::Carried(limbs.map(|limb| q.load(limb))));
    let mut out = [b; 5];
    let [double, sum, doubling, both, adding] = &mut out;
    q.lone_double(double, &a);
    q.lone_add(sum, &a, &b);
    q.lone_doubling(doubling, &a);
    q.lone_double_doubling(both, &a);
    q.lone_adding(adding, &a);
    out.map(|carried| carried.0.map(|limb| q.store(limb)))
}

/// What each step makes of the operands.
#[cfg(target_arch = "x86_64")]
fn formulas<Q: Quad>(q: Q, operands: &[[[f64; 4]; 5]; 8]) -> [[[[f64; 4]; 5]; 4]; 4] {
    let operands = operands.map(|limbs| fma::Carried(limbs.map(|limb| q.load(limb))));
    let [x, y, z, t, a, b, c, d] = operands.each_ref();
    let f = Fma(q);
    core::array::from_fn(|step| {
        let [mut e, mut ff, mut g, mut h] = [*x; 4];
        match step {
            0 => f.double([&mut e, &mut ff, &mut g, &mut h], [x, y, z]),
            1 => f.complete([&mut e, &mut ff, &mut g], [x, y, z, t]),
            2 => f.add_projective([&mut e, &mut ff, &mut g, &mut h], [x, y, z, t], [a, b, c, d]),
            _ => f.add_affine([&mut e, &mut ff, &mut g, &mut h], [x, y, z, t], [a, b, c]),
        }
        [e, ff, g, h].map(|carried| carried.0.map(|limb| q.store(limb)))
    })
}

/// Rows are stored, and picked with every digit, as in the model; each limb of each lane and row is
/// another number.
#[cfg(target_arch = "x86_64")]
#[test]
fn fma_tables_on_the_cpu_are_the_model_s() {
    let Some(avx2) = fma::avx2::Avx2::detect() else { return };
    let mut tables = [[ProjectiveRow::default(); 4 * TABLE_ROWS]; 2];
    for row in 0..TABLE_ROWS {
        let number =
            |coordinate, limb, lane| (((row * 4 + coordinate) * 5 + limb) * 4 + lane + 1) as f64;
        let coordinates: [[[f64; 4]; 5]; 4] = core::array::from_fn(|coordinate| {
            core::array::from_fn(|limb| core::array::from_fn(|lane| number(coordinate, limb, lane)))
        });
        Model.store_row(coordinates.each_ref(), row, &mut tables[0]);
        let coordinates = coordinates.map(|limbs| limbs.map(|limb| avx2.load(limb)));
        avx2.store_row(coordinates.each_ref(), row, &mut tables[1]);
    }
    let [model, cpu] = tables.map(|table| table.map(|row| row.0));
    assert_eq!(model, cpu);
    let table = cpu.map(ProjectiveRow);
    for digit in -12i8..=12 {
        let digits = [digit, -digit, 12 - digit.abs(), digit.abs() / 2 - 12];
        for slots in [[0, 1, 2, 3], [3, 1, 0, 2], [2; 4], [0, 0, 3, 3]] {
            let picked = avx2.pick_projective(&table, &slots, &digits);
            let picked = picked.map(|limbs| limbs.map(|limb| avx2.store(limb)));
            let expected = Model.pick_projective(&table, &slots, &digits);
            assert_eq!(picked, expected, "{slots:?} {digits:?}");
        }
    }
    for digit in -512i16..=512 {
        let digits = [digit, -digit, 512 - digit.abs(), digit.abs() / 2 - 512];
        for table in &BASE_TABLES {
            let picked = avx2.pick_affine(table, &digits);
            let picked = picked.map(|limbs| limbs.map(|limb| avx2.store(limb)));
            assert_eq!(picked, Model.pick_affine(table, &digits), "{digits:?}");
        }
    }
}

/// No intermediate of any field operation leaves its bounds, for all inputs of the classes.
#[test]
fn fma_bounds_hold_for_all_inputs() {
    let f = Fma(Intervals);
    let any = intervals::carried();
    let _ = f.mul(&any, &any);
    let _ = f.square(&any);
    let (sum, difference) = (f.add(&any, &any), f.sub(&any, &any));
    intervals::widen(f.carry_sum(&sum).0);
    intervals::widen(f.carry_sum(&difference).0);
    let _ = f.mul_sum_loose(&sum, &any);
    let _ = f.mul_sum_loose(&difference, &any);
    let _ = f.loosen(&any);
    intervals::widen(f.carry(&intervals::loose()).0);
    intervals::widen(f.negate_where(0, &any).0);
    intervals::widen(f.select(0, &any, &any).0);
}

/// The checker itself: it must object to what [`Field`] does not offer.
mod checker {
    use super::*;

    fn sum() -> [Interval; 5] {
        [Interval::symmetric(2 * CARRIED_BOUND); 5]
    }

    #[test]
    #[should_panic(expected = "product")]
    fn refuses_the_product_of_two_sums() {
        Intervals.mul_loose(&sum(), &sum());
    }

    #[test]
    #[should_panic(expected = "product")]
    fn refuses_the_square_of_a_sum() {
        Intervals.square_loose(&sum());
    }

    #[test]
    #[should_panic(expected = "loose")]
    fn refuses_a_product_of_wide_factors() {
        let wide = [Interval::symmetric((1 << 52) - 4); 5];
        let narrow = [Interval::symmetric((1 << 50) - 1); 5];
        // Each product is in range, 2^102 − 2^53 + 4, but four of them are too much for the class.
        Intervals.mul_loose(&wide, &narrow);
    }

    #[test]
    #[should_panic(expected = "wraps")]
    fn refuses_a_carry_of_too_much() {
        fma::carry(Intervals, &[Biased::symmetric(i64::MAX); 5]);
    }
}
