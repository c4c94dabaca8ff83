//! Vectors as they are stored and compared: 8 bits per dimension and one scale per vector. Pure.
//!
//! A vector is normalized to length 1, scaled so that its largest part is 127, rounded, and stored as bytes with an offset of 128.
//! Unsigned bytes are widened in half the steps, and widening dominates the scan over all vectors. The quantized cosine is off by less
//! than 0.01.

/// Added to each part to make it unsigned.
const OFFSET: i32 = 128;
const MAX_PART: f32 = 127.0;

/// A normalized vector, quantized to bytes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct QuantizedVector {
    /// The value of one step of the bytes.
    pub(crate) scale: f32,
    pub(crate) bytes: Vec<u8>,
}

impl QuantizedVector {
    /// Quantizes a vector of any length; the length is not kept.
    pub(crate) fn of(vector: &[f32]) -> Self {
        let length = vector.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>().sqrt();
        let largest = vector.iter().fold(0.0f32, |most, x| most.max(x.abs()));
        let step = if largest > 0.0 { MAX_PART / largest } else { 0.0 };
        let bytes = vector.iter().map(|x| ((x * step).round() as i32 + OFFSET).clamp(0, 255) as u8).collect();
        let scale = if length > 0.0 { (f64::from(largest) / length) as f32 / MAX_PART } else { 0.0 };
        Self { scale, bytes }
    }

    pub(crate) fn dims(&self) -> usize {
        self.bytes.len()
    }

    /// The representation for comparing it with many vectors.
    pub(crate) fn to_query(&self) -> QueryVector {
        let parts: Vec<i16> = self.bytes.iter().map(|byte| i16::from(*byte) - OFFSET as i16).collect();
        let offset = OFFSET * parts.iter().map(|part| i32::from(*part)).sum::<i32>();
        QueryVector { parts, offset, scale: self.scale }
    }

    /// Cosine similarity: 1 for the same direction, 0 for unrelated ones.
    pub(crate) fn cosine(&self, other: &Self) -> f64 {
        self.to_query().cosine(other.scale, &other.bytes)
    }
}

/// A vector to compare with many.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct QueryVector {
    parts: Vec<i16>,
    /// The share of a product that comes from the byte offset of the other vector.
    offset: i32,
    scale: f32,
}

impl QueryVector {
    pub(crate) fn dims(&self) -> usize {
        self.parts.len()
    }

    /// Cosine similarity with a stored vector: -1 to 1, within rounding.
    pub(crate) fn cosine(&self, scale: f32, bytes: &[u8]) -> f64 {
        f64::from(dot_product(&self.parts, bytes) - self.offset) * f64::from(self.scale) * f64::from(scale)
    }
}

/// The dot product, in 16 lanes that the compiler vectorizes. No overflow: 8,192 dimensions stay far below 2^31.
fn dot_product(parts: &[i16], bytes: &[u8]) -> i32 {
    let mut lanes = [0i32; 16];
    let (parts, last_parts) = parts.as_chunks::<16>();
    let (bytes, last_bytes) = bytes.as_chunks::<16>();
    for (parts, bytes) in parts.iter().zip(bytes) {
        for at in 0..16 {
            lanes[at] += i32::from(parts[at]) * i32::from(bytes[at]);
        }
    }
    let rest: i32 = last_parts.iter().zip(last_bytes).map(|(part, byte)| i32::from(*part) * i32::from(*byte)).sum();
    lanes.iter().sum::<i32>() + rest
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn cosine(a: &[f32], b: &[f32]) -> f64 {
        let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(x, y)| f64::from(*x) * f64::from(*y)).sum::<f64>();
        dot(a, b) / (dot(a, a).sqrt() * dot(b, b).sqrt())
    }

    #[test]
    fn directions_are_compared_whatever_the_length() {
        let of = |v: &[f32]| QuantizedVector::of(v);
        let near = |a: f64, b: f64| (a - b).abs() < 0.01;
        assert!(near(of(&[3.0, 4.0]).cosine(&of(&[300.0, 400.0])), 1.0));
        assert!(near(of(&[3.0, 4.0]).cosine(&of(&[-3.0, -4.0])), -1.0));
        assert!(near(of(&[1.0, 0.0, 0.0]).cosine(&of(&[0.0, 1e-6, 0.0])), 0.0));
        assert!(near(of(&[1e-20]).cosine(&of(&[1e20])), 1.0));
    }

    #[test]
    fn the_longest_vectors_do_not_overflow() {
        let ones = vec![1.0f32; 8_192];
        let minus: Vec<f32> = ones.iter().map(|x| -x).collect();
        assert!((QuantizedVector::of(&ones).cosine(&QuantizedVector::of(&ones)) - 1.0).abs() < 0.01);
        assert!((QuantizedVector::of(&ones).cosine(&QuantizedVector::of(&minus)) + 1.0).abs() < 0.01);
    }

    proptest! {
        #[test]
        fn eight_bits_keep_the_cosine(pair in prop::collection::vec((-1.0f32..1.0, -1.0f32..1.0), 32..500)) {
            let (a, b): (Vec<f32>, Vec<f32>) = pair.into_iter().unzip();
            let kept = QuantizedVector::of(&a).cosine(&QuantizedVector::of(&b));
            prop_assert!((kept - cosine(&a, &b)).abs() < 0.01, "{kept} {}", cosine(&a, &b));
        }
    }
}
