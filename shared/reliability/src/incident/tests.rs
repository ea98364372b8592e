use core_types::event::EXAMPLE_TIME;

use super::*;

fn opened() -> Incident {
    let report = NewIncident {
        store_id: None,
        cause: Some((Rule::DeadLetters, "mail".into())),
        title: "T".into(),
        description: None,
        severity: Severity::High,
        components: vec![Component::Queues],
    };
    Incident::open(report, None, EXAMPLE_TIME)
}

fn after(steps: &[Step]) -> Result<Incident, Problem> {
    steps.iter().try_fold(opened(), |incident, step| incident.take(*step, None, None, EXAMPLE_TIME))
}

#[test]
fn an_incident_only_moves_forward_and_lists_its_allowed_actions() {
    use Step::{Acknowledge, Close, Mitigate, Resolve};
    let whole = after(&[Acknowledge, Mitigate, Resolve, Close]).unwrap();
    assert_eq!((whole.status, whole.version), (IncidentStatus::Closed, 5));
    assert_eq!(whole.timeline.len(), 5);
    assert!(whole.allowed_actions().is_empty());
    for allowed in [&[Mitigate][..], &[Resolve], &[Acknowledge, Resolve], &[Mitigate, Resolve]] {
        after(allowed).unwrap();
    }
    for invalid in [
        &[Close][..],
        &[Acknowledge, Acknowledge],
        &[Mitigate, Acknowledge],
        &[Resolve, Mitigate],
        &[Resolve, Close, Resolve],
    ] {
        after(invalid).unwrap_err();
    }
    assert_eq!(opened().allowed_actions(), ["acknowledge", "mitigate", "resolve"]);
}

#[test]
fn a_correction_without_a_change_is_none() {
    let incident = opened();
    assert_eq!(incident.correct(Correction::default(), None, EXAMPLE_TIME), None);
    let worse = Correction { severity: Some(Severity::Critical), ..Correction::default() };
    let worse = incident.correct(worse, None, EXAMPLE_TIME).unwrap();
    let said = worse.timeline.last().and_then(|entry| entry.message.as_deref());
    assert_eq!(said, Some("Severity: high → critical"));
}

#[test]
fn a_timeline_keeps_its_first_entry_and_the_latest() {
    let all = (0..MAX_ENTRIES + 20)
        .fold(opened(), |incident, number| incident.note(number.to_string(), None, EXAMPLE_TIME));
    assert_eq!(all.timeline.len(), MAX_ENTRIES);
    assert_eq!(all.timeline[0].kind, EntryKind::Opened);
    let last = all.timeline.last().and_then(|entry| entry.message.clone());
    assert_eq!(last, Some((MAX_ENTRIES + 19).to_string()));
}
