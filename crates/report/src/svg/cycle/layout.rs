//! Where the boxes and arrows of a cycle go.
//!
//! Columns stand in the order in which the cycle comes to the threads, so that most arrows lead to a neighbour and can
//! be straight. All others run around the boxes: down between two columns, below all of them, and up again.

use weir_ir::ThreadId;
use weir_ir::sort::sort_by_key;
use weir_witness::{Cycle, HappensBefore, NodeId, Relation};

/// Around everything.
pub(super) const MARGIN: i64 = 20;
/// Of a box, with its two lines of text.
pub(super) const BOX_HEIGHT: i64 = 48;
/// Between two boxes of a column.
const ROW_GAP: i64 = 48;
/// Between two columns.
const COLUMN_GAP: i64 = 200;
/// Room for the names of threads.
const HEADER: i64 = 30;
/// Between two arrows that run beside each other.
const TRACK: i64 = 14;

/// Sizes of fonts.
pub(super) const LARGE: i64 = 14;
pub(super) const SMALL: i64 = 12;
/// Beside the text in a box.
pub(super) const PADDING: i64 = 10;

/// What stands in a box.
pub(super) struct Card {
    pub(super) title: String,
    pub(super) remark: String,
    pub(super) is_marked: bool,
}

/// The boxes of a thread.
pub(super) struct Column {
    pub(super) thread: ThreadId,
    left: i64,
    width: i64,
    nodes: Vec<(NodeId, Card)>,
}

impl Column {
    /// The middle, from left to right.
    pub(super) fn middle(&self) -> i64 {
        self.left + self.width / 2
    }
}

/// How one event happens before the next.
pub(super) struct Arrow {
    pub(super) relation: Relation,
    /// From one box to the other.
    pub(super) points: Vec<(i64, i64)>,
    /// The middle of its name.
    pub(super) label: (i64, i64),
    /// Whether the order was lost: a store that waited while a later load went ahead.
    pub(super) is_broken: bool,
}

/// A picture without its ink.
pub(super) struct Layout {
    pub(super) columns: Vec<Column>,
    pub(super) arrows: Vec<Arrow>,
    pub(super) width: i64,
    /// Without the legend.
    pub(super) height: i64,
}

/// About how wide a text is in a font of this size.
pub(super) fn text_width(text: &str, size: i64) -> i64 {
    let halves: i64 = text.chars().map(|character| if character.is_ascii() { 1 } else { 2 }).sum();
    halves * size * 64 / 100
}

impl Layout {
    /// Places the nodes of a cycle.
    pub(super) fn new(graph: &HappensBefore, cycle: &Cycle, card: impl Fn(NodeId) -> Card) -> Self {
        let mut columns: Vec<Column> = Vec::new();
        for &(id, _) in cycle.links() {
            let thread = graph.node(id).thread;
            let at = columns.iter().position(|column| column.thread == thread).unwrap_or_else(|| {
                columns.push(Column { thread, left: 0, width: 0, nodes: Vec::new() });
                columns.len() - 1
            });
            columns[at].nodes.push((id, card(id)));
        }
        // Arrows around the boxes may need room on the left.
        let mut left = MARGIN + TRACK * 2;
        for column in &mut columns {
            sort_by_key(&mut column.nodes, |(id, _)| *id);
            let widths = (column.nodes.iter())
                .flat_map(|(_, card)| [text_width(&card.title, LARGE), text_width(&card.remark, SMALL)]);
            column.width = widths.max().unwrap_or(0) + 2 * PADDING;
            column.left = left;
            left += column.width + COLUMN_GAP;
        }
        let rows = columns.iter().map(|column| column.nodes.len()).max().unwrap_or(0) as i64;
        let bottom = MARGIN + HEADER + rows * (BOX_HEIGHT + ROW_GAP);
        let right = left - COLUMN_GAP + 2 * TRACK + MARGIN;
        let mut layout = Self { columns, arrows: Vec::new(), width: right, height: bottom };
        for (from, relation, to) in cycle.edges() {
            let broken = cycle.delays(graph).any(|(store, load)| (store, load) == (from, to));
            let is_broken = broken && relation == Relation::ProgramOrder && graph.is_overtaken(from, to);
            layout.connect(from, relation, to, is_broken);
        }
        let label_end = |arrow: &Arrow| arrow.label.0 + text_width(arrow.relation.name(), SMALL) / 2 + MARGIN;
        layout.width = layout.arrows.iter().map(label_end).max().unwrap_or(0).max(layout.width);
        layout
    }

