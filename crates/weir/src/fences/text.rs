//! Fences in the text of a program: where they can be written, and the text with them.
//!
//! Whatever is written is read again and checked: the program with the fences meets the aim, and does not if any one of
//! them is left out.

mod removal;

use std::collections::{BTreeMap, BTreeSet};

use weir_ir::{Gather, LocId, Program, Source, Span, ThreadId, Value};
use weir_syntax::{FenceSite, FenceSites, Language, ParseError};

use super::{Aim, Fences, Options, Place, Recheck, Report, fences, recheck};
use crate::robust::{self, Method, by_attacks};
use crate::session::Session;
use crate::translate::insert_fences;
use crate::verdict::{Failure, Statistics, Verdict};
pub use removal::Existing;

/// A set of places, by number.
pub type Chosen = BTreeSet<usize>;

/// A place in the text.
#[derive(Clone, Debug)]
pub struct Site {
    /// Where: the first byte of what the fence comes before.
    pub offset: u32,
    /// The same for the search, with its cost.
    pub place: Place,
    /// The locations at which the fence would be. In a `.weir` text it is a step of its own.
    pub locations: Vec<(ThreadId, LocId)>,
    /// Whether a fence can be written there: not if several statements begin at the same location.
    pub is_in_text: bool,
}

/// All places of a program.
#[derive(Clone, Debug)]
pub struct Sites {
    /// The program that is searched: the one that was read, or one with a step for each place.
    pub program: Program,
    /// The places, in order of the text.
    pub list: Vec<Site>,
    /// What the program is written in.
    pub language: Language,
    constants: Vec<(String, Value)>,
}

/// A program with fences, as text.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FencedText {
    /// The text.
    pub text: String,
    /// Its language: that of the program, if fences can be written into its text, else Weir's own.
    pub language: Language,
    /// Whether the program was printed anew, rather than the text of its author changed.
    pub is_printed_anew: bool,
    /// What came of checking it.
    pub recheck: Recheck,
}

impl Sites {
    /// The places of a program that was read from this language with these constants; a fence costs 1 at each.
    ///
    /// # Errors
    /// If a limit was reached, or if an invariant of Weir is broken: its text cannot be read with a step for each
    /// place.
    pub fn of(
        program: &Program,
        language: Language,
        constants: &[(String, Value)],
        session: &Session,
    ) -> Result<Self, Failure> {
        let FenceSites { program, sites } =
            language.fence_sites(program, constants, session).map_err(|error| match error {
                ParseError::Interrupted => Failure::Stopped(session.ended_by()),
                error => Failure::Bug(format!("the text cannot be read with places for fences: {error}")),
            })?;
        let site = |FenceSite { offset, after, locations, is_in_text }| {
            let place = Place { after, cost: 1 };
            Site { offset, place, locations, is_in_text }
        };
        let list = sites.into_iter().map(site).collect();
        Ok(Self { program, list, language, constants: constants.to_vec() })
    }

    /// The places for the search.
    pub fn places(&self) -> Vec<Place> {
        self.list.iter().map(|site| site.place.clone()).collect()
    }

    /// The cheapest fences for `program`, which these are the places of.
    ///
    /// If the program that is searched has a step for each place, there are more states of it. So whether the program
    /// is robust as it is is asked before any place counts.
    ///
    /// # Errors
    /// As [`fences`].
    pub fn cheapest(&self, program: &Program, options: &Options, session: &Session) -> Result<Report, Failure> {
        let is_as_read = self.is_as_read(program);
        let mut before = Statistics::default();
        let is_asked = !is_as_read && options.aim == Aim::Robust && options.robust.method == Method::Attacks;
        if is_asked {
            let session = session.doing("fences");
            let robust::Report { verdict, statistics, .. } = by_attacks(program, &options.robust, &session)?;
            // Reports name the steps of the program with places.
            let attacks = robust::attacks(&self.program, &session).map_err(Failure::Stopped)?;
            let none = |fences| Report { is_as_read: true, searches: 1, statistics, ..Report::new(fences, attacks) };
            match verdict {
                Verdict::Holds => {
                    let fences = Fences::Cheapest(vec![Chosen::new()]);
                    return Ok(Report { reasons: vec![BTreeMap::new()], ..none(fences) });
                }
                Verdict::Unknown(limit) => return Ok(none(Fences::Stopped(limit))),
                Verdict::Violated(_) => before = statistics,
            }
        }
        let mut report = fences(&self.program, &self.places(), options, session)?;
        report.is_as_read = is_as_read;
        report.searches += u32::from(is_asked);
        report.statistics.add(&before);
        Ok(report)
    }

    /// Whether the program that is searched does what `program` does, step by step.
    fn is_as_read(&self, program: &Program) -> bool {
        let (searched, read) = (&self.program.threads, &program.threads);
        searched.len() == read.len()
            && searched.iter().zip(read).all(|(one, other)| one.body.does_the_same(&other.body))
    }

    /// The text of the program as it is, for which no fences were chosen in a [report](Report::is_as_read) on the program
    /// as it was read.
    pub fn unchanged(&self, program: &Program) -> FencedText {
        let text = program.source.text().to_owned();
        FencedText { text, language: self.language, is_printed_anew: false, recheck: Recheck::Confirmed }
    }

