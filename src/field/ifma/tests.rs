//! The CPU against its model, the steps of a point against big integers, the formulas on intervals.

use super::intervals::{self, Interval, Intervals};
use super::model::Model;
use super::*;
use crate::field::TABLE_ROWS;
use crate::field::tests::{Random, p, value};
use crate::solo;
use num_bigint::BigInt;
use std::vec::Vec;

type Words = [[u64; 8]; 5];

/// Carried limbs, often at or near an edge of the class.
fn carried(random: &mut Random) -> Words {
    TWO_P.map(|bound| {
        core::array::from_fn(|_| match random.next() % 8 {
            0 => bound - random.next() % 3,
            1 => random.next() % 3,
            2 => MASK51 - 1 + random.next() % 3,
            _ => random.next() % (bound + 1),
        })
    })
}

/// The integers modulo p, lane by lane. Loose words are in two's complement.
fn values(words: &Words) -> Vec<BigInt> {
    (0..8).map(|lane| value(&words.map(|word| i128::from(word[lane] as i64)))).collect()
}

fn modulo_p(x: BigInt) -> BigInt {
    ((x % p()) + p()) % p()
}

fn assert_carried(words: &Words) {
    for (words, bound) in words.iter().zip(TWO_P) {
        assert!(words.iter().all(|word| *word <= bound), "{words:?}");
    }
}

fn load<O: Octet>(o: O, words: &Words) -> Carried<O::W> {
    Carried(words.map(|word| o.load(word)))
}

fn store<O: Octet>(o: O, words: &[O::W; 5]) -> Words {
    words.map(|word| o.store(word))
}

/// Every operation on two elements.
fn operations<O: Octet>(o: O, operands: &[Words; 2]) -> Vec<Words> {
    let f = Ifma(o);
    let [a, b] = operands.each_ref().map(|words| load(o, words));
    let (sum, difference) = (f.add(&a, &b), f.sub(&a, &b));
    let (product, square) = (f.mul_loose(&a, &b), f.square_loose(&a));
    [
        product.0,
        square.0,
        f.mul_sum_loose(&sum, &b).0,
        f.mul_sum_loose(&difference, &b).0,
        f.mul(&a, &b).0,
        f.square(&a).0,
        f.carry_sum(&sum).0,
        f.carry_sum(&difference).0,
        f.negate_where(0xff, &a).0,
        f.carry(&f.sub_loose(&product, &f.add_loose(&square, &square))).0,
        f.carry(&f.loosen(&b)).0,
        canonical(o, &a.0),
        mul_onto(o, &ONE_PRODUCT, &a.0, &b.0),
        square_onto(o, &THREE_PRODUCTS, &a.0),
        f.permute::<0b10_01_11_00>(&a).0,
        f.permute_loose::<0b01_01_10_11>(&product).0,
        f.negate_lanes(0b0110, &square).0,
        f.shift_lanes([1, 64, 0, 64], &product).0,
        solo::double(f, &a).0,
        solo::add(f, &a, &b).0,
        solo::doubling(f, &a).0,
        solo::adding(f, &b).0,
    ]
    .map(|words| store(o, &words))
    .to_vec()
}

/// What each step of a point's formulas makes of the operands.
fn steps<O: Octet>(o: O, operands: &[Words; 8]) -> [[Words; 4]; 4] {
    let f = Ifma(o);
    let operands = operands.each_ref().map(|words| load(o, words));
    let [x, y, z, t, a, b, c, d] = operands.each_ref();
    core::array::from_fn(|step| {
        let [mut e, mut ff, mut g, mut h] = [*x; 4];
        match step {
            0 => f.double([&mut e, &mut ff, &mut g, &mut h], [x, y, z]),
            1 => f.complete([&mut e, &mut ff, &mut g], [x, y, z, t]),
            2 => f.add_projective([&mut e, &mut ff, &mut g, &mut h], [x, y, z, t], [a, b, c, d]),
            _ => f.add_affine([&mut e, &mut ff, &mut g, &mut h], [x, y, z, t], [a, b, c]),
        }
        [e, ff, g, h].map(|carried| store(o, &carried.0))
    })
}

#[test]
fn operations_are_exact_at_the_bounds() {
    let mut random = Random::new(11);
    for _ in 0..5_000 {
        let operands = [carried(&mut random), carried(&mut random)];
        let results = operations(Model, &operands);
        let (a, b) = (values(&operands[0]), values(&operands[1]));
        for result in &results[4..12] {
            assert_carried(result);
        }
        let results: Vec<_> = results.iter().map(values).collect();
        for (lane, (a, b)) in a.iter().zip(&b).enumerate() {
            let expected = [
                a * b,
                a * a,
                (a + b) * b,
                (a - b) * b,
                a * b,
                a * a,
                a + b,
                a - b,
                -a,
                a * b - 2 * a * a,
                b.clone(),
                a.clone(),
                a * b,
                a * a,
            ];
            for (i, expected) in expected.into_iter().enumerate() {
                assert_eq!(results[i][lane], modulo_p(expected), "operation {i}: {operands:?}");
            }
        }
    }
}

