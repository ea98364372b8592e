//! What holds of every family, and of the system as a whole.

mod amounts;
mod authority;
mod binaries;
mod boundaries;
mod contract;
mod costs;
mod deployment;
mod event_mails;
mod faults;
mod growth;
mod limits;
mod mail;
mod methods;
mod objects;
mod paging;
mod permanent_failures;
mod reference;
mod requests;
mod samples;
mod smoke;
mod startup;
mod strangers;
mod sweep;
mod tokens;
