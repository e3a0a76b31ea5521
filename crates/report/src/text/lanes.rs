//! A run as text: one lane per thread, what waits in the buffers and what memory holds after each step.
//!
//! ```text
//!         P0                P1                buffer P0    memory
//!    1    x = 1                               [x=1]        x=0 y=0
//!    2    r = y  reads 0                      [x=1]        x=0 y=0
//! ```
//!
//! Only threads that move have a lane, only buffers that are ever used and cells that are ever accessed
//! are shown. Too many cells for a line: then cells that never change are told once below, or each step shows only what
//! it changed. Too many buffers: then only that of the thread that takes the step. Too many threads: then the steps
//! are listed one below the other, each with its thread, and in the last resort a step takes several lines.

use std::collections::BTreeSet;

use weir_ir::{Address, Gather, Program, ThreadId, Value};
use weir_witness::{Buffered, Effect, Event, Replay, State, StepId, ThreadState};

use super::columns::{Line, Table};
use crate::wording::clean::shorten;
use crate::wording::units::counted;
use weir::run_text::{StepDescriber, StepText};

/// How much room a run may take.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LaneOptions {
    /// Of a longer run, the beginning and the end are shown. At least 2.
    pub max_steps: usize,
    /// The widest lane, in characters.
    pub lane_width: usize,
    /// The narrowest lane worth having: if not even that fits, the steps are listed instead.
    pub least_lane_width: usize,
    /// The widest column for one buffer.
    pub buffer_width: usize,
    /// The widest column for memory; if there is more to show, then only what changes.
    pub memory_width: usize,
    /// The widest line that lanes may make.
    pub line_width: usize,
}

impl Default for LaneOptions {
    fn default() -> Self {
        Self {
            max_steps: 60,
            lane_width: 36,
            least_lane_width: 16,
            buffer_width: 24,
            memory_width: 40,
            line_width: 140,
        }
    }
}

/// A replayed run as text, in lines of at most the given width as far as possible. `program` must be the one that was
/// replayed.
pub fn lanes(program: &Program, replay: &Replay, options: &LaneOptions) -> String {
    if replay.events().is_empty() {
        return Table { lines: vec![Line::Remark("(no steps)".into())] }.text();
    }
    let picture = Picture::new(program, replay, options);
    if let Some(table) = picture.layouts().find_map(|layout| picture.fitted(&layout)) {
        return table.text();
    }
    let [narrow, narrowest] = picture.narrow_layouts().map(|layout| picture.table(&layout));
    if narrow.keeps_words_within(options.line_width) { narrow } else { narrowest }.text_within(options.line_width)
}

/// How a run is laid out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Layout {
    steps: Steps,
    buffers: Buffers,
    /// Which of the columns for memory, if any.
    memory: Option<usize>,
}

/// How the steps are laid out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Steps {
    /// A lane for each thread.
    Lanes { lane_width: usize },
    /// The name of the thread before each step.
    List { step_width: usize },
}

/// Which buffers are shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Buffers {
    /// A column for each that is ever used.
    All,
    /// The one of the thread that takes the step.
    Own,
    /// None: what enters and leaves them can be seen from the steps.
    None,
}

/// A column for memory after each step.
struct Memory {
    /// What it is called; none if there is nothing to show.
    header: Option<&'static str>,
    rows: Vec<String>,
    /// What is shown once, below the steps.
    remark: Option<String>,
}

/// A step to be shown, and the state after it.
struct Row {
    step: StepId,
    thread: ThreadId,
    text: StepText,
    /// What each of the buffers shown holds.
    buffers: Vec<String>,
    /// What the thread's own buffer holds.
    own_buffer: String,
}

/// All there is to show of a run.
struct Picture<'a> {
    program: &'a Program,
    options: &'a LaneOptions,
    rows: Vec<Row>,
    /// How many steps are left out, and before which row.
    left_out: Option<(usize, usize)>,
    /// The threads that move.
    movers: Vec<ThreadId>,
    /// The threads that ever buffer a store.
    buffering: Vec<ThreadId>,
    /// The columns for memory that can be shown, the one that tells most first; at least one.
    memories: Vec<Memory>,
    /// Where the movers are in the end.
    places: Vec<String>,
}

impl<'a> Picture<'a> {
    fn new(program: &'a Program, replay: &Replay, options: &'a LaneOptions) -> Self {
        let events = replay.events();
        let movers: BTreeSet<ThreadId> = events.iter().map(|event| event.thread).gather();
        let buffering: BTreeSet<ThreadId> = events.iter().filter(|event| is_buffered(event)).map(|e| e.thread).gather();
        let place =
            |&thread: &ThreadId| format!("({})", program.whereabouts(thread, replay.last().thread(thread).location));
        let mut picture = Self {
            program,
            options,
            rows: Vec::new(),
            left_out: left_out(events.len(), options.max_steps),
            places: movers.iter().map(place).collect(),
            movers: movers.into_iter().collect(),
            buffering: buffering.into_iter().collect(),
            memories: Vec::new(),
        };
        picture.fill(replay);
        picture
    }

