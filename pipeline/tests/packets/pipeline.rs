//! The pipeline's promises: order, room, ends, and results for everybody.

use std::{
    iter, thread,
    time::{Duration, Instant},
};

use octosig_pipeline::{
    FlatBatch, Offsets, Pipeline, Profile, Rules, SubmitError, Taken, Ticket, VerifiedBatches,
    octosig::{Backend, Item, Verifier},
    solana_perf::packet::{PacketBatch, PacketFlags, bytes::Bytes},
};

use crate::{
    crafted::Kind,
    harness::{Raw, Shape, batches, metas},
    transactions::{Version, address, bytes, transfer, vote},
};

/// A batch of one packet, which is valid if `number` is odd.
fn single(number: u64) -> PacketBatch {
    let mut data = bytes(transfer(number));
    if number.is_multiple_of(2) {
        data[40] ^= 1;
    }
    batches(&[Raw::from(data)], Shape::Single, &[1]).remove(0)
}

/// As many, in one submission.
fn many(count: u64) -> Vec<PacketBatch> {
    (0..count).map(single).collect()
}

/// What only takes long: one packet over and over.
fn long(packets: usize) -> Vec<PacketBatch> {
    iter::repeat_n(single(1), packets).collect()
}

fn pipeline(workers: usize, queue_depth: usize) -> Pipeline {
    let builder = Pipeline::builder().unpinned().workers(workers).queue_depth(queue_depth);
    builder.build().expect("threads")
}

fn kept(batches: &[PacketBatch]) -> Vec<bool> {
    metas(batches).iter().map(|meta| !meta.discard()).collect()
}

fn assert_alternating(verified: &VerifiedBatches) {
    let kept = kept(&verified.batches);
    assert!(kept.iter().enumerate().all(|(number, kept)| *kept == (number % 2 == 1)));
    assert_eq!((verified.packets, verified.valid), (kept.len(), kept.len() / 2));
    assert_eq!(verified.discarded_before, 0);
}

#[test]
fn tickets_become_ready_in_the_order_of_their_stream() {
    let pipeline = pipeline(3, 64);
    let stream = pipeline.stream();
    // Long and short ones, and some without work.
    let sizes = [2_000, 1, 0, 300, 1, 1, 0, 64, 700, 1];
    let tickets: Vec<_> = sizes.map(|size| stream.submit(many(size)).unwrap()).into();
    let mut open: Vec<_> = tickets.iter().collect();
    while !open.is_empty() {
        // What is ready, the last one looked at first: all before it have to be ready then.
        let ready = open.iter().rposition(|ticket| !ticket.receiver().is_empty());
        if let Some(ready) = ready {
            for ticket in open.drain(..=ready) {
                assert!(!ticket.receiver().is_empty(), "{ticket:?}");
            }
        }
    }
    for (number, (ticket, size)) in tickets.into_iter().zip(sizes).enumerate() {
        assert_eq!(ticket.number(), number as u64);
        let verified = ticket.wait().unwrap();
        assert_eq!(verified.packets as u64, size);
        assert_alternating(&verified);
    }
}

#[test]
fn streams_do_not_wait_for_each_other() {
    let pipeline = pipeline(1, 64);
    let (slow, fast) = (pipeline.stream(), pipeline.stream());
    let slow = slow.submit(long(20_000)).unwrap();
    for _ in 0..3 {
        let fast = fast.submit(many(9)).unwrap();
        // Not `wait`, by which this thread could do the work.
        assert_alternating(&fast.receiver().recv().unwrap());
        assert_eq!(slow.try_wait().map(|slow| slow.is_none()), Ok(true), "{slow:?}");
    }
    assert_eq!(slow.wait().unwrap().valid, 20_000);
}

