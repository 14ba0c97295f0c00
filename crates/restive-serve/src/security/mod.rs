//! Who may ask, from where, how much and how often.
//!
//! | file | against |
//! |---|---|
//! | `address` | other machines: loopback alone, unless there are users and TLS or a word for going without |
//! | `entry` | whoever has not seen the terminal: a token that opens one session, once |
//! | `session` | cookies that are stolen or forgotten: random, for this site alone, with an end |
//! | `hosts` | names of other people that lead here (DNS rebinding) |
//! | `origin` | pages of other people that write here (cross-site requests) |
//! | `headers` | pages of other people around ours, scripts that are not ours, copies in caches |
//! | `limits`, `body` | bodies without end, clients without haste |
//! | `listen`, `places`, `write_limit` | too many connections, and slow ones |
//! | `network` | many addresses of one client |
//! | `tls` | networks on which others read along |
//! | `users`, `user_file` | strangers, and users who were taken out |
//! | `throttle`, `passwords` | whoever guesses passwords |
//! | `private` | other users of this machine |
//! | `finds` | whoever goes through the registry one by one |
//! | `role` | those who may enter, and not everywhere |
//!
//! No page fetches an address that somebody gave, and no folder is served: assets are in the program.

pub(crate) mod address;
pub(crate) mod body;
pub(crate) mod entry;
pub(crate) mod finds;
pub(crate) mod headers;
pub(crate) mod hosts;
pub(crate) mod limits;
pub(crate) mod listen;
mod network;
pub(crate) mod origin;
pub(crate) mod passwords;
pub(crate) mod places;
mod private;
pub(crate) mod random;
pub mod role;
pub(crate) mod session;
pub(crate) mod throttle;
pub(crate) mod tls;
pub(crate) mod user_file;
pub mod users;
mod write_limit;
