//! Certificates in JSON: the states that prove that goals cannot be reached.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weir_ir::{Address, Value};

use super::SavedGoal;

/// Version of the form of saved certificates.
pub(crate) const CERTIFICATE_FORMAT: u32 = 1;

/// Which proof it is.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Copy, PartialEq, Eq, Debug)]
#[serde(rename_all = "lowercase")]
pub(crate) enum CertificateKind {
    /// A set of states with approximated buffers that no step leaves: `buffers` and `states`.
    Buffers,
    /// A set of configurations that holds all that show a goal, and that no step enters: `classes` and `configurations`.
    Configurations,
}

/// A saved certificate.
#[derive(Serialize, Deserialize, JsonSchema, Clone, PartialEq, Eq, Debug)]
pub(crate) struct SavedCertificate {
    /// Version of this format; 1.
    pub(crate) format: u32,
    /// Which proof it is.
    pub(crate) kind: CertificateKind,
    /// Version of Weir that wrote it.
    pub(crate) weir: String,
    /// The program, as it was named.
    pub(crate) file: String,
    /// Constants that were set with `-D`.
    #[serde(default)]
    pub(crate) defines: BTreeMap<String, Value>,
    /// What cannot be reached.
    pub(crate) goals: Vec<SavedGoal>,
    /// The threads that run, in order.
    pub(crate) threads: Vec<String>,
    /// How buffers are approximated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) buffers: Option<BuffersRecord>,
    /// All states.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) states: Vec<StateRecord>,
    /// For each thread the states it can be in by itself, in classes that are not told apart.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) classes: Vec<Vec<Vec<LocalRecord>>>,
    /// The least configurations.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) configurations: Vec<ConfigurationRecord>,
}

/// A state of one thread by itself.
#[derive(Serialize, Deserialize, JsonSchema, Clone, PartialEq, Eq, Debug)]
pub(crate) struct LocalRecord {
    /// The number of its place.
    pub(crate) at: u32,
    /// Registers that matter: number and value.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) registers: Vec<(u32, Value)>,
    /// Whether it holds the global lock.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) holds: bool,
}

/// A configuration of the load-buffer view; it stands for all with more messages from memory.
#[derive(Serialize, Deserialize, JsonSchema, Clone, PartialEq, Eq, Debug)]
pub(crate) struct ConfigurationRecord {
    /// The threads, in order.
    pub(crate) threads: Vec<ViewRecord>,
    /// Cells that hold a certain value: address and value. All others may hold anything.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) memory: Vec<(Address, Value)>,
}

/// One thread of a configuration.
#[derive(Serialize, Deserialize, JsonSchema, Clone, PartialEq, Eq, Debug)]
pub(crate) struct ViewRecord {
    /// The number of its class; none is any state without the lock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) class: Option<usize>,
    /// What it may still read, the oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) messages: Vec<MessageRecord>,
}

/// Something that a thread may read.
#[derive(Serialize, Deserialize, JsonSchema, Clone, PartialEq, Eq, Debug)]
#[serde(untagged)]
pub(crate) enum MessageRecord {
    /// Address, value, and whether it is a store of the thread itself.
    One(Address, Value, bool),
    /// What several cells held at one time: addresses and values.
    Several(Vec<(Address, Value)>),
}

/// How buffers are approximated.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Copy, PartialEq, Eq, Debug)]
#[serde(rename_all = "lowercase")]
pub(crate) enum BuffersRecord {
    /// The oldest stores in order, at most so many; those after them as a set.
    Coherence(u32),
    /// Numbers of stores counted up to this; more are any number.
    Multiset(u32),
}

/// A state.
#[derive(Serialize, Deserialize, JsonSchema, Clone, PartialEq, Eq, Debug)]
pub(crate) struct StateRecord {
    /// The threads, in order.
    pub(crate) threads: Vec<ThreadRecord>,
    /// The cells that do not hold their initial value: address and value.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) memory: Vec<(Address, Value)>,
    /// Who holds the global lock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) lock: Option<String>,
}

/// One thread of a state.
#[derive(Serialize, Deserialize, JsonSchema, Clone, PartialEq, Eq, Debug)]
pub(crate) struct ThreadRecord {
    /// The number of its place.
    pub(crate) at: u32,
    /// Registers that matter: number and value.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) registers: Vec<(u32, Value)>,
    /// Stores in order, the oldest first: address and value.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) queue: Vec<(Address, Value)>,
    /// Stores out of order: address, newest value, and what may come before it, with its number; none is without end.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) waiting: Vec<WaitingRecord>,
}

/// Address, newest value, older values with their numbers.
pub(crate) type WaitingRecord = (Address, Value, Vec<(Value, Option<u32>)>);
