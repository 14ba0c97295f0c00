//! Plans name the arms with the highest indices.

use crate::learnt;
use restive_pipeline::{Applied, Error, PlanAsked};

#[test]
fn one_instance_can_be_planned_by_its_name() {
    let (trained, study) = learnt();
    let applied = Applied::new(&trained, &study, "the model", "the study").unwrap();
    let plan = |instance: Option<&str>| {
        applied.plan(&PlanAsked { instance: instance.map(String::from), ..PlanAsked::default() })
    };
    let (everywhere, here) = (plan(None).unwrap(), plan(Some("2")).unwrap());
    let names = |arms: &[restive_pipeline::PlannedArm]| -> Vec<(String, String)> {
        arms.iter().map(|arm| (arm.instance.clone(), arm.arm.clone())).collect()
    };
    assert_eq!(everywhere.plan.len(), 4 * 3);
    assert_eq!(names(&here.plan), names(&everywhere.plan[6..9]));
    let Err(Error::Asked(refusal)) = plan(Some("nowhere")) else { panic!("there is no such instance") };
    assert!(refusal.to_string().contains("expected an instance such as 0, 1, 2, 3"), "{refusal}");
}

#[test]
fn a_discount_out_of_range_is_refused() {
    let asked = PlanAsked { index_discount: Some(-0.1), ..PlanAsked::default() };
    assert!(matches!(asked.check(), Err(Error::Asked(_))));
}
