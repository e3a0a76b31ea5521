//! Reading: files and standard input, as text of a size that can be dealt with.

use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use weir_ir::Source;
use weir_report::wording::clean::display_name;
use weir_report::wording::units::size_text;
use weir_syntax::Language;

use crate::error::Error;

/// Larger programs are refused: the parser would refuse them anyway, after they were read.
pub(crate) const PROGRAM_LIMIT: u64 = weir_syntax::weir::limits::MAX_SOURCE_BYTES as u64;

/// Whether a path means standard input.
pub(crate) fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Whether two paths lead to the same file: one that exists, by links of any kind, or one that is still to be made.
/// Devices and pipes never count as the same file.
pub(crate) fn is_same_file(one: &Path, other: &Path) -> bool {
    match (one.metadata(), other.metadata()) {
        (Ok(found), Ok(too)) => found.is_file() && too.is_file() && is_same((one, &found), (other, &too)),
        (Err(_), Err(_)) => made_at(one) == made_at(other),
        _ => false,
    }
}

/// Where a file will be made: at the end of links, in a folder that exists.
fn made_at(path: &Path) -> PathBuf {
    let path = fs::read_link(path).map_or_else(|_| path.to_owned(), |to| path.with_file_name("").join(to));
    let folder = path.parent().map(|folder| Path::new(".").join(folder));
    let folder = folder.and_then(|folder| folder.canonicalize().ok());
    match (folder, path.file_name()) {
        (Some(folder), Some(name)) => folder.join(name),
        _ => std::path::absolute(&path).unwrap_or(path),
    }
}

