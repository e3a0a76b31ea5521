//! How answers name the places of fences.

use std::collections::BTreeMap;

use weir::fences::Reason;
use weir::fences::text::{Chosen, Site, Sites};
use weir_report::answer::FencePlace;

/// These places, for an answer, with the reasons of their fences.
pub(crate) fn places(sites: &Sites, chosen: &Chosen, reasons: &BTreeMap<usize, Reason>) -> Vec<FencePlace> {
    let place = |number: &usize, site: &Site| FencePlace {
        offset: site.offset,
        threads: sites.threads(site),
        location: site.locations.first().copied(),
        reason: reasons.get(number).cloned(),
    };
    chosen.iter().map(|number| place(number, &sites.list[*number])).collect()
}

/// How many fences a set amounts to: one per thread that runs the text of a place.
pub(crate) fn copies(sites: &Sites, chosen: &Chosen) -> u64 {
    chosen.iter().map(|&number| sites.threads(&sites.list[number]).len() as u64).sum()
}
