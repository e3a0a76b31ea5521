//! Small pieces of text that all formats share.

pub mod clean;
pub mod fault;
pub mod goal;
pub mod growth;
pub mod limit;
pub mod place;
pub mod units;

use weir_witness::Model;

/// The name of a model in running text.
pub fn model_name(model: Model) -> &'static str {
    match model {
        Model::Sc => "SC",
        Model::Tso => "TSO",
    }
}