#[cfg(unix)]
fn is_same((_, one): (&Path, &Metadata), (_, other): (&Path, &Metadata)) -> bool {
    use std::os::unix::fs::MetadataExt;
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

#[cfg(not(unix))]
fn is_same((one, _): (&Path, &Metadata), (other, _): (&Path, &Metadata)) -> bool {
    one.canonicalize().ok() == other.canonicalize().ok()
}

/// The language of a file: as given, or else by its extension.
pub(crate) fn language(path: &Path, given: Option<Language>) -> Result<Language, Error> {
    if let Some(language) = given {
        return Ok(language);
    }
    let by_extension = || path.extension().and_then(|extension| Language::by_extension(&extension.to_string_lossy()));
    match by_extension() {
        Some(language) => Ok(language),
        None if is_stdin(path) => Ok(Language::Weir),
        None if is_elf(path) => Ok(Language::X86),
        None => Err(unknown_language(path)),
    }
}

/// Whether a file is an executable, or other compiled code: these often have no extension.
fn is_elf(path: &Path) -> bool {
    let mut first = [0; 4];
    path.is_file() && File::open(path).and_then(|mut file| file.read_exact(&mut first)).is_ok() && first == *b"\x7fELF"
}

/// Extensions of source and machine code, which people try.
const CODE: [&str; 13] = ["c", "h", "cc", "cpp", "cxx", "hpp", "rs", "s", "asm", "go", "java", "zig", "ll"];

/// Why the language of a file is not known: there is no file, it is a directory, it is source code, or its extension is
/// misspelt or none of ours.
fn unknown_language(path: &Path) -> Error {
    if path.is_dir() {
        return directory();
    }
    if let Err(error) = path.metadata() {
        return unreadable(path, &error);
    }
    let extension = path.extension().map(|extension| extension.to_string_lossy().to_ascii_lowercase());
    let extension = extension.unwrap_or_default();
    if CODE.contains(&extension.as_str()) {
        return Error::input_with_help(
            format!("Weir reads compiled code and models of programs, and `.{extension}` is source code"),
            "compile it (`gcc -g -O2 -c`) and give Weir the object file, as docs/compiled.md explains; docs/from-code.md \
             says how to write a model of it",
        );
    }
    let known = Language::ALL.iter().flat_map(|language| language.extensions()).copied();
    let help = match weir_ir::nearest(&extension, known) {
        Some(near) if extension.len() > 2 => format!("did you mean `.{near}`?"),
        _ => "known extensions are `.weir`, `.litmus`, `.rmm` (Memorax), `.trencher` and `.txt` (Trencher), `.o` and `.a` \
              (compiled code); otherwise use `--from weir` or another language"
            .to_owned(),
    };
    Error::input_with_help("cannot tell the language from the file extension", help)
}

fn directory() -> Error {
    Error::input_with_help("this is a directory, not a file", "name the files in it, as in `dir/*.weir`")
}

/// Reads a program.
pub(crate) fn read_source(path: &Path) -> Result<Source, Error> {
    let text = read_text(path, PROGRAM_LIMIT)?;
    Ok(Source::new(display_name(path), text))
}

/// Reads a text of at most `limit` bytes.
pub(crate) fn read_text(path: &Path, limit: u64) -> Result<String, Error> {
    String::from_utf8(read_bytes(path, limit)?).map_err(|error| not_text(&error))
}

/// Reads a file of at most `limit` bytes.
pub(crate) fn read_bytes(path: &Path, limit: u64) -> Result<Vec<u8>, Error> {
    let bytes = read_some(path, limit).map_err(|error| unreadable(path, &error))?;
    if bytes.len() as u64 > limit {
        return Err(Error::input(format!("the file exceeds the maximum size of {}", size_text(limit))));
    }
    Ok(bytes)
}

/// Reads up to one byte more than `limit`, so that devices and pipes without end do no harm.
fn read_some(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if is_stdin(path) {
        io::stdin().lock().take(limit + 1).read_to_end(&mut bytes)?;
    } else {
        let file = File::open(path)?;
        if file.metadata()?.is_dir() {
            return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a directory"));
        }
        file.take(limit + 1).read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

/// The file of this name that has an extension of one of our languages, if there is one.
fn with_known_extension(path: &Path) -> Option<PathBuf> {
    let known = Language::ALL.iter().flat_map(|language| language.extensions());
    known
        .flat_map(|extension| [path.with_extension(extension), with_suffix(path, extension)])
        .find(|near| near.is_file())
}

/// The path with an extension after whatever it ends in.
fn with_suffix(path: &Path, extension: &str) -> PathBuf {
    PathBuf::from(format!("{}.{extension}", path.display()))
}

fn unreadable(path: &Path, error: &io::Error) -> Error {
    match error.kind() {
        io::ErrorKind::NotFound => match with_known_extension(path) {
            Some(near) => Error::input_with_help("no such file", format!("did you mean `{}`?", display_name(&near))),
            None => Error::input("no such file"),
        },
        io::ErrorKind::PermissionDenied => Error::input("cannot read the file: permission denied"),
        io::ErrorKind::IsADirectory => directory(),
        _ => Error::input(format!("cannot read the file: {error}")),
    }
}

/// Says where a file stops being text.
fn not_text(error: &std::string::FromUtf8Error) -> Error {
    let bytes = error.as_bytes();
    let at = error.utf8_error().valid_up_to();
    let (before, byte) = (&bytes[..at], bytes.get(at).copied().unwrap_or(0));
    let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
    let line_start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |newline| newline + 1);
    let column = String::from_utf8_lossy(&before[line_start..]).chars().count() + 1;
    Error::input_with_help(
        format!("not UTF-8 text: byte 0x{byte:02x} at line {line}, column {column}"),
        "check that this is the right file; if it is text in another encoding, convert it to UTF-8",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_are_no_text_are_pointed_at() {
        let error = String::from_utf8(b"ab\n\xc3\xa9x\xff".to_vec()).expect_err("not UTF-8");
        let reason = not_text(&error).reason();
        assert_eq!(reason, "not UTF-8 text: byte 0xff at line 2, column 3");
    }

    #[test]
    fn the_extension_tells_the_language_unless_it_is_given() {
        assert!(language(Path::new("a.weir"), None).is_ok());
        assert!(language(Path::new("a.WEIR"), None).is_ok());
        assert!(language(Path::new("-"), None).is_ok());
        assert_eq!(language(Path::new("a.txt"), Some(Language::Weir)).ok(), Some(Language::Weir));
        assert_eq!(language(Path::new("a.txt"), None).ok(), Some(Language::Trencher));
        assert_eq!(language(Path::new("a.rmm"), None).ok(), Some(Language::Rmm));
        assert!(language(Path::new("a.c"), None).is_err());
        assert!(language(Path::new("weir"), None).is_err());
    }
}
