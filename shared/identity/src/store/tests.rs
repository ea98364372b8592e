//! Tests of a store's states and changes.

use primitives::fields::FromText;

use super::*;

const NOW: Timestamp = Timestamp::from_millis(1_767_225_600_000);

fn text<T: FromText>(text: &str) -> T {
    T::from_text(text).unwrap()
}

fn store(status: StoreStatus) -> Store {
    Store { status, ..Store::create(&MerchantId::mint(NOW), NewStore::sample(), NOW) }
}

#[test]
fn each_state_allows_its_actions_alone() {
    use StoreAction::{Activate, Close, Delete, Pause, Reopen};
    use StoreStatus::{Active, Closed, Deleted, Draft, Paused};
    let allowed = [
        (Draft, Activate, Active),
        (Draft, Close, Closed),
        (Draft, Delete, Deleted),
        (Active, Pause, Paused),
        (Active, Close, Closed),
        (Active, Delete, Deleted),
        (Paused, Activate, Active),
        (Paused, Close, Closed),
        (Paused, Delete, Deleted),
        (Closed, Reopen, Paused),
        (Closed, Delete, Deleted),
    ];
    for status in StoreStatus::ALL {
        for action in StoreAction::ALL {
            let expected =
                allowed.iter().find(|row| (row.0, row.1) == (*status, *action)).map(|row| row.2);
            let before = store(*status);
            let after = before.after_action(*action, Some("why".into()), NOW.plus(DAY));
            assert_eq!(after.as_ref().ok().map(|store| store.status), expected);
            let listed = before.allowed_actions().contains(&action.as_str());
            assert_eq!(listed, expected.is_some(), "{status} {action}");
            match after {
                Ok(after) => {
                    assert_eq!((after.version, after.config_version()), (2, 2));
                    assert_eq!(after.status_reason.as_deref(), Some("why"));
                    let redacted =
                        (*action == Delete).then(|| NOW.plus(DAY).plus(DELETION_GRACE_PERIOD));
                    assert_eq!(after.redact_at, redacted);
                }
                Err(problem) => assert_eq!(problem.code, Code::InvalidStateTransition),
            }
        }
    }
}

#[test]
fn a_deleted_store_is_in_no_list_and_due_for_redaction() {
    assert_eq!(store(StoreStatus::Draft).indexes().len(), 2);
    let deleted = store(StoreStatus::Active).after_action(StoreAction::Delete, None, NOW).unwrap();
    let [(index, _)] = <[IndexKey; 1]>::try_from(deleted.indexes()).unwrap();
    assert_eq!(index, table::item::Index::Gsi3);
}

#[test]
fn the_currency_changes_only_while_the_store_is_a_draft() {
    for status in StoreStatus::ALL {
        let before = store(*status);
        let wanted = Store { currency: text("EUR"), ..before.clone() };
        let after = before.next_version(&wanted, NOW).map(|after| after.map(|store| store.version));
        match status {
            StoreStatus::Draft => assert_eq!(after.unwrap(), Some(2)),
            _ => assert_eq!(after.unwrap_err().code, Code::CurrencyLocked),
        }
    }
}

#[test]
fn the_currency_of_a_draft_stays_once_something_is_priced() {
    let before = Store { currency_locked: true, ..store(StoreStatus::Draft) };
    let wanted = Store { currency: text("EUR"), ..before.clone() };
    assert_eq!(before.next_version(&wanted, NOW).unwrap_err().code, Code::CurrencyLocked);
    let wanted = Store { name: "Red Bottle Books".into(), ..before.clone() };
    assert!(before.next_version(&wanted, NOW).is_ok());
}

#[test]
fn the_config_version_counts_all_changes() {
    let before = Store { config_changes: 5, ..store(StoreStatus::Active) };
    assert_eq!(before.config_version(), 6);
    assert_eq!(before.changed(NOW).config_version(), 7);
}

#[test]
fn an_unchanged_store_is_not_a_new_version() {
    let before = store(StoreStatus::Active);
    assert!(before.next_version(&before, NOW.plus(DAY)).unwrap().is_none());
    let wanted = Store { name: "Red Bottle Books".into(), ..before.clone() };
    let after = before.next_version(&wanted, NOW.plus(DAY)).unwrap().unwrap();
    assert_eq!((after.version, after.config_version()), (2, 2));
    assert_eq!((after.created_at, after.updated_at), (NOW, NOW.plus(DAY)));
}

#[test]
fn order_prefixes_are_short_and_plain() {
    for good in ["", "#", "BB-", "a_1"] {
        assert!(OrderPrefix::from_text(good).is_ok(), "{good}");
    }
    for bad in ["12345678901", "a b", "é", "<b>"] {
        assert!(OrderPrefix::from_text(bad).is_err(), "{bad}");
    }
}
