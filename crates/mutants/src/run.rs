//! Runs the tests: once with every mutant off, to see which tests reach which mutants and how much CPU time they take,
//! then with one mutant on at a time until a test fails. Fast tests, and those that have caught others, come first.
//!
//! CPU time and not elapsed time decides what is run, so that a busy machine asks the same tests as an idle one.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Read};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::compile::Binary;

/// A test, and what it did with every mutant off.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Test {
    /// Which of the binaries it is in.
    #[serde(skip)]
    binary: usize,
    pub(crate) name: String,
    /// CPU time.
    seconds: f64,
    reaches: BTreeSet<usize>,
    /// How many mutants it has caught.
    #[serde(skip)]
    caught: AtomicUsize,
}

impl Test {
    /// What comes first: what is likely to fail soon.
    fn rank(&self) -> f64 {
        let caught = 1.0 + self.caught.load(Ordering::Relaxed) as f64;
        (self.seconds + 0.01) / (caught * caught)
    }
}

/// What became of a mutant.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Fate {
    /// The test that failed.
    Caught(String),
    /// The test that did not end in time.
    TimedOut(String),
    /// All tests that were run passed.
    Survived,
    /// No test reaches it.
    Unreached,
}

/// How a run of a test ended.
enum End {
    Passed,
    Failed,
    TimedOut,
}

/// How much CPU time a test may take: much more than with every mutant off.
fn patience(seconds: f64) -> f64 {
    20.0 + 8.0 * seconds
}

/// How long a test may take with so much CPU time, on a machine that may be busy: one that waits must end as well.
fn elapsed_patience(seconds: f64) -> Duration {
    Duration::from_secs_f64(120.0 + 5.0 * seconds)
}

/// More memory than this is not given to a test: a mutant may ask for any amount.
const MEMORY_KIB: u64 = 10 << 20;

/// Runs a test with limits on memory and CPU time, and prints the CPU time of the shell and of the test.
const SCRIPT: &str = r#"ulimit -v "$1"; ulimit -S -t "$2"; shift 2; "$@" >/dev/null; code=$?; times; exit $code"#;

/// The exit status with which a shell reports that the limit on CPU time has ended a command: 128 + `SIGXCPU`.
const OUT_OF_CPU_TIME: i32 = 152;

/// Runs a test for at most so many seconds of CPU time, and says how many it took.
fn run(binary: &Binary, test: &str, environment: &[(&str, &str)], limit: f64) -> io::Result<(End, f64)> {
    let limit = limit.ceil();
    let mut child = Command::new("sh")
        .args(["-c", SCRIPT, "sh", &MEMORY_KIB.to_string(), &limit.to_string()])
        .arg(&binary.path)
        .args(["--exact", test, "--test-threads=1"])
        .envs(environment.iter().copied())
        .current_dir(&binary.directory)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()?;
    let begun = Instant::now();
    let mut pause = Duration::from_millis(1);
    loop {
        if let Some(status) = child.try_wait()? {
            let mut times = String::new();
            child.stdout.take().map_or(Ok(0), |mut output| output.read_to_string(&mut times))?;
            let end = match status.code() {
                Some(0) => End::Passed,
                Some(OUT_OF_CPU_TIME) => End::TimedOut,
                _ => End::Failed,
            };
            return Ok((end, cpu_seconds(&times)));
        }
        if begun.elapsed() > elapsed_patience(limit) {
            kill(&mut child);
            return Ok((End::TimedOut, limit));
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(50));
    }
}

/// The CPU time, user and system, of the shell's children: the second line of what its `times` prints, as in
/// `0m1.25s 0m0.50s`.
fn cpu_seconds(times: &str) -> f64 {
    let seconds = |word: &str| {
        let (minutes, seconds) = word.strip_suffix('s')?.split_once('m')?;
        Some(minutes.parse::<f64>().ok()? * 60.0 + seconds.parse::<f64>().ok()?)
    };
    times.lines().nth(1).unwrap_or_default().split_whitespace().filter_map(seconds).sum()
}

/// Ends the test and whatever it started.
fn kill(child: &mut Child) {
    let group = format!("-{}", child.id());
    let _ = Command::new("kill").args(["-KILL", "--", &group]).stderr(Stdio::null()).status();
    let _ = child.wait();
}

/// Does the work items on several threads.
fn in_parallel<T: Sync, R: Send>(
    jobs: usize,
    items: &[T],
    work: impl Fn(&T) -> io::Result<R> + Sync,
) -> io::Result<Vec<R>> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        let worker = || -> io::Result<()> {
            while let Some((number, item)) =
                Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|n| Some((n, items.get(n)?)))
            {
                let result = work(item)?;
                done.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push((number, result));
            }
            Ok(())
        };
        let workers: Vec<_> = (0..jobs).map(|_| scope.spawn(worker)).collect();
        workers.into_iter().try_for_each(|worker| worker.join().map_err(|_| io::Error::other("a worker panicked"))?)
    })?;
    let mut done = done.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
    done.sort_by_key(|(number, _)| *number);
    Ok(done.into_iter().map(|(_, result)| result).collect())
}

fn listed(binary: &Binary) -> io::Result<Vec<String>> {
    let output =
        Command::new(&binary.path).args(["--list", "--format", "terse"]).current_dir(&binary.directory).output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(text.lines().filter_map(|line| line.strip_suffix(": test")).map(str::to_owned).collect())
}

