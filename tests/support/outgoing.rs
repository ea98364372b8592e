//! Ways out of a system: where its requests to others may go, and what names lead to.

use std::path::PathBuf;
use std::sync::Arc;

use egress::{Egress, Policy, Ports};
use local::names::RecordsFile;

use crate::Names;

/// As it is deployed: `https` on its port, and to public addresses alone.
pub fn strict() -> Egress {
    Egress::new(Policy::strict())
}

/// To public addresses alone, but by `http` and to any port; names lead where these say.
pub fn public(names: &Names) -> Egress {
    let policy = Policy { allow_http: true, allow_loopback: false, ports: Ports::Any };
    Egress::with_resolver(policy, Arc::new(names.clone()))
}

/// Also to loopback; names lead where these say.
pub fn named(names: &Names) -> Egress {
    Egress::with_resolver(Policy::development(), Arc::new(names.clone()))
}

/// Also to loopback; TXT records are the lines of this file.
pub fn with_records(file: PathBuf) -> Egress {
    Egress::new(Policy::development()).with_names(Arc::new(RecordsFile(file)))
}
