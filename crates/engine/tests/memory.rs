//! Memory of a recorder: it follows the kinds of operations, not how many intervals there were nor how long their times.
//! Counted by an allocator of this program's own, so that it is exact.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use brimline_engine::finished::{Ending, Finished, Phase};
use brimline_engine::histogram::TIME_NS_MAX;
use brimline_engine::kinds::OperationKind;
use brimline_engine::packed::Packer;
use brimline_engine::recorder::{Recorder, Tallies};

thread_local! {
    static LIVE_BYTES: Cell<isize> = const { Cell::new(0) };
}

/// The system's allocator, and how many bytes the calling thread holds of it.
struct Counting;

// SAFETY: every call is the system allocator's; counting allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        // SAFETY: the caller's promise is passed on.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn count(bytes: isize) {
    // Threads that are ending have no count any more, and none is asked of them.
    let _ = LIVE_BYTES.try_with(|live| live.set(live.get() + bytes));
}

fn live_bytes() -> isize {
    LIVE_BYTES.get()
}

/// Records an interval of reads and updates, the longest of which takes `longest_ns`, and hands it out for `empty`.
fn interval(recorder: &mut Recorder, longest_ns: u64, empty: Tallies) -> Tallies {
    for index in 0..1_000 {
        let kind = if index % 20 == 0 { OperationKind::LOAD } else { OperationKind::own(0) };
        let sent = longest_ns / (index + 1);
        recorder.sent(Phase::Measure, kind, Some(0), sent, true);
        let finished = Finished {
            due: Some(0),
            sent,
            done: sent + longest_ns / (index + 1),
            ending: if index % 50 == 0 { Ending::Failed } else { Ending::Ok },
            documents: 1,
            bytes_out: 100,
            bytes_in: 1_000,
            second: None,
        };
        recorder.finished(Phase::Measure, kind, &finished);
    }
    recorder.cut(empty)
}

/// Memory after `count` more intervals, whose longest time is `longest_ns` of their number. Their tallies go to and fro, as
/// between a worker and the director.
fn live_bytes_after(
    count: u64,
    (recorder, spare, packer): &mut (Recorder, Tallies, Packer),
    longest_ns: impl Fn(u64) -> u64,
) -> isize {
    for number in 0..count {
        let mut used = interval(recorder, longest_ns(number), std::mem::take(spare));
        drop(packer.pack(&used));
        used.clear();
        *spare = used;
    }
    live_bytes()
}

#[test]
fn intervals_take_the_same_memory_however_many_there_are_and_however_long_their_times() {
    let mut work = <(Recorder, Tallies, Packer)>::default();
    // The packer's own memory follows the longest time it has seen; it is shown the longest there is first.
    live_bytes_after(1, &mut work, |_| TIME_NS_MAX);
    work.0 = Recorder::default();
    work.1 = Tallies::default();
    let few = live_bytes_after(3, &mut work, |_| 1_000_000);
    let twice_as_many = live_bytes_after(3, &mut work, |_| 1_000_000);
    let many_and_longer =
        live_bytes_after(220, &mut work, |number| (1_000_000 << (number / 10)).min(TIME_NS_MAX));
    assert_eq!((twice_as_many, many_and_longer), (few, few));
}

/// What may lie about until somebody takes it: an interval with 1 000 operations in up to an hour.
#[test]
fn a_packed_interval_takes_kilobytes() {
    let mut recorder = Recorder::default();
    let mut packer = Packer::default();
    let used = interval(&mut recorder, TIME_NS_MAX, Tallies::default());
    drop(packer.pack(&used));
    let before = live_bytes();
    let kept = packer.pack(&used);
    let kept_bytes = live_bytes() - before;
    assert!(kept.kinds.len() == 2 && kept_bytes < 40_000, "{kept_bytes} bytes");
}
