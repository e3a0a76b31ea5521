//! What fences cost.

use std::collections::{BTreeMap, BTreeSet};

use weir::Session;
use weir::fences::text::{Site, Sites};
use weir::fences::{FrequencyCosts, LoopCosts, unit_cost};
use weir_ir::Gather;

use crate::args::CostChoice;
use crate::costs::{CostFile, Form};
use crate::error::Error;

/// A fence that costs nothing could be put anywhere.
const FORM: Form = Form {
    lowest: 1,
    help: "write a line number or label and the cost of a fence before it, as in `12 5`; `#` starts a comment",
};

/// What fences cost.
pub(crate) enum Costs {
    /// 1 each.
    Unit,
    /// By the loops around them.
    Loops,
    /// By how often random runs come by.
    Frequency,
    /// As a file has it, for lines and labels of the program.
    Listed(CostFile),
}

impl Costs {
    /// Reads a file of costs if there is one.
    pub(crate) fn read(choice: &CostChoice) -> Result<Self, Error> {
        match choice {
            CostChoice::Unit => Ok(Self::Unit),
            CostChoice::Loops => Ok(Self::Loops),
            CostChoice::Frequency => Ok(Self::Frequency),
            CostChoice::File(path) => CostFile::read(path, FORM).map(Self::Listed),
        }
    }

    /// Sets what a fence costs at each place.
    pub(crate) fn set(&self, sites: &mut Sites, session: &Session) -> Result<(), Error> {
        let prices = self.prices(sites, session)?;
        sites.list.iter_mut().zip(prices).for_each(|(site, price)| site.place.cost = price);
        Ok(())
    }

    /// The cost of each place, in their order.
    fn prices(&self, sites: &Sites, session: &Session) -> Result<Vec<u64>, Error> {
        let each = |price: &dyn Fn(&Site) -> u64| sites.list.iter().map(price).collect();
        Ok(match self {
            Self::Unit => each(&|site| unit_cost(&site.place.after)),
            Self::Loops => {
                let loops = LoopCosts::new(&sites.program);
                each(&|site| loops.cost(&site.place.after))
            }
            Self::Frequency => {
                let program = &sites.program;
                let costs = FrequencyCosts::new(program, session).map_err(|failure| Error::of(program, failure))?;
                each(&|site| costs.cost(&site.place.after))
            }
            Self::Listed(file) => {
                every_entry_is_a_place(file, sites)?;
                let costs = file.entries.iter().map(|entry| (entry.what.as_str(), entry.cost)).collect();
                each(&|site| listed(&costs, sites, site))
            }
        })
    }
}

/// What a place goes by: its labels first, since they are more precise than its line.
fn names(sites: &Sites, site: &Site) -> Vec<String> {
    let labels = sites.threads(site).into_values().flatten();
    labels.chain([sites.line(site).to_string()]).collect()
}

/// For each thread, what the file says.
fn listed(costs: &BTreeMap<&str, u64>, sites: &Sites, site: &Site) -> u64 {
    let one = names(sites, site).iter().find_map(|name| costs.get(name.as_str())).map_or(1, |&cost| cost);
    one.saturating_mul(unit_cost(&site.place.after))
}

/// A line that means nothing is a mistake.
fn every_entry_is_a_place(file: &CostFile, sites: &Sites) -> Result<(), Error> {
    let known: BTreeSet<String> = sites.list.iter().flat_map(|site| names(sites, site)).gather();
    let Some(entry) = file.entries.iter().find(|entry| !known.contains(&entry.what)) else { return Ok(()) };
    let place = &entry.what;
    let what =
        if place.parse::<u64>().is_ok() { "no fence can be placed on line" } else { "no fence can be placed at label" };
    let help = "name the line or label of an instruction that a fence can precede";
    Err(file.error(entry, &format!("{what} `{place}` of the program"), help))
}
