//! Tasks side by side, one thread each.
//!
//! Starting a thread is a lot of code in the standard library. It is compiled once here, not for every kind of search.

/// A task of one worker.
pub(crate) type Task<'a> = Box<dyn FnOnce() + Send + 'a>;

/// Runs all tasks side by side, the last one in the calling thread, and returns when all are done.
pub(crate) fn in_parallel(mut tasks: Vec<Task<'_>>) {
    let own = tasks.pop();
    std::thread::scope(|scope| {
        for task in tasks {
            scope.spawn(task);
        }
        if let Some(own) = own {
            own();
        }
    });
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
}
