//! The states of a package, and the actions that change them.

primitives::string_enum! {
    /// The state of a package.
    PackageStatus {
        /// Uploaded without errors; only its owner sees it.
        Valid = "valid",
        /// Submitted for the catalogue; an operator has not decided yet.
        Submitted = "submitted",
        /// Approved by an operator: stores can install it.
        Published = "published",
        /// Rejected by an operator.
        Rejected = "rejected",
        /// Withdrawn by its developer; stores that have installed it keep it.
        Withdrawn = "withdrawn",
    }
}

primitives::string_enum! {
    /// The actions that a package's state allows.
    PackageAction {
        /// The developer submits it for the catalogue.
        Submit = "submit",
        /// The developer withdraws it from the queue or the catalogue.
        Withdraw = "withdraw",
        /// An operator approves it.
        Approve = "approve",
        /// An operator rejects it.
        Reject = "reject",
    }
}

impl PackageStatus {
    /// The state after the action; none if the action is not allowed in this state.
    ///
    /// A rejected or withdrawn package can be submitted again: its bytes are the same, but its listing
    /// may have changed.
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

    /// The actions that this state allows: the `allowed_actions` of a problem.
    pub fn allowed_actions(self) -> Vec<&'static str> {
        let allowed = PackageAction::ALL.iter().filter(|action| self.after(**action).is_some());
        allowed.map(|action| action.as_str()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_submitted_package_is_decided_and_only_once() {
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
