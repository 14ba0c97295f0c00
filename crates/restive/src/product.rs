//! Matrix products that are added to a part of a matrix: C += f·A·B, row-major.
//!
//! The factors of a large matrix and the tableau of a sweep spend their time here. C is built in tiles of a few rows and
//! columns whose entries stay in registers while the products of one block are added up, so that a block of 48 costs one pass
//! over C instead of 48. B is copied once into panels as wide as a tile, A a few rows at a time, both scaled to stay in cache; that
//! copy is also why A may be other columns of the very rows that are added to, as in elimination.
//!
//! A tile fills the registers of the processor: 8 × 16 with AVX-512, 6 × 8 with AVX2, 4 × 4 elsewhere. An entry of C gets its products in the same order whatever the tile, so that all processors with
//! fused multiply-adds give the same bits.

#[cfg(target_arch = "x86_64")]
use crate::simd::{Instructions, instructions};
use std::ops::Range;

/// Rows of B in one block: the products that are added up in registers.
const DEEP: usize = 256;
/// Numbers of B that are packed at a time: half a megabyte.
const PACKED: usize = 1 << 16;

/// Rows of `stride` numbers each, of which those in `columns` count.
#[derive(Debug, Clone)]
pub(crate) struct Block<'a> {
    pub(crate) rows: &'a [f64],
    pub(crate) stride: usize,
    pub(crate) columns: Range<usize>,
}

/// A, with as many rows as C and as many columns as B has rows.
#[derive(Debug, Clone)]
pub(crate) enum Left<'a> {
    /// these columns of the rows that hold C
    Same(Range<usize>),
    Rows(Block<'a>),
    /// the transpose of a block
    Transposed(Block<'a>),
}

/// Memory for packed blocks, reused.
#[derive(Debug, Clone, Default)]
pub(crate) struct Product {
    packed: Vec<f64>,
}

impl Product {
    /// Adds f·A·B to the `columns` of `rows` (`stride` numbers each).
    pub(crate) fn add(
        &mut self,
        factor: f64,
        left: Left<'_>,
        right: Block<'_>,
        rows: &mut [f64],
        stride: usize,
        columns: Range<usize>,
    ) {
        debug_assert_eq!(right.columns.len(), columns.len(), "columns of B and C");
        let task = Task { factor, left, right, stride, columns };
        let packed = &mut self.packed;
        #[cfg(target_arch = "x86_64")]
        {
            #[target_feature(enable = "avx512f,avx2,bmi2,fma")]
            fn wide(task: Task<'_>, rows: &mut [f64], packed: &mut Vec<f64>) {
                task.run::<8, 16>(rows, packed, |left, panel, sums| tile_avx512(left, panel, sums));
            }
            #[target_feature(enable = "avx2,bmi2,fma")]
            fn medium(task: Task<'_>, rows: &mut [f64], packed: &mut Vec<f64>) {
                task.run::<6, 8>(rows, packed, |left, panel, sums| tile_avx2(left, panel, sums));
            }
            match instructions() {
                // SAFETY: the processor has every feature `wide` is compiled for: that is what `Avx512` says.
                Instructions::Avx512 => return unsafe { wide(task, rows, packed) },
                // SAFETY: the processor has AVX2, BMI2 and FMA: that is what `Avx2` says.
                Instructions::Avx2 => return unsafe { medium(task, rows, packed) },
                Instructions::Baseline => {}
            }
        }
        task.run::<4, 4>(rows, packed, tile);
    }
}

/// One product, but for the rows that it is added to.
struct Task<'a> {
    factor: f64,
    left: Left<'a>,
    right: Block<'a>,
    stride: usize,
    columns: Range<usize>,
}

