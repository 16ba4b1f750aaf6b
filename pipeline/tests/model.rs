//! The queue and the order of streams under a model checker, shuttle: the files are those of the
//! library, its locks are the checker's. Each test runs its threads in thousands of orders; a deadlock in
//! any of them fails it.

#![allow(dead_code, reason = "the library uses more of its files than these tests")]

use std::{
    num::NonZeroUsize,
    sync::atomic::{AtomicUsize, Ordering},
};

use shuttle::{
    sync::{Arc, Barrier, mpsc},
    thread,
};

#[path = "../src/order.rs"]
mod order;
#[path = "../src/queue.rs"]
mod queue;

/// In the place of the library's file of this name.
mod sync {
    pub(crate) use shuttle::sync::{Condvar, Mutex, MutexGuard};

    pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
        mutex.lock().expect("no panic")
    }
}

use order::{Deliver, Order, Patience};
use queue::Queue;

const SCHEDULES: usize = 5_000;

/// Random schedules, and schedules with few changes of thread at the worst places (PCT).
fn check(threads: impl Fn() + Send + Sync + Clone + 'static) {
    shuttle::check_random(threads.clone(), SCHEDULES);
    shuttle::check_pct(threads, SCHEDULES, 3);
}

/// A submission's way to its ticket.
struct Delivery {
    reply: mpsc::Sender<(usize, u64)>,
    id: (usize, u64),
}

impl Deliver for Delivery {
    fn deliver(self) {
        // As with a ticket that was dropped.
        let _ = self.reply.send(self.id);
    }
}

struct Submission {
    stream: usize,
    number: u64,
    order: Arc<Order<Delivery>>,
    reply: mpsc::Sender<(usize, u64)>,
    /// How often each item was verified.
    items: Vec<AtomicUsize>,
}

/// A pipeline that verifies nothing.
struct Pipeline {
    queue: Queue<Submission>,
}

impl Pipeline {
    fn new(workers: usize) -> (Arc<Self>, Vec<thread::JoinHandle<()>>) {
        let pipeline = Arc::new(Self { queue: Queue::new(workers) });
        let worker = |_| {
            let pipeline = Arc::clone(&pipeline);
            thread::spawn(move || {
                let mut parts = Vec::new();
                while pipeline.queue.claim(&mut parts) {
                    assert!(!parts.is_empty());
                    work(&mut parts);
                }
            })
        };
        let workers = (0..workers).map(worker).collect();
        (pipeline, workers)
    }

    /// As `Stream::submit` does it, or `submit_here`; `None` if the pipeline was shut down.
    fn submit(
        &self,
        stream: usize,
        order: &Arc<Order<Delivery>>,
        items: usize,
        here: bool,
        reply: mpsc::Sender<(usize, u64)>,
    ) -> Option<u64> {
        let turn = order.turn(Patience::Forever).expect("patience");
        let entrance = self.queue.enter()?;
        let number = turn.number();
        let order = Arc::clone(order);
        let items: Vec<_> = (0..items).map(|_| AtomicUsize::new(0)).collect();
        let count = NonZeroUsize::new(items.len());
        let submission = Submission { stream, number, order, reply, items };
        match count {
            Some(count) if here && entrance.is_better_done_here(count) => {
                drop(entrance);
                turn.take();
                work(&mut vec![queue::Part::whole(submission, count)]);
            }
            Some(count) => {
                entrance.push(stream as u64, submission, count);
                turn.take();
            }
            None => {
                drop(entrance);
                turn.take();
                finish(submission);
            }
        }
        Some(number)
    }
}

fn work(parts: &mut Vec<queue::Part<Submission>>) {
    for part in &*parts {
        for item in part.range.clone() {
            part.work.items[item].fetch_add(1, Ordering::Relaxed);
        }
        thread::yield_now();
    }
    parts.drain(..).filter_map(queue::Part::leave).for_each(finish);
}

fn finish(submission: Submission) {
    let Submission { stream, number, order, reply, items } = submission;
    let mut times = items.into_iter().map(AtomicUsize::into_inner);
    assert!(times.all(|times| times == 1), "every item is verified once");
    order.finish(std::iter::once((number, Delivery { reply, id: (stream, number) })));
}

