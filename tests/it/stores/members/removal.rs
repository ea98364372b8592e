//! How people leave a store, and that one owner always stays.

use support::{PASSWORD, Reply, json, race};

use super::{Team, accept};

#[tokio::test]
async fn a_removed_member_loses_access() {
    let team = Team::open().await;
    let (admin, admin_id) = team.join(json!({"role": "admin"})).await;
    let (staff, staff_id) = team.join(json!({"role": "staff", "scopes": "read_store"})).await;
    let alias = team.somebody().await;
    let input = json!({"email": alias.email, "role": "admin"});
    team.invite(&admin, input).await.expect(201);
    let token = team.token(&alias.email).await;
    team.look(&admin).await.expect(200);
    team.look(&staff).await.expect(200);
    // Staff remove themselves and nobody else.
    for id in [&admin_id, &format!("mem_{}", "0".repeat(32))] {
        let rejected = staff.delete(&team.path(&format!("/{id}"))).await.expect(403);
        rejected.problem("insufficient_role");
    }
    staff.delete(&team.path(&format!("/{staff_id}"))).await.expect(204);
    team.look(&staff).await.expect(404).problem("not_found");
    team.owner.delete(&team.path(&format!("/{admin_id}"))).await.expect(204);
    team.look(&admin).await.expect(404).problem("not_found");
    admin
        .with_store(&team.store.id)
        .get("/v1/products")
        .await
        .expect(404)
        .problem("store_not_found");
    // What they gave ends with them.
    accept(&alias, &token).await.expect(400).problem("invalid_or_expired_token");
    assert_eq!(team.people(&team.owner).await.len(), 1);
    for who in [&admin, &staff] {
        let session = who.get("/v1/auth/custom/session").await.expect(200);
        assert_eq!(session.at("/stores"), &json!([]));
        assert!(who.get("/v1/stores").await.expect(200).data().is_empty());
    }
    assert_eq!(team.gateway.events("member.removed").await.len(), 3);
    // They are asked again, and join again.
    let input = json!({"email": staff.email, "role": "read_only"});
    team.invite(&team.owner, input).await.expect(201);
    let mail = team.gateway.mailbox(&staff.email).nth(3).await.text;
    let token = mail.lines().find_map(|line| line.strip_prefix("Token: ")).unwrap();
    accept(&staff, token).await.expect(200);
    team.look(&staff).await.expect(200);
}

#[tokio::test]
async fn the_last_owner_cannot_leave_or_change_role() {
    let team = Team::open().await;
    let id = team.id_of(&team.owner, &team.owner).await;
    let one = team.path(&format!("/{id}"));
    team.owner.delete(&one).await.expect(409).problem("last_owner");
    let less = team.owner.patch(&one).json(json!({"role": "admin"})).await;
    less.expect(409).problem("last_owner");
    // Somebody who is asked is no owner yet.
    let input = json!({"email": "heir@example.com", "role": "owner"});
    team.invite(&team.owner, input).await.expect(201);
    team.owner.delete(&one).await.expect(409).problem("last_owner");
    team.look(&team.owner).await.expect(200);
}

fn outcomes(answers: &[Reply], done: u16) -> (usize, usize) {
    let done = answers.iter().filter(|answer| answer.status == done).count();
    let last = answers.iter().filter(|answer| answer.json["code"] == "last_owner").count();
    (done, last)
}