impl Task<'_> {
    /// By tiles of R × W.
    #[inline(always)]
    fn run<const R: usize, const W: usize>(
        self,
        rows: &mut [f64],
        packed: &mut Vec<f64>,
        tile: impl Fn(&[[f64; DEEP]; R], &[[f64; W]], &mut [[f64; W]; R]),
    ) {
        let (deep, wide) = (self.right.rows.len() / self.right.stride, self.columns.len());
        for k in (0..deep).step_by(DEEP) {
            let k = k..(k + DEEP).min(deep);
            let most = PACKED / k.len() / W * W;
            for j in (0..wide).step_by(most) {
                let j = j..(j + most).min(wide);
                self.pack::<W>(k.clone(), j.clone(), packed);
                let to = self.columns.start + j.start..self.columns.start + j.end;
                self.add_packed(rows, k.clone(), to, packed, &tile);
            }
        }
    }

    /// Copies rows k and columns j of f·B into panels `[k,W]`; the last is filled up with zeros.
    #[inline(always)]
    fn pack<const W: usize>(&self, k: Range<usize>, j: Range<usize>, packed: &mut Vec<f64>) {
        let Block { rows, stride, columns } = &self.right;
        packed.resize(j.len().next_multiple_of(W) * k.len(), 0.0);
        for (p, panel) in packed.chunks_exact_mut(W * k.len()).enumerate() {
            let from = columns.start + j.start + p * W;
            let width = W.min(columns.start + j.end - from);
            for (row, out) in rows.chunks_exact(*stride).skip(k.start).zip(panel.as_chunks_mut::<W>().0) {
                out[width..].fill(0.0);
                for (o, b) in out.iter_mut().zip(&row[from..][..width]) {
                    *o = self.factor * b;
                }
            }
        }
    }

    /// Adds A[:, k] times the packed panels to the columns `to`.
    #[inline(always)]
    fn add_packed<const R: usize, const W: usize>(
        &self,
        rows: &mut [f64],
        k: Range<usize>,
        to: Range<usize>,
        packed: &[f64],
        tile: &impl Fn(&[[f64; DEEP]; R], &[[f64; W]], &mut [[f64; W]; R]),
    ) {
        let deep = k.len();
        let (mut left, mut sums) = ([[0.0; DEEP]; R], [[0.0; W]; R]);
        for (block, rows) in rows.chunks_mut(R * self.stride).enumerate() {
            self.copy_left(block * R, k.clone(), rows, &mut left);
            for (p, panel) in packed.as_chunks::<W>().0.chunks_exact(deep).enumerate() {
                tile(&left, panel, &mut sums);
                let from = to.start + p * W;
                let width = W.min(to.end - from);
                for (row, sums) in rows.chunks_exact_mut(self.stride).zip(&sums) {
                    let row = &mut row[from..][..width];
                    if let Some(row) = row.as_mut_array::<W>() {
                        for j in 0..W {
                            row[j] += sums[j];
                        }
                    } else {
                        for (c, sum) in row.iter_mut().zip(sums) {
                            *c += sum;
                        }
                    }
                }
            }
        }
    }

    /// Copies columns k of A for a few rows, from `first` on, which are those of C here.
    #[inline(always)]
    fn copy_left<const R: usize>(
        &self,
        first: usize,
        k: Range<usize>,
        rows: &[f64],
        left: &mut [[f64; DEEP]; R],
    ) {
        let count = rows.len() / self.stride;
        match &self.left {
            Left::Same(columns) => {
                for (left, row) in left.iter_mut().zip(rows.chunks_exact(self.stride)) {
                    left[..k.len()].copy_from_slice(&row[columns.clone()][k.clone()]);
                }
            }
            Left::Rows(Block { rows, stride, columns }) => {
                for (left, row) in
                    left.iter_mut().zip(rows[first * stride..].chunks_exact(*stride)).take(count)
                {
                    left[..k.len()].copy_from_slice(&row[columns.clone()][k.clone()]);
                }
            }
            Left::Transposed(Block { rows, stride, columns }) => {
                for (t, row) in rows.chunks_exact(*stride).skip(k.start).take(k.len()).enumerate() {
                    for (left, a) in left.iter_mut().zip(&row[columns.clone()][first..][..count]) {
                        left[t] = *a;
                    }
                }
            }
        }
    }
}

/// A few rows of A, as long as the panel is, times one panel of B. On aarch64 multiply-adds are fused, as below.
fn tile<const R: usize, const W: usize>(
    left: &[[f64; DEEP]; R],
    panel: &[[f64; W]],
    out: &mut [[f64; W]; R],
) {
    let mut sums = [[0.0; W]; R];
    for (t, b) in panel.iter().enumerate().take(DEEP) {
        for i in 0..R {
            let a = left[i][t];
            for j in 0..W {
                let is_fused = cfg!(target_arch = "aarch64");
                sums[i][j] = if is_fused { a.mul_add(b[j], sums[i][j]) } else { sums[i][j] + a * b[j] };
            }
        }
    }
    *out = sums;
}

