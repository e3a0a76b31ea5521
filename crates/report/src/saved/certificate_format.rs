//! Certificates in JSON: the states that prove that goals cannot be reached.

use serde::{Deserialize, Serialize};
use weir_ir::{Address, Value};

use super::metadata::Metadata;

/// Version of the format of saved certificates.
pub(super) const CERTIFICATE_FORMAT: u32 = 2;

/// The kind of proof.
#[derive(Serialize, Deserialize, Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum CertificateKind {
    /// A set of states with over-approximated buffers that no step leaves: `buffers` and `states`.
    Buffers,
    /// A set of configurations that contains all violations and that no step enters: `classes` and `configurations`.
    Configurations,
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
    /// How buffers are over-approximated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buffers: Option<BuffersRecord>,
    /// All states.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub states: Vec<StateRecord>,
    /// Per thread, its local states, grouped in classes of equivalent states.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub classes: Vec<Vec<Vec<LocalRecord>>>,
    /// The minimal basis: the minimal configurations of the upward-closed set.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub configurations: Vec<ConfigurationRecord>,
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

/// A configuration of the load-buffer view; it stands for all configurations with more messages from memory.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ConfigurationRecord {
    /// The threads, in order.
    pub threads: Vec<ViewRecord>,
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

/// How buffers are over-approximated.
#[derive(Serialize, Deserialize, Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum BuffersRecord {
    /// At most this many of the oldest stores in order; the later ones as a set.
    Coherence(u32),
    /// Stores are counted up to this number; beyond it, any number is possible.
    Multiset(u32),
}

/// A state.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct StateRecord {
    /// The threads, in order.
    pub threads: Vec<ThreadRecord>,
    /// The cells that do not hold their initial value: address and value.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub memory: Vec<(Address, Value)>,
    /// The thread that holds the global lock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lock: Option<String>,
}

/// One thread of a state.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ThreadRecord {
    /// The number of its place.
    pub at: u32,
    /// Registers that matter: number and value.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub registers: Vec<(u32, Value)>,
    /// Stores in order, oldest first: address and value.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub queue: Vec<(Address, Value)>,
    /// Unordered stores: address, newest value, and older values with their counts; an absent count means unbounded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waiting: Vec<WaitingRecord>,
}

/// Address, newest value, and older values with their counts.
pub type WaitingRecord = (Address, Value, Vec<(Value, Option<u32>)>);
