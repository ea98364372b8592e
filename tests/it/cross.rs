//! What holds of every family, and of the system as a whole.

mod amounts;
mod authority;
mod binaries;
mod boundaries;
mod contract;
mod costs;
mod deployment;
mod faults;
mod growth;
mod letters;
mod limits;
mod mail;
mod methods;
mod objects;
mod paging;
mod permanent;
mod reference;
mod requests;
mod samples;
mod smoke;
mod starting;
mod strangers;
mod swept;
mod tokens;
