//! Certificates: one line of JSON, and for sets of states their bytes, compressed.

use serde::{Deserialize, Serialize};
use weir_ir::{Address, Value};

use super::chance_format::ChanceRecord;
use super::fences_format::FencesRecord;
use super::metadata::Metadata;

/// Version of the format of saved certificates.
pub(super) const CERTIFICATE_FORMAT: u32 = 2;

/// The kind of proof.
#[derive(Serialize, Deserialize, Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum CertificateKind {
    /// A set of states that no step leaves: `buffers`, `registers`, `states` and `bytes`, and after the line the states.
    States,
    /// A set of configurations that contains all violations and that no step enters: `classes` and `configurations`.
    Configurations,
    /// A set of states of the program and a monitor for attacks, that no step leaves: `registers`, `states` and `bytes`,
    /// and after the line the states.
    Attacks,
    /// What can occur with any number of copies of `[*]` threads, and what cannot: `registers`, `copies`, `beside`,
    /// `minimal`, `states` and `bytes`, and after the line the shared states.
    Copies,
    /// The cheapest fences: `fences`, and after the line a certificate of the program with them.
    Fences,
    /// Between which numbers a probability lies: `chance`, `registers`, `states` and `bytes`, and after the line the
    /// states and the numbers.
    Chance,
    /// Several certificates, each for some of the properties: `parts`, and after the line one after the other.
    Parts,
}

/// A saved certificate.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SavedCertificate {
    /// Version of this format; 2.
    pub format: u32,
    /// The kind of proof.
    pub kind: CertificateKind,
    /// What it is about, and what made it.
    pub metadata: Metadata,
    /// The running threads, in order.
    pub threads: Vec<String>,
    /// How states represent buffers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buffers: Option<BuffersRecord>,
    /// Which registers states record: per thread, per location, their numbers in ascending order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub registers: Vec<Vec<Vec<u32>>>,
    /// The number of states.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub states: Option<u64>,
    /// The number of bytes that the states take, before they are compressed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// Per thread, its local states, grouped in classes of equivalent states.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub classes: Vec<Vec<Vec<LocalRecord>>>,
    /// The minimal basis: the minimal configurations of the upward-closed set.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub configurations: Vec<ConfigurationRecord>,
    /// The local states of copies.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub copies: Vec<CopyRecord>,
    /// For each shared state the local states of copies that can occur beside it, by number, ascending.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub beside: Vec<Vec<usize>>,
    /// The minimal states from which a violation can follow: a shared state and local states of copies, by number.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub minimal: Vec<(usize, Vec<usize>)>,
    /// The cheapest fences, and why no cheaper ones are enough.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fences: Option<Box<FencesRecord>>,
    /// A probability.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chance: Option<Box<ChanceRecord>>,
    /// The number of bytes of each part.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<u64>,
    /// What follows the line: the states, compressed, the parts, or the certificate of the program with fences.
    #[serde(skip)]
    pub(super) body: Vec<u8>,
}

/// A local state of one thread.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct LocalRecord {
    /// The number of its place.
    pub at: u32,
    /// Registers that matter: number and value.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub registers: Vec<(u32, Value)>,
    /// Whether it holds the global lock.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub holds: bool,
}

/// The local state of a copy of a `[*]` thread.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CopyRecord {
    /// The thread, by its place in `threads`, from 0.
    pub of: usize,
    /// The number of its place in the code.
    pub at: u32,
    /// Registers that matter: number and value.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub registers: Vec<(u32, Value)>,
    /// Whether it holds the global lock.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub holds: bool,
    /// Whether it is on the path of an attack.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub on_path: bool,
}

/// A configuration of the load-buffer view; it stands for all configurations with more messages from memory, and with
/// more copies of `[*]` threads.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ConfigurationRecord {
    /// The threads of which there is one each, in order.
    pub threads: Vec<ViewRecord>,
    /// Copies of `[*]` threads.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub copies: Vec<CopyViewRecord>,
    /// Cells with a fixed value: address and value. All others may hold any value.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub memory: Vec<(Address, Value)>,
}

/// One thread of a configuration.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ViewRecord {
    /// The number of its class; if absent, any state that does not hold the lock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<usize>,
    /// The messages that it may still read, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub messages: Vec<MessageRecord>,
}

/// A copy of a `[*]` thread in a configuration.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CopyViewRecord {
    /// The thread, by its place in `threads`, from 0.
    pub of: usize,
    /// The number of its class.
    pub class: usize,
    /// The messages that it may still read, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub messages: Vec<MessageRecord>,
}

/// A message that a thread may read.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum MessageRecord {
    /// Address, value, and whether it is a store of the thread itself.
    One(Address, Value, bool),
    /// The values of several cells at one point in time: addresses and values.
    Several(Vec<(Address, Value)>),
}

/// How states represent buffers.
#[derive(Serialize, Deserialize, Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum BuffersRecord {
    /// There are none: the memory model is SC.
    None,
    /// All stores, in order.
    Fifo,
    /// At most this many of the oldest stores in order; the later ones as a set.
    Coherence(u32),
    /// Stores are counted up to this number; beyond it, any number is possible.
    Multiset(u32),
}
