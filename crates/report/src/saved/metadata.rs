//! What evidence is about: the program, the constants, the memory model and the properties.
//!
//! The question comes from the user, never from the file: whatever the file says about the question is compared with
//! it, and evidence for any other question is refused. There is no creation time, so that the same input and the same
//! options give the same file.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use weir_ir::{Program, Value};
use weir_syntax::Language;
use weir_witness::{Goal, Model};

use super::goal::{SavedGoal, to_goal, to_saved_goal};
use super::mismatch::Mismatch;
use crate::automaton;
use crate::run::ModelRecord;
use crate::version::VERSION;
use crate::wording::clean::clean;
use crate::wording::{goal, model_name};

/// What evidence is about, and what made it.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Metadata {
    /// The program that made it.
    pub producer: String,
    /// The version of that program.
    pub version: String,
    /// The program it is about.
    pub program: ProgramRecord,
    /// The memory model.
    pub model: ModelRecord,
    /// The properties: of a run, the one that it violates; of a certificate, all that it proves.
    pub specification: Vec<SavedGoal>,
}

/// A program, by digests.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ProgramRecord {
    /// The language it is written in.
    pub language: String,
    /// The SHA-256 of its text, in hexadecimal digits.
    pub text_sha256: String,
    /// Its constants and their values, whether the text or `-D` sets them.
    pub constants: BTreeMap<String, Value>,
    /// For compiled code, the options that say what runs and what must hold, also those in the file beside it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub options: BTreeMap<String, Vec<String>>,
    /// The SHA-256 of what `weir translate --to json` prints for it.
    pub automaton_sha256: String,
}

/// What the user asks.
#[derive(Clone, Copy)]
pub struct Question<'a> {
    /// The program, with the user's constants.
    pub program: &'a Program,
    /// The language it is written in.
    pub language: Language,
    /// The memory model.
    pub model: Model,
    /// The properties.
    pub goals: &'a [Goal],
}

impl Metadata {
    /// The metadata of new evidence.
    pub fn new(question: &Question<'_>) -> Self {
        Self {
            producer: "Weir".to_owned(),
            version: VERSION.to_owned(),
            program: ProgramRecord::new(question.program, question.language),
            model: question.model.into(),
            specification: question.goals.iter().map(|&goal| to_saved_goal(question.program, goal)).collect(),
        }
    }

    /// Whether this is about the program and the model that the user asks about. Whether it is about the properties is
    /// for the caller to compare.
    pub(super) fn compare(&self, question: &Question<'_>) -> Result<(), Mismatch> {
        self.program.compare(&ProgramRecord::new(question.program, question.language), self)?;
        let (claimed, asked) = (self.model.into(), question.model);
        if claimed == asked {
            return Ok(());
        }
        let (name, option) = (model_name(claimed), claimed.name());
        let reason = format!("the file is about {name}, not {}; select it with `--model {option}`", model_name(asked));
        Err(Mismatch::whole(reason))
    }

    /// The properties that it names, all of them properties of the program.
    pub(super) fn goals(&self, program: &Program) -> Result<Vec<Goal>, Mismatch> {
        self.specification.iter().map(|goal| to_goal(program, goal)).collect()
    }

    /// The one property that a run violates, if the user asks about it.
    pub(super) fn violated(&self, question: &Question<'_>) -> Result<Goal, Mismatch> {
        match self.goals(question.program)?[..] {
            [goal] if question.goals.contains(&goal) => Ok(goal),
            [goal] => Err(unasked(question.program, goal)),
            _ => Err(Mismatch::whole("the file does not name one property that the run violates")),
        }
    }

    /// All properties that a certificate proves, if these are just what the user asks about.
    pub(super) fn proved(&self, question: &Question<'_>) -> Result<Vec<Goal>, Mismatch> {
        let goals = self.goals(question.program)?;
        if goals.is_empty() {
            return Err(Mismatch::whole("the file names no property"));
        }
        if let Some(&goal) = goals.iter().find(|goal| !question.goals.contains(goal)) {
            return Err(unasked(question.program, goal));
        }
        if let Some(&goal) = question.goals.iter().find(|goal| !goals.contains(goal)) {
            let text = goal::text(question.program, goal);
            return Err(Mismatch::whole(format!(
                "the file does not cover this: {text}; select fewer properties with `--property`"
            )));
        }
        Ok(goals)
    }
}

