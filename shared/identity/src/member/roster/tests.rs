use primitives::fields::FromText;

use super::*;
use crate::merchant::Registration;
use crate::store::NewStore;

fn email(text: &str) -> Email {
    Email::from_text(text).unwrap()
}

fn account(address: &str, now: Timestamp) -> Merchant {
    let registration = Registration {
        email: email(address),
        password_hash: "$argon2id$".into(),
        name: None,
        locale: None,
    };
    Merchant { email_verified: true, ..Merchant::register(registration, now) }
}

fn of(role: Role) -> RoleGrant {
    RoleGrant { role, scopes: core_types::scope::Scopes::NONE }
}

struct World {
    now: Timestamp,
    store: Store,
    owner: Merchant,
    roster: Roster,
}

impl World {
    fn new() -> Self {
        let now = Timestamp::from_millis(0);
        let owner = account("owner@example.com", now);
        let store = Store::create(&owner.id, NewStore::sample(), now);
        let roster = Roster::of(&store, None, &owner.email);
        Self { now, store, owner, roster }
    }

    /// Invites a new account with this role, and accepts.
    fn join(&mut self, name: &str, role: Role) -> (Merchant, Member) {
        self.now = self.now.plus(DAY);
        let joining = account(&format!("{name}@example.com"), self.now);
        let invited = (&joining.email, &of(role));
        let (roster, _, token) = self.roster.invite(&self.owner.id, invited, self.now).unwrap();
        let digest = crypto::seal::digest(&token);
        let invitation = roster.invitation(&digest, self.now).unwrap();
        let (roster, member) = roster.accept(invitation, &joining, self.now).unwrap();
        self.roster = roster;
        (joining, member)
    }
}

#[test]
fn an_invitation_is_accepted_in_time_by_the_invited_account() {
    let World { now, owner, roster, .. } = World::new();
    let ann = account("Ann@example.com", now);
    let invited = (&email("ann@Example.com"), &of(Role::Staff));
    let (roster, first, old) = roster.invite(&owner.id, invited, now).unwrap();
    let (roster, again, token) = roster.invite(&owner.id, invited, now).unwrap();
    assert_eq!((&again.id, again.version, roster.members.len()), (&first.id, 2, 2));
    let digest = crypto::seal::digest(&token);
    assert!(roster.invitation(&crypto::seal::digest(&old), now).is_none());
    assert!(roster.invitation(&digest, now.plus(INVITED_FOR)).is_none());
    let invitation = roster.invitation(&digest, now).unwrap();
    let rejected = |account: &Merchant| roster.accept(invitation, account, now).unwrap_err().code;
    assert_eq!(rejected(&account("bob@example.com", now)), Code::NotInvited);
    assert_eq!(rejected(&Merchant { email_verified: false, ..ann.clone() }), Code::EmailUnverified);
    let (joined, member) = roster.accept(invitation, &ann, now).unwrap();
    assert_eq!((&member.id, joined.role_of(&ann.id)), (&first.id, Some(Role::Staff)));
    assert!(joined.invitation(&digest, now).is_none());
    assert_eq!(joined.invite(&owner.id, invited, now).unwrap_err().code, Code::AlreadyMember);
}

#[test]
fn expired_invitations_make_room() {
    let World { mut now, owner, mut roster, .. } = World::new();
    for n in 1..MAX_MEMBERS {
        let address = email(&format!("m{n}@example.com"));
        roster = roster.invite(&owner.id, (&address, &of(Role::Admin)), now).unwrap().0;
    }
    let (one, grant) = (email("one@example.com"), of(Role::Admin));
    let full = roster.invite(&owner.id, (&one, &grant), now).unwrap_err();
    assert_eq!(full.code, Code::MemberLimit);
    assert!(roster.invite(&owner.id, (&email("m1@example.com"), &grant), now).is_ok());
    now = now.plus(INVITED_FOR);
    let (roster, ..) = roster.invite(&owner.id, (&one, &grant), now).unwrap();
    assert_eq!(roster.members.len(), 2);
}

#[test]
fn the_last_owner_stays_and_the_longest_member_inherits_the_store() {
    let mut world = World::new();
    let opened = world.roster.members[0].clone();
    let (roster, store) = (&world.roster, &world.store);
    let rejected = roster.remove(store, &opened, world.now).unwrap_err();
    assert_eq!(rejected.code, Code::LastOwner);
    let rejected = roster.regrant(store, &opened, &of(Role::Admin), world.now).unwrap_err();
    assert_eq!(rejected.code, Code::LastOwner);
    let (ann, ann_as) = world.join("ann", Role::Owner);
    let (_, bob_as) = world.join("bob", Role::Owner);
    let (roster, store) = (&world.roster, &world.store);
    let removed = roster.remove(store, &opened, world.now).unwrap();
    assert_eq!((removed.heir.as_ref(), removed.roster.members.len()), (Some(&ann.id), 2));
    let less = roster.regrant(store, &opened, &of(Role::Staff), world.now).unwrap();
    assert_eq!((less.heir.as_ref(), less.roster.members.len()), (Some(&ann.id), 3));
    let other = roster.remove(store, &bob_as, world.now).unwrap();
    assert_eq!(other.heir, None, "it belongs to whom it belonged");
    let rest = other.roster.remove(store, &ann_as, world.now).unwrap().roster;
    assert_eq!(rest.remove(store, &opened, world.now).unwrap_err().code, Code::LastOwner);
}

#[test]
fn a_leaving_member_loses_their_open_invitations() {
    let mut world = World::new();
    let (admin, admin_as) = world.join("admin", Role::Admin);
    let (now, store) = (world.now, world.store.clone());
    let invite = |roster: &Roster, by: &MerchantId, address: &str| {
        roster.invite(by, (&email(address), &of(Role::Admin)), now).unwrap().0
    };
    let roster = invite(&world.roster, &admin.id, "alias@example.com");
    let roster = invite(&roster, &world.owner.id, "carl@example.com");
    let removed = roster.remove(&store, &admin_as, now).unwrap();
    let addresses = |members: &[Member]| {
        members.iter().map(|member| member.email.as_str().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(addresses(&removed.revoked), ["alias@example.com"]);
    assert_eq!(addresses(&removed.roster.members), ["owner@example.com", "carl@example.com"]);
    let less = roster.regrant(&store, &admin_as, &of(Role::ReadOnly), now).unwrap();
    assert_eq!((less.revoked.len(), less.roster.members.len()), (1, 3));
    let same = roster.regrant(&store, &admin_as, &of(Role::Admin), now).unwrap();
    assert!(same.revoked.is_empty());
}

#[test]
fn a_roster_survives_serialization() {
    let mut world = World::new();
    world.join("ann", Role::Staff);
    let (roster, ..) = world
        .roster
        .invite(&world.owner.id, (&email("bob@example.com"), &of(Role::Admin)), world.now)
        .unwrap();
    let stored = serde_json::to_value(&roster).unwrap();
    assert_eq!(serde_json::from_value::<Roster>(stored).unwrap(), roster);
}
