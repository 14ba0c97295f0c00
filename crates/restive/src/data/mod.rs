//! Where instances come from: synthetic [`domain`]s and a synthetic [`maternal`] programme here, people's own tables through `restive-tables`; how what is known of
//! arms becomes numbers ([`features`], [`encoding`]) and what a typical one is ([`reference`](mod@reference)), also of arms that come in pieces ([`survey`]), and which arms are learnt from ([`split`]).

pub mod domain;
pub mod encoding;
pub mod features;
pub mod maternal;
mod moments;
pub mod reference;
pub mod split;
pub mod survey;
