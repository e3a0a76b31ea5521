//! How answers name the places of fences.

use weir::fences::text::{Chosen, Site, Sites};
use weir_report::answer::FencePlace;

/// These places, for an answer.
pub(crate) fn places(sites: &Sites, chosen: &Chosen) -> Vec<FencePlace> {
    let place = |site: &Site| FencePlace {
        offset: site.offset,
        threads: sites.threads(site),
        location: site.locations.first().copied(),
    };
    chosen.iter().map(|&number| place(&sites.list[number])).collect()
}
