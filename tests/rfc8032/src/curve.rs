//! The curve −x² + y² = 1 + d x² y² over the integers modulo p, and the encodings of its points.

use std::sync::LazyLock;

use num_bigint::{BigInt, BigUint};

/// p = 2^255 − 19 (section 5.1).
pub static P: LazyLock<BigInt> = LazyLock::new(|| (BigInt::from(1) << 255) - 19);

/// d = −121665 / 121666 (section 5.1), in 0 … p − 1.
pub static D: LazyLock<BigInt> =
    LazyLock::new(|| modulo(BigInt::from(-121_665) * inverse(&BigInt::from(121_666))));

/// L, the order of [`BASE`] (section 5.1).
pub static L: LazyLock<BigUint> = LazyLock::new(|| {
    (BigUint::from(1_u8) << 252) + 27_742_317_777_372_353_535_851_937_790_883_648_493_u128
});

/// B, the point with y = 4/5 and an even x (sections 5.1 and 6).
pub static BASE: LazyLock<Point> = LazyLock::new(|| {
    let y = modulo(BigInt::from(4) * inverse(&BigInt::from(5)));
    let x = recover_x(&y, false).expect("4/5 is the y of a point");
    Point::from_affine(x, y)
});

/// 2^((p − 1)/4), a square root of −1 (section 5.1.1).
static SQRT_M1: LazyLock<BigInt> =
    LazyLock::new(|| BigInt::from(2).modpow(&((&*P - 1_u8) / 4), &P));

/// `value` modulo p, in 0 … p − 1.
fn modulo(value: BigInt) -> BigInt {
    let remainder = value % &*P; // with the sign of `value`
    if remainder < BigInt::ZERO { remainder + &*P } else { remainder }
}

/// 1/`value` = `value`^(p − 2) (section 5.1.1).
fn inverse(value: &BigInt) -> BigInt {
    value.modpow(&(&*P - 2), &P)
}

/// A point, in the extended homogeneous coordinates of section 5.1.4: x = X/Z, y = Y/Z, x y = T/Z.
///
/// Two points are equal if their x and y are. Coordinates lie in −p + 1 … p − 1.
#[derive(Clone, Debug)]
pub struct Point {
    x: BigInt,
    y: BigInt,
    z: BigInt,
    t: BigInt,
}

impl Point {
    fn from_affine(x: BigInt, y: BigInt) -> Self {
        let t = &x * &y % &*P;
        Self { x, y, z: BigInt::from(1), t }
    }

    /// O = (0, 1).
    #[must_use]
    pub fn identity() -> Self {
        Self::from_affine(BigInt::ZERO, BigInt::from(1))
    }

    /// The sum, by the first formulas of section 5.1.4. They hold for every pair of points.
    #[must_use]
    pub fn add(&self, other: &Self) -> Self {
        let a = (&self.y - &self.x) * (&other.y - &other.x) % &*P;
        let b = (&self.y + &self.x) * (&other.y + &other.x) % &*P;
        let c = &self.t * 2 * &*D % &*P * &other.t % &*P;
        let d = &self.z * 2 * &other.z % &*P;
        Self::from_efgh(&b - &a, &d - &c, d + c, b + a)
    }

    /// Twice the point, by the second formulas of section 5.1.4.
    #[must_use]
    pub fn double(&self) -> Self {
        let a = &self.x * &self.x % &*P;
        let b = &self.y * &self.y % &*P;
        let c = 2 * &self.z * &self.z % &*P;
        let h = &a + &b;
        let x_plus_y = &self.x + &self.y;
        let e = &h - &x_plus_y * &x_plus_y % &*P;
        let g = a - b;
        let f = c + &g;
        Self::from_efgh(e, f, g, h)
    }

    /// The last lines of both formulas.
    fn from_efgh(e: BigInt, f: BigInt, g: BigInt, h: BigInt) -> Self {
        Self { x: &e * &f % &*P, y: &g * &h % &*P, t: e * h % &*P, z: f * g % &*P }
    }