#[test]
fn a_full_stream_gives_batches_back() {
    for depth in [1, 2] {
        let pipeline = pipeline(1, depth);
        let stream = pipeline.stream();
        let long = || stream.submit(long(5_000)).unwrap();
        let tickets: Vec<_> = iter::repeat_with(long).take(depth).collect();
        let error = stream.submit(many(5)).unwrap_err();
        assert!(matches!(error, SubmitError::Full(_)), "{error}");
        assert_eq!(error.to_string(), "the stream is full");
        let batches = error.into_inner();
        assert_eq!(batches, many(5), "untouched");

        let patience = Duration::from_millis(1);
        let start = Instant::now();
        let error = stream.submit_timeout(batches, patience).unwrap_err();
        assert!(matches!(error, SubmitError::Full(_)) && start.elapsed() >= patience);
        // Another stream has room.
        let other = pipeline.stream().submit(error.into_inner()).unwrap();
        assert_alternating(&other.wait().unwrap());

        let patient = stream.submit_timeout(many(5), Duration::from_secs(600)).unwrap();
        assert_alternating(&patient.wait().unwrap());
        assert!(tickets.into_iter().all(|ticket| ticket.wait().unwrap().valid == 5_000));
    }
}

#[test]
fn a_result_is_taken_once() {
    let pipeline = pipeline(1, 4);
    let stream = pipeline.stream();
    let ticket = stream.submit(many(1_000)).unwrap();
    let verified = loop {
        match ticket.wait_timeout(Duration::from_micros(100)).unwrap() {
            Some(verified) => break verified,
            None => assert_eq!(ticket.number(), 0),
        }
    };
    assert_alternating(&verified);
    assert_eq!(ticket.try_wait().map(|_| ()), Err(Taken));
    assert_eq!(ticket.wait_timeout(Duration::from_secs(600)).map(|_| ()), Err(Taken));
    assert_eq!(ticket.wait().map(|_| ()), Err(Taken));
}

#[test]
fn what_needs_no_work_is_ready_at_once() {
    let pipeline = pipeline(1, 4);
    let stream = pipeline.stream();
    let nothing = stream.submit(Vec::new()).unwrap().try_wait().unwrap().unwrap();
    assert_eq!((nothing.packets, nothing.valid), (0, 0));
    let flags = PacketFlags::DISCARD;
    let raw: Vec<_> =
        (1..9).map(|number| Raw::from(bytes(transfer(number))).with_flags(flags)).collect();
    let discarded = batches(&raw, Shape::Mixed, &[2, 0]);
    let verified = stream.submit(discarded.clone()).unwrap().try_wait().unwrap().unwrap();
    assert_eq!(verified.batches, discarded);
    assert_eq!((verified.packets, verified.discarded_before, verified.valid), (8, 8, 0));
    let stats = pipeline.stats();
    assert_eq!((stats.submissions, stats.total_packets, stats.total_valid_packets), (2, 8, 0));
    assert_eq!((stats.claims, stats.signatures), (0, 0));
}

#[test]
fn rules_go_with_each_submission() {
    let pipeline = pipeline(2, 1_000);
    let stream = pipeline.stream();
    // Of another profile, vote, transfer; all in the same claims.
    let kind = Kind::ALL
        .into_iter()
        .find(|kind| {
            kind.is_valid_under(Profile::Zip215) && !kind.is_valid_under(Profile::DalekStrict)
        })
        .expect("a signature on which the profiles differ");
    let odd = crate::crafted::packet(Version::Legacy, 77, &[kind], address(77));
    let raw = [odd, Raw::from(vote(Version::Legacy, 5, 1)), Raw::from(bytes(transfer(9)))];
    let mixed = batches(&raw, Shape::Bytes, &[3]);
    let zip215 = stream.with_rules(Rules { profile: Profile::Zip215, ..Rules::default() });
    let votes = stream.with_rules(Rules { reject_non_vote: true, ..Rules::default() });
    assert_eq!(votes.rules().profile, Profile::DalekStrict);
    let streams =
        [(&stream, [false, true, true]), (&zip215, [true; 3]), (&votes, [false, true, false])];
    let tickets: Vec<_> = (0..100)
        .flat_map(|_| streams)
        .map(|(stream, expected)| (stream.submit(mixed.clone()).unwrap(), expected))
        .collect();
    for (ticket, expected) in tickets {
        let batches = ticket.wait().unwrap().batches;
        assert_eq!(kept(&batches), expected);
        assert!(metas(&batches)[1].flags.contains(PacketFlags::SIMPLE_VOTE_TX));
    }
}

