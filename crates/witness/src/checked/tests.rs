use weir_ir::{PropertyKind, ThreadId};

use super::*;
use crate::goal::Shortcoming;
use crate::run::Model;
use crate::testing::*;

#[test]
fn only_a_run_that_replays_to_its_goal_is_evidence() {
    let sequential = program(vec![sequence(vec![store(X, 1)])]);
    let (program, goal) = with_property(sequential, PropertyKind::Forbid(cell_is(X, 1)));
    let good = run(&program, Model::Tso, "0 0f");
    let checked = Checked::new(&program, good.clone(), goal).unwrap();
    assert_eq!((checked.run(), checked.goal()), (&good, goal));
    assert_eq!(checked.replay().events().len(), 2);
    assert_eq!(checked.happens_before().nodes().len(), 1);

    let unfinished = Checked::new(&program, run(&program, Model::Tso, "0"), goal).unwrap_err();
    assert!(
        matches!(&unfinished, CheckError::Goal(error) if error.shortcoming == Shortcoming::NotDrained(ThreadId(0)))
    );
    let impossible = Checked::new(&program, run(&program, Model::Tso, "0f"), goal).unwrap_err();
    assert_eq!(impossible.to_string(), "step 1: P0 cannot flush: its buffer is empty");
}
