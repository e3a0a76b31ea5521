//! A run as text: one lane per thread, what waits in the buffers and what memory holds after each step.
//!
//! ```text
//!         P0                P1                buffer P0    memory
//!    1    x = 1                               [x=1]        x=0 y=0
//!    2    r = y  reads 0                      [x=1]        x=0 y=0
//! ```
//!
//! Only threads that move have a lane, only buffers that are ever used and cells that are ever accessed
//! are shown. Too many cells for a line: then each step shows only those that changed. Too many threads
//! for a line: then the steps are listed one below the other, each with its thread.

use std::collections::BTreeSet;

use weir_ir::{Address, Program, ThreadId, Value};
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

/// A replayed run as text. `program` must be the one that was replayed.
pub fn lanes(program: &Program, replay: &Replay, options: &LaneOptions) -> String {
    if replay.events().is_empty() {
        return Table { lines: vec![Line::Remark("(no steps)".into())] }.text();
    }
    let picture = Picture::new(program, replay, options);
    let table = |lane_width| picture.table(&Style::Lanes { lane_width });
    let fits = |lane_width| table(lane_width).width() <= options.line_width;
    let (mut fitting, mut largest) = (options.least_lane_width, options.lane_width.max(options.least_lane_width));
    if !fits(fitting) {
        return picture.table(&Style::List).text();
    }
    // The widest lanes that fit, by halving: a wider lane never makes a narrower line.
    while fitting < largest {
        let middle = fitting + (largest - fitting).div_ceil(2);
        if fits(middle) {
            fitting = middle;
        } else {
            largest = middle - 1;
        }
    }
    table(fitting).text()
}

/// How the steps are laid out.
enum Style {
    /// A lane for each thread.
    Lanes { lane_width: usize },
    /// The name of the thread before each step.
    List,
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
    memory: String,
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
    /// What the column of memory is called; none if no cell is accessed.
    memory_header: Option<&'static str>,
    /// Where the movers are in the end.
    places: Vec<String>,
}

impl<'a> Picture<'a> {
    fn new(program: &'a Program, replay: &Replay, options: &'a LaneOptions) -> Self {
        let events = replay.events();
        let movers: BTreeSet<ThreadId> = events.iter().map(|event| event.thread).collect();
        let buffering: BTreeSet<ThreadId> =
            events.iter().filter(|event| is_buffered(event)).map(|e| e.thread).collect();
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
            memory_header: None,
        };
        picture.fill(replay);
        picture
    }

    /// Makes the rows, and the memory column once it is known how wide it would get.
    fn fill(&mut self, replay: &Replay) {
        let accessed: BTreeSet<Address> = replay.events().iter().flat_map(|event| event.effect.addresses()).collect();
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
        self.fill_memory(&accessed, &memories);
    }

    fn is_left_out(&self, step: StepId) -> bool {
        self.left_out.is_some_and(|(count, from)| (from..from + count).contains(&step.index()))
    }

    fn row(&self, step: StepId, thread: ThreadId, text: StepText, state: &State) -> Row {
        let buffer = |thread: ThreadId| self.buffer_text(state.thread(thread));
        let buffers = self.buffering.iter().map(|&thread| buffer(thread)).collect();
        Row { step, thread, text, buffers, own_buffer: buffer(thread), memory: String::new() }
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

    fn fill_memory(&mut self, accessed: &[Address], memories: &[Vec<Value>]) {
        let text = |memory: &Vec<Value>, before: Option<&Vec<Value>>| {
            let cells = accessed.iter().zip(memory).enumerate();
            let shown = cells.filter(|(index, (_, value))| before.is_none_or(|before| before[*index] != **value));
            shown.map(|(_, (&address, &value))| self.store_text(address, value)).collect::<Vec<_>>().join(" ")
        };
        let full: Vec<String> = memories.iter().skip(1).map(|memory| text(memory, None)).collect();
        let fits = full.iter().all(|memory| memory.chars().count() <= self.options.memory_width);
        let shown: Vec<String> = if fits {
            full
        } else {
            let changes = memories.windows(2).map(|pair| text(&pair[1], Some(&pair[0])));
            changes.map(|changes| shorten(&changes, self.options.memory_width)).collect()
        };
        let header = if fits { "memory" } else { "memory (changes)" };
        self.memory_header = (!accessed.is_empty()).then_some(header);
        self.rows.iter_mut().zip(shown).for_each(|(row, memory)| row.memory = memory);
    }

    fn table(&self, style: &Style) -> Table {
        let mut lines = vec![Line::Cells(None, self.header(style))];
        for (index, row) in self.rows.iter().enumerate() {
            if let Some((count, before)) = self.left_out
                && before == index
            {
                lines.push(Line::Remark(format!("… {} …", counted(count as u64, "step"))));
            }
            lines.push(Line::Cells(Some(row.step.number()), self.cells(style, row)));
        }
        lines.extend(self.ending(style));
        Table { lines }
    }

    fn name(&self, thread: ThreadId, style: &Style) -> String {
        let width = match style {
            Style::Lanes { lane_width } => *lane_width,
            Style::List => self.options.lane_width,
        };
        shorten(&self.program.thread(thread).name, width)
    }

    fn header(&self, style: &Style) -> Vec<String> {
        let mut header: Vec<String> = match style {
            Style::Lanes { .. } => {
                let lanes = self.movers.iter().map(|&thread| self.name(thread, style));
                lanes
                    .chain(self.buffering.iter().map(|&thread| format!("buffer {}", self.name(thread, style))))
                    .collect()
            }
            Style::List => {
                let buffer = (!self.buffering.is_empty()).then_some("its buffer");
                ["thread", "step"].into_iter().chain(buffer).map(String::from).collect()
            }
        };
        header.extend(self.memory_header.map(String::from));
        header
    }

    fn cells(&self, style: &Style, row: &Row) -> Vec<String> {
        let mut cells = match *style {
            Style::Lanes { lane_width } => {
                let text = shorten_step(&row.text, lane_width);
                let lane = |&thread: &ThreadId| if thread == row.thread { text.clone() } else { String::new() };
                self.movers.iter().map(lane).chain(row.buffers.iter().cloned()).collect()
            }
            Style::List => {
                let step = shorten_step(&row.text, self.options.lane_width);
                let buffer = (!self.buffering.is_empty()).then(|| row.own_buffer.clone());
                [self.name(row.thread, style), step].into_iter().chain(buffer).collect::<Vec<_>>()
            }
        };
        cells.extend(self.memory_header.map(|_| row.memory.clone()));
        cells
    }

    /// Where the threads are in the end.
    fn ending(&self, style: &Style) -> Vec<Line> {
        match style {
            Style::Lanes { lane_width } => {
                vec![Line::Cells(None, self.places.iter().map(|place| shorten(place, *lane_width)).collect())]
            }
            Style::List => {
                let places = self.movers.iter().zip(&self.places);
                let cells = places
                    .map(|(&thread, place)| vec![self.name(thread, style), shorten(place, self.options.lane_width)]);
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