#[test]
fn thirty_two_threads_submit_at_once() {
    let pipeline = pipeline(2, 3);
    let stream = pipeline.stream();
    thread::scope(|scope| {
        for thread in 0..32 {
            let stream = if thread < 16 { stream.clone() } else { pipeline.stream() };
            scope.spawn(move || {
                for round in 0..10 {
                    let first = 1_000 * thread + 10 * round;
                    let own: Vec<_> = (first..first + 7).map(single).collect();
                    let ticket = stream.submit_timeout(own.clone(), Duration::MAX).unwrap();
                    let verified = ticket.wait().unwrap();
                    assert_alternating(&verified);
                    let same = |(a, b): (&PacketBatch, &PacketBatch)| {
                        a.get(0)
                            .unwrap()
                            .data(..)
                            .is_none_or(|a| Some(a) == b.get(0).unwrap().data(..))
                    };
                    assert!(verified.batches.iter().zip(&own).all(same), "another's packets");
                }
            });
        }
    });
    assert_eq!(pipeline.shutdown().total_packets, 32 * 10 * 7);
}

#[test]
fn a_dropped_pipeline_finishes_every_ticket() {
    let pipeline = pipeline(2, 64);
    let streams = [pipeline.stream(), pipeline.stream()];
    let submit = |number: usize| streams[number % 2].submit(many(200)).unwrap();
    let tickets: Vec<Ticket<_>> = (0..40).map(submit).collect();
    drop(pipeline);
    let error = streams[0].submit(many(3)).unwrap_err();
    assert!(matches!(error, SubmitError::ShutDown(_)), "{error}");
    assert_eq!(error.into_inner(), many(3));
    assert!(matches!(streams[1].submit(Vec::new()), Err(SubmitError::ShutDown(_))));
    streams[0].drain();
    for ticket in tickets {
        assert_alternating(&ticket.try_wait().unwrap().expect("ready"));
    }
}

#[test]
fn tickets_that_nobody_holds_are_worked_off() {
    let pipeline = pipeline(2, 64);
    let stream = pipeline.stream();
    for _ in 0..30 {
        drop(stream.submit(many(50)).unwrap());
        // The ticket's receiver outlives it, or not.
        let receiver = stream.submit(many(50)).unwrap().receiver().clone();
        drop(receiver);
    }
    stream.drain();
    assert_alternating(&stream.submit(many(50)).unwrap().wait().unwrap());
    pipeline.drain();
    assert_eq!(pipeline.shutdown().total_packets, 61 * 50);
}

#[test]
fn drain_waits_for_what_was_submitted_before() {
    let pipeline = pipeline(2, 64);
    let streams = [pipeline.stream(), pipeline.stream()];
    let tickets: Vec<_> = (0..20).map(|i| streams[i % 2].submit(many(300)).unwrap()).collect();
    pipeline.drain();
    assert!(tickets.iter().all(|ticket| !ticket.receiver().is_empty()));
    let stats = pipeline.stats();
    assert_eq!((stats.total_batches, stats.total_packets), (6_000, 6_000));
    assert_eq!((stats.total_valid_packets, stats.signatures), (3_000, 6_000));
    assert!(stats.total_verify_time_us > 0 && stats.queue_waits.iter().sum::<u64>() == 20);
    assert_eq!(stats.since(&stats), octosig_pipeline::Stats::default());
}

#[test]
fn pipelines_come_and_go_under_load() {
    for round in 0..1_000 {
        let pipeline = pipeline(1 + round % 3, 2);
        let stream = pipeline.stream();
        let tickets = [stream.submit(many(3)), stream.submit(many(9))];
        if round % 2 == 0 {
            drop(pipeline);
        }
        for ticket in tickets {
            assert_alternating(&ticket.unwrap().wait().unwrap());
        }
    }
}