#[test]
fn nothing_is_lost_doubled_or_out_of_order() {
    check(|| {
        let (pipeline, workers) = Pipeline::new(2);
        let submitters: Vec<_> = (0..2)
            .map(|stream| {
                let pipeline = Arc::clone(&pipeline);
                thread::spawn(move || {
                    let order = Arc::new(Order::new(2));
                    let (reply, results) = mpsc::channel();
                    // More than one group, one that needs nothing, small ones.
                    for items in [20, 0, 1, 9] {
                        pipeline
                            .submit(stream, &order, items, stream == 1, reply.clone())
                            .expect("open");
                    }
                    drop(reply);
                    order.drain();
                    let results: Vec<_> = results.iter().collect();
                    assert!(results.into_iter().eq((0..4).map(|number| (stream, number))));
                })
            })
            .collect();
        for submitter in submitters {
            submitter.join().unwrap();
        }
        pipeline.queue.close();
        for worker in workers {
            worker.join().unwrap();
        }
    });
}

#[test]
fn one_stream_takes_submissions_of_many_threads() {
    check(|| {
        let (pipeline, workers) = Pipeline::new(2);
        let order = Arc::new(Order::new(1));
        let submitters: Vec<_> = (0..3)
            .map(|_| {
                let (pipeline, order) = (Arc::clone(&pipeline), Arc::clone(&order));
                thread::spawn(move || {
                    let (reply, result) = mpsc::channel();
                    let number = pipeline.submit(0, &order, 1, false, reply).expect("open");
                    assert_eq!(result.recv(), Ok((0, number)));
                    assert!(result.recv().is_err(), "delivered once");
                    number
                })
            })
            .collect();
        let mut numbers: Vec<_> =
            submitters.into_iter().map(|submitter| submitter.join().unwrap()).collect();
        numbers.sort_unstable();
        assert_eq!(numbers, [0, 1, 2]);
        pipeline.queue.close();
        for worker in workers {
            worker.join().unwrap();
        }
    });
}

#[test]
fn a_shutdown_finishes_what_was_accepted() {
    check(|| {
        let (pipeline, workers) = Pipeline::new(2);
        let order = Arc::new(Order::new(1));
        let submitters: Vec<_> = (0..2)
            .map(|submitter| {
                let (pipeline, order) = (Arc::clone(&pipeline), Arc::clone(&order));
                thread::spawn(move || {
                    let (reply, results) = mpsc::channel();
                    let accepted: Vec<_> = [9, 0, 1]
                        .into_iter()
                        .map_while(|items| {
                            pipeline.submit(0, &order, items, submitter == 1, reply.clone())
                        })
                        .collect();
                    drop(reply);
                    // Disconnected only when the last one is delivered.
                    let results: Vec<_> = results.iter().map(|(_, number)| number).collect();
                    assert_eq!(results, accepted);
                })
            })
            .collect();
        pipeline.queue.close();
        for thread in submitters.into_iter().chain(workers) {
            thread.join().unwrap();
        }
        // Does not wait for anything.
        order.drain();
    });
}

#[test]
fn dropped_tickets_hold_nobody_up() {
    check(|| {
        let (pipeline, workers) = Pipeline::new(1);
        let order = Arc::new(Order::new(2));
        for _ in 0..4 {
            let (reply, result) = mpsc::channel();
            pipeline.submit(0, &order, 2, false, reply).expect("open");
            drop(result);
        }
        order.drain();
        pipeline.queue.close();
        for worker in workers {
            worker.join().unwrap();
        }
    });
}

#[test]
fn one_submission_wakes_as_many_workers_as_it_keeps_busy() {
    check(|| {
        let queue = Arc::new(Queue::new(3));
        // Nobody works before all three have something.
        let all = Arc::new(Barrier::new(3));
        let worker = |_| {
            let (queue, all) = (Arc::clone(&queue), Arc::clone(&all));
            thread::spawn(move || {
                let mut parts = Vec::new();
                assert!(queue.claim(&mut parts));
                all.wait();
            })
        };
        let workers: Vec<_> = (0..3).map(worker).collect();
        queue.enter().expect("open").push(0, (), NonZeroUsize::new(20).expect("some"));
        for worker in workers {
            worker.join().unwrap();
        }
    });
}
