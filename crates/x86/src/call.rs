//! Calls as people write them: `producer(&q, 3)`.

use weir_ir::{Value, nearest};

use crate::debug::{Debug, Function, Returned};
use crate::image::{Image, Symbol, opening, without_parameters};
use crate::objects::Objects;
use crate::refusal::Refusal;

/// A call of a function in the file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Call {
    /// The name of the function, as it was written, without the types of its parameters.
    pub(crate) name: String,
    pub(crate) entry: u64,
    pub(crate) arguments: Vec<Value>,
    /// What it returns, if there is debugging information about it.
    pub(crate) result: Option<Returned>,
}

impl Call {
    /// Reads a call.
    pub(crate) fn parse(text: &str, image: &Image, objects: &Objects, debug: &Debug) -> Result<Self, Refusal> {
        let malformed = || {
            Refusal::new("malformed-call", format!("`{text}` is not a call"))
                .help("write it as in C, with addresses of global variables and numbers: `producer(&q, 3)`")
        };
        let text = text.trim();
        // The parentheses may be those of a name in C++: `ns::f(int)`.
        let is_name = image.function(text).is_some();
        let (name, arguments) = match opening(text).filter(|_| !is_name) {
            Some(at) => (text[..at].trim(), &text[at + 1..text.len() - 1]),
            None if text.contains('(') && !is_name => return Err(malformed()),
            None => (text, ""),
        };
        if name.is_empty() {
            return Err(malformed());
        }
        let function = function(name, image)?;
        let arguments: Vec<&str> = arguments.split(',').map(str::trim).collect();
        let arguments = if arguments == [""] { Vec::new() } else { arguments };
        if arguments.len() > crate::ops::Reg::ARGUMENTS.len() {
            return Err(Refusal::new("malformed-call", format!("`{name}` is called with more than six arguments"))
                .help("functions with more take them from the stack, which is not supported"));
        }
        let arguments: Vec<Value> =
            arguments.into_iter().map(|argument| value(argument, objects)).collect::<Result<_, _>>()?;
        let declared = declared(function, debug);
        fits(function, declared, arguments.len(), debug)?;
        let result = declared.map(|declared| declared.result);
        Ok(Self { name: without_parameters(name).to_owned(), entry: function.address, arguments, result })
    }
}

/// How a function is declared. Compilers drop parameters and results of the copies that they make (`f.isra.0`).
fn declared<'d>(function: &Symbol, debug: &'d Debug) -> Option<&'d Function> {
    debug.function(function.address).filter(|_| !function.raw.contains('.'))
}

/// Whether a function takes so many arguments, as far as that is known.
fn fits(function: &Symbol, declared: Option<&Function>, given: usize, debug: &Debug) -> Result<(), Refusal> {
    let Some(declared) = declared.filter(|declared| !declared.takes(given)) else { return Ok(()) };
    let name = without_parameters(&function.name);
    let place = declared.place.map_or_else(String::new, |place| format!(" ({})", debug.short(place)));
    let message = format!("`{name}` takes {}, and the call has {given}", declared.arguments());
    Err(Refusal::new("wrong-arguments", message)
        .help(format!("its declaration is `{}`{place}", declared.declaration(name))))
}

/// The function of this name. Names may be given without what is certain: the path, and the types of parameters.
fn function<'i>(name: &str, image: &'i Image) -> Result<&'i Symbol, Refusal> {
    if let Some(symbol) = image.function(name) {
        return Ok(symbol);
    }
    let suffix = format!("::{name}");
    let named = |fits: &dyn Fn(&str) -> bool| {
        let mut found: Vec<&Symbol> = image.functions().filter(|symbol| fits(&symbol.name)).collect();
        found.dedup_by_key(|symbol| symbol.address);
        found
    };
    let ways: [&dyn Fn(&str) -> bool; 3] =
        [&|known| without_parameters(known) == name, &|known| known.ends_with(&suffix), &|known| {
            without_parameters(known).ends_with(&suffix)
        }];
    for way in ways {
        match named(way)[..] {
            [] => {}
            [only] => return Ok(only),
            ref several => {
                let several: Vec<&str> = several.iter().map(|symbol| symbol.name.as_str()).collect();
                return Err(Refusal::new("unknown-function", format!("`{name}` can be one of several functions"))
                    .help(format!("name one in full: {}", listed(&several))));
            }
        }
    }
    Err(unknown_function(name, image))
}

/// There is no such function.
fn unknown_function(name: &str, image: &Image) -> Refusal {
    // Other symbols without a type stand for places in data.
    let functions = image.functions().filter(|symbol| image.code(symbol.address, 1).is_some());
    let known: Vec<&str> = functions.map(|symbol| symbol.name.as_str()).collect();
    let names = known.iter().flat_map(|known| [known, without_parameters(known)]);
    let help = match nearest(name, names) {
        Some(near) => format!("did you mean `{near}`?"),
        None if known.is_empty() && image.is_for_linker => {
            "it holds no machine code but what `-flto` leaves for the linker: compile without `-flto`, or with \
             `-ffat-lto-objects`"
                .to_owned()
        }
        None if known.is_empty() => "the file has no functions: was it stripped?".to_owned(),
        None => format!("its functions are {}; inlined functions need `__attribute__((noinline))`", listed(&known)),
    };
    Refusal::new("unknown-function", format!("there is no function `{name}` in the file")).help(help)
}

/// Some names, in quotes.
fn listed(names: &[&str]) -> String {
    let shown: Vec<String> = names.iter().take(12).map(|name| format!("`{name}`")).collect();
    let more = if names.len() > 12 { ", …" } else { "" };
    shown.join(", ") + more
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
    let begins = |part: &str, name: &str| {
        part.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('.') || rest.starts_with('['))
    };
    for object in objects.iter() {
        let short = object.without_path(name);
        if let Some(part) = object.parts.iter().find(|part| begins(&part.name, name) || begins(&part.name, short)) {
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
