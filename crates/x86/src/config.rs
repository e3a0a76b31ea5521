//! A small file beside compiled code that says what runs and what must hold:
//!
//! ```toml
//! threads = ["producer(&q, 3)", "consumer(&q)"]
//! init = "setup(&q)"
//! forbid = ["q.len > 4", "deadlock"]
//! always = "consumer.result == 6"
//!
//! [functions]
//! log_event = "nothing"
//! ```

use toml::{Table, Value};

use crate::models::parse_outcome;
use crate::program::Options;
use crate::refusal::Refusal;

/// Words that begin a property.
const PROPERTIES: [&str; 4] = ["forbid", "always", "exists", "live"];

impl Options {
    /// Reads such a file.
    ///
    /// # Errors
    /// If it is not TOML, or says something that has no meaning here.
    pub fn parse(text: &str) -> Result<Self, Refusal> {
        let table: Table = text.parse().map_err(|error: toml::de::Error| {
            let message = error.message();
            let line = error.span().map_or(1, |span| text[..span.start.min(text.len())].matches('\n').count() + 1);
            Refusal::new("malformed-toml", format!("line {line} is not valid TOML: {}", message.replace('\n', " ")))
        })?;
        let mut options = Self::default();
        for (key, value) in &table {
            match key.as_str() {
                "threads" => options.threads = strings(key, value)?,
                "init" => options.init = strings(key, value)?,
                "functions" => options.read_functions(value)?,
                word if PROPERTIES.contains(&word) => {
                    options.properties.extend(strings(key, value)?.into_iter().map(|text| format!("{word} {text}")));
                }
                key => {
                    let known = ["threads", "init", "functions"].into_iter().chain(PROPERTIES);
                    let help = match weir_ir::nearest(key, known) {
                        Some(near) => format!("did you mean `{near}`?"),
                        None => {
                            "known keys are `threads`, `init`, `forbid`, `always`, `exists`, `live`, `functions`".into()
                        }
                    };
                    return Err(Refusal::new("unknown-key", format!("the key `{key}` is not known")).help(help));
                }
            }
        }
        Ok(options)
    }

    fn read_functions(&mut self, value: &Value) -> Result<(), Refusal> {
        let wrong = || {
            Refusal::new("malformed-toml", "`functions` says for each function what it does")
                .help("write `[functions]`, and below it lines such as `log_event = \"nothing\"`")
        };
        for (name, value) in value.as_table().ok_or_else(wrong)? {
            let outcome = match value {
                Value::String(text) => parse_outcome(text),
                Value::Integer(number) => parse_outcome(&number.to_string()),
                _ => None,
            };
            let outcome = outcome.ok_or_else(|| {
                Refusal::new("malformed-toml", format!("what the function `{name}` does cannot be read"))
                    .help("expected \"nothing\", \"fail\", \"fence\", \"membarrier\", \"malloc\", \"calloc\", \"free\" or a number")
            })?;
            self.models.insert(name.clone(), outcome);
        }
        Ok(())
    }
}

/// A string, or a list of them.
fn strings(key: &str, value: &Value) -> Result<Vec<String>, Refusal> {
    let wrong = || {
        Refusal::new("malformed-toml", format!("`{key}` is neither a string nor a list of strings"))
            .help(format!("write `{key} = \"…\"` or `{key} = [\"…\", \"…\"]`"))
    };
    match value {
        Value::String(text) => Ok(vec![text.clone()]),
        Value::Array(list) => {
            list.iter().map(|item| item.as_str().map(str::to_owned).ok_or_else(wrong)).collect::<Result<_, _>>()
        }
        _ => Err(wrong()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::Outcome;

    #[test]
    fn a_file_says_what_runs_and_what_must_hold() {
        let text = "threads = [\"a(1)\", \"b()\"]\ninit = \"setup(&q)\"\nforbid = [\"x == 1\", \"deadlock\"]\n\
                    always = \"y == 2\"\n[functions]\nlog = \"nothing\"\nrandom = 4\n";
        let options = Options::parse(text).expect("it is right");
        assert_eq!((options.threads, options.init), (vec!["a(1)".into(), "b()".into()], vec!["setup(&q)".into()]));
        let mut properties = options.properties;
        properties.sort_unstable();
        assert_eq!(properties, ["always y == 2", "forbid deadlock", "forbid x == 1"]);
        assert_eq!(options.models.get("log"), Some(&Outcome::Returns(0)));
        assert_eq!(options.models.get("random"), Some(&Outcome::Returns(4)));
    }

    #[test]
    fn what_has_no_meaning_is_refused() {
        let message = |text: &str| Options::parse(text).expect_err("it is wrong").message;
        assert_eq!(message("thread = \"a()\""), "the key `thread` is not known");
        assert_eq!(message("threads = 3"), "`threads` is neither a string nor a list of strings");
        assert_eq!(message("[functions]\nf = \"maybe\""), "what the function `f` does cannot be read");
        assert!(message("\nthreads = ").starts_with("line 2 is not valid TOML"), "{}", message("\nthreads = "));
    }
}