#[test]
fn every_backend_and_worker_count_agrees() {
    let submission = many(400);
    for &backend in Backend::ALL.iter().filter(|backend| backend.is_available()) {
        for workers in 1..=4 {
            let builder = Pipeline::builder().unpinned().backend(backend).workers(workers);
            let pipeline = builder.build().unwrap();
            assert_eq!((pipeline.backend(), pipeline.workers()), (backend, workers));
            assert_alternating(
                &pipeline.stream().submit(submission.clone()).unwrap().wait().unwrap(),
            );
        }
    }
}

/// Messages of many lengths, signed or not, in one buffer with gaps.
#[test]
fn flat_batches_get_the_verdicts_of_a_verifier() {
    let crafted: Vec<_> = (0..40)
        .flat_map(|number| Kind::ALL.map(|kind| (number, kind)))
        .map(|(number, kind)| {
            crate::crafted::packet(Version::Legacy, number, &[kind], address(number)).data
        })
        .collect();
    let mut offsets = Offsets::default();
    let mut buffer = Vec::new();
    for data in &crafted {
        buffer.push(0xee);
        let at = |offset: usize| (buffer.len() + offset) as u32;
        // One signature, the message from its header on, the first key after the counts.
        offsets.signatures.push(at(1));
        offsets.messages.push(at(65));
        offsets.public_keys.push(at(69));
        offsets.message_lengths.push((data.len() - 65) as u32);
        buffer.extend(data);
    }
    let flat = FlatBatch::new(Bytes::from(buffer), offsets).unwrap();
    let items: Vec<_> = crafted
        .iter()
        .map(|data| Item {
            public_key: data[69..].first_chunk().unwrap(),
            signature: data[1..].first_chunk().unwrap(),
            message: &data[65..],
        })
        .collect();
    let pipeline = pipeline(2, 4);
    for &profile in Profile::ALL {
        let mut expected = vec![false; items.len()];
        Verifier::new().verify_many(profile, &items, &mut expected).unwrap();
        assert!(expected.contains(&true) && expected.contains(&false));
        let stream = pipeline.stream().with_rules(Rules { profile, ..Rules::default() });
        let verified = stream.submit(flat.clone()).unwrap().wait().unwrap();
        assert!(verified.verdicts.into_iter().eq(expected.into_iter().map(u8::from)), "{profile}");
        assert_eq!(verified.batch.len(), items.len());
    }
    assert_eq!(pipeline.stats().total_packets, 0);
}

#[test]
fn a_small_submission_may_be_verified_by_its_submitter() {
    let pipeline = pipeline(2, 64);
    let stream = pipeline.stream();
    for count in [1, 2, 8] {
        let ticket = stream.submit_here(many(count)).unwrap();
        assert_alternating(&ticket.try_wait().unwrap().expect("ready at once"));
    }
    assert_eq!(pipeline.stats().claims_by_submitters, 3);
    // Too many for that; and then there is something in the queue, or before it in its stream.
    let long = stream.submit(long(5_000)).unwrap();
    let tickets = [9, 1, 8].map(|count| stream.submit_here(many(count)).unwrap());
    assert!(
        tickets.iter().all(|ticket| ticket.receiver().is_empty()) || !long.receiver().is_empty()
    );
    for ticket in tickets {
        assert_alternating(&ticket.wait().unwrap());
    }
    assert_eq!(long.wait().unwrap().valid, 5_000);
    pipeline.drain();
    assert!(pipeline.stats().claims_by_submitters <= 5);
    let streams = [stream, pipeline.stream()];
    thread::scope(|scope| {
        for thread in 0..8 {
            let stream = &streams[thread % 2];
            scope.spawn(move || {
                for _ in 0..100 {
                    assert_alternating(&stream.submit_here(many(3)).unwrap().wait().unwrap());
                }
            });
        }
    });
    drop(pipeline);
    assert!(matches!(streams[0].submit_here(many(1)), Err(SubmitError::ShutDown(_))));
}