    /// Makes the rows, and the memory column once it is known how wide it would get.
    fn fill(&mut self, replay: &Replay) {
        let accessed: BTreeSet<Address> = replay.events().iter().flat_map(|event| event.effect.addresses()).gather();
        let accessed: Vec<Address> = accessed.into_iter().collect();
        let mut describer = StepDescriber::new(self.program);
        let mut memories = vec![accessed.iter().map(|&address| self.program.initial_value(address)).collect()];
        replay.for_each_state(self.program, |step, event, state| {
            if self.is_left_out(step) {
                return describer.skip(event);
            }
            let row = self.row(step, event.thread, describer.describe(event), state);
            self.rows.push(row);
            memories.push(accessed.iter().map(|&address| state.cell(self.program, address)).collect::<Vec<Value>>());
        });
        self.memories = self.memories(&accessed, &memories);
    }

    fn is_left_out(&self, step: StepId) -> bool {
        self.left_out.is_some_and(|(count, from)| (from..from + count).contains(&step.index()))
    }

    fn row(&self, step: StepId, thread: ThreadId, text: StepText, state: &State) -> Row {
        let buffer = |thread: ThreadId| self.buffer_text(state.thread(thread));
        let buffers = self.buffering.iter().map(|&thread| buffer(thread)).collect();
        Row { step, thread, text, buffers, own_buffer: buffer(thread) }
    }

    fn store_text(&self, address: Address, value: Value) -> String {
        format!("{}={value}", self.program.cell_name(address))
    }

    /// The stores that wait, the oldest first; of too many only the oldest, the newest, and how many there are.
    fn buffer_text(&self, own: &ThreadState) -> String {
        let store = |store: &Buffered| self.store_text(store.address, store.value);
        let (Some(oldest), Some(newest)) = (own.buffer.front(), own.buffer.back()) else {
            return "[]".into();
        };
        let width = self.options.buffer_width;
        // Each store takes at least four characters with the space after it: no need to write out more than fit.
        if own.buffer.len() <= width / 4 + 1 {
            let all = own.buffer.iter().map(store).collect::<Vec<_>>().join(" ");
            if all.chars().count() + 2 <= width || own.buffer.len() == 1 {
                return shorten(&format!("[{all}]"), width);
            }
        }
        shorten(&format!("{}: [{} … {}]", own.buffer.len(), store(oldest), store(newest)), width)
    }

    /// The columns for memory: all cells, those that ever change, and what each step changes.
    fn memories(&self, accessed: &[Address], states: &[Vec<Value>]) -> Vec<Memory> {
        let width = self.options.memory_width;
        let text = |state: &[Value], is_shown: &dyn Fn(usize) -> bool| {
            let shown = (0..accessed.len()).filter(|&index| is_shown(index));
            shown.map(|index| self.store_text(accessed[index], state[index])).collect::<Vec<_>>().join(" ")
        };
        let after = &states[1..];
        let column = |header, is_shown: &dyn Fn(usize) -> bool, remark| Memory {
            header,
            rows: after.iter().map(|state| text(state, is_shown)).collect(),
            remark,
        };
        let changes = |index: usize| states.iter().any(|state| state[index] != states[0][index]);
        let full = column((!accessed.is_empty()).then_some("memory"), &|_| true, None);
        let constant = text(&states[0], &|index| !changes(index));
        let remark = (!constant.is_empty()).then(|| format!("unchanged in memory: {}", shorten(&constant, 4 * width)));
        let header = (0..accessed.len()).any(changes).then_some("memory");
        let folded = remark.is_some().then(|| column(header, &changes, remark));
        let steps = states.windows(2).map(|pair| text(&pair[1], &|index| pair[0][index] != pair[1][index]));
        let differences = Memory {
            header: (!accessed.is_empty()).then_some("memory (changes)"),
            rows: steps.map(|changes| shorten(&changes, width)).collect(),
            remark: None,
        };
        let fits = |memory: &Memory| memory.rows.iter().all(|row| row.chars().count() <= width);
        [Some(full), folded].into_iter().flatten().filter(fits).chain([differences]).collect()
    }

    /// The layouts to try, the one that tells most first.
    fn layouts(&self) -> impl Iterator<Item = Layout> {
        let lanes = Steps::Lanes { lane_width: self.options.lane_width };
        let list = Steps::List { step_width: self.options.lane_width };
        let kinds = [(lanes, Buffers::All), (lanes, Buffers::Own), (list, Buffers::Own)];
        let memories = self.memories.len();
        kinds.into_iter().flat_map(move |(steps, buffers)| {
            (0..memories).map(move |memory| Layout { steps, buffers, memory: Some(memory) })
        })
    }

    /// The layouts for lines that are broken: with what waits and changes, and without.
    fn narrow_layouts(&self) -> [Layout; 2] {
        let steps = Steps::List { step_width: usize::MAX };
        let narrow = Layout { steps, buffers: Buffers::Own, memory: Some(self.memories.len() - 1) };
        [narrow, Layout { buffers: Buffers::None, memory: None, ..narrow }]
    }

