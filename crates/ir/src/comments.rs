//! Comments for the text of a program that a pass has made: what its parts stand for.

/// Comments, without the characters that begin and end them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Comments {
    /// At the top, line by line.
    pub header: Vec<String>,
    /// At each place with one of these labels.
    pub labels: Vec<(String, String)>,
}

impl Comments {
    /// The comments at places with this label.
    pub fn at<'c>(&'c self, label: &'c str) -> impl Iterator<Item = &'c str> {
        self.labels.iter().filter(move |(name, _)| name == label).map(|(_, text)| text.as_str())
    }
}
