//! How answers name the places of fences.

use std::collections::BTreeMap;

use weir::fences::Reason;
use weir::fences::text::{Chosen, Existing, Site, Sites};
use weir_report::answer::{FencePlace, RemovedFence};

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

/// The fences of a program that are not among the chosen ones, for an answer.
pub(crate) fn removed(existing: &Existing, chosen: &Chosen) -> Vec<RemovedFence> {
    let fence = |number: usize| RemovedFence {
        span: existing.span(number),
        threads: existing.sites.threads(&existing.sites.list[number]),
        is_exchange: existing.is_exchange(number),
    };
    existing.others(chosen).into_iter().map(fence).collect()
}

/// How many fences a set amounts to: one per thread that runs the text of a place.
pub(crate) fn copies(sites: &Sites, chosen: &Chosen) -> u64 {
    chosen.iter().map(|&number| sites.threads(&sites.list[number]).len() as u64).sum()
}
