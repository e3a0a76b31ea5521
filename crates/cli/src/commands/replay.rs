//! `weir replay`: does a saved run or certificate answer the user's question?

use std::slice;

use weir::Bound;
use weir::fences::Aim;
use weir::parameterized::is_parameterized;
use weir::prob;
use weir_ir::{Program, spawn_constant};
use weir_report::answer::{Answer, CertificateAnswer, CommandName, NetCertificateAnswer, ProbQuestion, ReplayAnswer};
use weir_report::saved::{FencesAsked, Mismatch, Question, Rejection, Saved, SavedCertificate, SavedNetProof};
use weir_report::wording::clean::display_name;
use weir_syntax::nets::ParsedNet;
use weir_witness::{FencePlace, Goal, Model};

use super::cover::{self, NetQuestion};
use super::task::{Allowance, Task, Work};
use super::{analysis, certificate, model_limit};
use crate::args::{DEFAULT_START, ReplayOptions};
use crate::console::Console;
use crate::error::Error;
use crate::exit::Status;
use crate::fences::{Costs, candidates};
use crate::goals;
use crate::input::read_bytes;
use crate::limits::MAX_SAVED_BYTES;
use crate::load::{Loaded, load};
use crate::prob::target;

/// Runs it.
pub(super) fn run(options: &'static ReplayOptions, console: &mut Console) -> Status {
    let files = slice::from_ref(&options.file);
    let (command, format) = (CommandName::Replay, options.format);
    let one = |task: &Task<'_>, console: &mut Console| one(task, options, console);
    Work { command, format, files, limits: Allowance::of_resources(&options.limits), is_spaced: false, one }
        .run(console)
}

fn one(task: &Task<'_>, options: &ReplayOptions, console: &mut Console) -> Result<Status, Error> {
    let saved = read(options)?;
    if let Some(kind) = options.question {
        return match &saved {
            Saved::Proof(saved) => about_chance(task, (options, kind), saved, console),
            Saved::Run(_) | Saved::NetProof(_) => Err(Error::input(
                "`--question` asks for a proof about a probability, and this evidence is none".to_owned(),
            )),
        };
    }
    if let Some(aim) = options.aim {
        return match &saved {
            Saved::Proof(saved) => about_fences(task, (options, aim), saved, console),
            Saved::Run(_) | Saved::NetProof(_) => {
                Err(Error::input("`--for` asks for a proof about fences, and this evidence is none".to_owned()))
            }
        };
    }
    if let Saved::NetProof(saved) = &saved {
        return about_net(task, options, saved, console);
    }
    let mut loaded = load(task.file, &options.program, &task.session)?;
    if loaded.program.is_dynamic() {
        // How many instances of spawned threads there are is up to the file: if too few, the run cannot be replayed.
        loaded.program = loaded.program.linked(instances(&loaded.program, &saved));
    }
    let goals = asked(&loaded, options)?;
    let question =
        Question { program: &loaded.program, language: loaded.language, model: options.model, goals: &goals };
    match &saved {
        Saved::Run(saved) => {
            let result = saved.replay(&question);
            if result.as_ref().is_ok_and(|evidence| model_limit::relies(&loaded, &evidence.checked)) {
                model_limit::no_run_passes(&loaded, options.model, &task.session)?;
            }
            let answer = ReplayAnswer::new(&task.subject(&loaded), &options.evidence, saved, result);
            Ok(task.answer(&Answer::Replay(Box::new(answer)), false, console))
        }
        Saved::Proof(saved) => {
            // A proof is about the program, whose runs end where the model of compiled code does.
            let model = if goals.contains(&Goal::NotRobust) { Model::Sc } else { options.model };
            model_limit::no_run_passes(&loaded, model, &task.session)?;
            let result = checked(task, saved.check(&question, &task.session))?;
            let answer = CertificateAnswer::new(&task.subject(&loaded), &options.evidence, saved, result);
            Ok(task.answer(&Answer::Certificate(answer), false, console))
        }
        Saved::NetProof(_) => Err(Error::Bug("a proof about a net is checked before a program is read".to_owned())),
    }
}

