//! Tasks side by side, one thread each, as far as threads can be started.
//!
//! Starting a thread is a lot of code in the standard library. It is compiled once here, not for every kind of search.

use std::thread::Builder;

use parking_lot::Mutex;

/// A task of one worker.
pub(crate) type Task<'a> = Box<dyn FnOnce() + Send + 'a>;

/// Runs all tasks side by side, the last one in the calling thread, and returns when all are done. Tasks for which no
/// thread can be started are run in the calling thread too, one after the other: a task must not wait for one that has
/// not begun.
pub(crate) fn in_parallel(mut tasks: Vec<Task<'_>>) {
    let own = tasks.pop();
    let slots: Vec<Mutex<Option<Task<'_>>>> = tasks.into_iter().map(|task| Mutex::new(Some(task))).collect();
    std::thread::scope(|scope| {
        let start = |slot| Builder::new().spawn_scoped(scope, move || run(slot));
        let left: Vec<_> = slots.iter().filter(|slot| start(slot).is_err()).collect();
        if let Some(own) = own {
            own();
        }
        left.into_iter().for_each(run);
    });
}

fn run(slot: &Mutex<Option<Task<'_>>>) {
    let task = slot.lock().take();
    if let Some(task) = task {
        task();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;

    use super::*;

    /// Each waits for all others, so none would end if they ran one after the other.
    #[test]
    fn tasks_run_side_by_side() {
        let mut done = [false; 4];
        let barrier = Barrier::new(done.len());
        let mut tasks: Vec<Task<'_>> = Vec::new();
        for done in &mut done {
            tasks.push(Box::new(|| {
                barrier.wait();
                *done = true;
            }));
        }
        in_parallel(tasks);
        assert_eq!(done, [true; 4]);
        in_parallel(Vec::new());
    }

    #[test]
    fn a_task_that_panics_does_not_keep_the_others_from_ending() {
        let ended = std::panic::catch_unwind(|| {
            in_parallel(vec![Box::new(|| panic!("on purpose")), Box::new(|| {})]);
        });
        assert!(ended.is_err(), "the caller must know");
    }
}
