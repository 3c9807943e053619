//! Fast arithmetic: matrix products, the one place that calls unsafe code, and loops in the widest
//! vectors of the machine.
#![allow(unsafe_code)]

/// Runs a loop compiled for the machine at hand. The same operations in the same order, so the
/// same result; only more of them at a time. What it calls must be inlined into it.
pub(crate) fn vectorized<T>(work: impl FnOnce() -> T) -> T {
    pulp::Arch::new().dispatch(work)
}

/// exp of numbers that are not positive, to the last bit or the one before; 0 below -708.
///
/// exp x = 2^n exp r with r = x - n ln 2, at most half of ln 2, whose series ends soon. n is rounded
/// by adding a number so great that its last bit counts ones; those bits are then the exponent of 2^n.
#[inline(always)]
pub(crate) fn exponentials<const N: usize>(numbers: &mut [f64; N]) {
    const ONES: f64 = 6_755_399_441_055_744.0; // 1.5 · 2^52
    // ln 2 in two parts, so that n times the first is exact.
    const LN_2: [f64; 2] = [6.931_471_803_691_238e-1, 1.908_214_929_270_587_7e-10];
    const INVERSES: [f64; 14] = inverse_factorials();
    for number in numbers {
        let x = *number;
        let rounded = x * std::f64::consts::LOG2_E + ONES;
        let n = rounded - ONES;
        let r = x - n * LN_2[0] - n * LN_2[1];
        let mut series = INVERSES[13];
        let mut at = 13;
        while at > 0 {
            at -= 1;
            series = series * r + INVERSES[at];
        }
        let power = f64::from_bits(rounded.to_bits().wrapping_add(1023) << 52);
        *number = if x < -708.0 { 0.0 } else { series * power };
    }
}

const fn inverse_factorials<const N: usize>() -> [f64; N] {
    let mut inverses = [1.0; N];
    let (mut at, mut factorial) = (1, 1.0);
    while at < N {
        factorial *= at as f64;
        inverses[at] = 1.0 / factorial;
        at += 1;
    }
    inverses
}

/// a · bᵀ for row-major a (n rows) and b (m rows), both `width` wide; row-major, n by m.
///
/// One thread: whoever calls runs in parallel already. How a product is rounded depends on how many
/// rows are multiplied at once. Here they always are as many, the last ones filled up with zeros, so
/// that a row of the product depends on its own row and on b alone.
///
/// # Panics
/// If a slice is not as long as its sizes say.
pub(crate) fn times_transposed(a: &[f64], b: &[f64], n: usize, m: usize, width: usize) -> Vec<f64> {
    assert_eq!(a.len(), n * width, "a has n rows");
    assert_eq!(b.len(), m * width, "b has m rows");
    let mut product = vec![0.0; n * m];
    if product.is_empty() || width == 0 {
        return product;
    }
    for (a, product) in a.chunks(AT_ONCE * width).zip(product.chunks_mut(AT_ONCE * m)) {
        if a.len() == AT_ONCE * width {
            multiply(a, b, product, m, width);
        } else {
            let mut filled_up = a.to_vec();
            filled_up.resize(AT_ONCE * width, 0.0);
            let mut rows = vec![0.0; AT_ONCE * m];
            multiply(&filled_up, b, &mut rows, m, width);
            product.copy_from_slice(&rows[..product.len()]);
        }
    }
    product
}

/// Rows multiplied at once.
const AT_ONCE: usize = 64;

fn multiply(a: &[f64], b: &[f64], product: &mut [f64], m: usize, width: usize) {
    assert_eq!(a.len(), AT_ONCE * width, "a has as many rows as always");
    assert_eq!(b.len(), m * width, "b has m rows");
    assert_eq!(product.len(), AT_ONCE * m, "so has the product");
    let (stride_of_rows, stride_of_b) = (m as isize, width as isize);
    // SAFETY: the three pointers are to slices whose lengths were checked above against the sizes
    // and strides given: entry (i, j) of the product is at i·m + j, of a at i·width + j, and of bᵀ
    // at j·width + i. The product is not read (`read_dst` is false) and overlaps neither.
    unsafe {
        gemm::gemm(
            AT_ONCE,
            m,
            width,
            product.as_mut_ptr(),
            1,
            stride_of_rows,
            false,
            a.as_ptr(),
            1,
            width as isize,
            b.as_ptr(),
            stride_of_b,
            1,
            0.0,
            1.0,
            false,
            false,
            false,
            gemm::Parallelism::None,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn exponentials_are_those_of_the_library(x in -800.0f64..=0.0, small in -1e-3f64..=0.0) {
            let mut found = [x, small, 0.0, -708.0];
            exponentials(&mut found);
            for (x, found) in [x, small, 0.0, -708.0].into_iter().zip(found) {
                let expected = if x < -708.0 { 0.0 } else { x.exp() };
                prop_assert!((found - expected).abs() <= 4e-16 * expected, "{} {} {}", x, found, expected);
            }
        }

        #[test]
        fn a_row_of_a_product_depends_on_no_other(n in 1usize..150, m in 1usize..40, width in 0usize..300, seed: u64) {
            let mut rng = crate::seed::Seed::new(seed).rng();
            let a: Vec<f64> = (0..n * width).map(|_| rng.normal()).collect();
            let b: Vec<f64> = (0..m * width).map(|_| rng.normal()).collect();
            let product = times_transposed(&a, &b, n, m, width);
            for row in [0, n / 2, n - 1] {
                let alone = times_transposed(&a[row * width..(row + 1) * width], &b, 1, m, width);
                prop_assert_eq!(&product[row * m..(row + 1) * m], &alone[..]);
            }
        }

        #[test]
        fn products_equal_their_definition(n in 0usize..20, m in 0usize..20, width in 0usize..30, seed: u64) {
            let mut rng = crate::seed::Seed::new(seed).rng();
            let a: Vec<f64> = (0..n * width).map(|_| rng.normal()).collect();
            let b: Vec<f64> = (0..m * width).map(|_| rng.normal()).collect();
            let product = times_transposed(&a, &b, n, m, width);
            for i in 0..n {
                for j in 0..m {
                    let expected: f64 = (0..width).map(|k| a[i * width + k] * b[j * width + k]).sum();
                    prop_assert!((product[i * m + j] - expected).abs() < 1e-12);
                }
            }
        }
    }
}
