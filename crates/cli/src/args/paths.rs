//! No file may be both read and written, or written twice.

use std::path::Path;

use weir_report::wording::clean::display_name;

use super::command::Command;
use super::common::AnalysisOptions;
use super::fences::CostChoice;
use crate::input::is_same_file;

/// The files that a command reads, and those that it writes, with the option that names each.
#[derive(Default)]
struct Paths<'a> {
    read: Vec<&'a Path>,
    written: Vec<(&'static str, &'a Path)>,
}

/// Refuses to overwrite a file that is read.
pub(super) fn check(command: &Command) -> Result<(), String> {
    let paths = paths(command);
    for (number, &(option, path)) in paths.written.iter().enumerate() {
        let name = display_name(path);
        if paths.read.iter().any(|read| is_same_file(source(read), path)) {
            return Err(format!("`{option}` would overwrite the input file `{name}`; choose another name"));
        }
        let before = paths.written[..number].iter().find(|(_, other)| is_same_file(other, path));
        if let Some((other, _)) = before {
            return Err(format!("`{other}` and `{option}` both name `{name}`; choose different names"));
        }
    }
    Ok(())
}

/// What `-` stands for: standard input may be a file.
fn source(path: &Path) -> &Path {
    if path.as_os_str() == "-" { Path::new("/dev/stdin") } else { path }
}

fn paths(command: &Command) -> Paths<'_> {
    let mut paths = Paths::default();
    match command {
        Command::Check(options) => {
            paths.analysis(&options.common);
            paths.write("--certificate", options.certificate.as_deref());
        }
        Command::Reach(options) => {
            paths.analysis(&options.common);
            paths.write("--certificate", options.certificate.as_deref());
        }
        Command::Robust(options) => {
            paths.analysis(&options.common);
            paths.write("--certificate", options.certificate.as_deref());
        }
        Command::Fences(options) => {
            let costs = match &options.cost {
                CostChoice::File(path) => Some(path),
                _ => None,
            };
            paths.read.extend(options.files.iter().chain(costs).map(|file| file.as_path()));
            paths.write("--certificate", options.certificate.as_deref());
        }
        Command::Cover(options) => {
            paths.read.extend(options.files.iter().map(|file| file.as_path()));
            paths.write("--certificate", options.certificate.as_deref());
        }
        Command::Prob(options) => {
            let named = [&options.costs, &options.compare].into_iter().flatten();
            paths.read.extend(options.files.iter().chain(named).map(|file| file.as_path()));
            paths.write("--curve", options.curve.as_deref());
            paths.write("--certificate", options.certificate.as_deref());
        }
        // The others write to standard output, or what they are meant to overwrite.
        _ => {}
    }
    paths
}

impl<'a> Paths<'a> {
    fn analysis(&mut self, options: &'a AnalysisOptions) {
        self.read.extend(options.files.iter().map(|file| file.as_path()));
        self.write("--witness", options.witness.as_deref());
        self.write("--svg", options.svg.as_deref());
    }

    fn write(&mut self, option: &'static str, path: Option<&'a Path>) {
        self.written.extend(path.map(|path| (option, path)));
    }
}