/// Checks a proof that some fences are the cheapest.
fn about_fences(
    task: &Task<'_>,
    (options, aim): (&ReplayOptions, Aim),
    saved: &SavedCertificate,
    console: &mut Console,
) -> Result<Status, Error> {
    let (loaded, defines) = (load(task.file, &options.program, &task.session)?, &options.program.defines);
    if is_parameterized(&loaded.program) {
        return Err(analysis::fixed_number("proofs about fences are"));
    }
    let model = if aim == Aim::Safe { Model::Tso } else { Model::Sc };
    model_limit::no_run_passes(&loaded, model, &task.session)?;
    let goals = certificate::fence_goals(&loaded.program, aim)?;
    let costs = Costs::read(&options.cost)?;
    let (_, mut sites) = candidates(&loaded, defines, (aim, options.remove), &task.session)?;
    costs.set(&mut sites, &task.session)?;
    let places: Vec<FencePlace> = sites.places().iter().map(FencePlace::from).collect();
    let question =
        Question { program: &loaded.program, language: loaded.language, model: options.model, goals: &goals };
    let asked = FencesAsked { question, searched: &sites.program, places: &places, remove: options.remove };
    let result = checked(task, saved.check_fences(&asked, &task.session))?;
    let answer = CertificateAnswer::new(&task.subject(&loaded), &options.evidence, saved, result);
    Ok(task.answer(&Answer::Certificate(answer), false, console))
}

/// Checks a proof about a probability.
fn about_chance(
    task: &Task<'_>,
    (options, kind): (&ReplayOptions, ProbQuestion),
    saved: &SavedCertificate,
    console: &mut Console,
) -> Result<Status, Error> {
    let loaded = load(task.file, &options.program, &task.session)?;
    model_limit::no_run_passes(&loaded, Model::Tso, &task.session)?;
    let target = target(&loaded.program, options.targets.first().map(String::as_str), "--target")?;
    let question = prob::Question { target, repeated: options.repeated, settings: options.settings() };
    let answer = certificate::chance_asked(&loaded, &question, kind, |asked| {
        let result = checked(task, saved.check_chance(asked, &task.session))?;
        Ok(CertificateAnswer::new(&task.subject(&loaded), &options.evidence, saved, result))
    })?;
    Ok(task.answer(&Answer::Certificate(answer), false, console))
}

/// What came of checking a proof, unless that was interrupted.
fn checked(task: &Task<'_>, result: Result<(), Rejection>) -> Result<Result<(), Mismatch>, Error> {
    match result {
        Err(Rejection::Interrupted) => Err(Error::Stopped(task.session.ended_by())),
        Err(Rejection::Mismatch(mismatch)) => Ok(Err(mismatch)),
        Ok(()) => Ok(Ok(())),
    }
}

/// Checks a proof that a net cannot cover its targets.
fn about_net(
    task: &Task<'_>,
    options: &ReplayOptions,
    saved: &SavedNetProof,
    console: &mut Console,
) -> Result<Status, Error> {
    // For a program `--init` is a call, for a net it is where that starts.
    let init = options.program.compiled.init.first().map_or(DEFAULT_START, String::as_str);
    let question = NetQuestion { targets: &options.targets, init };
    let ParsedNet { net, warnings } = cover::load(task, None, &question)?;
    let result = checked(task, saved.check(&net, &task.session))?;
    let subject = cover::subject(task, &net, &warnings);
    let answer = NetCertificateAnswer::new(&subject, &options.evidence, saved, result);
    Ok(task.answer(&Answer::NetCertificate(answer), false, console))
}

/// Edges of programs that are made for files with spawned threads.
const MOST_EDGES: u64 = 5_000_000;

/// How many instances of spawned threads a file has; as many as any session can ask for, at most.
fn instances(program: &Program, saved: &Saved) -> u32 {
    let Saved::Run(saved) = saved else { return 1 };
    let constants = &saved.metadata.program.constants;
    let numbers = program.threads.iter().filter_map(|thread| constants.get(&spawn_constant(&thread.name)));
    // A file cannot ask for more than fits: a program with fewer instances than it claims is another one.
    let edges = program.threads.iter().map(|thread| thread.body.edges().len() as u64).sum::<u64>();
    let most = (Bound::SpawnedThreads.largest_value() + 1).min(MOST_EDGES / edges.max(1));
    numbers.filter_map(|&number| u32::try_from(number).ok()).max().unwrap_or(1).min(most as u32)
}

/// The properties that the user asks about.
fn asked(loaded: &Loaded, options: &ReplayOptions) -> Result<Vec<Goal>, Error> {
    let (robust, named): (Vec<String>, Vec<String>) =
        options.properties.iter().cloned().partition(|name| name == ROBUST);
    let mut goals =
        if named.is_empty() && !robust.is_empty() { Vec::new() } else { goals::select(&loaded.program, &named)? };
    if !robust.is_empty() || goals.is_empty() {
        goals.push(Goal::NotRobust);
    }
    Ok(goals)
}

/// The name of robustness among the properties.
const ROBUST: &str = "robust";

/// Reads the saved witness or certificate.
fn read(options: &ReplayOptions) -> Result<Saved, Error> {
    let bad = |reason: String| Error::input(format!("the evidence {}: {reason}", display_name(&options.evidence)));
    let bytes = read_bytes(&options.evidence, MAX_SAVED_BYTES).map_err(|error| bad(error.reason()))?;
    Saved::parse(&bytes).map_err(bad)
}
