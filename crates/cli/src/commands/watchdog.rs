//! Limits from outside: whatever a file's work is doing, it ends soon after its limits.
//!
//! Every stage of the library looks at its session and ends by itself, with what it found so far. Stages that do not
//! get round to it in time (reading a huge file, waiting for a pipe, a step that takes long) are abandoned: the file is
//! answered `unknown`, and nobody waits for its thread any more.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use weir::{Limit, Limits, Session};

use crate::error::Error;
use crate::{interrupt, memory};

/// How often clock and memory are checked.
pub(super) const PERIOD: Duration = Duration::from_millis(20);

/// How often if little memory is left: a stage may fill tens of megabytes in the usual period.
const SHORT_PERIOD: Duration = Duration::from_millis(2);

/// How long a stage may take to end by itself: a tenth of the time it had, within these bounds.
const LEAST_GRACE: Duration = Duration::from_millis(200);
const MOST_GRACE: Duration = Duration::from_secs(2);

/// How long a stage may take to end by itself after Ctrl-C.
const INTERRUPT_GRACE: Duration = Duration::from_millis(500);

/// The next message of a worker, or why to stop waiting for it.
pub(super) enum Next<T> {
    Message(T),
    Overdue(Error),
    /// It is gone without an answer.
    Gone,
}

/// Watches one worker.
pub(super) struct Watchdog<'s> {
    session: &'s Session,
}

impl<'s> Watchdog<'s> {
    pub(super) fn new(session: &'s Session) -> Self {
        Self { session }
    }

    /// Waits for the next message, as long as the limits allow.
    pub(super) fn next<T>(&self, messages: &Receiver<T>) -> Next<T> {
        loop {
            match messages.recv_timeout(period(&self.session.limits(), memory::resident())) {
                Ok(message) => return Next::Message(message),
                Err(RecvTimeoutError::Disconnected) => return Next::Gone,
                Err(RecvTimeoutError::Timeout) => {
                    if let Some(reason) = overdue(self.session) {
                        // A message may have come in the meantime.
                        return messages.try_recv().map_or(Next::Overdue(reason), Next::Message);
                    }
                }
            }
        }
    }
}

/// How long to wait before the next look: less once three quarters of the memory are in use.
fn period(limits: &Limits, resident: Option<u64>) -> Duration {
    let is_near = |most: u64| resident.is_some_and(|resident| resident > most / 4 * 3);
    if limits.memory.is_some_and(is_near) { SHORT_PERIOD } else { PERIOD }
}

/// Why to stop waiting for a session, if so: a limit was exceeded, or memory ran out, so that a thread that may be
/// working for it sleeps. Ctrl-C stops the session, which then has a moment to end by itself.
pub(super) fn overdue(session: &Session) -> Option<Error> {
    if weir_alloc::is_exhausted() {
        return Some(Error::out_of_memory());
    }
    if let Some(since) = interrupt::since() {
        session.stop();
        if since > INTERRUPT_GRACE {
            return Some(Error::Stopped(Limit::Interrupted));
        }
    }
    exceeded(&session.limits(), session.elapsed(), memory::resident()).map(Error::Stopped)
}

/// Which limit is exceeded by more than the grace.
fn exceeded(limits: &Limits, elapsed: Duration, resident: Option<u64>) -> Option<Limit> {
    let grace = |time: Duration| (time / 10).clamp(LEAST_GRACE, MOST_GRACE);
    if limits.time.is_some_and(|time| elapsed > time + grace(time)) {
        return Some(Limit::Time);
    }
    let too_much = |most: u64| resident.is_some_and(|resident| resident > most.saturating_add(most / 16));
    limits.memory.is_some_and(too_much).then_some(Limit::Memory)
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn limits_have_a_grace_in_proportion() {
        let limits = |time, memory| Limits { time: Some(time), memory: Some(memory), states: None };
        let (ms, mb) = (Duration::from_millis, 1_000_000);
        let at = |time, elapsed| exceeded(&limits(ms(time), mb), ms(elapsed), Some(mb));
        assert_eq!((at(5000, 5500), at(5000, 5501)), (None, Some(Limit::Time)));
        assert_eq!((at(1, 201), at(1, 202)), (None, Some(Limit::Time)));
        assert_eq!((at(100_000, 102_000), at(100_000, 102_001)), (None, Some(Limit::Time)));
        let with = |resident| exceeded(&limits(ms(1000), mb), ms(0), resident);
        assert_eq!((with(Some(1_062_500)), with(Some(1_062_501)), with(None)), (None, Some(Limit::Memory), None));
        assert_eq!(exceeded(&Limits { time: None, memory: None, states: None }, ms(1 << 40), Some(u64::MAX)), None);
    }

    #[test]
    fn it_looks_more_often_where_memory_is_short() {
        let limits = |memory| Limits { time: None, memory, states: None };
        assert_eq!(period(&limits(Some(400)), Some(300)), PERIOD);
        assert_eq!(period(&limits(Some(400)), Some(301)), SHORT_PERIOD);
        assert_eq!(period(&limits(Some(400)), None), PERIOD);
        assert_eq!(period(&limits(None), Some(u64::MAX)), PERIOD);
    }

    #[test]
    fn messages_come_before_limits_and_silence_ends() {
        let session = Session::new(Limits { time: Some(Duration::ZERO), ..Limits::default() });
        let (sender, receiver) = mpsc::channel();
        sender.send(7).expect("somebody listens");
        let watchdog = Watchdog::new(&session);
        assert!(matches!(watchdog.next(&receiver), Next::Message(7)));
        assert!(matches!(watchdog.next(&receiver), Next::Overdue(Error::Stopped(Limit::Time))));
        drop(sender);
        assert!(matches!(watchdog.next(&receiver), Next::Gone));
    }
}