/// Every test with what it reaches. Results for a binary that has not changed are kept in the folder. A test that fails
/// although every mutant is off is of no use: `leave_out` is called with its name.
pub(crate) fn baseline(
    binaries: &[Binary],
    folder: &Path,
    jobs: usize,
    leave_out: impl Fn(&str) + Sync,
) -> io::Result<Vec<Test>> {
    let mut tests = Vec::new();
    for (number, binary) in binaries.iter().enumerate() {
        let name = binary.path.file_name().unwrap_or_default().to_string_lossy();
        let file = folder.join(format!("{name}.json"));
        let mut known = read_baseline(&file, binary).map_or_else(|| record(binary, &file, jobs, &leave_out), Ok)?;
        known.iter_mut().for_each(|test| test.binary = number);
        tests.extend(known);
    }
    Ok(tests)
}

/// What an earlier run has found out about this binary, if it has not been built again since.
fn read_baseline(file: &Path, binary: &Binary) -> Option<Vec<Test>> {
    let modified = |path: &Path| std::fs::metadata(path).and_then(|data| data.modified()).ok();
    if modified(file)? < modified(&binary.path)? {
        return None;
    }
    serde_json::from_str(&std::fs::read_to_string(file).ok()?).ok()
}

/// More CPU seconds than any test takes.
const LONGEST: f64 = 1800.0;

/// How often a test is tried with every mutant off. Tests of limits can fail on a busy machine.
const TRIES: usize = 3;

fn record(binary: &Binary, file: &Path, jobs: usize, leave_out: &(impl Fn(&str) + Sync)) -> io::Result<Vec<Test>> {
    let one = |name: &String| {
        for _ in 0..TRIES {
            if let Some(test) = record_one(binary, file, name)? {
                return Ok(Some(test));
            }
        }
        leave_out(&format!("{}::{name}", binary.name));
        Ok(None)
    };
    let tests: Vec<Test> = in_parallel(jobs, &listed(binary)?, one)?.into_iter().flatten().collect();
    std::fs::write(file, serde_json::to_string(&tests)?)?;
    Ok(tests)
}

/// What a test reaches, with every mutant off; none if it fails.
fn record_one(binary: &Binary, file: &Path, name: &str) -> io::Result<Option<Test>> {
    let reached = file.with_extension(name.replace(':', "_"));
    let environment = [("WEIR_MUTANT", "record"), ("WEIR_MUTANT_REACHED", &*reached.to_string_lossy())];
    let (end, seconds) = run(binary, name, &environment, LONGEST)?;
    let numbers = std::fs::read_to_string(&reached).unwrap_or_default();
    let _ = std::fs::remove_file(&reached);
    let reaches = numbers.lines().filter_map(|line| line.parse().ok()).collect();
    let test = Test { binary: 0, name: name.to_owned(), seconds, reaches, caught: AtomicUsize::new(0) };
    Ok(matches!(end, End::Passed).then_some(test))
}

/// What becomes of each of these mutants.
pub(crate) fn fates(
    binaries: &[Binary],
    tests: &[Test],
    mutants: &[usize],
    jobs: usize,
    effort: f64,
    tell: impl Fn(usize, &Fate) + Sync,
) -> io::Result<BTreeMap<usize, Fate>> {
    let one = |&mutant: &usize| {
        let fate = fate(binaries, tests, mutant, effort)?;
        tell(mutant, &fate);
        Ok((mutant, fate))
    };
    Ok(in_parallel(jobs, mutants, one)?.into_iter().collect())
}

/// Runs the tests that reach a mutant, for about so many seconds of CPU time, until one notices it.
fn fate(binaries: &[Binary], tests: &[Test], mutant: usize, effort: f64) -> io::Result<Fate> {
    let mut reaching: Vec<(f64, &Test)> =
        tests.iter().filter(|test| test.reaches.contains(&mutant)).map(|test| (test.rank(), test)).collect();
    reaching.sort_by(|left, right| left.0.total_cmp(&right.0));
    let mut spent = 0.0;
    for (_, test) in &reaching {
        if spent + test.seconds > effort {
            continue;
        }
        spent += test.seconds;
        let binary = &binaries[test.binary];
        let name = || format!("{}::{}", binary.name, test.name);
        let (end, _) = run(binary, &test.name, &[("WEIR_MUTANT", &mutant.to_string())], patience(test.seconds))?;
        if !matches!(end, End::Passed) {
            test.caught.fetch_add(1, Ordering::Relaxed);
        }
        match end {
            End::Passed => {}
            End::Failed => return Ok(Fate::Caught(name())),
            End::TimedOut => return Ok(Fate::TimedOut(name())),
        }
    }
    Ok(if reaching.is_empty() { Fate::Unreached } else { Fate::Survived })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_the_test_is_read_and_not_that_of_the_shell() {
        assert_eq!(cpu_seconds("0m0.25s 0m0.25s\n1m1.50s 0m0.25s\n"), 61.75);
        assert_eq!(cpu_seconds(""), 0.0);
    }

    #[test]
    fn a_test_that_spins_ends_by_its_cpu_time_and_one_that_fails_has_failed() -> io::Result<()> {
        let shell = |script: &str| {
            let folder = std::env::temp_dir();
            let path = folder.join(format!("weir-mutants-{}-{}", std::process::id(), script.len()));
            std::fs::write(&path, format!("#!/bin/sh\n{script}\n"))?;
            std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o700))?;
            let binary = Binary { name: "shell".into(), path: path.clone(), directory: folder };
            let ended = run(&binary, "test", &[], 1.0);
            std::fs::remove_file(&path)?;
            ended
        };
        assert!(matches!(shell("exit 0")?, (End::Passed, _)));
        assert!(matches!(shell("exit 101")?, (End::Failed, _)));
        let (end, seconds) = shell("while :; do :; done")?;
        assert!(matches!(end, End::TimedOut) && (0.5..3.0).contains(&seconds), "{seconds}");
        Ok(())
    }
}
