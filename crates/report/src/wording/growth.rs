//! Values that may grow without bound, in words.

use weir::translate::slice::{Growing, Growth};
use weir_ir::{Program, Width};

use super::place::place_at;

/// How many are named.
const MOST_NAMED: usize = 3;

/// Why no amount of time may be enough, if that is so.
pub fn growth_text(program: &Program, growth: &[Growth]) -> Option<String> {
    let named: Vec<String> = growth.iter().take(MOST_NAMED).map(|one| named(program, one)).collect();
    let more = if growth.len() > named.len() { ", …" } else { "" };
    (!named.is_empty()).then(|| format!("values may grow without bound: {}{more}", named.join(", ")))
}

fn named(program: &Program, growth: &Growth) -> String {
    let name = match growth.what {
        Growing::Cell(address) => program.cell_name(address),
        Growing::Register(thread, register) => {
            format!("{}.{}", program.thread(thread).name, program.body(thread).registers[register.index()].name)
        }
    };
    format!("`{name}` at {}", place_at(program, growth.span))
}

/// What to do about it.
pub fn growth_help(growth: &[Growth]) -> Option<String> {
    let first = growth.first()?;
    let width = Width::U8.name();
    Some(match first.what {
        Growing::Cell(_) => {
            format!(
                "more time may not help: give the cell a range (`shared x: 0..7;`) or a width (`shared x: {width};`)"
            )
        }
        Growing::Register(..) => {
            "more time may not help: keep the register within bounds, as in `r = (r + 1) % 8;`".to_owned()
        }
    })
}
