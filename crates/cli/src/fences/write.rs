//! Programs with their fences.

use std::collections::BTreeSet;

use weir::transform::insert_fences;
use weir_ir::{Program, Source};
use weir_syntax::weir::fences::write_fences;

use super::{Site, Sites, litmus};
use crate::args::Language;

/// A set of places, by number.
pub(crate) type Chosen = BTreeSet<usize>;

/// A program with fences.
pub(crate) struct Mended {
    /// As text.
    pub(crate) text: String,
    /// As that text reads.
    pub(crate) program: Program,
}

/// A set of fences that is enough.
pub(crate) struct Repair {
    /// Where.
    pub(crate) chosen: Chosen,
    /// The text of the program with its fences.
    pub(crate) text: String,
    /// Whether that text is in the language the program came in.
    pub(crate) is_own_language: bool,
}

/// The program with fences at these places written into its text, read again. None if there is no such text.
pub(crate) fn in_own_language(sites: &Sites, chosen: &Chosen, defines: &[(String, i64)]) -> Option<Mended> {
    let source = &sites.program.source;
    let all: Vec<&Site> = chosen.iter().map(|&number| &sites.list[number]).collect();
    if sites.language == Language::Trencher {
        let text = weir_syntax::trencher::print::print(&inserted(sites, chosen)).ok()?;
        let program = weir_syntax::trencher::parse(&Source::new(source.name(), text.as_str())).ok()?.program;
        return Some(Mended { text, program });
    }
    if all.iter().any(|site| !site.is_in_text) {
        return None;
    }
    let offsets = all.iter().map(|site| site.offset);
    let text = match sites.language {
        Language::Litmus => litmus::write_fences(source.text(), offsets)?,
        _ => write_fences(source.text(), offsets),
    };
    let fenced = Source::new(source.name(), text.as_str());
    let program = match sites.language {
        Language::Weir => {
            let options = weir_syntax::weir::Options { defines: defines.to_vec() };
            weir_syntax::weir::parse(&fenced, &options).ok()?.program
        }
        Language::Litmus => weir_syntax::litmus::parse(&fenced).ok()?.program,
        Language::Rmm => weir_syntax::rmm::parse(&fenced).ok()?.program,
        Language::Trencher => return None,
    };
    Some(Mended { text, program })
}

/// The program with fences at these places, without a text.
pub(crate) fn inserted(sites: &Sites, chosen: &Chosen) -> Program {
    let at = chosen.iter().flat_map(|&number| sites.list[number].locations.iter().copied()).collect();
    insert_fences(&sites.program, &at)
}
