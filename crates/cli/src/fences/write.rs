//! Programs with their fences.

use weir::translate::insert_fences;
use weir_ir::{Program, Source};
use weir_syntax::Language;

use super::sites::{Chosen, Site, Sites};

/// A program with fences.
pub(crate) struct Fenced {
    /// As text.
    pub(crate) text: String,
    /// As that text reads.
    pub(crate) program: Program,
}

/// The program with fences at these places written into its text, read again. None if there is no such text.
pub(crate) fn in_own_language(sites: &Sites, chosen: &Chosen, defines: &[(String, i64)]) -> Option<Fenced> {
    let (source, language) = (&sites.program.source, sites.language);
    let all: Vec<&Site> = chosen.iter().map(|&number| &sites.list[number]).collect();
    let written = if all.iter().all(|site| site.is_in_text) {
        language.write_fences(source.text(), all.iter().map(|site| site.offset))
    } else {
        None
    };
    let text = match written {
        Some(text) => text,
        // Whoever writes such a language prints it as a whole. Weir's own is not printed: its authors have their own layout.
        None if language != Language::Weir => language.print(&inserted(sites, chosen))?.ok()?,
        None => return None,
    };
    let program = language.parse(&Source::new(source.name(), text.as_str()), defines).ok()?.program;
    Some(Fenced { text, program })
}

/// The program with fences at these places, without a text.
pub(crate) fn inserted(sites: &Sites, chosen: &Chosen) -> Program {
    let at = chosen.iter().flat_map(|&number| sites.list[number].locations.iter().copied()).collect();
    insert_fences(&sites.program, &at).program
}
