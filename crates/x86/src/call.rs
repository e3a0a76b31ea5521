//! Calls as people write them: `producer(&q, 3)`.

use weir_ir::{Value, nearest};

use crate::image::{Image, SymbolKind};
use crate::objects::Objects;
use crate::refusal::Refusal;

/// A call of a function in the file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Call {
    /// The name of the function, as it was written.
    pub(crate) name: String,
    pub(crate) entry: u64,
    pub(crate) arguments: Vec<Value>,
}

impl Call {
    /// Reads a call.
    pub(crate) fn parse(text: &str, image: &Image, objects: &Objects) -> Result<Self, Refusal> {
        let malformed = || {
            Refusal::new("malformed-call", format!("`{text}` is not a call"))
                .help("write it as in C, with addresses of global variables and numbers: `producer(&q, 3)`")
        };
        let text = text.trim();
        let (name, arguments) = match text.split_once('(') {
            Some((name, rest)) => (name.trim(), rest.trim_end().strip_suffix(')').ok_or_else(malformed)?),
            None => (text, ""),
        };
        if name.is_empty() {
            return Err(malformed());
        }
        let entry = function(name, image)?;
        let arguments: Vec<&str> = arguments.split(',').map(str::trim).collect();
        let arguments = if arguments == [""] { Vec::new() } else { arguments };
        if arguments.len() > crate::ops::Reg::ARGUMENTS.len() {
            return Err(Refusal::new("malformed-call", format!("`{name}` is called with more than six arguments"))
                .help("functions with more take them from the stack, which is not supported"));
        }
        let arguments = arguments.into_iter().map(|argument| value(argument, objects)).collect::<Result<_, _>>()?;
        Ok(Self { name: name.to_owned(), entry, arguments })
    }
}

/// The address of a function. Rust's may be named without their path.
fn function(name: &str, image: &Image) -> Result<u64, Refusal> {
    if let Some(symbol) = image.symbol(name, SymbolKind::Function) {
        return Ok(symbol.address);
    }
    let functions = || image.symbols.iter().filter(|symbol| symbol.kind == SymbolKind::Function);
    let suffix = format!("::{name}");
    let mut fitting: Vec<u64> =
        functions().filter(|symbol| symbol.name.ends_with(&suffix)).map(|symbol| symbol.address).collect();
    fitting.dedup();
    if let [address] = fitting[..] {
        return Ok(address);
    }
    let known: Vec<&str> = functions().map(|symbol| symbol.name.as_str()).collect();
    let help = match nearest(name, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None if known.is_empty() => "the file has no functions: was it stripped?".to_owned(),
        None => {
            let shown: Vec<String> = known.iter().take(12).map(|name| format!("`{name}`")).collect();
            let more = if known.len() > 12 { ", …" } else { "" };
            format!("its functions are {}{more}; inlined functions need `__attribute__((noinline))`", shown.join(", "))
        }
    };
    Err(Refusal::new("unknown-function", format!("there is no function `{name}` in the file")).help(help))
}

/// A number, or the address of an object or of a part of one.
fn value(text: &str, objects: &Objects) -> Result<Value, Refusal> {
    if let Some(name) = text.strip_prefix('&') {
        return address(name.trim(), objects);
    }
    number(text).ok_or_else(|| {
        Refusal::new("malformed-call", format!("`{text}` is neither a number nor the address of a variable"))
            .help("pass the address of a global variable as `&name`, and numbers as they are")
    })
}

/// A number as in C.
pub(crate) fn number(text: &str) -> Option<Value> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (-1_i128, digits),
        None => (1, text),
    };
    let digits = digits.trim_end_matches(['u', 'U', 'l', 'L']);
    let value = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(digits) => i128::from_str_radix(digits, 16).ok()?,
        None => digits.parse::<i128>().ok()?,
    };
    let value = sign * value;
    (i128::from(i64::MIN)..=i128::from(u64::MAX)).contains(&value).then_some(value as Value)
}

/// The address of an object or of a part of one.
pub(crate) fn address(name: &str, objects: &Objects) -> Result<Value, Refusal> {
    if let Some(object) = objects.named(name) {
        return Ok(object.address as Value);
    }
    let begins = |part: &str| {
        part.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('.') || rest.starts_with('['))
    };
    for object in objects.iter() {
        if let Some(part) = object.parts.iter().find(|part| begins(&part.name)) {
            return Ok(object.address.wrapping_add(part.offset) as Value);
        }
    }
    Err(unknown(name, objects))
}

/// There is no object of this name.
pub(crate) fn unknown(name: &str, objects: &Objects) -> Refusal {
    let names = objects.iter().flat_map(|object| {
        std::iter::once(object.name.as_str()).chain(object.parts.iter().take(64).map(|part| part.name.as_str()))
    });
    let help = match nearest(name, names) {
        Some(near) => format!("did you mean `{near}`?"),
        None => {
            let shown: Vec<String> = objects
                .iter()
                .filter(|object| object.is_writable)
                .take(12)
                .map(|object| format!("`{}`", object.name))
                .collect();
            if shown.is_empty() {
                "the file has no global variables".to_owned()
            } else {
                format!("its variables are {}", shown.join(", "))
            }
        }
    };
    Refusal::new("unknown-object", format!("there is no variable `{name}` in the file")).help(help)
}
