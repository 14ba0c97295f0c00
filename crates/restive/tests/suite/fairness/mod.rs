//! Whom lists served.
//!
//! `proportions`: intervals and exact tests, against 40-digit arithmetic, fractions, enumeration and coverage · `tables`: groups by hand, and
//! against all deals · `withheld`: printed tables, against all tables that they leave open · `floors`: prices, against all lists ·
//! `cases`: small programmes.

mod cases;
mod floors;
mod proportions;
mod tables;
mod withheld;
