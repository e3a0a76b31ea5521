use super::*;
use crate::Model;
use crate::testing::{X, Y};
use crate::testing::{accept, load, program, sequence, store};

/// The text between the tags of all `text` elements.
fn words(picture: &str) -> Vec<&str> {
    let texts = picture.split("<text ").skip(1);
    texts.filter_map(|text| text.split_once('>')?.1.split_once("</text>").map(|(text, _)| text)).collect()
}
