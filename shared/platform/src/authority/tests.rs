use core_types::scope::Scopes;
use primitives::clock::Timestamp;

use super::*;

const NOW: Timestamp = Timestamp::from_millis(1_795_244_400_000);

fn installation() -> Installation {
    let (store, app) = (StoreId::derive(&["here"]), AppId::derive(&["app"]));
    Installation {
        id: Installation::id_of(&store, &app),
        store_id: store,
        app_id: app,
        developer_id: MerchantId::derive(&["developer"]),
        status: InstallationStatus::Active,
        scopes: Scopes::normalize(["write_imports", "write_products"]).unwrap(),
        generation: 3,
        access_tokens: crate::installation::AccessTokens::default(),
        installed_by: MerchantId::derive(&["owner"]),
        installed_at: Some(NOW),
        uninstalled_at: None,
        status_reason: None,
        created_at: NOW,
        updated_at: NOW,
        version: 1,
    }
}

#[test]
fn an_apps_work_ends_when_its_grant_ends() {
    let granted = installation();
    let authority = Authority {
        requested_by: RequestedBy::App {
            app_id: granted.app_id.clone(),
            installation_id: granted.id.clone(),
            generation: granted.generation,
            merchant_id: None,
        },
        store_id: Some(granted.store_id.clone()),
        scopes: vec!["write_imports".to_owned(), "write_products".to_owned()],
    };
    let revocation = |it: &Installation| authority.app_revocation(Some(it), false, 3);
    assert_eq!(revocation(&granted), None);
    assert_eq!(authority.app_revocation(None, false, 3), Some(EndReason::AppUninstalled));
    let uninstalled = granted.uninstall(None, NOW).unwrap();
    assert_eq!(revocation(&uninstalled), Some(EndReason::AppUninstalled));
    let held = granted.suspend(None, NOW).unwrap();
    assert_eq!(revocation(&held), Some(EndReason::AppSuspended));
    assert_eq!(authority.app_revocation(Some(&granted), true, 3), Some(EndReason::AppSuspended));
    let revoked = granted.revoke_tokens(NOW).unwrap();
    assert_eq!(revocation(&revoked), Some(EndReason::TokensRevoked));
    let scopes = Scopes::normalize(["write_imports", "read_products"]).unwrap();
    let narrowed = Installation { scopes, ..granted.clone() };
    assert_eq!(revocation(&narrowed), Some(EndReason::ScopeWithdrawn));
}
