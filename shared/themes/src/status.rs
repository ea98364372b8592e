//! The life of a package: uploaded, proposed, decided, and in the catalogue or not.

primitives::string_enum! {
    /// Where a package is in its life.
    PackageStatus {
        /// It was uploaded and nothing is wrong with it; its developer alone knows of it.
        Valid = "valid",
        /// It waits for an operator.
        Submitted = "submitted",
        /// An operator accepted it: stores can install it.
        Published = "published",
        /// An operator rejected it.
        Rejected = "rejected",
        /// Its developer took it back; who has installed it keeps it.
        Withdrawn = "withdrawn",
    }
}

primitives::string_enum! {
    /// The actions that a package's state allows.
    PackageAction {
        /// Its developer proposes it.
        Submit = "submit",
        /// Its developer takes it back.
        Withdraw = "withdraw",
        /// An operator accepts it.
        Approve = "approve",
        /// An operator rejects it.
        Reject = "reject",
    }
}

impl PackageStatus {
    /// Where the action leads; none when it cannot be done now.
    ///
    /// What was rejected or taken back can be proposed again: its bytes are the same, its listing
    /// need not be.
    pub const fn after(self, action: PackageAction) -> Option<Self> {
        match (self, action) {
            (Self::Valid | Self::Rejected | Self::Withdrawn, PackageAction::Submit) => {
                Some(Self::Submitted)
            }
            (Self::Submitted | Self::Published, PackageAction::Withdraw) => Some(Self::Withdrawn),
            (Self::Submitted, PackageAction::Approve) => Some(Self::Published),
            (Self::Submitted, PackageAction::Reject) => Some(Self::Rejected),
            _ => None,
        }
    }

    /// What can be done now: the `allowed_actions` of a rejection.
    pub fn allowed_actions(self) -> Vec<&'static str> {
        let allowed = PackageAction::ALL.iter().filter(|action| self.after(**action).is_some());
        allowed.map(|action| action.as_str()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_submitted_is_decided_and_only_once() {
        for status in PackageStatus::ALL {
            let decided =
                status.after(PackageAction::Approve).or(status.after(PackageAction::Reject));
            assert_eq!(decided.is_some(), *status == PackageStatus::Submitted, "{status}");
        }
        assert_eq!(PackageStatus::Published.allowed_actions(), ["withdraw"]);
        assert_eq!(PackageStatus::Submitted.allowed_actions(), ["withdraw", "approve", "reject"]);
        assert_eq!(PackageStatus::Rejected.allowed_actions(), ["submit"]);
    }
}
