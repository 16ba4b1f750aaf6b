//! Which items a claim takes. Not inside of queue.rs, which the model checker's test takes as it is.

use std::{num::NonZeroUsize, ops::Range};

use crate::queue::{LANES, MAX_CLAIM, Queue, items_per_claim, items_per_job};

#[test]
fn jobs_are_whole_groups_that_keep_every_worker_busy() {
    for workers in 0..=64 {
        for items in (0..300).chain([1_000, 4_096, 10_000, 65_537]) {
            let job = items_per_job(items, workers);
            assert!(job >= 8 && job.is_multiple_of(8), "{items} items, {workers} workers");
            let jobs = items.div_ceil(job);
            assert!(jobs <= 4 * workers.max(1), "{items} items, {workers} workers");
            if items >= 8 * 8 * workers {
                assert!(jobs >= workers, "{items} items, {workers} workers");
            }
        }
    }
    assert_eq!(items_per_job(64, 2), 32);
    assert_eq!(items_per_job(1_000, 16), 64);
    assert_eq!(items_per_job(10_000, 16), 160);
    assert_eq!(items_per_claim(10_000, 2), MAX_CLAIM);
    assert!(MAX_CLAIM.is_multiple_of(LANES));
}

fn push(queue: &Queue<char>, stream: u64, work: char, items: usize) {
    queue.enter().unwrap().push(stream, work, NonZeroUsize::new(items).unwrap());
}

/// Claims one share and says which items of which submissions it holds.
fn claim(queue: &Queue<char>) -> Vec<(char, Range<usize>)> {
    let mut parts = Vec::new();
    assert!(queue.claim(&mut parts));
    parts.iter().map(|part| (*part.work, part.range.clone())).collect()
}

#[test]
fn a_claim_gathers_small_submissions_and_cuts_large_ones() {
    let queue = Queue::new(2);
    push(&queue, 0, 'a', 3);
    push(&queue, 0, 'b', 2);
    push(&queue, 0, 'c', 100);
    assert_eq!(claim(&queue), [('a', 0..3), ('b', 0..2), ('c', 0..51)]);
    assert_eq!(claim(&queue), [('c', 51..83)]);
    assert_eq!(claim(&queue), [('c', 83..99)]);
    assert_eq!(claim(&queue), [('c', 99..100)]);
    queue.close();
    assert!(!queue.claim(&mut Vec::new()));
    assert!(queue.enter().is_none());
}

#[test]
fn a_small_stream_does_not_wait_behind_a_large_one() {
    let queue = Queue::new(1);
    push(&queue, 7, 'a', 100_000);
    push(&queue, 8, 'b', 1);
    assert_eq!(claim(&queue), [('a', 0..64), ('b', 0..1), ('a', 64..255)]);
    push(&queue, 8, 'c', 70);
    push(&queue, 9, 'd', 70);
    let claimed = claim(&queue);
    assert_eq!(claimed, [('a', 255..319), ('c', 0..64), ('d', 0..64), ('a', 319..383)]);
    assert_eq!(claim(&queue)[..2], [('c', 64..70), ('d', 64..70)]);
}

#[test]
fn the_last_part_to_leave_takes_the_submission() {
    let queue = Queue::new(2);
    push(&queue, 0, 'a', 20);
    let (mut first, mut second) = (Vec::new(), Vec::new());
    assert!(queue.claim(&mut first) && queue.claim(&mut second));
    assert_eq!((first[0].range.clone(), second[0].range.clone()), (0..16, 16..20));
    assert_eq!(first.remove(0).leave(), None);
    assert_eq!(second.remove(0).leave(), Some('a'));
}

#[test]
fn only_what_would_wait_alone_and_fill_no_group_is_better_done_here() {
    let queue = Queue::new(2);
    let better = |items| {
        let entrance = queue.enter().unwrap();
        entrance.is_better_done_here(NonZeroUsize::new(items).unwrap())
    };
    assert_eq!([1, 8, 9, 1_000].map(better), [true, true, false, false]);
    push(&queue, 0, 'a', 1);
    assert!(!better(1));
    assert_eq!(claim(&queue), [('a', 0..1)]);
    assert!(better(1));
}