    /// Each box: left, top, width, and what stands in it.
    pub(super) fn cards(&self) -> impl Iterator<Item = (i64, i64, i64, &Card)> {
        self.columns.iter().flat_map(|column| {
            let nodes = column.nodes.iter().enumerate();
            nodes.map(|(row, (_, card))| (column.left, top(row), column.width, card))
        })
    }

    /// The column and the row of a node.
    fn place(&self, node: NodeId) -> (usize, usize) {
        let row = |column: &Column| column.nodes.iter().position(|(id, _)| *id == node);
        self.columns.iter().enumerate().find_map(|(at, column)| Some((at, row(column)?))).unwrap_or((0, 0))
    }

    fn connect(&mut self, from: NodeId, relation: Relation, to: NodeId, is_broken: bool) {
        let (start, end) = (self.place(from), self.place(to));
        let (points, label) = match (start.0.abs_diff(end.0), end.1) {
            (0, row) if row == start.1 + 1 => self.down(start),
            (0, _) => self.beside(start, end),
            (1, _) => self.across(start, end),
            _ => self.around(start, end),
        };
        self.arrows.push(Arrow { relation, points, label, is_broken });
    }

    /// To the next box of the column.
    fn down(&self, (column, row): (usize, usize)) -> (Vec<(i64, i64)>, (i64, i64)) {
        let (x, y) = (self.columns[column].middle(), top(row) + BOX_HEIGHT);
        (vec![(x, y), (x, y + ROW_GAP)], (x, y + ROW_GAP / 2))
    }

    /// To another box of the column, on its right.
    fn beside(&self, start: (usize, usize), end: (usize, usize)) -> (Vec<(i64, i64)>, (i64, i64)) {
        let right = self.columns[start.0].left + self.columns[start.0].width;
        let (x, from, to) = (right + 2 * TRACK, middle(start.1), middle(end.1));
        (vec![(right, from), (x, from), (x, to), (right, to)], (x, (from + to) / 2))
    }

    /// To the neighbouring column. Names stand nearer to where the arrow starts: two that cross do so in the middle.
    fn across(&self, start: (usize, usize), end: (usize, usize)) -> (Vec<(i64, i64)>, (i64, i64)) {
        let side = |at: usize, is_right: bool| {
            let column = &self.columns[at];
            if is_right { column.left + column.width } else { column.left }
        };
        let is_right = end.0 > start.0;
        let (from, to) = ((side(start.0, is_right), middle(start.1)), (side(end.0, !is_right), middle(end.1)));
        let part = |from: i64, to: i64| from + (to - from) / 4;
        (vec![from, to], (part(from.0, to.0), part(from.1, to.1)))
    }

    /// Around the boxes: down on the right of the column, below everything, up on the left of the other column.
    fn around(&mut self, start: (usize, usize), end: (usize, usize)) -> (Vec<(i64, i64)>, (i64, i64)) {
        let right = self.columns[start.0].left + self.columns[start.0].width;
        let left = self.columns[end.0].left;
        let (below, descent, ascent) = (self.height, right + TRACK, left - TRACK);
        self.height += 2 * TRACK;
        let (from, to) = (middle(start.1), middle(end.1));
        let points = vec![(right, from), (descent, from), (descent, below), (ascent, below), (ascent, to), (left, to)];
        (points, ((descent + ascent) / 2, below))
    }
}

fn top(row: usize) -> i64 {
    MARGIN + HEADER + row as i64 * (BOX_HEIGHT + ROW_GAP)
}

fn middle(row: usize) -> i64 {
    top(row) + BOX_HEIGHT / 2
}
