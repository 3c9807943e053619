//! Fast arithmetic: matrix products, the only place that calls unsafe code, and loops compiled for
//! the widest SIMD registers of the processor.
#![allow(unsafe_code)]

/// Runs `work` in a version compiled for the SIMD instructions of the processor at hand.
///
/// Every processor computes the same operations in the same order and gets the same result to the
/// last bit; a wider one computes more of them at a time. What `work` calls must be inlined into
/// it, or it is compiled for the oldest processor.
pub(crate) fn vectorized<T>(work: impl FnOnce() -> T) -> T {
    pulp::Arch::new().dispatch(work)
}

/// Replaces each number x, none positive, by exp x, to the last bit or the one before; by 0 below
/// -708.
///
/// exp x = 2^n exp r with n = x / ln 2 rounded and r = x - n ln 2. As |r| is at most ln 2 / 2, 14
/// terms of the Taylor series of exp r are enough. Adding 1.5 · 2^52, whose last bit counts ones,
/// rounds to a whole number and leaves n in the lowest bits of the sum; shifted into the exponent
/// they make 2^n. All of it is plain arithmetic without branches, so that a loop over it becomes
/// SIMD code.
#[inline(always)]
pub(crate) fn exponentials<const N: usize>(numbers: &mut [f64; N]) {
    const ROUNDING: f64 = 6_755_399_441_055_744.0; // 1.5 · 2^52
    // ln 2 is the sum of two parts, of which the first has so few digits that n times it is exact.
    const LN_2: [f64; 2] = [6.931_471_803_691_238e-1, 1.908_214_929_270_587_7e-10];
    const COEFFICIENTS: [f64; 14] = inverse_factorials();
    for number in numbers {
        let x = *number;
        let rounded = x * std::f64::consts::LOG2_E + ROUNDING;
        let n = rounded - ROUNDING;
        let r = x - n * LN_2[0] - n * LN_2[1];
        let mut series = COEFFICIENTS[13];
        let mut at = 13;
        while at > 0 {
            at -= 1;
            series = series * r + COEFFICIENTS[at];
        }
        let power_of_two = f64::from_bits(rounded.to_bits().wrapping_add(1023) << 52);
        *number = if x < -708.0 { 0.0 } else { series * power_of_two };
    }
}

/// 1 / 0!, 1 / 1!, 1 / 2! and so on.
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
/// It uses one thread, because its callers already run in parallel. How the multiplication rounds
/// depends on how many rows it is given. It is therefore always given [`ROWS_AT_ONCE`], the last of
/// them padded with zeros, so that a row of the product depends on its own row of a and on b alone.
///
/// # Panics
/// If a slice is not as long as its sizes say.
pub(crate) fn times_transposed(a: &[f64], b: &[f64], n: usize, m: usize, width: usize) -> Vec<f64> {
    assert_eq!(a.len(), n * width, "a has n rows");
    let mut product = vec![0.0; n.next_multiple_of(ROWS_AT_ONCE) * m];
    multiply_rows(a, b, &mut product, m, width);
    product.truncate(n * m);
    product
}

/// Writes the same into `product`, which has m numbers for each row of a, and for as many further rows as make
/// their number a multiple of [`ROWS_AT_ONCE`]. What was in it does not matter; the further rows become 0.
///
/// # Panics
/// If a slice is not as long as its sizes say.
pub(crate) fn multiply_rows(a: &[f64], b: &[f64], product: &mut [f64], m: usize, width: usize) {
    assert_eq!(b.len(), m * width, "b has m rows");
    if m == 0 || width == 0 {
        product.fill(0.0);
        return;
    }
    assert_eq!(a.len() % width, 0, "rows of a are whole");
    let n_padded = (a.len() / width).next_multiple_of(ROWS_AT_ONCE);
    assert_eq!(product.len(), n_padded * m, "there is a place for each product");
    for (a, product) in a.chunks(ROWS_AT_ONCE * width).zip(product.chunks_mut(ROWS_AT_ONCE * m)) {
        if a.len() == ROWS_AT_ONCE * width {
            multiply(a, b, product, m, width);
        } else {
            let mut padded = a.to_vec();
            padded.resize(ROWS_AT_ONCE * width, 0.0);
            multiply(&padded, b, product, m, width);
        }
    }
}

/// Rows of a that are multiplied at once.
pub(crate) const ROWS_AT_ONCE: usize = 64;

/// a · bᵀ for an a of [`ROWS_AT_ONCE`] rows.
fn multiply(a: &[f64], b: &[f64], product: &mut [f64], m: usize, width: usize) {
    let b = Strided { cells: b, row_stride: 1, column_stride: width };
    gemm_rows(a, b, product, [ROWS_AT_ONCE, m, width], [0.0, 1.0]);
}

/// a · b in single precision for row-major a (n rows, `width` wide) and b (`width` rows, m wide);
/// row-major, n by m. How it rounds depends on n and m.
///
/// # Panics
/// If a slice is not as long as its sizes say.
pub(crate) fn multiply_single(a: &[f32], b: &[f32], product: &mut [f32], m: usize, width: usize) {
    let n = a.len() / width.max(1);
    let b = Strided { cells: b, row_stride: m, column_stride: 1 };
    gemm_rows(a, b, product, [n, m, width], [0.0, 1.0]);
}

/// A matrix whose entry (i, j) is at i · `row_stride` + j · `column_stride`.
struct Strided<'c, T> {
    cells: &'c [T],
    row_stride: usize,
    column_stride: usize,
}

/// a · b for row-major a (n by width) and b (width by m) into a row-major product, in one thread.
fn gemm_rows<T: 'static>(
    a: &[T],
    b: Strided<T>,
    product: &mut [T],
    [n, m, width]: [usize; 3],
    [zero, one]: [T; 2],
) {
    assert_eq!(a.len(), n * width, "a has n rows");
    assert_eq!(b.cells.len(), m * width, "b has m columns");
    assert!(
        [(1, width), (m, 1)].contains(&(b.row_stride, b.column_stride)),
        "the entries of b are one after the other, by row or by column"
    );
    assert_eq!(product.len(), n * m, "the product is n by m");
    let (row_stride, width_stride) = (m as isize, width as isize);
    // SAFETY: the three pointers are to slices whose lengths were checked above against the sizes
    // and strides given: entry (i, j) of the product is at i·m + j, of a at i·width + j, and of b, which
    // is width by m, at i + j·width or i·m + j. The product is not read (`read_dst` is false) and
    // overlaps neither.
    unsafe {
        gemm::gemm(
            n,
            m,
            width,
            product.as_mut_ptr(),
            1,
            row_stride,
            false,
            a.as_ptr(),
            1,
            width_stride,
            b.cells.as_ptr(),
            b.column_stride as isize,
            b.row_stride as isize,
            zero,
            one,
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
