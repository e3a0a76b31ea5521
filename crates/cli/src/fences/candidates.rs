//! Where fences can stand in a program that was read, or where they do.

use weir::Session;
use weir::fences::Aim;
use weir::fences::text::{Existing, Sites};
use weir_ir::Value;

use crate::error::Error;
use crate::load::Loaded;

/// The places where fences can stand; with `remove`, those where the program has some, which come with them. A fence
/// costs 1 at each.
pub(crate) fn candidates(
    loaded: &Loaded,
    defines: &[(String, Value)],
    (aim, remove): (Aim, bool),
    session: &Session,
) -> Result<(Option<Existing>, Sites), Error> {
    let (program, language) = (&loaded.program, loaded.language);
    if remove {
        let existing = Existing::of(program, language, defines, aim);
        let sites = existing.sites.clone();
        return Ok((Some(existing), sites));
    }
    let sites = Sites::of(program, language, defines, session).map_err(|failure| Error::of(program, failure))?;
    Ok((None, sites))
}