    /// −P = (−x, y).
    #[must_use]
    pub fn negate(&self) -> Self {
        Self { x: -&self.x, y: self.y.clone(), z: self.z.clone(), t: -&self.t }
    }

    /// \[`scalar`\]P. The scalar is an integer: it is reduced by no order.
    #[must_use]
    pub fn mul(&self, scalar: &BigUint) -> Self {
        let mut product = Self::identity();
        for bit in (0..scalar.bits()).rev() {
            product = product.double();
            if scalar.bit(bit) {
                product = product.add(self);
            }
        }
        product
    }

    /// \[8\]P.
    #[must_use]
    pub fn mul_by_cofactor(&self) -> Self {
        self.double().double().double()
    }

    /// P = O.
    #[must_use]
    pub fn is_identity(&self) -> bool {
        *self == Self::identity()
    }

    /// \[8\]P = O: the order of P is 1, 2, 4 or 8.
    #[must_use]
    pub fn is_small_order(&self) -> bool {
        self.mul_by_cofactor().is_identity()
    }

    /// The encoding (section 5.1.2): y, and the lowest bit of x as bit 255.
    #[must_use]
    pub fn encode(&self) -> [u8; 32] {
        let z_inverse = inverse(&self.z);
        let x = modulo(&self.x * &z_inverse);
        let mut y = modulo(&self.y * z_inverse);
        y.set_bit(255, x.bit(0));
        let (_, bytes) = y.to_bytes_le();
        let mut encoding = [0; 32];
        encoding[..bytes.len()].copy_from_slice(&bytes);
        encoding
    }
}

impl PartialEq for Point {
    fn eq(&self, other: &Self) -> bool {
        // X1/Z1 = X2/Z2 iff X1 Z2 − X2 Z1 = 0, likewise for Y (section 6, point_equal).
        let same = |a: &BigInt, b: &BigInt| (a * &other.z - b * &self.z) % &*P == BigInt::ZERO;
        same(&self.x, &other.x) && same(&self.y, &other.y)
    }
}

impl Eq for Point {}

/// What 32 bytes decode to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decoding {
    /// The point.
    pub point: Point,
    /// Whether section 5.1.3 accepts the bytes: y is below p, and there is no sign bit where x = 0.
    pub canonical: bool,
}

/// Decodes as section 5.1.3 says, but accepts what only is not canonical: y is taken modulo p, and
/// the sign bit is ignored where x = 0. `None` if no point has this y.
#[must_use]
pub fn decode(encoding: &[u8; 32]) -> Option<Decoding> {
    let mut y = BigUint::from_bytes_le(encoding);
    let sign = y.bit(255);
    y.set_bit(255, false);
    let y = BigInt::from(y);
    let below_p = y < *P;
    let y = modulo(y);
    let x = recover_x(&y, sign)?;
    let canonical = below_p && !(x == BigInt::ZERO && sign);
    Some(Decoding { point: Point::from_affine(x, y), canonical })
}

/// The x of the point with this y, in 0 … p − 1, whose lowest bit is `sign` (section 6, recover_x);
/// 0, which is its own negative, for either `sign`.
fn recover_x(y: &BigInt, sign: bool) -> Option<BigInt> {
    let y2 = y * y;
    // −1 is a square and d is not, so d y² + 1 is not 0.
    let x2 = modulo((&y2 - 1) * inverse(&(&*D * &y2 + 1)));
    let is_root = |x: &BigInt| modulo(x * x) == x2;
    let mut x = x2.modpow(&((&*P + 3) / 8), &P);
    if !is_root(&x) {
        x = modulo(x * &*SQRT_M1);
    }
    if !is_root(&x) {
        return None;
    }
    Some(if x.bit(0) == sign { x } else { modulo(-x) })
}