    /// The table in a layout, with the widest lanes that fit into the line, if any do.
    fn fitted(&self, layout: &Layout) -> Option<Table> {
        let within = |table: Table| (table.width() <= self.options.line_width).then_some(table);
        let Steps::Lanes { lane_width } = layout.steps else { return within(self.table(layout)) };
        let table = |lane_width| within(self.table(&Layout { steps: Steps::Lanes { lane_width }, ..*layout }));
        let (mut fitting, mut largest) = (self.options.least_lane_width, lane_width.max(self.options.least_lane_width));
        let mut best = table(fitting)?;
        // By halving: a wider lane never makes a narrower line.
        while fitting < largest {
            let middle = fitting + (largest - fitting).div_ceil(2);
            match table(middle) {
                Some(wider) => (fitting, best) = (middle, wider),
                None => largest = middle - 1,
            }
        }
        Some(best)
    }

    fn table(&self, layout: &Layout) -> Table {
        let memory = layout.memory.map(|memory| &self.memories[memory]);
        let changes = memory.filter(|memory| memory.header.is_some());
        let mut lines = vec![Line::Cells(None, self.header(layout))];
        for (index, row) in self.rows.iter().enumerate() {
            if let Some((count, before)) = self.left_out
                && before == index
            {
                lines.push(Line::Remark(format!("… {} …", counted(count as u64, "step"))));
            }
            let mut cells = self.cells(layout, row);
            cells.extend(changes.map(|memory| memory.rows[index].clone()));
            lines.push(Line::Cells(Some(row.step.number()), cells));
        }
        lines.extend(self.ending(layout.steps));
        lines.extend(memory.and_then(|memory| memory.remark.clone()).map(Line::Remark));
        Table { lines }
    }

    fn name(&self, thread: ThreadId, steps: Steps) -> String {
        let (Steps::Lanes { lane_width: width } | Steps::List { step_width: width }) = steps;
        shorten(&self.program.thread(thread).name, width)
    }

    fn header(&self, layout: &Layout) -> Vec<String> {
        let name = |&thread: &ThreadId| self.name(thread, layout.steps);
        let mut header: Vec<String> = match layout.steps {
            Steps::Lanes { .. } => self.movers.iter().map(name).collect(),
            Steps::List { .. } => ["thread", "step"].map(String::from).to_vec(),
        };
        match layout.buffers {
            Buffers::All => header.extend(self.buffering.iter().map(|thread| format!("buffer {}", name(thread)))),
            Buffers::Own => header.extend((!self.buffering.is_empty()).then(|| "its buffer".to_owned())),
            Buffers::None => {}
        }
        header.extend(layout.memory.and_then(|memory| self.memories[memory].header).map(String::from));
        header
    }

    fn cells(&self, layout: &Layout, row: &Row) -> Vec<String> {
        let mut cells = match layout.steps {
            Steps::Lanes { lane_width } => {
                let text = shorten_step(&row.text, lane_width);
                let lane = |&thread: &ThreadId| if thread == row.thread { text.clone() } else { String::new() };
                self.movers.iter().map(lane).collect()
            }
            Steps::List { step_width } => {
                vec![self.name(row.thread, layout.steps), shorten_step(&row.text, step_width)]
            }
        };
        match layout.buffers {
            Buffers::All => cells.extend(row.buffers.iter().cloned()),
            Buffers::Own => cells.extend((!self.buffering.is_empty()).then(|| row.own_buffer.clone())),
            Buffers::None => {}
        }
        cells
    }

    /// Where the threads are in the end.
    fn ending(&self, steps: Steps) -> Vec<Line> {
        match steps {
            Steps::Lanes { lane_width } => {
                vec![Line::Cells(None, self.places.iter().map(|place| shorten(place, lane_width)).collect())]
            }
            Steps::List { step_width } => {
                let places = self.movers.iter().zip(&self.places);
                let cells = places.map(|(&thread, place)| vec![self.name(thread, steps), shorten(place, step_width)]);
                cells.map(|cells| Line::Cells(None, cells)).collect()
            }
        }
    }
}

fn is_buffered(event: &Event) -> bool {
    matches!(event.effect, Effect::Store { buffered: true, .. })
}

/// How many steps of a run are left out, and from which on.
fn left_out(steps: usize, max_steps: usize) -> Option<(usize, usize)> {
    let shown = max_steps.max(2);
    // To leave out a single step saves nothing: the remark takes a line too.
    (steps.saturating_sub(1) > shown).then(|| (steps - shown, shown.div_ceil(2)))
}

/// The step in at most `width` characters; what came of it is kept as long as possible.
fn shorten_step(step: &StepText, width: usize) -> String {
    let text = step.to_string();
    let outcome = step.outcome.chars().count() + 2;
    // With less than three characters left for what the step does, it is better cut as a whole.
    if text.chars().count() <= width || step.outcome.is_empty() || outcome + 3 > width {
        return shorten(&text, width);
    }
    format!("{}  {}", shorten(&step.what, width - outcome), step.outcome)
}

#[cfg(test)]
mod tests;