/// A tile in the registers of x86-64, each row in two of them: left to itself, the compiler keeps the sums in memory.
#[cfg(target_arch = "x86_64")]
macro_rules! tile_in_registers {
    ($name:ident, $features:literal, $rows:literal, $lanes:literal, $load:ident, $store:ident, $zero:ident, $set:ident, $fused:ident) => {
        #[target_feature(enable = $features)]
        fn $name(
            left: &[[f64; DEEP]; $rows],
            panel: &[[f64; 2 * $lanes]],
            out: &mut [[f64; 2 * $lanes]; $rows],
        ) {
            use std::arch::x86_64::{$fused, $load, $set, $store, $zero};
            let mut sums = [[$zero(); 2]; $rows];
            for (t, b) in panel.iter().enumerate().take(DEEP) {
                let (low, high) = b.split_at($lanes);
                // SAFETY: either half of b is as many numbers as the register holds; loads need no alignment.
                let b = unsafe { [$load(low.as_ptr()), $load(high.as_ptr())] };
                for i in 0..$rows {
                    let a = $set(left[i][t]);
                    sums[i] = [$fused(a, b[0], sums[i][0]), $fused(a, b[1], sums[i][1])];
                }
            }
            for i in 0..$rows {
                let (low, high) = out[i].split_at_mut($lanes);
                // SAFETY: either half of the row is as many numbers as the register holds; stores need no alignment.
                unsafe {
                    $store(low.as_mut_ptr(), sums[i][0]);
                    $store(high.as_mut_ptr(), sums[i][1]);
                }
            }
        }
    };
}
#[cfg(target_arch = "x86_64")]
tile_in_registers!(
    tile_avx512,
    "avx512f,avx2,bmi2,fma",
    8,
    8,
    _mm512_loadu_pd,
    _mm512_storeu_pd,
    _mm512_setzero_pd,
    _mm512_set1_pd,
    _mm512_fmadd_pd
);
#[cfg(target_arch = "x86_64")]
tile_in_registers!(
    tile_avx2,
    "avx2,bmi2,fma",
    6,
    4,
    _mm256_loadu_pd,
    _mm256_storeu_pd,
    _mm256_setzero_pd,
    _mm256_set1_pd,
    _mm256_fmadd_pd
);

#[cfg(test)]
mod tests {
    use super::{Block, Left, Product, Task, tile};

    /// Whole numbers, so that every order of summation is exact.
    fn numbers(count: usize, seed: usize) -> Vec<f64> {
        (0..count).map(|i| ((i * 7919 + seed * 104_729) % 201) as f64 - 100.0).collect()
    }

    type Run = fn(Task<'_>, &mut [f64], &mut Vec<f64>);

    /// As the processor likes it, and with tiles that do not fit it.
    fn runs() -> [Run; 3] {
        let fitting = |task: Task<'_>, rows: &mut [f64], _: &mut Vec<f64>| {
            let Task { factor, left, right, stride, columns } = task;
            Product::default().add(factor, left, right, rows, stride, columns);
        };
        [fitting, |t, r, p| t.run::<6, 8>(r, p, tile), |t, r, p| t.run::<4, 4>(r, p, tile)]
    }

    #[test]
    fn products_are_those_of_three_plain_loops() {
        for (m, k, n) in [(1, 1, 1), (7, 3, 5), (8, 48, 16), (13, 300, 33), (50, 9, 700), (3, 256, 300)] {
            let stride = k + n + 3;
            let (own, a, b) = (numbers(m * stride, 1), numbers(m * (k + 1), 2), numbers(k * (n + 2), 3));
            let right = Block { rows: &b, stride: n + 2, columns: 1..n + 1 };
            let transposed: Vec<f64> = (0..(k) * (m + 1))
                .map(|x| if x % (m + 1) == 0 { 9.0 } else { a[(x % (m + 1) - 1) * (k + 1) + x / (m + 1)] })
                .collect();
            let lefts = [
                Left::Same(1..k + 1),
                Left::Rows(Block { rows: &a, stride: k + 1, columns: 0..k }),
                Left::Transposed(Block { rows: &transposed, stride: m + 1, columns: 1..m + 1 }),
            ];
            for (which, left) in lefts.into_iter().enumerate() {
                let mut expected = own.clone();
                for i in 0..m {
                    for j in 0..n {
                        let of = |t| if which == 0 { own[i * stride + 1 + t] } else { a[i * (k + 1) + t] };
                        let sum: f64 = (0..k).map(|t| of(t) * b[t * (n + 2) + 1 + j]).sum();
                        expected[i * stride + k + 2 + j] -= 2.0 * sum;
                    }
                }
                for run in runs() {
                    let (mut out, mut packed) = (own.clone(), Vec::new());
                    let (left, right) = (left.clone(), right.clone());
                    let task = Task { factor: -2.0, left, right, stride, columns: k + 2..k + 2 + n };
                    run(task, &mut out, &mut packed);
                    assert_eq!(out, expected, "{m} × {k} × {n}, left factor {which}");
                }
            }
        }
    }
}
