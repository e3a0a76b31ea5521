//! The line of each instruction.

use gimli::{ColumnType, Dwarf, Unit};

use super::{Debug, Slice, SourcePlace};

/// More rows than this are not read.
const MOST_ROWS: usize = 1 << 22;

/// Reads the lines of a unit. Returns the numbers of its files, by their numbers in the unit.
pub(super) fn read(
    dwarf: &Dwarf<Slice<'_>>,
    unit: &Unit<Slice<'_>>,
    debug: &mut Debug,
) -> Result<Vec<usize>, gimli::Error> {
    let Some(program) = unit.line_program.clone() else { return Ok(Vec::new()) };
    let header = program.header().clone();
    // Numbers begin with 0 or 1, by version; the first is the unit's own file.
    let last = header.file_names().len() as u64;
    let mut files = Vec::new();
    for number in 0..=last {
        let path = header.file(number).and_then(|file| path(dwarf, unit, &header, file)).unwrap_or_default();
        files.push(debug.file(path));
    }
    let mut rows = program.rows();
    let mut open: Option<(u64, SourcePlace)> = None;
    while let Some((_, row)) = rows.next_row()? {
        if let Some((start, place)) = open.take()
            && row.address() > start
            && debug.lines.len() < MOST_ROWS
        {
            debug.lines.insert(start, (row.address(), place));
        }
        if row.end_sequence() {
            continue;
        }
        let column = match row.column() {
            ColumnType::LeftEdge => 0,
            ColumnType::Column(column) => u32::try_from(column.get()).unwrap_or(0),
        };
        let file = usize::try_from(row.file_index()).ok().and_then(|number| files.get(number).copied());
        // Code without a line belongs to no line.
        let line = row.line().and_then(|line| u32::try_from(line.get()).ok());
        open = file.zip(line).map(|(file, line)| (row.address(), SourcePlace { file, line, column }));
    }
    Ok(files)
}

fn path(
    dwarf: &Dwarf<Slice<'_>>,
    unit: &Unit<Slice<'_>>,
    header: &gimli::LineProgramHeader<Slice<'_>>,
    file: &gimli::FileEntry<Slice<'_>>,
) -> Option<String> {
    let text = |value| dwarf.attr_string(unit, value).ok().map(|text| text.to_string_lossy().into_owned());
    let name = text(file.path_name())?;
    if name.starts_with('/') {
        return Some(name);
    }
    let folder = file.directory(header).and_then(text).unwrap_or_default();
    let compiled_in = unit.comp_dir.map(|folder| folder.to_string_lossy().into_owned()).unwrap_or_default();
    let folder = if folder.starts_with('/') || compiled_in.is_empty() {
        folder
    } else if folder.is_empty() {
        compiled_in
    } else {
        format!("{compiled_in}/{folder}")
    };
    Some(if folder.is_empty() { name } else { format!("{folder}/{name}") })
}
