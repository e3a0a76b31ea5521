//! Changes one thing in a JSON document. Places are named as in RFC 6901: `/steps/0/value`.

use serde_json::{Value, json};

/// All numbers, texts and truth values.
pub(crate) fn leaves(document: &Value) -> Vec<String> {
    let mut found = Vec::new();
    walk(document, "", &mut |place, value| {
        if !value.is_array() && !value.is_object() {
            found.push(place.to_owned());
        }
    });
    found
}

/// All entries of lists and fields of objects.
pub(crate) fn removable(document: &Value) -> Vec<String> {
    let mut found = Vec::new();
    walk(document, "", &mut |place, _| found.extend((!place.is_empty()).then(|| place.to_owned())));
    found
}

fn walk(value: &Value, place: &str, visit: &mut dyn FnMut(&str, &Value)) {
    visit(place, value);
    match value {
        Value::Array(entries) => {
            entries.iter().enumerate().for_each(|(at, entry)| walk(entry, &format!("{place}/{at}"), visit));
        }
        Value::Object(fields) => {
            fields.iter().for_each(|(name, field)| walk(field, &format!("{place}/{name}"), visit));
        }
        _ => {}
    }
}

/// The document with another value in one place.
pub(crate) fn changed_leaf(document: &Value, place: &str) -> Value {
    let mut changed = document.clone();
    let leaf = changed.pointer_mut(place).expect("there is such a place");
    *leaf = match leaf {
        Value::Number(number) => json!(number.as_i64().map_or(0, |number| number ^ 1)),
        Value::String(text) => json!(format!("{text}1")),
        Value::Bool(truth) => json!(!*truth),
        _ => json!(1),
    };
    changed
}

/// The document without what is in one place.
pub(crate) fn removed(document: &Value, place: &str) -> Value {
    let mut changed = document.clone();
    let (parent, name) = place.rsplit_once('/').expect("a place within the document");
    match changed.pointer_mut(parent).expect("there is such a place") {
        Value::Array(entries) => {
            entries.remove(name.parse().expect("a number"));
        }
        Value::Object(fields) => {
            fields.remove(name);
        }
        _ => panic!("{place} is not within a list or an object"),
    }
    changed
}
