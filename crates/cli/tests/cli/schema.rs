//! Validates JSON against the part of JSON Schema that `docs/schema.json` uses. A library would do as well, but the one
//! there is takes longer to compile than all of Weir's command line. A keyword that is not known here is a failure.

use serde_json::{Map, Value};

/// A schema, and the document that references in it are about.
pub(crate) struct Validator<'s> {
    document: &'s Value,
}

impl<'s> Validator<'s> {
    pub(crate) fn new(document: &'s Value) -> Self {
        Self { document }
    }

    pub(crate) fn is_valid(&self, value: &Value) -> bool {
        self.errors(value).is_empty()
    }

    /// Everything that is wrong with a value.
    pub(crate) fn errors(&self, value: &Value) -> Vec<String> {
        let mut errors = Vec::new();
        self.check(self.document, value, "", &mut errors);
        errors
    }

    fn fits(&self, schema: &Value, value: &Value) -> bool {
        let mut errors = Vec::new();
        self.check(schema, value, "", &mut errors);
        errors.is_empty()
    }

    fn check(&self, schema: &Value, value: &Value, at: &str, errors: &mut Vec<String>) {
        let Value::Object(schema) = schema else {
            assert_eq!(schema, &Value::Bool(true), "a schema is an object, or true");
            return;
        };
        for (keyword, wanted) in schema {
            let is_met = match keyword.as_str() {
                "$schema" | "$defs" | "title" | "description" | "default" | "format" => true,
                "$ref" => {
                    self.check(self.resolve(wanted), value, at, errors);
                    true
                }
                "type" => list(wanted).iter().any(|name| has_type(value, name)),
                "const" => value == wanted,
                "enum" => list(wanted).contains(value),
                "minimum" => value.as_f64().is_none_or(|number| wanted.as_f64().is_some_and(|least| number >= least)),
                "anyOf" => list(wanted).iter().any(|one| self.fits(one, value)),
                "oneOf" => list(wanted).iter().filter(|one| self.fits(one, value)).count() == 1,
                "required" => value.as_object().is_none_or(|object| has_all(object, wanted)),
                "minItems" => value.as_array().is_none_or(|items| items.len() as u64 >= number(wanted)),
                "maxItems" => value.as_array().is_none_or(|items| items.len() as u64 <= number(wanted)),
                "properties" | "additionalProperties" | "items" | "prefixItems" => true,
                unknown => panic!("the schema uses `{unknown}`, which the validator in the tests does not know"),
            };
            if !is_met {
                errors.push(format!("{at}: {keyword} {wanted}, found {value}"));
            }
        }
        match value {
            Value::Object(object) => self.check_properties(schema, object, at, errors),
            Value::Array(items) => self.check_items(schema, items, at, errors),
            _ => {}
        }
    }

    fn check_properties(
        &self,
        schema: &Map<String, Value>,
        object: &Map<String, Value>,
        at: &str,
        errors: &mut Vec<String>,
    ) {
        let known = schema.get("properties").and_then(Value::as_object);
        for (name, value) in object {
            let at = format!("{at}/{name}");
            match (known.and_then(|known| known.get(name)), schema.get("additionalProperties")) {
                (Some(schema), _) => self.check(schema, value, &at, errors),
                (None, Some(Value::Bool(false))) => errors.push(format!("{at}: not in the schema")),
                (None, Some(schema)) => self.check(schema, value, &at, errors),
                (None, None) => {}
            }
        }
    }

    fn check_items(&self, schema: &Map<String, Value>, items: &[Value], at: &str, errors: &mut Vec<String>) {
        let first = schema.get("prefixItems").map(list).unwrap_or_default();
        for (number, item) in items.iter().enumerate() {
            if let Some(schema) = first.get(number).or_else(|| schema.get("items")) {
                self.check(schema, item, &format!("{at}/{number}"), errors);
            }
        }
    }

    fn resolve(&self, reference: &Value) -> &'s Value {
        let path = reference.as_str().and_then(|path| path.strip_prefix('#')).expect("a reference into the document");
        self.document.pointer(path).unwrap_or_else(|| panic!("{path} is not in the schema"))
    }
}

/// The elements of a list, or the value by itself.
fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice)
}

fn number(value: &Value) -> u64 {
    value.as_u64().expect("a number")
}

fn has_all(object: &Map<String, Value>, names: &Value) -> bool {
    list(names).iter().all(|name| name.as_str().is_some_and(|name| object.contains_key(name)))
}

fn has_type(value: &Value, name: &Value) -> bool {
    match name.as_str().expect("the name of a type") {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("there is no type `{other}`"),
    }
}

#[test]
fn the_validator_notices() {
    let schema = serde_json::json!({
        "$defs": { "word": { "type": "string", "enum": ["a", "b"] } },
        "type": "object",
        "required": ["one"],
        "additionalProperties": false,
        "properties": {
            "one": { "$ref": "#/$defs/word" },
            "two": { "type": ["integer", "null"], "minimum": 2 },
            "three": { "type": "array", "prefixItems": [{ "const": 1 }], "items": { "type": "boolean" }, "minItems": 1,
                       "maxItems": 3 },
            "four": { "oneOf": [{ "type": "number" }, { "type": "integer" }, { "type": "boolean" }] },
            "five": { "anyOf": [{ "type": "number" }, { "type": "integer" }] },
        },
    });
    let validator = Validator::new(&schema);
    let good = [
        r#"{"one": "a"}"#,
        r#"{"one": "b", "two": null, "three": [1]}"#,
        r#"{"one": "b", "two": 2, "three": [1, true, false], "four": 1.5, "five": 1}"#,
    ];
    let bad = [
        r#"7"#,
        r#"{}"#,
        r#"{"one": "c"}"#,
        r#"{"one": 1}"#,
        r#"{"one": "a", "other": 1}"#,
        r#"{"one": "a", "two": 1}"#,
        r#"{"one": "a", "two": 2.5}"#,
        r#"{"one": "a", "three": []}"#,
        r#"{"one": "a", "three": [2]}"#,
        r#"{"one": "a", "three": [1, 1]}"#,
        r#"{"one": "a", "three": [1, true, true, true]}"#,
        r#"{"one": "a", "four": 1}"#,
        r#"{"one": "a", "four": "x"}"#,
        r#"{"one": "a", "five": "x"}"#,
    ];
    let parse = |text: &str| serde_json::from_str::<Value>(text).expect("JSON");
    good.iter().for_each(|text| assert_eq!(validator.errors(&parse(text)), [""; 0], "{text}"));
    bad.iter().for_each(|text| assert!(!validator.is_valid(&parse(text)), "{text}"));
}