    /// The line of a place.
    pub fn line(&self, site: &Site) -> u32 {
        self.program.source.line(Span { start: site.offset, end: site.offset })
    }

    /// Each thread that runs the text of a place, with the labels it has there.
    pub fn threads(&self, site: &Site) -> BTreeMap<ThreadId, Vec<String>> {
        let mut threads: BTreeMap<ThreadId, Vec<String>> = BTreeMap::new();
        for &(thread, location) in &site.locations {
            let labels = &self.program.body(thread).locations[location.index()].labels;
            threads.entry(thread).or_default().extend(labels.iter().cloned());
        }
        threads
    }

    /// The text of `program`, which these are the places of, with fences at the chosen ones.
    ///
    /// # Errors
    /// As [`recheck`].
    pub fn write(
        &self,
        program: &Program,
        chosen: &Chosen,
        options: &Options,
        session: &Session,
    ) -> Result<FencedText, Failure> {
        // Without fences the text stays as it is, whatever a printer would make of it.
        if chosen.is_empty() {
            let recheck = recheck(program, [], options, session)?;
            return Ok(FencedText { recheck, ..self.unchanged(program) });
        }
        // In Weir's own language every place is one of the text. In others, tables and macros can stand in the way.
        match self.in_own_language_with_each_left_out(chosen, session)? {
            Some((text, fenced, reduced)) => match recheck(&fenced, reduced, options, session) {
                Ok(recheck) => {
                    return Ok(FencedText { text, language: self.language, is_printed_anew: false, recheck });
                }
                // The text means something else, because a macro is used twice for instance. What is printed instead is
                // checked in turn, so that nothing is hidden.
                Err(Failure::Bug(_)) if self.language != Language::Weir => {}
                Err(failure) => return Err(failure),
            },
            None if self.language == Language::Weir => {
                return Err(Failure::Bug("the program with its fences cannot be read".to_owned()));
            }
            None => {}
        }
        let fenced = self.inserted(chosen);
        let reduced = without_each(chosen).map(|fewer| self.inserted(&fewer));
        let recheck = recheck(&fenced, reduced, options, session)?;
        let text = weir_syntax::weir::print::print(&fenced);
        Ok(FencedText { text, language: Language::Weir, is_printed_anew: true, recheck })
    }

    /// The text with fences, the program that it reads as, and the same with each fence left out. None if some of these
    /// texts do not exist.
    fn in_own_language_with_each_left_out(
        &self,
        chosen: &Chosen,
        session: &Session,
    ) -> Result<Option<(String, Program, Vec<Program>)>, Failure> {
        let Some((text, fenced)) = self.in_own_language(chosen, session)? else { return Ok(None) };
        let mut reduced = Vec::new();
        for fewer in without_each(chosen) {
            let Some((_, program)) = self.in_own_language(&fewer, session)? else { return Ok(None) };
            reduced.push(program);
        }
        Ok(Some((text, fenced, reduced)))
    }

    /// The text with fences written into it, and the program that it reads as. None if there is no such text.
    fn in_own_language(&self, chosen: &Chosen, session: &Session) -> Result<Option<(String, Program)>, Failure> {
        let Some(text) = self.text_in_own_language(chosen) else { return Ok(None) };
        let source = Source::new(self.program.source.name(), text.as_str());
        match self.language.parse_until(&source, &self.constants, session) {
            Ok(parsed) => Ok(Some((text, parsed.program))),
            Err(ParseError::Interrupted) => Err(Failure::Stopped(session.ended_by())),
            Err(_) => Ok(None),
        }
    }

    /// The text with fences written into it. None if there is no such text.
    fn text_in_own_language(&self, chosen: &Chosen) -> Option<String> {
        let (source, language) = (&self.program.source, self.language);
        let all = chosen.iter().map(|&number| &self.list[number]);
        let written = if all.clone().all(|site| site.is_in_text) {
            language.write_fences(source.text(), all.map(|site| site.offset))
        } else {
            None
        };
        match written {
            Some(text) => Some(text),
            // Languages that are not written by hand are printed as a whole. Weir's own is not: its authors have their
            // own layout.
            None if language != Language::Weir => language.print(&self.inserted(chosen))?.ok(),
            None => None,
        }
    }

    /// The program with fences at these places, without a text.
    fn inserted(&self, chosen: &Chosen) -> Program {
        let at = chosen.iter().flat_map(|&number| self.list[number].locations.iter().copied()).gather();
        insert_fences(&self.program, &at).program
    }
}

fn without_each(chosen: &Chosen) -> impl Iterator<Item = Chosen> {
    chosen.iter().map(|left_out| chosen.iter().copied().filter(|number| number != left_out).gather())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_costs_one_unless_told_otherwise() {
        let source = Source::new("test.weir", "shared x, y; thread P { x = 1; let r = y; y = 2; }");
        let parsed = weir_syntax::weir::parse(&source, &weir_syntax::weir::Options::default()).expect("a program");
        let sites = Sites::of(&parsed.program, Language::Weir, &[], &Session::default()).expect("places");
        let costs: Vec<_> = sites.places().iter().map(|place| place.cost).collect();
        assert!(costs.len() >= 2 && costs.iter().all(|&cost| cost == 1), "{costs:?}");
    }
}