/// Of two owners who leave at once, who remove each other, or who become less, one stays.
#[tokio::test]
async fn parallel_removals_leave_one_owner() {
    for each_other in [false, true] {
        let team = Team::open().await;
        let (ann, ann_id) = team.join(json!({"role": "owner"})).await;
        let owner_id = team.id_of(&ann, &team.owner).await;
        let (of_ann, of_owner) =
            (team.path(&format!("/{ann_id}")), team.path(&format!("/{owner_id}")));
        let (first, second) = if each_other {
            (ann.delete(&of_owner), team.owner.delete(&of_ann))
        } else {
            (ann.delete(&of_ann), team.owner.delete(&of_owner))
        };
        let (first, second) = tokio::join!(async { first.await }, async { second.await });
        assert_eq!(outcomes(&[first, second], 204), (1, 1), "{each_other}");
        let stays = [&team.owner, &ann];
        let mut left = Vec::new();
        for who in stays {
            if team.look(who).await.status == 200 {
                left.push(who);
            }
        }
        assert_eq!(left.len(), 1);
        assert_eq!(team.people(left[0]).await.len(), 1);
        assert_eq!(team.look(left[0]).await.str("/owner_id"), left[0].id);
        assert_eq!(team.gateway.events("member.removed").await.len(), 1);
    }
}

#[tokio::test]
async fn parallel_role_changes_leave_one_owner() {
    let team = Team::open().await;
    let (ann, ann_id) = team.join(json!({"role": "owner"})).await;
    let (_, bob_id) = team.join(json!({"role": "owner"})).await;
    let owner_id = team.id_of(&ann, &team.owner).await;
    let next = std::sync::atomic::AtomicUsize::new(0);
    let ids = [owner_id, ann_id, bob_id];
    let answers = race(3, || {
        let id = &ids[next.fetch_add(1, std::sync::atomic::Ordering::Relaxed) % ids.len()];
        let input = team.owner.patch(&team.path(&format!("/{id}"))).json(json!({"role": "admin"}));
        async move { input.await }
    })
    .await;
    let list = ann.get(&team.path("")).await.expect(200);
    let owners = list.data().iter().filter(|member| member["role"] == "owner").count();
    let less = answers.iter().filter(|answer| answer.status == 200).count();
    assert!(owners >= 1 && owners + less == 3, "{answers:?}");
}

#[tokio::test]
async fn ownership_passes_to_the_longest_standing_owner() {
    let team = Team::open().await;
    let (ann, _) = team.join(json!({"role": "owner"})).await;
    let (bob, _) = team.join(json!({"role": "owner"})).await;
    let id = team.id_of(&team.owner, &team.owner).await;
    // Whoever is a member of a store does not give the account up.
    let gone = json!({"current_password": PASSWORD});
    let rejected = bob.delete("/v1/auth/me").json(gone.clone()).await.expect(409);
    assert_eq!(rejected.problem("member_of_stores").at("/store_ids"), &json!([team.store.id]));
    team.owner
        .patch(&team.path(&format!("/{id}")))
        .json(json!({"role": "read_only"}))
        .await
        .expect(200);
    let view = team.look(&bob).await.expect(200);
    assert_eq!((view.str("/owner_id"), view.int("/version")), (ann.id.clone(), 2));
    assert_eq!(team.gateway.events("store.updated").await.len(), 1);
    team.look(&team.owner).await.expect(200);
    let changed =
        team.owner.patch(&format!("/v1/stores/{}", team.store.id)).json(json!({"name": "X"}));
    changed.await.expect(403).problem("insufficient_scope");
    // The account that it is counted with is another.
    let rejected = ann.delete("/v1/auth/me").json(gone.clone()).await.expect(409);
    rejected.problem("owns_active_stores");
    team.owner.delete(&team.path(&format!("/{id}"))).await.expect(204);
    team.owner.delete("/v1/auth/me").json(gone.clone()).await.expect(202);
    // Any owner gives the store up; those who were its members are none any more.
    let confirm = json!({"confirm": team.store.subdomain});
    bob.delete(&format!("/v1/stores/{}", team.store.id)).json(confirm).await.expect(202);
    team.look(&ann).await.expect(404);
    for who in [&ann, &bob] {
        assert!(who.get("/v1/stores").await.expect(200).data().is_empty());
        who.delete("/v1/auth/me").json(gone.clone()).await.expect(202);
    }
}
