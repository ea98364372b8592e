use std::time::Duration;

use serde_json::json;

use super::*;

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_millis(1_795_000_000_000).plus(Duration::from_secs(seconds.unsigned_abs()))
}

fn record(subject: &str) -> Record {
    Record {
        kind: EvidenceKind::Drill,
        subject: subject.to_owned(),
        outcome: "passed".to_owned(),
        store_id: None,
        summary: json!({"recovery_ms": 12, "b": {"z": 1, "a": "ä\u{20ac}\n"}}),
    }
}

/// A chain of so many records, a second apart, and its head.
fn chain(length: i64) -> (Vec<Evidence>, Head) {
    let (mut all, mut head) = (Vec::new(), None);
    for number in 0..length {
        let next = Addition::to(head, record(&format!("drl_{number}")), at(number)).unwrap();
        head = Some(next.head().clone());
        all.push(next.evidence().clone());
    }
    (all, head.unwrap())
}

/// The number of the first defective record that a walk over these finds, and its defect.
fn defect(found: &[Evidence], head: Option<&Head>) -> Option<(u64, ChainDefect)> {
    let mut position = Position::beginning(at(0));
    for evidence in found {
        let next = position.followed_by(&at(0).month(), evidence);
        match next.and_then(|next| next.ensure_matches_head(head).map(|()| next)) {
            Ok(next) => position = next,
            Err(defect) => return Some((defect.number, defect.fault)),
        }
    }
    position.ensure_ends(head).err().map(|defect| (defect.number, defect.fault))
}

#[test]
fn a_record_is_canonical_json_and_hashed_over_the_one_before_it() {
    let (all, head) = chain(2);
    let [first, second] = &all[..] else { panic!("two records") };
    let id = record("drl_0").id();
    let expected = format!(
        "{{\"id\":\"{id}\",\"kind\":\"drill\",\"number\":1,\"outcome\":\"passed\",\
         \"recorded_at\":\"{}\",\"store_id\":null,\"subject\":\"drl_0\",\
         \"summary\":{{\"b\":{{\"a\":\"ä\u{20ac}\\n\",\"z\":1}},\"recovery_ms\":12}}}}",
        at(0)
    );
    assert_eq!(first.record, expected);
    assert_eq!(first.hash, seal::digest(&format!("{GENESIS}{expected}")));
    assert_eq!((&second.previous_hash, &second.hash), (&first.hash, &head.hash));
    assert_eq!(defect(&all, Some(&head)), None);
    assert_eq!(defect(&[], None), None, "there is nothing yet");
}

#[test]
fn the_chain_is_ordered_by_time_even_if_a_clock_is_behind() {
    let first = Addition::to(None, record("a"), at(60)).unwrap();
    let second = Addition::to(Some(first.head().clone()), record("b"), at(0)).unwrap();
    assert_eq!(second.evidence().statement().unwrap().recorded_at, at(60));
    assert_eq!(second.head().begun_at, at(60));
}

#[test]
fn a_changed_removed_or_inserted_record_is_found_and_named() {
    let (all, head) = chain(9);
    let spoilt = |change: &dyn Fn(&mut Vec<Evidence>)| {
        let mut found = all.clone();
        change(&mut found);
        defect(&found, Some(&head))
    };
    let changed = |number| Some((number, ChainDefect::Changed));
    // A changed byte of the text, of the hash, or of the previous hash.
    for (index, evidence) in all.iter().enumerate() {
        let number = u64::try_from(index + 1).unwrap();
        let flipped = |text: &str, at: usize| {
            let mut bytes = text.as_bytes().to_vec();
            bytes[at] ^= 1;
            String::from_utf8_lossy(&bytes).into_owned()
        };
        let texts = 0..evidence.record.len();
        for at in texts.step_by(7) {
            let text = flipped(&evidence.record, at);
            assert_eq!(spoilt(&|all| all[index].record.clone_from(&text)), changed(number));
        }
        let hash = flipped(&evidence.hash, 5);
        assert_eq!(spoilt(&|all| all[index].hash.clone_from(&hash)), changed(number));
        let hash = flipped(&evidence.previous_hash, 5);
        assert_eq!(spoilt(&|all| all[index].previous_hash.clone_from(&hash)), changed(number));
        assert_eq!(spoilt(&|all| drop(all.remove(index))), Some((number, ChainDefect::Missing)));
        // Rewritten and hashed again: the next record, or the head, has the original hash.
        let rewritten = |all: &mut Vec<Evidence>| {
            let record = all[index].record.replace("\"passed\"", "\"failed\"");
            all[index].hash = hash_of(&all[index].previous_hash, &record);
            all[index].record = record;
        };
        assert_eq!(spoilt(&rewritten), changed(number));
        let put_in = |all: &mut Vec<Evidence>| {
            let mut more = all[index].clone();
            more.place.push('a');
            all.insert(index + 1, more);
        };
        assert_eq!(spoilt(&put_in), Some((number + 1, ChainDefect::Unexpected)));
    }
    let appended = |all: &mut Vec<Evidence>| {
        let more = Addition::to(Some(head.clone()), record("more"), at(99)).unwrap();
        all.push(more.evidence().clone());
    };
    assert_eq!(spoilt(&appended), Some((10, ChainDefect::Unexpected)));
    assert_eq!(defect(&all, None), Some((1, ChainDefect::Unexpected)), "a chain has a head");
}

#[test]
fn the_same_outcome_of_the_same_subject_is_one_record() {
    let one = record("drl_1");
    assert_eq!(one.id(), Record { summary: Value::Null, ..one.clone() }.id());
    assert_ne!(one.id(), Record { outcome: "failed".to_owned(), ..one.clone() }.id());
    assert_ne!(one.id(), Record { kind: EvidenceKind::Replay, ..one.clone() }.id());
}

#[test]
fn corrupted_evidence_can_be_deserialized() {
    let spoilt = json!({"record": 7, "hash": ["x"], "SK": "000000000001"});
    let found: Evidence = serde_json::from_value(spoilt).unwrap();
    assert_eq!((found.record.as_str(), found.place.as_str()), ("", "000000000001"));
    let validated = Position::beginning(at(0)).followed_by(&at(0).month(), &found);
    let expected = ChainBreak { number: 1, id: None, fault: ChainDefect::Changed };
    assert_eq!(validated, Err(expected));
}
