//! What fences cost.

use std::collections::BTreeMap;
use std::path::Path;

use weir::Control;
use weir::fences::{FrequencyCosts, LoopCosts, unit_cost};

use super::{Site, Sites};
use crate::args::CostChoice;
use crate::input::{display_name, read_text};
use crate::trouble::Trouble;

/// The largest file of costs, in bytes.
const FILE_LIMIT: u64 = 1 << 20;

/// The highest cost of one fence. With higher ones, adding up becomes the work.
const HIGHEST: u64 = 1_000_000;

/// What fences cost.
pub(crate) enum Costs {
    /// 1 each.
    Unit,
    /// By the loops around them.
    Loops,
    /// By how often random runs come by.
    Frequency,
    /// As a file has it: its name, and for each line or label the cost and the line of the file.
    Listed(String, BTreeMap<String, (u64, usize)>),
}

impl Costs {
    /// Reads a file of costs if there is one.
    pub(crate) fn read(choice: &CostChoice) -> Result<Self, Trouble> {
        match choice {
            CostChoice::Unit => Ok(Self::Unit),
            CostChoice::Loops => Ok(Self::Loops),
            CostChoice::Frequency => Ok(Self::Frequency),
            CostChoice::File(path) => Self::from_file(path),
        }
    }

    fn from_file(path: &Path) -> Result<Self, Trouble> {
        let name = display_name(path);
        let text = read_text(path, FILE_LIMIT)
            .map_err(|trouble| Trouble::input(format!("the costs in {name}: {}", trouble.reason())))?;
        Ok(Self::Listed(name.clone(), parse(&name, &text)?))
    }

    /// The cost of each place, in their order.
    pub(super) fn prices(&self, sites: &Sites, control: &Control) -> Result<Vec<u64>, Trouble> {
        let each = |price: &dyn Fn(&Site) -> u64| sites.list.iter().map(price).collect();
        Ok(match self {
            Self::Unit => each(&|site| unit_cost(&site.place.after)),
            Self::Loops => {
                let loops = LoopCosts::new(&sites.program);
                each(&|site| loops.cost(&site.place.after))
            }
            Self::Frequency => {
                let program = &sites.program;
                let costs = FrequencyCosts::new(program, control).map_err(|failure| Trouble::of(program, failure))?;
                each(&|site| costs.cost(&site.place.after))
            }
            Self::Listed(name, costs) => {
                every_entry_is_a_place(name, costs, sites)?;
                each(&|site| listed(costs, sites, site))
            }
        })
    }
}

fn parse(name: &str, text: &str) -> Result<BTreeMap<String, (u64, usize)>, Trouble> {
    let mut costs = BTreeMap::new();
    for (number, line) in (1..).zip(text.lines()) {
        let wrong = |what: String| {
            Trouble::input_with_help(
                format!("the costs in {name}, line {number}: {what}"),
                "write a line or a label of the program and the cost of a fence before it, as in `12 5`; `#` begins a comment",
            )
        };
        let words: Vec<&str> = line.split('#').next().unwrap_or_default().split_whitespace().collect();
        let (place, cost) = match words[..] {
            [] => continue,
            [place, cost] => (place, cost),
            _ => return Err(wrong(format!("expected two words, found {}", words.len()))),
        };
        let cost = cost.parse().ok().filter(|cost| (1..=HIGHEST).contains(cost));
        let cost = cost.ok_or_else(|| wrong(format!("the cost must be a whole number from 1 to {HIGHEST}")))?;
        if let Some((_, first)) = costs.insert(place.to_owned(), (cost, number)) {
            return Err(wrong(format!("`{place}` has a cost already, in line {first}")));
        }
    }
    Ok(costs)
}

/// What a place goes by: its labels first, since they are more precise than its line.
fn names(sites: &Sites, site: &Site) -> Vec<String> {
    let labels = sites.threads(site).into_values().flatten();
    labels.chain([sites.line(site).to_string()]).collect()
}

/// For each thread, what the file says.
fn listed(costs: &BTreeMap<String, (u64, usize)>, sites: &Sites, site: &Site) -> u64 {
    let one = names(sites, site).iter().find_map(|name| costs.get(name)).map_or(1, |&(cost, _)| cost);
    one.saturating_mul(unit_cost(&site.place.after))
}

/// A line that means nothing is a mistake.
fn every_entry_is_a_place(name: &str, costs: &BTreeMap<String, (u64, usize)>, sites: &Sites) -> Result<(), Trouble> {
    let known: Vec<String> = sites.list.iter().flat_map(|site| names(sites, site)).collect();
    let Some((place, (_, line))) = costs.iter().find(|(place, _)| !known.contains(place)) else { return Ok(()) };
    let what =
        if place.parse::<u64>().is_ok() { "no fence can stand on line" } else { "no fence can stand at a label" };
    let reason = format!("the costs in {name}, line {line}: {what} `{place}` of the program");
    Err(Trouble::input_with_help(reason, "name a line or a label of an instruction before which a fence could come"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reason(text: &str) -> String {
        parse("costs", text).err().map_or_else(String::new, |trouble| trouble.reason())
    }

    #[test]
    fn lines_and_labels_have_costs() {
        let costs = parse("costs", "# costs\n12 5\n\nhere 7 # why\n").expect("it is correct");
        assert_eq!(costs, BTreeMap::from([("12".into(), (5, 2)), ("here".into(), (7, 4))]));
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        assert_eq!(reason("\n12\n"), "the costs in costs, line 2: expected two words, found 1");
        assert_eq!(reason("12 0"), "the costs in costs, line 1: the cost must be a whole number from 1 to 1000000");
        assert_eq!(reason("12 -1"), reason("12 x"));
        assert_eq!(reason("12 99999999999999999999"), reason("12 0"));
        assert_eq!(reason("a 1\na 2"), "the costs in costs, line 2: `a` has a cost already, in line 1");
    }
}
