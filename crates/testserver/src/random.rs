//! Counter-based random numbers: a draw is a function of (seed, stream, index), so that a script is played the same way
//! however its requests are spread over connections.

/// The draw number `index` of a stream, 64 random bits.
///
/// Two rounds of the `SplitMix64` finaliser (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", 2014).
pub fn bits(seed: u64, stream: u64, index: u64) -> u64 {
    let stream_key = finalise(seed ^ finalise(stream.wrapping_add(GOLDEN_GAMMA)));
    finalise(stream_key.wrapping_add(index.wrapping_add(1).wrapping_mul(GOLDEN_GAMMA)))
}

/// The draw as a number in [0, 1), uniform.
pub fn uniform(seed: u64, stream: u64, index: u64) -> f64 {
    (bits(seed, stream, index) >> 11) as f64 / (1_u64 << 53) as f64
}

/// The draw as a standard exponential number.
pub fn exponential(seed: u64, stream: u64, index: u64) -> f64 {
    -(1.0 - uniform(seed, stream, index)).ln()
}

/// The draw as a standard normal number, by Box and Muller's transform. Takes indices `2 index` and `2 index + 1`.
pub fn normal(seed: u64, stream: u64, index: u64) -> f64 {
    let radius = (2.0 * exponential(seed, stream, 2 * index)).sqrt();
    radius * (std::f64::consts::TAU * uniform(seed, stream, 2 * index + 1)).cos()
}

/// 2^64 divided by the golden ratio, odd.
const GOLDEN_GAMMA: u64 = 0x9E37_79B9_7F4A_7C15;

fn finalise(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}
