//! Owns which record an operation takes and what is written: YCSB's keys and documents, exact zipfian popularity.

use std::cell::Cell;

use bson::spec::BinarySubtype;
use bson::{Binary, Bson, Document, doc};
use fastrand::Rng;

const THETA: f64 = 0.99;
const FIELD_COUNT: u32 = 10;
const FIELD_LENGTH: usize = 100;
const SCATTER: u64 = 2_654_435_761;
const FNV_OFFSET: u64 = 0xCBF2_9CE4_8422_2325;
const FNV_PRIME: u64 = 1_099_511_628_211;

pub struct Records {
    cumulative: Vec<f64>,
    inserted: Cell<u64>,
}

impl Records {
    #[must_use]
    pub fn new(count: usize) -> Self {
        let mut sum = 0.0;
        let cumulative = (1..=count)
            .map(|rank| {
                #[expect(clippy::cast_precision_loss, reason = "ranks are far below 2^52")]
                let weight = (rank as f64).powf(-THETA);
                sum += weight;
                sum
            })
            .collect();
        Self { cumulative, inserted: Cell::new(0) }
    }

    /// The key of a loaded record, the popular ones more often.
    pub fn choose(&self, random: &mut Rng) -> String {
        let count = self.cumulative.len();
        let wanted = random.f64() * self.cumulative[count - 1];
        let rank = self.cumulative.partition_point(|sum| *sum < wanted);
        key(rank.min(count - 1) as u64 * SCATTER % count as u64)
    }

    /// One field with a new value.
    pub fn change(random: &mut Rng) -> Document {
        let name = format!("field{}", random.u32(0..FIELD_COUNT));
        doc! {"$set": {name: value(random)}}
    }

    /// The next record of a load.
    pub fn next(&self, random: &mut Rng) -> Document {
        let number = self.inserted.get();
        self.inserted.set(number + 1);
        let mut document = doc! {"_id": key(number)};
        for field in 0..FIELD_COUNT {
            document.insert(format!("field{field}"), value(random));
        }
        document
    }
}

fn value(random: &mut Rng) -> Bson {
    let mut bytes = vec![0; FIELD_LENGTH];
    random.fill(&mut bytes);
    Bson::Binary(Binary { subtype: BinarySubtype::Generic, bytes })
}

/// YCSB's hashed key: FNV-1a over the eight bytes of the record's number, lowest first.
fn key(number: u64) -> String {
    let hash = number
        .to_le_bytes()
        .iter()
        .fold(FNV_OFFSET, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(FNV_PRIME));
    format!("user{}", hash.cast_signed().unsigned_abs())
}