#[test]
fn steps_of_a_point_are_exact_at_the_bounds() {
    let mut random = Random::new(12);
    for _ in 0..5_000 {
        let operands: [Words; 8] = core::array::from_fn(|_| carried(&mut random));
        let results = steps(Model, &operands);
        let operands = operands.each_ref().map(values);
        for step in results.iter().flatten() {
            assert_carried(step);
        }
        let results = results.map(|step| step.map(|words| values(&words)));
        for lane in 0..8 {
            let [x, y, z, t, a, b, c, d] = operands.each_ref().map(|values| &values[lane]);
            // dbl-2008-hwcd with F and H negated, X = E F and so on, and add-2008-hwcd-3.
            let sum = |zz: &BigInt, t2d: &BigInt| {
                let (minus, plus) = ((y - x) * b, (y + x) * a);
                let (tt, zz): (BigInt, BigInt) = (t * t2d, 2 * zz);
                [&plus - &minus, &zz - &tt, &zz + &tt, &plus + &minus]
            };
            let expected = [
                [2 * x * y, 2 * z * z - (y * y - x * x), y * y - x * x, y * y + x * x],
                [x * y, z * t, y * z, x.clone()],
                sum(&(z * c), d),
                sum(z, c),
            ];
            for (step, expected) in expected.into_iter().enumerate() {
                for (i, expected) in expected.into_iter().enumerate() {
                    assert_eq!(results[step][i][lane], modulo_p(expected), "step {step}, {i}");
                }
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[test]
fn the_cpu_equals_the_model_limb_for_limb() {
    let Some(cpu) = avx512::Avx512::detect() else { return };
    let mut random = Random::new(13);
    for _ in 0..10_000 {
        let operands: [Words; 8] = core::array::from_fn(|_| carried(&mut random));
        let pair = [operands[0], operands[1]];
        assert_eq!(operations(cpu, &pair), operations(Model, &pair), "{pair:?}");
        assert_eq!(steps(cpu, &operands), steps(Model, &operands), "{operands:?}");
        // Any word, and factors of more than 52 bits, whose upper bits do not count.
        let [a, b, c]: [[u64; 8]; 3] =
            core::array::from_fn(|_| core::array::from_fn(|_| random.next()));
        let each = |low: fn(_, _, _, _) -> [u64; 8], cpu: [u64; 8]| {
            assert_eq!(low(Model, c, a, b), cpu);
        };
        let [x, y, z] = [a, b, c].map(|words| cpu.load(words));
        each(|o, c, a, b| o.madd_low(c, a, b), cpu.store(cpu.madd_low(z, x, y)));
        each(|o, c, a, b| o.madd_high(c, a, b), cpu.store(cpu.madd_high(z, x, y)));
        each(|o, _, a, _| o.times19(a), cpu.store(cpu.times19(x)));
        each(|o, _, a, _| o.shift_right_51(a), cpu.store(cpu.shift_right_51(x)));
        each(|o, _, a, _| o.low51(a), cpu.store(cpu.low51(x)));
        let mask = random.next() as LaneMask;
        assert_eq!(cpu.store(cpu.select(mask, x, y)), Model.select(mask, a, b));
        assert_eq!(cpu.odd_lanes(x), Model.odd_lanes(a));
        // Few bits, so that some lanes are 0.
        let few: Words =
            core::array::from_fn(|i| a.map(|word| (word >> (13 * i)) & (word >> 7) & 1));
        assert_eq!(cpu.zero_lanes(few.map(|word| cpu.load(word))), Model.zero_lanes(few));
        let bytes: [[u8; 32]; 8] =
            core::array::from_fn(|_| core::array::from_fn(|_| random.next() as u8));
        let (limbs, signs) = cpu.load_encodings(&bytes);
        assert_eq!((store(cpu, &limbs), signs), Model.load_encodings(&bytes));
    }
}

/// Rows are stored, and picked with every digit, as in the model; each limb of each lane and row is
/// another number.
#[cfg(target_arch = "x86_64")]
#[test]
fn tables_on_the_cpu_are_the_model_s() {
    let Some(cpu) = avx512::Avx512::detect() else { return };
    let mut tables = [[ProjectiveRow::default(); 8 * TABLE_ROWS]; 2];
    let [model, on_cpu] = &mut tables;
    for row in 0..TABLE_ROWS {
        let number =
            |coordinate, limb, lane| (((row * 4 + coordinate) * 5 + limb) * 8 + lane + 1) as u64;
        let coordinates: [Words; 4] = core::array::from_fn(|coordinate| {
            core::array::from_fn(|limb| core::array::from_fn(|lane| number(coordinate, limb, lane)))
        });
        Model.store_row(coordinates.each_ref(), row, model);
        let coordinates = coordinates.map(|words| words.map(|word| cpu.load(word)));
        cpu.store_row(coordinates.each_ref(), row, on_cpu);
    }
    assert_eq!(model.map(|row| row.0), on_cpu.map(|row| row.0));
    for digit in -12i8..=12 {
        let digits: [i8; 8] =
            core::array::from_fn(|lane| (digit + 12 + 5 * lane as i8).rem_euclid(25) - 12);
        for slots in [[0, 1, 2, 3, 4, 5, 6, 7], [7, 3, 0, 0, 5, 1, 6, 2], [4; 8]] {
            let (picked, negative) = cpu.pick_projective(on_cpu, &slots, &digits);
            let expected = Model.pick_projective(model, &slots, &digits);
            let picked = picked.map(|limbs| store(cpu, &limbs));
            assert_eq!((picked, negative), expected, "{slots:?} {digits:?}");
        }
    }
    for digit in -512i16..=512 {
        let digits: [i16; 8] =
            core::array::from_fn(|lane| (digit + 512 + 129 * lane as i16).rem_euclid(1025) - 512);
        for table in &BASE_TABLES {
            let (picked, negative) = cpu.pick_affine(table, &digits);
            let picked = picked.map(|limbs| store(cpu, &limbs));
            assert_eq!((picked, negative), Model.pick_affine(table, &digits), "{digits:?}");
            let rows = [digit, digits[1]].map(|digit| &table[usize::from(digit.unsigned_abs())]);
            assert_eq!(store(cpu, &cpu.load_base(rows)), Model.load_base(rows), "{digits:?}");
        }
    }
}

/// No intermediate of any operation leaves its bounds, for all inputs of the classes.
#[test]
fn bounds_hold_for_all_inputs() {
    let (o, f, any) = (Intervals, Ifma(Intervals), intervals::carried());
    let loose = |x: &Loose<Interval>| {
        for limb in x.0 {
            let terms = crate::field::LOOSE_TERMS as i128;
            assert!(0 <= limb.min && limb.max * terms <= LOOSE_BOUND, "not loose: {limb:?}");
        }
    };
    loose(&f.mul_loose(&any, &any));
    loose(&f.square_loose(&any));
    intervals::widen(f.mul(&any, &any).0);
    intervals::widen(f.square(&any).0);
    let (sum, difference) = (f.add(&any, &any), f.sub(&any, &any));
    intervals::widen(f.carry_sum(&sum).0);
    intervals::widen(f.carry_sum(&difference).0);
    loose(&f.mul_sum_loose(&sum, &any));
    loose(&f.mul_sum_loose(&difference, &any));
    loose(&f.loosen(&any));
    intervals::widen(f.carry(&intervals::loose()).0);
    intervals::widen(f.negate_where(0, &any).0);
    intervals::widen(f.select(0, &any, &any).0);
    intervals::widen(canonical(o, &any.0));

    let check = |step: &dyn Fn([&mut _; 4])| {
        let (mut e, mut ff, mut g, mut h) = (any, any, any, any);
        step([&mut e, &mut ff, &mut g, &mut h]);
        for out in [e, ff, g, h] {
            intervals::widen(out.0);
        }
    };
    check(&|out| f.double(out, [&any; 3]));
    check(&|out| f.add_projective(out, [&any; 4], [&any; 4]));
    check(&|out| f.add_affine(out, [&any; 4], [&any; 3]));
    check(&|[x, y, z, _]| f.complete([x, y, z], [&any; 4]));
}

/// The checker itself: it must object to what [`Field`] does not offer.
mod checker {
    use super::*;

    fn any_sum() -> Carried<Interval> {
        let any = intervals::carried();
        Carried(Ifma(Intervals).add(&any, &any).0)
    }

    #[test]
    #[should_panic(expected = "not an integer of 52 bits")]
    fn refuses_to_multiply_a_sum() {
        Ifma(Intervals).mul(&any_sum(), &intervals::carried());
    }

    #[test]
    #[should_panic(expected = "not an integer of 52 bits")]
    fn refuses_to_square_a_sum() {
        Ifma(Intervals).square(&any_sum());
    }

    #[test]
    #[should_panic(expected = "not an integer of 64 bits")]
    fn refuses_to_carry_a_difference_without_a_bias() {
        let f = Ifma(Intervals);
        let any = intervals::carried();
        let products = f.sub_loose(&f.mul_loose(&any, &any), &f.mul_loose(&any, &any));
        carry(Intervals, &products.0);
    }

    #[test]
    #[should_panic(expected = "not carried")]
    fn refuses_a_double_negation_without_the_class() {
        let negative = Ifma(Intervals).sub_words(&TWO_P.map(|x| Intervals.splat(x)), &any_sum().0);
        intervals::widen(negative);
    }

    /// One product less than what is taken off.
    #[test]
    #[should_panic(expected = "not an integer of 64 bits")]
    fn refuses_a_start_that_is_too_small() {
        let (o, f, any) = (Intervals, Ifma(Intervals), intervals::carried().0);
        let h = f.add_words(&square_onto(o, &ONE_PRODUCT, &any), &square_onto(o, &[0; 5], &any));
        carry(o, &f.sub_words(&square_onto(o, &multiple_of_p(2 << 10), &any), &h));
    }
}
