//! How deep stacks and how many threads are searched.

use weir_ir::Program;

use crate::bounds::Bound;
use crate::session::Session;
use crate::verdict::{Failure, Limit};

/// How far a search goes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    /// Calls on a stack.
    pub(super) frames: u32,
    /// How often a thread may be spawned.
    pub(super) spawned: u32,
    most_frames: u32,
    most_spawned: u32,
    /// The bound that was raised last, and its value before.
    before: Option<Limit>,
}

impl Bounds {
    pub(super) fn first(program: &Program, session: &Session) -> Self {
        let most = |bound| u32::try_from(session.bound(bound)).unwrap_or(u32::MAX);
        let (most_frames, most_spawned) = (most(Bound::StackFrames), most(Bound::SpawnedThreads));
        let (frames, spawned) = (FIRST_FRAMES.min(most_frames), FIRST_SPAWNED.min(most_spawned));
        let frames = if program.calls() { frames } else { 0 };
        Self { frames, spawned, most_frames, most_spawned, before: None }
    }

    /// One more than are searched exactly: the last one tells that there are too many.
    pub(super) fn instances(&self) -> u32 {
        self.spawned.saturating_add(1)
    }

    /// Raises the bounds that runs go beyond.
    ///
    /// # Errors
    /// The bound, if it cannot be raised.
    pub(super) fn grow(&mut self, deep: bool, spawned: bool) -> Result<(), Limit> {
        let more = |now: u32, most: u32| now.saturating_mul(2).max(1).min(most);
        let (frames, threads) = (more(self.frames, self.most_frames), more(self.spawned, self.most_spawned));
        let (deeper, wider) = (deep && frames > self.frames, spawned && threads > self.spawned);
        if !deeper && !wider {
            return Err(self.limit(deep, spawned));
        }
        self.before = Some(if deeper { Limit::Frames(self.frames) } else { Limit::Spawned(self.spawned) });
        self.frames = if deeper { frames } else { self.frames };
        self.spawned = if wider { threads } else { self.spawned };
        Ok(())
    }

    /// The bound that runs go beyond.
    pub(super) fn limit(&self, deep: bool, spawned: bool) -> Limit {
        if deep || !spawned { Limit::Frames(self.frames) } else { Limit::Spawned(self.spawned) }
    }

    /// The limit that a failure stands for, if it is none of the program as it was written.
    ///
    /// # Errors
    /// Any other failure.
    pub(super) fn ended_by(&self, failure: Failure) -> Result<Limit, Failure> {
        match failure {
            Failure::TooLarge(_) if self.before.is_some() => Ok(self.too_large()),
            Failure::Stopped(limit) => Ok(limit),
            failure => Err(failure),
        }
    }

    /// Why a program is unknown that is too large with these bounds.
    pub(super) fn too_large(&self) -> Limit {
        self.before.unwrap_or(Limit::Frames(0))
    }
}

/// The bounds of the first search.
const FIRST_FRAMES: u32 = 2;
const FIRST_SPAWNED: u32 = 1;
