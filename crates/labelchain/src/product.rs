//! Fast arithmetic: matrix products, the one place that calls unsafe code, and loops in the widest
//! vectors of the machine.
#![allow(unsafe_code)]

/// Runs a loop compiled for the machine at hand. The same operations in the same order, so the
/// same result; only more of them at a time. What it calls must be inlined into it.
pub(crate) fn vectorized<T>(work: impl FnOnce() -> T) -> T {
    pulp::Arch::new().dispatch(work)
}

/// a · bᵀ for row-major a (n rows) and b (m rows), both `width` wide; row-major, n by m.
///
/// One thread: whoever calls runs in parallel already.
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
    let (stride_of_rows, stride_of_b) = (m as isize, width as isize);
    // SAFETY: the three pointers are to slices whose lengths were checked above against the sizes
    // and strides given: entry (i, j) of the product is at i·m + j, of a at i·width + j, and of bᵀ
    // at j·width + i. The product is not read (`read_dst` is false) and overlaps neither.
    unsafe {
        gemm::gemm(
            n,
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
    product
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
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