/// The mismatch of a file that answers another question.
fn unasked(program: &Program, goal: Goal) -> Mismatch {
    let text = goal::text(program, goal);
    let name = match goal {
        Goal::Property(id) => (id.index() + 1).to_string(),
        Goal::Assertion(thread) => program.thread(thread).name.clone(),
        Goal::NotRobust => "robust".to_owned(),
    };
    Mismatch::whole(format!("the file is about another property: {text}; select it with `--property {name}`"))
}

impl ProgramRecord {
    fn new(program: &Program, language: Language) -> Self {
        Self {
            language: language.name().to_owned(),
            text_sha256: hex(Sha256::digest(program.source.text()).as_slice()),
            constants: program.constants.iter().cloned().collect(),
            options: by_name(&program.options),
            automaton_sha256: automaton_digest(program),
        }
    }

    /// Whether the file, which `self` is from, is about the given program.
    fn compare(&self, given: &Self, file: &Metadata) -> Result<(), Mismatch> {
        let reason = if self.language != given.language {
            let claimed = clean(&self.language);
            format!("the file is about a program in the language {claimed}, not {}", given.language)
        } else if let Some(reason) = other_option(&self.options, &given.options) {
            reason
        } else if self.text_sha256 != given.text_sha256 {
            let (claimed, found) = (short(&self.text_sha256), short(&given.text_sha256));
            format!("the file is about another text: its SHA-256 is {claimed}…, that of the program is {found}…")
        } else if let Some(reason) = other_constant(&self.constants, &given.constants) {
            reason
        } else if self.automaton_sha256 != given.automaton_sha256 {
            let (name, version) = (clean(&file.producer), clean(&file.version));
            format!("the file was made by {name} {version}, which read the program differently")
        } else {
            return Ok(());
        };
        Err(Mismatch::whole(reason))
    }
}

/// The first constant that differs.
fn other_constant(claimed: &BTreeMap<String, Value>, given: &BTreeMap<String, Value>) -> Option<String> {
    let value = |value: Option<&Value>| value.map_or_else(|| "not set".to_owned(), |value| format!("= {value}"));
    let name = claimed.keys().chain(given.keys()).find(|name| claimed.get(*name) != given.get(*name))?;
    let (shown, there, here) = (clean(name), value(claimed.get(name)), value(given.get(name)));
    // No option says how many threads are started at run time.
    let way_out = if name.contains(' ') { String::new() } else { format!("; `-D {shown}=…` sets it") };
    Some(format!("the file is about {shown} {there}, but here it is {shown} {here}{way_out}"))
}

/// What each option says, in order.
fn by_name(options: &[(String, String)]) -> BTreeMap<String, Vec<String>> {
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (option, text) in options {
        texts.entry(option.clone()).or_default().push(text.clone());
    }
    texts
}

/// The first option that differs, if the file has any.
fn other_option(claimed: &BTreeMap<String, Vec<String>>, given: &BTreeMap<String, Vec<String>>) -> Option<String> {
    if claimed.is_empty() {
        return None;
    }
    let name = claimed.keys().chain(given.keys()).find(|name| claimed.get(*name) != given.get(*name))?;
    let shown = |texts: Option<&Vec<String>>| match texts {
        None => format!("no `{}`", clean(name)),
        Some(texts) => {
            let each: Vec<String> = texts.iter().map(|text| format!("`{} '{}'`", clean(name), clean(text))).collect();
            each.join(" ")
        }
    };
    Some(format!("the file was made with {}, but here it is {}", shown(claimed.get(name)), shown(given.get(name))))
}

/// The SHA-256 of the program as automata.
fn automaton_digest(program: &Program) -> String {
    let mut hasher = Hasher(Sha256::new());
    automaton::write(program, &mut hasher).expect("a hash takes everything");
    hex(hasher.0.finalize().as_slice())
}

struct Hasher(Sha256);

impl Write for Hasher {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The first digits, as far as they can be shown.
pub(super) fn short(digest: &str) -> String {
    clean(&digest.chars().take(12).collect::<String>())
}
